"""The one client: a question goes out, a `Response` or a `Failure` comes back. Nothing is scored here."""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp
import httpx
import openai
from openai import AsyncOpenAI, DefaultAioHttpClient
from pydantic import TypeAdapter, ValidationError
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential, wait_random

from evals.fields import REASONING
from evals.records import Failure, JsonDict, Message, Response, Sample, TopTwo

ATTEMPTS = 4
FIRST_WAIT_S = 0.5
MAX_WAIT_S = 30.0


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where an OpenAI-compatible server listens."""

    url: str
    """Up to and without `/v1`."""
    model: str
    api_key: str


@dataclass(frozen=True, kw_only=True)
class Posted:
    payload: Any
    """JSON; None where it was none."""
    latency_s: float
    """Of the last attempt."""


class Client:
    """An async client with bounded retries. Use as an async context manager, inside one event loop."""

    def __init__(self, endpoint: Endpoint, *, timeout_s: float, alive: Callable[[], bool], attempts: int = ATTEMPTS) -> None:
        self.endpoint, self.alive, self.attempts = endpoint, alive, attempts
        self._openai = AsyncOpenAI(
            base_url=f"{endpoint.url}/v1", api_key=endpoint.api_key, timeout=timeout_s, max_retries=0,
            http_client=DefaultAioHttpClient(**http_options(endpoint.url)),
        )  # fmt: skip

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._openai.close()

    async def chat(self, messages: tuple[Message, ...], settings: JsonDict) -> Response | Failure:
        """Ask /v1/chat/completions. `settings` is the rest of the request's body, as `body` builds it."""
        sent = [{"role": m.role, "content": m.content} for m in messages]
        answer = await self.post("/v1/chat/completions", {"messages": sent, **settings})
        return answer if isinstance(answer, Failure) else parse_chat(answer.payload, answer.latency_s)

    async def post(self, path: str, sent: JsonDict) -> "Posted | Failure":
        """What the server answers to one request about its model."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.attempts), wait=_wait, retry=retry_if_exception(self._worth_retrying), reraise=True
        )
        start = time.monotonic()
        try:
            async for attempt in retrying:
                with attempt:
                    start = time.monotonic()
                    raw = await self._openai.post(
                        f"{self.endpoint.url}{path}", cast_to=httpx.Response, body={"model": self.endpoint.model, **sent}
                    )
            return Posted(payload=_loads(raw.text), latency_s=time.monotonic() - start)
        except openai.APIConnectionError as e:
            if _timed_out(e):
                waited_s = time.monotonic() - start
                return Failure(kind="timeout", message=f"no answer in {waited_s:.0f} s; raise request.timeout_s")
            return Failure(kind="connection", message=_one_line(e.__cause__ or e))
        except openai.APIStatusError as e:
            return Failure(kind="http", message=f"HTTP {e.status_code}: {_error_text(e)}")
        except (json.JSONDecodeError, openai.APIError) as e:
            return Failure(kind="protocol", message=f"no answer of an OpenAI-compatible server: {_one_line(e)}")

    def _worth_retrying(self, error: BaseException) -> bool:
        if isinstance(error, openai.APIConnectionError):
            # A timeout has had its time; another try would double the hours that a hung engine costs.
            return not _timed_out(error) and self.alive()
        return (
            isinstance(error, openai.APIStatusError) and (error.status_code == 429 or error.status_code >= 500) and self.alive()
        )


def body(settings: JsonDict, *, max_tokens: int, top_logprobs: int | None = None) -> JsonDict:
    """The request's body beside model and messages. Token ids are always asked for; old engines ignore the field."""
    out: JsonDict = {"max_tokens": max_tokens, "return_token_ids": True, **settings}
    if top_logprobs is not None:
        out |= {"logprobs": True, "top_logprobs": top_logprobs}
    return out


def _loads(text: str) -> Any:
    """JSON of any depth and with any number, or None: what is no answer must cost one sample, never the run."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_RESPONSE = TypeAdapter(Response)


def parse_chat(payload: Any, latency_s: float) -> Response | Failure:
    """One `chat.completion` object as any vLLM since 0.8 sends it → Response; anything else is a protocol failure."""
    try:
        return _parse_chat(payload, latency_s)
    except (ValidationError, KeyError, TypeError, ValueError, AttributeError) as e:
        return Failure(kind="protocol", message=f"an answer of another shape than vLLM's: {_one_line(e)[:200]}")


def _parse_chat(payload: Any, latency_s: float) -> Response | Failure:
    try:
        choice = payload["choices"][0]
        message = dict(choice["message"])
        usage = dict(payload.get("usage") or {})
        details = dict(usage.get("completion_tokens_details") or {})
        cached = dict(usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    except (KeyError, IndexError, TypeError, ValueError):
        return Failure(kind="protocol", message=f"no choices in the answer: {json.dumps(payload)[:200]}")
    if choice.get("finish_reason") in ("abort", "error"):  # the engine gave up on it; the model did not answer wrongly
        return Failure(kind="protocol", message=f"the engine ended the request with {choice['finish_reason']!r}")
    drafts = _drafts(payload.get("metrics"))
    prompt_ids, token_ids = payload.get("prompt_token_ids"), choice.get("token_ids")
    response = Response(
        text=message.get("content"),
        reasoning=next((message[name] for name in REASONING if message.get(name)), None),
        finish_reason=choice.get("finish_reason"),
        token_ids=tuple(token_ids) if token_ids is not None else None,
        prompt_ids_sha=ids_sha(prompt_ids) if prompt_ids else None,
        prompt_start=tuple(prompt_ids[:2]) if prompt_ids else (),
        prompt_ids=tuple(prompt_ids) if prompt_ids else None,
        top_two=_top_two(choice.get("logprobs")),
        prompt_tokens=usage.get("prompt_tokens"),
        completion_tokens=usage.get("completion_tokens"),
        reasoning_tokens=details.get("reasoning_tokens"),
        latency_s=latency_s,
        fingerprint=payload.get("system_fingerprint"),
        draft_tokens=drafts.get("num_draft_tokens"),
        accepted_tokens=drafts.get("num_accepted_draft_tokens"),
        cached_tokens=cached,
    )
    return _RESPONSE.validate_python(asdict(response))


def _drafts(metrics: Any) -> dict[str, int]:
    """What vLLM 0.29 and later tell with --per-request-spec-decode-metrics; an odd form of it spoils no answer."""
    told = metrics.get("speculative_decoding") if isinstance(metrics, dict) else None
    return {k: v for k, v in told.items() if type(v) is int} if isinstance(told, dict) else {}


def ids_sha(ids: list[int]) -> str:
    return hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:16]


def prompt_sha(sample: Sample) -> str:
    """Over all that is asked, the same for every arm."""
    parts = [[m.role, m.content] for m in sample.messages] + [[c.after, c.text] for c in sample.choices]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _top_two(logprobs: Any) -> tuple[TopTwo, ...] | None:
    content = (logprobs or {}).get("content")
    if not content:
        return None
    pairs = []
    for position in content:
        best = sorted((top["logprob"] for top in position.get("top_logprobs") or []), reverse=True)
        if len(best) < 2:
            return None
        pairs.append(TopTwo(first=best[0], second=best[1]))
    return tuple(pairs)


def _wait(state: RetryCallState) -> float:
    """As long as the server asked for (Retry-After), else exponential with jitter; seconds."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, openai.APIStatusError):
        asked = error.response.headers.get("retry-after", "")
        if asked.replace(".", "", 1).isdigit():
            return min(float(asked), MAX_WAIT_S)
    return (wait_exponential(multiplier=FIRST_WAIT_S, max=MAX_WAIT_S) + wait_random(0, FIRST_WAIT_S))(state)


def http_options(url: str) -> JsonDict:
    """httpx's options for a server: no proxy on loopback, where HTTP_PROXY would lead elsewhere; no certificates for http.

    Reading the certificates costs 40 ms, and a starting server is asked for its health four times a second.
    """
    parts = urlsplit(url)
    return {"trust_env": parts.hostname not in ("127.0.0.1", "localhost", "::1"), "verify": parts.scheme == "https"}


def _timed_out(error: openai.APIConnectionError) -> bool:
    """openai's aiohttp transport calls a refused or broken connection a timeout, too; aiohttp's own exception tells."""
    own = error.__cause__.__cause__ if error.__cause__ else None
    lost = isinstance(own, aiohttp.ClientConnectionError) and not isinstance(own, TimeoutError)
    return isinstance(error, openai.APITimeoutError) and not lost


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:400] or type(error).__name__


def _error_text(error: openai.APIStatusError) -> str:
    detail = error.body
    if isinstance(detail, dict):
        inner = detail.get("error")
        detail = inner.get("message") if isinstance(inner, dict) else detail.get("message", detail)
    return " ".join(str(detail or error.response.text).split())[:400]
