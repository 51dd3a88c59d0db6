"""How far each arm is to be asked each task: to its gate's first look, and to the next while that is INCONCLUSIVE. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from evals.contents import ALL, Contents
from evals.evidence import from_contents
from evals.experiment import Experiment, TaskConfig
from evals.judged import Ask, GateResult, GateSpec, Look
from evals.standing import Standing, standing
from evals.verdict import judge_gates

Asks = Mapping[tuple[str, str], Ask]
"""By arm and task, the baseline among them."""


def asks(experiment: Experiment, contents: Contents) -> Asks:
    """What is to be asked now, as far as the looks that were taken tell. The baseline goes as far as any candidate."""
    out: dict[tuple[str, str], Ask] = {}
    for task in experiment.tasks:
        gate = next((g for g in experiment.gates if g.task == task.name), None)
        for arm in experiment.candidates:
            taken = [look for look in contents.looks_now() if (look.arm, look.task) == (arm.name, task.name)]
            out[arm.name, task.name] = _ask(arm.name, task, gate if gate and gate.judges(arm.name) else None, taken)
        n = max([out[arm.name, task.name].n for arm in experiment.candidates], default=_first(task))
        out[experiment.baseline, task.name] = Ask(arm=experiment.baseline, task=task.name, n=n)
    return out


def _ask(arm: str, task: TaskConfig, gate: GateSpec | None, taken: Sequence[Look]) -> Ask:
    if gate is None or not gate.looks:
        return Ask(arm=arm, task=task.name, n=_first(task))
    n = max([look.n for look in taken if look.n in gate.looks], default=gate.looks[0])
    if taken and max(taken, key=lambda look: look.n).verdict == "INCONCLUSIVE":
        n = next((size for size in gate.looks if size > max(look.n for look in taken)), n)
    return Ask(arm=arm, task=task.name, n=n, looks=gate.looks)


def _first(task: TaskConfig) -> int:
    return ALL if task.n is None else task.n


def growing(now: Asks, then: Asks) -> frozenset[tuple[str, str]]:
    """Those arms and tasks that are to be asked further than before."""
    return frozenset(key for key, ask in now.items() if ask.n > then[key].n)


def looks(contents: Contents, at: str) -> list[Look]:
    """Every gate judged with what it has now: those that tell another verdict than the journal has, or are at another n.

    Without those that nothing is to be seen of.
    """
    evidence = replace(from_contents(contents), finished=True)  # as far as this look goes
    gates, said = {gate.task: gate for gate in evidence.gates}, {(o.arm, o.task, o.n): o.verdict for o in evidence.looks}
    results = [result for result in judge_gates(evidence) if result.delta is not None]
    found = [_look(result, standing(evidence, result.arm, gates[result.task]), at) for result in results]
    return [look for look in found if said.get((look.arm, look.task, look.n)) != look.verdict]


def _look(result: GateResult, stands: Standing, at: str) -> Look:
    return Look(
        arm=result.arm, task=result.task, n=stands.n, sizes=stands.sizes, margin=result.margin, verdict=result.verdict,
        passing=stands.levels.passing, regression=stands.levels.regression, at=at,
    )  # fmt: skip


def news(seen: Iterable[Look], then: Asks) -> Iterator[str]:
    """`look 1 of 3: v029 · gsm8k with 200 samples: INCONCLUSIVE; 760 are asked next`, for each gate that has several."""
    for look in (look for look in seen if len(look.sizes) > 1):
        which = f"look {look.sizes.index(look.n) + 1} of {len(look.sizes)}" if look.n in look.sizes else "an unplanned look"
        more = then[look.arm, look.task].n
        tail = f"; {more} are asked next" if more > look.n else ""
        yield f"{which}: {look.arm} · {look.task} with {look.n} samples: {look.verdict}{tail}"


def unplanned(experiment: Experiment, contents: Contents) -> Iterator[str]:
    """What is to be asked that nobody planned when it was first looked at, a line a task."""
    last = {} if contents.allotments else {task.name: _last(experiment, task) for task in experiment.tasks}
    first = {look.task: look for look in reversed(contents.looks_now()) if look.task in last}
    for task, look in first.items():
        if last[task] not in look.sizes:
            yield (
                f"warning: {task} was looked at with {look.n} samples, and {last[task]} were not planned then: they explore, "
                "and can't PASS; --new measures afresh"
            )


def made_longer(experiment: Experiment, contents: Contents) -> bool:
    """Whether a run of these very arms and tasks was looked at, not to its content, with fewer samples than are asked now."""
    header = contents.header
    keys = ({a.name: a.key for a in experiment.arms}, {t.name: t.key for t in experiment.tasks})
    if header is None or contents.allotments or keys != (header.arm_keys, header.task_keys):
        return False
    last = {task.name: _last(experiment, task) for task in experiment.tasks}
    looks = contents.looks_now()
    reached = {look.task for look in looks if max(look.n, look.sizes[-1]) >= last[look.task]}
    return any(look.verdict != "PASS" and look.task not in reached for look in looks)


def _last(experiment: Experiment, task: TaskConfig) -> int:
    """Samples at its gate's last look, or all that are asked where none is planned."""
    return next((g.looks[-1] for g in experiment.gates if g.task == task.name and g.looks), _first(task))


def limited(experiment: Experiment, most: Mapping[str, int]) -> Experiment:
    """With no more samples of each task than `most` says, and so with fewer looks, the last of them at that number."""
    gates = tuple(replace(g, looks=_cut(g.looks, most.get(g.task))) for g in experiment.gates)
    first = {g.task: g.looks[0] for g in gates if g.looks}
    tasks = tuple(replace(t, n=first.get(t.name, _least(t.n, most.get(t.name)))) for t in experiment.tasks)
    return replace(experiment, gates=gates, tasks=tasks)


def _cut(looks: tuple[int, ...], most: int | None) -> tuple[int, ...]:
    return looks if most is None else tuple(dict.fromkeys(min(size, most) for size in looks))


def _least(n: int | None, most: int | None) -> int | None:
    return n if most is None else most if n is None else min(n, most)
