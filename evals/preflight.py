"""Is this arm worth measuring, and is it comparable? A few questions under its own settings, before it is asked hundreds."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx

from evals import arm_flags, checks, efforts, sampling, switches
from evals.checks import SHORT_TOKENS
from evals.client import Client, Endpoint, body, http_options
from evals.engine import CANARY, CANARY_TOKENS, Server
from evals.errors import CanaryError, NoTokenCount, ServerDied
from evals.experiment import Arm
from evals.records import Check, Failure, JsonDict, Message, Preflight, Response, Sample
from evals.switches import Switch
from evals.tokens import TokenCounter

SHORT_ANSWERS = 12
"""Questions that are asked for a look at the answers."""
PAGE_S = 30.0
Answers = dict[str, Response]


def check(arm: Arm, server: Server, samples: Sequence[Sample], baseline: Preflight | None, like_baseline: bool) -> Preflight:
    """Look at a server that is known to answer. `samples`: some of those that it will be asked.

    `baseline`: what the baseline's server showed, where the arm is not the baseline and that is known; `like_baseline`:
    whether the arm was declared to render the same prompts.

    Raises:
        ServerDied: it answers nobody any more.
        CanaryError: a request under the arm's settings failed; other arms on this server are not touched by it.
    """
    settings = brief(sampling.settings(arm))
    asked = asyncio.run(_ask(arm, server, settings, samples[:SHORT_ANSWERS]))
    thinks = sampling.asked_to_think(arm, server.info.version)
    answers = {key: replace(a, asked_to_think=thinks) for key, a in asked.short.items() if isinstance(a, Response)}
    broken = checks.broken(answers)
    models = _models(server.endpoint)
    told = _max_model_len(server.endpoint, models)
    found = [
        checks.version(arm_flags.declared(arm), server.info.version, server.info.fingerprint),
        checks.models(arm, server.endpoint.model, models),
        checks.fields(arm, _request_fields(server.endpoint)),
        *asked.switches,
        checks.structure(settings, answers),
        checks.prompts(like_baseline, answers, baseline),
        checks.double_bos(answers, baseline),
        checks.degenerate(answers, broken, baseline),
        checks.places(answers),
        checks.unanswered(asked.short),
        checks.context(arm.max_model_len, told, _accepted(server, settings, told) if told else None),
    ]
    if not server.alive():
        raise ServerDied(f"the server ended at its first requests: {server.cause()}", server.log_tail())
    return Preflight(
        launch=server.info.launch, checks=tuple(c for c in found if c is not None), asked=tuple(answers),
        broken=tuple(sorted(broken)), prompts=checks.hashes(answers), lengths=checks.counts(answers),
    )  # fmt: skip


def brief(settings: JsonDict) -> JsonDict:
    """An arm's settings for an answer of few tokens."""
    return {name: value for name, value in settings.items() if name != "min_tokens"}


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What came of every question."""

    short: dict[str, Response | Failure]
    switches: list[Check]


async def _ask(arm: Arm, server: Server, settings: JsonDict, samples: Sequence[Sample]) -> _Asked:
    async with Client(server.endpoint, timeout_s=arm.request.timeout_s, alive=server.alive) as client:
        first = await client.chat(CANARY, body(settings, max_tokens=CANARY_TOKENS))
        if isinstance(first, Failure) and not server.alive():
            raise ServerDied(f"the server ended at a first request: {server.cause() or first.message}", server.log_tail())
        if isinstance(first, Failure):
            words = "the server rejects this arm's request settings" if checks.rejected(first) else "a first request failed"
            raise CanaryError(efforts.failure(arm, first.message) or f"{words}: {first.message}", server.log_tail())
        seen = [await _seen(client, one, settings) for one in switches.of(arm, settings)]
        short = await asyncio.gather(*(
            client.chat(s.messages, body(settings | _seed(settings, s), max_tokens=SHORT_TOKENS)) for s in samples
        ))  # fmt: skip
    return _Asked(short={s.id: answer for s, answer in zip(samples, short, strict=True)}, switches=seen)


def _seed(settings: JsonDict, sample: Sample) -> JsonDict:
    return {"seed": sampling.seed(sample.id, 0)} if settings.get("temperature") else {}


async def _seen(client: Client, switch: Switch, settings: JsonDict) -> Check:
    """Both values, at temperature 0 so that nothing but the switch makes a difference."""
    still = {"temperature": 0.0}
    with_it = await client.chat(CANARY, body(settings | still, max_tokens=CANARY_TOKENS))
    with_other = await client.chat(CANARY, body(brief(switch.contrast) | still, max_tokens=CANARY_TOKENS))
    if not checks.alike(with_it, with_other):
        return checks.switch(switch, with_it, with_other)
    again = await client.chat(CANARY, body(settings | still, max_tokens=CANARY_TOKENS))
    return checks.switch(switch, with_it, with_other, again)


def _page(endpoint: Endpoint, path: str) -> Any:
    """A page's JSON; None where there is none."""
    headers = {"authorization": f"Bearer {endpoint.api_key}"}
    try:
        response = httpx.get(f"{endpoint.url}{path}", timeout=PAGE_S, headers=headers, **http_options(endpoint.url))
        response.raise_for_status()
        return response.json()
    except (httpx.HTTPError, ValueError):
        return None


def _models(endpoint: Endpoint) -> list[JsonDict]:
    """As /v1/models lists them."""
    page = _page(endpoint, "/v1/models")
    rows = page.get("data") if isinstance(page, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _max_model_len(endpoint: Endpoint, models: Sequence[JsonDict]) -> int | None:
    told = next((row.get("max_model_len") for row in models if row.get("id") == endpoint.model), None)
    return int(str(told)) if str(told).isdigit() else None


def _request_fields(endpoint: Endpoint) -> frozenset[str] | None:
    """The fields of a chat request by the server's own description, which FastAPI makes of the code."""
    try:
        found = frozenset(_page(endpoint, "/openapi.json")["components"]["schemas"]["ChatCompletionRequest"]["properties"])
    except (KeyError, TypeError):
        return None
    return found if "chat_template_kwargs" in found else None  # else it is a gateway's, which may hand on what it does not name


def _accepted(server: Server, settings: JsonDict, told: int) -> bool | str | None:
    """Whether a prompt that leaves room for one token is taken. None where it can't be made, or the server is not ours."""
    if server.running is None:
        return None
    count = TokenCounter(server.endpoint, settings)
    try:
        few, more = (count(_words(n)) for n in (100, 1100))
        words = 100 + (told - 1 - few) * 1000 // max(more - few, 1)
        if words < 1 or not 0.9 * told < count(_words(words)) < told:
            return None
    except NoTokenCount:
        return None
    return _begun(server.endpoint, settings | {"max_tokens": 1}, _words(words))


def _words(n: int) -> tuple[Message, ...]:
    return (Message(role="user", content=" the" * n),)


def _begun(endpoint: Endpoint, settings: JsonDict, messages: tuple[Message, ...]) -> bool | str | None:
    """Whether a request is begun with: as a stream it is accepted before it is computed, and then broken off."""
    sent = settings | {
        "model": endpoint.model,
        "stream": True,
        "messages": [{"role": m.role, "content": m.content} for m in messages],
    }
    url, headers = f"{endpoint.url}/v1/chat/completions", {"authorization": f"Bearer {endpoint.api_key}"}
    try:
        with httpx.stream("POST", url, json=sent, headers=headers, timeout=PAGE_S, **http_options(url)) as response:
            if response.status_code < 400:
                return True
            response.read()
            if response.status_code not in (400, 413, 422):
                return None
            return f"HTTP {response.status_code}: {' '.join(response.text.split())[:200]}"
    except httpx.HTTPError:
        return None
