from dataclasses import replace

import pytest
from evidence import BASELINE, CANDIDATE, change, evidence, launch_failure, passes, record, samples, two_arms

from evals.judged import ArmSpec, Evidence, Finding, TaskSpec
from evals.records import Marks, ServerInfo, Window
from evals.verdict import judge


def of_kind(run: Evidence, kind: str) -> list[Finding]:
    return [finding for finding in judge(run).findings if finding.kind == kind]


def other_prompts_meant(run: Evidence) -> Evidence:
    return replace(run, arms=(run.arms[0], ArmSpec(name=CANDIDATE, same_prompts=False)))


def with_greedy(run: Evidence, candidate: tuple[int, ...], launches: int = 2) -> Evidence:
    task = TaskSpec(name="greedy", rounds=1, chance=0.0, marked=False)
    baseline = passes(BASELINE, ("u" * 6,) * launches, task="greedy")
    theirs = passes(CANDIDATE, ("u" * 6,), task="greedy", token_ids=candidate)
    planned = {**run.samples, "greedy": samples(6)}
    return replace(run, tasks=(*run.tasks, task), samples=planned, records=run.records + baseline + theirs)


def rescored(
    run: Evidence, arm: str, ids: set[str], *, warnings: tuple[str, ...] = (), harness: tuple[Marks, ...] = ()
) -> Evidence:
    return replace(
        run,
        records=tuple(
            replace(row, score=replace(row.score, warnings=warnings, harness=harness))
            if row.arm == arm and row.sample_id in ids and row.score
            else row
            for row in run.records
        ),
    )


FLAT = two_arms("c" * 180 + "w" * 20, "c" * 180 + "w" * 20)
ALL = {f"s{i}" for i in range(200)}


def test_a_flat_healthy_run_has_nothing_to_report() -> None:
    assert judge(FLAT).findings == ()


def test_a_failed_launch_is_an_alarm_on_any_arm_with_its_stage_and_reason() -> None:
    failures = {BASELINE: (launch_failure("killed", "run"),), CANDIDATE: (launch_failure("CUDA out of memory"),)}
    found = of_kind(replace(FLAT, failures=failures), "arm_failed")
    assert [(f.severity, f.arm, f.text) for f in found] == [
        ("alarm", BASELINE, "launch 1 failed at run: killed"),
        ("alarm", CANDIDATE, "launch 1 failed at start: CUDA out of memory"),
    ]


def test_alarms_come_before_warnings_and_notes() -> None:
    run = replace(
        with_greedy(two_arms("c" * 200, "c" * 190 + "e" * 10), (1, 2, 3)), failures={CANDIDATE: (launch_failure("x"),)}
    )
    assert [finding.severity for finding in judge(run).findings] == ["alarm", "warning", "note"]


def test_greedy_beyond_the_noise_floor_is_a_warning_and_does_not_decide() -> None:
    verdict = judge(with_greedy(FLAT, (1, 9, 3)))
    assert [(f.severity, f.kind) for f in verdict.findings] == [("warning", "greedy_excess")]
    assert "differs in 6/6; the baseline differs from itself in 0/6" in verdict.findings[0].text
    assert [divergence.arm for divergence in verdict.divergences] == [CANDIDATE]
    assert verdict.overall == "PASS"


def test_greedy_outputs_of_prompts_that_were_meant_to_differ_are_a_note() -> None:
    """Another thinking effort has other answers."""
    run = with_greedy(FLAT, (1, 9, 3))
    arms = tuple(replace(arm, same_prompts=arm.name == BASELINE) for arm in run.arms)
    assert [(f.severity, f.kind) for f in judge(replace(run, arms=arms)).findings] == [("note", "greedy_excess")]


def test_greedy_within_the_noise_floor_is_a_note() -> None:
    (found,) = of_kind(with_greedy(FLAT, (1, 2, 3)), "greedy_no_excess")
    assert (found.severity, found.arm) == ("note", CANDIDATE)


def test_greedy_without_a_second_launch_is_said_to_be_unknown() -> None:
    run = with_greedy(FLAT, (1, 9, 3), launches=1)
    assert [f.severity for f in of_kind(run, "greedy_unmeasured")] == ["note"]
    assert judge(run).divergences == ()


def test_an_arm_at_the_floor_is_an_alarm() -> None:
    (found,) = of_kind(two_arms("c" * 180 + "w" * 20, "c" + "w" * 199), "floor")
    assert (found.severity, found.arm, found.text) == ("alarm", CANDIDATE, "at the floor: 1/200 correct (0.5 %)")


def test_an_arm_at_chance_level_is_an_alarm() -> None:
    run = two_arms("c" * 180 + "w" * 20, "c" * 52 + "w" * 148)
    run = replace(run, tasks=(replace(run.tasks[0], chance=25.0),))
    assert [f.text for f in of_kind(run, "floor")] == ["at chance level (25 %): 52/200 correct (26.0 %)"]


def test_a_gain_that_is_too_good_is_a_warning() -> None:
    (found,) = of_kind(two_arms("c" * 150 + "w" * 50, "c" * 170 + "w" * 30), "gain_too_good")
    assert found.severity == "warning"
    assert found.text.startswith("better by 10.0 points with 200 samples (20 newly right, 0 newly wrong, p < 0.001)")


def test_a_small_gain_is_no_finding() -> None:
    assert of_kind(two_arms("c" * 150 + "w" * 50, "c" * 154 + "w" * 46), "gain_too_good") == []


def test_a_gain_where_prompts_were_meant_to_differ_is_a_note() -> None:
    run = other_prompts_meant(two_arms("c" * 150 + "w" * 50, "c" * 170 + "w" * 30))
    assert [f.severity for f in of_kind(run, "gain_too_good")] == ["note"]


def test_a_shift_in_unanswered_samples_is_a_warning_with_its_reasons() -> None:
    (found,) = of_kind(two_arms("c" * 199 + "t", "c" * 174 + "t" * 20 + "m" * 6), "no_answer_shift")
    assert found.text == "no answer in 26 of 200 (20 truncated, 6 empty), in the baseline in 1 (1 truncated); p < 0.001"


def test_fewer_unanswered_samples_are_a_shift_too() -> None:
    assert len(of_kind(two_arms("c" * 180 + "t" * 20, "c" * 180 + "w" * 20), "no_answer_shift")) == 1


def test_a_few_unanswered_samples_or_errors_are_no_shift() -> None:
    assert of_kind(two_arms("c" * 200, "c" * 195 + "t" * 5), "no_answer_shift") == []
    assert of_kind(two_arms("c" * 200, "c" * 150 + "e" * 50), "no_answer_shift") == []


def test_errors_are_counted_by_kind() -> None:
    (found,) = of_kind(two_arms("c" * 200, "c" * 190 + "e" * 5 + "u" * 3 + "--"), "errors")
    assert (found.severity, found.arm, found.task) == ("warning", CANDIDATE, "gsm8k")
    assert found.text == (
        "10 of 200 could not be measured: 5 timeout failures, 3 without a score, 2 without a record; "
        "in the baseline in 0 of 198 samples (p = 0.008); the first: no answer in 60 s"
    )


def test_as_many_errors_as_in_the_baseline_are_no_difference() -> None:
    run = two_arms("c" * 190 + "e" * 10, "c" * 190 + "e" * 10)
    assert {f.text.partition(";")[2] for f in of_kind(run, "errors")} == {" the first: no answer in 60 s"}


def test_answers_that_were_not_asked_yet_are_no_difference() -> None:
    (found,) = of_kind(replace(two_arms("c" * 200, "c" * 100 + "-" * 100), finished=False), "errors")
    assert found.text == "100 of 200 could not be measured: 100 without a record"


def test_an_arm_that_never_started_is_not_also_listed_as_errors() -> None:
    run = replace(two_arms("c" * 200, "-" * 200), failures={CANDIDATE: (launch_failure("x"),)})
    assert of_kind(run, "errors") == []
    assert len(of_kind(replace(run, failures={}), "errors")) == 1


def test_artefacts_seen_by_the_scorer_are_counted() -> None:
    (found,) = of_kind(rescored(FLAT, CANDIDATE, {"s0", "s4"}, warnings=("think_tag_in_content",)), "score_warning")
    assert (found.severity, found.arm, found.text) == ("warning", CANDIDATE, "think_tag_in_content in 2 of 200 responses")


def test_artefacts_that_only_the_candidate_has_are_tested_against_the_baseline() -> None:
    leaks = {f"s{i}" for i in range(30)}
    (found,) = of_kind(rescored(FLAT, CANDIDATE, leaks, warnings=("think_tag_in_content",)), "score_warning")
    assert found.text == "think_tag_in_content in 30 of 200 responses; in the baseline in 0 of 200 samples (p < 0.001)"
    both = rescored(rescored(FLAT, CANDIDATE, leaks, warnings=("x",)), BASELINE, leaks, warnings=("x",))
    assert [f.text for f in of_kind(both, "score_warning")] == ["x in 30 of 200 responses"] * 2


def test_rounds_of_one_sample_count_as_one() -> None:
    """Three rounds of ten samples are no thirty samples."""
    rounds = ("c" * 190 + "t" * 10,) * 3
    (found,) = of_kind(two_arms(("c" * 200,) * 3, rounds), "no_answer_shift")
    assert found.text == "no answer in 10 of 200 (30 truncated), in the baseline in 0 (none); p = 0.002"
    assert of_kind(two_arms(("c" * 200,) * 3, ("c" * 197 + "ttt",) * 3), "no_answer_shift") == []


def test_prompts_that_differ_are_an_alarm_unless_they_were_meant_to() -> None:
    run = change(FLAT, CANDIDATE, {"s3", "s9"}, prompt_ids_sha="other")
    (found,) = of_kind(run, "prompts_differ")
    assert (found.severity, "2 of 200 samples" in found.text, "first s3" in found.text) == ("alarm", True, True)
    assert [f.severity for f in of_kind(other_prompts_meant(run), "prompts_differ")] == ["note"]


def test_prompts_whose_ids_an_engine_does_not_tell_are_said_to_be_unchecked() -> None:
    (found,) = of_kind(change(FLAT, CANDIDATE, ALL, prompt_ids_sha=None), "prompts_unchecked")
    assert (found.severity, "in 200 of 200 samples" in found.text) == ("warning", True)


def test_an_arm_with_two_fingerprints_was_not_one_configuration() -> None:
    run = change(change(FLAT, CANDIDATE, ALL, fingerprint="vllm-0.29.0-aa"), CANDIDATE, {"s1"}, fingerprint="vllm-0.28.0-bb")
    (found,) = of_kind(change(run, BASELINE, ALL, fingerprint="vllm-0.25.0-cc"), "fingerprint_changed")
    assert (found.severity, found.arm) == ("warning", CANDIDATE)
    assert "2 fingerprints in 200 responses" in found.text
    assert "199 vllm-0.29.0-aa, 1 vllm-0.28.0-bb" in found.text


def test_answers_that_grow_are_a_length_shift() -> None:
    run = change(FLAT, CANDIDATE, ALL, completion_tokens=9)
    (found,) = of_kind(run, "length_shift")
    assert found.severity == "warning"
    assert found.text == (
        "answers are, in tokens, 3.00 times as long as the baseline's (median of 200 samples, 99 % interval 3.00 to 3.00)"
    )
    assert [f.severity for f in of_kind(other_prompts_meant(run), "length_shift")] == ["note"]


def test_answers_that_shrink_are_a_length_shift() -> None:
    assert "0.33 times" in of_kind(change(FLAT, CANDIDATE, ALL, completion_tokens=1), "length_shift")[0].text


def test_one_long_answer_or_a_slight_growth_is_no_length_shift() -> None:
    assert of_kind(change(FLAT, CANDIDATE, {"s0"}, completion_tokens=5000), "length_shift") == []
    longer = change(change(FLAT, BASELINE, ALL, completion_tokens=100), CANDIDATE, ALL, completion_tokens=110)
    assert of_kind(longer, "length_shift") == []


def test_lengths_an_engine_did_not_tell_are_no_length_shift() -> None:
    assert of_kind(change(FLAT, BASELINE, ALL, completion_tokens=None), "length_shift") == []


def test_findings_name_every_candidate_of_its_own() -> None:
    run = evidence("c" * 180 + "w" * 20, {"a": "w" * 200, "b": "c" * 180 + "w" * 20})
    assert {finding.arm for finding in judge(run).findings} == {"a"}


def spoken(argv: tuple[str, ...], drafts: int | None) -> Evidence:
    server = ServerInfo(launch=0, engine="venv", version="1", fingerprint=None, model="m", argv=argv, env={}, ready_s=1.0)
    window = Window(
        arm=CANDIDATE, task="gsm8k", round=0, wall_s=1.0, samples=20, generation_tokens=9, prompt_tokens=9,
        prefix_cache_queries=0, prefix_cache_hits=0, drafts=drafts, draft_tokens=drafts, accepted_tokens=drafts,
        accepted_per_position=(), cold=True,
    )  # fmt: skip
    return replace(FLAT, servers={CANDIDATE: (server,)}, windows=(window,))


def test_speculation_that_was_asked_for_and_never_drafted_is_an_alarm() -> None:
    on = ("vllm", "serve", "m", "--speculative-config", "{}")
    (found,) = of_kind(spoken(on, None), "speculation_off")
    assert (found.severity, found.arm) == ("alarm", CANDIDATE)
    assert of_kind(spoken(on, 0), "speculation_off")
    assert not of_kind(spoken(on, 7), "speculation_off")
    assert not of_kind(spoken(("vllm", "serve", "m"), None), "speculation_off")


def test_drafts_are_missed_only_in_samples_that_were_answered() -> None:
    run = spoken(("vllm", "serve", "m", "--speculative-config", "{}"), None)
    failed = tuple(record(CANDIDATE, f"s{i}", "e") for i in range(4))
    assert not of_kind(replace(run, records=failed), "speculation_off")
    (found,) = of_kind(replace(run, records=(*failed, record(CANDIDATE, "s5"))), "speculation_off")
    assert "over 1 samples" in found.text


def attested(launch: int = 0, **over: str) -> ServerInfo:
    told = {"version": "0.29.0", "image_id": "i", "weights_sha": "w", "tokenizer_sha": "t"} | over
    return ServerInfo(launch=launch, engine="e", fingerprint=None, model="m", argv=(), env={}, ready_s=0.0, **told)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", ["version", "image_id", "weights_sha", "tokenizer_sha"])
def test_an_arm_whose_starts_differ_is_an_alarm_and_judges_nothing(what: str) -> None:
    """Somebody changed the model's files, or the environment, under the run."""
    changed = replace(FLAT, starts={BASELINE: (attested(), attested(1, **{what: "other"})), CANDIDATE: (attested(),)})
    assert [(f.severity, f.arm) for f in of_kind(changed, "launches_differ")] == [("alarm", BASELINE)]
    assert judge(changed).overall == "INVALID"
    assert "the baseline was not one configuration: its starts had 2" in judge(changed).gates[0].reason


def test_another_tokenizer_is_said_where_prompts_were_meant_to_be_equal() -> None:
    run = replace(FLAT, servers={BASELINE: (attested(),), CANDIDATE: (attested(tokenizer_sha="u"),)})
    assert [f.severity for f in of_kind(run, "tokenizer_differs")] == ["note"]
    assert of_kind(other_prompts_meant(run), "tokenizer_differs") == []
    assert of_kind(replace(run, servers={BASELINE: (attested(),), CANDIDATE: (attested(),)}), "tokenizer_differs") == []


def test_two_urls_that_look_like_one_server_are_said() -> None:
    def info(url: str, fingerprint: str | None = "vllm-0.29.0-aa") -> ServerInfo:
        return ServerInfo(
            launch=0, engine=url, version="0.29.0", fingerprint=fingerprint, model="m", argv=(), env={}, ready_s=0.0
        )

    def seen(baseline: ServerInfo, candidate: ServerInfo) -> list[str]:
        run = replace(FLAT, servers={BASELINE: (baseline,), CANDIDATE: (candidate,)})
        return [f.severity for f in of_kind(run, "same_server")]

    assert seen(info("url http://a"), info("url http://b")) == ["warning"]
    assert seen(info("url http://a"), info("url http://b", "vllm-0.29.0-bb")) == []
    assert seen(info("url http://a", None), info("url http://b", None)) == []
    assert seen(info("url http://a"), info("url http://a")) == []  # meant: they differ in their requests
    assert seen(info("venv vllm==1"), info("venv vllm==1")) == []


@pytest.mark.parametrize(
    ("declared", "told", "other"),
    [
        ("0.29.0", "0.29.0", False),
        ("0.29.0", "0.29.0+cpu", False),
        ("0.29.0", "0.27.1", True),
        ("0.29.0", "0.29.1.dev3+gab", True),
        ("0.29.0", None, False),
        (None, "0.27.1", False),
    ],
)
def test_a_server_of_another_version_than_was_declared_judges_nothing(
    declared: str | None, told: str | None, other: bool
) -> None:
    start = replace(attested(), version=told)
    arms = (FLAT.arms[0], ArmSpec(name=CANDIDATE, same_prompts=True, version=declared))
    run = replace(FLAT, arms=arms, starts={CANDIDATE: (start,)})
    assert [f.severity for f in of_kind(run, "other_version")] == ["alarm"] * other
    assert judge(run).overall == ("INVALID" if other else "PASS")


def test_an_endpoint_that_tells_nothing_of_itself_is_said() -> None:
    def seen(engine: str, fingerprint: str | None) -> list[str]:
        info = replace(attested(), engine=engine, fingerprint=fingerprint)
        return [f.severity for f in of_kind(replace(FLAT, servers={CANDIDATE: (info,)}), "identity_unknown")]

    assert seen("url http://a", None) == ["warning"]
    assert seen("url http://a", "vllm-0.29.0-aa") == seen("venv vllm==0.20.0", None) == []


def test_what_a_budget_left_out_is_said() -> None:
    found = of_kind(replace(FLAT, given_up=("gsm8k: 17 of 24 samples fit",)), "budget")
    assert [f.text for f in found] == ["by budget: gsm8k: 17 of 24 samples fit"]
