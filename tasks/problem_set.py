"""Coding problems read from a folder: the fifty that are shipped, or a user's own.

A folder holds one Python module a problem, with `PROBLEM` (or `PROBLEMS`, several), and expected/ID.json for each, which
tools/coding/build.py writes. The modules are code that runs on the host: they are trusted as an experiment file is.
"""

import hashlib
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tasks.problem import JsonDict, Problem

SHIPPED = Path(__file__).parent / "coding_problems"


class ProblemError(ValueError):
    """A folder of problems can't be read: one line, what and where."""


@dataclass(frozen=True, kw_only=True)
class Posed:
    """A problem with what is right."""

    problem: Problem
    wanted: list[list[JsonDict]]
    """By check, by step: `{"returned": value}` or `{"raised": "ValueError"}`, with the `calls` of scripted callables."""
    fingerprint: str
    """Of its module and of what is right: a mark belongs to one such."""


@cache
def read(folder: Path = SHIPPED) -> dict[str, Posed]:
    """Every problem by id, ordered by category and id.

    Raises:
        ProblemError: there is none, or one can't be read.
    """
    posed = {}
    for problem, path in problems(folder):
        if problem.id in posed:
            raise ProblemError(f"{path}: there are two problems {problem.id!r}")
        values = folder / "expected" / f"{problem.id}.json"
        try:
            text = values.read_text(encoding="utf-8")
            wanted = json.loads(text)
            counts = [len(steps) for steps in wanted]
        except (OSError, ValueError, TypeError) as e:
            raise ProblemError(f"{values}: can't be read ({e}); make it with tools/coding/build.py") from e
        if counts != [len(check) for check in problem.checks()]:
            raise ProblemError(f"{values}: is not of {path.name}'s checks; make it again with tools/coding/build.py")
        sha = hashlib.sha256((path.read_text(encoding="utf-8") + text).encode()).hexdigest()[:16]
        posed[problem.id] = Posed(problem=problem, wanted=wanted, fingerprint=sha)
    if not posed:
        raise ProblemError(f"{folder}: holds no module with a PROBLEM")
    return dict(sorted(posed.items(), key=lambda item: (item[1].problem.category, item[0])))


def problems(folder: Path) -> Iterator[tuple[Problem, Path]]:
    """Every problem of a folder, with its module's path.

    Raises:
        ProblemError: a module can't be run, or holds no problem.
    """
    for path in sorted(folder.glob("[!_]*.py")):
        spec = importlib.util.spec_from_file_location(f"coding_problem_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except (SyntaxError, ImportError, NameError, TypeError, ValueError, AttributeError, LookupError, OSError) as e:
            raise ProblemError(f"{path}: can't be run: {type(e).__name__}: {e}") from e
        found = [module.PROBLEM] if hasattr(module, "PROBLEM") else getattr(module, "PROBLEMS", ())
        if not found or not all(isinstance(one, Problem) for one in found):
            raise ProblemError(f"{path}: has neither PROBLEM nor PROBLEMS of tasks.problem.Problem")
        for one in found:
            yield one, path
