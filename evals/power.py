"""What a gate would say, and how often, if the truth were known: every outcome gone through, none drawn. Pure.

The counts of lost and won samples walk over a grid; a look takes the walks away that it ends, and the rest walk on. A walk of
n samples is the n-th power of one sample's Fourier transform, so that this is exact but for rounding.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import comb, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from evals import looks, stats

_FAR = 9.0
"""Standard deviations beyond which an outcome is left out: a chance of 1e-19."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """A gate's rule."""

    sizes: tuple[int, ...]
    """Samples at each look."""
    margin: float
    """Percentage points."""
    gates: int = 1
    """In the whole experiment."""
    rounds: int = 1


@dataclass(frozen=True, kw_only=True)
class Chances:
    """How often each thing happens, 0–1."""

    passes: float
    regression: float
    inconclusive: float
    coverage: float
    """That the bound which the last look tells is not below the true drop."""
    mean_n: float
    """Samples asked, on average."""


@lru_cache(maxsize=512)
def chances(design: Design, discordance: float, drop: float = 0.0) -> Chances:
    """What comes of it where P(won) = discordance / 2 in a round, and P(lost) is more by `drop` (a share).

    The drop is the same samples in every round; what flips without it is the noise of single answers, drawn afresh.
    """
    sample = _sample(design.rounds, discordance, drop)
    windows = [_windows(sample, n) for n in design.sizes]
    shape = tuple(fft.next_fast_len(max(hi - lo for lo, hi in axis)) for axis in zip(*windows, strict=True))
    step = fft.rfft2(_placed(sample, shape))
    state = np.zeros(shape)
    state[0, 0] = 1.0
    found = dict.fromkeys(("pass", "regression", "open", "covered", "n"), 0.0)
    asked = 0
    for n, levels, window in zip(design.sizes, looks.planned(design.sizes, design.gates), windows, strict=True):
        state = np.maximum(fft.irfft2(fft.rfft2(state) * step ** (n - asked), s=shape), 0.0)
        asked = n
        (lost, won), place = _axes(window, shape)
        here = np.where(lost + won <= n * design.rounds, state[place], 0.0)
        said = _Said.of(lost / design.rounds, won / design.rounds, n, design, levels)
        ended = (said.passes | said.regression) if n < design.sizes[-1] else np.ones_like(said.passes)
        covered = ~stats.excludes(lost / design.rounds, won / design.rounds, n, drop, levels.passing)
        found["pass"] += float(here[said.passes].sum())
        found["regression"] += float(here[said.regression].sum())
        found["covered"] += float(here[ended & covered].sum())
        found["n"] += n * float(here[ended].sum())
        state = np.zeros(shape)
        state[place] = np.where(ended, 0.0, here)
    # What a transform's rounding leaves differs from one processor to another, and must not be told.
    passes, regression, covered, mean_n = (round(found[name], 9) for name in ("pass", "regression", "covered", "n"))
    return Chances(
        passes=passes, regression=regression, inconclusive=round(1 - passes - regression, 9), coverage=covered, mean_n=mean_n
    )


@dataclass(frozen=True, kw_only=True)
class _Said:
    """Where on the grid a look says what."""

    passes: NDArray[np.bool_]
    regression: NDArray[np.bool_]

    @staticmethod
    def of(lost: Any, won: Any, n: int, design: Design, levels: looks.Levels) -> "_Said":
        excluded = stats.excludes(lost, won, n, design.margin / 100, levels.passing)
        real = stats.drop_is_real(lost, won, n, design.rounds, levels.regression)
        return _Said(passes=excluded, regression=real & ~excluded)


def _sample(rounds: int, discordance: float, drop: float) -> dict[tuple[int, int], float]:
    """Chances of (lost, won) of one sample, in rounds.

    A share of the samples is answered by luck, in each round and by each arm with even odds: one half of them flips.
    """
    by_luck = 2 * discordance
    if by_luck + drop > 1 or drop < 0:
        raise ValueError(f"a discordance of {discordance} and a drop of {drop} are no shares of samples")
    out = {(0, 0): 1 - by_luck - drop}
    for more in range(-rounds, rounds + 1):  # baseline less candidate is Bin(2 · rounds, ½) − rounds
        place = (max(more, 0), max(-more, 0))
        out[place] = out.get(place, 0.0) + by_luck * comb(2 * rounds, rounds + more) / 4**rounds
    out[rounds, 0] += drop
    return out


def flips_seen(rounds: int) -> float:
    """Of the discordance in one round, the share that is left where so many rounds are averaged: their noise partly cancels."""
    return float(2 * sum(comb(2 * rounds, k) * abs(k - rounds) for k in range(2 * rounds + 1)) / 4**rounds / rounds)


def _windows(sample: dict[tuple[int, int], float], n: int) -> list[tuple[int, int]]:
    """By axis, lost and won: from where to where (not included) the counts of n samples lie."""
    out = []
    for axis in (0, 1):
        mean = sum(p * place[axis] for place, p in sample.items())
        deviation = sqrt(n * (sum(p * place[axis] ** 2 for place, p in sample.items()) - mean * mean))
        most = n * max(place[axis] for place in sample)
        # Few and rare flips are far from normal: there is room for them beside what a normal curve needs.
        out.append((max(int(n * mean - _FAR * deviation) - 1, 0), min(int(n * mean + _FAR * deviation) + 40, most) + 1))
    return out


def _placed(sample: dict[tuple[int, int], float], shape: tuple[int, ...]) -> NDArray[np.float64]:
    out = np.zeros(shape)
    for (lost, won), p in sample.items():
        out[lost % shape[0], won % shape[1]] += p
    return out


def _axes(window: list[tuple[int, int]], shape: tuple[int, ...]) -> tuple[tuple[Any, Any], Any]:
    """The counts on both axes of a window, and where on the grid they are: it goes round, and a window is at most its size."""
    lost, won = (np.arange(lo, hi) for lo, hi in window)
    return (lost[:, None].astype(float), won[None, :].astype(float)), np.ix_(lost % shape[0], won % shape[1])
