"""What is drawn in scorecard.html: intervals and bars, each with the figures that scorecard.md has. Pure.

Places are percent of the width, so that a drawing fits any window and needs no script.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import floor, log10

from evals.judged import Divergence, GateResult, VerdictName
from evals.language import later, phrase
from evals.levels import Level
from evals.report.acceptance import ContextRow
from evals.report.scorecard import CostRow
from evals.report.text import signed

EDGE = 4.0
"""Percent of the width that is left free on each side, so that a label at an end is not cut."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    low: float
    high: float

    def at(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low)
        return f"{EDGE + (100 - 2 * EDGE) * share:.2f}%"

    @property
    def ticks(self) -> list[float]:
        """About five round numbers."""
        rough = (self.high - self.low) / 5
        unit = 10.0 ** floor(log10(rough))
        step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough)
        first, last = floor(self.low / step) + 1, floor(self.high / step)
        return [step * k for k in range(first, last + 1)]


@dataclass(frozen=True, kw_only=True)
class Interval:
    label: str
    verdict: VerdictName | None
    low: float
    middle: float
    high: float
    margin: float | None = None
    """Where the drop that is allowed ends: below 0."""
    worst: float | None = None
    """The drop that is still possible: below 0."""
    text: str


@dataclass(frozen=True, kw_only=True)
class Intervals:
    title: str
    axis: Axis
    has_zero: bool
    """Whether a line at 0 says: no change."""
    rows: tuple[Interval, ...]


@dataclass(frozen=True, kw_only=True)
class Bar:
    label: str
    share: float
    """Of the width, 0–1."""
    noise: float = 0.0
    """Of the width, drawn after it: what the baseline's own restart does as well."""
    text: str


@dataclass(frozen=True, kw_only=True)
class Bars:
    title: str
    rows: tuple[Bar, ...]


def gates(results: Iterable[GateResult]) -> Intervals | None:
    """Change against the baseline; None where nothing could be compared."""
    rows = tuple(
        Interval(
            label=f"{g.arm} · {g.task}", verdict=g.verdict, low=d.ci_low, middle=d.diff, high=d.ci_high, margin=-g.margin,
            worst=-d.excluded_drop_worst, text=f"{signed(d.diff)} [{signed(d.ci_low)}, {signed(d.ci_high)}]",
        )
        for g in results
        if (d := g.delta) is not None
    )  # fmt: skip
    ends = [0.0, *(end for r in rows for end in (r.low, r.high, r.margin or 0.0, r.worst or 0.0))]
    return Intervals(title="", axis=_axis(ends), has_zero=True, rows=rows) if rows else None


def _axis(values: Sequence[float]) -> Axis:
    low, high = min(values), max(values)
    return Axis(low=low, high=high) if high > low else Axis(low=low - 1, high=high + 1)


def efforts(found: Iterable[Level]) -> Iterator[Intervals]:
    """Percent correct by effort, a plot a task."""
    for task, levels in groupby(found, key=lambda level: level.task):
        rows = tuple(
            Interval(
                label=_effort(r), verdict=None, low=r.ci_low, middle=r.correct, high=r.ci_high,
                text=f"{r.correct:.1f} [{r.ci_low:.1f}, {r.ci_high:.1f}]",
            )
            for r in levels
            if r.correct is not None and r.ci_low is not None and r.ci_high is not None
        )  # fmt: skip
        if rows:
            axis = _axis([end for r in rows for end in (r.low, r.high)])
            yield Intervals(title=phrase("{task}: correct, %", task=task), axis=axis, has_zero=False, rows=rows)


def tokens(found: Iterable[Level]) -> Iterator[Bars]:
    """Completion tokens by effort, a plot a task."""
    for task, levels in groupby(found, key=lambda level: level.task):
        told = [(_effort(r), r.completion_tokens.median) for r in levels if r.completion_tokens]
        yield from _scaled(phrase("{task}: completion tokens, median", task=task), told, ".0f")


def _effort(level: Level) -> str:
    return f"{level.effort} ({level.arm})"


def _scaled(title: str, values: Sequence[tuple[str, float]], spec: str, unit: str = "") -> Iterator[Bars]:
    """Against the largest of them."""
    most = max((value for _, value in values), default=0.0) or 1.0
    rows = tuple(Bar(label=label, share=value / most, text=f"{value:{spec}}{unit}") for label, value in values)
    if rows:
        yield Bars(title=title, rows=rows)


def partings(divergences: Iterable[Divergence]) -> Iterator[Bars]:
    """How many greedy outputs part from the baseline's at which token, in bins of powers of two."""
    for d in divergences:
        if not d.differs:
            continue
        firsts = [(p.first.bit_length(), p.noise_differs) for p in d.prompts if p.first is not None]
        bins = [
            (sum(at == k and not noise for at, noise in firsts), sum(at == k and noise for at, noise in firsts))
            for k in range(max(at for at, _ in firsts) + 1)
        ]
        most = max(own + noise for own, noise in bins)
        rows = tuple(
            Bar(label=_bin(k), share=own / most, noise=noise / most, text=f"{own + noise}")
            for k, (own, noise) in enumerate(bins)
        )
        token = later("{arm}: first token that differs, {differs} of {n} outputs")
        character = later("{arm}: first character that differs, {differs} of {n} outputs")
        title = phrase(character if d.by_text else token, arm=d.arm, differs=d.differs, n=d.n)
        yield Bars(title=title, rows=rows)


def _bin(bits: int) -> str:
    first, last = 1 << bits >> 1, (1 << bits) - 1
    return f"{first}" if first == last else f"{first}–{last}"


def by_position(costs: Iterable[CostRow]) -> Iterator[Bars]:
    """Drafts accepted, by their position in the draft."""
    for c in costs:
        if c.accepted_per_position:
            rows = tuple(
                Bar(label=phrase("position {number}", number=k), share=share, text=f"{100 * share:.0f} %")
                for k, share in enumerate(c.accepted_per_position, 1)
            )
            yield Bars(title=phrase("{arm} · {task}: drafts accepted, by position", arm=c.arm, task=c.task), rows=rows)


def by_context(rows: Iterable[ContextRow]) -> Iterator[Bars]:
    """Draft tokens accepted, by the length of the context."""
    for task, found in groupby(rows, key=lambda row: row.task):
        of_task = list(found)
        for arm in of_task[0].by_arm:
            told = [(row.context, bucket) for row in of_task if (bucket := row.by_arm[arm])]
            yield Bars(
                title=phrase("{arm} · {task}: draft tokens accepted, by tokens of context", arm=arm, task=task),
                rows=tuple(Bar(label=at, share=b.acceptance, text=f"{100 * b.acceptance:.1f} % ({b.n})") for at, b in told),
            )  # fmt: skip


def seconds(costs: Sequence[CostRow]) -> Iterator[Bars]:
    """Wall time by arm, a plot a task."""
    for task in dict.fromkeys(c.task for c in costs):
        told = [(c.arm, c.seconds_per_sample) for c in costs if c.task == task]
        yield from _scaled(phrase("{task}: s / sample", task=task), told, ".2f", " s")
