"""What an arm's request asks for beside the question, and how one sees whether a server does it. Pure.

vLLM answers 200 to a field that it does not know, and a chat template ignores a variable that it does not name.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from evals import efforts
from evals.experiment import Arm
from evals.fields import THINKING_VARIABLES
from evals.records import JsonDict, Response

_TEMPLATE = "chat_template_kwargs"
_EFFORTS = ("low", "high")
"""Every level that some model takes lies between these; a model that takes one of the two is asked for the other."""
_NOT_SENT = ("chat_template_kwargs", "extra_body", "timeout_s")


@dataclass(frozen=True, kw_only=True)
class Switch:
    """One setting, and another value of it that a working server answers otherwise to."""

    name: str
    """As it is written in the request: `chat_template_kwargs.enable_thinking`."""
    value: str
    other: str
    """What it is compared with."""
    contrast: JsonDict
    """The whole of the request's settings with that other value."""


def of(arm: Arm, settings: JsonDict) -> tuple[Switch, ...]:
    """The switches of an arm whose effect must show in the prompt or in the answer. `settings`: the body of its requests."""
    return tuple(_switches(arm, settings))


def _switches(arm: Arm, settings: JsonDict) -> Iterator[Switch]:
    given = dict(settings.get(_TEMPLATE) or {})
    if arm.thinking:  # which may be told in several ways, of which a model heeds one
        if (contrast := efforts.contrast(arm)) is not None:
            other = str(arm.thinking.contrast)
            yield Switch(name="thinking", value=arm.thinking.effort, other=other, contrast=contrast)
        return
    for key in THINKING_VARIABLES:
        if isinstance(value := given.get(key), bool):
            contrast = settings | {_TEMPLATE: given | {key: not value}}
            name, other = f"{_TEMPLATE}.{key}", json.dumps(not value)
            yield Switch(name=name, value=json.dumps(value), other=other, contrast=contrast)
    effort = arm.request.reasoning_effort
    if effort is not None:
        other = next(level for level in _EFFORTS if level != effort)
        contrast = settings | {"reasoning_effort": other}
        yield Switch(name="reasoning_effort", value=effort, other=other, contrast=contrast)


def sent(arm: Arm) -> frozenset[str]:
    """The names of the request fields that the experiment sets."""
    own = {name for name, value in asdict(arm.request).items() if value is not None and name not in _NOT_SENT}
    thinking = arm.thinking.fields().keys() if arm.thinking else set()
    template = {_TEMPLATE} if arm.request.chat_template_kwargs else set()
    return frozenset(own | arm.request.extra_body.keys() | template | thinking)


def disobeyed(settings: JsonDict, response: Response) -> str | None:
    """The name of a structured-output field that a finished answer does not keep to; None where it keeps to all."""
    text = response.text or ""
    return next((name for name, kept in _structures(settings) if not kept(text)), None)


def _structures(settings: JsonDict) -> Iterator[tuple[str, Any]]:
    """What is asked of the form of an answer, under its names of all versions, each with its test."""
    nested = settings.get("structured_outputs")
    asked = [(f"structured_outputs.{k}", k, v) for k, v in nested.items()] if isinstance(nested, dict) else []
    asked += [(name, name.removeprefix("guided_"), v) for name, v in settings.items() if name.startswith("guided_")]
    for name, kind, value in asked:
        match kind, value:
            case (("json" | "json_object"), _) if value:
                yield name, _is_json
            case "choice", list():
                yield name, lambda text, value=value: text.strip() in map(str, value)
            case "regex", str():
                yield name, lambda text, value=value: _matches(value, text)
    form = settings.get("response_format")
    if isinstance(form, dict) and form.get("type") in ("json_object", "json_schema"):
        yield "response_format", _is_json


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _matches(pattern: str, text: str) -> bool:
    """A pattern that Python does not read proves nothing."""
    try:
        return re.fullmatch(pattern, text.strip(), re.DOTALL) is not None
    except re.error:
        return True
