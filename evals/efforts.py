"""Thinking efforts: how each reaches a model, by chat template, by parser and by vLLM version. The one table of it."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, get_args

from packaging.version import Version

from evals import engines, sampling
from evals.document import Place, did_you_mean
from evals.errors import ConfigError
from evals.experiment import Arm, DockerEngine, Effort, Thinking, UrlEngine
from evals.fields import THINKING_VARIABLES
from evals.records import JsonDict
from evals.vocabulary import Span, has, parsed

EFFORTS: tuple[Effort, ...] = get_args(Effort)
_ALSO_OFF = ("none", "false")
"""`false` is what YAML's `off` becomes in other hands."""

_SINCE = {
    **dict.fromkeys(("low", "medium", "high"), Span(first="0.10.2", last=None)),
    "xhigh": Span(first="0.22.1", last=None),
    "none": Span(first="0.22.1", last=None),
}
"""Values of the request's `reasoning_effort`, by the vLLM that takes them (read in the wheels of 0.8.5 to 0.33.0). Another is
HTTP 400. 0.20 takes `none`, hides the reasoning, and leaves thinking on: from 0.22.1 it is `enable_thinking: false` as well."""

SWITCHES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("qwen3", "glm45", "glm47", "gemma4", "hunyuan_a13b", "nemotron_v3"), ("enable_thinking",)),
    **dict.fromkeys(("deepseek_v3", "deepseek_v4", "granite", "holo2"), ("thinking",)),
    "mistral": (),
}
"""--reasoning-parser → the variables by which its models' chat templates switch thinking; Mistral's tokenizer takes none."""
# Where nothing is known of the template all are sent: one that doesn't name a variable is not told it.

TOKENS: dict[Effort, int] = {"off": 0, "low": 8192, "medium": 16_384, "high": 32_768, "xhigh": 32_768}
"""Room for thinking beside the answer's own, as far as the context goes."""
TIMEOUT_S = 3600.0
"""For an arm that thinks: 32,768 tokens at ten a second."""


@dataclass(frozen=True, kw_only=True)
class _Model:
    name: str
    pattern: str
    """In the model's id or folder."""
    parser: str
    """A --reasoning-parser that no other model has; empty for none."""
    takes: tuple[Effort, ...]
    enforced: bool
    """By vLLM itself, so that the rest can't work; else by the template that comes with the model, which may be another."""


_MODELS = (
    _Model(name="gpt-oss", pattern=r"gpt[-_]?oss", parser="openai_gptoss", takes=("low", "medium", "high"), enforced=True),
    _Model(name="Qwen3.8", pattern=r"qwen-?3[._]8", parser="", takes=("off", "low", "medium", "xhigh"), enforced=False),
)


def read(word: str, place: Place, fail: Callable[[Place, str], NoReturn]) -> Effort:
    """As the file writes it; complaints go by way of `fail`."""
    known: dict[str, Effort] = {effort: effort for effort in EFFORTS} | dict.fromkeys(_ALSO_OFF, "off")
    if word.lower() in ("on", "true", "yes"):
        fail(place, f"{word!r} does not say how much; write one of: {', '.join(EFFORTS[1:])}")
    if word.lower() not in known:
        said = f"there is no effort {word!r}{did_you_mean(word, known)}; known: {', '.join(EFFORTS)}"
        fail(place, f"{said}; another of the model's own goes under `request: {{reasoning_effort: …}}`")
    return known[word.lower()]


def thinking(arm: Arm, effort: Effort) -> Thinking:
    """How the effort reaches the arm's model.

    Raises:
        ConfigError: it can't, or `request` says otherwise; one line with what to do.
    """
    at, model, text = parsed(engines.version(arm.engine)), _model(arm), _template(arm)
    if model and model.enforced and effort not in model.takes:
        raise ConfigError(f"{model.name} takes {', '.join(model.takes)} and not {effort}; name one of these")
    if text is None:
        switches, levels = SWITCHES.get(str(arm.args.get("reasoning-parser")), THINKING_VARIABLES), True
    else:
        switches, levels = tuple(s for s in THINKING_VARIABLES if _names(text, s)), _names(text, "reasoning_effort")
    if not switches and not levels:
        raise ConfigError(
            "the model's chat template names none of enable_thinking, thinking and reasoning_effort, so that no request can "
            "switch its thinking; take `thinking` out, or give the server another `chat-template`"
        )
    if effort != "off" and levels and not _takes(at, effort):
        known = [e for e in EFFORTS if e == "off" or _takes(at, e)]
        raise ConfigError(
            f"vLLM {at} does not take reasoning_effort: {effort} yet ({_SINCE[effort].first} does), only: {', '.join(known)}; "
            "name one of these, or a newer version"
        )
    none = _takes(at, "none") if not switches else text is None and at is not None and _takes(at, "none")
    if effort == "off" and not switches and not none:
        raise ConfigError(f"the model is switched off by reasoning_effort: none alone, and vLLM {at} does not heed it yet")
    _refuse_contradiction(arm, effort, switches)
    doubt = ""
    if model and effort not in model.takes and (text is None or not re.search(rf"['\"]{effort}['\"]", text)):
        doubt = f"{model.name} takes {', '.join(model.takes)} as it comes, and answers {effort} with HTTP 500"
    return Thinking(effort=effort, switches=switches, levels=levels, none=none, tokens=TOKENS[effort], doubt=doubt)


def applied(arm: Arm, effort: Effort, said: set[str]) -> Arm:
    """The arm with the effort, and with what thinking asks for unless the file has `said` it: sampling, timeout_s.

    Raises:
        ConfigError: as `thinking`.
    """
    arm = replace(arm, thinking=thinking(arm, effort))
    if effort == "off":
        return arm
    request = arm.request if "timeout_s" in said else replace(arm.request, timeout_s=TIMEOUT_S)
    return replace(arm, request=request, sampling=arm.sampling if "sampling" in said else "model")


def _takes(at: Version | None, value: str) -> bool:
    """Of a version that can't be read, or between those that were read, the server itself will tell."""
    return at is None or has(_SINCE[value], at) is not False


def _model(arm: Arm) -> _Model | None:
    parser, name = arm.args.get("reasoning-parser"), arm.model or ""
    return next((m for m in _MODELS if parser == m.parser or (m.pattern and re.search(m.pattern, name, re.IGNORECASE))), None)


def _refuse_contradiction(arm: Arm, effort: Effort, switches: tuple[str, ...]) -> None:
    own = {f"chat_template_kwargs.{name}": arm.request.chat_template_kwargs.get(name) for name in switches}
    own["reasoning_effort"] = None if (given := arm.request.reasoning_effort) is None else given not in ("none", "off")
    for name, on in own.items():
        if isinstance(on, bool) and on == (effort == "off"):
            raise ConfigError(f"{effort} and request.{name} say the opposite; take one of them out")


def _template(arm: Arm) -> str | None:
    """The chat template's text; None where it can't be seen from here."""
    if isinstance(arm.engine, UrlEngine):
        return None
    if (given := arm.args.get("chat-template")) is not None:
        return _text(Path(str(given)))
    folder: Path | None = Path(arm.model or "")
    if isinstance(arm.engine, DockerEngine) and engines.is_inside(arm.engine, arm.model or ""):
        folder = engines.mounted(arm.engine, arm.model or "")
    if not arm.model or folder is None:
        return None
    try:
        found = (
            _text(folder / "chat_template.jinja")
            or json.loads(_text(folder / "tokenizer_config.json") or "{}")["chat_template"]
        )
    except (ValueError, TypeError, KeyError):
        return None
    if isinstance(found, list):  # several by name, as of models with one for tools
        return "\n".join(str(one.get("template")) for one in found if isinstance(one, dict))
    return found if isinstance(found, str) else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _names(template: str, variable: str) -> bool:
    """Whether its code, which is neither text nor a string in quotes, has the variable."""
    code = " ".join(re.findall(r"\{[{%](.*?)[}%]\}", template, re.DOTALL))
    return bool(re.search(rf"(?<![.\w]){variable}\b", re.sub(r"'[^']*'|\"[^\"]*\"", "''", code)))


def with_contrasts(arms: tuple[Arm, ...]) -> tuple[Arm, ...]:
    """Each effort with the one that must differ from it: another level of its own server's, else off for on and on for off."""
    return tuple(replace(a, thinking=replace(a.thinking, contrast=_other(a, arms))) if a.thinking else a for a in arms)


def _other(arm: Arm, arms: tuple[Arm, ...]) -> Effort | None:
    if (mine := arm.thinking) is None:
        return None
    model, at = _model(arm), parsed(engines.version(arm.engine))
    beside = [a.thinking.effort for a in arms if a.thinking and a.server_key == arm.server_key]
    usual: list[Effort] = [e for e in (model.takes if model else EFFORTS) if e == "off" or not mine.levels or _takes(at, e)]
    levels = [e for e in (*beside, *usual) if e not in ("off", mine.effort)]
    if mine.effort == "off" or (mine.levels and any(e in beside for e in levels)):
        return next(iter(levels), None)
    return "off" if "off" in usual and (mine.switches or mine.none) else next(iter(levels), None)


def contrast(arm: Arm) -> JsonDict | None:
    """Request settings that differ from the arm's own in the effort alone: if the switch works, the prompt's token ids or the
    length of the thinking differ. None where the arm names no effort, or there is no other."""
    if arm.thinking is None or arm.thinking.contrast is None:
        return None
    fields = {"reasoning_effort", *arm.thinking.switches}
    kwargs = {k: v for k, v in arm.request.chat_template_kwargs.items() if k not in fields}
    body = {k: v for k, v in arm.request.extra_body.items() if k not in fields}
    request = replace(arm.request, reasoning_effort=None, chat_template_kwargs=kwargs, extra_body=body)
    other = replace(arm.thinking, effort=arm.thinking.contrast)
    return sampling.settings(replace(arm, thinking=other, request=request))


_REFUSAL = re.compile(r"reasoning[_ ]?effort|enable_thinking|chat_template is not supported", re.IGNORECASE)


def failure(arm: Arm, message: str) -> str | None:
    """What an answer such as `HTTP 500: …` says of the arm's effort; None where it is about something else.

    A template that does not know a level raises, and vLLM hands that on as 400 or 500, healthy as it is.
    """
    effort = arm.thinking.effort if arm.thinking else arm.request.reasoning_effort
    status = re.match(r"HTTP (\d+)", message)
    if effort is None or (status and status[1] not in ("400", "422", "500")) or not _REFUSAL.search(message):
        return None
    model = _model(arm)
    told = [e for e in EFFORTS if re.search(rf"\b{e}\b", message)]
    known = [e for e in (model.takes if model else told) if e != effort]
    levels = ", ".join(known) or "not known; try another, or `thinking: off`"
    return f"unsupported_effort: the model does not take {effort} ({message}); levels known to work here: {levels}"


def told(arm: Arm) -> str | None:
    """The effort by name, also where the file switches it by request fields or flags of its own: off, on, a level.

    None: nothing is said, and the model's template decides.
    """
    if arm.thinking:
        return arm.thinking.effort
    default = arm.args.get("default-chat-template-kwargs")
    fields: dict[str, Any] = (default if isinstance(default, dict) else {}) | arm.request.chat_template_kwargs
    switch = next((fields[name] for name in THINKING_VARIABLES if isinstance(fields.get(name), bool)), None)
    level = arm.request.reasoning_effort or fields.get("reasoning_effort")
    if switch is False or level == "none":
        return "off"
    return str(level) if level else "on" if switch else None


def asked(arm: Arm) -> str:
    """`thinking off, greedy`: under what the arm is judged."""
    temperature = sampling.settings(arm).get("temperature")
    chosen = f"sampled at temperature {temperature:g}" if isinstance(temperature, int | float) and temperature else "greedy"
    return f"{f'thinking {effort}' if (effort := told(arm)) else 'thinking as its template has it'}, {chosen}"
