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
    parts: Callable[[TaskConfig, Path], Mapping[str, Overrides | str]]
    """(task, folder of lm-eval's own task files) → lm-eval's tasks, by part; a bare name stands for all that it leads to.
    Raises ConfigError: `data_dir` lacks files."""
    order: Callable[[Mapping[str, int], int], Sequence[Place]]
    """(rows by part, seed) → all rows, in an order of which any first n are a fair share."""
    target: Callable[[Mapping[str, Any]], str] | None
    """What a row is marked by; None: what lm-eval calls so."""
    grouped: bool = True
    """Whether each part is a group of samples."""
    metric: str = "exact_match"
    """The mark: 0 or 1 for a sample."""
    likelihood: bool = False
    """Whether lm-eval asks it by log-probability."""
    hub: str
    local: str
    """What `data_dir` must hold."""
