"""What a benchmark tells lm-eval of itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.experiment import TaskConfig

Overrides = dict[str, Any]
"""An lm-eval task, as its YAML file has it."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a question stands in the data set."""

    part: str
    row: int


@dataclass(frozen=True, kw_only=True)
class Recipe:
    group: str
    """The lm-eval name that its numbers stand under."""
    grouped: bool
    """Whether it is a group of tasks, each part a group of samples."""
    parts: Callable[[TaskConfig, Path], dict[str, Overrides]]
    """(task, folder of lm-eval's own task files) → lm-eval's tasks, by part. Raises ConfigError: `data_dir` lacks files."""
    order: Callable[[Mapping[str, int], int], Sequence[Place]]
    """(rows by part, seed) → all rows, in an order of which any first n are a fair share."""
    target: Callable[[Mapping[str, Any]], str]
    """What a row is marked by."""
    hub: str
    local: str
    """What `data_dir` must hold."""
