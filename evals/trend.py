"""A metric over runs: each arm's value, and its change since the first and the last blessed arm, sample by sample. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evals.lengths import CONFIDENCE, median_ratio
from evals.stats import tango_interval, wilson

Metric = Literal["correct", "no_answer", "tokens"]
METRICS: dict[Metric, str] = {
    "correct": "percent correct; change in points, with its 90 % interval",
    "no_answer": "percent without an answer (cut off, empty, a loop); change in points, with its 90 % interval",
    "tokens": f"mean tokens of an answer; change as the median ratio of samples, with its {100 * CONFIDENCE:.0f} % interval",
}
Frame = Any
"""A pandas.DataFrame with the columns of samples.parquet."""


@dataclass(frozen=True, kw_only=True)
class ArmRun:
    """One arm of one run."""

    run_id: str
    arm: str
    started_at: str
    """ISO 8601, UTC."""
    version: str | None
    part: str
    """What it is where no gate judges it: `baseline`, or `no gate`."""
    blessed: bool
    verdicts: dict[str, str]
    """Of its gates, by task."""
    margins: dict[str, float]
    """By task, in points."""
    samples: Frame


@dataclass(frozen=True, kw_only=True)
class Change:
    """Since a blessed arm, over the samples that both were asked with the same prompt."""

    n: int
    value: float
    """Points; of tokens a ratio."""
    low: float | None
    high: float | None
    """None where so few samples have no interval."""

    def real(self, metric: Metric) -> Literal["up", "down"] | None:
        """The direction, where the interval leaves out that nothing changed."""
        same = 1.0 if metric == "tokens" else 0.0
        if self.low is not None and self.low > same:
            return "up"
        return "down" if self.high is not None and self.high < same else None


@dataclass(frozen=True, kw_only=True)
class Row:
    run: ArmRun
    n: int
    """Samples measured in every round."""
    value: float
    low: float | None
    high: float | None
    """90 % interval of a share, Wilson's; None of tokens."""
    since_first: Change | None
    """None for that arm itself, where nothing is blessed, and where no sample is the same."""
    since_last: Change | None
    """Since the arm that was blessed last before this run."""
    margin: float | None
    verdict: str
    """Of the task's gate; `baseline` or `no gate` where none judges it."""


def rows(runs: Sequence[ArmRun], task: str, metric: Metric) -> list[Row]:
    """In the order of the runs, which is by date; without arms of which nothing was measured."""
    out: list[Row] = []
    blessed: list[tuple[ArmRun, Frame]] = []
    before: list[tuple[ArmRun, Frame]] = []
    for run in runs:
        values = sample_values(run.samples, task, metric)
        if not len(values):
            continue
        if before and before[0][0].run_id != run.run_id:  # an arm is no yardstick for others of its own run
            blessed, before = blessed + before, []
        out.append(_row(run, task, values, blessed, metric))
        if run.blessed:
            before.append((run, values))
    return out


def _row(run: ArmRun, task: str, values: Frame, blessed: Sequence[tuple[ArmRun, Frame]], metric: Metric) -> Row:
    n, mean = len(values), float(values["value"].mean())
    share = None if metric == "tokens" else wilson(mean * n, n)
    return Row(
        run=run, n=n, value=mean if share is None else 100 * mean,
        low=None if share is None else 100 * share.low, high=None if share is None else 100 * share.high,
        since_first=change(blessed[0][1], values, metric) if blessed else None,
        since_last=change(blessed[-1][1], values, metric) if blessed else None,
        margin=run.margins.get(task) if metric == "correct" else None, verdict=run.verdicts.get(task, run.part),
    )  # fmt: skip


def sample_values(samples: Frame, task: str, metric: Metric) -> Frame:
    """By sample and prompt, the mean over rounds; without samples that could not be measured in some round."""
    of = samples[samples["task"] == task]
    of = of.assign(value=of["completion_tokens"] if metric == "tokens" else (of["outcome"] == metric).astype(float))
    unknown = (of["outcome"] == "error") | of["value"].isna() | (of["outcome"].isna() & (metric != "tokens"))
    of = of[~of["sample_id"].isin(of.loc[unknown, "sample_id"])]
    return of.groupby(["sample_id", "prompt_sha"], as_index=False)["value"].mean()


def change(before: Frame, after: Frame, metric: Metric) -> Change | None:
    """Paired by sample and prompt: Tango's interval, of tokens the median ratio. None where no sample is the same."""
    both = before.merge(after, on=["sample_id", "prompt_sha"], suffixes=("_before", "_after"))
    n = len(both)
    if not n:
        return None
    if metric == "tokens":
        pairs = zip(both["value_before"], both["value_after"], strict=True)
        shift = median_ratio("answers", [float(new / old) for old, new in pairs if old and new])
        return Change(n=shift.n, value=shift.median, low=shift.low, high=shift.high) if shift else None
    difference = both["value_after"] - both["value_before"]
    fell, rose = float(-difference.clip(upper=0).sum()), float(difference.clip(lower=0).sum())
    interval = tango_interval(fell, rose, n)
    return Change(n=n, value=100 * (rose - fell) / n, low=-100 * interval.high, high=-100 * interval.low)
