"""Thinking efforts side by side: arms that one server answered under different efforts, and which of them are equal. Pure."""

from dataclasses import dataclass, replace
from itertools import combinations
from statistics import mean, median

from evals import compare
from evals.incomparable import incomparable
from evals.judged import ArmSpec, Evidence, GateSpec, TaskSpec
from evals.looks import Levels
from evals.records import Response
from evals.stats import ALPHA, wilson

_ORDER = ("off", "on", "minimal", "low", "medium", "high", "xhigh", "max")
"""Efforts, the least first; a model's own word comes last."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How a figure falls over responses: those that tell it."""

    n: int
    median: float
    mean: float


@dataclass(frozen=True, kw_only=True)
class Level:
    """One arm on one task."""

    arm: str
    effort: str
    task: str
    asked: int
    """Samples."""
    n: int
    """Those that were measured in every round."""
    correct: float | None
    """Percent, a mean over rounds; None where no sample was measured."""
    ci_low: float | None
    ci_high: float | None
    """Two-sided 90 % (Wilson)."""
    responses: int
    """Over all rounds; what follows is of these."""
    reasoning_tokens: Spread | None
    """As the engine counted them; None where it does not tell."""
    reasoning_characters: Spread | None
    """Of the reasoning's text, where there is one."""
    completion_tokens: Spread | None
    truncated: int
    """Responses that max_tokens cut off."""
    latency_s: Spread | None


@dataclass(frozen=True, kw_only=True)
class LevelPair:
    """Two efforts on one task: the larger one − the smaller one, in percentage points, paired by sample."""

    task: str
    less: str
    more: str
    """Arms."""
    n: int
    diff: float
    ci_low: float
    ci_high: float
    """A gate's interval: two-sided at 90 % for one pair; with more pairs of the task, the 10 % are divided by their number."""
    incomparable: str | None = None
    """Why two such arms would be INVALID at a gate; None where not."""

    @property
    def open(self) -> bool:
        """The interval contains 0."""
        return self.ci_low <= 0 <= self.ci_high

    @property
    def equal(self) -> bool:
        """Inside the noise, of two that can be compared: neither is at the floor, nor one that could hardly be measured."""
        return self.open and self.incomparable is None


def levels(evidence: Evidence) -> tuple[Level, ...]:
    """By task, then by effort."""
    return tuple(_level(evidence, a, task) for task in _tasks(evidence) for arms in _groups(evidence) for a in arms)


def pairs(evidence: Evidence) -> tuple[LevelPair, ...]:
    """Every two efforts of a server, task by task; without those that share no measured sample."""
    found = []
    for task in _tasks(evidence):
        for arms in _groups(evidence):
            both = [(a, b) for a, b in combinations(arms, 2) if a.thinking != b.thinking]
            found += [p for a, b in both if (p := _pair(evidence, task.name, a, b, len(both))) is not None]
    return tuple(found)


def _tasks(evidence: Evidence) -> list[TaskSpec]:
    return [task for task in evidence.tasks if task.marked]


def _groups(evidence: Evidence) -> list[list[ArmSpec]]:
    """Arms of one server, of which at least two think differently; the least effort first."""
    by_server: dict[str, list[ArmSpec]] = {}
    for arm in evidence.arms:
        if arm.thinking is not None and arm.server:
            by_server.setdefault(arm.server, []).append(arm)
    return [sorted(arms, key=_rank) for arms in by_server.values() if len({a.thinking for a in arms}) > 1]


def _rank(arm: ArmSpec) -> int:
    return _ORDER.index(arm.thinking) if arm.thinking in _ORDER else len(_ORDER)


def _level(evidence: Evidence, arm: ArmSpec, task: TaskSpec) -> Level:
    paired = compare.pairs(replace(evidence, baseline=arm.name), task.name, arm.name)
    both = compare.measured(paired)
    correct = sum(sample.candidate for sample in both)
    interval = wilson(correct, len(both)) if both else None
    said = [r.response for r in evidence.records if (r.arm, r.task) == (arm.name, task.name) and r.response]
    return Level(
        arm=arm.name, effort=str(arm.thinking), task=task.name, asked=len(paired), n=len(both),
        correct=100 * correct / len(both) if both else None,
        ci_low=100 * interval.low if interval else None, ci_high=100 * interval.high if interval else None,
        responses=len(said), reasoning_tokens=_spread([r.reasoning_tokens for r in said]),
        reasoning_characters=_spread([_characters(r) for r in said]),
        completion_tokens=_spread([r.completion_tokens for r in said]),
        truncated=sum(r.finish_reason == "length" for r in said), latency_s=_spread([r.latency_s for r in said]),
    )  # fmt: skip


def _characters(response: Response) -> int | None:
    return None if response.reasoning is None else len(response.reasoning)


def _spread(values: list[int | None] | list[float]) -> Spread | None:
    told = [float(value) for value in values if value is not None]
    return Spread(n=len(told), median=median(told), mean=mean(told)) if told else None


def _pair(evidence: Evidence, task: str, less: ArmSpec, more: ArmSpec, among: int) -> LevelPair | None:
    mine = replace(evidence, baseline=less.name)
    margin = min((gate.margin for gate in evidence.gates if gate.task == task), default=0.0)
    delta = compare.compare(mine, task, more.name, Levels(passing=ALPHA / among), margin)
    if delta is None:
        return None
    gate, meant = GateSpec(task=task, margin=margin), replace(more, same_prompts=False)
    return LevelPair(
        task=task, less=less.name, more=more.name, n=delta.n, diff=delta.diff, ci_low=delta.ci_low, ci_high=delta.ci_high,
        incomparable=incomparable(mine, compare.ledger(mine), meant, gate, delta),
    )  # fmt: skip
