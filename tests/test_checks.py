"""What first answers say of an arm: pure checks of what was seen."""

from dataclasses import replace

import pytest
from stub_server import chat

from evals import checks, switches
from evals.client import parse_chat
from evals.experiment import Arm, RequestSettings, UrlEngine
from evals.records import Check, CheckResult, Failure, JsonDict, Preflight, Response
from evals.switches import Switch

SALAD = 'the?the"????"?" thecapital??"is\'the isIs \'the\'s capital the capital of ? ??" \'scapital?"the'


def response(text: str | None, **over: object) -> Response:
    parsed = parse_chat(chat(text, **over), 0.1)
    assert isinstance(parsed, Response)
    return parsed


def arm(**request: object) -> Arm:
    return Arm(
        name="new", engine=UrlEngine(url="http://127.0.0.1:1", api_key_env=None), model=None, model_files="", args={}, env={},
        devices=(), request=RequestSettings(**request), sampling="greedy", repeat_of=None, start_timeout_s=1.0,  # type: ignore[arg-type]
    )  # fmt: skip


def answers(*texts: str, start: list[int] | None = None) -> dict[str, Response]:
    return {str(i): response(t, prompt_token_ids=[*(start or [1]), 630 + i]) for i, t in enumerate(texts)}


def seen(told: dict[str, Response], *checked: Check) -> Preflight:
    return Preflight(
        launch=0, checks=checked, asked=tuple(told), broken=tuple(sorted(checks.broken(told))), prompts=checks.hashes(told),
        lengths=checks.counts(told),
    )  # fmt: skip


# --- the version ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "told", "result"),
    [
        ("0.29.0", "0.29.0+cpu", "passed"), ("0.29.0", "0.27.1", "failed"), (None, "0.29.0", "passed"),
        ("0.29.0", None, "not_known"),
    ],
)  # fmt: skip
def test_a_server_of_another_version_is_not_what_was_meant(declared: str | None, told: str | None, result: CheckResult) -> None:
    assert checks.version(declared, told, None).result == result


# --- the model ------------------------------------------------------------------------------------------------------------


def test_an_endpoint_of_several_models_wants_one_named() -> None:
    listed: list[JsonDict] = [{"id": "base", "root": "/m/base"}, {"id": "lora", "root": "/m/lora"}]
    check = checks.models(arm(), "base", listed)
    assert check is not None
    assert (check.result, "2 models (base, lora)" in check.saw, "base is asked" in check.saw) == ("warned", True, True)
    assert checks.models(replace(arm(), model="lora"), "lora", listed) is None


def test_several_names_of_one_model_are_one() -> None:
    assert checks.models(arm(), "a", [{"id": "a", "root": "/m/base"}, {"id": "b", "root": "/m/base"}]) is None


# --- request fields -------------------------------------------------------------------------------------------------------


def test_a_field_that_the_server_does_not_describe_is_one_that_it_drops() -> None:
    check = checks.fields(arm(extra_body={"guided_json": {}, "top_n": 2}), frozenset({"guided_json", "temperature"}))
    assert check == Check(
        name="fields", result="failed",
        saw="param_had_no_effect: 1 request field is not known to this server, and is dropped without a word: top_n",
    )  # fmt: skip


def test_fields_that_are_described_pass_and_without_a_description_nothing_is_known() -> None:
    asked = arm(reasoning_effort="low", temperature=0.5)
    known = checks.fields(asked, frozenset({"reasoning_effort", "temperature", "messages"}))
    unknown = checks.fields(asked, None)
    assert known is not None
    assert unknown is not None
    assert (known.result, known.saw) == ("passed", "2 request fields are known to the server")
    assert unknown.result == "not_known"


def test_an_arm_that_sets_nothing_has_no_field_to_check() -> None:
    assert checks.fields(arm(), frozenset()) is None


# --- switches -------------------------------------------------------------------------------------------------------------

THINK = Switch(name="chat_template_kwargs.enable_thinking", value="false", other="true", contrast={})


@pytest.mark.parametrize(
    ("with_it", "with_other", "result"),
    [
        (response("a", prompt_token_ids=[1, 2]), response("a", prompt_token_ids=[1, 3]), "passed"),
        (response("a", prompt_token_ids=None), response("b", prompt_token_ids=None), "passed"),
        (response("a", reasoning="hm", prompt_token_ids=[1, 2]), response("a", prompt_token_ids=[1, 2]), "passed"),
        (response("a", prompt_token_ids=[1, 2]), response("a", prompt_token_ids=[1, 2]), "failed"),
        (response("a", prompt_token_ids=None), response("a", prompt_token_ids=None), "failed"),
        (Failure(kind="http", message="HTTP 500: unsupported"), response("a"), "failed"),
        (response("a"), Failure(kind="http", message="HTTP 400: no such level"), "passed"),
        (response("a"), Failure(kind="http", message="HTTP 503: busy"), "not_known"),
        (response("a"), Failure(kind="timeout", message="no answer in 600 s"), "not_known"),
        (Failure(kind="http", message="HTTP 429: slow down"), response("a"), "not_known"),
        (response("a", prompt_token_ids=None, finish_reason="length"), response("a", prompt_token_ids=None), "warned"),
        (response("a", usage={"prompt_tokens": 9}), response("a", usage={"prompt_tokens": 12}), "passed"),
    ],
)
def test_a_switch_must_change_the_prompt_or_the_answer(
    with_it: Response | Failure, with_other: Response | Failure, result: CheckResult
) -> None:
    assert checks.switch(THINK, with_it, with_other).result == result


def test_answers_that_differ_each_time_prove_no_switch() -> None:
    first, other, again = (response(text, prompt_token_ids=[1, 2]) for text in "abc")
    assert checks.switch(THINK, first, other, again).result == "warned"
    assert checks.switch(THINK, first, other, first).result == "passed"


def test_an_ignored_switch_is_named_with_both_values() -> None:
    same = response("a", prompt_token_ids=[1, 2])
    said = checks.switch(THINK, same, same)
    assert said.name == "switch chat_template_kwargs.enable_thinking"
    assert said.saw.startswith("param_had_no_effect: the prompt's token ids and the answer are the same with false and true")


def test_an_arm_s_switches_are_compared_with_their_opposites() -> None:
    asked = arm(chat_template_kwargs={"enable_thinking": False, "add_vision_id": True}, reasoning_effort="low")
    settings: JsonDict = {"chat_template_kwargs": asked.request.chat_template_kwargs, "reasoning_effort": "low"}
    think, effort = switches.of(asked, settings)
    assert think.contrast["chat_template_kwargs"] == {"enable_thinking": True, "add_vision_id": True}
    assert (effort.name, effort.value, effort.other, effort.contrast["reasoning_effort"]) == (
        "reasoning_effort", "low", "high", "high",
    )  # fmt: skip


# --- the form of an answer ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "text", "kept"),
    [
        ({"guided_json": {"type": "object"}}, "Sure! The tower is 330 m tall.", False),
        ({"guided_json": {"type": "object"}}, '{"height_m": 330}', True),
        ({"structured_outputs": {"choice": ["yes", "no"]}}, "yes", True),
        ({"structured_outputs": {"choice": ["yes", "no"]}}, "Yes, it is.", False),
        ({"guided_regex": r"\d+ m"}, "330 m", True),
        ({"guided_regex": r"\d+ m"}, "330 metres", False),
        ({"structured_outputs": {"regex": r"\d+"}}, "18", True),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, "no JSON", False),
        ({"response_format": {"type": "text"}}, "no JSON", True),
        ({"guided_regex": r"\p{L}+"}, "a pattern that Python cannot read", True),
        ({"guided_grammar": "root ::= x"}, "anything", True),
    ],
)
def test_an_answer_that_does_not_keep_to_its_form_shows_a_dropped_field(settings: JsonDict, text: str, kept: bool) -> None:
    check = checks.structure(settings, answers(text))
    assert (check is None) is kept
    assert check is None or check.saw.startswith("param_had_no_effect: ")


def test_an_answer_that_was_cut_says_nothing_of_its_form() -> None:
    assert checks.structure({"guided_json": {}}, {"0": response('{"a": [', finish_reason="length")}) is None


# --- prompts --------------------------------------------------------------------------------------------------------------


def test_prompts_that_differ_where_they_were_declared_equal_fail() -> None:
    baseline = seen(answers("a", "b", "c"))
    mine = {"0": response("a", prompt_token_ids=[7]), "1": answers("a", "b")["1"]}
    check = checks.prompts(True, mine, baseline)
    assert check is not None
    assert check.result == "failed"
    assert check.saw.startswith("prompt_ids_differ: 1 of 2 rendered prompts differ from the baseline's, first 0")


@pytest.mark.parametrize(
    ("alike", "same", "result"), [(True, True, "passed"), (False, False, "passed"), (False, True, "warned")]
)
def test_prompts_are_the_baseline_s_or_differ_as_declared(alike: bool, same: bool, result: CheckResult) -> None:
    baseline = seen(answers("a", "b"))
    mine = answers("a", "b") if same else answers("a", "b", start=[7])
    check = checks.prompts(alike, mine, baseline)
    assert check is not None
    assert check.result == result


def test_without_token_ids_prompts_are_not_known_to_be_equal() -> None:
    check = checks.prompts(True, {"0": response("a", prompt_token_ids=None)}, seen(answers("a")))
    assert check is not None
    assert check.result == "not_known"


def test_without_token_ids_a_prompt_of_another_length_is_another_prompt() -> None:
    cut = {"0": response("a", prompt_token_ids=None, usage={"prompt_tokens": 2})}
    check = checks.prompts(True, cut, seen({"0": response("a", prompt_token_ids=None)}))
    assert check is not None
    assert check.result == "failed"
    assert "first 0: 2 tokens in place of 3" in check.saw
    declared = checks.prompts(False, cut, seen({"0": response("a", prompt_token_ids=None)}))
    assert declared is not None
    assert declared.result == "not_known"


# --- a second BOS ---------------------------------------------------------------------------------------------------------


def test_a_second_bos_fails_where_the_baseline_has_one() -> None:
    twice = answers("a", "b", start=[2, 2])
    clean = seen(answers("a", "b"), Check(name="bos", result="passed", saw=""))
    check = checks.double_bos(twice, clean)
    assert check.result == "failed"
    assert check.saw.startswith("double_bos: all 2 prompts begin with token 2 twice")


def test_a_second_bos_that_both_arms_have_is_told_and_compared() -> None:
    twice = answers("a", "b", start=[2, 2])
    first = checks.double_bos(twice, None)
    assert first.result == "warned"
    assert checks.double_bos(twice, seen(twice, first)).result == "warned"


def test_a_second_bos_in_some_prompts_is_told() -> None:
    mixed = answers("a", start=[2, 2]) | {"other": response("b", prompt_token_ids=[2, 105])}
    check = checks.double_bos(mixed, seen(answers("a"), Check(name="bos", result="passed", saw="")))
    assert (check.result, check.saw) == (
        "warned", "double_bos: 1 of 2 prompts begin with token 2 twice, the others do not",
    )  # fmt: skip


def test_a_second_bos_is_only_told_where_the_baseline_s_prompts_are_not_known() -> None:
    silent = seen(answers("a"), Check(name="bos", result="not_known", saw=""))
    assert checks.double_bos(answers("a", start=[2, 2]), silent).result == "warned"


def test_without_token_ids_a_second_bos_is_not_known() -> None:
    assert checks.double_bos({"0": response("a", prompt_token_ids=None)}, None).result == "not_known"


# --- broken answers -------------------------------------------------------------------------------------------------------

HEALTHY = answers(*[f"The answer is {i}." for i in range(12)])
BROKEN = {key: response(SALAD, finish_reason="length") for key in HEALTHY}


def mixture(broken: int) -> dict[str, Response]:
    return {key: (BROKEN if int(key) < broken else HEALTHY)[key] for key in HEALTHY}


def degenerate(told: dict[str, Response], baseline: dict[str, Response] | None) -> CheckResult:
    return checks.degenerate(told, checks.broken(told), None if baseline is None else seen(baseline)).result


@pytest.mark.parametrize(
    ("broken", "result"),
    [(0, "passed"), (1, "warned"), (6, "warned"), (7, "failed"), (12, "failed")],
    # one-sided exact McNemar: 2**-6 = 0.016 is above 0.01, 2**-7 = 0.008 below
)
def test_a_candidate_is_broken_where_most_of_its_answers_are_and_the_baseline_s_are_not(
    broken: int, result: CheckResult
) -> None:
    assert degenerate(mixture(broken), HEALTHY) == result


def test_what_the_baseline_does_as_well_is_no_fault_of_the_candidate() -> None:
    assert degenerate(mixture(12), mixture(9)) == "warned"


@pytest.mark.parametrize(
    ("broken", "result"),
    [(9, "warned"), (10, "failed")],  # Clopper-Pearson, one-sided 95 %: 9 of 12 shows 47 % or more, 10 of 12 56 %
)
def test_a_baseline_is_broken_where_more_than_half_surely_is(broken: int, result: CheckResult) -> None:
    assert degenerate(mixture(broken), None) == result


def test_a_handful_of_answers_breaks_nothing() -> None:
    few = {key: BROKEN[key] for key in ("0", "1", "2", "3")}
    assert degenerate(few, None) == "warned"
    assert degenerate(few, {key: HEALTHY[key] for key in few}) == "warned"


@pytest.mark.parametrize(
    "told",
    [
        response(None), response(""), response("!" * 60, finish_reason="length"),
        response(None, reasoning="好的" * 30, finish_reason="length"), response("18", reasoning="wait, no. " * 30),
    ],
)  # fmt: skip
def test_loops_and_silence_are_broken_also_in_thoughts(told: Response) -> None:
    assert checks.broken({"0": told}) == {"0"}


@pytest.mark.parametrize(
    "cut",
    [
        response(None, reasoning="Let me think. 16 - 3 - 4 = 9, then", finish_reason="length"),
        response(None, reasoning="Let me think. 16 - 3 - 4 = 9, then", finish_reason="max_tokens"),
        response(None, finish_reason="length"),  # a gateway takes the thoughts out
        response(None, finish_reason=None, usage={"completion_tokens": checks.SHORT_TOKENS}),
    ],
)
def test_a_thought_that_was_cut_is_not_broken(cut: Response) -> None:
    assert checks.broken({"0": cut}) == frozenset()


# --- where answers lie ----------------------------------------------------------------------------------------------------


def test_answers_in_the_reasoning_field_fail_where_they_are_the_rule() -> None:
    lost = {str(i): response(None, reasoning=f"It is {i}.") for i in range(12)}
    check = checks.places(lost)
    assert check.result == "failed"
    assert check.saw.startswith("answer_in_reasoning_field: in 12 of 12 short answers")
    assert checks.places(HEALTHY | {"0": lost["0"]}).result == "warned"


def test_leaked_think_tags_are_told() -> None:
    check = checks.places({"0": response("<think>9*2=18</think>\n18"), "1": response("18")})
    assert check.result == "warned"
    assert check.saw.startswith("think_tag_in_content: in 1 of 2 short answers")


def test_answers_where_they_belong_pass() -> None:
    assert checks.places(HEALTHY).result == "passed"


def test_questions_that_could_not_be_asked_are_told() -> None:
    lost: dict[str, Response | Failure] = {"0": response("a"), "1": Failure(kind="http", message="HTTP 400: too long")}
    check = checks.unanswered(lost)
    assert check is not None
    assert check.saw == "1 of 2 questions could not be asked; the first: HTTP 400: too long"
    assert checks.unanswered({"0": response("a")}) is None


# --- context --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("promised", "told", "accepted", "result"),
    [
        (131072, 131072, True, "passed"), (None, 4096, True, "passed"), (131072, 32768, True, "failed"),
        (4096, 4096, "HTTP 400: too long", "failed"), (4096, 4096, None, "not_known"), (4096, None, None, "not_known"),
    ],
)  # fmt: skip
def test_a_server_must_take_prompts_as_long_as_it_was_told_to(
    promised: int | None, told: int | None, accepted: bool | str | None, result: CheckResult
) -> None:
    assert checks.context(promised, told, accepted).result == result


def test_only_failed_checks_stop_an_arm() -> None:
    told = seen(HEALTHY, Check(name="a", result="failed", saw=""), Check(name="b", result="warned", saw=""))
    assert [c.name for c in checks.failed(told)] == ["a"]
    assert list(checks.failed(replace(told, checks=()))) == []
