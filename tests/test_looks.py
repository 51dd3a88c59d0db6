from math import sqrt

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from evals.looks import Levels, nominal, planned, spent

FIFTHS = (20, 40, 60, 80, 100)


@pytest.mark.parametrize(
    ("alpha", "spending", "bounds"),
    [
        # Lan, DeMets (1983), table 1, and the same to four digits from R's ldbounds and gsDesign (one-sided 0.025).
        (0.025, "obrien_fleming", (4.8769, 3.3569, 2.6803, 2.2898, 2.0310)),
        (0.025, "pocock", (2.4380, 2.4268, 2.4101, 2.3966, 2.3859)),
        (0.05, "obrien_fleming", (4.23, 2.89, 2.30, 1.96, 1.74)),
        (0.05, "pocock", (2.18, 2.14, 2.11, 2.09, 2.07)),
    ],
)
def test_five_even_looks_have_the_published_bounds(alpha: float, spending: str, bounds: tuple[float, ...]) -> None:
    digits = 0.0006 if alpha == 0.025 else 0.006
    assert [float(norm.isf(level)) for level in nominal(FIFTHS, alpha, spending)] == pytest.approx(bounds, abs=digits)  # type: ignore[arg-type]


@pytest.mark.parametrize("spending", ["obrien_fleming", "pocock"])
@pytest.mark.parametrize("sizes", [(100, 1319), (440, 880, 1319), (200, 250, 1319), (660, 1300, 1319)])
def test_all_looks_together_err_as_often_as_one(spending: str, sizes: tuple[int, ...]) -> None:
    """By the statistics' joint normal distribution, whose correlation is the root of the share of samples that two have."""
    bounds = [float(norm.isf(level)) for level in nominal(sizes, 0.05, spending)]  # type: ignore[arg-type]
    shared = np.array([[sqrt(min(a, b) / max(a, b)) for a in sizes] for b in sizes])
    never = multivariate_normal.cdf(bounds, cov=shared, rng=np.random.default_rng(1))
    assert 1 - never == pytest.approx(0.05, abs=2e-4)


def test_one_look_has_all_of_alpha_and_the_first_of_several_what_may_be_spent_by_then() -> None:
    assert nominal((200,), 0.05, "pocock") == (0.05,)
    assert planned((200,), 4) == (Levels(passing=0.05, regression=0.0125),)
    assert nominal((100, 400), 0.05, "pocock")[0] == pytest.approx(spent(0.05, 0.25, "pocock"))
    for spending in ("pocock", "obrien_fleming"):
        assert spent(0.05, 1.0, spending) == pytest.approx(0.05)  # type: ignore[arg-type]


def test_an_early_accusation_must_be_glaring_and_costs_the_last_look_little() -> None:
    first, _, last = planned((440, 880, 1319), 1)
    assert first.regression < 0.001 < 0.04 < last.regression
    assert first.passing > 0.02


def test_a_look_at_hardly_anything_can_decide_nothing() -> None:
    assert nominal((1, 100_000), 0.05, "obrien_fleming")[0] < 1e-50


@pytest.mark.parametrize("sizes", [(), (0, 5), (5, 5), (9, 5)])
def test_looks_grow(sizes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="no sizes of looks"):
        nominal(sizes, 0.05, "pocock")
