"""Log-probabilities of an answer that was given, from the wire: /v1/completions with `prompt_logprobs` as vLLM answers it."""

import asyncio
import math
from typing import Any

import pytest
from evidence import response
from stub_server import RIVALS, StubServer, error

from evals import forcing
from evals.client import Client, Endpoint
from evals.forcing import Given, Told
from evals.plan import FORCED_TOKENS
from evals.records import Failure, TopTwo

GIVEN = Given(prompt=(11, 12, 13), answer=(21, 22))


def asked(stub: StubServer, what: Given = GIVEN) -> Told | Failure:
    async def ask() -> Told | Failure:
        endpoint = Endpoint(url=stub.url, model="stub", api_key="none")
        async with Client(endpoint, timeout_s=10, alive=lambda: True, attempts=1) as client:
            return await forcing.ask(client, what)

    return asyncio.run(ask())


def test_ids_go_out_as_they_are_and_what_comes_back_is_of_the_answers_tokens_alone() -> None:
    with StubServer() as stub:
        stub.forces = lambda before, token: {21: -0.5, 22: -3.0}.get(token, -len(before) / 10)
        found = asked(stub)
        (sent,) = stub.forced
    assert found == Told(logprobs=(-0.5, -3.0), top_two=(TopTwo(first=-0.5, second=RIVALS[0]), TopTwo(first=-1.5, second=-2.5)))
    assert sent == {"model": "stub", "prompt": [11, 12, 13, 21, 22], "max_tokens": 1, "temperature": 0.0, "prompt_logprobs": 2}


def places(**over: Any) -> list[Any]:
    """What is told of GIVEN's five tokens, with some places replaced."""
    out: list[Any] = [None]
    for i, token in enumerate((12, 13, 21, 22), 1):
        out.append({str(token): {"logprob": -0.1 * i, "rank": 1}, "7": {"logprob": -2.0, "rank": 2}})
    for at, place in over.items():
        out[int(at[1:])] = place
    return out


def one(logprob: Any, token: int = 22) -> dict[str, Any]:
    return {str(token): {"logprob": logprob, "rank": 1}, "7": {"logprob": -2.0, "rank": 2}}


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (None, "the server answered without the prompt's log-probabilities"),
        ([None], "the server scored 1 tokens of 5"),
        (places()[:-1], "the server scored 4 tokens of 5"),
        (places(p4=one(None)), "None is no log-probability"),
        (places(p4=one(math.inf)), "inf is no log-probability"),
        (places(p4=one(17.5)), "17.5 is above 0 and no log-probability (see the server's logprobs-mode)"),
        (places(p4=one(-1.0, token=99)), "the server told of the tokens 99, 7 where 22 and the two likeliest belong"),
        (places(p4={"22": {"logprob": -1.0}}), "the server told of the tokens 22 where 22 and the two likeliest belong"),
        ([None, *(one(-1.0, token=t) for t in (12, 13, 21, 22))], "all 4 tokens have the same, -1"),
    ],
)  # fmt: skip
def test_what_can_be_no_log_probability_of_the_answer_is_a_failure_and_never_a_figure(told: Any, words: str) -> None:
    found = forcing.parse({"choices": [{"prompt_logprobs": told}]}, GIVEN)
    assert found == Failure(kind="no_logprobs", message=f"no_logprobs: {words}")


@pytest.mark.parametrize(
    "payload", [None, [], "no", {}, {"choices": []}, {"choices": [{}]}, {"choices": [{"prompt_logprobs": places(p4=None)}]},
                {"choices": [{"prompt_logprobs": places(p4={"22": -1.0, "7": -2.0})}]}],
)  # fmt: skip
def test_an_answer_of_another_shape_is_a_protocol_failure(payload: Any) -> None:
    found = forcing.parse(payload, GIVEN)
    assert isinstance(found, Failure)
    assert found.kind == "protocol"


def test_a_server_that_refuses_says_so_in_its_own_words() -> None:
    with StubServer() as stub:
        stub.pages["/v1/completions"] = error(400, "prompt_logprobs is not supported here")
        assert asked(stub) == Failure(kind="http", message="HTTP 400: prompt_logprobs is not supported here")


def test_an_answer_is_read_as_far_as_there_is_room_after_its_prompt() -> None:
    whole = response(prompt_ids=(1,) * 1000, token_ids=tuple(range(100)))
    found = forcing.given(whole)
    assert found == Given(prompt=(1,) * 1000, answer=tuple(range(FORCED_TOKENS - 1000)))


@pytest.mark.parametrize(
    "told",
    [{"prompt_ids": None}, {"prompt_ids": (1, 2), "token_ids": None}, {"prompt_ids": (1, 2), "token_ids": ()},
     {"prompt_ids": (1,) * FORCED_TOKENS}],
)  # fmt: skip
def test_without_ids_or_room_nothing_can_be_asked(told: dict[str, Any]) -> None:
    assert forcing.given(response(**told)) is None


def test_another_prompt_and_another_answer_have_other_hashes_and_where_one_ends_counts() -> None:
    shas = {Given(prompt=p, answer=a).sha for p, a in (((1, 2), (3,)), ((1,), (2, 3)), ((1, 2), (4,)), ((9, 2), (3,)))}
    assert len(shas) == 4
