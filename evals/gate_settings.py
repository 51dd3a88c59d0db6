"""A file's `gates:` → what each judges, on which candidates, and when it is looked at."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NoReturn

from evals.document import Place, did_you_mean
from evals.experiment import TaskConfig
from evals.judged import GateSpec
from evals.schema import GateYaml, TaskYaml

Fail = Callable[[Place, str], NoReturn]
USUAL_LOOKS = 4
"""Where a gate says how far it may go, and not how often it is looked at on the way."""


def read(
    gates: Sequence[GateYaml] | None, tasks: Sequence[TaskConfig], arms: Sequence[str], baseline: str, fail: Fail
) -> tuple[GateSpec, ...]:
    """Every gate; where the file names none, one for each task that has a usual margin."""
    sure = [t for t in tasks if not t.optional]
    if gates is None:
        return tuple(GateSpec(task=t.name, margin=m) for t in sure if (m := t.info.default_margin) is not None)
    by_name = {t.name: t for t in tasks}
    for i, gate in enumerate(gates):
        place: Place = ("gates", i, "task")
        if gate.task not in by_name:
            fail(place, f"{gate.task!r} is not among the tasks{did_you_mean(gate.task, by_name)}")
        if not by_name[gate.task].info.marked:
            fail(place, f"{gate.task} compares answers without marking them, so it is a finding and can't gate")
        if by_name[gate.task] not in sure:
            fail(place, f"{gate.task!r} is optional, and what may be left out can't gate")
        if gate.task in [g.task for g in gates[:i]]:
            fail(place, f"{gate.task!r} has two gates; keep one")
        _check_arms(gate, i, arms, baseline, fail)
    return tuple(
        GateSpec(task=g.task, margin=g.margin, arms=tuple(g.arms or ()), looks=_looks(g, by_name[g.task], i, fail))
        for i, g in enumerate(gates)
    )


def _check_arms(gate: GateYaml, i: int, arms: Sequence[str], baseline: str, fail: Fail) -> None:
    candidates = [name for name in arms if name != baseline]
    for k, name in enumerate(gate.arms or ()):
        place: Place = ("gates", i, "arms", k)
        if name == baseline:
            fail(place, f"{name!r} is the baseline, which candidates are judged against; name candidates alone")
        if name not in candidates:
            fail(place, f"there is no arm {name!r}{did_you_mean(name, candidates)}")
        if name in (gate.arms or ())[:k]:
            fail(place, f"{name!r} is named twice; keep one")


def _looks(gate: GateYaml, task: TaskConfig, i: int, fail: Fail) -> tuple[int, ...]:
    """Samples at each look; empty where there is one."""
    place: Place = ("gates", i, "looks" if gate.looks is not None else "max_n")
    if gate.looks is None and gate.max_n is None:
        return ()
    if isinstance(gate.looks, list):
        if gate.max_n not in (None, gate.looks[-1]):
            fail(("gates", i, "max_n"), f"is {gate.max_n}, and the last look is at {gate.looks[-1]}; leave max_n out")
        if any(a >= b for a, b in pairwise(gate.looks)):
            fail(place, f"each look has more samples than the one before, got {gate.looks}")
        return tuple(gate.looks)
    if gate.max_n is None:
        fail(place, "add max_n, the samples at the last of them; or list the samples at each look")
    if task.n is None or task.n >= gate.max_n:
        asked = "all samples" if task.n is None else f"n: {task.n}"
        fail(place, f"{task.name} asks {asked} from the start, so that nothing is left to top up; give it an n below max_n")
    return even(task.n, gate.max_n, gate.looks or USUAL_LOOKS)


def even(first: int, most: int, count: int) -> tuple[int, ...]:
    """Samples at each of `count` looks, in even steps from `first` to `most`; fewer looks where that is fewer samples."""
    return tuple(dict.fromkeys(first + round(k * (most - first) / (count - 1)) for k in range(count)))


def starting(
    tasks: Sequence[TaskConfig], written: Sequence[TaskYaml], gates: Sequence[GateSpec], fail: Fail
) -> list[TaskConfig]:
    """The tasks, each from its gate's first look on."""
    first = {g.task: g.looks[0] for g in gates if g.looks}
    for i, (task, yaml) in enumerate(zip(tasks, written, strict=True)):
        if task.name in first and yaml.n is not None and yaml.n != first[task.name]:
            fail(("tasks", i, "n"), f"is {yaml.n}, and its gate's first look is at {first[task.name]}; leave one of them out")
    return [replace(t, n=first.get(t.name, t.n)) for t in tasks]
