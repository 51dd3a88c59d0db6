"""How a token is chosen: what is sent with a question under `sampling: greedy` and under `sampling: model`."""

import hashlib
import json
from pathlib import Path

from evals import fields
from evals.errors import ConfigError
from evals.experiment import GREEDY, NEUTRAL, Arm
from evals.records import JsonDict

_OWN = ("temperature", "top_p", "top_k", "min_p", "presence_penalty", "repetition_penalty")
"""What an experiment file sets by name."""


def settings(arm: Arm) -> JsonDict:
    """The sampling and template fields of the arm's requests, all sent explicitly.

    `model` takes what the checkpoint's generation_config.json recommends; what the arm itself sets always wins.

    Raises:
        ConfigError: `sampling: model` where generation_config.json is missing and no temperature is given, or can't be read.
    """
    request = arm.request
    own = {name: value for name in _OWN if (value := getattr(request, name)) is not None}
    base = GREEDY if arm.sampling == "greedy" else NEUTRAL | _recommended(arm, own)
    thinking = arm.thinking.fields() if arm.thinking else {}
    out: JsonDict = base | thinking | own | request.extra_body
    if request.chat_template_kwargs or "chat_template_kwargs" in thinking:
        out["chat_template_kwargs"] = thinking.get("chat_template_kwargs", {}) | request.chat_template_kwargs
    if request.reasoning_effort is not None:
        out["reasoning_effort"] = request.reasoning_effort
    return out


def asked_to_think(arm: Arm, version: str | None) -> bool | None:
    """Whether a server of this version is told to think, or not to; None where nobody says: the model's default holds."""
    defaults = arm.args.get("default-chat-template-kwargs")
    return fields.asked_to_think(version, settings(arm), defaults if isinstance(defaults, dict) else {})


def seed(sample_id: str, round_: int) -> int:
    """One seed for a sample and a round, the same for every arm; 31 bits."""
    return int.from_bytes(hashlib.sha256(f"{sample_id} {round_}".encode()).digest()[:4], "big") >> 1


def _recommended(arm: Arm, own: JsonDict) -> JsonDict:
    path = Path(arm.model or "") / "generation_config.json"
    remedy = "write temperature, top_p and top_k under `request:`"
    if not path.is_file():
        if "temperature" in own:
            return {}
        raise ConfigError(f"`model` needs the checkpoint's generation_config.json, and there is no local {path}; {remedy}")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise ConfigError(
            f"`model` needs the checkpoint's generation_config.json, and {path} can't be read: {e}; {remedy}"
        ) from e
    if not isinstance(found, dict):
        raise ConfigError(f"{path} is not a JSON object; {remedy}")
    return {name: found[name] for name in NEUTRAL if found.get(name) is not None}
