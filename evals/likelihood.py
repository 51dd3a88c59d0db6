"""How likely a model finds given continuations of a text: what lm-eval's local-completions asks for, item by item.

The server's own tokenizer cuts the texts, and /v1/completions echoes the prompt with the log-probability of each of its tokens.
All continuations of a sample are one request, so that they are one response, or one failure.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evals.client import Client, ids_sha
from evals.records import Choice, Failure, JsonDict, Likelihood, Response, Sample

TOO_HIGH = 1e-3
"""No log-probability is above 0; a rounding error may be."""
CONSTANT = 4
"""Tokens of a prompt from which one value for all of them is no accident."""
BODY: JsonDict = {"max_tokens": 1, "temperature": 0.0, "logprobs": 1, "echo": True}
"""What is sent beside the prompts: lm-eval's own. Of an arm's request settings none could have an effect."""


async def ask(client: Client, sample: Sample) -> Response | Failure:
    """Every choice of a sample."""
    texts = [_split(sample.messages[c.after].content, c) for c in sample.choices]
    wanted = list(dict.fromkeys(part for text in texts for part in (text.before, text.whole)))
    encoded: dict[str, list[int]] = {}
    for text, ids in zip(wanted, await asyncio.gather(*(_tokens(client, text) for text in wanted)), strict=True):
        if isinstance(ids, Failure):
            return ids
        encoded[text] = ids
    prompts = [Prompt(ids=encoded[text.whole], start=len(encoded[text.before])) for text in texts]
    answer = await client.post("/v1/completions", {"prompt": [p.ids for p in prompts], **BODY})
    return answer if isinstance(answer, Failure) else parse(answer.payload, answer.latency_s, prompts)


@dataclass(frozen=True, kw_only=True)
class _Text:
    before: str
    whole: str


@dataclass(frozen=True, kw_only=True)
class Prompt:
    ids: list[int]
    start: int
    """Index of the continuation's first token."""


def _split(context: str, choice: Choice) -> _Text:
    """lm-eval counts white space at a context's end as the continuation's, for it belongs to that one's first token."""
    return _Text(before=context.rstrip(), whole=context + choice.text)


async def _tokens(client: Client, text: str) -> list[int] | Failure:
    """Without a BOS, as in lm-eval: none is added to ids either."""
    answer = await client.post("/tokenize", {"prompt": text, "add_special_tokens": False})
    if isinstance(answer, Failure):
        if answer.message.startswith(("HTTP 404", "HTTP 405")):
            where = "log-probabilities need the endpoint of vLLM itself, which has /tokenize"
            return Failure(kind=answer.kind, message=f"{answer.message}; {where}")
        return answer
    ids = answer.payload.get("tokens") if isinstance(answer.payload, dict) else None
    if not isinstance(ids, list) or not all(type(i) is int for i in ids):
        return Failure(kind="protocol", message=f"/tokenize: no tokens in its answer: {str(answer.payload)[:200]}")
    return ids


def parse(payload: Any, latency_s: float, prompts: Sequence[Prompt]) -> Response | Failure:
    """One `text_completion` object → Response; log-probabilities that can't be true are a failure, never a mark at chance."""
    try:
        told = sorted(payload["choices"], key=lambda choice: choice.get("index", 0))
        likelihoods = tuple(_one(choice.get("logprobs"), p) for choice, p in zip(told, prompts, strict=True))
        usage = payload.get("usage") or {}
        prompt_tokens, fingerprint = usage.get("prompt_tokens"), payload.get("system_fingerprint")
    except Untrue as e:
        return Failure(kind="no_logprobs", message=f"no_logprobs: {e}")
    except (KeyError, TypeError, ValueError, AttributeError):
        return Failure(kind="protocol", message=f"no completion of {len(prompts)} prompts: {str(payload)[:200]}")
    return Response(
        text=None, reasoning=None, finish_reason=None, token_ids=None, likelihoods=likelihoods, top_two=None,
        prompt_ids_sha=ids_sha([i for p in prompts for i in (*p.ids, p.start)]),
        prompt_tokens=prompt_tokens if type(prompt_tokens) is int else None, completion_tokens=None, reasoning_tokens=None,
        latency_s=latency_s, fingerprint=fingerprint if isinstance(fingerprint, str) else None,
    )  # fmt: skip


class Untrue(ValueError):
    """What the server sent is no set of log-probabilities of the prompt."""


def _one(logprobs: Any, prompt: Prompt) -> Likelihood:
    """Sum and greediness over a continuation's tokens. What was generated after it is not read."""
    n = len(prompt.ids)
    if not 0 < prompt.start < n:
        raise Untrue(f"a continuation has no token of its own: {n} with it, {prompt.start} before it")
    if not isinstance(logprobs, dict):
        raise Untrue(f"the server sent logprobs: {logprobs!r:.40}")
    values, tops = logprobs.get("token_logprobs"), logprobs.get("top_logprobs")
    if not isinstance(values, list) or not isinstance(tops, list) or not n <= len(values) == len(tops) <= n + 1:
        raise Untrue(f"the server scored {_length(values)} tokens of a prompt of {n}, one generated one among them")
    known = [number(value) for value in values[1:n]]  # of the first token there is none
    if len(known) >= CONSTANT and len(set(known)) == 1:
        raise Untrue(f"all {len(known)} tokens of a prompt have the same log-probability, {known[0]:g}")
    own, best = known[prompt.start - 1 :], [_best(top) for top in tops[prompt.start : n]]
    return Likelihood(logprob=sum(own), greedy=all(value == top for value, top in zip(own, best, strict=True)))


def _length(values: Any) -> str:
    return str(len(values)) if isinstance(values, list) else "no"


def _best(top: Any) -> float:
    if not isinstance(top, dict) or not top:
        raise Untrue(f"the server sent no likeliest token at a position: {top!r:.40}")
    return max(map(number, top.values()))


def number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise Untrue(f"{value!r:.40} is no log-probability")
    if value > TOO_HIGH:
        raise Untrue(f"{value:g} is above 0 and no log-probability (see the server's logprobs-mode)")
    return float(value)
