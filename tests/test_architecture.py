"""The house as DESIGN.md draws it: what may import what, what stays pure, what travels with the package."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("sandbox", "tasks", "evals")
"""From the bottom up: a room imports only itself and what is left of it."""
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
JUDGING = [
    *(ROOT / "evals" / f"{name}.py" for name in ("stats", "compare", "divergence", "verdict", "findings", "plan", "changes")),
    *(ROOT / "evals" / f"{name}.py" for name in ("checks", "switches", "identity", "levels", "outcomes", "lengths")),
    *(ROOT / "evals" / f"{name}.py" for name in ("acceptance", "fields", "looks", "power", "knowable", "standing")),
    *(ROOT / "evals" / f"{name}.py" for name in ("trend", "planned", "incomparable")),
    *(
        ROOT / "evals" / "report" / f"{name}.py"
        for name in ("scorecard", "flip_text", "gate_table", "github", "junit", "short")
    ),
    *sorted((ROOT / "evals" / "report").glob("html*.py")),
    *(ROOT / "evals" / "selftest" / f"{name}.py" for name in ("weights", "faults", "planted", "table")),
]
IMPURE = {"time", "datetime", "pathlib", "os", "io", "httpx", "subprocess", "requests", "socket", "random", "sys", "logging"}
IN_THE_CONTAINER = "sandbox/inside.py"
"""A script, run where there is nothing of ours, whose work is to see whatever a program raises."""
BROAD = {"evals/judging.py", "tasks/problem_set.py", IN_THE_CONTAINER}
"""The worker that turns a fault of ours into a record, and what runs a user's own modules."""
LAZY = {
    "evals/cli.py": {"evals"}, "evals/conftest.py": {"evals"}, "evals/problem_commands.py": {"evals"},
    "evals/history_commands.py": {"evals"}, "evals/machine_commands.py": {"evals"}, "evals/report/trend.py": {"matplotlib"},
    "evals/selftest/command.py": {"evals"},
    "evals/report/heatmap.py": {"matplotlib"}, "sandbox/inside.py": {"random"},
}  # fmt: skip
"""Imports inside a function: lm-eval costs a second, which `plan` need not pay; a sandbox is started once a program."""


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def files(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=name)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(root: ast.AST) -> set[str]:
    """The modules that are named, dotted."""
    found = set()
    for node in ast.walk(root):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import hides its room"
            found.add(str(node.module))
    return found


def rooms(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def test_there_is_something_to_check() -> None:
    assert len(FILES) > 20
    assert all(path.is_file() for path in JUDGING)


@files(FILES)
def test_imports_point_down(path: Path) -> None:
    room = name(path).partition("/")[0]
    above = set(ROOMS[ROOMS.index(room) + 1 :]) | {"tests", "bumpgate"}
    assert not rooms(imports(tree(path))) & above


@files(FILES)
def test_imports_stand_at_the_top(path: Path) -> None:
    inside = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside |= rooms(imports(node))
    assert inside <= LAZY.get(name(path), set())


@files(JUDGING)
def test_judging_is_pure(path: Path) -> None:
    assert not rooms(imports(tree(path))) & IMPURE
    called = {node.func.id for node in ast.walk(tree(path)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"print", "open", "input", "exec", "eval"}


def test_only_two_modules_know_lm_eval() -> None:
    assert [name(path) for path in FILES if "lm_eval" in rooms(imports(tree(path)))] == ["evals/lmeval.py", "evals/relay.py"]


@files([path for path in FILES if name(path) not in BROAD])
def test_exceptions_are_caught_narrowly(path: Path) -> None:
    broad = {"Exception", "BaseException"}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"line {node.lineno}: a bare except"
            names = {part.id for part in ast.walk(node.type) if isinstance(part, ast.Name)}
            assert not names & broad, f"line {node.lineno}: {names & broad}"


@files(FILES)
def test_only_the_front_ends_print(path: Path) -> None:
    prints = any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "print" for n in ast.walk(tree(path))
    )
    assert not prints


@files([path for path in FILES if name(path) != "evals/console.py"])
def test_one_place_makes_consoles(path: Path) -> None:
    """Elsewhere rich would make emoji and colours of what a program or a model said."""
    called = {ast.unparse(node.func).rpartition(".")[2] for node in ast.walk(tree(path)) if isinstance(node, ast.Call)}
    assert not called & {"Console", "get_console"}


@files(FILES)
def test_a_file_is_one_noun(path: Path) -> None:
    limit = 400 if path.parent.name == "coding_problems" else 300  # there it is a text in two languages and several programs
    assert len(path.read_text(encoding="utf-8").splitlines()) <= limit


@files([path for path in FILES if name(path) != IN_THE_CONTAINER])
def test_importing_does_nothing(path: Path) -> None:
    """At the top of a file stand imports, definitions, constants and their docstrings."""
    allowed = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Assign, ast.AnnAssign)
    for node in tree(path).body:
        documents = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        assert documents or isinstance(node, allowed), f"line {node.lineno}"


def test_the_wheel_holds_the_experiments_and_the_demo() -> None:
    """hatchling is no dependency of ours, so its configuration is read rather than run."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    wheel = build["targets"]["wheel"]
    assert {*ROOMS, "bumpgate.py"} <= set(wheel["only-include"])
    assert wheel["force-include"]["configs"] == "evals/configs"
    assert not {"exclude", "packages"} & (build.keys() | wheel.keys())
    assert (ROOT / "configs" / "demo.yaml").is_file()
    assert (ROOT / "evals" / "demo").is_dir()
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split() if (ROOT / ".gitignore").exists() else []
    assert not [line for line in ignored if "demo" in line or "configs" in line], "hatch leaves out what git ignores"
