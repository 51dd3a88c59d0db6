"""The command: what `plan` tells, and how each kind of trouble ends."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console
from typer.testing import CliRunner

from evals import cli, console, store
from evals.errors import ConfigError, StoreError
from evals.progress import Display

ROOT = Path(__file__).parent.parent
RUNNER = CliRunner()


def main(monkeypatch: pytest.MonkeyPatch, *args: str) -> int:
    """As the console script runs it; the exit code."""
    monkeypatch.setattr(sys, "argv", ["bumpgate", *args])
    with pytest.raises(SystemExit) as left:
        cli.main()
    return int(left.value.code or 0)


def test_help_names_the_commands_and_the_exit_codes() -> None:
    done = RUNNER.invoke(cli.app, ["--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    for word in (
        "run",
        "plan",
        "report",
        "demo",
        "0 PASS",
        "1 REGRESSION",
        "2 bad configuration",
        "3 could not measure",
        "4 INCONCLUSIVE",
    ):
        assert word in done.stdout


def test_the_version_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(monkeypatch, "--version") == 0
    assert re.fullmatch(r"bumpgate (\d+\.\d+\.\d+|unknown)\n", capsys.readouterr().out)


def test_exit_codes() -> None:
    assert cli.EXIT_CODES == {"PASS": 0, "REGRESSION": 1, "INVALID": 3, "INCONCLUSIVE": 4}
    assert (ConfigError.exit_code, StoreError.exit_code, cli.EXIT_INTERRUPTED) == (2, 3, 130)


@pytest.mark.slow
def test_the_script_itself(tmp_path: Path) -> None:
    """From another folder, by the file that the console script imports; nothing but the plan is printed."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    argv = [sys.executable, "-W", "error", "-m", "bumpgate", "plan", "demo"]
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.match(r"demo: 3 arms, 3 servers, 4 launches, \d+ requests\n", done.stdout)
    assert list(tmp_path.iterdir()) == []


def test_plan_tells_what_will_run_and_what_it_can_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.yaml").write_text(
        "name: x\nbaseline: a\narms:\n  a: {engine: {venv: vllm==0.25.0}, model: o/n}\n"
        "  b: {extends: a, engine: {venv: vllm==0.29.0}}\n"
        "  c: {extends: a, request: {reasoning_effort: low}}\ntasks: [{task: gsm8k, n: 200, rounds: 2}]\n"
    )
    assert main(monkeypatch, "plan", str(tmp_path / "x.yaml")) == 0
    said = capsys.readouterr()
    can = "with 200 questions this gate can't exclude a drop below 3.5 points; 1,263 would bring it to 1.3"
    likely = "a PASS is 19 % likely if nothing changed"
    assert said.err == ""
    lines = said.out.splitlines()
    runner = lines.pop()
    assert runner.startswith("warning: b: from vLLM 0.25.0 to 0.29.0: model runner V2 serves every model")
    assert lines == [
        "x: 3 arms, 2 servers, 3 launches, 1200 requests",
        "launch 1: venv vllm==0.25.0 · o/n",
        "  a · gsm8k · round 1: 200 samples, 16 at a time",
        "  c · gsm8k · round 1: 200 samples, 16 at a time",
        "  c · gsm8k · round 2: 200 samples, 16 at a time",
        "launch 2: venv vllm==0.29.0 · o/n",
        "  b · gsm8k · round 1: 200 samples, 16 at a time",
        "  b · gsm8k · round 2: 200 samples, 16 at a time",
        "launch 3: venv vllm==0.25.0 · o/n",
        "  a · gsm8k · round 2: 200 samples, 16 at a time",
        "sensors: up to 140 requests more of one forward pass each",
        f"gate b · gsm8k: margin 2, at 8 % flips: {can}; {likely}",
        f"gate c · gsm8k: margin 2, at 8 % flips: {can}; {likely}",
        "overall: a PASS is at least 4 % likely if nothing changed",
        "time: not known before one run of this model was measured here; `bumpgate run --budget 3h` keeps within a time",
        f"warning: gsm8k: {can}, and the margin is 2",
        "warning: an overall PASS is only 4 % likely if nothing changed, for all 2 gates must pass: ask more, "
        "take a wider margin, or judge fewer arms",
    ]


@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_flag_that_the_version_lacks_ends_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BUMPGATE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "x.yaml").write_text(
        "name: x\nbaseline: a\narms:\n  a:\n    engine: {venv: vllm==0.29.0}\n    model: o/n\n"
        "    args: {swap-space: 4}\ntasks: [greedy]\n"
    )
    assert main(monkeypatch, command, "x.yaml") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "bumpgate: x.yaml:7: arms.a.args.swap-space: vLLM 0.29.0 has no --swap-space (0.16.0 still has it); "
        "remove it; the V1 engine does not swap to the CPU\n"
    )
    assert [p.name for p in tmp_path.iterdir()] == ["x.yaml"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x\n", "x.yaml:1: no baseline; add `baseline: NAME`"),
        ("a: [\n", "x.yaml:2: not valid YAML: "),
        ("name: '[bold]'\nbaseline: a\narms: {a: {}}\ntasks: [gsm8k]\n", "x.yaml:1: name: should match pattern"),
    ],
)
@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_broken_file_is_one_line_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, said: str, command: str
) -> None:
    (tmp_path / "x.yaml").write_text(text)
    assert main(monkeypatch, command, str(tmp_path / "x.yaml")) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"bumpgate: {tmp_path / said}")
    assert err.count("\n") == 1


def test_an_experiment_that_is_not_there_names_those_that_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(monkeypatch, "plan", "dmo") == 2
    assert capsys.readouterr().err.startswith(
        "bumpgate: dmo: cannot be read (No such file or directory); name an experiment file or one of: "
    )


def test_a_file_wins_over_a_shipped_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").write_text("- a\n")
    assert main(monkeypatch, "plan", "demo") == 2
    assert capsys.readouterr().err.startswith("bumpgate: demo:1: an experiment is a mapping")


@pytest.mark.parametrize("args", [["plan", "demo", "--nope"], ["nope"], ["plan"], ["run", "demo", "--run-id"]])
def test_a_wrong_command_line_is_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], args: list[str]
) -> None:
    assert main(monkeypatch, *args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Error" in err
    assert "Usage: bumpgate " in err or "requires an argument" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("none", 2, "there is no run 'none' in reports; name a run's id, or its folder"),
        (".", 3, "journal.jsonl: cannot be read: No such file or directory"),
    ],
)
def test_a_report_of_nothing_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(monkeypatch, "report", name) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("bumpgate: ")
    assert said in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_made_again_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from test_report import run

    e = run()
    folder = tmp_path / "reports" / e.run_id
    with store.Journal(folder) as journal:
        journal.begin(
            store.Header(
                run_id=e.run_id,
                name=e.name,
                bumpgate_version=e.bumpgate_version,
                started_at=e.started_at,
                baseline=e.baseline,
                arms=e.arms,
                tasks=e.tasks,
                gates=e.gates,
                sensors=e.sensors,
                arm_keys={a.name: "k" for a in e.arms},
                task_keys={t.name: "k" for t in e.tasks},
            )
        )
        for task, samples in e.samples.items():
            journal.put_samples(task, samples)
        for r in e.records[:1500]:
            place = store.Place(arm=r.arm, arm_key="k", task=r.task, task_key="k", round=r.round)
            key = f"{r.arm} {r.task} {r.round} {r.sample_id}"
            journal.put_answer(
                store.Answer(
                    place=place, sample_id=r.sample_id, prompt_sha="m", key=key, response=r.response, failure=r.failure
                )
            )
            if r.score:
                journal.put_score(key, r.score)
        for arm, servers in e.servers.items():
            for info in servers:
                journal.put_server(arm, "k", info)
        for arm, failures in e.failures.items():
            for failure in failures:
                journal.put_launch_failure(arm, "k", failure)
        for w in e.windows:
            journal.put_window(store.Place(arm=w.arm, arm_key="k", task=w.task, task_key="k", round=w.round), w)
        for h in e.harness:
            journal.put_harness(store.Place(arm=h.arm, arm_key="k", task=h.task, task_key="k", round=h.round), h)
        journal.finish()
    monkeypatch.chdir(tmp_path)
    golden = ROOT / "tests" / "golden"
    for name, shown in ((e.run_id, folder.relative_to(tmp_path)), (str(folder), folder)):
        assert main(monkeypatch, "report", name) == 1
        out, err = capsys.readouterr()
        assert out == (golden / "scorecard.md").read_text(encoding="utf-8")
        assert err == f"REGRESSION (exit code 1): {shown / 'scorecard.md'}, and scorecard.html for a browser\n"
        for file in ("scorecard.md", "verdict.json"):
            assert (folder / file).read_bytes() == (golden / file).read_bytes()


def test_what_others_said_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither emoji nor markup nor a line's end is made of it."""
    text = f":x: [bold]{'word ' * 60}:warning:"
    console.out().print(text)
    console.news().print(text)
    assert capsys.readouterr() == (f"{text}\n", f"{text}\n")


def test_the_live_line_shows_a_stage_as_it_is_named() -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=200)
    with Display(screen, None) as display:
        row = display.stage("arm[b] :x:", 2, 0)
        display.live.refresh()
        row.end()
    assert "arm[b] :x:" in screen.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("complete", "unanswered", "unjudged", "does"),
    [
        (False, True, [], "asks again what could not be measured"),
        (False, False, [1], "runs the programs that could not be run, without asking for them again"),
        (False, True, [1], "asks again what could not be measured and runs the programs"),
        (True, True, [], None),  # all was decided
    ],
)
def test_what_the_same_command_does_next_is_told(
    complete: bool, unanswered: bool, unjudged: list[int], does: str | None
) -> None:
    told = {"complete": complete, "unanswered": unanswered, "unjudged": unjudged}
    said = cli._left(SimpleNamespace(**{name: lambda value=value: value for name, value in told.items()}))  # type: ignore[arg-type]
    assert said is does or (said or "").startswith(f"the same command {does}")
