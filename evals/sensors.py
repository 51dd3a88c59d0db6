"""How likely each arm finds the baseline's own answers, token by token, against the baseline's second launch. Pure.

A sensor ranks and explains; no verdict comes of it. Every token of every answer is read, right or wrong, so that it sees far
smaller changes than a few flipped answers show; but a model may become less sure of its words and answer no worse.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evals.judged import Evidence, Finding
from evals.language import phrase
from evals.records import Forced
from evals.stats import Mean, mean_interval

FIRST_BUCKET = 16
"""Tokens of an answer: the first bucket of positions. Each further one begins at four times as many."""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Over samples, each the mean of its own tokens: tokens of one answer are no independent observations."""

    agreement: Mean
    """Share of the baseline's tokens that are the arm's likeliest, 0–1."""
    change: Mean
    """Of a token's log-probability, nats: this launch less the baseline's first."""
    size: Mean
    """The same without its sign."""


@dataclass(frozen=True, kw_only=True)
class Bucket:
    first: int
    """Position of its first token in the answer."""
    tokens: int
    figures: Figures


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One arm on one task."""

    arm: str
    task: str
    tokens: int
    figures: Figures
    floor: Figures | None
    """The baseline's second launch against its first, on the same samples; None where it was launched once."""
    beyond: Mean | None
    """Its size less the floor's, sample by sample."""
    buckets: tuple[Bucket, ...]

    @property
    def is_beyond(self) -> bool:
        return self.beyond is not None and self.beyond.low is not None and self.beyond.low > 0


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """One answer, as the reference finds it and as another launch does."""

    sample_id: str
    reference: Forced
    told: Forced


def readings(evidence: Evidence) -> tuple[Reading, ...]:
    """Of every candidate that was measured, the largest change first."""
    found = [
        reading
        for arm in evidence.arms
        if arm.name != evidence.baseline
        for task in evidence.tasks
        if (reading := _reading(evidence, arm.name, task.name)) is not None
    ]
    return tuple(sorted(found, key=lambda r: -r.figures.size.mean))


def _reading(evidence: Evidence, arm: str, task: str) -> Reading | None:
    pairs = _pairs(evidence, arm, 0, task)
    if not pairs:
        return None
    again = {p.sample_id: p for p in _pairs(evidence, evidence.baseline, 1, task)}
    shared = [p for p in pairs if p.sample_id in again]
    return Reading(
        arm=arm,
        task=task,
        tokens=sum(len(p.told.logprobs) for p in pairs),
        figures=_figures(pairs),
        floor=_figures([again[p.sample_id] for p in shared]) if shared else None,
        beyond=mean_interval([_size(p) - _size(again[p.sample_id]) for p in shared]) if shared else None,
        buckets=tuple(_buckets(pairs)),
    )


def _pairs(evidence: Evidence, arm: str, launch: int, task: str) -> list[_Pair]:
    """Answers that were also asked of the baseline's first launch: those that changed sides were not, and would bias a mean."""
    of = {(f.arm, f.launch, f.sample_id): f for f in evidence.forced if f.task == task and f.failure is None}
    pairs = []
    for sample in evidence.samples.get(task, ()):
        reference, told = of.get((evidence.baseline, 0, sample.id)), of.get((arm, launch, sample.id))
        if reference and told and len(reference.logprobs) == len(told.logprobs):
            pairs.append(_Pair(sample_id=sample.id, reference=reference, told=told))
    return pairs


def _figures(pairs: Sequence[_Pair]) -> Figures:
    return Figures(
        agreement=mean_interval([_mean([own >= two.first for own, two in zip(p.told.logprobs, p.told.top_two, strict=True)])
                                 for p in pairs]),
        change=mean_interval([_mean(_changes(p)) for p in pairs]),
        size=mean_interval([_size(p) for p in pairs]),
    )  # fmt: skip


def _changes(pair: _Pair) -> list[float]:
    return [b - a for a, b in zip(pair.reference.logprobs, pair.told.logprobs, strict=True)]


def _size(pair: _Pair) -> float:
    return _mean([abs(change) for change in _changes(pair)])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _buckets(pairs: Sequence[_Pair]) -> Iterator[Bucket]:
    longest = max(len(p.told.logprobs) for p in pairs)
    first, end = 0, FIRST_BUCKET
    while first < longest:
        parts = [_part(p, first, end) for p in pairs if len(p.told.logprobs) > first]
        yield Bucket(first=first, tokens=sum(len(p.told.logprobs) for p in parts), figures=_figures(parts))
        first, end = end, 4 * end


def _part(pair: _Pair, first: int, end: int) -> _Pair:
    cut: Callable[[Forced], Forced] = lambda f: replace(f, logprobs=f.logprobs[first:end], top_two=f.top_two[first:end])  # noqa: E731
    return _Pair(sample_id=pair.sample_id, reference=cut(pair.reference), told=cut(pair.told))


def other_tokens(
    ours: Mapping[Any, str | None], theirs: Mapping[Any, str | None], tokenizers: Sequence[str | None]
) -> str | None:
    """Why one arm's token ids may mean something else to another; None where they are known to mean the same.

    `ours`, `theirs`: hashes of the rendered prompts' token ids, by sample. `tokenizers`: hashes of the two arms' files.
    """
    both = [(ours[key], theirs[key]) for key in ours if ours[key] and theirs.get(key)]
    if (both and all(one == other for one, other in both)) or (None not in tokenizers and len(set(tokenizers)) == 1):
        return None
    if both:
        return phrase("its prompts have other token ids, and nothing shows that its tokenizer is the baseline's")
    return phrase(
        "nothing shows that its tokenizer is the baseline's: neither prompts' token ids nor tokenizer files can be compared"
    )


def unmeasured(evidence: Evidence) -> dict[str, str]:
    """Why a candidate that answered has no reading, by arm."""
    out = {}
    read = {r.arm for r in readings(evidence)}
    servers: set[str] = {arm.server for arm in evidence.arms if arm.name == evidence.baseline and arm.server}
    for arm in evidence.arms:
        answered = any(r.arm == arm.name and r.response for r in evidence.records)
        if evidence.sensors and arm.name not in read and arm.name != evidence.baseline and answered:
            out[arm.name] = (
                phrase("it shares a server with an arm before it") if arm.server in servers else _why(evidence, arm.name)
            )
        servers |= {arm.server} - {""}
    return out


def _why(evidence: Evidence, arm: str) -> str:
    for name in (arm, evidence.baseline):
        if failure := next((f.failure for f in evidence.forced if f.arm == name and f.failure), None):
            return failure.message if name == arm else phrase("the baseline's own server: {message}", message=failure.message)
    first = [r for r in evidence.records if r.round == 0 and r.response]
    ours, theirs = ({(r.task, r.sample_id): r.response.prompt_ids_sha for r in first if r.arm == name and r.response}
                    for name in (evidence.baseline, arm))  # fmt: skip
    if not any(r.response and r.response.token_ids and r.response.prompt_ids for r in first if r.arm == evidence.baseline):
        return phrase("the baseline's engine told no token ids of prompts and answers")
    starts = [[s.tokenizer_sha for s in evidence.servers.get(name, ())] for name in (evidence.baseline, arm)]
    return other_tokens(ours, theirs, [s[-1] if s else None for s in starts]) or phrase(
        "no answer of the baseline was there to ask about"
    )


def findings(evidence: Evidence) -> Iterator[Finding]:
    for reading in readings(evidence):
        yield Finding(severity="note", kind="sensor", arm=reading.arm, task=reading.task, text=sentence(reading))
    for arm, why in unmeasured(evidence).items():
        text = phrase("log-probabilities of the baseline's answers were not measured: {why}", why=why)
        yield Finding(severity="note", kind="sensor_unmeasured", arm=arm, task=None, text=text)


def sentence(reading: Reading) -> str:
    of, agreement, change = reading.figures.size.n, reading.figures.agreement.mean, reading.figures.change.mean
    beyond = phrase("beyond what a restart changes") if reading.is_beyond else phrase("no more than a restart changes")
    return phrase(
        "in {n} answers of the baseline {agreement:.1f} % of {tokens} tokens are its likeliest, and a token's "
        "log-probability changes by {change:+.3f} nats: {beyond}",
        n=of,
        agreement=100 * agreement,
        tokens=reading.tokens,
        change=change,
        beyond=beyond if reading.beyond else phrase("what a restart changes is not known"),
    )
