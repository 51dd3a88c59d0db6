"""Answers that became longer or shorter."""

import pytest
from evidence import BASELINE, CANDIDATE, change, two_arms
from hypothesis import given
from hypothesis import strategies as st

from evals.compare import ledger
from evals.judged import Evidence
from evals.lengths import Shift, median_ratio, shifts

FLAT = two_arms("c" * 200, "c" * 200)
ALL = {f"s{i}" for i in range(200)}


def seen(run: Evidence) -> dict[str, Shift]:
    return {shift.what: shift for shift in shifts(run, ledger(run), CANDIDATE, run.tasks[0])}


@pytest.mark.parametrize(
    ("n", "low", "high"),
    [(8, 1, 8), (10, 1, 10), (12, 2, 11), (15, 3, 13), (20, 4, 17), (25, 6, 20), (50, 16, 35)],
)
def test_the_interval_is_that_of_the_sign_test(n: int, low: int, high: int) -> None:
    """Ranks of the 99 % interval of a median, as tables of the sign test have them (Conover 1999, table A3)."""
    found = median_ratio("answers", [float(i) for i in range(1, n + 1)])
    assert found is not None
    assert (found.low, found.high) == (low, high)


@pytest.mark.parametrize("n", [1, 7])
def test_too_few_answers_have_no_interval_and_are_never_large(n: int) -> None:
    found = median_ratio("answers", [9.0] * n)
    assert found is not None
    assert (found.low, found.large) == (None, False)
    assert median_ratio("answers", []) is None


def test_the_median_is_taken_sample_by_sample() -> None:
    """Long and short questions in one task: their sums would tell of the long ones alone."""
    run = change(
        change(FLAT, BASELINE, {f"s{i}" for i in range(20)}, completion_tokens=10_000), CANDIDATE, ALL, completion_tokens=9
    )
    assert seen(run)["answers"].median == 3.0
    assert seen(run)["answers"].n == 200


def test_a_few_answers_that_run_away_are_no_shift_of_all() -> None:
    assert not seen(change(FLAT, CANDIDATE, {f"s{i}" for i in range(20)}, completion_tokens=4000))["answers"].large


def test_reasoning_is_compared_where_both_have_some() -> None:
    run = change(change(FLAT, BASELINE, ALL, reasoning="x" * 100), CANDIDATE, ALL, reasoning="x" * 300)
    assert seen(run)["reasoning"].median == 3.0
    assert seen(run)["answers"].median == 1.0
    assert "reasoning" not in seen(change(FLAT, CANDIDATE, ALL, reasoning="x" * 300))


def test_reasoning_is_counted_in_tokens_where_both_engines_tell_them() -> None:
    run = change(change(FLAT, BASELINE, ALL, reasoning="x" * 100, reasoning_tokens=20), CANDIDATE, ALL, reasoning="x" * 100)
    assert seen(run)["reasoning"].median == 1.0
    assert seen(change(run, CANDIDATE, ALL, reasoning_tokens=40))["reasoning"].median == 2.0


@given(st.lists(st.floats(0.01, 100), min_size=8, max_size=40))
def test_the_interval_holds_the_median(ratios: list[float]) -> None:
    found = median_ratio("answers", ratios)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.median <= found.high
