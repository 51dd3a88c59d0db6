"""Coding in a whole run: two endpoints on the wire, real containers, and a Docker that goes away."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import docker_engine
import pytest
from stub_server import Json, Reply, StubServer, chat
from typer.testing import CliRunner

from evals import cli, config, run, store
from evals.errors import ConfigError, NoSandbox
from evals.evidence import from_contents
from evals.experiment import Experiment
from evals.judged import Evidence, Verdict
from evals.progress import Silent
from tasks import coding, problem_set

POSED = problem_set.read()
IDS = {s.messages[-1].content: s.id for s in coding.samples(POSED, "en", 0)}
N = 6
ASKED = [s.id for s in coding.samples(POSED, "en", 0)][:N]


OWN = """
from sandbox.steps import call
from tasks.problem import Problem

PROBLEM = Problem(
    id="p", category="algorithms", level="easy", entry="f", signature="", en="", zh="", reference="", wrong={},
    checks=lambda: CHECKS,
)
"""


def scholar(request: Json) -> Reply:
    """Answers every problem with its reference."""
    asked = IDS.get(str(request["messages"][-1]["content"]))
    return Reply(payload=chat(f"```python\n{POSED[asked].problem.reference}\n```" if asked else "ready"))


def blunderer(request: Json) -> Reply:
    """Gets the first problem wrong, and talks of the second only."""
    asked = IDS.get(str(request["messages"][-1]["content"]))
    if asked == ASKED[0]:
        return Reply(payload=chat(f"```python\n{next(iter(POSED[asked].problem.wrong.values()))}\n```"))
    return Reply(payload=chat("That is hard.")) if asked == ASKED[1] else scholar(request)


@pytest.fixture
def stubs() -> Iterator[tuple[StubServer, StubServer]]:
    with StubServer(scholar) as old, StubServer(blunderer) as new:
        yield old, new


Load = Callable[..., Experiment]


@pytest.fixture
def load(tmp_path: Path, stubs: tuple[StubServer, StubServer]) -> Load:
    def load(task: str = f"task: coding, n: {N}", gates: str = "[{task: coding, margin: 40}]") -> Experiment:
        arms = "".join(f"  {name}: {{engine: {{url: '{s.url}'}}}}\n" for name, s in zip(("old", "new"), stubs, strict=True))
        path = tmp_path / "x.yaml"
        path.write_text(f"name: x\nbaseline: old\nlaunches: 1\narms:\n{arms}tasks: [{{{task}}}]\ngates: {gates}\n")
        return config.load(path)

    return load


class Told(Silent):
    """Keeps what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


def outcomes(folder: Path) -> dict[tuple[str, str], str]:
    evidence = from_contents(store.read(folder))
    return {(r.arm, r.sample_id): r.score.reason or r.score.outcome for r in evidence.records if r.score}


def programs(stub: StubServer) -> int:
    """How many programs it was asked for."""
    return sum(str(request["messages"][-1]["content"]) in IDS for request in stub.requests)


def ran(experiment: Experiment, folder: Path) -> tuple[Verdict, Evidence]:
    verdict = run.run(experiment, folder, Silent())
    return verdict, from_contents(store.read(folder))


@pytest.mark.docker
@pytest.mark.usefixtures("docker_engine", "short_waits")
def test_programs_are_judged_and_the_scorecard_tells_it(load: Load, tmp_path: Path) -> None:
    verdict, evidence = ran(load(), tmp_path / "run")
    found = outcomes(tmp_path / "run")
    assert [found["old", i] for i in ASKED] == ["correct"] * N
    assert [found["new", i] for i in ASKED] == ["failed_check", "nothing_to_extract"] + ["correct"] * (N - 2)
    assert verdict.gates[0].delta is not None
    assert (verdict.gates[0].delta.newly_wrong, verdict.gates[0].delta.newly_right) == (2, 0)
    assert evidence.sandbox is not None
    assert evidence.sandbox.limits["wall_s"] > 0
    card = (tmp_path / "run" / "scorecard.md").read_text()
    assert evidence.sandbox.image_id in card
    assert f"Python {evidence.sandbox.python}" in card
    assert f"100.0 % of {N}" in card
    assert "1 failed check, 1 nothing to extract" in card
    assert "**wrong** failed_check: `check " in card
    assert docker_engine.sandboxes() == []
    answered = json.loads((tmp_path / "run" / "verdict.json").read_text())
    assert answered["sandbox"]["python"] == evidence.sandbox.python


@pytest.mark.docker
@pytest.mark.usefixtures("docker_engine", "short_waits")
def test_answers_without_a_mark_are_judged_later_and_asked_only_once(
    load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    """As after a kill that came between answers and their marks."""
    before, _ = ran(load(), tmp_path / "run")
    marked = outcomes(tmp_path / "run")
    journal = tmp_path / "run" / store.JOURNAL
    kept = [
        line for line in journal.read_text().splitlines(keepends=True) if json.loads(line)["kind"] not in ("score", "finished")
    ]
    journal.write_text("".join(kept))
    asked = [programs(s) for s in stubs]
    unjudged = run.report.write(tmp_path / "run")
    assert unjudged.overall == "INVALID"
    assert "could not be run" in unjudged.gates[0].reason
    assert ran(load(), tmp_path / "run")[0] == before
    assert outcomes(tmp_path / "run") == marked
    assert [programs(s) for s in stubs] == asked


@pytest.mark.docker
@pytest.mark.usefixtures("short_waits")
def test_docker_stopped_in_the_middle_is_invalid_and_the_same_command_goes_on(
    load: Load, own_engine: Path, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    def stopping(request: Json) -> Reply:
        if IDS.get(str(request["messages"][-1]["content"])) == ASKED[-1]:
            docker_engine.script("stop", own_engine).check_returncode()
        return blunderer(request)

    stubs[1].answer = stopping
    told = Told()
    verdict = run.run(load(f"task: coding, n: {N}, concurrency: 1"), tmp_path / "run", told)
    evidence = from_contents(store.read(tmp_path / "run"))
    assert len([line for line in told.said if "programs can't be run now" in line]) == 1
    assert verdict.overall == "INVALID"
    assert "could not be run" in verdict.gates[0].reason
    failures = [r.failure for r in evidence.records if r.failure]
    assert failures
    assert {f.kind for f in failures} == {"sandbox"}
    assert not any("Traceback" in f.message for f in failures)
    with pytest.raises(NoSandbox, match="no Docker engine answers"):
        run.run(load(f"task: coding, n: {N}, concurrency: 1"), tmp_path / "run", Silent())
    docker_engine.script("start", own_engine).check_returncode()
    asked = [programs(s) for s in stubs]
    verdict, evidence = ran(load(f"task: coding, n: {N}, concurrency: 1"), tmp_path / "run")
    assert verdict.overall != "INVALID", verdict.gates[0].reason
    # One at a time, so that the server's counters belong to one answer.
    assert {r.response.draft_tokens for r in evidence.records if r.response} == {1}
    assert not [r.failure for r in evidence.records if r.failure]
    assert [programs(s) for s in stubs] == asked


@pytest.mark.usefixtures("short_waits")
def test_without_docker_nothing_is_asked(
    load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(NoSandbox, match=r"no Docker engine answers at unix:///nowhere.*or leave the task coding out"):
        run.run(load(), tmp_path / "run", Silent())
    assert [s.requests for s in stubs] == [[], []]


@pytest.mark.usefixtures("short_waits")
def test_an_optional_task_is_left_out_aloud_without_docker(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    told = Told()
    verdict = run.run(load(f"task: coding, n: {N}, optional: true}}, {{task: greedy", "[]"), tmp_path / "run", told)
    assert [line for line in told.said if "coding is left out" in line and "no Docker engine answers" in line]
    assert verdict.overall == "INVALID"  # nothing gates
    assert {t.name for t in from_contents(store.read(tmp_path / "run")).tasks} == {"greedy"}


def test_plan_warns_where_programs_cannot_be_run(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load()
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    done = CliRunner().invoke(cli.app, ["plan", str(tmp_path / "x.yaml")])
    assert done.exit_code == 0
    assert "warning: programs can't be run as things are: no Docker engine answers" in done.output


@pytest.mark.parametrize(
    ("task", "gates", "said"),
    [
        ("task: coding, optional: true", "[{task: coding, margin: 10}]", "what may be left out can't gate"),
        ("task: coding, language: fr", "[]", "language"),
        ("task: greedy, language: zh", "[]", "belongs to the task coding"),
        ("task: greedy, sandbox_image: x", "[]", "belongs to the task coding"),
        ("task: coding, data_dir: .", "[]", "holds no module with a PROBLEM"),
    ],
)
def test_a_mistake_is_one_line(load: Load, task: str, gates: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(task, gates)


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("raise AssertionError('no')", "can't be run: AssertionError: no"),
        ("import sys; sys.exit(3)", "can't be run: SystemExit: 3"),
        ("1 / 0", "can't be run: ZeroDivisionError"),
        ("PROBLEM = 3", "has neither PROBLEM nor PROBLEMS"),
        (OWN.replace("CHECKS", "1 / 0"), "the checks of p can't be made: ZeroDivisionError"),
        (OWN.replace("CHECKS", "((call(object()),),)"), "the checks of p can't be made: TypeError"),
        (OWN.replace("CHECKS", "((call(1),), (call(2),))"), "is not of p.py's checks"),
    ],
)
def test_a_folder_of_ones_own_that_cannot_be_used_is_one_line(tmp_path: Path, module: str, said: str) -> None:
    (tmp_path / "p.py").write_text(module)
    (tmp_path / "expected").mkdir()
    (tmp_path / "expected" / "p.json").write_text('[[{"returned": 1}]]')
    done = CliRunner().invoke(cli.app, ["problems", "--data-dir", str(tmp_path)])
    assert isinstance(done.exception, ConfigError)
    assert said in str(done.exception)


@pytest.mark.parametrize("expected", ["", "3", "[]", "[[{}]]", '[["x"]]', '[[{"returned": 1}, {"returned": 1}]]'])
def test_expected_values_that_are_not_of_the_checks_are_one_line(tmp_path: Path, expected: str) -> None:
    (tmp_path / "p.py").write_text(OWN.replace("CHECKS", "((call(1),),)"))
    (tmp_path / "expected").mkdir()
    (tmp_path / "expected" / "p.json").write_text(expected)
    done = CliRunner().invoke(cli.app, ["problems", "--data-dir", str(tmp_path)])
    assert isinstance(done.exception, ConfigError)
    assert "p.json" in str(done.exception)


def test_the_problems_are_listed() -> None:
    done = CliRunner().invoke(cli.app, ["problems"])
    assert done.exit_code == 0
    assert f"{len(POSED)} problems" in done.output
    rows = json.loads(CliRunner().invoke(cli.app, ["problems", "--json"]).output)
    assert {r["id"]: r["checks"] for r in rows} == {i: len(p.wanted) for i, p in POSED.items()}
    assert rows[0].keys() == {
        "id", "category", "level", "entry", "checks", "wrong_solutions", "large", "signature", "prompts",
    }  # fmt: skip
    assert {r["id"]: r["prompts"]["en"] for r in rows} == {i: text for text, i in IDS.items()}


def test_a_problem_is_shown_without_its_reference() -> None:
    of = POSED["min_stack"].problem
    done = CliRunner().invoke(cli.app, ["problems", "min_stack"])
    assert done.exit_code == 0
    for part in (coding.prompt(of, "en"), coding.prompt(of, "zh"), "data structures", "14 checks", "20 s, 256 MiB"):
        assert part in done.output
    assert "  1: MinStack(); .push(" in done.output
    assert of.reference.strip() not in done.output
    told = json.loads(CliRunner().invoke(cli.app, ["problems", "min_stack", "--json"]).output)
    assert (told["id"], len(told["steps"]), told["limits"]["wall_s"]) == ("min_stack", 14, 20)
    assert told["prompts"] == {"en": coding.prompt(of, "en"), "zh": coding.prompt(of, "zh")}
    assert of.reference.strip() not in json.dumps(told)
    assert isinstance(CliRunner().invoke(cli.app, ["problems", "min_stak"]).exception, ConfigError)


def test_the_demos_problems_are_found_by_name() -> None:
    done = CliRunner().invoke(cli.app, ["problems", "--data-dir", "demo:coding"])
    assert done.exit_code == 0
    for argv in (["problems"], ["judge", "p", "x.py"]):
        for folder, said in [("demo:none", "shipped are: "), ("no/where", "there is no such folder")]:
            done = CliRunner().invoke(cli.app, [*argv, "--data-dir", folder])
            assert isinstance(done.exception, ConfigError)
            assert said in str(done.exception)


def test_judge_tells_its_exit_codes() -> None:
    said = " ".join(CliRunner().invoke(cli.app, ["judge", "--help"], env={"COLUMNS": "200"}).output.split())
    assert all(part in said for part in ("0 if it is right", "1 if it is not", "2 where", "3 where Docker"))


@pytest.mark.docker
@pytest.mark.usefixtures("docker_engine")
def test_a_file_is_judged_against_one_problem(tmp_path: Path) -> None:
    file = tmp_path / "s.py"
    file.write_text(POSED["min_stack"].problem.reference)
    done = CliRunner().invoke(cli.app, ["judge", "min_stack", str(file)])
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "correct: 14 of 14 checks")
    file.write_text("class MinStack: pass")
    done = CliRunner().invoke(cli.app, ["judge", "min_stack", str(file)])
    assert done.exit_code == 1
    assert "wrong, failed_check: check 1: .push(3)" in done.output
    told = json.loads(CliRunner().invoke(cli.app, ["judge", "min_stack", str(file), "--json"]).stdout)
    assert (told["problem"], told["outcome"], told["reason"]) == ("min_stack", "wrong", "failed_check")


def test_a_file_or_a_problem_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    for argv, said in [(["min_stak", "x.py"], "did you mean"), (["min_stack", str(tmp_path / "x.py")], "cannot be read")]:
        done = CliRunner().invoke(cli.app, ["judge", *argv])
        assert isinstance(done.exception, ConfigError)
        assert said in str(done.exception)
