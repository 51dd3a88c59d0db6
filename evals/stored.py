"""An arm of a blessed run, in the place of a baseline that is served again: its records are taken into a new run's journal.

They are paired with the candidates' by sample id, so that all but the engine must be as it was.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from evals import sampling, store
from evals.blessing import blessings
from evals.errors import ConfigError
from evals.experiment import Arm, Experiment, TaskConfig
from evals.judged import ArmSpec, StoredArm
from evals.prompt_room import answer_tokens
from evals.records import JsonDict, Sample
from evals.store import Answer, Contents, Header, Journal, Place
from tasks import task_info

NEEDLE = "needle"


def settings(arm: Arm, task: TaskConfig) -> JsonDict:
    """What shapes an arm's answers to a task beside the prompts and the engine."""
    asked: JsonDict = {"max_tokens": answer_tokens(arm, task), "concurrency": task.concurrency, "warm": task.warm}
    return sampling.settings(arm) | asked


@dataclass(frozen=True, kw_only=True)
class Stored:
    told: StoredArm
    contents: Contents
    """Of the blessed run."""
    header: Header

    @property
    def key(self) -> str:
        """What its answers are stored under: no configuration of an experiment file has it."""
        return f"{self.told.run_id} {self.told.arm} {self.header.arm_keys[self.told.arm]}"

    def spec(self, baseline: ArmSpec) -> ArmSpec:
        """What the judge must know of the baseline: this arm's declared version, and the rest as the experiment has it."""
        mine = next(spec for spec in self.header.arms if spec.name == self.told.arm)
        return replace(baseline, version=mine.version, server=self.key)

    def check(self, experiment: Experiment, samples: Mapping[str, tuple[Sample, ...]]) -> None:
        """`samples`: those of the experiment, by task.

        Raises:
            ConfigError: prompts, samples or settings differ; one line.
        """
        baseline = experiment.arm(experiment.baseline)
        for task in experiment.tasks:
            if wrong := self._unlike(task, settings(baseline, task), samples[task.name]):
                words = "ask the same, or let the baseline be served again"
                raise ConfigError(f"--baseline-run {self.told.run_id}: {task.name}: {wrong}; {words}")

    def _unlike(self, task: TaskConfig, here: JsonDict, samples: tuple[Sample, ...]) -> str | None:
        spec = next((t for t in self.header.tasks if t.name == task.name), None)
        if spec is None:
            return f"not asked there; its tasks are {', '.join(t.name for t in self.header.tasks)}"
        there = self.header.settings.get(self.told.arm, {}).get(task.name, {})
        for name in sorted(there.keys() | here.keys()):
            if there.get(name) != here.get(name):
                return f"{name} was {there.get(name)!r} for {self.told.arm}, and is {here.get(name)!r} for the baseline here"
        if task.name == NEEDLE and self.header.task_keys[NEEDLE] != task.key:
            return "other lengths, depths or texts were asked there"
        if task.info.marked and spec.rounds < task.rounds:
            return f"asked in {spec.rounds} rounds there, and in {task.rounds} here"
        return _other_samples({s.id: s for s in self.contents.samples.get(task.name, ())}, samples)

    def put_into(self, journal: Journal, experiment: Experiment) -> None:
        """Write its records as the baseline's, unless they are there."""
        answers = list(self._answers(experiment))
        begun = any(key == self.key for _, key, _ in journal.contents.starts)
        if begun and all((new.place, new.sample_id) in journal.contents.answers for _, new in answers):
            return
        if begun:  # a kill came while it was written
            journal.forget(experiment.baseline)
        self._put_servers(journal, experiment.baseline)
        self._put_measurements(journal, experiment)
        there = self.contents.sandbox
        same_sandbox = there is not None and journal.contents.sandbox in (None, there)
        if there is not None and same_sandbox:
            journal.put_sandbox(there)
        for old, new in answers:
            journal.put_answer(new)
            mark = self.contents.scores.get(old.key)
            if mark is not None and (same_sandbox or not task_info(new.place.task).sandboxed):  # else it is run again here
                journal.put_score(new.key, mark)

    def _is_own(self, arm: str, key: str) -> bool:
        return (arm, key) == (self.told.arm, self.header.arm_keys[self.told.arm])

    def _here(self, place: Place, experiment: Experiment) -> Place | None:
        """Where what stands there belongs in the new run; None where that is not asked any more."""
        task = next((t for t in experiment.tasks if t.name == place.task), None)
        if (
            task is None
            or not self._is_own(place.arm, place.arm_key)
            or place.task_key != self.header.task_keys.get(place.task)
        ):
            return None
        return replace(place, arm=experiment.baseline, arm_key=self.key, task_key=task.key)

    def _answers(self, experiment: Experiment) -> Iterator[tuple[Answer, Answer]]:
        """As they stand there, and as they will here. The key is another one, for the same arm may be asked here, too."""
        for old in self.contents.answers.values():
            if place := self._here(old.place, experiment):
                key = hashlib.sha256(f"{self.told.run_id} {old.key}".encode()).hexdigest()[:24]
                yield old, replace(old, place=place, key=key)

    def _put_servers(self, journal: Journal, baseline: str) -> None:
        for arm, key, info in self.contents.starts:
            if self._is_own(arm, key):
                journal.put_server(baseline, self.key, info)
        for (arm, _), (key, failure) in self.contents.failures.items():
            if self._is_own(arm, key):
                journal.put_launch_failure(baseline, self.key, failure)
        for arm, key, why in self.contents.restarts:
            if self._is_own(arm, key):
                journal.put_restart(baseline, self.key, why)
        for (arm, _), (key, seen) in self.contents.preflights.items():
            if self._is_own(arm, key):
                journal.put_preflight(baseline, self.key, seen)

    def _put_measurements(self, journal: Journal, experiment: Experiment) -> None:
        for old, window in self.contents.windows:
            if place := self._here(old, experiment):
                journal.put_window(place, replace(window, arm=place.arm))
        for (old, _), result in self.contents.harness.items():
            if place := self._here(old, experiment):
                journal.put_harness(place, replace(result, arm=place.arm))
        if made := self.contents.made_for.get(NEEDLE):  # with the tokenizer of a server, and the same for every arm here
            key = next((t.key for t in experiment.tasks if t.name == NEEDLE), None)
            if key is not None:
                journal.put_samples(NEEDLE, self.contents.samples[NEEDLE], made_for=made.replace(made.split()[0], key, 1))


def _other_samples(there: Mapping[str, Sample], samples: tuple[Sample, ...]) -> str | None:
    if missing := [s.id for s in samples if s.id not in there]:
        return f"{len(missing)} of {len(samples)} samples were not asked there, first {missing[0]}"
    if other := [s.id for s in samples if not _same(s, there[s.id])]:
        return f"{len(other)} of {len(samples)} samples have another prompt or answer there, first {other[0]}"
    return None


def _same(one: Sample, other: Sample) -> bool:
    """Prompts that a server's tokenizer is needed for are not made yet."""
    asked = not one.messages or (one.messages, one.choices) == (other.messages, other.choices)
    return asked and one.target == other.target


def find(reports: Path, run_id: str) -> Stored:
    """The arm that a run was blessed for.

    Raises:
        ConfigError: there is no such run, or it is not blessed.
        StoreError: it can't be read.
    """
    option = f"--baseline-run {run_id}"
    if not (reports / run_id / store.JOURNAL).is_file():
        raise ConfigError(
            f"{option}: there is no such run in {reports}; name a run's id, or its folder's parent with --reports"
        )
    found = [b for b in blessings(reports) if b.run_id == run_id]
    if not found:
        raise ConfigError(f"{option}: it is not blessed; `bumpgate bless {run_id} --why TEXT` makes it a baseline")
    contents, arm = store.read(reports / run_id), found[-1].arm
    if contents.header is None or arm not in contents.header.arm_keys:
        raise ConfigError(f"{option}: its journal has no arm {arm!r} any more; bless another run")
    told = StoredArm(run_id=run_id, arm=arm, started_at=contents.header.started_at)
    return Stored(told=told, contents=contents, header=contents.header)
