"""A whole experiment: servers one after another, every stage asked or taken from the journal, then judged and reported."""

import itertools
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from evals import budget, checks, plan, preflight, rates, replaced, report, sensing, store, topup
from evals.asker import place
from evals.data import Data, load_data
from evals.engine import Server, leftovers, serve, server_key
from evals.errors import CanaryError, ConfigError, EngineError, PreflightError, ServerDied
from evals.experiment import Arm, DockerEngine, Experiment, UrlEngine
from evals.header import header, stale
from evals.judged import Verdict
from evals.judging import Judge, judges, without_optional
from evals.language import ENGLISH
from evals.plan import Launch, Stage
from evals.progress import Reporter
from evals.records import LaunchFailure, Sample
from evals.selection import EVERYTHING, Selection
from evals.suite import probe, run_stage
from tasks import greedy

LOGS = "logs"
PROBE_S = 60.0
FEW = 4
"""Prompts that say nothing of what the model is good for: too few to call an arm broken by."""


@dataclass(kw_only=True)
class _Run:
    """What every launch of a run shares."""

    experiment: Experiment
    """With fewer samples once a budget has been allotted."""
    data: Data
    journal: store.Journal
    reporter: Reporter
    budget_s: float | None
    judge: Judge | None = None
    began: float = field(default_factory=time.monotonic)
    halted: threading.Event = field(default_factory=threading.Event)
    """Set when the run is being stopped: what servers do from then on is no result."""
    selection: Selection
    asks: topup.Asks = field(default_factory=dict)
    """How far each arm is asked in this pass."""
    open: frozenset[tuple[str, str]] = frozenset()
    """The arms and tasks that this pass is about: all in the first, and then those whose gates are not decided."""

    def todo(self, launch: Launch) -> Launch:
        """What is still to be asked of it."""
        stages = tuple(s for s in self.in_pass(launch) if not self.journal.has_stage(place(s), s.task.n))
        sensed = launch.sensed if launch.sensed and self.selection.serves(launch.sensed, self.experiment) else None
        with self.journal.still() as told:
            lacks = sensed and sensing.lacks(told, sensed.name, launch.index)
        return replace(launch, stages=stages, sensed=sensed if stages or lacks else None)

    def in_pass(self, launch: Launch) -> list[Stage]:
        stages = (s for s in launch.stages if self.selection.serves(s.arm, self.experiment))
        return [self.current(s) for s in stages if (s.arm.name, s.task.name) in self.open]

    def current(self, stage: Stage) -> Stage:
        task = next(t for t in self.experiment.tasks if t.name == stage.task.name)
        n = self.asks[stage.arm.name, task.name].n
        return replace(stage, task=replace(task, n=None if n == store.ALL else n))

    def ask(self) -> bool:
        """Have the next pass ask as far as the looks so far tell; False where that is no further than the last one did."""
        now = topup.asks(self.experiment, self.journal.contents)
        self.open = topup.growing(now, self.asks) if self.asks else frozenset(now)
        if self.asks:  # what is answered is counted anew as this pass comes by it
            again = (place(s) for launch in plan.launches(self.experiment) for s in self.in_pass(launch))
            self.reporter.answered(-sum(map(self.journal.answered, again)))
        self.asks = now
        self.journal.put_asks(now)
        return bool(self.open)

    def reduce(self, n: dict[str, int]) -> None:
        """Ask only so many samples of each task from now on.

        Not fewer than were asked already: those cost nothing, and leaving them out would be a choice among verdicts.
        """
        done = self.journal.contents.stages.items()
        least = {task: max([count, *(k for place, k in done if place.task == task)]) for task, count in n.items()}
        self.experiment = topup.limited(self.experiment, least)
        self.data = load_data(self.experiment)
        self.asks = topup.asks(self.experiment, self.journal.contents)
        self.journal.put_asks(self.asks)

    def short_samples(self) -> tuple[Sample, ...]:
        """Those that an arm is looked at with: the first of each task that generates, in turns.

        Where all are too long, or nothing is generated, prompts of our own.
        """
        asked = [t for t in self.experiment.tasks if t.info.marked and not t.info.blind_to and t.name != "needle"]
        turns = itertools.zip_longest(*(self.data.samples(t)[: preflight.SHORT_ANSWERS] for t in asked))
        return tuple(s for turn in turns for s in turn if s is not None)[: preflight.SHORT_ANSWERS] or greedy.prompts()[:FEW]

    def log(self, name: str) -> Path:
        """A log of its own for each start: what an earlier one said is kept."""
        logs = self.journal.folder / LOGS
        names = (f"{name}.log" if i == 1 else f"{name}-{i}.log" for i in itertools.count(1))
        return next(logs / n for n in names if not (logs / n).exists())


def heed_signals() -> None:
    """Make SIGTERM end a run as Ctrl-C does: as KeyboardInterrupt, so that its server is stopped on the way out.

    A script's background job starts with SIGINT ignored; SIGTERM must work there all the same.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Raised again as SIGINT, since asyncio cancels its tasks on that; an exception from a handler would strike inside one.
    signal.signal(signal.SIGTERM, lambda _number, _frame: signal.raise_signal(signal.SIGINT))


def run(
    experiment: Experiment, folder: Path, reporter: Reporter, budget_s: float | None = None, selection: Selection = EVERYTHING,
    lang: str = ENGLISH,
) -> Verdict:  # fmt: skip
    """Run or go on with an experiment in `folder`, with as many samples as fit into `budget_s` seconds where that is given.

    Raises:
        ConfigError: a data set can't be loaded, the environment lacks an endpoint's key, or a stored baseline is unlike.
        StoreError: the folder's journal can't be read.
    """
    served = [arm for arm in experiment.arms if selection.serves(arm, experiment)]
    for arm in served:
        server_key(arm)  # a missing key is told before anything is served
    experiment = without_optional(experiment, reporter.say)
    data = load_data(experiment)
    experiment = topup.limited(experiment, data.sizes(experiment.tasks))
    selection.check(experiment, data)
    with store.Journal(folder) as journal:
        _end_leftovers(experiment, folder, reporter.say)
        journal.begin(header(experiment, folder, journal, selection.stored))
        for line in (*stale(journal), *topup.unplanned(experiment, journal.contents)):
            reporter.say(line)
        selection.take_stored(experiment, journal)
        replaced.forget(served, journal, folder / LOGS, reporter.say)
        store.write_text(folder / "experiment.yaml", experiment.source)
        this = _Run(
            experiment=experiment, data=data, journal=journal, reporter=reporter, budget_s=budget_s, selection=selection
        )
        if budget_s is not None and budget_s in journal.contents.allotments:
            this.reduce(journal.contents.allotments[budget_s])
        elif budget_s is not None and journal.contents.allotments:
            _allot(this, budget_s, 0.0)  # how fast it goes was seen for another budget
        with judges(experiment.tasks, journal, reporter.say) as this.judge:
            while this.ask():
                _run_batches(this)
                _look(this)
        journal.finish(selection.left_out(this.experiment, journal, this.current))
        contents = journal.contents
    return report.write(folder, contents, lang)


def _look(run: "_Run") -> None:
    """Judge every gate with what it has, and write down what was seen."""
    seen = topup.looks(run.journal.contents, datetime.now(UTC).isoformat(timespec="seconds"))
    run.journal.put_looks(seen)
    for line in topup.news(seen, topup.asks(run.experiment, run.journal.contents)):
        run.reporter.say(line)


def _run_batches(run: "_Run") -> None:
    for batch in plan.batches(run.experiment):
        done = [s for launch in batch for s in run.in_pass(launch) if s not in run.todo(launch).stages]
        run.reporter.answered(sum(run.journal.answered(place(s)) for s in done))
        _side_by_side([launch for launch in batch if run.todo(launch).arms], run)
        rates.keep(run.experiment, run.journal.contents)


def _end_leftovers(experiment: Experiment, folder: Path, say: Callable[[str], None]) -> None:
    leftovers.end(folder / LOGS, say, containers=any(isinstance(arm.engine, DockerEngine) for arm in experiment.arms))


def _side_by_side(launches: list[Launch], run: "_Run") -> None:
    """Several launches at once, each in a thread of its own; one alone in ours."""
    if len(launches) < 2:
        for launch in launches:
            _run_launch(launch, run)
        return
    with ThreadPoolExecutor(len(launches)) as pool:
        futures = [pool.submit(_run_launch, launch, run) for launch in launches]
        try:
            for future in futures:
                future.result()
        finally:  # an interrupt reaches this thread alone: the others end when their servers do
            while wait(futures, timeout=0.2).not_done:
                run.halted.set()
                _end_leftovers(run.experiment, run.journal.folder, lambda _: None)


def _run_launch(launch: Launch, run: "_Run") -> None:
    """Start the server and ask every stage; a start that fails is a result of its arms, and the run goes on.

    A server that dies while it is asked is started again, a bounded number of times: then its arms end with what they have.
    """
    restarts = run.experiment.restarts
    for died in range(restarts + 1):
        todo = run.todo(launch)
        if run.halted.is_set():
            return None
        try:
            return _serve_launch(todo, run)
        except EngineError as e:
            if run.halted.is_set():
                return None
            first = todo.arms[0]
            if not todo.stages:
                return sensing.give_up(first.name, launch.index, e.reason, run.journal)
            if not isinstance(e, ServerDied) or died == restarts or isinstance(first.engine, UrlEngine):
                return _note_failure(todo, e, run)
            run.reporter.say(f"{first.name}: {e.reason}; starting it again ({died + 1} of {restarts})")
            for arm in todo.arms:
                run.journal.put_restart(arm.name, arm.key, _failure(arm, todo, e))
    return None


def _serve_launch(launch: Launch, run: "_Run") -> None:
    first = launch.arms[0]
    with serve(first, launch.index, run.log(f"{first.name}-launch{launch.index + 1}"), run.reporter.say) as server:
        # What alone is left to a launch that was killed has no say in any verdict, and needs no look at the arm.
        fit = [arm for arm in launch.arms if not launch.stages or _passes_preflight(arm, server, launch, run)]
        stages = [s for s in launch.stages if s.arm in fit]
        if run.budget_s is not None and run.budget_s not in run.journal.contents.allotments:
            _probe(stages, server, run)
            _allot(run, run.budget_s, server.info.ready_s)
        for stage in map(run.current, stages):
            run_stage(stage, server, run.data, run.journal, run.reporter, run.judge)
        if launch.sensed and (launch.sensed in fit or launch.sensed not in launch.arms):
            sensing.sense(launch.sensed.name, launch.index, server, run.journal, run.reporter.say)


def _probe(stages: list[Stage], server: Server, run: "_Run") -> None:
    """See how fast the first server answers."""
    marked = [s for s in stages if s.task.info.marked]
    run.reporter.say(f"probing for {PROBE_S:.0f} s how many samples fit into the budget")
    for stage in marked:
        probe(stage, server, run.data, run.journal, run.reporter, PROBE_S / len(marked))


def _allot(run: "_Run", budget_s: float, started_s: float) -> None:
    """Cut the samples of the whole run to what fits into its time, of which the first start has taken `started_s`."""
    earlier, now = rates.known(run.experiment), rates.measured(run.experiment, run.journal.contents)
    known = budget.Rates(samples=earlier.samples | now.samples, ready_s=earlier.ready_s | now.ready_s)
    most = {g.task: g.looks[-1] for g in run.experiment.gates if g.looks}
    sizes = {t.name: most.get(t.name) or len(run.data.samples(t)) for t in run.experiment.tasks}
    left_s = budget_s - (time.monotonic() - run.began) + started_s  # that start is among those that it counts
    allotment = budget.allot(run.experiment, known, left_s, sizes)
    if allotment.missing_s > 0:
        least = budget.words(budget_s + allotment.missing_s)
        raise ConfigError(
            f"--budget {budget.words(budget_s)} is too little: {budget.LEAST_N} samples a gate take about {least}"
        )
    for line in allotment.told:
        run.reporter.say(f"budget: {line}")
    run.journal.put_allotment(budget_s, allotment.n, allotment.told)
    run.reduce(allotment.n)


def _passes_preflight(arm: Arm, server: Server, launch: Launch, run: "_Run") -> bool:
    run.journal.put_server(arm.name, arm.key, server.info)
    baseline = run.experiment.arm(run.experiment.baseline)
    theirs = None if arm == baseline else run.journal.contents.preflight(baseline.name)
    try:
        seen = preflight.check(arm, server, run.short_samples(), theirs, arm.shapes_prompt_like(baseline))
        run.journal.put_preflight(arm.name, arm.key, seen)
        if found := list(checks.failed(seen)):
            raise PreflightError("; ".join(f"{c.name}: {c.saw}" for c in found), server.log_tail())
    except (CanaryError, PreflightError) as e:
        _note_failure(replace(launch, stages=tuple(s for s in launch.stages if s.arm == arm)), e, run)
        return False
    return True


def _note_failure(launch: Launch, error: EngineError, run: "_Run") -> None:
    for arm in launch.arms:
        run.reporter.say(f"{arm.name}: {error.reason}")
        run.journal.put_launch_failure(arm.name, arm.key, _failure(arm, launch, error))


def _failure(arm: Arm, launch: Launch, error: EngineError) -> LaunchFailure:
    return LaunchFailure(
        launch=launch.index, engine=str(arm.engine), stage=error.stage, reason=error.reason, log_tail=error.log_tail
    )
