"""What a run sets out to do, as its journal tells it first."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from evals import arm_flags, efforts, shipped
from evals.experiment import Arm, Experiment, TaskConfig
from evals.judged import ArmSpec, TaskSpec
from evals.store import Header, Journal
from evals.stored import Stored, settings


def header(experiment: Experiment, folder: Path, journal: Journal, stored: Stored | None = None) -> Header:
    """`stored`: what stands for the baseline, where it is not served."""
    before = journal.contents.header
    baseline = experiment.arm(experiment.baseline)
    arms = tuple(_arm_spec(a, baseline) for a in experiment.arms)
    arm_keys = {a.name: a.key for a in experiment.arms}
    if stored is not None:
        arms = tuple(stored.spec(spec) if spec.name == experiment.baseline else spec for spec in arms)
        arm_keys[experiment.baseline] = stored.key
    return Header(
        run_id=folder.name, name=experiment.name, bumpgate_version=shipped.own_version(),
        started_at=before.started_at if before else datetime.now(UTC).isoformat(timespec="seconds"),
        baseline=experiment.baseline,
        arms=arms,
        tasks=tuple(_task_spec(t) for t in experiment.tasks),
        gates=experiment.gates, sensors=experiment.sensors,
        arm_keys=arm_keys, task_keys={t.name: t.key for t in experiment.tasks},
        settings={a.name: {t.name: settings(a, t) for t in experiment.tasks} for a in experiment.arms},
        stored=stored.told if stored else None,
    )  # fmt: skip


def stale(journal: Journal) -> list[str]:
    """What was answered under settings that were changed since, or before a stored run took its place, a line an arm."""
    header = journal.contents.header
    keys = header.arm_keys if header else {}
    counts = Counter(p.arm for p, _ in journal.contents.answers if keys.get(p.arm, p.arm_key) != p.arm_key)
    replaced = header.baseline if header and header.stored else None
    why = {arm: "a stored run stands for it" if arm == replaced else "its settings were changed since" for arm in counts}
    return [f"{arm}: {why[arm]}; {n} answers from before don't count" for arm, n in counts.items()]


def _arm_spec(arm: Arm, baseline: Arm) -> ArmSpec:
    return ArmSpec(
        name=arm.name, same_prompts=arm.shapes_prompt_like(baseline), version=arm_flags.declared(arm),
        asked=efforts.asked(arm), thinking=efforts.told(arm), server=arm.server_key,
    )  # fmt: skip


def _task_spec(task: TaskConfig) -> TaskSpec:
    info = task.info
    return TaskSpec(
        name=task.name, rounds=task.rounds, chance=info.chance, marked=info.marked, warm=task.warm, size=task.available
    )
