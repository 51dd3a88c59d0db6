"""GSM8K's questions: the hub's, or those of a folder with test.jsonl, and train*.jsonl for the worked examples."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from evals.errors import ConfigError
from evals.experiment import TaskConfig
from evals.recipes.recipe import Overrides, Place, Recipe
from tasks import gsm8k

_PART = "test"


def _parts(config: TaskConfig, folder: Path) -> dict[str, Overrides]:
    out: Overrides = yaml.safe_load((folder / "gsm8k" / "gsm8k.yaml").read_text(encoding="utf-8"))
    if config.data_dir:
        out |= _local_files(Path(config.data_dir), config.fewshot)
    return {_PART: out}


def _order(sizes: Mapping[str, int], seed: int) -> Sequence[Place]:
    rows = list(range(sizes[_PART]))
    random.Random(seed).shuffle(rows)
    return [Place(part=_PART, row=row) for row in rows]


def _local_files(folder: Path, fewshot: int | None) -> Overrides:
    test, train = folder / "test.jsonl", sorted(folder.glob("train*.jsonl"))
    if not test.is_file():
        raise ConfigError(f"gsm8k: {folder} has no test.jsonl (one JSON object with question and answer a line)")
    if not train and fewshot != 0:
        raise ConfigError(f"gsm8k: {folder} has no train*.jsonl for the worked examples; add one or set `fewshot: 0`")
    for path in (test, *train):
        _check_rows(path)
    files = {"test": str(test), "train": [str(p) for p in train] or str(test)}
    return {"dataset_path": "json", "dataset_name": None, "dataset_kwargs": {"data_files": files}}


def count(folder: Path, fewshot: int | None) -> int:
    """Questions of a folder. Raises ConfigError as the loading of it does."""
    _local_files(folder, fewshot)
    return len(_lines(folder / "test.jsonl"))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def _check_rows(path: Path) -> None:
    number = 0
    for number, line in enumerate(_lines(path), 1):
        try:
            row = json.loads(line)
            gsm8k.target_number(row["answer"])
            str(row["question"])
        except (ValueError, KeyError, TypeError) as e:
            raise ConfigError(
                f"gsm8k: {path}:{number}: not an object with question and answer, the answer ending in `#### N`"
            ) from e
    if not number:
        raise ConfigError(f"gsm8k: {path} is empty; one JSON object with question and answer a line")


RECIPE = Recipe(
    grouped=False, parts=_parts, order=_order, target=lambda row: str(gsm8k.target_number(row["answer"])),
    hub="openai/gsm8k", local="test.jsonl and train.jsonl",
)  # fmt: skip
