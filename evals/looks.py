"""At which level each planned look may decide, so that looking several times errs no more often than looking once. Pure.

Alpha spending: Lan, DeMets, Biometrika 70 (1983) 659–663. The levels follow from the looks' sizes alone, never from what was
seen, and PASS and REGRESSION each spend their own alpha.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import e, log, sqrt
from typing import Literal, assert_never

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from evals.stats import ALPHA

Spending = Literal["pocock", "obrien_fleming"]
_LOWEST = -8.0
"""Standard errors below which no statistic lies."""
_POINTS = 801
"""Of the integration; odd, as Simpson's rule wants it."""


@dataclass(frozen=True, kw_only=True)
class Levels:
    """The one-sided nominal levels of one look."""

    passing: float = ALPHA
    regression: float = ALPHA


def planned(sizes: tuple[int, ...], gates: int) -> tuple[Levels, ...]:
    """The levels of each look at so many samples. REGRESSION's alpha is shared by the experiment's gates.

    What passes is spent evenly, for a PASS is what most runs end with, and early is cheap; what accuses is spent late, so
    that hardly any of it is lost for the last look, and an early accusation is a glaring one.
    """
    passing = nominal(sizes, ALPHA, "pocock")
    regression = nominal(sizes, ALPHA / gates, "obrien_fleming")
    return tuple(Levels(passing=p, regression=r) for p, r in zip(passing, regression, strict=True))


def spent(alpha: float, share: float, spending: Spending) -> float:
    """How much of alpha may be spent once this share of the samples is there: α₁* and α₂* of Lan and DeMets."""
    match spending:
        case "obrien_fleming":
            return 2 * float(norm.sf(norm.isf(alpha / 2) / sqrt(share)))
        case "pocock":
            return alpha * log(1 + (e - 1) * share)
        case _:
            assert_never(spending)


@lru_cache(maxsize=256)
def nominal(sizes: tuple[int, ...], alpha: float, spending: Spending) -> tuple[float, ...]:
    """One-sided nominal levels at looks at so many samples; one look has all of alpha.

    The statistic's distribution among the runs that go on is integrated from look to look: Armitage, McPherson, Rowe,
    Journal of the Royal Statistical Society A 132 (1969) 235–244.
    """
    if len(sizes) == 1:
        return (alpha,)
    if not sizes or sizes[0] < 1 or any(a >= b for a, b in pairwise(sizes)):
        raise ValueError(f"{sizes} are no sizes of looks: each is larger than the one before")
    out: list[float] = []
    before = 0.0
    going_on = _Going(z=np.zeros(1), density=np.ones(1), size=0)
    for size in sizes:
        now = spent(alpha, size / sizes[-1], spending)
        bound = going_on.bound(size, now - before)
        going_on, before = going_on.below(size, bound), now
        out.append(float(norm.sf(bound)))
    return tuple(out)


@dataclass(frozen=True, kw_only=True)
class _Going:
    """The runs that no look has ended: where their statistic lies, were there nothing to find."""

    z: NDArray[np.float64]
    density: NDArray[np.float64]
    """At z, times the weight of that point in the integral."""
    size: int
    """Samples so far."""

    def bound(self, size: int, chance: float) -> float:
        """The bound that so many of all runs will be beyond, when they have `size` samples."""

        def too_many(bound: float) -> float:
            return float(norm.sf(self._standardised(bound, size)) @ self.density) - chance

        highest = -2 * _LOWEST
        return highest if too_many(highest) > 0 else float(brentq(too_many, _LOWEST, highest, xtol=1e-10))

    def below(self, size: int, bound: float) -> "_Going":
        """Those that are not beyond it."""
        z = np.linspace(_LOWEST, bound, _POINTS)
        inner = np.where(np.arange(_POINTS) % 2, 4.0, 2.0)
        inner[[0, -1]] = 1.0
        weights = inner * (z[1] - z[0]) / 3  # Simpson's
        kernel = norm.pdf(self._standardised(z[:, None], size)) * sqrt(size / (size - self.size))
        return _Going(z=z, density=weights * (kernel @ self.density), size=size)

    def _standardised(self, z: float | NDArray[np.float64], size: int) -> NDArray[np.float64]:
        """How far the new samples alone must go for the statistic of all to be z."""
        new = (np.asarray(z) * sqrt(size) - self.z * sqrt(self.size)) / sqrt(size - self.size)
        return np.asarray(new, dtype=np.float64)
