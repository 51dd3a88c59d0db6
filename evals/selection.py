"""Which arms of an experiment a run asks: all, or some of its candidates; and who stands for the baseline."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from evals import plan
from evals.asker import place
from evals.data import Data
from evals.experiment import Arm, Experiment
from evals.plan import Stage
from evals.store import Journal
from evals.stored import Stored


@dataclass(frozen=True, kw_only=True)
class Selection:
    candidates: frozenset[str] | None = None
    """None: all."""
    stored: Stored | None = None
    """An arm of an earlier run, that stands for the baseline."""

    def serves(self, arm: Arm, experiment: Experiment) -> bool:
        if arm.name == experiment.baseline:
            return self.stored is None
        return self.candidates is None or arm.name in self.candidates

    def check(self, experiment: Experiment, data: Data) -> None:
        """Raises ConfigError where the stored baseline was asked something else."""
        if self.stored is not None:
            last = {g.task: g.looks[-1] for g in experiment.gates if g.looks}
            tasks = [replace(t, n=last.get(t.name, t.n)) for t in experiment.tasks]
            self.stored.check(experiment, {t.name: data.samples(t) for t in tasks})

    def take_stored(self, experiment: Experiment, journal: Journal) -> None:
        if self.stored is not None:
            self.stored.put_into(journal, experiment)

    def left_out(self, experiment: Experiment, journal: Journal, current: Callable[[Stage], Stage]) -> list[str]:
        """Candidates that were not selected, and have something left to be asked."""
        apart = [a.name for a in experiment.candidates if not self.serves(a, experiment)]
        stages = [current(s) for launch in plan.launches(experiment) for s in launch.stages if s.arm.name in apart]
        lacking = {s.arm.name for s in stages if not journal.has_stage(place(s), s.task.n)}
        return [name for name in apart if name in lacking]


EVERYTHING = Selection()
