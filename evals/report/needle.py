"""The scorecard's section on needles: recall by length, language and depth, and what so many needles can rule out."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from evals.judged import Evidence, TaskSpec
from evals.records import SampleRecord
from evals.report.text import counts, table
from evals.stats import clopper_pearson
from tasks.needle import Cell

TASK = "needle"


@dataclass(frozen=True, kw_only=True)
class Recall:
    """Needles found, of those that were measured."""

    found: int
    n: int

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
    by_depth: dict[int, Recall]
    """Depths in percent, ascending."""
    all: Recall


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """How the prompts' tokens, as the engine counted them, compare to what was wanted."""

    exact: int
    n: int
    least: int
    most: int
    """Tokens less than and more than wanted, at worst: least ≤ 0 ≤ most."""


def section(evidence: Evidence) -> str:
    """Empty where no needle was hidden."""
    return "\n\n".join(_of(evidence, task) for task in evidence.tasks if task.name == TASK)


def _of(evidence: Evidence, task: TaskSpec) -> str:
    note = (
        "Recall in percent of the needles that were measured, each a random identifier that the answer must contain exactly. "
        "Length: tokens of the whole prompt. Depth: percent of the text before the needle."
        + (f" A needle counts as found where all of its {task.rounds} rounds found it." if task.rounds > 1 else "")
    )
    parts = ["## Needles, by length and depth", note]
    for arm in evidence.arms:
        parts += _arm(evidence, arm.name, task)
    return "\n\n".join(parts)


def _arm(evidence: Evidence, arm: str, task: TaskSpec) -> Iterator[str]:
    rows = heat(evidence, arm, task)
    total = Recall(found=sum(r.all.found for r in rows), n=sum(r.all.n for r in rows))
    yield f"**{arm}**: {sentence(total)}{_not_found(evidence, arm)}{_lengths(lengths(evidence, arm))}"
    if total.n:
        depths = sorted({depth for row in rows for depth in row.by_depth})
        head = " | ".join(["length", "language", *(f"{d} %" for d in depths), "all"])
        yield table(head, [_cells(row, depths) for row in rows])


def _cells(row: HeatRow, depths: list[int]) -> list[str]:
    return [str(row.length), row.language, *(_cell(row.by_depth.get(d)) for d in depths), _cell(row.all)]


def _cell(recall: Recall | None) -> str:
    """Bold where something was missed, so that the eye finds it."""
    if recall is None or recall.percent is None:
        return "–"
    text = f"{recall.percent:.0f} ({recall.found}/{recall.n})"
    return text if recall.found == recall.n else f"**{text}**"


def sentence(recall: Recall) -> str:
    """`8/8 found, which excludes no miss rate below 31 %.`"""
    if not recall.n:
        return "nothing was measured."
    least, most = recall.miss_rates
    said = f"{recall.found}/{recall.n} found, which excludes no miss rate below {most:.0f} %"
    return f"{said}{f' and none above {least:.0f} %' if recall.found < recall.n else ''} (Clopper–Pearson, one-sided 95 %)."


def heat(evidence: Evidence, arm: str, task: TaskSpec) -> list[HeatRow]:
    """By length and language, of the samples that were measured in every round."""
    book = _rounds(evidence, arm, task)
    found: dict[tuple[int, str], dict[int, list[bool]]] = {}
    for sample in evidence.samples.get(task.name, ()):
        cell = Cell.read(sample.id)
        marks = book.get(sample.id, [])
        depths = found.setdefault((cell.length, cell.language), {}).setdefault(cell.depth, [])
        if len(marks) == task.rounds and None not in marks:
            depths.append(all(marks))
    return [
        HeatRow(
            length=length, language=language, by_depth={d: _recall(depths[d]) for d in sorted(depths)},
            all=_recall([mark for marks in depths.values() for mark in marks]),
        )
        for (length, language), depths in sorted(found.items())
    ]  # fmt: skip


def _recall(marks: list[bool]) -> Recall:
    return Recall(found=sum(marks), n=len(marks))


def _rounds(evidence: Evidence, arm: str, task: TaskSpec) -> dict[str, list[bool | None]]:
    """By sample, each round's mark; None where it was not measured."""
    out: dict[str, list[bool | None]] = {}
    for r in evidence.records:
        if (r.arm, r.task) == (arm, task.name) and r.round < task.rounds:
            out.setdefault(r.sample_id, []).append(r.score.outcome == "correct" if r.score and not r.failure else None)
    return out


def _records(evidence: Evidence, arm: str) -> list[SampleRecord]:
    return [r for r in evidence.records if (r.arm, r.task) == (arm, TASK)]


def _not_found(evidence: Evidence, arm: str) -> str:
    """Why not, over all rounds."""
    records = _records(evidence, arm)
    scores = [r.score for r in records if r.score and not r.failure]
    why = Counter((s.reason or s.outcome).replace("_", " ") for s in scores if s.outcome != "correct")
    told = [counts(why)] if why else []
    failed = sum(r.failure is not None for r in records)
    told += [f"{failed} not measured"] if failed else []
    return f" Otherwise: {', '.join(told)}." if told else ""


def lengths(evidence: Evidence, arm: str) -> Lengths | None:
    """None where the engine did not tell what a prompt took."""
    off = [
        r.response.prompt_tokens - Cell.read(r.sample_id).length
        for r in _records(evidence, arm)
        if r.response and r.response.prompt_tokens is not None
    ]
    if not off:
        return None
    return Lengths(exact=off.count(0), n=len(off), least=min(0, *off), most=max(0, *off))


def _lengths(told: Lengths | None) -> str:
    if told is None:
        return ""
    if told.exact == told.n:
        return f" All {told.n} prompts had exactly the wanted number of tokens."
    return (
        f" {told.exact} of {told.n} prompts had exactly the wanted number of tokens; "
        f"the others were off by {told.least} to +{told.most}.".replace("by -", "by −")
    )
