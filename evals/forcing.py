"""How likely a server finds an answer that another gave: prompt and answer go out as token ids, log-probabilities come back.

/v1/completions with `prompt_logprobs` reads the ids as they are, so that no template and no tokenizer comes between. The server
passes over its prefix cache, reads all of them in one forward pass, and computes logits over the whole vocabulary at each.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from evals.client import Client
from evals.likelihood import CONSTANT, Untrue, number
from evals.plan import FORCED_TOKENS
from evals.records import Failure, JsonDict, Response, TopTwo

BODY: JsonDict = {"max_tokens": 1, "temperature": 0.0, "prompt_logprobs": 2}
"""What is sent beside the ids. vLLM wants to generate at least one token."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """An answer that was given, as token ids."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    """As much of it as there is room for after the prompt; never empty."""

    @property
    def tokens(self) -> int:
        return len(self.prompt) + len(self.answer)

    @property
    def sha(self) -> str:
        told = json.dumps([self.prompt, self.answer])
        return hashlib.sha256(told.encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a server says of an answer's tokens."""

    logprobs: tuple[float, ...]
    top_two: tuple[TopTwo, ...]


def given(response: Response) -> Given | None:
    """None where the engine did not tell the ids, nothing was answered, or the prompt leaves no room."""
    if not response.prompt_ids or not response.token_ids or len(response.prompt_ids) >= FORCED_TOKENS:
        return None
    return Given(prompt=response.prompt_ids, answer=response.token_ids[: FORCED_TOKENS - len(response.prompt_ids)])


async def ask(client: Client, what: Given) -> Told | Failure:
    answer = await client.post("/v1/completions", {"prompt": [*what.prompt, *what.answer], **BODY})
    return answer if isinstance(answer, Failure) else parse(answer.payload, what)


def parse(payload: Any, what: Given) -> Told | Failure:
    """One `text_completion` object → what it says of the answer; what can't be true is a failure, and never a figure."""
    try:
        told = payload["choices"][0]["prompt_logprobs"]
    except (KeyError, IndexError, TypeError):
        return Failure(kind="protocol", message=f"no completion: {json.dumps(payload)[:200]}")
    if not isinstance(told, list):
        return Failure(kind="no_logprobs", message="no_logprobs: the server answered without the prompt's log-probabilities")
    ids = [*what.prompt, *what.answer]
    if len(told) != len(ids):
        return Failure(kind="no_logprobs", message=f"no_logprobs: the server scored {len(told)} tokens of {len(ids)}")
    try:
        places = [_place(place, token) for place, token in zip(told[1:], ids[1:], strict=True)]  # the first follows nothing
    except Untrue as e:
        return Failure(kind="no_logprobs", message=f"no_logprobs: {e}")
    except (KeyError, TypeError, AttributeError):
        return Failure(kind="protocol", message=f"prompt_logprobs of another shape than vLLM's: {json.dumps(told)[:200]}")
    if len(places) >= CONSTANT and len({place.own for place in places}) == 1:
        return Failure(kind="no_logprobs", message=f"no_logprobs: all {len(places)} tokens have the same, {places[0].own:g}")
    answer = places[len(what.prompt) - 1 :]
    return Told(logprobs=tuple(place.own for place in answer), top_two=tuple(place.top_two for place in answer))


@dataclass(frozen=True, kw_only=True)
class _Place:
    own: float
    top_two: TopTwo


def _place(told: Any, token: int) -> _Place:
    """`{"1234": {"logprob": -0.5, "rank": 1, "decoded_token": " the"}, …}`: the token's own and the two likeliest."""
    values = sorted((number(entry["logprob"]) for entry in told.values()), reverse=True)
    if len(values) < 2 or str(token) not in told:
        raise Untrue(
            f"the server told of the tokens {', '.join(told)[:80] or 'none'} where {token} and the two likeliest belong"
        )
    return _Place(own=number(told[str(token)]["logprob"]), top_two=TopTwo(first=values[0], second=values[1]))
