"""Where two answers to one sample part, and whether a tie was turned there or an opinion was changed. Pure.

At a place where the two likeliest tokens are as good as equal, any change of kernels may take the other one. How much the gap
between them moves by itself is seen where two launches of the baseline read the same tokens.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.compare import Ledger, ledger
from evals.judged import Evidence, PartingKind
from evals.records import Forced, Response, TopTwo

ROUNDING = 0.25
"""Nats: what rounding alone may move a gap by. bfloat16 has 8 bits of precision, so that logits of 16 to 32 are 0.125 apart,
and each of the two may fall to the other side."""
QUANTILE = 0.99
"""Of how far the baseline's own restart moves a gap: what is within it is noise."""
Ids = Sequence[int] | str


@dataclass(frozen=True, kw_only=True)
class Parting:
    first: int
    """Index of the first token that differs."""
    gap: float | None
    """Nats: the baseline's token there above its next likeliest; below 0 where it was drawn, and is not the likeliest."""
    against: float | None
    """Nats: how far the candidate prefers its likeliest token to the baseline's there."""
    kind: PartingKind | None
    """None where neither is known."""


@dataclass(frozen=True, kw_only=True)
class Partings:
    """What is needed to look at one place after the other."""

    baseline: str
    tie: float
    """Nats: a gap that moved by no more is a tie."""
    book: Ledger
    forced: Mapping[tuple[str, int, str, str], Forced]

    def of(self, task: str, arm: str, sample_id: str, round_: int) -> Parting | None:
        """None where the answers have the same tokens, or some are not known."""
        ours, theirs = (self._response(name, task, round_, sample_id) for name in (self.baseline, arm))
        if ours is None or theirs is None or ours.token_ids is None or theirs.token_ids is None:
            return None
        if (first := first_difference(ours.token_ids, theirs.token_ids)) is None:
            return None
        gap = _at(ours.top_two, first)
        against = None
        if round_ == 0:  # what others were asked about is the baseline's first answer
            own = (self.forced.get((self.baseline, launch, task, sample_id)) for launch in (0, 1))
            gaps = [found for told in own if told and (found := _own_gap(told, first)) is not None]
            gap = gap if gap is not None else next(iter(gaps), None)
            told = self.forced.get((arm, 0, task, sample_id))
            against = told.top_two[first].first - told.logprobs[first] if told and first < len(told.logprobs) else None
        return Parting(first=first, gap=gap, against=against, kind=kind(gap, against, self.tie))

    def _response(self, arm: str, task: str, round_: int, sample_id: str) -> Response | None:
        record = self.book.of(arm, task, round_).get(sample_id)
        return record.response if record and record.failure is None else None


def partings(evidence: Evidence) -> Partings:
    forced = {(f.arm, f.launch, f.task, f.sample_id): f for f in evidence.forced if f.failure is None}
    return Partings(baseline=evidence.baseline, tie=tie(evidence), book=ledger(evidence), forced=forced)


def kind(gap: float | None, against: float | None, tie: float) -> PartingKind | None:
    """By how far the order of two tokens moved, at the least: the baseline's gap, and the candidate's the other way."""
    if gap is None and against is None:
        return None
    if gap is not None and gap < 0:
        return "sampled"
    return "tie" if (gap or 0.0) + (against or 0.0) <= tie else "change"


def tie(evidence: Evidence) -> float:
    """How far a gap moves by rounding, or between two launches of the baseline where that is more; nats."""
    moves = [*_moves_of_greedy(evidence), *_moves_of_forced(evidence)]
    return max(ROUNDING, float(np.quantile(moves, QUANTILE))) if moves else ROUNDING


def _moves_of_greedy(evidence: Evidence) -> Iterator[float]:
    book = ledger(evidence)
    for task in (t.name for t in evidence.tasks if not t.marked):
        again = book.of(evidence.baseline, task, 1)
        for sample_id, record in book.of(evidence.baseline, task, 0).items():
            ours, theirs = record.response, again[sample_id].response if sample_id in again else None
            if not ours or not theirs or ours.token_ids is None or theirs.token_ids is None:
                continue
            if ours.top_two is None or theirs.top_two is None:
                continue
            first = first_difference(ours.token_ids, theirs.token_ids)
            equal = len(ours.token_ids) if first is None else first + 1  # where they part they have still read the same
            yield from (abs(_gap(a) - _gap(b)) for a, b in zip(ours.top_two[:equal], theirs.top_two[:equal], strict=False))


def _moves_of_forced(evidence: Evidence) -> Iterator[float]:
    own = {(f.launch, f.task, f.sample_id): f for f in evidence.forced if f.arm == evidence.baseline}
    for (launch, task, sample_id), told in own.items():
        if launch == 0 and (again := own.get((1, task, sample_id))):
            yield from (abs(_gap(a) - _gap(b)) for a, b in zip(told.top_two, again.top_two, strict=False))


def first_difference(ours: Ids, theirs: Ids) -> int | None:
    """Where one output is a prefix of the other, the length of the shorter."""
    for i, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if one != other:
            return i
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))


def _at(top_two: Sequence[TopTwo] | None, place: int) -> float | None:
    return _gap(top_two[place]) if top_two is not None and place < len(top_two) else None


def _own_gap(told: Forced, place: int) -> float | None:
    if place >= len(told.logprobs):
        return None
    own, best = told.logprobs[place], told.top_two[place]
    return own - best.first if own < best.first else _gap(best)


def _gap(top_two: TopTwo) -> float:
    return top_two.first - top_two.second
