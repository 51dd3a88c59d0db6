"""The shipped problems in real containers: every reference passes, every stored wrong solution fails."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox import image
from sandbox.judge import always, judge, never
from sandbox.limits import Limits
from sandbox.pool import Pool
from tasks import coding, problem_set
from tasks.base import Score
from tasks.coding import Program
from tasks.problem import steps
from tasks.problem_set import Posed

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.usefixtures("docker_engine")]

WORKERS = 4
TOO_SLOW_S = 8.0
"""Those that are wrong for being slow take minutes: that they fail at the real deadline too needs no waiting for it."""


@pytest.fixture(scope="module")
def image_id(docker_engine: None) -> str:  # noqa: ARG001  # a fixture can't be asked for it by a mark
    return image.have(print).id


@pytest.fixture
def pool(image_id: str) -> Iterator[Pool]:
    with Pool(image_id, "test", WORKERS) as pool:
        yield pool


@pytest.fixture
def hasty(image_id: str) -> Iterator[Pool]:
    with Pool(image_id, "test", WORKERS, Limits(wall_s=TOO_SLOW_S)) as pool:
        yield pool


def marked(pool: Pool, posed: Posed, code: str, twice: bool) -> Score:
    of = posed.problem
    seen = judge(pool, code, of.entry, steps(of.checks()), of.keeps_arguments, always if twice else never)
    return coding.score(posed, Program(code=code, warnings=()), seen)


@pytest.mark.parametrize("folder", ["shipped", "demo"])
def test_every_reference_passes(pool: Pool, folder: str) -> None:
    posed = (
        problem_set.read() if folder == "shipped" else problem_set.read(problem_set.SHIPPED.parents[1] / "evals/demo/coding")
    )
    with ThreadPoolExecutor(WORKERS) as threads:
        scores = dict(
            zip(posed, threads.map(lambda p: marked(pool, p, p.problem.reference, True), posed.values()), strict=True)
        )
    assert {i: s.explanation for i, s in scores.items() if s.outcome != "correct"} == {}


def test_every_wrong_solution_fails(hasty: Pool) -> None:
    """What fails for any other reason than a check or the deadline would be wrong in a way that nobody meant."""
    programs = [(p, name, code) for p in problem_set.read().values() for name, code in p.problem.wrong.items()]
    assert len(programs) >= 3 * len(problem_set.read())
    with ThreadPoolExecutor(WORKERS) as threads:
        scores = threads.map(lambda one: marked(hasty, one[0], one[2], False), programs)
        told = {f"{p.problem.id}: {name}": s for (p, name, _), s in zip(programs, scores, strict=True)}
    assert [name for name, s in told.items() if s.outcome != "wrong"] == []
    meant = {"failed_check", "timed_out", "out_of_memory"}
    assert {name: (s.reason, s.explanation) for name, s in told.items() if s.reason not in meant} == {}
