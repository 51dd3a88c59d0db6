"""Where two answers part: at a tie that rounding turned, or at another opinion."""

from dataclasses import replace
from typing import Any

import pytest
from evidence import BASELINE, CANDIDATE, two_arms
from test_divergence import greedy
from test_sensors import forced

from evals.judged import Evidence
from evals.parting import ROUNDING, Parting, first_difference, kind, partings, tie
from evals.records import TopTwo
from evals.report.scorecard import flip_rows
from evals.report.sensors import place, positions


@pytest.mark.parametrize(
    ("gap", "against", "expected"),
    [(0.1, 0.1, "tie"), (0.0, None, "tie"), (0.2, 0.1, "change"), (2.0, None, "change"), (0.0, 3.0, "change"),
     (None, 0.1, "tie"), (None, 0.3, "change"), (-0.5, 0.1, "sampled"), (None, None, None)],
)  # fmt: skip
def test_what_moved_is_the_baselines_gap_and_the_candidates_the_other_way(
    gap: float | None, against: float | None, expected: str | None
) -> None:
    assert kind(gap, against, ROUNDING) == expected


def test_a_tie_is_what_rounding_moves_where_a_restart_moves_nothing() -> None:
    top = {"top_two": (TopTwo(first=-0.1, second=-2.0),) * 3}
    assert tie(greedy([top] * 9, [top] * 9, [top] * 9)) == ROUNDING
    assert tie(two_arms("ccc", "ccc")) == ROUNDING


def test_a_tie_is_what_the_baselines_restart_moves_where_that_is_more() -> None:
    """Up to the place where its two answers part, and no further: from there on they have read other tokens."""
    ours: dict[str, Any] = {"token_ids": (1, 2, 3), "top_two": (TopTwo(first=-0.1, second=-2.0),) * 3}
    again: dict[str, Any] = {
        "token_ids": (1, 9, 3),
        "top_two": (TopTwo(first=-0.1, second=-2.0), TopTwo(first=-0.1, second=-0.8), TopTwo(first=-0.1, second=-9.0)),
    }
    assert tie(greedy([ours] * 9, [again] * 9, [ours] * 9)) == pytest.approx(1.2)


def test_the_floor_is_also_seen_in_what_both_launches_say_of_one_answer() -> None:
    rows = [forced(BASELINE, f"s{i}", [-0.1] * 4, launch=k, top_two=(TopTwo(first=-0.1, second=-1.0 - k),) * 4)
            for i in range(5) for k in (0, 1)]  # fmt: skip
    assert tie(replace(two_arms("ccccc", "ccccc"), forced=tuple(rows))) == pytest.approx(1.0)


def flipped(ours: tuple[int, ...], theirs: tuple[int, ...], *rows: Any, n: int = 1) -> Evidence:
    """`n` samples that the baseline got right and the candidate wrong."""
    run = two_arms("c" * n, "w" * n)
    ids = {BASELINE: ours, CANDIDATE: theirs}
    records = tuple(replace(r, response=r.response and replace(r.response, token_ids=ids[r.arm])) for r in run.records)
    return replace(run, records=records, forced=rows)


def at(first: float, second: float) -> tuple[TopTwo, ...]:
    """Three places, of which the last is as told."""
    return (*(TopTwo(first=-0.1, second=-9.0),) * 2, TopTwo(first=first, second=second))


def test_a_flip_is_known_by_its_place_and_by_what_both_servers_say_of_the_baselines_token_there() -> None:
    own = forced(BASELINE, "s0", [-0.1, -0.1, -0.6], launch=1, top_two=at(-0.6, -0.7))
    other = forced(CANDIDATE, "s0", [-0.1, -0.1, -2.6], top_two=at(-0.4, -2.6))
    found = partings(flipped((1, 2, 3), (1, 2, 4), own, other)).of("gsm8k", CANDIDATE, "s0", 0)
    assert found == Parting(first=2, gap=pytest.approx(0.1), against=pytest.approx(2.2), kind="change")


def test_a_token_that_was_drawn_is_no_opinion() -> None:
    own = forced(BASELINE, "s0", [-0.1, -0.1, -1.6], top_two=at(-0.6, -1.6))
    found = partings(flipped((1, 2, 3), (1, 2, 4), own)).of("gsm8k", CANDIDATE, "s0", 0)
    assert found == Parting(first=2, gap=pytest.approx(-1.0), against=None, kind="sampled")


def test_without_log_probabilities_the_place_alone_is_known_and_without_ids_nothing() -> None:
    assert partings(flipped((1, 2, 3), (1, 2, 4))).of("gsm8k", CANDIDATE, "s0", 0) == Parting(
        first=2, gap=None, against=None, kind=None
    )
    assert partings(flipped((1, 2), (1, 2))).of("gsm8k", CANDIDATE, "s0", 0) is None
    run = flipped((1, 2), (1, 3))
    lost = tuple(replace(r, response=r.response and replace(r.response, token_ids=None)) for r in run.records)
    assert partings(replace(run, records=lost)).of("gsm8k", CANDIDATE, "s0", 0) is None


def test_log_probabilities_of_the_first_round_say_nothing_of_another() -> None:
    run = flipped((1, 2, 3), (1, 2, 4), forced(BASELINE, "s0", [-0.1, -0.1, -0.6], top_two=at(-0.6, -0.7)))
    second = tuple(replace(r, round=1) for r in run.records)
    found = partings(replace(run, records=(*run.records, *second))).of("gsm8k", CANDIDATE, "s0", 1)
    assert found == Parting(first=2, gap=None, against=None, kind=None)


def test_of_flips_alike_those_with_the_larger_change_of_opinion_stand_first() -> None:
    rows = [
        forced(CANDIDATE, f"s{i}", [-0.1, -0.1, -moved - 0.1], top_two=at(-0.1, -9.0)) for i, moved in enumerate((0.1, 3, 1))
    ]
    found = flip_rows(flipped((1, 2, 3), (1, 2, 4), *rows, n=3), "gsm8k", CANDIDATE)
    assert [row.sample.id for row in found] == ["s1", "s2", "s0"]
    assert [place(row.parting) for row in found] == [
        "token 2; 3.00 nats: a changed opinion", "token 2; 1.00 nats: a changed opinion", "token 2; 0.10 nats: a tie",
    ]  # fmt: skip


def test_one_answer_may_be_the_beginning_of_the_other() -> None:
    assert (first_difference((1, 2), (1, 2, 3)), first_difference("ab", "ab"), first_difference((), (1,))) == (2, None, 0)
    own = forced(BASELINE, "s0", [-0.1, -0.1], top_two=at(-0.1, -0.2)[:2])
    found = partings(flipped((1, 2), (1, 2, 3), own)).of("gsm8k", CANDIDATE, "s0", 0)
    assert found == Parting(first=2, gap=None, against=None, kind=None)


def test_where_outputs_part_is_told_in_words() -> None:
    assert positions([40, 3, 9]) == "at token 3 to 40, half of them by 9 (2 of 3 within the first 16)"
    assert positions([7]) == "at token 7 (1 of 1 within the first 16)"
