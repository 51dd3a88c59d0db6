"""Servers that are healthy and wrong, and a run that finds it out before it asks hundreds."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stub_server import PREFLIGHT_TOKENS, Json, Reply, StubServer, chat, error, prompt_ids

from evals import config, preflight, run, store
from evals.evidence import from_contents
from evals.judged import Evidence, Verdict
from evals.preflight import SHORT_TOKENS
from evals.progress import Silent

N = 40
OLD = "  old: {{engine: {{url: '{url}'}}, request: {request}}}\n"
NEW = "  new: {{extends: old, engine: {{url: '{url}'}}, request: {request}}}\n"
THINKS_NOT = {"chat_template_kwargs": {"enable_thinking": False}}
SALAD = 'the?the"????"?" thecapital??"is\'the isIs \'the\'s capital the capital of ? ??" \'scapital?"the'


def pupil(request: Json) -> Reply:
    question = str(request["messages"][-1]["content"])
    number = question.split("what is ")[1].split()[0] if "what is " in question else None
    return Reply(payload=chat(f"#### {int(number) + 1}" if number else "ready"))


def described(stub: StubServer, *fields: str) -> StubServer:
    """With the page that FastAPI makes of the request's class."""
    known = ("messages", "temperature", "chat_template_kwargs", "reasoning_effort", *fields)
    names: Json = {name: {} for name in known}
    schemas = {"ChatCompletionRequest": {"properties": names}}
    stub.pages["/openapi.json"] = Reply(payload={"components": {"schemas": schemas}})
    return stub


@pytest.fixture
def old() -> Iterator[StubServer]:
    with StubServer(pupil) as stub:
        yield described(stub)


Ran = Callable[..., tuple[Verdict, Evidence]]


@pytest.fixture
def ran(tmp_path: Path, old: StubServer) -> Ran:
    """A run of the sound server against another."""
    rows = [json.dumps({"question": f"what is {i} + 1?", "answer": f"#### {i + 1}"}) + "\n" for i in range(N)]
    (tmp_path / "test.jsonl").write_text("".join(rows))

    def go(new: StubServer, request: Json = THINKS_NOT, other: Json | None = None) -> tuple[Verdict, Evidence]:
        arms = OLD.format(url=old.url, request=json.dumps(request))
        arms += NEW.format(url=new.url, request=json.dumps(request if other is None else other))
        path = tmp_path / "x.yaml"
        path.write_text(
            f"name: x\nbaseline: old\nlaunches: 1\narms:\n{arms}"
            f"tasks: [{{task: gsm8k, n: {N}, data_dir: ., fewshot: 0}}]\ngates: [{{task: gsm8k, margin: 10}}]\n"
        )
        verdict = run.run(config.load(path), tmp_path / "run", Silent())
        return verdict, from_contents(store.read(tmp_path / "run"))

    return go


def measured(told: Evidence, arm: str) -> int:
    return sum(r.arm == arm for r in told.records)


def test_the_stub_knows_how_an_arm_is_looked_at() -> None:
    assert SHORT_TOKENS == PREFLIGHT_TOKENS


def test_a_sound_server_passes_and_its_checks_are_kept(ran: Ran) -> None:
    with StubServer(pupil) as new:
        verdict, told = ran(described(new))
    assert verdict.overall == "PASS"
    for arm in ("old", "new"):
        (seen,) = told.preflights[arm]
        assert {c.name: c.result for c in seen.checks} == {
            "version": "passed", "fields": "passed", "switch chat_template_kwargs.enable_thinking": "passed",
            "bos": "passed", "degenerate": "passed", "places": "passed", "context": "not_known",
        } | ({"prompts": "passed"} if arm == "new" else {})  # fmt: skip
        assert len(seen.asked) == preflight.SHORT_ANSWERS


@pytest.mark.usefixtures("short_waits")
def test_a_server_that_is_busy_has_rejected_nothing(ran: Ran) -> None:
    """A contrast that could not be asked proves no switch, and says nothing against it."""

    def busy(request: Json) -> Reply:
        thinks = request.get("chat_template_kwargs", {}).get("enable_thinking")
        return error(503, "try again later") if thinks else pupil(request)

    with StubServer(busy) as new:
        verdict, told = ran(described(new))
    assert verdict.overall == "PASS"
    switch = next(c for c in told.preflights["new"][0].checks if c.name.startswith("switch"))
    assert (switch.result, "HTTP 503" in switch.saw) == ("not_known", True)


def test_a_gateway_that_describes_little_drops_nothing(ran: Ran) -> None:
    with StubServer(pupil) as new:
        schemas = {"ChatCompletionRequest": {"properties": {"messages": {}, "model": {}}}}
        new.pages["/openapi.json"] = Reply(payload={"components": {"schemas": schemas}})
        verdict, told = ran(new)
    assert verdict.overall == "PASS"
    assert {c.name: c.result for c in told.preflights["new"][0].checks}["fields"] == "not_known"


def test_an_answer_of_some_length_may_be_asked_for(ran: Ran, old: StubServer) -> None:
    """The short answers that an arm is looked at with have no room for it."""

    def strict(request: Json) -> Reply:
        if request.get("min_tokens", 0) > request["max_tokens"]:
            return error(400, "min_tokens must be less than or equal to max_tokens")
        return pupil(request)

    described(old, "min_tokens").answer = strict
    with StubServer(strict) as new:
        assert ran(described(new, "min_tokens"), {"extra_body": {"min_tokens": 100}})[0].overall == "PASS"


class Dropping(StubServer):
    """Takes every field and heeds none, as an engine does with a field that was renamed."""

    def chat(self, body: Json) -> Reply:
        return super().chat({k: v for k, v in body.items() if k in ("model", "messages", "max_tokens")})


def test_a_server_that_drops_fields_is_caught_by_its_description(ran: Ran) -> None:
    asked = THINKS_NOT | {"extra_body": {"guided_json": {"type": "object"}}}
    with StubServer(pupil) as new:
        verdict, told = ran(described(new), THINKS_NOT, asked)
    assert verdict.overall == "INVALID"
    reason = verdict.gates[0].reason
    assert "did not pass preflight: fields: param_had_no_effect: 1 request field is not known to this server" in reason
    assert "guided_json" in reason
    assert measured(told, "new") == 0


def test_a_server_that_drops_fields_is_caught_by_what_they_should_do(ran: Ran) -> None:
    with Dropping(pupil) as new:
        verdict, told = ran(new)
    assert verdict.overall == "INVALID"
    assert "switch chat_template_kwargs.enable_thinking: param_had_no_effect" in verdict.gates[0].reason
    assert measured(told, "new") == 0
    assert measured(told, "old") == N


def test_a_structured_answer_that_is_none_is_caught(ran: Ran) -> None:
    asked = {"extra_body": {"structured_outputs": {"json": {"type": "object"}}}}
    with StubServer(pupil) as new:
        verdict, _ = ran(new, {}, asked)
    assert "structure: param_had_no_effect: structured_outputs.json was sent" in verdict.gates[0].reason


def test_a_server_that_adds_a_second_bos_is_caught(ran: Ran) -> None:
    def twice(request: Json) -> Reply:
        reply = pupil(request)
        return Reply(payload=reply.payload | {"prompt_token_ids": [1, *prompt_ids(request)]})

    with StubServer(twice) as new:
        verdict, told = ran(described(new))
    reason = verdict.gates[0].reason
    assert verdict.overall == "INVALID"
    assert "prompt_ids_differ: 12 of 12 rendered prompts differ from the baseline's" in reason
    assert "double_bos: all 12 prompts begin with token 1 twice" in reason
    assert measured(told, "new") == 0


def test_a_server_that_answers_in_the_reasoning_field_is_caught(ran: Ran) -> None:
    def elsewhere(request: Json) -> Reply:
        text = pupil(request).payload["choices"][0]["message"]["content"]
        return Reply(payload=chat(None, reasoning=f"{text} ", finish_reason="stop"))

    with StubServer(elsewhere) as new:
        verdict, told = ran(described(new))
    assert verdict.overall == "INVALID"
    assert "places: answer_in_reasoning_field: in 12 of 12 short answers" in verdict.gates[0].reason
    assert measured(told, "new") == 0


@pytest.mark.usefixtures("short_waits")
def test_an_effort_that_the_model_rejects_stops_the_arm_at_its_first_request(ran: Ran) -> None:
    def raising(request: Json) -> Reply:
        if request.get("reasoning_effort") == "high":
            return error(500, "template raised: unsupported reasoning effort 'high'")
        return pupil(request)

    with StubServer(raising) as new:
        verdict, told = ran(described(new), {}, {"reasoning_effort": "high"})
        asked = [r for r in new.requests if r.get("reasoning_effort") == "high"]
    assert verdict.overall == "INVALID"
    assert "unsupported reasoning effort 'high'" in verdict.gates[0].reason
    assert len(asked) <= 4
    assert measured(told, "new") == 0


def test_a_candidate_that_babbles_is_a_regression_and_is_not_asked(ran: Ran) -> None:
    def babbling(request: Json) -> Reply:
        return Reply(payload=chat(SALAD if request["max_tokens"] == SHORT_TOKENS else "ready", finish_reason="length"))

    with StubServer(babbling) as new:
        verdict, told = ran(described(new))
    assert verdict.overall == "REGRESSION"
    reason = verdict.gates[0].reason
    assert reason.startswith("broken, as its first answers show, so that no task was asked: 12 of 12 short answers")
    assert "the baseline's 0 of 12 (p < 0.001)" in reason
    assert measured(told, "new") == 0


def test_a_baseline_that_babbles_proves_nothing_of_the_candidate(ran: Ran, old: StubServer) -> None:
    def babbling(request: Json) -> Reply:
        return Reply(payload=chat(SALAD if request["max_tokens"] == SHORT_TOKENS else "ready", finish_reason="length"))

    old.answer = babbling
    with StubServer(babbling) as new:
        verdict, _ = ran(described(new))
    assert verdict.overall == "INVALID"
    assert "the baseline did not pass preflight: degenerate: 12 of 12 short answers" in verdict.gates[0].reason


def test_a_second_bos_that_both_servers_add_is_told_and_compared(ran: Ran, old: StubServer) -> None:
    def twice(request: Json) -> Reply:
        return Reply(payload=pupil(request).payload | {"prompt_token_ids": [1, *prompt_ids(request)]})

    old.answer = twice
    with StubServer(twice) as new:
        verdict, _ = ran(described(new))
    assert verdict.overall == "PASS"
    assert {f.arm for f in verdict.findings if "double_bos" in f.text} == {"old", "new"}


def test_thinking_off_and_on_render_different_prompts_as_declared(ran: Ran) -> None:
    with StubServer(pupil) as new:
        verdict, told = ran(described(new), THINKS_NOT, {"chat_template_kwargs": {"enable_thinking": True}})
    (seen,) = told.preflights["new"]
    prompts = next(c for c in seen.checks if c.name == "prompts")
    assert (prompts.result, prompts.saw) == ("passed", "12 of 12 rendered prompts differ from the baseline's, as declared")
    assert verdict.overall == "PASS"


def test_an_arm_that_failed_is_looked_at_again_by_the_same_command(ran: Ran) -> None:
    with Dropping(pupil) as new:
        assert ran(new)[0].overall == "INVALID"
        new.__class__ = StubServer  # somebody mended it
        verdict, told = ran(new)
    assert verdict.overall == "PASS"
    assert told.failures == {}
