"""A small experiment with two efforts on one server: one start, other prompts as declared, and both side by side in the end."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from stub_server import Json, Reply, StubServer, error, thinker

from evals import config, run, store
from evals.evidence import from_contents
from evals.judged import Verdict
from evals.progress import Silent

pytestmark = pytest.mark.slow

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


def over_url(folder: Path, stub: StubServer, efforts: str) -> Verdict:
    text = EXPERIMENT.replace(EXPERIMENT[EXPERIMENT.index("    engine:") : EXPERIMENT.index("    thinking:")], "")
    text = text.replace("  a:\n", f"  a:\n    engine: {{url: '{stub.url}'}}\n    request: {{temperature: 0.6}}\n")
    (folder / "url.yaml").write_text(text.replace("[off, low]", efforts))
    return run.run(config.load(folder / "url.yaml"), folder / f"run-{len(list(folder.iterdir()))}", Silent())


def test_two_levels_that_a_model_does_not_tell_apart_are_found_before_they_are_asked(folder: Path) -> None:
    """The template knows on and off alone, so that `low` and `high` are one."""
    with StubServer(thinker) as stub:
        verdict = over_url(folder, stub, "[off, low, high]")
    assert verdict.by_arm == {"a-low": "INVALID", "a-high": "INVALID"}
    assert "param_had_no_effect" in verdict.gates[0].reason
    assert "the same with low and high" in verdict.gates[0].reason


def test_a_level_that_a_model_rejects_is_found_before_it_is_asked(folder: Path) -> None:
    """QwenLM/Qwen3.8 issue 217: healthy, and HTTP 500 to every question under `high`."""

    def picky(request: Json) -> Reply:
        effort = request.get("reasoning_effort")
        return error(500, f"template raised: unsupported reasoning effort '{effort}'") if effort == "high" else thinker(request)

    with StubServer(picky) as stub:
        verdict = over_url(folder, stub, "[off, high]")
        asked = [r for r in stub.requests if r.get("reasoning_effort") == "high"]
    assert verdict.by_arm == {"a-high": "INVALID"}
    assert "unsupported_effort: the model does not take high (HTTP 500: template raised" in verdict.gates[0].reason
    assert {r["max_tokens"] for r in asked} == {16}  # only by what an arm is looked at with, each tried four times at most
    assert len(asked) <= 8
