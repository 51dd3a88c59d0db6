"""`pytest evals/ -m regression`, run by pytest over endpoints on the wire: exit codes, ids, junit, -k, -x, --lf."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stub_runs import N, asked, pupil, written
from stub_server import StubServer

import evals.run  # noqa: F401  # lm-eval is imported once for all tests here, not in each inner pytest
from evals import blessing

pytestmark = pytest.mark.slow

EVALS = Path(__file__).parent.parent / "evals"
DOWN = """\
name: urls
baseline: v025
arms:
  v025: {engine: {url: 'http://127.0.0.1:9'}}
  v029: {engine: {url: 'http://127.0.0.1:9'}, request: {top_p: 0.9}}
  awq: {engine: {url: 'http://127.0.0.1:9'}, request: {top_p: 0.8}}
tasks: [{task: gsm8k, n: 3, fewshot: 0, data_dir: .}]
gates: [{task: gsm8k, margin: 2}]
"""
"""Port 9 is closed here: nothing can be measured."""

Run = Callable[..., pytest.RunResult]
Stubs = dict[str, StubServer]
ONE_LOST, SOME_LOST = 20, 2
"""Questions: a regression, and too few to say."""


@pytest.fixture
def frontend(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in ("BUMPGATE_EXPERIMENT", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    (pytester.path / "x.yaml").write_text(DOWN)
    (pytester.path / "test.jsonl").write_text('{"question": "1 + 1?", "answer": "#### 2"}\n' * 3)
    pytester.makeini("[pytest]\n")

    def run(*args: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(
            str(EVALS), "-m", "regression", f"--rootdir={pytester.path}", "-c", "tox.ini", "--experiment=x.yaml", *args
        )

    return run


@pytest.fixture
def stubs(frontend: Run, pytester: pytest.Pytester) -> Iterator[Stubs]:  # noqa: ARG001  # its file is replaced
    """Three arms that all answer right; x.yaml names them."""
    with StubServer(pupil()) as v025, StubServer(pupil()) as v029, StubServer(pupil()) as awq:
        out = {"v025": v025, "v029": v029, "awq": awq}
        written(pytester.path, out, "x")
        yield out


def runs(pytester: pytest.Pytester) -> list[Path]:
    return sorted(path for path in (pytester.path / "reports").iterdir() if path.is_dir())


# What is collected


def test_there_is_one_test_for_each_candidate_and_gate(frontend: Run) -> None:
    found = frontend("--collect-only", "-q")
    assert found.ret == 0
    found.stdout.fnmatch_lines(
        ["*test_regression.py::test_gate[[]v029:gsm8k]", "*test_regression.py::test_gate[[]awq:gsm8k]", "2 tests collected*"]
    )


def test_the_experiment_may_be_named_by_the_environment_or_the_ini(
    frontend: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeini("[pytest]\nbumpgate_experiment = x.yaml\n")
    frontend("--experiment=", "--collect-only", "-q").stdout.fnmatch_lines(["*[[]v029:gsm8k]"])
    monkeypatch.setenv("BUMPGATE_EXPERIMENT", "none.yaml")
    frontend("--experiment=", "--collect-only", "-q").stdout.fnmatch_lines(
        ["none.yaml: cannot be read (No such file or directory); name an experiment file *"]
    )


def test_without_capturing_it_runs_too(frontend: Run, stubs: Stubs) -> None:  # noqa: ARG001
    frontend("-p", "no:capture").assert_outcomes(passed=2)


def test_without_a_name_it_is_the_demo(frontend: Run) -> None:
    frontend("--experiment=", "--collect-only", "-q").stdout.fnmatch_lines(["*[[]awq:gsm8k]", "*[[]mtp:gsm8k]"])


def test_a_broken_experiment_is_one_line(frontend: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "x.yaml").write_text(DOWN.replace("margin", "margn"))
    found = frontend("-q")
    assert found.ret == 2
    said = "x.yaml:8: gates.0.margn: unknown key; did you mean 'margin'?; known: task, margin, arms, max_n, looks"
    assert found.outlines.count(said) == 1
    assert not any("Traceback" in line or "raise " in line or "_pytest" in line for line in found.outlines)


@pytest.mark.parametrize("tasks", ["tasks: [{task: gsm8k, n: 3}]\ngates: []\n", "tasks: [greedy]\n"])
def test_no_gate_is_never_green(frontend: Run, pytester: pytest.Pytester, tasks: str) -> None:
    (pytester.path / "x.yaml").write_text(DOWN.partition("tasks:")[0] + tasks)
    found = frontend("-q")
    assert found.ret == 2
    found.stdout.fnmatch_lines(["urls: no candidate and gate to judge; an empty selection is not a pass"])


def test_selecting_nothing_is_never_green(frontend: Run, pytester: pytest.Pytester) -> None:
    assert frontend("-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert not (pytester.path / "reports").exists()


@pytest.mark.parametrize("target", [(str(EVALS),), ("--pyargs", "evals"), (str(EVALS / "test_regression.py") + "::test_gate",)])
def test_workers_side_by_side_are_refused_in_one_line(
    frontend: Run,  # noqa: ARG001
    pytester: pytest.Pytester,
    target: tuple[str, ...],
) -> None:
    found = pytester.runpytest_inprocess(*target, "-n", "2", "--experiment=x.yaml")
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in found.errlines if line] == [
        "ERROR: bumpgate: servers run one after another, and pytest-xdist would start them side by side; leave out -n"
    ]


# What is said of each verdict


def test_passes_are_green(frontend: Run, pytester: pytest.Pytester, stubs: Stubs) -> None:
    found = frontend()
    found.assert_outcomes(passed=2)
    assert found.ret == 0
    (folder,) = runs(pytester)
    found.stdout.fnmatch_lines(
        [
            "*= gates =*",
            "verdict  gate *correct, % *change [[]90 % interval] *n *margin",
            "PASS     v029 · gsm8k  100.0 → 100.0  0.0 [[]−4.3, +4.3] * 60  6",
            "PASS     awq · gsm8k * 60  6",
            f"scorecard: reports/{folder.name}/scorecard.md",
        ]
    )
    assert {asked(stub) for stub in stubs.values()} == {N}


def test_a_regression_fails_with_its_change_its_interval_and_the_first_flips(
    frontend: Run, pytester: pytest.Pytester, stubs: Stubs
) -> None:
    stubs["awq"].answer = pupil(wrong=ONE_LOST)
    found = frontend("--junit-xml=out.xml")
    found.assert_outcomes(passed=1, failed=1)
    assert found.ret == 1
    found.stdout.fnmatch_lines(
        [
            "REGRESSION: a drop of 33.3 points [[]24.2, 43.9] with 60 samples: 20 newly wrong, 0 newly right *",
            "v025 100.0 % → awq 66.7 %: change −33.3 points [[]−43.9, −24.2], n 60, margin 6",
            "  test-*: v025 correct '*', awq wrong '*' (expected '*')",
            "  and 17 more that changed sides",
            "FAILED *test_gate[[]awq:gsm8k[]] - Failed: REGRESSION: a drop *",
        ]
    )
    assert not any("def test_gate" in line or "Traceback" in line for line in found.outlines)
    cases = ET.parse(pytester.path / "out.xml").getroot().findall(".//testcase")
    assert [case.get("name") for case in cases] == ["test_gate[v029:gsm8k]", "test_gate[awq:gsm8k]"]
    told = [{p.get("name"): p.get("value") for p in case.iter("property")} for case in cases]
    assert [one["verdict"] for one in told] == ["PASS", "REGRESSION"]
    assert (told[1]["n"], told[1]["newly_wrong"], told[1]["margin"]) == ("60", "20", "6")
    assert float(str(told[1]["diff"])) == pytest.approx(-100 / 3)
    assert cases[1].find("failure") is not None


def test_too_few_samples_fail_unless_they_shall_only_warn(frontend: Run, stubs: Stubs) -> None:
    stubs["awq"].answer = pupil(wrong=SOME_LOST)
    found = frontend()
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(["INCONCLUSIVE: a drop of up to 9.6 points cannot be excluded with 60 samples *"])
    lenient = frontend("--inconclusive=warn", "-rA")
    assert lenient.ret == 0
    lenient.stdout.fnmatch_lines(["INCONCLUSIVE  awq · gsm8k *", "*1 passed, 1 inconclusive*"])


def test_what_cannot_be_measured_is_an_error(frontend: Run, pytester: pytest.Pytester) -> None:
    found = frontend("--reports=runs", "-k", "v029")
    found.assert_outcomes(errors=1, deselected=1)
    assert found.ret == 1
    found.stdout.fnmatch_lines(["INVALID: the baseline's server never answered: *Connection refused*"])
    (folder,) = (pytester.path / "runs").iterdir()
    assert (folder / "scorecard.md").read_text(encoding="utf-8").startswith("# INVALID: urls\n")


# Which arms are served


def test_only_the_arms_that_are_selected_are_served_and_judged_as_strictly(
    frontend: Run, pytester: pytest.Pytester, stubs: Stubs
) -> None:
    found = frontend("-k", "v029")
    found.assert_outcomes(passed=1, deselected=1)
    assert found.ret == 0
    assert (asked(stubs["v025"]), asked(stubs["v029"]), len(stubs["awq"].requests)) == (N, N, 0)
    assert not any("awq" in line for line in found.outlines)
    (folder,) = runs(pytester)
    card = (folder / "scorecard.md").read_text(encoding="utf-8")
    assert card.startswith("# INVALID: x\n")  # of the whole experiment there is no saying
    assert "awq: INVALID.** gsm8k: it was not selected" in card
    again = frontend()
    again.assert_outcomes(passed=2)
    assert runs(pytester) == [folder]
    assert {asked(stub) for stub in stubs.values()} == {N}
    assert (folder / "scorecard.md").read_text(encoding="utf-8").startswith("# PASS: x\n")


def test_a_selection_does_not_make_a_gate_any_easier(frontend: Run, pytester: pytest.Pytester, stubs: Stubs) -> None:
    """Four lost and none won of 60: real at 5 %, and not at 5 % for two gates together."""
    stubs["v029"].answer = pupil(wrong=4)
    frontend("-k", "v029").stdout.fnmatch_lines(["INCONCLUSIVE: *"])
    path = pytester.path / "x.yaml"
    path.write_text(re.sub(r"  awq: .*\n", "", path.read_text()).replace("name: x", "name: alone"))
    frontend().stdout.fnmatch_lines(["REGRESSION: *"])


def test_stopping_at_the_first_failure_still_tells_what_all_gates_are(frontend: Run, stubs: Stubs) -> None:
    stubs["v029"].answer = pupil(wrong=ONE_LOST)
    found = frontend("-x", "--inconclusive=warn")  # which spares no regression
    found.assert_outcomes(failed=1)
    assert found.ret == 1
    found.stdout.fnmatch_lines(["REGRESSION  v029 · gsm8k *", "PASS        awq · gsm8k *"])


def test_what_failed_last_is_served_again_and_nothing_else(frontend: Run, pytester: pytest.Pytester, stubs: Stubs) -> None:
    stubs["awq"].answer = pupil(wrong=ONE_LOST)
    frontend().assert_outcomes(passed=1, failed=1)
    stubs["awq"].answer = pupil()
    found = frontend("--lf")
    found.assert_outcomes(passed=1, deselected=1)
    assert found.ret == 0
    assert [asked(stub) for stub in stubs.values()] == [2 * N, N, 2 * N]
    assert len(runs(pytester)) == 2


def test_a_selection_that_was_measured_is_asked_anew_the_next_time(
    frontend: Run, pytester: pytest.Pytester, stubs: Stubs
) -> None:
    """What else the file has was never asked; that must not keep the first night's answers for ever."""
    frontend("-k", "awq").assert_outcomes(passed=1, deselected=1)
    stubs["awq"].answer = pupil(wrong=ONE_LOST)
    assert frontend("-k", "awq").ret == 1
    stubs["awq"].answer = pupil()
    assert frontend("--lf", "-k", "awq").ret == 0
    assert len(runs(pytester)) == 3
    frontend().assert_outcomes(passed=2)  # and asks only what the last run lacks
    assert len(runs(pytester)) == 3
    assert [asked(stub) for stub in stubs.values()] == [3 * N, N, 3 * N]


def test_a_jobs_summary_begins_with_what_was_selected(
    frontend: Run,
    pytester: pytest.Pytester,
    stubs: Stubs,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The scorecard is INVALID for the rest, which beside a green test would read as a failure."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    assert frontend("-k", "awq").ret == 0
    head, *rest = (pytester.path / "summary.md").read_text(encoding="utf-8").partition("# INVALID: x")
    assert "the rest is INVALID below, since it was not asked" in head
    assert "PASS     awq · gsm8k" in head
    assert rest[0]
    (pytester.path / "summary.md").unlink()
    assert frontend().ret == 0
    assert (pytester.path / "summary.md").read_text(encoding="utf-8").startswith("# PASS: x")


def test_a_new_run_is_begun_where_it_is_asked_for(frontend: Run, pytester: pytest.Pytester, stubs: Stubs) -> None:
    frontend("-k", "awq").assert_outcomes(passed=1, deselected=1)
    frontend("--new-run").assert_outcomes(passed=2)
    assert len(runs(pytester)) == 2
    assert [asked(stub) for stub in stubs.values()] == [2 * N, N, 2 * N]


def test_what_could_not_be_measured_last_is_gone_on_with(frontend: Run, pytester: pytest.Pytester, stubs: Stubs) -> None:
    port = int(stubs["awq"].url.rpartition(":")[2])
    stubs["awq"].close()
    frontend().assert_outcomes(passed=1, errors=1)
    with StubServer(pupil(), port=port) as awq:
        found = frontend("--lf")
        assert asked(awq) == N
    found.assert_outcomes(passed=1, deselected=1)
    assert asked(stubs["v025"]) == N  # the baseline's hours are not asked again
    assert len(runs(pytester)) == 1


# Against a stored run


def test_a_blessed_run_stands_for_the_baseline(frontend: Run, pytester: pytest.Pytester, stubs: Stubs) -> None:
    frontend().assert_outcomes(passed=2)
    (first,) = runs(pytester)
    blessing.bless(first, "v025", "me", "it has been serving for a year")
    stubs["v025"].close()
    stubs["awq"].answer = pupil(wrong=ONE_LOST)
    found = frontend(f"--baseline-run={first.name}")
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(["REGRESSION: a drop of 33.3 points *"])


def test_a_run_that_nobody_blessed_is_refused_in_one_line(frontend: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "reports" / "one").mkdir(parents=True)
    (pytester.path / "reports" / "one" / "journal.jsonl").touch()
    found = frontend("--baseline-run=one", "--junit-xml=out.xml")
    assert found.ret == 2
    said = "bumpgate: --baseline-run one: it is not blessed; `bumpgate bless one --why TEXT`"
    found.stdout.fnmatch_lines([f"*{said}*"])
    found.assert_outcomes(errors=2)
    assert not any("Traceback" in line for line in found.outlines)
    errors = ET.parse(pytester.path / "out.xml").getroot().findall(".//testcase/error")
    assert [said in str(error.get("message")) for error in errors] == [True, True]
    assert len(runs(pytester)) == 1


# Installed


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
