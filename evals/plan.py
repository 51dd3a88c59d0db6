"""Which server runs when, and what is asked on it: an `Experiment` → launches in order. Pure; nothing is started here."""

import math
from dataclasses import dataclass
from typing import Any

from evals import knowable, stats
from evals.experiment import Arm, Experiment, TaskConfig, UrlEngine
from evals.judged import GateSpec, Knowable
from evals.power import Design
from evals.prompt_room import answer_tokens

ASSUMED_DISCORDANCE = 0.08
"""Share of samples that flip either way between two runs of one model; 8 % is what upgrades of real models show."""
FORCED = 36
"""Answers of the baseline to each task that every server is asked the log-probabilities of: all greedy prompts."""
FORCED_FLIPS = 16
"""More a task and candidate: answers that changed sides."""
FORCED_TOKENS = 1024
"""Of prompt and answer together, at most: logits of 1,024 places over 150,000 words are 1.5 GB for a moment, as bfloat16, as
float32 and as log-probabilities. vLLM's own newer runner computes as many at a time, and an older one all that it is given."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One arm × task × round."""

    arm: Arm
    task: TaskConfig
    round: int
    keeps_prompts: bool = False
    """Whether the token ids of rendered prompts are kept, for other servers to be asked about the answers."""

    @property
    def warm(self) -> bool:
        """Whether the prefix cache shall hold each prompt before it is asked."""
        return self.task.warm and self.round % 2 == 1

    @property
    def title(self) -> str:
        """`v029 · needle · round 1, warm`."""
        passed = f"round {self.round // 2 + 1}{', warm' if self.warm else ''}" if self.task.warm else f"round {self.round + 1}"
        return f"{self.arm.name} · {self.task.name} · {passed}"


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One start of one server, and what is asked while it runs. The first arm's settings start it."""

    index: int
    stages: tuple[Stage, ...]
    sensed: Arm | None = None
    """Of the arms that share the server, the one that is asked for log-probabilities at the end."""

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Those that are asked something."""
        asked = {s.arm.name: s.arm for s in self.stages}
        return tuple(asked.values()) or ((self.sensed,) if self.sensed else ())


@dataclass(frozen=True, kw_only=True)
class GatePlan:
    """What a gate will be able to say, before anything is asked."""

    arm: str
    task: str
    margin: float
    n_needed: int
    """Samples that make a PASS likely (80 %) if nothing changed, at the assumed discordance."""
    knowable: Knowable | None
    """None: all samples of the data set are asked, whose number is not known yet."""


def launches(experiment: Experiment) -> tuple[Launch, ...]:
    """Every launch in the order of the run.

    The baseline is first, so that what breaks everything is seen at once, and its further launches are last, so that the
    noise floor holds what the machine did in between. Arms that differ only in request settings share a server.
    """
    groups: dict[str, list[Arm]] = {}
    for arm in sorted(experiment.arms, key=lambda a: a.name != experiment.baseline):
        groups.setdefault(arm.server_key, []).append(arm)
    first = [_launch(experiment, arms, 0) for arms in groups.values()]
    base = [_launch(experiment, [experiment.arm(experiment.baseline)], i) for i in range(1, experiment.launches)]
    return tuple(launch for launch in [*first, *base] if launch.stages)


def batches(experiment: Experiment) -> tuple[tuple[Launch, ...], ...]:
    """The launches in the order of the run, those that run side by side together.

    Only where the experiment says `parallel`, and only servers that we start on devices which they name and don't share.
    """
    out: list[tuple[Launch, ...]] = []
    for launch in launches(experiment):
        together = [*(out[-1] if out else ()), launch]
        if len(together) > 1 and experiment.parallel and _disjoint([one.arms[0] for one in together]):
            out[-1] = tuple(together)
        else:
            out.append((launch,))
    return tuple(out)


def _disjoint(arms: list[Arm]) -> bool:
    devices = [device for arm in arms for device in arm.devices]
    ours = all(arm.devices and not isinstance(arm.engine, UrlEngine) for arm in arms)
    return ours and len(devices) == len(set(devices))


def _launch(experiment: Experiment, arms: list[Arm], index: int) -> Launch:
    stages: list[Stage] = []
    for arm in arms:
        count = experiment.launches if arm.name == experiment.baseline else 1
        for task in experiment.tasks:
            spread = [r for r in range(task.rounds) if (r // 2 if task.warm else r) % count == index]
            rounds = spread if task.info.marked else [index]  # what is only compared is asked once a launch
            keeps = arm.name == experiment.baseline and task.name in forced(experiment)
            stages += [Stage(arm=arm, task=task, round=r, keeps_prompts=keeps and r == 0) for r in rounds]
    # Two launches of the baseline tell what a restart changes; a third would tell no more.
    sensed = arms[0] if stages and index < 2 and forced(experiment) else None
    return Launch(index=index, stages=tuple(stages), sensed=sensed)


def forced(experiment: Experiment) -> dict[str, int]:
    """By task: how many of the baseline's answers every server is asked about. None where no other server is there to ask."""
    base = experiment.arm(experiment.baseline).server_key
    if not experiment.sensors or all(arm.server_key == base for arm in experiment.arms):
        return {}
    generating = [t for t in experiment.tasks if "sampling" not in t.info.blind_to]
    return {t.name: min(FORCED, t.planned_n or FORCED) for t in generating if t.grid is None}  # needles are too long


def own_flags(experiment: Experiment, arm: Arm) -> dict[str, Any]:
    """The flags in which an arm differs from the baseline; None for one that it lacks."""
    base = experiment.arm(experiment.baseline).args
    return {name: arm.args.get(name) for name in {**base, **arm.args} if arm.args.get(name) != base.get(name)}


def requests(experiment: Experiment) -> int | None:
    """Questions up to the first look; None where a task asks a whole data set whose size is not known yet."""
    counts = [stage.task.planned_n for launch in launches(experiment) for stage in launch.stages]
    return None if None in counts else sum(n for n in counts if n is not None)


def total(experiment: Experiment) -> int | None:
    """Questions of the whole run; None where that is not known, for a data set's size or what a look will tell isn't."""
    return None if any(gate.looks for gate in experiment.gates) else requests(experiment)


def forced_requests(experiment: Experiment) -> int:
    """The most that servers will be asked for log-probabilities: of the first answers to each task, and of flipped ones."""
    of = forced(experiment)
    sensed = [launch.sensed.name for launch in launches(experiment) if launch.sensed]
    ours = sensed.count(experiment.baseline)
    candidates = len(sensed) - ours
    flips = FORCED_FLIPS * sum(t.info.marked for t in experiment.tasks if t.name in of)
    return len(sensed) * sum(of.values()) + candidates * flips * (2 if ours > 1 else 1)


def gates(experiment: Experiment) -> tuple[GatePlan, ...]:
    """One row per candidate × gate."""
    rows = [(arm.name, gate) for arm in experiment.candidates for gate in experiment.gates if gate.judges(arm.name)]
    return tuple(
        GatePlan(
            arm=arm, task=gate.task, margin=gate.margin, knowable=_knowable(experiment, gate, len(rows)),
            n_needed=stats.samples_for_margin(gate.margin, ASSUMED_DISCORDANCE),
        )
        for arm, gate in rows
    )  # fmt: skip


def _knowable(experiment: Experiment, gate: GateSpec, count: int) -> Knowable | None:
    task = next(t for t in experiment.tasks if t.name == gate.task)
    most = task.size or (gate.looks[-1] if gate.looks else task.n)
    sizes = tuple(dict.fromkeys(min(n, most) for n in gate.looks or (task.n or most,))) if most else ()
    if not sizes:
        return None
    design = Design(sizes=sizes, margin=gate.margin, gates=count, rounds=task.rounds)
    return knowable.knowable(design, ASSUMED_DISCORDANCE, task.available)


def passes_if_equal(experiment: Experiment) -> float | None:
    """How likely an overall PASS is if nothing changed, at least; None where that is not known."""
    known = [gate.knowable for gate in gates(experiment)]
    return knowable.overall(k for k in known if k) if known and all(known) else None


def sentence(gate: GatePlan) -> str:
    """`v029 · gsm8k: margin 2, at 8 % flips: with 200 questions this gate can't exclude …; a PASS is 21 % likely if …`."""
    flips, k = 100 * ASSUMED_DISCORDANCE, gate.knowable
    said = f"{gate.arm} · {gate.task}: margin {gate.margin:g}, at {flips:.0f} % flips"
    if k is None:
        return f"{said}: asks the whole data set; a PASS is 80 % likely if nothing changed from n = {gate.n_needed:,}"
    return f"{said}: {knowable.sentence(k)}; {knowable.odds(k)}"


def _left_out(experiment: Experiment) -> list[str]:
    """Usual lengths that an arm was told not to take."""
    return [
        f"{task.name}: {', '.join(map(str, task.grid.left_out))} tokens are left out, for with the answer they are "
        "more than some arm's max-model-len; raise it to have them asked"
        for task in experiment.tasks
        if task.grid and task.grid.left_out
    ]


def notes(experiment: Experiment) -> tuple[str, ...]:
    """Which looks are planned, a line a gate, and what an arm's thinking brings with it, a line an arm."""
    out = []
    for gate in (g for g in experiment.gates if g.looks):
        looks = ", ".join(f"{n:,}" for n in gate.looks)
        out.append(f"{gate.task} is looked at with {looks} samples; requests and time above are up to the first look")
    marked = [t for t in experiment.tasks if t.info.marked]
    for arm in experiment.arms:
        if arm.thinking is None or arm.thinking.effort == "off":
            continue
        asked = "; ".join(f"{t.name} in {t.rounds} rounds of up to {answer_tokens(arm, t)} tokens an answer" for t in marked)
        out.append(
            f"{arm.name} thinks ({arm.thinking.effort}): sampling {arm.sampling}; {asked} "
            "(`sampling`, a task's `rounds` and `request: {max_tokens: …}` say otherwise)"
        )
    return tuple(out)


def _devices_needed(arm: Arm) -> int:
    sizes = [arm.args.get(f"{kind}-parallel-size", 1) for kind in ("tensor", "pipeline", "data")]
    return math.prod(size for size in sizes if isinstance(size, int))


def warnings(experiment: Experiment) -> tuple[str, ...]:
    """What a reader should know before the run, one line each."""
    out = []
    greedy = any(not t.info.marked for t in experiment.tasks)
    if greedy and experiment.launches < 2:
        out.append(
            "launches: 1 gives no noise floor, so that greedy differences can't be told from a restart's; set launches: 2"
        )
    if experiment.launches > 1 and isinstance(experiment.arm(experiment.baseline).engine, UrlEngine):
        out.append("the baseline is a url, which is never restarted: its noise floor leaves out what a restart changes")
    out += [
        f"{t.name}: {t.n} samples are asked for and the data set has {t.size}"
        for t in experiment.tasks
        if t.n is not None and t.size is not None and t.n > t.size
    ]
    out += [
        f"{g.task}: margins are in percentage points, and {g.margin:g} is less than a tenth of one; "
        f"for {100 * g.margin:g} % write {100 * g.margin:g}"
        for g in experiment.gates
        if g.margin < 0.1
    ]
    out += [
        f"{arm.name}: its flags ask for {needed} devices and `devices` names {len(arm.devices)}"
        for arm in experiment.arms
        if arm.devices and (needed := _devices_needed(arm)) > len(arm.devices)
    ]
    out += _left_out(experiment)
    out += [f"{arm.name}: {arm.thinking.doubt}" for arm in experiment.arms if arm.thinking and arm.thinking.doubt]
    if experiment.parallel and all(len(batch) == 1 for batch in batches(experiment)):
        out.append("parallel: no two arms that follow each other name disjoint `devices`, so that they run one after another")
    if not experiment.gates:
        out.append("no gate: nothing can PASS; add `gates:`")
    if not experiment.candidates:
        out.append("no candidate: one arm alone can't be judged; add an arm that extends the baseline")
    out += [
        f"{g.task}: {knowable.sentence(k)}, and the margin is {g.margin:g}"
        for g in {(g.task, g.margin): g for g in gates(experiment)}.values()
        if (k := g.knowable) and k.excluded_drop >= g.margin
    ]
    chance = passes_if_equal(experiment)
    if chance is not None and chance < knowable.LIKELY:
        out.append(knowable.warning(chance, [g.knowable for g in gates(experiment) if g.knowable]))
    return tuple(out)
