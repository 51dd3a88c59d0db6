"""What a run will take, and how many samples fit into a given time. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evals import stats
from evals.errors import ConfigError
from evals.experiment import Arm, Experiment, TaskConfig
from evals.plan import ASSUMED_DISCORDANCE, FORCED_TOKENS, forced, forced_requests, launches

RESERVE = 0.1
"""Share of the time that is kept back: rates are measured in a minute, and answers differ in length."""
LEAST_N = 10
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([dhms])")
_UNIT_S = {"d": 86400, "h": 3600, "m": 60, "s": 1}


@dataclass(frozen=True, kw_only=True)
class Rate:
    """How fast one arm answered one task, at the concurrency that it was asked with."""

    seconds_per_sample: float
    """Wall time over samples."""
    tokens_per_sample: float | None


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What is known before a run, or after a probe. What one arm lacks is taken from the baseline."""

    samples: dict[tuple[str, str], Rate]
    """By arm and task."""
    ready_s: dict[str, float]
    """Seconds from a server's start to its first answer, by arm."""

    def of(self, experiment: Experiment, arm: str, task: str) -> Rate | None:
        return self.samples.get((arm, task)) or self.samples.get((experiment.baseline, task))

    def start_s(self, experiment: Experiment, arm: str) -> float:
        return self.ready_s.get(arm, self.ready_s.get(experiment.baseline, 0.0))


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a run is expected to take."""

    starts_s: float
    asking_s: float
    tokens: int | None

    @property
    def total_s(self) -> float:
        return self.starts_s + self.asking_s


@dataclass(frozen=True, kw_only=True)
class Allotment:
    """Samples by task that fit into a budget, and what was given up for it, a line each."""

    n: dict[str, int]
    told: tuple[str, ...]
    missing_s: float
    """What the budget lacks for the least number of samples; 0 where it suffices."""


def duration_s(text: str) -> float:
    """`3h`, `90m`, `1h30m`, `45s` → seconds.

    Raises:
        ConfigError: it is none of these.
    """
    parts = _PART.findall(text.strip().lower())
    if not parts or _PART.sub("", text.strip().lower()).strip() or not sum(float(n) for n, _ in parts):
        raise ConfigError(f"--budget {text[:40]!r}: write a time such as 3h, 90m or 1h30m")
    return min(sum(float(n) * _UNIT_S[unit] for n, unit in parts), 1e9)


def words(seconds: float) -> str:
    """`45 s`, `12 min`, `3 h 05 min`."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


def cost(experiment: Experiment, rates: Rates) -> Cost | None:
    """None where a rate or the size of a data set is not known."""
    asking, tokens = 0.0, 0.0
    told = True
    for arm, task, n in _stages(experiment):
        rate = rates.of(experiment, arm.name, task.name)
        if rate is None or n is None:
            return None
        asking += n * rate.seconds_per_sample
        tokens += n * (rate.tokens_per_sample or 0)
        told = told and rate.tokens_per_sample is not None
    starts = sum(rates.start_s(experiment, launch.arms[0].name) for launch in launches(experiment))
    return Cost(starts_s=starts, asking_s=asking, tokens=round(tokens) if told else None)


def sensors(experiment: Experiment, rates: Rates) -> str:
    """What sensors ask, in words, and how long it takes at the most; empty where they ask nothing.

    To read an answer at once takes no longer than to write as much of it, word by word, did.
    """
    if not (count := forced_requests(experiment)):
        return ""
    known = [rate for task in forced(experiment) if (rate := rates.of(experiment, experiment.baseline, task))]
    each_s = [r.seconds_per_sample * min(1.0, FORCED_TOKENS / max(r.tokens_per_sample or 0, 1)) for r in known]
    most = f", {words(count * max(each_s))} at the most" if each_s else ""
    return f"sensors: up to {count} requests more of one forward pass each{most}"


def sentence(expected: Cost | None) -> str:
    if expected is None:
        return "time: not known before one run of this model was measured here; `bumpgate run --budget 3h` keeps within a time"
    tokens = f", {expected.tokens:,} tokens" if expected.tokens is not None else ""
    starts = f"{words(expected.starts_s)} of it starts"
    return f"time: about {words(expected.total_s)} ({starts}){tokens}, at the rates of earlier runs here"


def _stages(experiment: Experiment) -> Iterator[tuple[Arm, TaskConfig, int | None]]:
    for launch in launches(experiment):
        for stage in launch.stages:
            yield stage.arm, stage.task, stage.task.planned_n


def allot(experiment: Experiment, rates: Rates, budget_s: float, sizes: dict[str, int]) -> Allotment:
    """How many samples of each gated task to ask, so that the whole run stays within `budget_s`.

    What is only compared (greedy) is asked whole. Then each gate, in the order of the file, gets what makes a PASS likely if
    nothing changed, and what is left goes to them in the same order. `sizes`: samples that each task would ask by itself.
    """
    seconds = dict.fromkeys(sizes, 0.0)
    for arm, task, _ in _stages(experiment):
        rate = rates.of(experiment, arm.name, task.name)
        seconds[task.name] += rate.seconds_per_sample if rate else 0.0
    margins = {g.task: g.margin for g in experiment.gates}
    n = {name: 0 if name in margins else size for name, size in sizes.items()}
    again = max([len(gate.looks) for gate in experiment.gates if gate.looks], default=1)  # every look may start all of them
    starts = again * sum(rates.start_s(experiment, launch.arms[0].name) for launch in launches(experiment))
    left = budget_s * (1 - RESERVE) - starts - sum(seconds[name] * n[name] for name in sizes)
    least = {name: min(LEAST_N, sizes[name]) for name in margins}
    needs = {name: stats.samples_for_margin(m, ASSUMED_DISCORDANCE) for name, m in margins.items()}
    missing_s = max(0.0, sum(seconds[name] * n for name, n in least.items()) - left)
    for wanted in (least, needs, sizes):
        for name in margins:
            fits = int(max(left, 0.0) / seconds[name]) if seconds[name] else wanted[name]
            more = max(0, min(wanted[name] - n[name], sizes[name] - n[name], fits))
            n[name] += more
            left -= more * seconds[name]
    told = tuple(_given_up(name, n[name], sizes[name], needs[name], m) for name, m in margins.items())
    return Allotment(n=n, told=told, missing_s=missing_s)


def _given_up(task: str, n: int, size: int, need: int, margin: float) -> str:
    if n == size:
        return f"{task}: all {size} samples fit"
    drop = stats.excluded_drop(max(n, 1), ASSUMED_DISCORDANCE)
    can = f"{task}: {n} of {size} samples fit, which can exclude a drop of {drop:.1f} points"
    return f"{can} (margin {margin:g})" if n >= need else f"{can}, where the margin {margin:g} asks for about {need}"
