"""MMLU, its 57 subjects as one task: lm-eval's generative variant over chat, and its classic one by log-probability."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import datasets
import yaml

from evals.errors import ConfigError
from evals.experiment import TaskConfig
from evals.recipes import mmlu_files
from evals.recipes.mmlu_files import Question
from evals.recipes.recipe import Overrides, Place, Recipe
from tasks import mmlu
from tasks.mmlu_subjects import GROUPS

FEWSHOT = 5
"""As MMLU is usually asked, from the dev rows and in their order; lm-eval itself names no number."""


def _parts(config: TaskConfig, folder: Path, *, variant: str) -> dict[str, Overrides]:
    """One a subject: of the folder, or all of them from the hub."""
    local = _local_files(Path(config.data_dir), config.fewshot) if config.data_dir else None
    template = _yaml(folder / "mmlu" / variant / "_default_template_yaml") | {"num_fewshot": FEWSHOT}
    out = {}
    for subject in GROUPS if local is None else local:
        out[subject] = template | _yaml(folder / "mmlu" / variant / f"mmlu_{subject}.yaml")
        del out[subject]["include"]  # the template, which is in it already
        if local is not None:
            rows = local[subject]
            out[subject]["custom_dataset"] = partial(_dataset, test=rows.test, dev=rows.dev)
    return out


def count(folder: Path, fewshot: int | None) -> int:
    """Questions of a folder. Raises ConfigError as the loading of it does."""
    return sum(len(subject.test) for subject in _local_files(folder, fewshot).values())


def _local_files(folder: Path, fewshot: int | None) -> dict[str, mmlu_files.Subject]:
    found = mmlu_files.read(folder, examples=(FEWSHOT if fewshot is None else fewshot) > 0)
    for subject in found:
        if subject not in GROUPS:
            raise ConfigError(f"mmlu: {folder} has {subject}_test.csv, which is none of MMLU's subjects; take it away")
    return found


def _yaml(path: Path) -> Overrides:
    out: Overrides = yaml.safe_load(path.read_text(encoding="utf-8"))
    return out


def _dataset(*, test: Sequence[Question], dev: Sequence[Question], **_: Any) -> dict[str, Any]:
    return {name: datasets.Dataset.from_list([asdict(row) for row in rows]) for name, rows in (("test", test), ("dev", dev))}


def order(sizes: Mapping[str, int], seed: int) -> Sequence[Place]:
    """Every question, so that any first n of them are spread over the subjects in proportion to their sizes.

    First one of each subject, the largest first; then seats are given as Webster (Sainte-Laguë) gives them: the k-th question
    of a subject of N has its turn at (k − ½) / N. Which question is a subject's k-th is drawn with the seed. It is one order
    for every n, so that a longer run extends a shorter one.
    """
    draw = random.Random(seed)
    turns = []
    for subject in sorted(sizes):
        rows = list(range(sizes[subject]))
        draw.shuffle(rows)
        tie = draw.random()
        turns += [((k > 0, (k + 0.5) / len(rows), tie), Place(part=subject, row=row)) for k, row in enumerate(rows)]
    return [place for _, place in sorted(turns, key=lambda turn: turn[0])]


def _target(row: Mapping[str, Any]) -> str:
    return mmlu.target(int(row["answer"]), tuple(row["choices"]))


RECIPE = Recipe(
    parts=partial(_parts, variant="generative"), order=order, hub="cais/mmlu",
    local=mmlu_files.LAYOUT, target=_target,
)  # fmt: skip
LOGLIKELIHOOD = Recipe(
    parts=partial(_parts, variant="default"), order=order, hub="cais/mmlu",
    local=mmlu_files.LAYOUT, target=_target, metric="acc", likelihood=True,
)  # fmt: skip
