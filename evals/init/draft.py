"""What an experiment file will say, each line with why. Plain values; the text is made in write.py."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Line:
    """`key: value` in a section of an arm; a value of None takes the inherited one away."""

    value: Any
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class ArmDraft:
    name: str
    why: tuple[str, ...]
    """Comments above it, a line each."""
    top: dict[str, Line] = field(default_factory=dict)
    """extends, engine, devices."""
    args: dict[str, Line] = field(default_factory=dict)
    env: dict[str, Line] = field(default_factory=dict)
    request: dict[str, Line] = field(default_factory=dict)
    suggested: bool = False
    """Written as a comment, to be taken up by whoever needs it."""
    tells: bool = False
    """Nobody means to run it: it is asked to tell which change did what, so that no gate judges it."""


@dataclass(frozen=True, kw_only=True)
class TaskDraft:
    settings: dict[str, Any]
    why: str


@dataclass(frozen=True, kw_only=True)
class Draft:
    name: str
    about: tuple[str, ...]
    """The comments at the top."""
    model: str
    model_why: str
    baseline: str
    arms: tuple[ArmDraft, ...]
    tasks: tuple[TaskDraft, ...]
    margin: int
    margin_why: str
    notes: tuple[str, ...]
    """What whoever runs the command should read at once."""
