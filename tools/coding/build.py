#!/usr/bin/env python3
"""Build the expected values of coding problems from their references, and see that every wrong solution fails.

    python tools/coding/build.py [PROBLEM …]            write expected/ID.json beside the problems; all where none is named
    python tools/coding/build.py --mutants [PROBLEM …]  and make small changes to each reference: every one must be noticed

Programs run as plain processes, without the sandbox, for they are the project's own.
"""

import argparse
import ast
import copy
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sandbox import transcript  # noqa: E402
from sandbox.steps import job  # noqa: E402
from tasks import problem, problem_set  # noqa: E402
from tasks.problem import Problem  # noqa: E402

LIMIT_S = 20.0
"""The sandbox's deadline."""
HEADROOM = 100
"""How many times faster than the deadline a reference is, the reading of its inputs included, an interpreter's start not."""
WRONG_LIMIT_S = 8.0
"""Seconds after which a wrong solution is taken to be too slow; those that are meant to be take minutes."""
INSIDE = ROOT / "sandbox" / "inside.py"


def run(program: str, of: Problem, limit_s: float = LIMIT_S) -> transcript.Transcript:
    """What a program does, asked every step of every check."""
    steps = problem.steps(of.checks())
    line = json.dumps(job(program, of.entry, steps, of.keeps_arguments)).encode() + b"\n"
    argv, env = [sys.executable, "-s", "-P", "-B", str(INSIDE)], os.environ | {"PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(argv, input=line, capture_output=True, timeout=limit_s, env=env, check=False)
        return transcript.read(done.stdout, len(steps))
    except subprocess.TimeoutExpired as e:
        said = transcript.read(e.stdout or b"", len(steps))
        return transcript.Transcript(observations=said.observations, end="timeout", detail=f"no end after {limit_s:g} s")


def cpu_s(work: Callable[[], object]) -> float:
    """Seconds of CPU that the programs in `work` take, at the least of three tries: a shared core has slow moments."""
    took = []
    for _ in range(3):
        began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        work()
        took.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began)
    return min(took)


def fault(program: str, of: Problem, wanted: list[list[dict]], limit_s: float = LIMIT_S) -> str | None:
    """How a program fails; None where it passes."""
    seen = run(program, of, limit_s)
    mismatch = problem.first_mismatch(of, of.checks(), wanted, seen)
    if mismatch is None:
        return None if seen.end == "finished" else f"{seen.end} {seen.detail}"
    return str(mismatch) if seen.end == "finished" or mismatch.got != problem.NOTHING else f"{seen.end} {seen.detail}"


def build(of: Problem, folder: Path) -> list[str]:
    """Write what the reference returns. Returns what is wrong with the problem, a line each."""
    out = []
    checks = of.checks()
    seen = run(of.reference, of)
    if seen.end != "finished":
        return [f"the reference does not finish: {seen.end} {seen.detail}"]
    observations = iter(seen.observations)
    wanted = [[problem.expected(of, next(observations)) for _ in check] for check in checks]
    folder.mkdir(exist_ok=True)
    told = ",\n".join(json.dumps(check, ensure_ascii=False) for check in wanted)
    (folder / f"{of.id}.json").write_text(f"[\n{told}\n]\n", encoding="utf-8")
    mismatch = problem.first_mismatch(of, checks, wanted, seen)
    if mismatch is not None:
        out.append(f"the reference fails its own checks: {mismatch}")
    nothing = b'{"program": "f = 1", "entry": "f", "steps": []}\n'
    start_s = cpu_s(lambda: subprocess.run([sys.executable, str(INSIDE)], input=nothing, stdout=subprocess.DEVNULL, check=True))
    took_s = max(cpu_s(lambda: run(of.reference, of)) - start_s, 0.0)
    print(f"    {len(checks)} checks, reference {took_s:.2f} s")
    if took_s * HEADROOM > LIMIT_S:
        out.append(f"the reference takes {took_s:.2f} s, which leaves less than {HEADROOM} × headroom: make the inputs smaller")
    if len(checks) < 12:
        out.append(f"{len(checks)} checks, of at least 12")
    if len(of.wrong) < 3:
        out.append(f"{len(of.wrong)} wrong solutions, of at least 3")
    for name, program in of.wrong.items():
        how = fault(program, of, wanted, WRONG_LIMIT_S)
        if how is None:
            out.append(f"wrong solution passes: {name}")
        elif how.startswith("load_failed"):
            out.append(f"wrong solution does not load: {name}: {how}")
        else:
            print(f"    fails: {name}: {how[:200]}")
    return out


def mutants(of: Problem, folder: Path, counted: dict[str, int]) -> list[str]:
    """What is wrong: a mutant of the reference that no check notices and that the problem does not list as equivalent."""
    wanted = json.loads((folder / f"{of.id}.json").read_text(encoding="utf-8"))
    made = dict(mutations(of.reference))
    with ThreadPoolExecutor(2) as pool:
        passed = [
            n for n, how in zip(made, pool.map(lambda p: fault(p, of, wanted, 3.0), made.values()), strict=True) if not how
        ]
    print(f"    {len(made)} mutants, {len(passed)} pass, {len(of.equivalent)} listed as equivalent")
    counted[of.id] = len(made)
    surplus = [f"listed as equivalent, but no mutant that passes: {n}" for n in of.equivalent if n not in passed]
    return [f"mutant passes: {n}" for n in passed if n not in of.equivalent] + surplus


_SWAPS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add,), ast.FloorDiv: (ast.Div,), ast.Div: (ast.FloorDiv,),
    ast.Mod: (ast.FloorDiv,), ast.Pow: (ast.Mult,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,), ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,),
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.And: (ast.Or,), ast.Or: (ast.And,), ast.UAdd: (ast.USub,), ast.USub: (ast.UAdd,),
}  # fmt: skip


def mutations(source: str) -> Iterator[tuple[str, str]]:
    """(name, program): one small change each: an operator, a condition negated, a constant off by one, a statement left out."""
    tree = ast.parse(source)
    for number, node in enumerate(ast.walk(tree)):
        for what, change in _changes(node):
            other = copy.deepcopy(tree)
            target = next(n for i, n in enumerate(ast.walk(other)) if i == number)
            change(target)
            line = getattr(node, "lineno", 0)
            try:
                yield (
                    f"line {line}, column {getattr(node, 'col_offset', 0)}: {what}",
                    ast.unparse(ast.fix_missing_locations(other)),
                )
            except (ValueError, AttributeError):
                continue


def _changes(node):
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in _SWAPS:
            for kind in _SWAPS[type(op)]:
                yield f"{_name(op)} becomes {kind.__name__}", lambda n, k=kind: setattr(n, "op", k())
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for kind in _SWAPS.get(type(op), ()):
                    yield (
                        f"{_name(op)} becomes {kind.__name__}" + (f" ({i + 1})" if i else ""),
                        lambda n, i=i, k=kind: n.ops.__setitem__(i, k()),
                    )
        case ast.UnaryOp(op=ast.Not()):
            yield "not is left out", lambda n: setattr(n, "op", ast.UAdd())
        case ast.Constant(value=bool() as value):
            yield f"{value} becomes {not value}", lambda n: setattr(n, "value", not n.value)
        case ast.Constant(value=int() as value):
            yield f"{value} becomes {value + 1}", lambda n: setattr(n, "value", n.value + 1)
            if value > 0:
                yield f"{value} becomes {value - 1}", lambda n: setattr(n, "value", n.value - 1)
        case ast.If(test=_) | ast.While(test=_) | ast.IfExp(test=_):
            yield "the condition is negated", lambda n: setattr(n, "test", ast.UnaryOp(op=ast.Not(), operand=n.test))
        case ast.Break():
            yield "break becomes continue", lambda n: setattr(n, "__class__", ast.Continue)
        case ast.Continue():
            yield "continue becomes break", lambda n: setattr(n, "__class__", ast.Break)
    if isinstance(node, (ast.Expr, ast.AugAssign)) or (
        isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name)
    ):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        yield "the statement is left out", _leave_out


def _leave_out(node) -> None:
    node.__class__ = ast.Pass
    for name in ("value", "targets", "target", "op"):
        if hasattr(node, name):
            delattr(node, name)


def _name(node) -> str:
    return type(node).__name__


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", nargs="*")
    parser.add_argument("--data-dir", type=Path, default=problem_set.SHIPPED, help="the folder of the problems")
    parser.add_argument("--mutants", action="store_true", help="also make small changes to each reference")
    chosen = parser.parse_args()
    bad = 0
    counted: dict[str, int] = {}
    listed = []
    for of, _ in problem_set.problems(chosen.data_dir):
        if chosen.problem and of.id not in chosen.problem:
            continue
        print(of.id)
        faults = build(of, chosen.data_dir / "expected")
        if chosen.mutants and not faults:
            faults += mutants(of, chosen.data_dir / "expected", counted)
            listed += [f"- {of.id}, {mutant}: {why}" for mutant, why in of.equivalent.items()]
        for line in faults:
            print(f"  ! {line}")
        bad += len(faults)
    if counted:
        print(
            f"\n{sum(counted.values())} mutants of {len(counted)} references; equivalent, so that no check can notice them, {len(listed)}:"
        )
        print("\n".join(listed))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
