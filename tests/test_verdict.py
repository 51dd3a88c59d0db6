from dataclasses import replace

import pytest
from evidence import BASELINE, CANDIDATE, change, evidence, launch_failure, margin, passes, samples, two_arms

from evals.judged import ArmSpec, Evidence, GateResult, GateSpec, TaskSpec, VerdictName
from evals.report import known
from evals.stats import excluded_drop, samples_for_margin
from evals.verdict import judge


def only_gate(run: Evidence) -> GateResult:
    (result,) = judge(run).gates
    return result


def in_chance(run: Evidence, chance: float) -> Evidence:
    return replace(run, tasks=tuple(replace(task, chance=chance) for task in run.tasks))


EQUAL = two_arms("c" * 180 + "w" * 20, "c" * 180 + "w" * 20)
WORSE = two_arms("c" * 180 + "w" * 20, "c" * 150 + "w" * 50)
UNCLEAR = two_arms("c" * 180 + "w" * 20, "c" * 172 + "w" * 20 + "c" * 8)


def test_equal_arms_with_enough_samples_pass() -> None:
    verdict = judge(EQUAL)
    assert (verdict.overall, verdict.by_arm) == ("PASS", {CANDIDATE: "PASS"})
    assert verdict.gates[0].reason == "a drop of 1.3 is excluded with 200 samples (margin 2)"


def test_equal_arms_with_too_few_samples_are_inconclusive_and_told_how_many_would_do() -> None:
    result = only_gate(margin(two_arms("c" * 50, "c" * 50), 2.0))
    assert result.verdict == "INCONCLUSIVE"
    assert result.knowable is not None
    n_needed = result.knowable.n_needed
    assert n_needed == samples_for_margin(2.0, 0.01)
    assert excluded_drop(n_needed, 0.01) < 2.0
    assert result.reason == (
        f"a drop of up to 5.1 points cannot be excluded with 50 samples (margin 2); "
        f"with about {n_needed} a PASS is likely (80 %) if nothing changed"
    )


def of_size(run: Evidence, size: int) -> Evidence:
    return replace(run, tasks=tuple(replace(task, size=size) for task in run.tasks))


def test_more_samples_than_there_are_would_settle_nothing() -> None:
    told = only_gate(of_size(two_arms("c" * 50, "c" * 50), 50))
    assert told.reason == (
        "a drop of up to 5.1 points cannot be excluded with 50 samples (margin 2); all 50 samples that there are would not "
        "make a PASS likely (80 %): set more `rounds:`, or take a wider margin"
    )
    assert "a PASS is likely (80 %) if nothing changed" in only_gate(of_size(two_arms("c" * 50, "c" * 50), 1319)).reason
    dropped = margin(two_arms("c" * 50, "c" * 44 + "w" * 6), 15.0)
    assert "if it stays as it is, about" in only_gate(dropped).reason
    assert "all 50 samples that there are would hardly tell: set more `rounds:`" in only_gate(of_size(dropped, 50)).reason


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        ("c" * 400, "no answer flipped, 1.0 % assumed; with 400"),
        ("w" + "c" * 399, "0.2 % of the answers flipped, 1.0 % assumed; with 400"),
        ("w" * 20 + "c" * 380, "5.0 % of the answers flip; with 400"),
    ],
)
def test_what_was_seen_and_what_was_assumed_are_told_apart(candidate: str, said: str) -> None:
    run = two_arms("c" * 400, candidate)
    assert said in known.section(run, judge(run))


def test_the_samples_needed_follow_from_the_discordance_seen() -> None:
    result = only_gate(UNCLEAR)
    assert result.verdict == "INCONCLUSIVE"
    assert result.knowable is not None
    assert result.knowable.n_needed == samples_for_margin(2.0, 16 / 200)


def test_a_drop_that_more_samples_would_not_settle_is_not_answered_with_more_samples() -> None:
    result = only_gate(two_arms("c" * 500 + "w" * 100, "c" * 488 + "w" * 12 + "c" * 6 + "w" * 94))
    assert result.verdict == "INCONCLUSIVE"
    assert result.reason == (
        "a drop of up to 2.3 points cannot be excluded with 600 samples (margin 2); "
        "1.0 were seen, enough to leave it open but not to call it real"
    )


def test_a_real_drop_beyond_the_margin_is_a_regression() -> None:
    verdict = judge(WORSE)
    assert verdict.overall == "REGRESSION"
    assert "a drop of 15.0 points" in verdict.gates[0].reason
    assert "30 newly wrong, 0 newly right (p < 0.001; margin 2)" in verdict.gates[0].reason


def test_a_real_drop_within_the_margin_passes_and_says_so() -> None:
    run = two_arms("c" * 1319, "c" * 1308 + "w" * 11)
    result = only_gate(run)
    assert result.delta is not None
    assert result.delta.drop_is_real
    assert result.verdict == "PASS"
    assert result.reason.startswith("a real drop of 0.8 points, but below the margin 2: a drop of 1.4 is excluded")


def test_a_drop_that_is_not_real_is_no_regression_however_wide_the_interval() -> None:
    assert only_gate(two_arms("c" * 50, "c" * 48 + "ww")).verdict == "INCONCLUSIVE"


def test_alpha_is_shared_by_gates_and_candidates() -> None:
    baseline, worse = "c" * 100, "c" * 95 + "w" * 5
    assert judge(evidence(baseline, {"a": worse})).overall == "REGRESSION"
    many = judge(evidence(baseline, {"a": worse, "b": baseline, "c": baseline, "d": baseline}))
    assert many.by_arm["a"] == "INCONCLUSIVE"


def test_with_rounds_a_drop_in_every_round_is_a_regression() -> None:
    result = only_gate(two_arms(("c" * 200,) * 2, ("c" * 180 + "w" * 20,) * 2))
    assert result.verdict == "REGRESSION"
    assert "the interval excludes 0" in result.reason


def test_a_healthy_baseline_and_a_truncating_candidate_is_a_regression_and_not_invalid() -> None:
    assert judge(two_arms("c" * 180 + "w" * 20, "t" * 200)).overall == "REGRESSION"


def test_a_silent_candidate_that_answered_nothing_right_is_a_regression() -> None:
    assert judge(two_arms("c" * 40 + "w" * 10, "m" * 50)).overall == "REGRESSION"


def test_truncations_in_the_candidate_only_keep_a_flat_run_from_passing() -> None:
    same = "c" * (1319 - 80 - 26)
    baseline = same + "c" * 40 + "w" * 40 + "c" * 26
    truncating = only_gate(two_arms(baseline, same + "w" * 40 + "c" * 40 + "t" * 26))
    assert truncating.delta is not None
    assert truncating.delta.excluded_drop == pytest.approx(3.28, abs=0.006)
    assert truncating.verdict != "PASS"
    unmeasured = only_gate(two_arms(baseline, same + "w" * 40 + "c" * 40 + "e" * 26))
    assert unmeasured.verdict == "INVALID"
    assert unmeasured.reason == (
        "errors decide: 26 of 1319 samples could not be measured; without them a drop of 1.2 is excluded, "
        "with them counted against the candidate only 3.3 (margin 2)"
    )


def test_errors_too_few_to_decide_pass_and_are_named() -> None:
    result = only_gate(two_arms("c" * 1319, "c" * 1316 + "eee"))
    assert result.verdict == "PASS"
    assert "3 not measured and counted against the candidate" in result.reason


def test_a_baseline_that_could_not_be_measured_is_counted_against_the_candidate_too() -> None:
    assert only_gate(two_arms("c" * 1293 + "e" * 26, "c" * 1293 + "w" * 26)).verdict == "INVALID"


def test_fewer_than_half_measured_is_too_many_errors() -> None:
    result = only_gate(two_arms("c" * 1000, "c" * 499 + "e" * 501))
    assert (result.verdict, result.reason) == (
        "INVALID",
        "errors: 501 of 1000 samples could not be measured on both arms, too many to decide",
    )


def test_a_candidate_that_never_started_is_invalid_with_the_engines_words() -> None:
    run = replace(two_arms("c" * 50, "-" * 50), failures={CANDIDATE: (launch_failure("unknown argument --swap-space"),)})
    result = only_gate(run)
    assert (result.verdict, result.delta, result.knowable) == ("INVALID", None, None)
    assert result.reason == "the candidate's server never answered: unknown argument --swap-space"


def test_a_baseline_that_never_started_is_invalid_with_the_engines_words() -> None:
    run = replace(two_arms("-" * 50, "w" * 50), failures={BASELINE: (launch_failure("CUDA out of memory"),)})
    assert only_gate(run).reason == "the baseline's server never answered: CUDA out of memory"
    assert judge(run).overall == "INVALID"


@pytest.mark.parametrize("letter", ["e", "u", "-"])
def test_nothing_passes_when_everything_failed(letter: str) -> None:
    for run in (two_arms(letter * 50, letter * 50), two_arms("c" * 50, letter * 50), two_arms(letter * 50, "c" * 50)):
        assert judge(margin(run, 50.0)).overall == "INVALID"


def test_requests_that_all_failed_are_quoted() -> None:
    assert only_gate(two_arms("c" * 50, "e" * 50)).reason == (
        "the candidate could not be measured: 0 of 50 requests (50 timeout); the first: no answer in 60 s"
    )


def test_prompts_that_differ_where_they_should_not_are_invalid_even_when_the_scores_are_equal() -> None:
    result = only_gate(change(EQUAL, CANDIDATE, {"s3", "s17"}, prompt_ids_sha="other"))
    assert result.verdict == "INVALID"
    assert "the rendered prompts differ in 2 of 200 samples, first s3" in result.reason


def test_prompts_that_differ_where_they_should_not_come_before_a_regression() -> None:
    assert judge(change(WORSE, CANDIDATE, {"s3"}, prompt_ids_sha="other")).overall == "INVALID"


def test_prompts_that_were_meant_to_differ_are_judged() -> None:
    run = change(WORSE, CANDIDATE, {f"s{i}" for i in range(200)}, prompt_ids_sha="other")
    run = replace(run, arms=(run.arms[0], ArmSpec(name=CANDIDATE, same_prompts=False)))
    assert judge(run).overall == "REGRESSION"


def test_an_engine_that_tells_no_prompt_ids_is_judged() -> None:
    run = change(EQUAL, CANDIDATE, {f"s{i}" for i in range(200)}, prompt_ids_sha=None)
    assert judge(run).overall == "PASS"


def test_a_baseline_at_the_floor_is_invalid() -> None:
    result = only_gate(two_arms("c" + "w" * 199, "w" * 200))
    assert result.verdict == "INVALID"
    assert "the baseline is at the floor: 1/200 correct (0.5 %" in result.reason
    assert "use an easier task or a stronger model" in result.reason


def test_a_baseline_at_chance_level_is_invalid() -> None:
    run = in_chance(two_arms("c" * 52 + "w" * 148, "c" * 52 + "w" * 148), 25.0)
    assert "at chance level (25 %): 52/200 correct (26.0 %" in only_gate(run).reason
    assert only_gate(in_chance(run, 0.0)).verdict == "PASS"


def test_a_baseline_that_mostly_truncates_is_invalid_and_told_what_to_raise() -> None:
    result = only_gate(two_arms("c" * 60 + "t" * 130 + "m" * 10, "c" * 200))
    assert result.verdict == "INVALID"
    assert result.reason == (
        "the baseline mostly gives no answer: 140/200 (130 truncated, 10 empty); raise max_tokens from 3 to 16 or more"
    )


def test_a_baseline_that_only_truncates_is_told_so_and_not_to_take_an_easier_task() -> None:
    assert "raise max_tokens" in only_gate(two_arms("t" * 200, "t" * 200)).reason


def test_an_unfinished_run_cannot_pass() -> None:
    verdict = judge(replace(EQUAL, finished=False))
    assert (verdict.overall, verdict.gates[0].verdict) == ("INCONCLUSIVE", "INCONCLUSIVE")
    assert verdict.gates[0].reason.startswith("the run is not finished; so far a drop of 1.3 is excluded")


def test_a_look_at_an_unfinished_run_decides_nothing() -> None:
    assert judge(replace(WORSE, finished=False)).overall == "INCONCLUSIVE"


def test_samples_that_were_not_reached_are_errors_and_do_not_pass() -> None:
    assert only_gate(replace(two_arms("c" * 1319, "c" * 1200 + "-" * 119), finished=False)).verdict == "INVALID"


@pytest.mark.parametrize(
    "run",
    [evidence("c" * 200, {}), replace(EQUAL, gates=()), replace(EQUAL, gates=(GateSpec(task="unheard", margin=50.0),))],
    ids=["no candidate", "no gate", "a gate on no task"],
)
def test_nothing_to_judge_is_never_a_pass(run: Evidence) -> None:
    verdict = judge(run)
    assert verdict.overall == "INVALID"
    assert "PASS" not in verdict.by_arm.values()


def test_no_candidate_and_no_gate_are_found() -> None:
    texts = [f.text for f in judge(replace(evidence("cc", {}), gates=())).findings if f.kind == "nothing_to_judge"]
    assert texts == ["no candidate arm: name one beside the baseline", "no gate: 0 tasks can decide anything"]


def test_a_task_without_planned_samples_is_never_a_pass() -> None:
    assert judge(replace(EQUAL, samples={})).overall == "INVALID"


def test_a_task_that_marks_nothing_cannot_gate() -> None:
    greedy = TaskSpec(name="greedy", rounds=1, chance=0.0, marked=False)
    records = passes(BASELINE, ("c" * 9,), task="greedy") + passes(CANDIDATE, ("c" * 9,), task="greedy")
    gates = (GateSpec(task="greedy", margin=99.0),)
    run = replace(EQUAL, tasks=(greedy,), samples={"greedy": samples(9)}, records=records, gates=gates)
    assert judge(run).overall == "INVALID"


def _two_tasks(gsm8k: Evidence, mmlu: Evidence) -> Evidence:
    return replace(
        gsm8k,
        tasks=(*gsm8k.tasks, TaskSpec(name="mmlu", rounds=1, chance=25.0, marked=True)),
        gates=(*gsm8k.gates, GateSpec(task="mmlu", margin=2.0)),
        samples={**gsm8k.samples, "mmlu": mmlu.samples["gsm8k"]},
        records=gsm8k.records + tuple(replace(row, task="mmlu") for row in mmlu.records),
    )


INVALID = two_arms("c" * 200, "e" * 200)


@pytest.mark.parametrize(
    ("gsm8k", "mmlu", "overall"),
    [
        (EQUAL, EQUAL, "PASS"),
        (EQUAL, UNCLEAR, "INCONCLUSIVE"),
        (UNCLEAR, INVALID, "INVALID"),
        (WORSE, INVALID, "REGRESSION"),
        (INVALID, WORSE, "REGRESSION"),
    ],
)
def test_the_gravest_gate_decides(gsm8k: Evidence, mmlu: Evidence, overall: VerdictName) -> None:
    assert judge(_two_tasks(gsm8k, mmlu)).overall == overall


def test_the_gravest_candidate_decides_and_each_keeps_its_own_verdict() -> None:
    verdict = judge(evidence("c" * 200, {"a": "c" * 200, "b": "e" * 200, "c": "w" * 200}))
    assert verdict.by_arm == {"a": "PASS", "b": "INVALID", "c": "REGRESSION"}
    assert verdict.overall == "REGRESSION"
    assert [result.arm for result in verdict.gates] == ["a", "b", "c"]


def test_a_repeat_of_the_baseline_passes_with_some_noise() -> None:
    baseline = "c" * 1200 + "w" * 119
    repeat = "c" * 1190 + "w" * 10 + "c" * 10 + "w" * 109
    assert judge(two_arms(baseline, repeat)).overall == "PASS"


def test_judging_twice_gives_the_same() -> None:
    assert judge(WORSE) == judge(WORSE)


def test_errors_on_the_baselines_hard_questions_make_no_regression() -> None:
    """An equal candidate: the baseline timed out where it would have been wrong, so that noise can flip one way only."""
    candidate = "c" * 10 + "w" * 30 + "w" * 8 + "c" * 152
    result = only_gate(margin(two_arms("e" * 40 + "c" * 160, candidate), 5))
    assert result.verdict == "INVALID"
    assert "errors decide" in result.reason
    assert only_gate(margin(two_arms("w" * 40 + "c" * 160, candidate), 5)).verdict == "PASS"


def test_a_regression_that_no_error_can_explain_stays_one() -> None:
    assert only_gate(two_arms("c" * 190 + "e" * 10, "w" * 60 + "c" * 140)).verdict == "REGRESSION"
    assert only_gate(two_arms("c" * 200, "w" * 60 + "e" * 10 + "c" * 130)).verdict == "REGRESSION"


def test_an_arm_that_was_more_than_one_configuration_is_invalid() -> None:
    run = two_arms("c" * 180 + "w" * 20, "c" * 180 + "w" * 20)
    one = change(run, CANDIDATE, {f"s{i}" for i in range(200)}, fingerprint="vllm-a")
    assert only_gate(one).verdict != "INVALID"
    two = change(one, CANDIDATE, {f"s{i}" for i in range(90)}, fingerprint="vllm-b")
    assert only_gate(two).verdict == "INVALID"
    assert "2 fingerprints (vllm-a, vllm-b)" in only_gate(two).reason


def test_a_baseline_that_falls_silent_in_its_second_round_is_invalid() -> None:
    result = only_gate(two_arms(("c" * 200, "t" * 200), ("c" * 200, "t" * 200)))
    assert result.verdict == "INVALID"
    assert "no answer" in result.reason


@pytest.mark.parametrize("flips", [0, 10, 40])
def test_a_candidate_that_truncates_two_percent_more_at_1319_is_not_pass(flips: int) -> None:
    same = "c" * (1319 - 26 - 2 * flips)
    baseline, candidate = same + "c" * flips + "w" * flips + "c" * 26, same + "w" * flips + "c" * flips + "t" * 26
    assert judge(two_arms(baseline, candidate)).overall in ("REGRESSION", "INCONCLUSIVE")


def test_a_regression_that_may_be_within_the_margin_names_the_samples_that_would_settle_it() -> None:
    result = only_gate(two_arms("c" * 1000, "w" * 19 + "c" * 981))
    assert (result.verdict, result.delta and round(result.delta.diff, 1)) == ("REGRESSION", -1.9)
    n = samples_for_margin(2.0, 0.019, 1.9)
    assert result.reason.endswith(
        f"it may be within the margin: if it stays as it is, about {n} samples make a PASS likely (80 %)"
    )
    assert "within the margin" not in only_gate(WORSE).reason


def test_a_gate_that_names_its_arms_shares_alpha_with_no_others() -> None:
    """Five of a hundred lost: p = 0.016, real at 5 % and not at a quarter of it."""
    baseline, worse = "c" * 100, "c" * 95 + "w" * 5
    run = evidence(baseline, {"a": worse, "b": baseline, "c": worse, "d": baseline})
    only = replace(run, gates=(GateSpec(task="gsm8k", margin=2.0, arms=("a",)),))
    assert judge(run).by_arm["a"] == "INCONCLUSIVE"
    assert judge(only).by_arm == {"a": "REGRESSION"}


def test_an_arm_that_no_gate_judges_neither_fails_a_run_nor_passes_it() -> None:
    run = replace(
        evidence("c" * 200, {"a": "c" * 200, "b": "w" * 200}), gates=(GateSpec(task="gsm8k", margin=2.0, arms=("a",)),)
    )
    verdict = judge(run)
    assert (verdict.overall, verdict.by_arm) == ("PASS", {"a": "PASS"})
    assert [(f.arm, f.severity) for f in verdict.findings if f.kind == "not_judged"] == [("b", "note")]


def test_how_likely_a_pass_was_is_told_and_shrinks_with_the_gates() -> None:
    one = judge(two_arms("c" * 1400, "c" * 1400)).passes_if_equal
    two = judge(evidence("c" * 1400, {"a": "c" * 1400, "b": "c" * 1400})).passes_if_equal
    assert one is not None
    assert two is not None
    assert 0.95 < two < one <= 1
    assert judge(INVALID).passes_if_equal is None
