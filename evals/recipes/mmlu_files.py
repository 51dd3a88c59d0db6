"""MMLU's questions from a folder of CSV files, one or two a subject."""

import csv
from dataclasses import dataclass
from pathlib import Path

from evals.errors import ConfigError

_CHOICES = 4
_HEADER = ["question", *(f"choice{i}" for i in range(_CHOICES)), "answer"]
_ANSWERS = {text: i for i in range(_CHOICES) for text in (str(i), "ABCD"[i])}
LAYOUT = "test/SUBJECT_test.csv and dev/SUBJECT_dev.csv, each row: question, four choices, answer (0-3 or A-D)"


@dataclass(frozen=True, kw_only=True)
class Question:
    question: str
    choices: tuple[str, ...]
    answer: int
    """Index of the right choice."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    test: tuple[Question, ...]
    dev: tuple[Question, ...]
    """The worked examples, in their canonical order."""


def read(folder: Path, *, examples: bool = False) -> dict[str, Subject]:
    """Every subject of a folder, by name. With a header or, as the original has it, without.

    `examples`: whether worked examples are asked for, so that no subject may lack them.

    Raises:
        ConfigError: no subject, a file of one that is missing, or a row that is no question: one line with the place.
    """
    tests = sorted((folder / "test").glob("*_test.csv"))
    if not tests:
        raise ConfigError(f"mmlu: {folder} has no test/*_test.csv; the layout is {LAYOUT}")
    _refuse_halves(folder, examples=examples)
    out = {}
    for test in tests:
        subject = test.name.removesuffix("_test.csv")
        dev = folder / "dev" / f"{subject}_dev.csv"
        out[subject] = Subject(test=_rows(test), dev=_rows(dev) if dev.is_file() else ())
        if not out[subject].test:
            raise ConfigError(f"mmlu: {test} has no question; take it away or fill it")
    return out


def _refuse_halves(folder: Path, *, examples: bool) -> None:
    """A subject of which only one file is there was meant to be asked: left out silently, the figures are of another task."""
    tests, devs = (
        {path.name.removesuffix(f"_{kind}.csv") for path in (folder / kind).glob(f"*_{kind}.csv")} for kind in ("test", "dev")
    )
    if lacking := sorted(devs - tests):
        name = lacking[0]
        raise ConfigError(
            f"mmlu: {folder} has dev/{name}_dev.csv and no test/{name}_test.csv{_more(lacking)}; add it, or take the other away"
        )
    if examples and (lacking := sorted(tests - devs)):
        name = lacking[0]
        raise ConfigError(
            f"mmlu: {folder} has test/{name}_test.csv and no dev/{name}_dev.csv with its worked examples{_more(lacking)}; "
            "add it, take the other away, or set `fewshot: 0`"
        )


def _more(lacking: list[str]) -> str:
    return f" (nor of {len(lacking) - 1} more subjects)" if len(lacking) > 1 else ""


def _rows(path: Path) -> tuple[Question, ...]:
    out = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            for row in reader:
                if not row or (reader.line_num == 1 and row == _HEADER):
                    continue
                if len(row) != len(_HEADER) or row[-1].strip() not in _ANSWERS:
                    raise ConfigError(
                        f"mmlu: {path}:{reader.line_num}: not a question, four choices and an answer (0-3 or A-D)"
                    )
                out.append(Question(question=row[0], choices=tuple(row[1:-1]), answer=_ANSWERS[row[-1].strip()]))
    except (OSError, UnicodeDecodeError, csv.Error) as e:
        raise ConfigError(f"mmlu: {path} can't be read as CSV: {e}; the layout is {LAYOUT}") from e
    return tuple(out)
