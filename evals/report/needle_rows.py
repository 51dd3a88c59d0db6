"""Needles found, by length, language and depth: what the scorecard's table, its heat maps and verdict.json all show. Pure."""

from collections import Counter
from dataclasses import dataclass

from evals.judged import Evidence, TaskSpec
from evals.language import phrase
from evals.records import SampleRecord
from evals.stats import clopper_pearson
from tasks.needle import Cell


@dataclass(frozen=True, kw_only=True)
class Recall:
    """Needles found, of those that were measured."""

    found: int
    n: int
    near: int = 0
    """Of those not found: named but for one or two characters."""

    @property
    def percent(self) -> float | None:
        """None where none was measured."""
        return 100 * self.found / self.n if self.n else None

    @property
    def miss_rates(self) -> tuple[float, float]:
        """The least and the largest that are not excluded, percent, each at one-sided 95 % (Clopper, Pearson 1934)."""
        kept = clopper_pearson(self.found, self.n)
        return 100 * (1 - kept.high), 100 * (1 - kept.low)


@dataclass(frozen=True, kw_only=True)
class HeatRow:
    """One arm's recall at one length in one language."""

    length: int
    language: str
    warm: bool
    """Whether the prompts were asked from a prefix cache that held them."""
    by_depth: dict[int, Recall]
    """Depths in percent, ascending."""
    all: Recall

    @property
    def name(self) -> str:
        """`32768`, `32768 warm`."""
        return phrase("{length} warm", length=self.length) if self.warm else f"{self.length}"


def heat(evidence: Evidence, arm: str, task: TaskSpec) -> list[HeatRow]:
    """By length, language and pass, of the samples that were measured in every round of it."""
    book = _rounds(evidence, arm, task)
    rows: dict[tuple[int, str, bool], dict[int, list[Recall]]] = {}
    for sample in evidence.samples.get(task.name, ()):
        cell = Cell.read(sample.id)
        for warm in (False, True)[: 1 + task.warm]:
            depths = rows.setdefault((cell.length, cell.language, warm), {}).setdefault(cell.depth, [])
            records = book.get((sample.id, warm), [])
            if len(records) == task.rounds // (1 + task.warm) and all(r.score and not r.failure for r in records):
                depths.append(_recall(records))
    return [
        HeatRow(
            length=length, language=language, warm=warm, by_depth={d: total(depths[d]) for d in sorted(depths)},
            all=total([recall for recalls in depths.values() for recall in recalls]),
        )
        for (length, language, warm), depths in sorted(rows.items())
    ]  # fmt: skip


def change(before: Recall | None, after: Recall | None) -> float | None:
    """In percentage points, for the two may have measured different numbers; None where one of them measured none."""
    if before is None or after is None or before.percent is None or after.percent is None:
        return None
    return after.percent - before.percent


def total(recalls: list[Recall]) -> Recall:
    return Recall(found=sum(r.found for r in recalls), n=sum(r.n for r in recalls), near=sum(r.near for r in recalls))


def _recall(records: list[SampleRecord]) -> Recall:
    """Of one needle over its rounds: found where all of them found it."""
    reasons = Counter(r.score.reason or r.score.outcome for r in records if r.score and r.score.outcome != "correct")
    return Recall(found=int(not reasons), n=1, near=int("near_miss" in reasons))


def _rounds(evidence: Evidence, arm: str, task: TaskSpec) -> dict[tuple[str, bool], list[SampleRecord]]:
    """By sample and whether it was asked warm: the record of each round."""
    out: dict[tuple[str, bool], list[SampleRecord]] = {}
    for r in evidence.records:
        if (r.arm, r.task) == (arm, task.name) and r.round < task.rounds:
            out.setdefault((r.sample_id, task.warm and r.round % 2 == 1), []).append(r)
    return out
