import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from stub_server import FINGERPRINT, Json, Reply, StubServer, chat, echo, error, logprobs, script

from evals import client
from evals.client import Client, Endpoint, body, ids_sha, parse_chat, prompt_sha
from evals.records import Choice, Failure, Message, Response, Sample, TopTwo

HELLO = (Message(role="user", content="hello"),)


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT_S", 0.01)


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


def ask(stub: StubServer, settings: Json | None = None, **fields: Any) -> Response | Failure:
    return ask_many(stub, 1, settings, **fields)[0]


def ask_many(
    stub: StubServer,
    n: int,
    settings: Json | None = None,
    *,
    alive: Callable[[], bool] = lambda: True,
    timeout_s: float = 10,
    attempts: int = 4,
    model: str = "stub",
    api_key: str = "none",
) -> list[Response | Failure]:
    async def go() -> list[Response | Failure]:
        endpoint = Endpoint(url=stub.url, model=model, api_key=api_key)
        async with Client(endpoint, timeout_s=timeout_s, alive=alive, attempts=attempts) as asker:
            return await asyncio.gather(*(asker.chat(HELLO, body(settings or {}, max_tokens=8)) for _ in range(n)))

    return asyncio.run(go())


def parsed(payload: Any) -> Response:
    response = parse_chat(payload, 0.5)
    assert isinstance(response, Response)
    return response


def failed(answer: Response | Failure, kind: str) -> str:
    assert isinstance(answer, Failure)
    assert answer.kind == kind
    assert answer.message
    assert "\n" not in answer.message
    return answer.message


def old_chat(message: Json, finish_reason: str = "stop", **fields: Any) -> Json:
    """A chat completion of vLLM before 0.10: no token ids, no fingerprint."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "tool_calls": [], **message},
        "logprobs": None,
        "finish_reason": finish_reason,
    }
    usage = {"prompt_tokens": 30, "completion_tokens": 100, "total_tokens": 130}
    return {"object": "chat.completion", "choices": [choice], "usage": usage, **fields}


# --- parse_chat -----------------------------------------------------------------------------------------------------------


def test_every_field_of_a_current_answer_is_read() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 1}}
    told = {"token_ids": [7, 8], "prompt_token_ids": [1, 630, 266], "logprobs": logprobs((-0.1, -2.0), (-0.5, -0.6))}
    response = parsed(chat("18", reasoning="9*2", usage=usage, **told))
    assert response == Response(
        text="18", reasoning="9*2", finish_reason="stop", token_ids=(7, 8), prompt_ids_sha=ids_sha([1, 630, 266]),
        top_two=(TopTwo(first=-0.1, second=-2.0), TopTwo(first=-0.5, second=-0.6)), prompt_tokens=3, completion_tokens=2,
        reasoning_tokens=1, latency_s=0.5, fingerprint=FINGERPRINT, prompt_start=(1, 630), prompt_ids=(1, 630, 266),
    )  # fmt: skip


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_is_read_under_its_new_and_its_old_name(field: str) -> None:
    response = parsed(old_chat({"content": "18", field: "16-7=9; 9*2=18"}))
    assert (response.text, response.reasoning) == ("18", "16-7=9; 9*2=18")


def test_the_old_name_is_read_where_the_new_one_is_null() -> None:
    assert parsed(old_chat({"content": "18", "reasoning": None, "reasoning_content": "9*2"})).reasoning == "9*2"


def test_an_answer_in_the_reasoning_field_keeps_null_content_as_none() -> None:
    response = parsed(old_chat({"content": None, "reasoning_content": "9.8 is larger"}))
    assert (response.text, response.reasoning, response.finish_reason) == (None, "9.8 is larger", "stop")


def test_truncated_thinking_is_told_by_its_finish_reason() -> None:
    response = parsed(old_chat({"content": None, "reasoning": "16-3-4=9, then"}, "length"))
    assert (response.text, response.finish_reason) == (None, "length")


def test_empty_content_is_not_null_content() -> None:
    assert parsed(old_chat({"content": ""})).text == ""


def test_a_leaked_think_tag_stays_in_the_text() -> None:
    assert parsed(old_chat({"content": "<think>9*2=18</think>\n18", "reasoning": None})).text == "<think>9*2=18</think>\n18"


def test_an_old_engine_sends_no_ids_no_fingerprint_and_no_reasoning_tokens() -> None:
    response = parsed(old_chat({"content": "18"}))
    assert (response.token_ids, response.prompt_ids_sha, response.fingerprint) == (None, None, None)
    assert (response.reasoning_tokens, response.top_two) == (None, None)
    assert (response.prompt_tokens, response.completion_tokens) == (30, 100)


@pytest.mark.parametrize("usage", [None, {}])
def test_missing_usage_is_none_and_not_zero(usage: Json | None) -> None:
    response = parsed(old_chat({"content": "18"}) | {"usage": usage})
    assert (response.prompt_tokens, response.completion_tokens) == (None, None)


def test_the_top_two_are_sorted_whatever_order_they_come_in() -> None:
    response = parsed(chat("a", logprobs=logprobs((-3.0, -0.2, -1.0))))
    assert response.top_two == (TopTwo(first=-0.2, second=-1.0),)


@pytest.mark.parametrize("given", [None, {"content": None}, {"content": []}, logprobs((-0.1, -2.0), (-0.3,)), logprobs(())])
def test_log_probabilities_that_are_not_whole_are_not_told(given: Json | None) -> None:
    assert parsed(chat("ab", logprobs=given)).top_two is None


@pytest.mark.parametrize(
    "payload",
    [
        {"object": "error", "message": "no", "code": 500}, {"error": {"message": "no"}}, {"choices": []}, {"choices": None}, {},
        {"choices": [None]}, {"choices": [{"message": None}]}, {"choices": [{"text": "A", "logprobs": None}]}, [], "ok", None,
    ],
)  # fmt: skip
def test_what_is_no_chat_completion_is_a_protocol_failure(payload: Any) -> None:
    assert "no choices" in failed(parse_chat(payload, 0.1), "protocol")


# --- what goes out --------------------------------------------------------------------------------------------------------


def test_a_question_goes_out_with_its_settings_and_the_key(stub: StubServer) -> None:
    answer = ask(stub, {"temperature": 0.0, "chat_template_kwargs": {"enable_thinking": False}}, api_key="sk-7")
    assert isinstance(answer, Response)
    assert (answer.text, answer.token_ids) == ("hello", tuple(map(ord, "hello")))
    assert stub.requests == [
        {
            "model": "stub", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 8, "return_token_ids": True,
            "temperature": 0.0, "chat_template_kwargs": {"enable_thinking": False},
        }
    ]  # fmt: skip
    assert stub.headers[0]["authorization"] == "Bearer sk-7"


def test_log_probabilities_are_asked_for_where_a_task_needs_them() -> None:
    assert body({}, max_tokens=4, top_logprobs=2) == {
        "max_tokens": 4,
        "return_token_ids": True,
        "logprobs": True,
        "top_logprobs": 2,
    }
    assert "logprobs" not in body({}, max_tokens=4)


def test_what_the_arm_sets_wins_over_the_defaults() -> None:
    assert body({"return_token_ids": False}, max_tokens=4)["return_token_ids"] is False


def test_a_loopback_server_is_never_asked_through_a_proxy(stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert isinstance(ask(stub), Response)


def test_many_questions_are_on_their_way_at_once() -> None:
    def slow(request: Json) -> Reply:
        deadline = time.monotonic() + 5
        while server.most_in_flight < 8 and time.monotonic() < deadline:
            time.sleep(0.01)
        return echo(request)

    with StubServer(slow) as server:
        assert all(isinstance(a, Response) for a in ask_many(server, 8))
        assert server.most_in_flight == 8


def test_latency_is_that_of_the_attempt_that_was_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MAX_WAIT_S", 0.5)
    with StubServer(script(error(429, "busy", retry_after="0.5"), Reply(payload=chat("ok")))) as server:
        answer = ask(server)
    assert isinstance(answer, Response)
    assert 0 < answer.latency_s < 0.5


# --- retries --------------------------------------------------------------------------------------------------------------


def test_a_busy_server_is_asked_again_no_earlier_than_it_said() -> None:
    start = time.monotonic()
    with StubServer(script(error(429, "busy", retry_after="0.3"), Reply(payload=chat("ok")))) as server:
        assert isinstance(ask(server), Response)
        assert len(server.requests) == 2
    assert time.monotonic() - start >= 0.3


@pytest.mark.parametrize("asked", ["3600", "Mon, 30 Nov 2099 03:00:00 GMT", "-1", ""])
def test_no_wait_is_longer_than_the_longest_allowed(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MAX_WAIT_S", 0.01)
    with StubServer(script(error(429, "busy", retry_after=asked), Reply(payload=chat("ok")))) as server:
        assert isinstance(ask(server), Response)


def test_a_server_error_is_asked_again_until_it_is_answered() -> None:
    with StubServer(script(error(500, "oops"), error(503, "oops"), Reply(payload=chat("ok")))) as server:
        assert isinstance(ask(server), Response)
        assert len(server.requests) == 3


def test_retries_are_bounded_and_end_in_a_failure_in_the_servers_words() -> None:
    with StubServer(script(error(500, "template raised:\nunsupported reasoning effort 'high'"))) as server:
        message = failed(ask(server), "http")
        assert len(server.requests) == client.ATTEMPTS
    assert message == "HTTP 500: template raised: unsupported reasoning effort 'high'"


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_refused_question_is_not_asked_again(status: int) -> None:
    with StubServer(script(error(status, "max_tokens=9 is too many"))) as server:
        assert failed(ask(server), "http") == f"HTTP {status}: max_tokens=9 is too many"
        assert len(server.requests) == 1


def test_an_unknown_model_is_told_in_the_servers_words(stub: StubServer) -> None:
    assert failed(ask(stub, model="other"), "http") == "HTTP 404: The model `other` does not exist."


def test_a_timeout_is_not_asked_again() -> None:
    with StubServer(script(Reply(fault="hang"))) as server:
        assert "request.timeout_s" in failed(ask(server, timeout_s=0.2), "timeout")
        assert len(server.requests) == 1


def test_a_lost_connection_is_asked_again() -> None:
    with StubServer(script(Reply(fault="reset"), Reply(payload=chat("ok")))) as server:
        assert isinstance(ask(server), Response)


def test_a_connection_that_stays_lost_is_a_connection_failure() -> None:
    with StubServer(script(Reply(fault="reset"))) as server:
        failed(ask(server), "connection")
        assert len(server.requests) == client.ATTEMPTS


def test_a_refused_connection_is_a_connection_failure_and_no_timeout() -> None:
    with StubServer() as server:
        server.close()
        assert "Cannot connect" in failed(ask(server), "connection")


@pytest.mark.parametrize("reply", [error(500, "EngineCore encountered an issue"), error(429, "busy"), Reply(fault="reset")])
def test_a_dead_server_is_not_asked_again(reply: Reply) -> None:
    with StubServer(script(reply)) as server:
        assert isinstance(ask(server, alive=lambda: False), Failure)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply", [Reply(text="<html>gateway</html>"), Reply(text=""), Reply(payload={"error": {"message": "no"}})]
)
def test_an_ok_that_holds_no_chat_completion_is_a_protocol_failure_and_not_asked_again(reply: Reply) -> None:
    with StubServer(script(reply)) as server:
        failed(ask(server), "protocol")
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "payload", [{"detail": "Bad Gateway"}, {"message": "Bad Gateway"}, "Bad Gateway", {"error": "Bad Gateway"}]
)
def test_an_error_body_of_another_shape_is_still_told(payload: Any) -> None:
    with StubServer(script(Reply(status=502, payload=payload))) as server:
        assert "Bad Gateway" in failed(ask(server, attempts=1), "http")


# --- hashes ---------------------------------------------------------------------------------------------------------------


def test_equal_prompts_have_equal_hashes_and_others_do_not() -> None:
    assert ids_sha([151644, 872, 198]) == ids_sha([151644, 872, 198]) != ids_sha([872, 198])
    system = (Message(role="system", content="hello"),)
    asked = [
        Sample(id="1", messages=HELLO, target=""), Sample(id="1", messages=system, target=""),
        *(Sample(id="1", messages=HELLO, target="", choices=(Choice(after=0, text=text),)) for text in (" A", " B")),
    ]  # fmt: skip
    assert len({prompt_sha(sample) for sample in asked}) == len(asked)
    assert prompt_sha(asked[0]) == prompt_sha(replace(asked[0], id="2", target="7"))


@pytest.mark.parametrize("ending", ["abort", "error"])
def test_a_request_that_the_engine_aborted_was_not_measured(ending: str) -> None:
    payload = chat("#### 1")
    payload["choices"][0]["finish_reason"] = ending
    found = parse_chat(payload, 0.1)
    assert isinstance(found, Failure)
    assert ending in found.message


def odd(place: str, value: Any) -> Json:
    payload = chat("#### 1")
    match place:
        case "content":
            payload["choices"][0]["message"]["content"] = value
        case "token_ids" | "logprobs":
            payload["choices"][0][place] = value
        case "completion_tokens":
            payload["usage"][place] = value
        case _:
            payload[place] = value
    return payload


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("content", [{"type": "text"}]),
        ("system_fingerprint", 3),
        ("completion_tokens", 3.5),
        ("token_ids", "abc"),
        ("usage", [1]),
        ("logprobs", {"content": [{"top_logprobs": [{}, {}]}]}),
        ("choices", "x"),
        ("choices", None),
    ],
)
def test_an_answer_of_another_shape_costs_one_sample_and_never_the_run(place: str, value: Any) -> None:
    found = parse_chat(odd(place, value), 0.1)
    assert isinstance(found, Failure)
    assert found.kind == "protocol"
    assert "\n" not in found.message


@pytest.mark.parametrize("text", ["[" * 100_000, '{"choices": ' + "9" * 5000 + "}", "<html>", ""])
def test_a_body_that_is_no_answer_is_a_failure(text: str) -> None:
    with StubServer(lambda _: Reply(text=text)) as stub:
        found = asyncio.run(ask_once(stub))
    assert isinstance(found, Failure)


async def ask_once(stub: StubServer) -> Response | Failure:
    async with Client(Endpoint(url=stub.url, model="stub", api_key="k"), timeout_s=10, alive=lambda: True) as one:
        return await one.chat((Message(role="user", content="hi"),), body({}, max_tokens=4))


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        ({"speculative_decoding": {"num_draft_tokens": 8, "num_accepted_draft_tokens": 5, "histogram": [1]}}, (8, 5)),
        ({"time_to_first_token_ms": 1.0, "speculative_decoding": None}, (None, None)),
        ({"speculative_decoding": {"num_draft_tokens": "8"}}, (None, None)),
        ({"speculative_decoding": [1]}, (None, None)),
        ([], (None, None)),
        ("x", (None, None)),
        (None, (None, None)),
    ],
)
def test_acceptance_of_one_answer_where_the_engine_tells_it(metrics: Any, told: tuple[int | None, int | None]) -> None:
    response = client.parse_chat({**chat("7"), "metrics": metrics}, 0.1)
    assert isinstance(response, Response)
    assert (response.draft_tokens, response.accepted_tokens) == told
