"""The options of `pytest evals/`.

A module of its own, so that it can be an entry point of pytest: with `--pyargs evals` the conftest is read too late to
add any.
"""

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bumpgate")
    try:
        group.addoption(
            "--experiment", metavar="FILE", help="The experiment to run: a YAML file, or the name of a shipped one."
        )
    except ValueError:  # the entry point was here before the conftest
        return
    group.addoption("--reports", metavar="DIR", help="Where runs are kept (default: reports).")
    parser.addini("bumpgate_experiment", "The experiment that `pytest evals/ -m regression` runs.", default="")


def experiment(config: pytest.Config) -> str:
    """From --experiment, then BUMPGATE_EXPERIMENT, then the ini, then the demo."""
    return str(
        config.getoption("experiment", None)
        or os.environ.get("BUMPGATE_EXPERIMENT")
        or config.getini("bumpgate_experiment")
        or "demo"
    )


def reports(config: pytest.Config) -> str:
    return str(config.getoption("reports", None) or "reports")
