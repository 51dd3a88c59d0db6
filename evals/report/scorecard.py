"""The rows of a scorecard: what is shown, computed once, unrounded. Rendering is elsewhere."""

import re
from collections import Counter
from dataclasses import dataclass

from evals.compare import flips, is_scored, ledger
from evals.judged import Evidence, Flip
from evals.language import counted, phrase, term
from evals.parting import Parting, partings
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
    acceptance_gauge: float | None
    """What an engine without such counters said at the end, 0–1: of all since its start."""
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
    """Samples that were measured."""
    ours: float | None
    """Percent of those; None where there are none."""
    theirs: tuple[HarnessResult, ...]
    """Empty where lm-eval had nothing to mark."""
    unlike: dict[str, int]
    """By filter: samples that lm-eval marks otherwise."""
    explanation: str


@dataclass(frozen=True, kw_only=True)
class FlipRow:
    flip: Flip
    sample: Sample
    baseline: SampleRecord | None
    candidate: SampleRecord | None
    parting: Parting | None
    """Where the two answers part."""


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
        acceptance_gauge=next((w.acceptance_gauge for w in reversed(windows) if w.acceptance_gauge is not None), None),
        accepted_per_position=tuple(n / drafts for n in by_position) if drafts else (),
        prefix_hits=hits / queries if hits is not None and queries else None,
    )  # fmt: skip


def _sum(values: list[int | None]) -> int | None:
    """The total; None where any part was not measured."""
    return None if None in values else sum(v for v in values if v is not None)


def harness(evidence: Evidence) -> list[HarnessRow]:
    """Of every arm that was asked a task which lm-eval marked in some arm."""
    rows, book, through_lm_eval = [], ledger(evidence), {h.task for h in evidence.harness}
    for arm in evidence.arms:
        for task in (t for t in evidence.tasks if t.name in through_lm_eval):
            theirs = tuple(h for h in evidence.harness if h.arm == arm.name and h.task == task.name and h.round == 0)
            asked = book.of(arm.name, task.name, 0).values()
            if not asked:
                continue
            records = [r for r in asked if is_scored(r)]
            correct = sum(bool(r.score and r.score.outcome == "correct") for r in records)
            n = len(records)
            unlike = {h.filter: _unlike(records, h.filter) for h in theirs}
            rows.append(
                HarnessRow(
                    arm=arm.name,
                    task=task.name,
                    n=n,
                    ours=100 * correct / n if n else None,
                    theirs=theirs,
                    unlike={name: said.total() for name, said in unlike.items()},
                    explanation=_explain(unlike) if n and theirs else "",
                )
            )
    return rows


def _unlike(records: list[SampleRecord], filter: str) -> Counter[str]:
    """How each sample fell that lm-eval's filter marks otherwise: `right only by us`, or what we say where it says right."""
    said = Counter[str]()
    for score in (r.score for r in records if r.score is not None and r.failure is None):
        mark = next((m.correct for m in score.harness if m.filter == filter), None)
        if mark is not None and mark != (score.outcome == "correct"):
            said[
                phrase("right only by lm-eval ({reason})", reason=term(score.reason or score.outcome))
                if mark
                else phrase("right only by us")
            ] += 1
    return said


def _explain(unlike: dict[str, Counter[str]]) -> str:
    """Where lm-eval's marks and ours part, filter by filter."""
    parts = [f"{name}{phrase(': ')}{counted(sorted(said.items(), reverse=True))}" for name, said in unlike.items() if said]
    return phrase("; ").join(parts) or phrase("the same on every sample")


def flip_rows(evidence: Evidence, task: str, arm: str) -> list[FlipRow]:
    """Every flip, the most telling first, with both answers of the first round in which the two differ.

    Of those that changed equally, the ones where the candidate's opinion changed most stand before ties that were turned.
    """
    samples, told = {s.id: s for s in evidence.samples[task]}, partings(evidence)
    by_sample: dict[str, dict[tuple[str, int], SampleRecord]] = {}
    for r in evidence.records:
        if r.task == task and r.arm in (evidence.baseline, arm):
            by_sample.setdefault(r.sample_id, {})[r.arm, r.round] = r
    rows = []
    for flip in flips(evidence, task, arm):
        mine = by_sample.get(flip.sample_id, {})
        rounds = sorted({round_ for _, round_ in mine})
        best = next((k for k in rounds if _outcome(mine.get((evidence.baseline, k))) != _outcome(mine.get((arm, k)))), 0)
        baseline, candidate = mine.get((evidence.baseline, best)), mine.get((arm, best))
        parting = told.of(task, arm, flip.sample_id, best)
        rows.append(FlipRow(
            flip=flip, sample=samples[flip.sample_id], baseline=baseline, candidate=candidate, parting=parting
        ))  # fmt: skip
    return sorted(rows, key=_telling)


def _telling(row: FlipRow) -> tuple[float, bool, float]:
    moved = (row.parting.gap or 0.0) + (row.parting.against or 0.0) if row.parting else 0.0
    return -abs(row.flip.baseline - row.flip.candidate), row.flip.candidate > row.flip.baseline, -moved


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
        (phrase("model files, sha256"), ours.weights_sha, theirs.weights_sha),
        (phrase("tokenizer and template, sha256"), ours.tokenizer_sha, theirs.tokenizer_sha),
    ]
    pairs += _differing(_flags(ours.argv), _flags(theirs.argv))
    pairs += _differing(ours.env, theirs.env)
    shared = ours.effective.keys() & theirs.effective.keys() - {k for k in ours.effective if _PLACES.search(k)}
    pairs += [
        (phrase("in effect: {setting}", setting=k), ours.effective[k], theirs.effective[k])
        for k in ours.effective
        if k in shared
    ]
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
