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

from tasks.problem import Check, JsonDict, Problem, steps

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
        except (OSError, ValueError) as e:
            raise ProblemError(f"{values}: can't be read ({e}); make it with tools/coding/build.py") from e
        if not _fits(wanted, problem.checks() if folder == SHIPPED else _checks(problem, path)):
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
        except (Exception, SystemExit) as e:  # it is somebody's program, and may end in any way
            raise ProblemError(f"{path}: can't be run: {type(e).__name__}: {e}") from e
        found = [module.PROBLEM] if hasattr(module, "PROBLEM") else getattr(module, "PROBLEMS", ())
        if not found or not all(isinstance(one, Problem) for one in found):
            raise ProblemError(f"{path}: has neither PROBLEM nor PROBLEMS of tasks.problem.Problem")
        for one in found:
            yield one, path


def _checks(problem: Problem, path: Path) -> tuple[Check, ...]:
    """Raises ProblemError where they can't be made, or hold what can't be sent to a container."""
    try:
        checks = problem.checks()
        for step in steps(checks):
            step.told(keeps=False)
    except Exception as e:  # as above
        raise ProblemError(f"{path}: the checks of {problem.id} can't be made: {type(e).__name__}: {e}") from e
    return checks


def _fits(wanted: object, checks: tuple[Check, ...]) -> bool:
    """Whether there is an expectation for each step of each check."""
    if not isinstance(wanted, list) or len(wanted) != len(checks):
        return False
    return all(
        isinstance(right, list)
        and len(right) == len(check)
        and all(isinstance(w, dict) and ("returned" in w or "raised" in w) for w in right)
        for right, check in zip(wanted, checks, strict=True)
    )
