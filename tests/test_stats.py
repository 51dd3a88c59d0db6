from math import ceil, comb, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from evals.stats import (
    Interval,
    bonett_price_bound,
    clopper_pearson,
    drop_is_real,
    excluded_drop,
    excludes,
    mcnemar_exact,
    mcnemar_mid_p,
    p_words,
    paired_interval,
    samples_for_margin,
    surely_above,
    tango_interval,
)

_counts = st.integers(1, 400).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, 4 * n)).flatmap(
        lambda pair: st.tuples(
            st.just(pair[0]), st.just(pair[1] / 4), st.integers(0, 4 * pair[0] - pair[1]).map(lambda k: k / 4)
        )
    )
)


@pytest.mark.parametrize(
    ("lost", "won", "n", "low", "high"),
    [
        (2, 0, 50, -1.34, 11.39),
        (3, 1, 50, -3.40, 12.46),
        (2, 2, 50, -8.08, 8.08),
        (0, 0, 50, -5.13, 5.13),
        (5, 0, 50, 4.35, 19.15),
        (3, 0, 50, 0.56, 14.09),
        (8, 8, 200, -3.51, 3.51),
        (53, 53, 1319, -1.30, 1.30),
    ],
)
def test_tango_gives_the_checked_intervals(lost: int, won: int, n: int, low: float, high: float) -> None:
    interval = tango_interval(lost, won, n)
    assert 100 * interval.low == pytest.approx(low, abs=0.006)
    assert 100 * interval.high == pytest.approx(high, abs=0.006)


def test_dropping_truncated_pairs_hides_harm() -> None:
    assert 100 * tango_interval(40, 40, 1319 - 26).high == pytest.approx(1.15, abs=0.006)
    assert 100 * tango_interval(40 + 26, 40, 1319).high == pytest.approx(3.28, abs=0.006)


@pytest.mark.parametrize(
    ("lost", "won", "n", "confidence", "low", "high"),
    [
        (1, 0, 44, 0.90, -0.037, 0.096),  # Tango (1998): 43 succeed twice, one once; as R's ratesci has it
        (9, 3, 32, 0.95, -0.027, 0.390),  # Tango (1998): the table 4, 9, 3, 16; as R's ratesci has it
        (16, 8, 86, 0.95, -0.020, 0.207),  # Agresti, Min, Statistics in Medicine 24 (2005) 729–740
        (7, 1, 21, 0.95, 0.026, 0.517),  # Fagerland, Lydersen, Laake, Statistics in Medicine 33 (2014) 2850–2875
        (28, 25, 618, 0.90, -0.0148, 0.0247),  # R: PropCIs::scoreci.mp(25, 28, 618, 0.90)
    ],
)
def test_tango_gives_the_published_intervals(lost: int, won: int, n: int, confidence: float, low: float, high: float) -> None:
    interval = tango_interval(lost, won, n, confidence)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.0006)


def test_bonett_and_price_give_the_published_interval() -> None:
    """R: statpsych::ci.prop.ps(.05, 12, 4, 26, 6)."""
    assert bonett_price_bound(26, 4, 48, 0.025) == pytest.approx(0.6251933, abs=1e-7)
    assert -bonett_price_bound(4, 26, 48, 0.025) == pytest.approx(0.2548067, abs=1e-7)


@pytest.mark.parametrize(("lost", "won", "n"), [(1, 4, 50), (8, 0, 50), (0, 0, 200), (53, 40, 1319)])
def test_the_end_that_passes_is_the_higher_bound_of_two(lost: int, won: int, n: int) -> None:
    tango, other = tango_interval(lost, won, n), float(bonett_price_bound(lost, won, n))
    assert paired_interval(lost, won, n) == Interval(tango.low, max(tango.high, other))


def test_the_higher_bound_is_now_the_one_and_now_the_other() -> None:
    assert tango_interval(0, 0, 200).high > bonett_price_bound(0, 0, 200)
    assert tango_interval(1, 4, 50).high < bonett_price_bound(1, 4, 50)


def test_the_paired_interval_stays_on_the_scale() -> None:
    assert paired_interval(3, 0, 3).high == 1.0


@given(st.integers(1, 300), st.data())
@settings(max_examples=100)
def test_a_drop_is_excluded_where_the_bound_is_below_it(n: int, data: st.DataObject) -> None:
    """The verdict asks at one point; the interval is what is shown."""
    lost = data.draw(st.integers(0, n))
    won = data.draw(st.integers(0, n - lost))
    drop, alpha = data.draw(st.floats(0.001, 0.99)), data.draw(st.sampled_from([0.05, 0.01]))
    high = paired_interval(lost, won, n, 1 - 2 * alpha).high
    if abs(high - drop) > 1e-9:
        assert bool(excludes(lost, won, n, drop, alpha)) == (high < drop)


@given(_counts)
@settings(max_examples=60)
def test_over_rounds_a_drop_is_real_where_the_lower_bound_is_above_zero(counts: tuple[int, float, float]) -> None:
    n, lost, won = counts
    low = tango_interval(lost, won, n, 0.9).low
    if abs(low) > 1e-9:
        assert bool(drop_is_real(lost, won, n, 2, 0.05)) == (low > 0)


def test_many_outcomes_at_once_are_judged_as_each_alone() -> None:
    lost, won = np.meshgrid(np.arange(12.0), np.arange(12.0), indexing="ij")
    both = [(excludes(lost, won, 60, 0.1, 0.05), excludes), (drop_is_real(lost, won, 60, 1, 0.05), drop_is_real)]
    for (i, j), _ in np.ndenumerate(lost):
        assert both[0][0][i, j] == excludes(float(i), float(j), 60, 0.1, 0.05)
        assert both[1][0][i, j] == drop_is_real(float(i), float(j), 60, 1, 0.05)


def _likeliest_score(lost: float, won: float, n: int, drop: float) -> float:
    """Tango's statistic, the constrained trinomial likelihood being maximised by search and not by formula."""

    def against(p_won: float) -> float:
        cells = ((lost, p_won + drop), (won, p_won), (n - lost - won, 1 - 2 * p_won - drop))
        return -sum(count * log(p) for count, p in cells if count)

    inside = (max(0.0, -drop) + 1e-13, (1 - drop) / 2 - 1e-13)
    p_won = float(minimize_scalar(against, bounds=inside, method="bounded", options={"xatol": 1e-13}).x)
    return (lost - won - n * drop) / sqrt(n * (2 * p_won + drop * (1 - drop)))


@pytest.mark.parametrize(
    ("lost", "won", "n"), [(2, 0, 50), (3, 1, 50), (7.5, 2.25, 40), (0, 9, 30), (20, 5, 25), (53, 40, 1319), (0.5, 0.5, 8)]
)
@pytest.mark.parametrize("confidence", [0.90, 0.99])
def test_tango_ends_lie_where_the_numerically_maximised_score_is_z(lost: float, won: float, n: int, confidence: float) -> None:
    z = float(norm.isf((1 - confidence) / 2))
    interval = tango_interval(lost, won, n, confidence)
    assert _likeliest_score(lost, won, n, interval.low) == pytest.approx(z, abs=2e-4)
    assert _likeliest_score(lost, won, n, interval.high) == pytest.approx(-z, abs=2e-4)


def test_tango_reaches_the_ends_of_the_scale_and_not_beyond() -> None:
    assert tango_interval(50, 0, 50).high == 1.0
    assert 0.85 < tango_interval(50, 0, 50).low < 1.0
    assert tango_interval(0, 50, 50).low == -1.0


@pytest.mark.parametrize(("lost", "won", "n"), [(-1, 0, 5), (3, 3, 5), (0, 0, 0)])
def test_tango_refuses_counts_that_cannot_be(lost: int, won: int, n: int) -> None:
    with pytest.raises(ValueError, match="cannot be counts"):
        tango_interval(lost, won, n)


@given(_counts)
@settings(max_examples=150)
def test_tango_holds_the_estimate_mirrors_and_stays_in_range(counts: tuple[int, float, float]) -> None:
    n, lost, won = counts
    interval, mirrored = tango_interval(lost, won, n), tango_interval(won, lost, n)
    assert -1 <= interval.low <= (lost - won) / n <= interval.high <= 1
    assert interval.high - interval.low > 1 / (10 * n)
    assert (interval.low, interval.high) == (-mirrored.high, -mirrored.low)


@given(_counts)
@settings(max_examples=100)
def test_more_samples_at_the_same_shares_narrow_the_interval(counts: tuple[int, float, float]) -> None:
    n, lost, won = counts
    few, many = paired_interval(lost, won, n), paired_interval(3 * lost, 3 * won, 3 * n)
    assert many.high - many.low < few.high - few.low


@given(_counts)
@settings(max_examples=50)
def test_more_confidence_widens_the_interval(counts: tuple[int, float, float]) -> None:
    n, lost, won = counts
    usual, strict = paired_interval(lost, won, n), paired_interval(lost, won, n, 0.99)
    assert strict.low <= usual.low
    assert usual.high <= strict.high


def _misses(n: int, p_lost: float, p_won: float) -> tuple[float, float]:
    """How often the upper end is at or below the true drop, and the lower end at or above it: every outcome enumerated."""
    above = below = 0.0
    for lost in range(n + 1):
        for won in range(n + 1 - lost):
            weight = comb(n, lost) * comb(n - lost, won) * p_lost**lost * p_won**won * (1 - p_lost - p_won) ** (n - lost - won)
            if weight > 1e-8:
                interval = paired_interval(lost, won, n)
                above += weight * (interval.high <= p_lost - p_won)
                below += weight * (interval.low >= p_lost - p_won)
    return above, below


@pytest.mark.parametrize(("n", "p_lost", "p_won"), [(30, 0.15, 0.05), (50, 0.08, 0.04), (50, 0.12, 0.02), (100, 0.05, 0.03)])
def test_the_upper_end_excludes_the_true_drop_in_at_most_five_percent(n: int, p_lost: float, p_won: float) -> None:
    """This end says PASS. The lower end is known to be liberal beside a true drop, which no rule here rests on."""
    above, below = _misses(n, p_lost, p_won)
    assert 0.03 < above < 0.05
    assert 0.05 < below < 0.09


@pytest.mark.parametrize(("n", "p"), [(30, 0.05), (50, 0.02), (100, 0.04)])
def test_the_lower_end_calls_a_drop_where_there_is_none_in_about_five_percent(n: int, p: float) -> None:
    """This end says REGRESSION where rounds are averaged."""
    assert 0.03 < _misses(n, p, p)[1] < 0.052


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (1, 0), (0, 4), (5, 0), (8, 3), (26, 14), (60, 61)])
def test_mid_p_is_half_of_the_observed_outcome_and_all_beyond(lost: int, won: int) -> None:
    m = lost + won
    brute = (0.5 * comb(m, lost) + sum(comb(m, k) for k in range(lost + 1, m + 1))) / 2**m
    assert mcnemar_mid_p(lost, won) == pytest.approx(brute, rel=1e-9)


def test_without_any_flip_no_p_value_says_anything() -> None:
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_mid_p(0, 0) == 0.5


@pytest.mark.parametrize(
    ("lost", "won", "exact", "mid_p"),
    [
        (7, 1, 0.0703, 0.0391),  # Fagerland, Lydersen, Laake (2013), table 5, two-sided
        (121, 59, 4.434959e-06, None),  # statsmodels' own test data: sm.stats.mcnemar([[101, 121], [59, 33]])
    ],
)
def test_mcnemar_gives_the_published_p_values(lost: int, won: int, exact: float, mid_p: float | None) -> None:
    assert 2 * mcnemar_exact(lost, won) == pytest.approx(exact, rel=2e-3)
    if mid_p is not None:
        assert 2 * mcnemar_mid_p(lost, won) == pytest.approx(mid_p, rel=2e-3)


@pytest.mark.parametrize(("lost", "won"), [(5, 1), (8, 3), (26, 14), (10, 0)])
def test_exact_mcnemar_agrees_with_statsmodels(lost: int, won: int) -> None:
    two_sided = mcnemar([[100, lost], [won, 20]], exact=True).pvalue
    assert 2 * mcnemar_exact(lost, won) == pytest.approx(two_sided)


@pytest.mark.parametrize(("k", "n"), [(0, 8), (8, 8), (1, 200), (120, 200)])
def test_clopper_pearson_agrees_with_statsmodels(k: int, n: int) -> None:
    low, high = proportion_confint(k, n, alpha=0.10, method="beta")
    assert clopper_pearson(k, n).low == pytest.approx(low, abs=1e-9)
    assert clopper_pearson(k, n).high == pytest.approx(high, abs=1e-9)


def test_eight_of_eight_needles_leave_a_miss_rate_of_31_percent_open() -> None:
    assert 1 - clopper_pearson(8, 8).low == pytest.approx(0.31, abs=0.005)


def test_surely_above_needs_samples() -> None:
    assert surely_above(60, 100, 0.5)
    assert not surely_above(6, 10, 0.5)
    assert not surely_above(0, 0, 0.5)


@pytest.mark.parametrize(("n", "points"), [(50, 8.1), (200, 3.5), (1319, 1.3), (14042, 0.4)])
def test_equal_arms_exclude_the_checked_drops(n: int, points: float) -> None:
    assert excluded_drop(n, 0.08) == pytest.approx(points, abs=0.05)


@pytest.mark.parametrize(("n", "margin"), [(50, 12.0), (200, 5.3), (1319, 2.0), (14042, 0.6)])
def test_the_advised_samples_are_the_checked_ones(n: int, margin: float) -> None:
    assert samples_for_margin(margin, 0.08) == pytest.approx(n, rel=0.05)


def _connor(drop: float, discordance: float, alpha: float, power: float) -> float:
    """Pairs for a one-sided McNemar test: Connor, Biometrics 43 (1987) 207–211."""
    z_alpha, z_beta = norm.isf(alpha), norm.ppf(power)
    return float(((z_alpha * sqrt(discordance) + z_beta * sqrt(discordance - drop**2)) / drop) ** 2)


def test_connors_formula_gives_the_published_sample_size() -> None:
    """powerandsamplesize.com, after Connor: p01 = 0.45, p10 = 0.05, two-sided 5 %, power 80 %: 23 pairs."""
    assert ceil(_connor(0.4, 0.5, 0.025, 0.8)) == 23


@pytest.mark.parametrize(("margin", "discordance"), [(2.0, 0.08), (1.0, 0.05), (5.0, 0.2)])
def test_the_advised_samples_are_near_connors(margin: float, discordance: float) -> None:
    """Connor's pairs find a drop of the margin; about as many exclude it when there is none."""
    assert samples_for_margin(margin, discordance) == pytest.approx(_connor(margin / 100, discordance, 0.05, 0.8), rel=0.05)


def test_a_drop_that_stays_below_the_margin_takes_more_samples_to_settle() -> None:
    needs = [samples_for_margin(2.0, 0.05, drop) for drop in (0.0, 0.5, 1.0, 1.5)]
    assert needs == sorted(needs)
    assert needs[2] == pytest.approx(_connor(0.01, 0.05, 0.05, 0.8), rel=0.2)
    with pytest.raises(ValueError, match=r"drop of 2\.0 points"):
        samples_for_margin(2.0, 0.05, 2.0)


@pytest.mark.parametrize(("margin", "discordance"), [(2.0, 0.08), (10.0, 0.08), (2.0, 0.01), (5.0, 0.2)])
def test_with_the_advised_samples_equal_arms_pass_four_times_in_five(margin: float, discordance: float) -> None:
    n, rng = samples_for_margin(margin, discordance), np.random.default_rng(7)
    draws = rng.multinomial(n, [discordance / 2, discordance / 2, 1 - discordance], size=1500)
    passed = [100 * paired_interval(float(lost), float(won), n).high < margin for lost, won, _ in draws]
    assert 0.76 <= sum(passed) / len(passed) <= 0.9


@pytest.mark.parametrize(("margin", "discordance"), [(5.0, 0.0), (2.0, 1.0), (99.0, 0.08)])
def test_the_advised_samples_are_a_number_at_the_ends_too(margin: float, discordance: float) -> None:
    assert samples_for_margin(margin, discordance) >= 1


def test_no_number_of_samples_excludes_a_drop_of_nothing() -> None:
    with pytest.raises(ValueError, match="0 points"):
        samples_for_margin(0, 0.08)


@pytest.mark.parametrize(
    ("p", "words"), [(0.5, "p = 0.50"), (1.0, "p = 1.00"), (0.0478, "p = 0.048"), (0.0000001, "p < 0.001")]
)
def test_p_values_are_never_written_as_zero(p: float, words: str) -> None:
    assert p_words(p) == words
