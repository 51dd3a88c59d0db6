"""What can be told of a model by its name and its flags: whether it thinks, whether it is a hybrid, whether it is here."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals import efforts
from evals.init.serve_command import ServeCommand

_THINKS = re.compile(r"qwen3(?!.*(?:instruct|coder|base|embedding|reranker|next|guard|omni|-vl))", re.IGNORECASE)
_HYBRID = re.compile(
    r"qwen3?[-_]?next|qwen-?3\.[5-9]|qwen3_[5-9]|kimi-linear|jamba|nemotron-?h|nemotron-3|falcon-h1|granite-?4|bamba|zamba|mamba"
    r"|lfm2|minimax-(?:text|m1)|plamo-?2|olmo.?hybrid",
    re.IGNORECASE,
)
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclass(frozen=True, kw_only=True)
class Thinking:
    off: bool
    """Whether it can be asked not to."""
    request: dict[str, Any]
    """What it needs where it can't."""
    why: str


def hybrid(model: str) -> bool:
    return bool(_HYBRID.search(model))


def thinking(command: ServeCommand) -> Thinking | None:
    """How to ask a model that thinks. None for one that does not, or that the command keeps from it."""
    parser = str(command.args.get("reasoning-parser", ""))
    if not parser and not _THINKS.search(command.model):
        return None
    default = command.args.get("default-chat-template-kwargs")
    if isinstance(default, dict) and (default.get("enable_thinking") is False or default.get("thinking") is False):
        return None
    if not efforts.SWITCHES.get(parser) and not _THINKS.search(command.model):
        why = (
            f"a guess: the model thinks (--reasoning-parser {parser}) and is not told otherwise, so it gets room to finish; "
            "an answer that is cut off counts as not correct"
        )
        return Thinking(off=False, request={"max_tokens": 8192, "timeout_s": 1800}, why=why)
    told = f"--reasoning-parser {parser}" if parser else "by its name"
    why = (
        f"a guess: the model thinks ({told}), and without thinking its answers are short and cheap to compare. To judge it "
        "thinking, write medium, or another effort, in place of off, and expect many times the hours"
    )
    return Thinking(off=True, request={}, why=why)


def missing(command: ServeCommand, folder: Path) -> str | None:
    """Why `plan` would refuse the model, if it would."""
    model = command.model
    for volume in command.docker.volumes if command.docker else ():
        source, target = volume.split(":")[:2]
        if model == target or model.startswith(target.rstrip("/") + "/"):
            inside = _folder(folder, source + model.removeprefix(target))
            return (
                None
                if inside.is_dir()
                else f"the model's folder {inside} is not on this machine; `plan` refuses it until it is"
            )
    if model.startswith(("/", ".", "~")):
        if _folder(folder, model).is_dir():
            return None
        hint = ", and no volume brings it" if command.docker else ""
        return f"there is no folder {model} on this machine{hint}; `plan` refuses it until there is"
    if not _HUB_ID.fullmatch(model):
        return f"{model} is neither a folder nor a hub id (ORG/NAME); `plan` refuses it"
    return None


def _folder(base: Path, given: str) -> Path:
    home = Path.home() if given.startswith("~/") else base
    return home / given.removeprefix("~/")
