"""The scorecard's section on MMLU's subjects: each of them and each group, every candidate paired with the baseline."""

from collections.abc import Iterator
from dataclasses import dataclass

from evals import compare
from evals.compare import Pair, pairs
from evals.judged import Evidence, TaskSpec
from evals.language import phrase, term
from evals.report.text import signed, table
from evals.stats import Interval, tango_interval
from tasks.mmlu_subjects import GROUPS

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One arm on the samples of one row that it and the baseline were measured on in every round."""

    n: int
    correct: float
    """Mean over rounds, percent."""
    lost: float
    """Against the baseline, in samples; a fraction where rounds are averaged."""
    won: float
    interval: Interval
    """Of the change, in points: two-sided 90 % (Tango)."""

    @property
    def diff(self) -> float:
        """Candidate − baseline, in points."""
        return 100 * (self.won - self.lost) / self.n


@dataclass(frozen=True, kw_only=True)
class SubjectRow:
    name: str
    group: bool
    """Whether it sums up several subjects."""
    asked: int
    cells: dict[str, Cell]
    """By arm; without those that were measured on none of its samples."""


def section(evidence: Evidence) -> str:
    """Empty where no MMLU was asked."""
    return "\n\n".join(_of(evidence, task) for task in evidence.tasks if _subjects(evidence, task))


def _subjects(evidence: Evidence, task: TaskSpec) -> dict[str, str]:
    """The subject of each sample, by id; empty for a task that has none."""
    if not task.marked:
        return {}
    return {s.id: s.group for s in evidence.samples.get(task.name, ()) if s.group in GROUPS}


def rows(evidence: Evidence, task: TaskSpec) -> Iterator[SubjectRow]:
    """All samples, then each group followed by its subjects."""
    subjects = _subjects(evidence, task)
    paired = {arm.name: pairs(evidence, task.name, arm.name) for arm in evidence.arms}

    def row(name: str, members: set[str], *, group: bool) -> SubjectRow:
        own = {arm: [p for p in of if subjects.get(p.sample_id) in members] for arm, of in paired.items()}
        cells = {arm: cell for arm, of in own.items() if (cell := _cell(of)) is not None}
        return SubjectRow(name=name, group=group, asked=sum(s in members for s in subjects.values()), cells=cells)

    asked = set(subjects.values())
    yield row(ALL, asked, group=True)
    for group in dict.fromkeys(GROUPS.values()):
        if members := {subject for subject in asked if GROUPS[subject] == group}:
            yield row(group, members, group=True)
            for subject in sorted(members):
                yield row(subject, {subject}, group=False)


def _cell(paired: list[Pair]) -> Cell | None:
    both = compare.measured(paired)
    if not both:
        return None
    n, lost, won = len(both), compare.samples_lost(both), compare.samples_won(both)
    drop = tango_interval(lost, won, n)
    return Cell(
        n=n, correct=100 * sum(sample.candidate for sample in both) / n, lost=lost, won=won,
        interval=Interval(-100 * drop.high, -100 * drop.low),
    )  # fmt: skip


def _of(evidence: Evidence, task: TaskSpec) -> str:
    found = list(rows(evidence, task))
    count = sum(not row.group for row in found)
    summary = phrase("{name} by subject: {count} subjects, {asked} samples", name=task.name, count=count, asked=found[0].asked)
    head = " | ".join([phrase("subject"), phrase("samples"), *(arm.name for arm in evidence.arms)])
    body = [[_name(row), f"{row.asked}", *(_shown(row, arm.name, evidence.baseline) for arm in evidence.arms)] for row in found]
    note = phrase(
        "Percent correct; of a candidate the change in points, its 90 % interval, and samples lost / won against "
        "{baseline}, over those that both answered in every round. Of this many intervals one in ten leaves out "
        "the truth by chance alone: a single subject shows where to look, and decides nothing.",
        baseline=evidence.baseline,
    )
    return f"<details><summary>{summary}</summary>\n\n{table(head, body)}\n\n{note}\n\n</details>"


def _name(row: SubjectRow) -> str:
    return f"**{term(row.name)}**" if row.group else row.name.replace("_", " ")


def _shown(row: SubjectRow, arm: str, baseline: str) -> str:
    cell = row.cells.get(arm)
    if cell is None:
        return phrase("not measured")
    share = f"{cell.correct:.1f}" + (phrase(" of {n}", n=cell.n) if cell.n != row.asked else "")
    if arm == baseline:
        return share
    interval = f"[{signed(cell.interval.low)}, {signed(cell.interval.high)}]"
    return f"{share}: {signed(cell.diff)} {interval}, {cell.lost:g} / {cell.won:g}"
