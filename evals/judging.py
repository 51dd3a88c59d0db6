"""Programs judged in the sandbox while the next answers are still being written."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

from evals.errors import NoSandbox
from evals.experiment import Experiment, TaskConfig
from evals.records import Failure, Response, SandboxInfo, Score
from evals.store import Answer, Journal
from sandbox import daemon
from sandbox import image as images
from sandbox.errors import SandboxError
from sandbox.judge import judge as run_program
from sandbox.pool import Pool
from sandbox.transcript import Transcript
from tasks import coding, problem_set
from tasks.problem import steps
from tasks.problem_set import Posed

WORKERS = 2


class Judge:
    """Marks answers to a coding task, several at once; every mark is in the journal as soon as it is known."""

    def __init__(self, pool: Pool, posed: dict[str, Posed], journal: Journal, say: Callable[[str], None]) -> None:
        self.pool, self.posed, self.journal = pool, posed, journal
        self._unsaid = [say]
        self._threads = ThreadPoolExecutor(WORKERS, thread_name_prefix="judge")
        self._closed = False

    def take(self, answer: Answer) -> list[Future[None]]:
        """Have an answer judged as soon as a worker is free. Empty where it is a failure: there is nothing to judge."""
        if answer.response is None:
            return []
        return [self._threads.submit(self._judge, answer.key, answer.sample_id, answer.response)]

    def close(self) -> None:
        """Without waiting: a program that still runs ends with its container, and is judged another time."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _judge(self, key: str, sample_id: str, response: Response) -> None:
        try:
            said = self._mark(self.posed[sample_id], response)
        except SandboxError as e:
            said = Failure(kind="sandbox", message=str(e))
            with suppress(IndexError):  # once; a list's pop is safe among threads
                self._unsaid.pop()(f"programs can't be run now: {e}; answers go on being asked for, and none is lost")
        except Exception as e:  # a fault of ours in one program is a failure of that sample, told, and not the end of the run
            said = Failure(kind="sandbox", message=f"{type(e).__name__}: {e}")
        if not self._closed:
            self.journal.put_score(key, said)

    def _mark(self, posed: Posed, response: Response) -> Score | Failure:
        program = coding.program(response, posed.problem)
        return judged(self.pool, posed, program) if isinstance(program, coding.Program) else program


def without_optional(experiment: Experiment, say: Callable[[str], None]) -> Experiment:
    """Without the optional tasks that need a sandbox, where no Docker engine answers."""
    if not any(t.optional for t in experiment.tasks) or (why := unreachable(experiment)) is None:
        return experiment
    for task in (t for t in experiment.tasks if t.optional):
        say(f"{task.name} is left out, for it is optional and its programs can't be run: {why}")
    return replace(experiment, tasks=tuple(t for t in experiment.tasks if not t.optional))


def unreachable(experiment: Experiment) -> str | None:
    """Why programs that the experiment asks for could not be run now; None where they could, or none are asked for."""
    if not any(t.info.sandboxed for t in experiment.tasks):
        return None
    try:
        with daemon.connected():
            return None
    except SandboxError as e:
        return str(e)


@contextmanager
def judges(tasks: Iterable[TaskConfig], journal: Journal, say: Callable[[str], None]) -> Iterator[Judge | None]:
    """The judge of an experiment's coding task, with its sandbox; None where no task needs one.

    Raises:
        NoSandbox: no Docker engine answers, or no image can be had. Nothing was asked yet.
    """
    task = next((t for t in tasks if t.info.sandboxed), None)
    if task is None:
        yield None
        return
    with ExitStack() as stack:
        try:
            image = images.have(say, task.sandbox_image)
            pool = stack.enter_context(Pool(image.id, label=str(journal.folder.resolve()), workers=WORKERS))
        except SandboxError as e:
            raise NoSandbox(f"{e}; or leave the task {task.name} out") from e
        journal.put_sandbox(
            SandboxInfo(image_id=image.id, python=image.python, source=image.source, limits=asdict(pool.limits))
        )
        judge = Judge(pool, problems_of(task), journal, say)
        stack.callback(judge.close)
        wait([f for answer in journal.unjudged() for f in judge.take(answer)])
        yield judge


def once(posed: Posed, code: str, image: str | None, say: Callable[[str], None]) -> Score:
    """One program's mark.

    Raises:
        NoSandbox: no Docker engine answers, or no image can be had, or Docker went away.
    """
    try:
        with Pool(images.have(say, image).id, label="judge", workers=1) as pool:
            return judged(pool, posed, coding.Program(code=code, warnings=()), say)
    except SandboxError as e:
        raise NoSandbox(str(e)) from e


def judged(pool: Pool, posed: Posed, program: coding.Program, say: Callable[[str], None] = lambda _: None) -> Score:
    """Run a program with every step of every check, and mark what came of it. `say`: that it is tried again.

    Raises SandboxError.
    """
    of = posed.problem
    seen = run_program(
        pool, program.code, of.entry, steps(of.checks()), keeps=of.keeps_arguments,
        again=lambda seen: tried_again(posed, seen, say),
    )  # fmt: skip
    return coding.score(posed, program, seen)


def tried_again(posed: Posed, seen: Transcript, say: Callable[[str], None]) -> bool:
    """Whether a program that did not finish is tried once more, and says so."""
    if coding.settled(posed, seen):
        return False
    say(f"the program did not finish ({seen.detail or seen.end}); it is tried once more, alone")
    return True


def problems_of(task: TaskConfig) -> dict[str, Posed]:
    """The task's problems: the fifty, or those of its `data_dir`."""
    return problem_set.read(Path(task.data_dir)) if task.data_dir else problem_set.read()
