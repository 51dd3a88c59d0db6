"""The rows of a scorecard: what is shown, computed once, unrounded. Rendering is elsewhere."""

import re
from collections import Counter
from dataclasses import dataclass

from evals.compare import flips
from evals.judged import Evidence, Flip
from evals.records import HarnessResult, Sample, SampleRecord, Window

MAX_FLIPS = 5


@dataclass(frozen=True, kw_only=True)
class CostRow:
    """What an arm × task cost, over all its rounds."""

    arm: str
    task: str
    samples: int
    seconds_per_sample: float
    """Wall time over samples: with several at once it is less than a sample's own latency."""
    tokens_per_sample: float | None
    tokens_per_second: float | None
    acceptance: float | None
    """Accepted over drafted tokens, 0–1; None where speculation is off."""
    accepted_per_position: tuple[float, ...]
    """Share of drafts accepted at least so far, by position."""
    prefix_hits: float | None
    """Prefix-cache hits over queries, 0–1."""


@dataclass(frozen=True, kw_only=True)
class HarnessRow:
    """Ours and lm-eval's own number for one arm × task, round 1."""

    arm: str
    task: str
    n: int
    ours: float
    """Percent of all samples; a failure counts as not correct here, as it does in lm-eval."""
    theirs: tuple[HarnessResult, ...]
    explanation: str


@dataclass(frozen=True, kw_only=True)
class FlipRow:
    flip: Flip
    sample: Sample
    baseline: SampleRecord | None
    candidate: SampleRecord | None


@dataclass(frozen=True, kw_only=True)
class TallyRow:
    """How the answers of one arm × task fell, over all rounds."""

    arm: str
    task: str
    correct: int
    wrong: int
    no_answer: Counter[str]
    errors: Counter[str]
    same: int | None
    """Responses whose tokens are the baseline's, to the last one; None for the baseline itself."""
    comparable: int
    """Responses that both gave, with token ids."""


def costs(evidence: Evidence) -> list[CostRow]:
    rows = []
    for arm in evidence.arms:
        for task in evidence.tasks:
            windows = [w for w in evidence.windows if w.arm == arm.name and w.task == task.name and w.samples]
            if windows:
                rows.append(_cost(arm.name, task.name, windows))
    return rows


def _cost(arm: str, task: str, windows: list[Window]) -> CostRow:
    samples, wall = sum(w.samples for w in windows), sum(w.wall_s for w in windows)
    tokens, drafts = _sum([w.generation_tokens for w in windows]), _sum([w.drafts for w in windows])
    drafted, accepted = _sum([w.draft_tokens for w in windows]), _sum([w.accepted_tokens for w in windows])
    queries, hits = _sum([w.prefix_cache_queries for w in windows]), _sum([w.prefix_cache_hits for w in windows])
    width = max(len(w.accepted_per_position) for w in windows)
    by_position = [sum(w.accepted_per_position[i] for w in windows if i < len(w.accepted_per_position)) for i in range(width)]
    return CostRow(
        arm=arm, task=task, samples=samples, seconds_per_sample=wall / samples,
        tokens_per_sample=tokens / samples if tokens is not None else None,
        tokens_per_second=tokens / wall if tokens is not None and wall else None,
        acceptance=accepted / drafted if accepted is not None and drafted else None,
        accepted_per_position=tuple(n / drafts for n in by_position) if drafts else (),
        prefix_hits=hits / queries if hits is not None and queries else None,
    )  # fmt: skip


def _sum(values: list[int | None]) -> int | None:
    """The total; None where any part was not measured."""
    return None if None in values else sum(v for v in values if v is not None)


def harness(evidence: Evidence) -> list[HarnessRow]:
    rows = []
    for arm in evidence.arms:
        for task in evidence.tasks:
            theirs = tuple(h for h in evidence.harness if h.arm == arm.name and h.task == task.name and h.round == 0)
            if not theirs:
                continue
            records = [r for r in evidence.records if r.arm == arm.name and r.task == task.name and r.round == 0]
            correct = sum(bool(r.score and r.score.outcome == "correct") for r in records)
            n = len(evidence.samples[task.name])
            rows.append(
                HarnessRow(
                    arm=arm.name,
                    task=task.name,
                    n=n,
                    ours=100 * correct / n,
                    theirs=theirs,
                    explanation=_explain(records, theirs),
                )
            )
    return rows


def _explain(records: list[SampleRecord], theirs: tuple[HarnessResult, ...]) -> str:
    """Where lm-eval's marks and ours part, filter by filter."""
    said = []
    for result in theirs:
        only_ours, only_theirs = 0, Counter[str]()
        for r in records:
            mark = next((m.correct for m in (r.score.harness if r.score else ()) if m.filter == result.filter), None)
            if mark is None or r.score is None:
                continue
            ours = r.score.outcome == "correct"
            only_ours += ours and not mark
            if mark and not ours:
                only_theirs[r.score.reason or r.score.outcome] += 1
        parts = [f"{only_ours} right only by us"] if only_ours else []
        parts += [f"{count} right only by lm-eval ({reason})" for reason, count in only_theirs.most_common()]
        if parts:
            said.append(f"{result.filter}: {', '.join(parts)}")
    return "; ".join(said) or "the same on every sample"


def tallies(evidence: Evidence) -> list[TallyRow]:
    rows = []
    for arm in evidence.arms:
        for task in (t for t in evidence.tasks if t.marked):
            records = [r for r in evidence.records if r.arm == arm.name and r.task == task.name]
            if records:
                same = _same_tokens(evidence, arm.name, task.name)
                scores = [r.score for r in records if r.score and not r.failure]
                rows.append(TallyRow(
                    arm=arm.name, task=task.name,
                    correct=sum(s.outcome == "correct" for s in scores), wrong=sum(s.outcome == "wrong" for s in scores),
                    no_answer=Counter(s.reason or "no reason" for s in scores if s.outcome == "no_answer"),
                    errors=Counter(r.failure.kind for r in records if r.failure),
                    same=sum(same) if arm.name != evidence.baseline else None, comparable=len(same),
                ))  # fmt: skip
    return rows


def _same_tokens(evidence: Evidence, arm: str, task: str) -> list[bool]:
    """For each response with token ids on both arms: whether they are the same."""
    ids = {
        (r.arm, r.round, r.sample_id): r.response.token_ids
        for r in evidence.records
        if r.task == task and r.arm in (arm, evidence.baseline) and r.response and r.response.token_ids is not None
    }
    pairs = ((tokens, ids.get((evidence.baseline, k, sample))) for (name, k, sample), tokens in ids.items() if name == arm)
    return [ours == theirs for ours, theirs in pairs if theirs is not None]


def flip_rows(evidence: Evidence, task: str, arm: str) -> list[FlipRow]:
    """The most telling flips, with both answers of the first round in which the two differ."""
    samples = {s.id: s for s in evidence.samples[task]}
    rows = []
    for flip in flips(evidence, task, arm)[:MAX_FLIPS]:
        mine = {(r.arm, r.round): r for r in evidence.records if r.task == task and r.sample_id == flip.sample_id}
        rounds = sorted({round_ for _, round_ in mine})
        best = next((k for k in rounds if _outcome(mine.get((evidence.baseline, k))) != _outcome(mine.get((arm, k)))), 0)
        baseline, candidate = mine.get((evidence.baseline, best)), mine.get((arm, best))
        rows.append(FlipRow(flip=flip, sample=samples[flip.sample_id], baseline=baseline, candidate=candidate))
    return rows


def _outcome(record: SampleRecord | None) -> bool | None:
    return record.score.outcome == "correct" if record and record.score else None


@dataclass(frozen=True, kw_only=True)
class ChangeRow:
    """One thing in which a candidate's server differs from the baseline's."""

    arm: str
    what: str
    baseline: str | None
    candidate: str | None


def changes(evidence: Evidence, arm: str) -> list[ChangeRow]:
    """As told by the first launches of the two: version, files, flags, variables, and what the engine says it runs with."""
    ours, theirs = (next(iter(evidence.servers.get(name, ())), None) for name in (evidence.baseline, arm))
    if ours is None or theirs is None:
        return []
    pairs: list[tuple[str, str | None, str | None]] = [
        ("engine", ours.engine, theirs.engine),
        ("version", ours.version, theirs.version),
        ("model files, sha256", ours.weights_sha, theirs.weights_sha),
        ("tokenizer and template, sha256", ours.tokenizer_sha, theirs.tokenizer_sha),
    ]
    pairs += _differing(_flags(ours.argv), _flags(theirs.argv))
    pairs += _differing(ours.env, theirs.env)
    shared = ours.effective.keys() & theirs.effective.keys() - {k for k in ours.effective if _PLACES.search(k)}
    pairs += [(f"in effect: {k}", ours.effective[k], theirs.effective[k]) for k in ours.effective if k in shared]
    return [ChangeRow(arm=arm, what=what, baseline=a, candidate=b) for what, a, b in pairs if a != b]


_PLACES = re.compile(r"(^|\.)(model|tokenizer|served_model_name|\w*cache_dir|debug_dump_path)$")
"""Settings that name a place and say nothing of how the engine computes."""
_OURS = {"--port", "--served-model-name"}


def _flags(argv: tuple[str, ...]) -> dict[str, str]:
    out: dict[str, str] = {}
    name = ""
    for word in argv:
        if word.startswith("--"):
            name, given, value = word.partition("=")
            out[name] = value if given else ""
        elif name:
            out[name] = f"{out[name]} {word}".strip()
    return {k: v for k, v in out.items() if k not in _OURS}


def _differing(ours: dict[str, str], theirs: dict[str, str]) -> list[tuple[str, str | None, str | None]]:
    return [(k, ours.get(k), theirs.get(k)) for k in {**ours, **theirs} if ours.get(k) != theirs.get(k)]
