"""Paired statistics of a gate. Shares are 0–1; DROP = baseline − candidate, so positive is worse. Pure.

A drop is estimated from (lost, won, n): `lost` samples that only the baseline got right, `won` that only the
candidate did. Where rounds are averaged both are fractional.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom, binomtest, norm, t

_BESIDE = 1e-12
"""Where a root search starts, beside the point estimate: with nothing lost or won the variance at 0 itself is 0."""


Counts = float | NDArray[np.float64]
"""One count, or an array of them, as where every outcome that a gate can have is gone through."""
ALPHA = 0.05
"""One-sided: how often a drop as large as the margin may PASS, and how often nothing at all may be called a REGRESSION."""
POWER = 0.8
"""How often equal arms shall PASS with the number of samples that is advised."""


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Mean:
    n: int
    mean: float
    low: float | None
    high: float | None
    """Its interval; None of a single value."""


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Mean:
    """Student's interval of a mean, two-sided: Student, Biometrika 6 (1908) 1–25.

    Where what was observed comes in clusters (the tokens of an answer), a value is the mean of a cluster, so that what is
    counted are clusters: Miller 2024, arXiv 2411.00640, section 2.2.
    """
    n = len(values)
    if n < 1:
        raise ValueError("nothing has no mean")
    mean = sum(values) / n
    if n == 1:
        return Mean(n=n, mean=mean, low=None, high=None)
    error = sqrt(sum((value - mean) ** 2 for value in values) / (n - 1) / n)
    half = float(t.isf((1 - confidence) / 2, n - 1)) * error
    return Mean(n=n, mean=mean, low=mean - half, high=mean + half)


def tango_interval(lost: float, won: float, n: int, confidence: float = 0.90) -> Interval:
    """Score interval for the paired difference (lost − won) / n: Tango, Statistics in Medicine 17 (1998) 891–908.

    Two-sided at `confidence`, so at 0.90 each end is a one-sided 95 % bound. It has a width even where nothing flipped.
    """
    if n < 1 or lost < 0 or won < 0 or lost + won > n * (1 + 1e-9):
        raise ValueError(f"lost {lost} and won {won} cannot be counts among {n} samples")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")
    z = float(norm.isf((1 - confidence) / 2))
    return Interval(_lower_bound(lost, won, n, z), -_lower_bound(won, lost, n, z))


def bonett_price_bound(lost: Counts, won: Counts, n: int, alpha: float = ALPHA) -> Any:
    """Upper bound for (lost − won) / n, one-sided: Wald's, with one flip of each kind added. It may lie above 1.

    Bonett, Price, Journal of Educational and Behavioral Statistics 37 (2012) 479–488.
    """
    drop = (lost - won) / (n + 2)
    return drop + float(norm.isf(alpha)) * np.sqrt(np.maximum((lost + won + 2) / (n + 2) - drop * drop, 0.0) / (n + 2))


def paired_interval(lost: float, won: float, n: int, confidence: float = 0.90) -> Interval:
    """A gate's interval for the paired difference (lost − won) / n: Tango's, and at the end that a PASS rests on Bonett and
    Price's bound where that is higher.

    Each is near its level, not at it, and they fall short of it at different counts: the higher one covers the truth at least
    as often as the better of the two, whatever the truth is (docs/calibration.md has how often).
    """
    tango = tango_interval(lost, won, n, confidence)
    return Interval(tango.low, min(max(tango.high, float(bonett_price_bound(lost, won, n, (1 - confidence) / 2))), 1.0))


def _lower_bound(lost: float, won: float, n: int, z: float) -> float:
    observed = (lost - won) / n

    def beyond(drop: float) -> float:
        return float(_beyond(lost, won, n, drop, z))

    if observed - _BESIDE <= -1 or beyond(-1.0) <= 0:
        return -1.0
    return float(brentq(beyond, -1.0, observed - _BESIDE, xtol=1e-14))


def _beyond(lost: Counts, won: Counts, n: int, drop: float, z: float) -> Any:
    """Tango's statistic less z, multiplied out by its standard error, which is 0 at the ends."""
    return lost - won - n * drop - z * np.sqrt(_score_variance(lost, won, n, drop))


def _score_variance(lost: Counts, won: Counts, n: int, drop: float) -> Any:
    """Variance of lost − won when P(lost) − P(won) = drop, at the maximum-likelihood P(won) (Tango 1998, section 3)."""
    a = 2 * n
    b = (2 * n - lost + won) * drop - lost - won
    c = -won * drop * (1 - drop)
    root = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
    # One root, written in two ways without cancellation.
    p_won = np.where(b <= 0, (root - b) / (2 * a), -2 * c / np.maximum(root + b, _BESIDE))
    return np.maximum(n * (2 * p_won + drop * (1 - drop)), 0.0)


def excludes(lost: Counts, won: Counts, n: int, drop: float, alpha: float) -> Any:
    """Whether a drop as large as `drop` (a share) is excluded at one-sided `alpha`: the paired interval is below it.

    Of arrays, an array of answers.
    """
    return tango_excludes(lost, won, n, drop, alpha) & (bonett_price_bound(lost, won, n, alpha) < drop)


def tango_excludes(lost: Counts, won: Counts, n: int, drop: float, alpha: float) -> Any:
    """Whether Tango's interval alone is below `drop`, with no search for its end."""
    return _beyond(won, lost, n, -drop, float(norm.isf(alpha))) > 0


def drop_is_real(lost: Counts, won: Counts, n: int, rounds: int, alpha: float) -> Any:
    """Whether there is a drop at all at one-sided `alpha`: by McNemar's mid-p, and of fractional counts by Tango's lower bound.

    Of arrays, an array of answers.
    """
    if rounds == 1:
        return _mid_p(lost, won) <= alpha
    return _beyond(lost, won, n, 0.0, float(norm.isf(alpha))) > 0


def mcnemar_exact(lost: int, won: int) -> float:
    """One-sided exact p-value for a drop: P(X ≥ lost), X ~ Bin(lost + won, ½). McNemar, Psychometrika 12 (1947) 153–157."""
    return float(binom.sf(lost - 1, lost + won, 0.5))


def mcnemar_mid_p(lost: int, won: int) -> float:
    """One-sided mid-p value for a drop: Fagerland, Lydersen, Laake, BMC Medical Research Methodology 13 (2013) 91."""
    return float(_mid_p(lost, won))


def _mid_p(lost: Counts, won: Counts) -> Any:
    return binom.sf(lost, lost + won, 0.5) + 0.5 * binom.pmf(lost, lost + won, 0.5)


def pass_at_k(n: int, correct: int, k: int) -> float:
    """The chance that one of k programs is right, 0–1, estimated without bias from `correct` of n (Chen et al. 2021, eq. 1)."""
    return 1.0 - comb(n - correct, k) / comb(n, k)


def clopper_pearson(k: int, n: int, confidence: float = 0.90) -> Interval:
    """Exact interval of a share, k of n: Clopper, Pearson, Biometrika 26 (1934) 404–413. At 0.90 each end is one-sided 95 %."""
    ends = binomtest(k, n).proportion_ci(confidence_level=confidence, method="exact")
    return Interval(float(ends.low), float(ends.high))


def wilson(correct: float, n: int, confidence: float = 0.90) -> Interval:
    """Score interval of a share, `correct` of n, fractional where rounds are averaged: Wilson, JASA 22 (1927) 209–212.

    A mean of rounds varies less than one round does, so that with several the interval is wider than it need be.
    """
    z, share = float(norm.isf((1 - confidence) / 2)), correct / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Interval(max(middle - half, 0.0), min(middle + half, 1.0))


def surely_above(k: int, n: int, share: float) -> bool:
    """Whether k of n shows, at one-sided 95 %, a share above `share` (Clopper, Pearson 1934)."""
    return n > 0 and clopper_pearson(k, n).low > share


def excluded_drop(n: int, discordance: float, alpha: float = ALPHA) -> float:
    """The drop in percentage points that n samples exclude, at one-sided `alpha`, when both arms are equal.

    `discordance` is the share of samples, 0–1, that flip one way or the other.
    """
    if not 0 <= discordance <= 1:
        raise ValueError(f"discordance {discordance} is not a share")
    half = discordance * n / 2
    return 100 * paired_interval(half, half, n, 1 - 2 * alpha).high


@lru_cache(maxsize=1024)
def samples_for_margin(margin_points: float, discordance: float, drop_points: float = 0.0) -> int:
    """The smallest n with which arms that differ by `drop_points` are found to be within the margin four times in five.

    As Connor (1987) plans a paired test, with the paired interval's bound in place of the normal one: it is taken where the
    luck of the draw (lost − won, of variance (discordance − drop²) · n) is as bad as it is one time in five.
    """
    if margin_points <= drop_points:
        raise ValueError(f"no number of samples excludes a drop of {margin_points} points")
    enough = 1
    while not _excluded_with_luck(enough, margin_points, discordance, drop_points):
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if _excluded_with_luck(middle, margin_points, discordance, drop_points):
            enough = middle
        else:
            too_few = middle
    return enough


def _excluded_with_luck(n: int, margin_points: float, discordance: float, drop_points: float) -> bool:
    drop = drop_points / 100
    flips = max(discordance, abs(drop)) * n
    luck = float(norm.ppf(POWER)) * sqrt(max(flips - drop * drop * n, 0.0))
    won = max((flips - drop * n - luck) / 2, 0.0)
    lost = min((flips + drop * n + luck) / 2, n - won)
    return bool(excludes(lost, won, n, margin_points / 100, ALPHA))


def p_words(p: float) -> str:
    """A p-value as it is written in a reason: `p = 0.50`, `p = 0.004`, `p < 0.001`."""
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
