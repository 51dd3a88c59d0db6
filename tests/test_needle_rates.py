"""What needles of one length take, told from what others took."""

from dataclasses import replace
from pathlib import Path

import pytest
from test_needle_run import GRID, Load, load, ran, stubs  # noqa: F401  # fixtures

from evals import budget, needle_rates, rates
from evals.budget import Rate


def tiny(length: int) -> float:
    """Seconds of a prompt: a tenth for the answer, and the two parts of reading it."""
    return 0.1 + 3e-5 * length + 3e-9 * length**2


def seen(*lengths: int) -> dict[int, Rate]:
    return {n: Rate(seconds_per_sample=tiny(n), tokens_per_sample=20.0) for n in lengths}


@pytest.mark.parametrize("known", [(8192, 32768), (2048, 8192, 32768), (32768, 65536), (1024, 4096, 16384, 65536)])
def test_a_longer_prompt_is_told_within_a_factor_of_two(known: tuple[int, ...]) -> None:
    told = needle_rates.over([100_000], seen(*known))
    assert told is not None
    assert 0.5 < told.seconds_per_sample / tiny(100_000) < 2
    assert told.tokens_per_sample == 20


def test_what_was_measured_is_taken_as_it_is() -> None:
    told = needle_rates.over([8192, 32768], seen(8192, 32768))
    assert told is not None
    assert told.seconds_per_sample == pytest.approx((tiny(8192) + tiny(32768)) / 2)


@pytest.mark.parametrize("known", [(), (8192,), (256, 1024), (512, 8192)])
def test_what_is_far_beyond_is_not_known(known: tuple[int, ...]) -> None:
    assert needle_rates.over([8192, 100_000], seen(*known)) is None


@pytest.mark.usefixtures("short_waits")
def test_a_run_of_other_lengths_teaches_the_plan(load: Load, tmp_path: Path) -> None:  # noqa: F811
    experiment = load(GRID)
    assert budget.cost(experiment, rates.known(experiment)) is None
    ran(experiment, tmp_path / "run")
    other = load(GRID.replace("[1024, 2048]", "[1024, 2048, 4096]"))
    assert budget.cost(other, rates.known(other)) is not None
    beyond = load(GRID.replace("[1024, 2048]", "[1024, 100000]"))
    assert budget.cost(beyond, rates.known(beyond)) is None
    waiting = load(GRID.replace("[1024, 2048]", "[1024, max]"))
    assert budget.cost(waiting, rates.known(waiting)) is None
    warm = replace(other, tasks=(replace(other.tasks[0], warm=True, rounds=2),))
    assert budget.cost(warm, rates.known(warm)) is not None
