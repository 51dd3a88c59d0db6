"""How many tokens a prompt takes, by the server's own /tokenize: its tokenizer and template, the arm's settings."""

import json
from typing import Any

import httpx

from evals.client import Endpoint, http_options
from evals.errors import NoTokenCount
from evals.records import JsonDict, Message

TIMEOUT_S = 120.0
"""A prompt of 100K tokens takes a second, and longer beside others."""


class TokenCounter:
    """Counts messages as the server will render them. `settings` is the rest of the chat request's body."""

    def __init__(self, endpoint: Endpoint, settings: JsonDict) -> None:
        self.endpoint = endpoint
        self._fixed: JsonDict = {"model": endpoint.model, "add_generation_prompt": True} | _template_fields(settings)
        self.max_model_len: int | None = None
        """Of the server, once something was counted; None where it does not tell."""

    def __call__(self, messages: tuple[Message, ...]) -> int:
        """Raises NoTokenCount, in one line."""
        sent = self._fixed | {"messages": [{"role": m.role, "content": m.content} for m in messages]}
        payload = self._posted(sent)
        count = payload.get("count") if isinstance(payload, dict) else None
        if type(count) is not int or count < 1:
            raise NoTokenCount(f"{self.endpoint.url}/tokenize: no count in its answer: {json.dumps(payload)[:200]}")
        limit = payload.get("max_model_len")
        self.max_model_len = int(limit) if str(limit).isdigit() else None
        return count

    def _posted(self, sent: JsonDict) -> Any:
        url = f"{self.endpoint.url}/tokenize"
        headers = {"authorization": f"Bearer {self.endpoint.api_key}"}
        try:
            response = httpx.post(url, json=sent, headers=headers, timeout=TIMEOUT_S, **http_options(url))
            response.raise_for_status()
            return response.json()
        except httpx.HTTPStatusError as e:
            status, said = e.response.status_code, " ".join(e.response.text.split())[:200]
            remedy = "; needles need the endpoint of vLLM itself, which has it" if status in (404, 405) else ""
            raise NoTokenCount(f"{url}: HTTP {status}: {said}{remedy}") from e
        except httpx.TimeoutException as e:
            raise NoTokenCount(f"{url}: no answer in {TIMEOUT_S:.0f} s") from e
        except (httpx.HTTPError, ValueError) as e:  # ValueError: no JSON, as gateways send
            raise NoTokenCount(f"{url}: {' '.join(str(e).split())[:200] or type(e).__name__}") from e


def _template_fields(settings: JsonDict) -> JsonDict:
    """What the chat template sees of a request: vLLM hands `reasoning_effort` to it as one of its variables."""
    variables = dict(settings.get("chat_template_kwargs") or {})
    if "reasoning_effort" in settings:
        variables.setdefault("reasoning_effort", settings["reasoning_effort"])
    fields: JsonDict = {"chat_template_kwargs": variables} if variables else {}
    return fields | {k: settings[k] for k in ("chat_template", "add_special_tokens") if k in settings}
