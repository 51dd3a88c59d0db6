from math import comb, sqrt

import numpy as np
import pytest

from evals.looks import planned
from evals.power import Design, chances, flips_seen
from evals.stats import drop_is_real, excludes, mcnemar_mid_p, paired_interval

THREE = (440, 880, 1319)


@pytest.mark.parametrize(("discordance", "drop"), [(0.1, 0.0), (0.1, 0.1), (0.04, 0.05)])
def test_one_look_is_every_outcome_weighed_and_judged(discordance: float, drop: float) -> None:
    n, margin, p_lost, p_won = 30, 10.0, discordance / 2 + drop, discordance / 2
    passes = regression = covered = 0.0
    for lost in range(n + 1):
        for won in range(n + 1 - lost):
            weight = comb(n, lost) * comb(n - lost, won) * p_lost**lost * p_won**won * (1 - p_lost - p_won) ** (n - lost - won)
            high = paired_interval(lost, won, n).high
            passes += weight * (100 * high < margin)
            regression += weight * (100 * high >= margin and mcnemar_mid_p(lost, won) <= 0.05)
            covered += weight * (high >= drop)
    found = chances(Design(sizes=(n,), margin=margin), discordance, drop)
    assert (found.passes, found.regression, found.coverage) == pytest.approx((passes, regression, covered), abs=1e-9)
    assert (found.mean_n, found.inconclusive) == pytest.approx((n, 1 - passes - regression))


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("drop", [0.0, 0.02])
def test_looks_come_out_as_drawn_runs_do(rounds: int, drop: float) -> None:
    """Runs that are drawn answer by answer, within three standard errors."""
    runs, rng, discordance = 3000, np.random.default_rng(11), 0.05
    luck, broken = (rng.random((runs, THREE[-1])) < share for share in (2 * discordance, drop / (1 - 2 * discordance)))
    shape = (rounds, runs, THREE[-1])
    baseline = np.where(luck, rng.random(shape) < 0.5, True).mean(axis=0)
    candidate = np.where(luck, rng.random(shape) < 0.5, ~broken).mean(axis=0)
    going, said, asked = np.ones(runs, dtype=bool), {"passes": 0, "regression": 0}, 0.0
    for n, levels in zip(THREE, planned(THREE, 1), strict=True):
        d = baseline[:, :n] - candidate[:, :n]
        lost, won = np.maximum(d, 0).sum(axis=1), np.maximum(-d, 0).sum(axis=1)
        passes = going & excludes(lost, won, n, 0.02, levels.passing)
        worse = going & ~passes & drop_is_real(lost, won, n, rounds, levels.regression)
        said["passes"], said["regression"] = said["passes"] + passes.sum(), said["regression"] + worse.sum()
        asked += n * (passes.sum() + worse.sum())
        going &= ~passes & ~worse
    found = chances(Design(sizes=THREE, margin=2.0, rounds=rounds), discordance, drop)
    for name, count in said.items():
        rate = getattr(found, name)
        assert count / runs == pytest.approx(rate, abs=3 * sqrt(rate * (1 - rate) / runs) + 1e-3), name
    assert (asked + THREE[-1] * going.sum()) / runs == pytest.approx(found.mean_n, rel=0.03)


def test_what_is_seen_of_the_flips_shrinks_with_the_rounds() -> None:
    assert [flips_seen(rounds) for rounds in (1, 2)] == pytest.approx([1.0, 0.75])


def test_a_truth_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="no shares"):
        chances(Design(sizes=(50,), margin=10.0), 0.5, 0.1)
