"""Choices that an engine finds equally likely, sample after sample: it does not tell how likely they are. Pure.

One such sample proves nothing: an engine that computes in 16 bits has two choices equal every now and then.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from evals.records import Failure, SampleRecord
from evals.stats import surely_above

BY_CHANCE = 0.1
"""Share of samples whose choices may all be equal: more than a weak model's two choices in bfloat16 are."""


def unmeasured(records: Sequence[SampleRecord]) -> tuple[SampleRecord, ...]:
    """The records; where in surely more than BY_CHANCE of an arm's samples all choices are equal, those are failures."""
    tied: dict[tuple[str, str], int] = defaultdict(int)
    asked: dict[tuple[str, str], int] = defaultdict(int)
    for record in records:
        if _choices(record) > 1:
            asked[record.arm, record.task] += 1
            tied[record.arm, record.task] += _all_equal(record)
    out = []
    for record in records:
        place = (record.arm, record.task)
        if _all_equal(record) and surely_above(tied[place], asked[place], BY_CHANCE):
            said = f"all {_choices(record)} choices are equally likely, as in {tied[place]} of {asked[place]} samples"
            failure = Failure(kind="no_logprobs", message=f"no_logprobs: {said}")
            record = replace(record, response=None, score=None, failure=failure)
        out.append(record)
    return tuple(out)


def _choices(record: SampleRecord) -> int:
    return len(record.response.likelihoods or ()) if record.response else 0


def _all_equal(record: SampleRecord) -> bool:
    told = (record.response.likelihoods if record.response else None) or ()
    return len(told) > 1 and len({one.logprob for one in told}) == 1
