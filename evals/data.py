"""What a run asks: every task's samples, as many of them as an arm has come to."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from evals.experiment import Experiment, TaskConfig
from evals.judging import problems_of
from evals.lmeval import RECIPES, HarnessTask
from evals.needles import Needles
from evals.records import Sample
from tasks import coding, greedy
from tasks.problem_set import Posed


@dataclass(frozen=True, kw_only=True)
class Data:
    """The tasks' data sets, loaded before the first server starts, so that a missing file costs no GPU time."""

    harness: dict[str, HarnessTask] = field(default_factory=dict)
    """Those that lm-eval poses, by task, with the samples of its first look."""
    coding: dict[str, Posed] = field(default_factory=dict)
    """The problems; empty where none is asked."""
    needles: Needles | None = None
    _longer: dict[tuple[str, int | None], HarnessTask] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Arms side by side may come to a later look at once."""

    def size(self, task: TaskConfig) -> int | None:
        """Samples that there are; None where that is not known yet."""
        if task.name in self.harness:
            return self.harness[task.name].size
        grid = self.needles.grid if task.name == "needle" and self.needles else None
        known = {"coding": len(self.coding), "greedy": len(greedy.prompts())}
        return known.get(task.name, grid.size if grid and not grid.is_open else None)

    def sizes(self, tasks: Iterable[TaskConfig]) -> dict[str, int]:
        """By task, the samples that there are, where that is known."""
        return {t.name: size for t in tasks if (size := self.size(t)) is not None}

    def posed(self, task: TaskConfig) -> HarnessTask:
        """The task as lm-eval poses it, with so many samples as it has now."""
        first = self.harness[task.name]
        if first.n == (first.size if task.n is None else min(task.n, first.size)):
            return first
        with self._lock:
            if (task.name, task.n) not in self._longer:
                self._longer[task.name, task.n] = HarnessTask(task)
            return self._longer[task.name, task.n]

    def samples(self, task: TaskConfig) -> tuple[Sample, ...]:
        """What a stage of the task asks, in its order."""
        if task.name == "greedy":
            return greedy.prompts()[: task.n]
        if task.name == "coding":
            return coding.samples(self.coding, task.language, task.seed)[: task.n]
        if task.name == "needle":
            assert self.needles is not None  # loaded for every experiment that has the task
            return self.needles.samples()[: task.n]
        return self.posed(task).samples()


def load_data(experiment: Experiment) -> Data:
    """Every data set of the experiment, before any server is started.

    Raises:
        ConfigError: one can't be had.
    """
    by_name, last = {t.name: t for t in experiment.tasks}, {g.task: g.looks[-1] for g in experiment.gates if g.looks}
    needle = by_name.get("needle")
    return Data(
        harness={name: HarnessTask(task) for name, task in by_name.items() if task.foreign or name in RECIPES},
        coding=problems_of(by_name["coding"]) if "coding" in by_name else {},
        needles=Needles(replace(needle, n=last.get("needle", needle.n)), experiment.arms) if needle else None,
    )
