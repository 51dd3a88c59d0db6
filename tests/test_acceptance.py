"""Speculation by context: what a mean over a run hides, and data-parallel engines that differ."""

from dataclasses import replace

import pytest
from evidence import BASELINE, CANDIDATE, change, two_arms
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind
from statsmodels.regression.linear_model import WLS

from evals.acceptance import Bucket, Point, buckets, collapse, fell
from evals.judged import Evidence, Finding
from evals.records import EngineCounts, Window
from evals.report import acceptance as shown
from evals.verdict import judge


def drawn(*pairs: tuple[float, float], drafted: int = 1000) -> list[Point]:
    """(position, share accepted)"""
    return [Point(position=at, drafted=drafted, accepted=round(drafted * share)) for at, share in pairs]


def test_a_collapse_past_one_position_is_seen_where_the_mean_hides_it() -> None:
    """vllm 36872, 52873: all four together accept 47 %."""
    seen = collapse(drawn((29000, 0.91), (32500, 0.84), (33000, 0.14), (34000, 0.0)))
    assert seen is not None
    assert (seen.first, seen.n, seen.n_shorter) == (32768, 2, 2)
    assert (seen.acceptance, seen.acceptance_shorter) == pytest.approx((0.07, 0.875))


def test_the_first_bucket_of_a_collapse_is_told() -> None:
    near = [(5000.0 + i, 0.8 + 0.01 * (i % 3)) for i in range(8)]
    far = [(float(at + i), 0.1) for at in (20000, 40000, 80000) for i in range(8)]
    seen = collapse(drawn(*near, *far))
    assert seen is not None
    assert seen.first == 16384


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(40000, 0.0)],
        [(1000, 0.8), (40000, 0.0)],  # two answers show nothing
        [(1000 + i, 0.5) for i in range(9)] + [(40000 + i, 0.3) for i in range(9)],  # a decline is no collapse
        [(1000 + i, 0.0) for i in range(9)] + [(40000 + i, 0.0) for i in range(9)],  # random heads accept nothing anywhere
        [(1000 + i, 0.1) for i in range(9)] + [(40000 + i, 0.9) for i in range(9)],
        [(1000 + i, (0.0, 1.0, 0.1, 0.9)[i % 4]) for i in range(8)] + [(40000, 0.2), (41000, 0.1)],  # answers differ that much
        [(40000 + i, 0.9 if i < 5 else 0.0) for i in range(9)],  # all in one bucket
    ],
)
def test_what_is_no_collapse(pairs: list[tuple[float, float]]) -> None:
    assert collapse(drawn(*pairs)) is None


def test_buckets_are_powers_of_two() -> None:
    found = buckets(drawn((10, 0.5), (1023, 0.7), (1024, 0.4), (2047, 0.2), (32767, 0.3), (32768, 0.1)))
    assert [(b.first, b.n) for b in found] == [(0, 2), (1024, 2), (16384, 1), (32768, 1)]
    assert found[0] == Bucket(first=0, n=2, acceptance=0.6)


def test_with_equal_drafts_it_is_students_test() -> None:
    short, long = [0.91, 0.84, 0.6, 0.88], [0.5, 0.44, 0.71]
    theirs = ttest_ind(short, long, alternative="greater").pvalue
    assert fell(drawn(*((1, s) for s in short)), drawn(*((1, s) for s in long))) == pytest.approx(theirs, rel=1e-6)


def test_with_unlike_drafts_it_is_weighted_least_squares() -> None:
    told = [(900, 0.91), (120, 0.35), (400, 0.7), (800, 0.2), (300, 0.6), (50, 0.1)]
    points = [Point(position=1, drafted=d, accepted=round(d * share)) for d, share in told]
    model = WLS(
        [p.accepted / p.drafted for p in points], [[1, g] for g in (0, 0, 0, 1, 1, 1)], weights=[p.drafted for p in points]
    ).fit()
    assert fell(points[:3], points[3:]) == pytest.approx(model.pvalues[1] / 2, rel=1e-6)


def test_few_drafts_are_no_sure_figure_however_equal() -> None:
    """Two of two and none of two, twice: the variance between answers is 0, the binomial one is not."""
    short, long = [Point(position=1, drafted=2, accepted=2)] * 2, [Point(position=9, drafted=2, accepted=0)] * 2
    assert 0.01 < fell(short, long) < 0.2


@given(st.lists(st.tuples(st.floats(0, 2e5), st.integers(1, 50), st.integers(0, 50)), max_size=12))
def test_any_points_are_read_without_a_fault(told: list[tuple[float, int, int]]) -> None:
    collapse([Point(position=at, drafted=max(d, a), accepted=a) for at, d, a in told])


def spoken(run: Evidence, ids: set[str], prompt_tokens: int, accepted: int) -> Evidence:
    return change(run, CANDIDATE, ids, prompt_tokens=prompt_tokens, draft_tokens=100, accepted_tokens=accepted)


NEAR, FAR = {f"s{i}" for i in range(100)}, {f"s{i}" for i in range(100, 200)}
FLAT = two_arms("c" * 200, "c" * 200)
COLLAPSED = spoken(spoken(FLAT, NEAR, 20_000, 80), FAR, 50_000, 2)


def of_kind(run: Evidence, kind: str) -> list[Finding]:
    return [finding for finding in judge(run).findings if finding.kind == kind]


def test_a_collapse_is_an_alarm_and_no_verdict() -> None:
    (found,) = of_kind(COLLAPSED, "acceptance_collapse")
    assert (found.severity, found.arm, found.task) == ("alarm", CANDIDATE, "gsm8k")
    assert found.text == (
        "accepted draft tokens collapse from position 32768 on: 2.0 % in 100 answers, 80.0 % in 100 shorter ones (p < 0.001)"
    )
    assert judge(COLLAPSED).overall == "PASS"


def test_acceptance_by_context_is_a_table_where_contexts_differ() -> None:
    card = shown.section(COLLAPSED)
    assert f"| task | context, tokens | {CANDIDATE} |" in card
    assert "| gsm8k | 16384 to 32767 | 80.0 (100) |\n| gsm8k | 32768 to 65535 | 2.0 (100) |" in card
    assert shown.section(spoken(FLAT, NEAR | FAR, 20_000, 80)) == shown.section(FLAT) == ""


def shared(*engines: tuple[int, int | None, int | None], samples: int = 200) -> list[str]:
    counts = tuple(
        EngineCounts(engine=str(i), generation_tokens=g, draft_tokens=d, accepted_tokens=a)
        for i, (g, d, a) in enumerate(engines)
    )
    window = Window(
        arm=BASELINE, task="gsm8k", round=0, wall_s=1.0, samples=samples, generation_tokens=9, prompt_tokens=9,
        prefix_cache_queries=0, prefix_cache_hits=0, drafts=None, draft_tokens=None, accepted_tokens=None,
        accepted_per_position=(), cold=True, engines=counts,
    )  # fmt: skip
    return [f.text for f in of_kind(replace(FLAT, windows=(window,)), "engines_differ")]


def test_data_parallel_engines_that_differ_much_are_said() -> None:
    assert shared((1000, 500, 400), (900, 500, 100)) == [
        "data-parallel engines accept draft tokens unlike one another (0: 80.0 %, 1: 20.0 %)"
    ]
    assert shared((1000, None, None), (0, None, None)) == [
        "of 2 data-parallel engines, 1 wrote 0 % of the tokens over 200 samples"
    ]


def test_data_parallel_engines_that_are_alike_are_not() -> None:
    assert shared((1000, 500, 400), (900, 500, 380)) == []
    assert shared((1000, 10, 8), (900, 10, 6)) == []  # too few drafts to tell
    assert shared((1000, None, None), (0, None, None), samples=3) == []
    assert shared() == []
