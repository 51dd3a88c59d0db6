"""What machines read of a run: verdict.json against its schema, junit.xml, GitHub's annotations and summary, --json."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from evidence import BASELINE, CANDIDATE, margin, two_arms
from stub_runs import pupil, written
from stub_server import StubServer
from test_cli import main
from test_levels import whole_run as efforts
from test_needle_report import needles
from test_report import run as report_run
from test_sensors import BEFORE, shifted
from test_sensors import told as sensed

import evals.report
from evals.judged import Evidence, StoredArm
from evals.records import SandboxInfo
from evals.report import github, junit, machine
from evals.verdict import judge

SCHEMA = json.loads((Path(evals.report.__file__).parent / "verdict.schema.json").read_text(encoding="utf-8"))


def closed(schema: Any) -> Any:
    """The schema, that takes no field which it does not describe."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: closed(part) for key, part in schema.items()}
    return out | {"additionalProperties": False} if "required" in schema else out


def document(run: Evidence) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(machine.verdict_json(run, judge(run)))
    return told


READ = sensed({BASELINE: BEFORE, CANDIDATE: shifted(0.5)}, again=shifted(0.01))


def stored() -> Evidence:
    sandbox = SandboxInfo(image_id="sha256:1", python="3.12", source="pulled", limits={"memory_mib": 512.0})
    of = StoredArm(run_id="r0", arm="v024", started_at="2026-01-01T00:00:00Z")
    return replace(two_arms("ccwe", "cwtc"), stored=of, left_out=("v029",), sandbox=sandbox)


@pytest.mark.parametrize(
    "run", [report_run(), efforts(), needles("f" * 12, "fn" * 6), stored(), two_arms("cc", "ww", gates=()), READ]
)
def test_verdict_json_is_what_its_schema_says_and_nothing_more(run: Evidence) -> None:
    jsonschema.Draft202012Validator(closed(SCHEMA)).validate(document(run))


def test_the_schema_has_teeth() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    good = document(report_run())
    for spoil in ("verdict", "schema_version", "gates"):
        bad = deepcopy(good)
        bad[spoil] = "SPOILT"
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, SCHEMA)
    jsonschema.validate(good | {"of_a_later_release": 1}, SCHEMA)  # fields may be added


def test_junit_has_a_case_for_each_gate() -> None:
    run = report_run()
    root = ET.fromstring(junit.junit(run, judge(run)))
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert list(cases) == ["awq · gsm8k", "mtp · gsm8k", "fp8 · gsm8k"]
    failure = cases["awq · gsm8k"].find("failure")
    assert failure is not None
    assert failure.get("type") == "REGRESSION"
    assert "change −4.2 points [−6.5, −2.3], n 400, margin 3" in str(failure.text)
    assert "and 22 more that changed sides" in str(failure.text)
    assert cases["mtp · gsm8k"].find("failure") is None
    assert cases["fp8 · gsm8k"].find("error") is not None


def test_junit_of_nothing_to_judge_is_an_error() -> None:
    run = two_arms("cc", "cc", gates=())
    root = ET.fromstring(junit.junit(run, judge(run)))
    assert (root.get("tests"), root.get("errors")) == ("1", "1")


def test_what_a_model_said_breaks_no_xml() -> None:
    hostile = "\x00\x1b[31m</failure><script>]]>\ud800￿‮" + "x" * 200_000
    run = two_arms("c" * 40, "w" * 40)
    records = tuple(
        replace(r, score=replace(r.score, answer=hostile)) if r.arm == "v029" and r.score else r for r in run.records
    )
    run = replace(run, records=records)
    text = junit.junit(run, judge(run))
    ET.fromstring(text.encode())
    assert len(text) < 5000
    assert "\x1b" not in text


def test_annotations_name_each_gate_and_each_alarm() -> None:
    run = report_run()
    lines = github.annotations(judge(run))
    assert lines[0].startswith("::error title=REGRESSION%3A awq · gsm8k::a drop of 4.2 points [2.3, 6.5] with 400 samples: 21 ")
    assert lines[1].startswith("::notice title=PASS%3A mtp · gsm8k::a drop of ")
    assert lines[2].startswith("::error title=INVALID%3A fp8 · gsm8k::the candidate's server never answered: ")
    assert lines[3].startswith("::warning title=fp8::launch 1 failed at start: ")


def test_an_open_gate_is_an_error_unless_it_shall_only_warn() -> None:
    verdict = judge(margin(two_arms("c" * 50, "c" * 48 + "ww"), 2))
    assert verdict.overall == "INCONCLUSIVE"
    assert github.annotations(verdict)[0].startswith("::error ")
    assert github.annotations(verdict, lenient=True)[0].startswith("::warning ")


def test_annotations_escape_what_would_end_them() -> None:
    verdict = judge(two_arms("cc", "cc"))
    gate = replace(verdict.gates[0], arm="a,b:c", reason="100 %\nand\r::error::more")
    (line,) = github.annotations(replace(verdict, gates=(gate,), findings=()))
    assert line == f"::error title={gate.verdict}%3A a%2Cb%3Ac · gsm8k::100 %25%0Aand%0D::error::more"


def test_a_summary_is_cut_where_github_would_drop_it() -> None:
    assert github.summary("# PASS\n") == "# PASS\n"
    cut = github.summary("测" * 100, 200)
    assert len(cut.encode()) <= 200
    assert cut.startswith("测测")
    assert cut.endswith("scorecard.md)\n")
    assert github.summary("测" * 100, 3) == ""


@pytest.fixture
def stubs() -> Iterator[dict[str, StubServer]]:
    with StubServer(pupil()) as old, StubServer(pupil(wrong=20)) as new:
        yield {"old": old, "new": new}


def test_a_run_under_github_tells_it_and_gives_a_model_no_word(
    stubs: dict[str, StubServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("of a step before\n")
    assert main(monkeypatch, "run", written(tmp_path, stubs).name, "--run-id", "one") == 1
    out, err = capsys.readouterr()
    assert any(line.startswith("::error title=REGRESSION%3A new · gsm8k::") for line in err.splitlines())
    first, *_, last = out.splitlines()
    assert first.startswith("::stop-commands::")
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
    card = (tmp_path / "reports" / "one" / "scorecard.md").read_text(encoding="utf-8")
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == f"of a step before\n{card}\n"


def test_a_summary_that_cannot_be_written_changes_no_verdict(
    stubs: dict[str, StubServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert main(monkeypatch, "run", written(tmp_path, stubs).name, "--run-id", "one") == 1
    assert f"GITHUB_STEP_SUMMARY: {tmp_path}: cannot be written: Is a directory" in capsys.readouterr().err


def test_run_and_report_print_the_verdict_for_a_machine(
    stubs: dict[str, StubServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(monkeypatch, "run", written(tmp_path, stubs).name, "--run-id", "one", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, closed(SCHEMA))
    assert (told["verdict"], told["run_id"]) == ("REGRESSION", "one")
    assert main(monkeypatch, "report", "one", "--json") == 1
    assert json.loads(capsys.readouterr().out) == told
    root = ET.parse(tmp_path / "reports" / "one" / "junit.xml").getroot()
    assert root.get("failures") == "1"


def test_a_plan_is_told_to_a_machine(
    stubs: dict[str, StubServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(monkeypatch, "plan", str(written(tmp_path, stubs)), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["experiment"], told["arms"], told["requests"]) == ("urls", ["old", "new"], 120)
    assert [stage["arm"] for launch in told["launches"] for stage in launch["stages"]] == ["old", "new"]
    assert told["gates"][0]["arm"] == "new"
