"""Prompts whose greedy outputs are compared token by token. Nothing is right or wrong here.

One line of greedy_prompts.jsonl: {"id": "code-01", "kind": "code", "prompt": "Write a Python function …"}. Kinds: code,
en, zh, structured, long. Each asks for a hundred tokens or more, so that two outputs have room to part.
"""

import json
from importlib.resources import files

from tasks.base import Message, Sample


def prompts() -> tuple[Sample, ...]:
    """All prompts in the file's order, each one user message, with an empty target."""
    text = files("tasks").joinpath("greedy_prompts.jsonl").read_text(encoding="utf-8")
    return tuple(_sample(line) for line in text.splitlines())


def _sample(line: str) -> Sample:
    entry = json.loads(line)
    return Sample(id=entry["id"], messages=(Message(role="user", content=entry["prompt"]),), target="")
