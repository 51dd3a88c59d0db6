"""A small experiment with two efforts on one server: one start, other prompts as declared, and both side by side in the end."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from evals import config, run, store
from evals.evidence import from_contents
from evals.judged import Verdict
from evals.progress import Silent

STUB = Path(__file__).with_name("stub_server.py")
N = 60
EXPERIMENT = f"""\
name: x
baseline: a-off
launches: 1
arms:
  a:
    engine: {{command: [{sys.executable}, -S, {STUB}, serve, '{{model}}', --port, '{{port}}']}}
    model: .
    env: {{STUB_FAULT: thinks}}
    thinking: [off, low]
tasks:
  - {{task: gsm8k, n: {N}, data_dir: ., fewshot: 0}}
gates: [{{task: gsm8k, margin: 6}}]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("thinking")
    rows = [json.dumps({"question": f"what is {i} + 1?", "answer": f"#### {i + 1}"}) + "\n" for i in range(N)]
    (folder / "test.jsonl").write_text("".join(rows))
    (folder / "generation_config.json").write_text('{"temperature": 0.6}')
    (folder / "x.yaml").write_text(EXPERIMENT)
    return folder


@pytest.fixture(scope="module")
def verdict(folder: Path) -> Verdict:
    return run.run(config.load(folder / "x.yaml"), folder / "run", Silent())


def test_both_efforts_are_asked_on_one_start_of_one_server(verdict: Verdict, folder: Path) -> None:
    assert verdict.overall == "PASS"
    assert len(list((folder / "run" / "logs").glob("*.log"))) == 1
    evidence = from_contents(store.read(folder / "run"))
    assert {arm.name: arm.asked for arm in evidence.arms} == {
        "a-off": "thinking off, greedy", "a-low": "thinking low, sampled at temperature 0.6",
    }  # fmt: skip
    assert {(r.arm, r.round) for r in evidence.records} == {("a-off", 0), ("a-off", 1), ("a-low", 0), ("a-low", 1)}


def test_prompts_that_differ_as_declared_are_a_note(verdict: Verdict) -> None:
    found = [f for f in verdict.findings if f.kind == "prompts_differ"]
    assert [(f.severity, f.arm) for f in found] == [("note", "a-low")]
    assert f"in {N} of {N} samples, as declared" in found[0].text


def test_the_scorecard_has_them_side_by_side(verdict: Verdict, folder: Path) -> None:
    assert verdict.overall == "PASS"
    card = (folder / "run" / "scorecard.md").read_text()
    assert "**off and low are equal** within the noise: 0.0 points" in card
    document: dict[str, Any] = json.loads((folder / "run" / "verdict.json").read_text())
    told = {row["arm"]: row["reasoning_tokens"] for row in document["thinking"]["levels"]}
    assert told == {"a-off": {"n": 2 * N, "median": 0, "mean": 0}, "a-low": {"n": 2 * N, "median": 30, "mean": 30}}
    assert [pair["equal"] for pair in document["thinking"]["pairs"]] == [True]
