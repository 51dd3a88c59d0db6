from dataclasses import replace

import pytest
from evidence import BASELINE, CANDIDATE, change, record, two_arms

from evals.compare import check_prompts, compare, flips, ledger, pairs
from evals.judged import Delta, Evidence
from evals.looks import Levels
from evals.stats import paired_interval


def delta_of(run: Evidence, alpha: float = 0.05) -> Delta:
    delta = compare(run, "gsm8k", CANDIDATE, Levels(regression=alpha), 2.0)
    assert delta is not None
    return delta


def test_a_delta_is_candidate_minus_baseline_in_points() -> None:
    delta = delta_of(two_arms("c" * 48 + "ww", "c" * 45 + "www" + "cw"))
    assert (delta.n, delta.errors, delta.newly_wrong, delta.newly_right) == (50, 0, 3, 1)
    assert (delta.baseline, delta.candidate) == (96.0, 92.0)
    assert delta.diff == pytest.approx(-4.0)
    assert (delta.ci_low, delta.ci_high) == (pytest.approx(-12.46, abs=0.006), pytest.approx(3.40, abs=0.006))
    assert delta.excluded_drop == -delta.ci_low == delta.excluded_drop_worst


def test_samples_are_paired_by_id_and_not_by_position() -> None:
    run = two_arms("cwcw", "cwcw")
    assert delta_of(replace(run, records=run.records[:4] + run.records[:3:-1])).newly_wrong == 0


def test_no_answer_counts_as_not_correct() -> None:
    delta = delta_of(two_arms("c" * 10, "c" * 8 + "tm"))
    assert (delta.newly_wrong, delta.candidate, delta.errors) == (2, 80.0, 0)


@pytest.mark.parametrize("letter", ["e", "u", "-"])
def test_an_error_is_never_scored_as_wrong(letter: str) -> None:
    delta = delta_of(two_arms("c" * 10, "c" * 8 + 2 * letter))
    assert (delta.n, delta.errors, delta.newly_wrong, delta.candidate) == (8, 2, 0, 100.0)


def test_an_error_in_the_worst_case_counts_against_the_candidate() -> None:
    in_candidate = delta_of(two_arms("c" * 1319, "c" * 1293 + "e" * 26))
    assert in_candidate.excluded_drop_worst == pytest.approx(100 * paired_interval(26, 0, 1319).high)
    in_baseline = delta_of(two_arms("c" * 90 + "e" * 10, "c" * 90 + "w" * 10))
    assert in_baseline.excluded_drop_worst == pytest.approx(100 * paired_interval(10, 0, 100).high)
    in_both = delta_of(two_arms("c" * 90 + "e" * 10, "c" * 90 + "e" * 10))
    assert in_both.excluded_drop_worst == pytest.approx(100 * paired_interval(10, 0, 100).high)


def test_truncations_of_the_candidate_alone_move_the_bound_from_1_15_to_3_28() -> None:
    same, silent = "c" * (1319 - 80 - 26), "t" * 26
    baseline = same + "c" * 40 + "w" * 40 + "c" * 26
    assert delta_of(two_arms(baseline, same + "w" * 40 + "c" * 40 + silent)).excluded_drop == pytest.approx(3.28, abs=0.006)
    as_errors = delta_of(two_arms(baseline, same + "w" * 40 + "c" * 40 + "e" * 26))
    assert as_errors.excluded_drop == pytest.approx(1.15, abs=0.006)
    assert as_errors.excluded_drop_worst == pytest.approx(3.28, abs=0.006)


def test_errors_never_improve_the_bound() -> None:
    """Where the candidate is right and the baseline unmeasured, the worst case is a tie, which would only add to n."""
    delta = delta_of(two_arms("c" * 20 + "e" * 200, "c" * 19 + "w" + "c" * 200))
    assert delta.excluded_drop_worst == delta.excluded_drop


def test_rounds_are_averaged_into_fractional_counts() -> None:
    run = two_arms(("cccc", "cccw"), ("cwcc", "ccwc"))
    delta = delta_of(run)
    assert (delta.newly_wrong, delta.newly_right, delta.p_value) == (2, 1, None)
    assert delta.diff == pytest.approx(100 * (0.5 - 1.0) / 4)
    assert delta.excluded_drop == pytest.approx(100 * paired_interval(1.0, 0.5, 4).high)
    assert (delta.lost, delta.won) == (1.0, 0.5)


def test_a_sample_without_all_its_rounds_is_an_error() -> None:
    run = two_arms(("cc", "cc", "cc"), ("cc", "ce", "cc"))
    assert [pair.candidate for pair in pairs(run, "gsm8k", CANDIDATE)] == [1.0, None]
    assert delta_of(run).errors == 1


def test_a_drop_is_real_at_one_round_by_mid_p_against_alpha() -> None:
    run = two_arms("c" * 50, "c" * 45 + "w" * 5)
    assert delta_of(run).p_value == pytest.approx(0.5**6)
    assert delta_of(run, alpha=0.5**6 + 1e-9).drop_is_real
    assert not delta_of(run, alpha=0.5**6 - 1e-9).drop_is_real


def test_a_drop_is_real_at_more_rounds_by_the_lower_bound_at_alpha() -> None:
    run = two_arms(("c" * 50,) * 2, ("c" * 45 + "w" * 5,) * 2)
    assert delta_of(run).drop_is_real
    assert not delta_of(run, alpha=0.0005).drop_is_real
    assert not delta_of(two_arms(("c" * 50,) * 2, ("c" * 45 + "w" * 5, "c" * 50))).drop_is_real


def test_nothing_measured_on_both_gives_no_delta() -> None:
    run = two_arms("cc--", "--cc")
    assert compare(run, "gsm8k", CANDIDATE, Levels(), 2.0) is None
    assert compare(run, "unheard", CANDIDATE, Levels(), 2.0) is None


def test_records_of_samples_that_were_not_planned_are_left_out() -> None:
    run = two_arms("cc", "cc")
    assert delta_of(replace(run, records=(*run.records, record(BASELINE, "x"), record(CANDIDATE, "x", "w")))).n == 2


def test_flips_come_with_the_largest_change_first_and_newly_wrong_before_newly_right() -> None:
    run = two_arms(("cwcwc", "cwcwc"), ("ccwcc", "cwwcw"))
    assert [flip.sample_id for flip in flips(run, "gsm8k", CANDIDATE)] == ["s2", "s3", "s4", "s1"]
    assert (flips(run, "gsm8k", CANDIDATE)[2].baseline, flips(run, "gsm8k", CANDIDATE)[2].candidate) == (1.0, 0.5)


def test_an_error_is_no_flip() -> None:
    assert flips(two_arms("cc", "ce"), "gsm8k", CANDIDATE) == ()


def test_prompts_are_compared_by_ids_only_where_both_engines_told_them() -> None:
    run = change(two_arms("cccc", "cccc"), CANDIDATE, {"s1"}, prompt_ids_sha="other")
    run = change(run, CANDIDATE, {"s2"}, prompt_ids_sha=None)
    check = check_prompts(run, ledger(run), "gsm8k", CANDIDATE)
    assert (check.n, check.n_without_ids, check.differing) == (4, 1, ("s1",))


def test_other_messages_are_another_prompt_even_without_ids() -> None:
    run = change(two_arms("ccc", "ccc"), BASELINE, {"s0", "s1", "s2"}, prompt_ids_sha=None)
    run = replace(run, records=(*run.records[:-1], replace(run.records[-1], prompt_sha="other")))
    assert check_prompts(run, ledger(run), "gsm8k", CANDIDATE).differing == ("s2",)
