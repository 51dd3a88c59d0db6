"""Readings of the baseline's answers under each arm, from log-probabilities that are written down here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from evidence import BASELINE, CANDIDATE, evidence, samples, two_arms
from scipy import stats as scipy_stats

from evals import sensors
from evals.judged import ArmSpec, Evidence
from evals.records import Failure, Forced, TopTwo
from evals.report import sensors as rendered
from evals.report.machine import verdict_json
from evals.report.markdown import scorecard
from evals.sensors import Reading, other_tokens, readings, unmeasured
from evals.stats import mean_interval
from evals.verdict import judge

BEST = -0.7
"""Of every place's likeliest token."""


def forced(arm: str, sample_id: str, logprobs: Sequence[float], *, launch: int = 0, **fields: Any) -> Forced:
    told: dict[str, Any] = {
        "arm": arm, "launch": launch, "task": "gsm8k", "sample_id": sample_id, "answer_sha": "a", "logprobs": tuple(logprobs),
        "top_two": tuple(TopTwo(first=max(p, BEST), second=-5.0) for p in logprobs),
    }  # fmt: skip
    return Forced(**(told | fields))


def told(by_arm: dict[str, Sequence[Sequence[float]]], again: Sequence[Sequence[float]] | None = None) -> Evidence:
    """`by_arm`: log-probabilities by sample and token; `again`: of the baseline's second launch."""
    rows = [forced(arm, f"s{i}", row) for arm, of in by_arm.items() for i, row in enumerate(of)]
    rows += [forced(BASELINE, f"s{i}", row, launch=1) for i, row in enumerate(again or ())]
    letters = "c" * max(len(of) for of in by_arm.values())
    return evidence(letters, {arm: letters for arm in by_arm if arm != BASELINE}, sensors=True, forced=tuple(rows))


def only(run: Evidence) -> Reading:
    (found,) = readings(run)
    return found


# --- an interval of means -------------------------------------------------------------------------------------------------


def test_the_interval_is_students_as_scipy_has_it() -> None:
    values = [0.1, 0.4, -0.2, 0.3, 0.9]
    found, known = mean_interval(values), scipy_stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (found.low, found.high) == (pytest.approx(known.low), pytest.approx(known.high))


def test_the_interval_is_students_by_his_table() -> None:
    """Ten values with mean 0 and standard deviation √(10/9): ± 2.262 × √(1/9)."""
    found = mean_interval([1.0, -1.0] * 5)
    assert (found.mean, found.high) == (0.0, pytest.approx(2.262 / 3, abs=1e-3))


def test_one_value_has_no_interval_and_none_no_mean() -> None:
    assert (mean_interval([0.5]).low, mean_interval([0.5]).high) == (None, None)
    with pytest.raises(ValueError, match="nothing has no mean"):
        mean_interval([])


# --- a reading ------------------------------------------------------------------------------------------------------------


def test_agreement_and_change_are_means_over_answers_of_means_over_tokens() -> None:
    """A long answer counts as much as a short one: its tokens are no independent observations."""
    run = told({BASELINE: [[-0.1, -0.1], [-0.1] * 4], CANDIDATE: [[-0.1, -0.9], [-0.1] * 4]})
    found = only(run)
    assert (found.tokens, found.figures.size.n) == (6, 2)
    assert found.figures.agreement.mean == pytest.approx((0.5 + 1.0) / 2)
    assert found.figures.change.mean == pytest.approx((-0.4 + 0.0) / 2)
    assert found.figures.size.mean == pytest.approx(0.2)
    assert (found.floor, found.beyond, found.is_beyond) == (None, None, False)


def test_a_token_that_ties_with_the_likeliest_agrees() -> None:
    assert only(told({BASELINE: [[BEST]], CANDIDATE: [[BEST]]})).figures.agreement.mean == 1.0


def test_changes_that_cancel_have_a_size_still() -> None:
    figures = only(told({BASELINE: [[-0.5, -0.5]], CANDIDATE: [[-0.4, -0.6]]})).figures
    assert (figures.change.mean, figures.size.mean) == (pytest.approx(0.0), pytest.approx(0.1))


BEFORE = [[-0.3] * 8 for _ in range(12)]


def shifted(by: float) -> list[list[float]]:
    """By a little more in one answer than in the next, as answers do."""
    return [[p - by * (1 + i / 20) for p in row] for i, row in enumerate(BEFORE)]


def test_what_a_restart_changes_as_much_is_not_beyond_it() -> None:
    found = only(told({BASELINE: BEFORE, CANDIDATE: shifted(0.01)}, again=shifted(0.01)))
    assert found.floor is not None
    assert found.floor.size.mean == found.figures.size.mean
    assert not found.is_beyond


def test_what_goes_beyond_a_restart_is_seen() -> None:
    found = only(told({BASELINE: BEFORE, CANDIDATE: shifted(0.1)}, again=shifted(0.01)))
    assert found.is_beyond
    assert found.beyond is not None
    assert found.beyond.mean == pytest.approx(found.figures.size.mean * 0.9)


def test_an_arm_that_finds_all_as_the_baseline_does_is_not_beyond_a_floor_of_nothing() -> None:
    found = only(told({BASELINE: BEFORE, CANDIDATE: BEFORE}, again=BEFORE))
    assert found.beyond is not None
    assert (found.is_beyond, found.beyond.low, found.figures.agreement.mean) == (False, 0.0, 1.0)


def test_buckets_are_of_positions_each_four_times_as_far() -> None:
    ours = [[-0.1] * 80, [-0.1] * 20]
    theirs = [[-0.1] * 16 + [-0.2] * 48 + [-0.4] * 16, [-0.1] * 20]
    found = only(told({BASELINE: ours, CANDIDATE: theirs}))
    assert [(b.first, b.tokens, b.figures.size.n) for b in found.buckets] == [(0, 32, 2), (16, 52, 2), (64, 16, 1)]
    assert [b.figures.change.mean for b in found.buckets] == [pytest.approx(x) for x in (0.0, -0.05, -0.3)]


def test_arms_are_ranked_by_the_size_of_their_change() -> None:
    run = told({BASELINE: BEFORE, "a": shifted(0.01), "b": shifted(0.5), "c": shifted(0.1)})
    assert [r.arm for r in readings(run)] == ["b", "c", "a"]


def test_answers_that_changed_sides_are_in_no_mean_for_the_baseline_was_not_asked_about_them_at_first() -> None:
    run = told({BASELINE: [[-0.1]] * 3, CANDIDATE: [[-0.1]] * 3})
    flip = forced(CANDIDATE, "s3", [-4.0])
    run = replace(run, forced=(*run.forced, flip, replace(flip, arm=BASELINE, launch=1)), samples={"gsm8k": samples(4)})
    assert (only(run).figures.size.n, only(run).figures.size.mean) == (3, 0.0)


def test_what_failed_is_in_no_mean() -> None:
    run = told({BASELINE: [[-0.1]] * 3, CANDIDATE: [[-0.1]] * 2})
    lost = replace(forced(CANDIDATE, "s2", []), failure=Failure(kind="http", message="HTTP 400: too long"))
    assert only(replace(run, forced=(*run.forced, lost))).figures.size.n == 2


# --- what is not measured -------------------------------------------------------------------------------------------------


def test_equal_prompts_or_equal_files_show_that_ids_mean_the_same() -> None:
    assert other_tokens({"a": "x"}, {"a": "x"}, [None, None]) is None
    assert other_tokens({"a": "x"}, {"a": "y"}, ["t", "t"]) is None
    assert other_tokens({"a": "x", "b": "x"}, {"a": "x", "b": "y"}, ["t", "u"]) == (
        "its prompts have other token ids, and nothing shows that its tokenizer is the baseline's"
    )
    assert "neither prompts' token ids nor tokenizer files can be compared" in str(other_tokens({}, {}, [None, "t"]))
    assert other_tokens({"a": None}, {"a": "x"}, ["t", None]) is not None


def asked(run: Evidence, **fields: Any) -> Evidence:
    """With token ids in every answer."""
    rows = tuple(
        replace(r, response=replace(r.response, prompt_ids=(1, 2), **fields)) if r.response else r for r in run.records
    )
    return replace(run, records=rows)


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (two_arms("ccc", "ccc"), "the baseline's engine told no token ids of prompts and answers"),
        (asked(two_arms("ccc", "ccc")), "no answer of the baseline was there to ask about"),
        (asked(two_arms("ccc", "ccc"), prompt_ids_sha=None),
         "nothing shows that its tokenizer is the baseline's: neither prompts' token ids nor tokenizer files can be compared"),
        (replace(two_arms("ccc", "ccc"), forced=(
            replace(forced(CANDIDATE, "s0", []), failure=Failure(kind="http", message="HTTP 400: no")),)), "HTTP 400: no"),
        (replace(two_arms("ccc", "ccc"), forced=(
            replace(forced(BASELINE, "s0", []), failure=Failure(kind="http", message="HTTP 400: no")),)),
         "the baseline's own server: HTTP 400: no"),
        (replace(two_arms("ccc", "ccc"), arms=tuple(ArmSpec(name=n, same_prompts=True, server="x") for n in ("v025", "v029"))),
         "it shares a server with an arm before it"),
    ],
)  # fmt: skip
def test_what_could_not_be_measured_has_a_reason_and_no_figure(run: Evidence, why: str) -> None:
    run = replace(run, sensors=True)
    assert readings(run) == ()
    assert unmeasured(run) == {CANDIDATE: why}
    (found,) = sensors.findings(run)
    assert (found.severity, found.kind, found.arm) == ("note", "sensor_unmeasured", CANDIDATE)
    assert f"**{CANDIDATE}** was not measured: {why}" in scorecard(run, judge(run))


def test_where_sensors_are_off_nothing_is_said_of_them() -> None:
    run = two_arms("ccc", "ccc")
    assert (list(sensors.findings(run)), rendered.section(run)) == ([], "")


# --- no decision ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("letters", ["c" * 200, "c" * 150 + "w" * 50, "c" * 199 + "w"])
def test_the_verdict_is_the_same_with_and_without_sensors(letters: str) -> None:
    """Also where an arm that loses nothing finds the baseline's words as good as impossible."""
    run = two_arms("c" * 200, letters)
    rows = [forced(BASELINE, f"s{i}", [-0.1] * 9) for i in range(36)]
    rows += [replace(r, launch=1) for r in rows] + [forced(CANDIDATE, f"s{i}", [-50.0] * 9) for i in range(36)]
    with_them = replace(run, sensors=True, forced=tuple(rows))
    (one, other) = judge(run), judge(with_them)
    assert only(with_them).is_beyond
    assert (one.overall, one.by_arm, one.gates, one.divergences) == (
        other.overall, other.by_arm, other.gates, other.divergences,
    )  # fmt: skip
    added = [f for f in other.findings if f not in one.findings]
    assert [(f.severity, f.kind) for f in added] == [("note", "sensor")]


def test_the_card_and_the_document_have_the_figures() -> None:
    run = told({BASELINE: BEFORE, CANDIDATE: shifted(0.1)}, again=BEFORE)
    card, document = scorecard(run, judge(run)), verdict_json(run, judge(run))
    assert f"| {CANDIDATE} | gsm8k | 12 (96) | 100.0 | 100.0 | −0.128 [" in card
    assert "| **yes**, 0.128 [" in card
    assert '"is_beyond": true' in document


def test_a_figure_of_nothing_is_written_without_a_sign_and_one_of_little_is_not_nothing() -> None:
    told = {-0.0: "0", -0.0004: "−0.0004", 0.00123: "0.001", 3e-7: "3e−07", -0.12: "−0.120"}
    assert {nats: rendered._signed(nats) for nats in told} == told


def test_the_sentence_says_what_is_not_known() -> None:
    assert sensors.sentence(only(told({BASELINE: BEFORE, CANDIDATE: BEFORE}))).endswith("what a restart changes is not known")
