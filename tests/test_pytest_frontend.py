"""`pytest evals/ -m regression`, run by pytest: FAILED is REGRESSION or INCONCLUSIVE, ERROR is INVALID, nothing never green."""

from collections.abc import Callable
from pathlib import Path

import pytest

import evals.run  # noqa: F401  # lm-eval is imported once for all tests here, not in each inner pytest

EVALS = Path(__file__).parent.parent / "evals"
EXPERIMENT = """\
name: urls
baseline: v025
arms:
  v025: {engine: {url: 'http://127.0.0.1:9'}}
  v029: {engine: {url: 'http://127.0.0.1:9'}, request: {top_p: 0.9}}
  awq: {engine: {url: 'http://127.0.0.1:9'}, request: {top_p: 0.8}}
tasks: [{task: gsm8k, n: 3, fewshot: 0, data_dir: data}]
gates: [{task: gsm8k, margin: 2}]
"""
"""Port 9 is closed here: nothing can be measured."""
JUDGED = """\
import pytest
from evals.judged import GateResult, Verdict

def result(arm, verdict):
    return GateResult(arm=arm, task="gsm8k", margin=2.0, verdict=verdict, reason=f"why {verdict}", delta=None, knowable=None)

@pytest.fixture(scope="session")
def verdict():
    gates = (result("v029", "%s"), result("awq", "%s"))
    return Verdict(overall="INVALID", by_arm={}, passes_if_equal=None, gates=gates, divergences=(), findings=())
"""
"""A run that was judged already, in place of the one that the fixture would do."""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def frontend(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("BUMPGATE_EXPERIMENT", raising=False)
    (pytester.path / "x.yaml").write_text(EXPERIMENT)
    (pytester.path / "data").mkdir()
    (pytester.path / "data" / "test.jsonl").write_text('{"question": "1 + 1?", "answer": "#### 2"}\n' * 3)
    pytester.makeini("[pytest]\n")

    def run(*args: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(
            str(EVALS), "-m", "regression", "-p", "no:cacheprovider", f"--rootdir={pytester.path}", "-c", "tox.ini", *args
        )

    return run


def judged(pytester: pytest.Pytester, first: str, second: str) -> pytest.RunResult:
    """The shipped test and fixture, over a verdict that is given."""
    package = pytester.mkpydir("gates")
    (package / "conftest.py").write_text("from evals.conftest import *\n" + JUDGED % (first, second))
    (package / "test_regression.py").write_text((EVALS / "test_regression.py").read_text())
    return pytester.runpytest_inprocess(package, "-m", "regression", "--experiment=x.yaml", "-p", "no:cacheprovider")


def test_there_is_one_test_for_each_candidate_and_gate(frontend: Run) -> None:
    found = frontend("--experiment=x.yaml", "--collect-only", "-q")
    assert found.ret == 0
    found.stdout.fnmatch_lines(
        ["*test_regression.py::test_gate[[]v029:gsm8k]", "*test_regression.py::test_gate[[]awq:gsm8k]", "2 tests collected*"]
    )


def test_the_experiment_may_be_named_by_the_environment_or_the_ini(
    frontend: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeini("[pytest]\nbumpgate_experiment = x.yaml\n")
    frontend("--collect-only", "-q").stdout.fnmatch_lines(["*[[]v029:gsm8k]"])
    monkeypatch.setenv("BUMPGATE_EXPERIMENT", "none.yaml")
    frontend("--collect-only", "-q").stdout.fnmatch_lines(
        ["none.yaml: cannot be read (No such file or directory); name an experiment file *"]
    )


def test_without_a_name_it_is_the_demo(frontend: Run) -> None:
    frontend("--collect-only", "-q").stdout.fnmatch_lines(["*[[]awq:gsm8k]", "*[[]mtp:gsm8k]"])


def test_a_broken_experiment_is_one_line(frontend: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "x.yaml").write_text(EXPERIMENT.replace("margin", "margn"))
    found = frontend("--experiment=x.yaml", "-q")
    assert found.ret == 2
    said = "x.yaml:8: gates.0.margn: unknown key; did you mean 'margin'?; known: task, margin, arms, max_n, looks"
    assert found.outlines.count(said) == 1
    assert not any("Traceback" in line or "raise " in line or "_pytest" in line for line in found.outlines)


@pytest.mark.parametrize("tasks", ["tasks: [{task: gsm8k, n: 3}]\ngates: []\n", "tasks: [greedy]\n"])
def test_no_gate_is_never_green(frontend: Run, pytester: pytest.Pytester, tasks: str) -> None:
    (pytester.path / "x.yaml").write_text(EXPERIMENT.partition("tasks:")[0] + tasks)
    found = frontend("--experiment=x.yaml", "-q")
    assert found.ret == 2
    found.stdout.fnmatch_lines(["urls: no candidate and gate to judge; an empty selection is not a pass"])


def test_selecting_nothing_is_never_green(frontend: Run) -> None:
    assert frontend("--experiment=x.yaml", "-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_what_cannot_be_measured_is_an_error(frontend: Run, pytester: pytest.Pytester) -> None:
    found = frontend("--experiment=x.yaml", "--reports=runs", "-k", "v029")
    found.assert_outcomes(errors=1, deselected=1)
    assert found.ret == 1
    found.stdout.fnmatch_lines(["INVALID: *"])
    (folder,) = (pytester.path / "runs").iterdir()
    assert (folder / "scorecard.md").read_text(encoding="utf-8").startswith("# INVALID: urls\n")
    assert "Connection refused" in (folder / "verdict.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("verdict", ["REGRESSION", "INCONCLUSIVE"])
def test_what_is_not_a_pass_fails_with_its_reason(frontend: Run, pytester: pytest.Pytester, verdict: str) -> None:  # noqa: ARG001
    found = judged(pytester, verdict, "PASS")
    found.assert_outcomes(failed=1, passed=1)
    assert found.ret == 1
    found.stdout.fnmatch_lines([f"{verdict}: why {verdict}"])
    assert not any("def test_gate" in line for line in found.outlines)


def test_invalid_is_an_error_and_not_a_failure(frontend: Run, pytester: pytest.Pytester) -> None:  # noqa: ARG001
    found = judged(pytester, "INVALID", "INVALID")
    found.assert_outcomes(errors=2)
    found.stdout.fnmatch_lines(["INVALID: why INVALID"])


def test_passes_are_green(frontend: Run, pytester: pytest.Pytester) -> None:  # noqa: ARG001
    found = judged(pytester, "PASS", "PASS")
    found.assert_outcomes(passed=2)
    assert found.ret == 0


def test_installed_it_is_found_by_its_name(frontend: Run, pytester: pytest.Pytester) -> None:  # noqa: ARG001
    """`--pyargs` reads the conftest too late for options, so these come from the plugin that an entry point names."""
    args = ("--pyargs", "evals", "-m", "regression", "--experiment=x.yaml", "--collect-only", "-q")
    found = pytester.runpytest_inprocess(*args)
    assert found.ret == 0
    found.stdout.fnmatch_lines(["*[[]v029:gsm8k]", "*[[]awq:gsm8k]"])


def test_found_by_its_name_it_takes_the_environment(
    frontend: Run,  # noqa: ARG001
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BUMPGATE_EXPERIMENT", "x.yaml")
    found = pytester.runpytest_inprocess("--pyargs", "evals", "-m", "regression", "-k", "v029")
    found.assert_outcomes(errors=1, deselected=1)
    assert (pytester.path / "reports").is_dir()
