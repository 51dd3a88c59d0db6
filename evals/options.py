"""The options of `pytest evals/`, and what it refuses.

A module of its own, so that it can be an entry point of pytest: with `--pyargs evals` the conftest is read too late to
add any.
"""

import os
from pathlib import Path
from typing import Literal

import pytest

ONE_PROCESS = "bumpgate: servers run one after another, and pytest-xdist would start them side by side; leave out -n"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bumpgate")
    try:
        group.addoption(
            "--experiment", metavar="FILE", help="The experiment to run: a YAML file, or the name of a shipped one."
        )
    except ValueError:  # the entry point was here before the conftest
        return
    group.addoption("--reports", metavar="DIR", help="Where runs are kept (default: reports).")
    group.addoption("--new-run", action="store_true", help="Start afresh, also where a run can be gone on with.")
    group.addoption("--baseline-run", metavar="RUN", help="A blessed run that stands for the baseline, which is not served.")
    group.addoption(
        "--inconclusive", choices=("fail", "warn"), default="fail",
        help="What a gate is that too few samples left open (default: fail).",
    )  # fmt: skip
    parser.addini("bumpgate_experiment", "The experiment that `pytest evals/ -m regression` runs.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """In one line, before any worker is started."""
    if config.getoption("numprocesses", None) and any(_names_gates(argument, config) for argument in config.args):
        raise pytest.UsageError(ONE_PROCESS)


def _names_gates(argument: str, config: pytest.Config) -> bool:
    """Whether an argument of pytest is this package, or something in it."""
    named = argument.partition("::")[0]
    if config.getoption("pyargs") and named.split(".")[0] == "evals":
        return True
    here = Path(__file__).resolve().parent
    path = (config.invocation_params.dir / named).resolve()
    return path == here or here in path.parents


def experiment(config: pytest.Config) -> str:
    """From --experiment, then BUMPGATE_EXPERIMENT, then the ini, then the demo."""
    return str(
        config.getoption("experiment", None)
        or os.environ.get("BUMPGATE_EXPERIMENT")
        or config.getini("bumpgate_experiment")
        or "demo"
    )


def reports(config: pytest.Config) -> Path:
    return Path(config.getoption("reports", None) or "reports")


def new_run(config: pytest.Config) -> bool:
    return bool(config.getoption("new_run", False))


def baseline_run(config: pytest.Config) -> str | None:
    named = config.getoption("baseline_run", None)
    return None if named is None else str(named)


def inconclusive(config: pytest.Config) -> Literal["fail", "warn"]:
    return "warn" if config.getoption("inconclusive", "fail") == "warn" else "fail"
