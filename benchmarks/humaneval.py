#!/usr/bin/env python3
"""HumanEval through the sandbox: does the host-judged protocol tell right from wrong on somebody else's problems?

    python benchmarks/humaneval.py HumanEval.jsonl.gz [--workers 2]

The data set (MIT, openai/human-eval) is not part of this project. Its `check` functions run here on the host, against the
canonical solutions, to record the inputs that they use; they are trusted as the data set is. What the canonical solution
returns for them is kept on the host and is what is right. Then in containers: the canonical solutions, which must pass; empty
bodies, and each problem with the solution of the next one, which must not. What can't be adapted is listed.
"""

import argparse
import copy
import gzip
import json
import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sandbox import image  # noqa: E402
from sandbox.inside import encode  # noqa: E402
from sandbox.judge import judge, never  # noqa: E402
from sandbox.pool import Pool  # noqa: E402
from sandbox.steps import call  # noqa: E402
from sandbox.transcript import Observation  # noqa: E402
from tasks.problem import Check, Problem, expected, first_mismatch, steps  # noqa: E402


@dataclass(frozen=True, kw_only=True)
class Adapted:
    """A problem of the data set in this project's form."""

    problem: Problem
    wanted: list[list[dict[str, Any]]]
    empty: str
    """The same program with an empty body."""


class Unadaptable(Exception):
    """Why a problem can't be asked step by step."""


def rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def adapt(row: dict[str, Any]) -> Adapted:
    """Raises Unadaptable."""
    program = row["prompt"] + row["canonical_solution"]
    calls = list(recorded(program, row["test"], row["entry_point"]))
    if not calls:
        raise Unadaptable("its check calls nothing")
    for args, result in calls:
        if "other" in json.dumps([encode(args), encode(result)]):
            raise Unadaptable(f"a value has no exact builtin type: {result!r:.60}")
    checks: tuple[Check, ...] = tuple((call(*args),) for args, _ in calls)
    of = Problem(
        id=row["task_id"], category="algorithms", level="medium", entry=row["entry_point"], signature="", en=row["prompt"],
        zh="", checks=lambda: checks, reference=program, wrong={}, tolerance=1e-6,
    )  # fmt: skip
    wanted = [[expected(of, Observation(returned=encode(result)))] for _, result in calls]
    return Adapted(problem=of, wanted=wanted, empty=row["prompt"] + "    pass\n")


def recorded(program: str, test: str, entry: str) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """(arguments, result) of each call that the check makes of the canonical solution. Raises Unadaptable."""
    space: dict[str, Any] = {"__name__": "humaneval"}
    calls: list[tuple[tuple[Any, ...], Any]] = []
    exec(program, space)
    solution: Callable[..., Any] = space[entry]

    def recorder(*args: Any) -> Any:
        before = copy.deepcopy(args)
        result = solution(*args)
        calls.append((before, copy.deepcopy(result)))
        return result

    random.seed(0)
    exec(test, space)
    try:
        space["check"](recorder)
    except (AssertionError, TypeError) as e:
        raise Unadaptable(f"its own check fails the canonical solution: {type(e).__name__} {e}") from e
    return iter(calls)


def passes(pool: Pool, of: Adapted, program: str) -> bool:
    checks = of.problem.checks()
    seen = judge(pool, program, of.problem.entry, steps(checks), again=never)
    return seen.end == "finished" and first_mismatch(of.problem, checks, of.wanted, seen) is None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    adapted: list[Adapted] = []
    for row in rows(chosen.path):
        try:
            adapted.append(adapt(row))
        except Unadaptable as e:
            print(f"not adapted: {row['task_id']} {row['entry_point']}: {e}")
    others = [*adapted[1:], adapted[0]]
    swapped = [
        f"{b.problem.reference}\n\n{a.problem.entry} = {b.problem.entry}\n" for a, b in zip(adapted, others, strict=True)
    ]
    programs = {
        "canonical": [a.problem.reference for a in adapted],
        "empty body": [a.empty for a in adapted],
        "the next problem's": swapped,
    }
    made = image.have(lambda line: print(line, file=sys.stderr))
    bad = 0
    with Pool(made.id, "humaneval", chosen.workers) as pool, ThreadPoolExecutor(chosen.workers) as threads:
        for name, texts in programs.items():
            passed = list(threads.map(lambda pair: passes(pool, *pair), zip(adapted, texts, strict=True)))
            meant = name == "canonical"
            odd = [a.problem.id for a, p in zip(adapted, passed, strict=True) if p != meant]
            bad += len(odd)
            print(f"{name}: {sum(passed)} of {len(passed)} pass" + (f"; not as meant: {', '.join(odd)}" if odd else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
