"""The main path on a real vLLM: servers started, asked, judged and stopped. Minutes; `-m "not engine"` leaves it out.

One experiment with eight arms and one pair of running endpoints serve all of these tests.
"""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import jsonschema
import pandas as pd
import psutil
import pytest
from engine_experiments import ARMS, EARLIER, ENGINE, MTP, experiment
from test_machines import SCHEMA, closed

from evals import report, run, sensors, shipped, store
from evals.engine import Server, serve
from evals.evidence import from_contents
from evals.experiment import Arm
from evals.judged import Evidence, GateResult, Verdict
from evals.progress import Silent
from evals.report import outcomes, scorecard
from evals.selftest.faults import rounded

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]

FOUR_BITS = "awq-unpacked" if shipped.demo() == "demo-avx2" else "w4a16"
TRUNCATING_A_TENTH = 40
"""Tokens that about a tenth of the demo's answers are longer than."""
TASKS = (
    "  - {task: gsm8k, n: 200, concurrency: 64, fewshot: 0, max_tokens: 96, data_dir: demo:arithmetic}\n"
    "  - {task: greedy, max_tokens: 64}\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engine")


@pytest.fixture(scope="module")
def faults(folder: Path) -> tuple[Path, Verdict, Evidence]:
    """A baseline against itself, against planted faults, and against a server that can't answer a first request."""
    bf16 = shipped.resolve("demo:bf16")
    assert bf16 is not None
    (folder / "two-bits").mkdir()
    for name, data in rounded({p.name: p.read_bytes() for p in bf16.iterdir()}, bits=2, group=128).items():
        (folder / "two-bits" / name).write_bytes(data)
    arms = ARMS + (
        "  again: {repeat_of: bf16}\n"
        f"  two-bits: {{extends: bf16, model: {folder / 'two-bits'}}}\n"
        f"{MTP}"
        f"  earlier: {{extends: mtp, engine: {{venv: {EARLIER}}}}}\n"
        "  thinks: {extends: bf16, request: {chat_template_kwargs: {enable_thinking: true}}}\n"
        "  enormous: {extends: bf16, request: {reasoning_effort: enormous}}\n"
        f"  short: {{extends: bf16, request: {{max_tokens: {TRUNCATING_A_TENTH}}}}}\n"
        "  dead: {extends: bf16, model: 'demo:w4a16', args: {dtype: float32}}\n"
    )
    where = folder / "reports" / "faults"
    verdict = run.run(experiment(folder, "faults", arms, TASKS), where, Silent())
    return where, verdict, from_contents(store.read(where))


def gate(verdict: Verdict, arm: str) -> GateResult:
    return next(g for g in verdict.gates if g.arm == arm)


def test_the_baseline_is_good_enough_to_lose_something(faults: tuple[Path, Verdict, Evidence]) -> None:
    delta = gate(faults[1], "again").delta
    assert delta is not None
    assert (delta.n, delta.errors) == (200, 0)
    assert 55 <= delta.baseline <= 98


def test_a_baseline_repeated_passes(faults: tuple[Path, Verdict, Evidence]) -> None:
    assert gate(faults[1], "again").verdict == "PASS", gate(faults[1], "again").reason


def test_weights_rounded_to_two_bits_are_a_regression(faults: tuple[Path, Verdict, Evidence]) -> None:
    """Mostly seen at its first answers, so that it is not asked."""
    assert gate(faults[1], "two-bits").verdict == "REGRESSION", gate(faults[1], "two-bits").reason
    assert faults[1].overall == "REGRESSION"


def test_answers_cut_by_a_small_max_tokens_are_a_regression(faults: tuple[Path, Verdict, Evidence]) -> None:
    """Neither PASS, for they are not right, nor INVALID, for the engine answered."""
    _, verdict, evidence = faults
    cut = sum(bool(r.score and r.score.reason == "truncated") for r in evidence.records if r.arm == "short")
    assert 10 <= cut <= 60
    assert gate(verdict, "short").verdict == "REGRESSION", gate(verdict, "short").reason


def test_a_server_that_cannot_answer_is_invalid_in_its_own_words_and_the_others_are_measured(
    faults: tuple[Path, Verdict, Evidence],
) -> None:
    _, verdict, evidence = faults
    dead = evidence.failures["dead"][-1]
    assert gate(verdict, "dead").verdict == "INVALID"
    assert dead.reason in gate(verdict, "dead").reason
    assert "float32" in " ".join(dead.log_tail) + dead.reason or "Error" in dead.reason
    assert 0 < len(dead.log_tail) <= 40
    assert {r.arm for r in evidence.records} - {"two-bits"} == {"bf16", "again", "mtp", "earlier", "thinks", "short"}


def test_what_machines_read_of_it_is_what_the_schema_says(faults: tuple[Path, Verdict, Evidence]) -> None:
    where, verdict, evidence = faults
    told = json.loads((where / "verdict.json").read_text(encoding="utf-8"))
    jsonschema.validate(told, closed(SCHEMA))
    assert len(pd.read_parquet(where / "samples.parquet")) == len(evidence.records)
    assert ET.parse(where / "junit.xml").getroot().get("tests") == str(len(verdict.gates))


def test_speculation_is_seen_at_work_and_changes_no_answer_that_a_restart_does_not(
    faults: tuple[Path, Verdict, Evidence],
) -> None:
    _, verdict, evidence = faults
    for arm in ("mtp", "earlier"):
        window = next(w for w in evidence.windows if w.arm == arm and w.task == "gsm8k")
        assert window.draft_tokens
        assert window.accepted_tokens is not None
        assert window.accepted_tokens / window.draft_tokens >= 0.3
        divergence = next(d for d in verdict.divergences if d.arm == arm)
        assert divergence.n >= 30
        assert not divergence.excess
    assert all(w.drafts is None for w in evidence.windows if w.arm not in ("mtp", "earlier"))


def test_sensors_find_nothing_in_a_restart_and_nothing_in_speculation(faults: tuple[Path, Verdict, Evidence]) -> None:
    """Token ids go in as they were recorded, so that nothing but the engine's arithmetic may differ."""
    _, verdict, evidence = faults
    found = {(r.arm, r.task): r for r in sensors.readings(evidence)}
    assert found.keys() == {(arm, task) for arm in ("again", "mtp", "earlier") for task in ("gsm8k", "greedy")}
    for reading in found.values():
        assert reading.figures.size.n >= 24  # of 36: some of the greedy prompts are long
        assert reading.floor is not None
        assert reading.figures.agreement.mean > 0.99
        assert reading.figures.size.mean < 0.02, reading
    assert sensors.unmeasured(evidence).keys() == {"thinks", "short"}  # on the baseline's own server
    assert not {f.severity for f in verdict.findings if f.kind.startswith("sensor")} - {"note"}


def test_another_version_passes_and_answers_with_the_same_tokens(faults: tuple[Path, Verdict, Evidence]) -> None:
    where, verdict, evidence = faults
    assert gate(verdict, "earlier").verdict == "PASS", gate(verdict, "earlier").reason
    row = outcomes.same_tokens(evidence, "earlier", "gsm8k")
    assert row.comparable == 200
    assert row.same >= 190  # all of them where the kernels of both versions add in the same order
    versions = {c.what: (c.baseline, c.candidate) for c in scorecard.changes(evidence, "earlier")}["version"]
    assert versions == (ENGINE.partition("==")[2], EARLIER.partition("==")[2])
    assert f"| version | `{versions[0]}` | `{versions[1]}` |" in (where / "scorecard.md").read_text()


def test_sound_arms_pass_preflight(faults: tuple[Path, Verdict, Evidence]) -> None:
    """Each switch seen at work, each prompt the baseline's or different as declared, a prompt of the whole context taken."""
    preflights = faults[2].preflights
    for arm in ("bf16", "again", "mtp", "earlier", "short", "thinks"):
        seen = {check.name: check for launch in preflights[arm] for check in launch.checks}
        odd = {name: check for name, check in seen.items() if check.result not in ("passed", "warned")}
        assert odd == {}, odd
        assert seen["context"].saw == "a prompt that fills max_model_len, 4096, is taken"
    told = {check.name: check.saw for check in preflights["thinks"][0].checks}
    assert told["prompts"] == "12 of 12 rendered prompts differ from the baseline's, as declared"


def test_an_effort_that_the_engine_does_not_know_stops_its_arm_before_it_is_asked(
    faults: tuple[Path, Verdict, Evidence],
) -> None:
    _, verdict, evidence = faults
    (failure,) = evidence.failures["enormous"]
    assert failure.stage == "canary"
    assert "HTTP 400" in failure.reason
    assert failure.reason in gate(verdict, "enormous").reason
    assert gate(verdict, "enormous").verdict == "INVALID"


def test_each_server_is_attested(faults: tuple[Path, Verdict, Evidence]) -> None:
    servers = faults[2].servers
    assert servers["bf16"][0].weights_sha == servers["again"][0].weights_sha != servers["two-bits"][0].weights_sha
    assert len({s.tokenizer_sha for starts in servers.values() for s in starts}) == 1
    assert servers["mtp"][0].effective["speculative_config.method"] == "mtp"
    assert {s.effective["dtype"] for starts in servers.values() for s in starts} == {"torch.bfloat16"}


def test_every_round_started_with_a_cold_prefix_cache(faults: tuple[Path, Verdict, Evidence]) -> None:
    assert all(w.cold for w in faults[2].windows)


def test_what_the_engine_said_is_kept(faults: tuple[Path, Verdict, Evidence]) -> None:
    _, _, evidence = faults
    answered = [r.response for r in evidence.records if r.response and r.arm != "two-bits"]
    assert len(answered) == 6 * 200 + 6 * 36 + 36  # gsm8k, greedy, and the baseline's greedy again
    assert all(r.token_ids and r.prompt_ids_sha and r.finish_reason and r.completion_tokens for r in answered)
    assert all(r.fingerprint and r.fingerprint.startswith("vllm-") for r in answered)
    assert all(r.response.top_two for r in evidence.records if r.task == "greedy" and r.response)
    assert {h.filter for h in evidence.harness} == {"strict-match", "flexible-extract"}


def test_the_report_is_made_again_byte_for_byte(faults: tuple[Path, Verdict, Evidence]) -> None:
    where = faults[0]
    before = {name: (where / name).read_bytes() for name in ("scorecard.md", "verdict.json")}
    assert report.write(where) == faults[1]
    assert {name: (where / name).read_bytes() for name in before} == before
    assert json.loads(before["verdict.json"])["verdict"] == "REGRESSION"


def test_no_server_is_left_behind(faults: tuple[Path, Verdict, Evidence]) -> None:
    assert faults[1]
    mine = [p for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE]
    assert not [p.cmdline() for p in mine if "serve" in p.cmdline() and "--served-model-name" in p.cmdline()]


def arm(folder: Path, name: str, model: str) -> Arm:
    tasks = "  - {task: gsm8k, n: 10, fewshot: 0, data_dir: demo:arithmetic}\n"
    return experiment(folder, f"one-{name}", ARMS.replace("bf16:", f"{name}:", 1).replace("demo:bf16", model), tasks).arms[0]


@pytest.fixture(scope="module")
def endpoints(folder: Path, faults: tuple[Path, Verdict, Evidence]) -> Iterator[tuple[Server, Server]]:
    """Two servers of somebody else's, started one after the other (at once they take three times as long)."""
    assert faults
    with ExitStack() as stack:
        servers = [
            stack.enter_context(serve(arm(folder, name, f"demo:{name}"), 0, folder / f"{name}.log", lambda _: None))
            for name in ("bf16", FOUR_BITS)
        ]
        yield servers[0], servers[1]


@pytest.fixture(scope="module")
def two_urls(folder: Path, endpoints: tuple[Server, Server]) -> Path:
    request = "request: {chat_template_kwargs: {enable_thinking: false}}"
    arms = "".join(
        f"\n  {n}: {{engine: {{url: '{s.endpoint.url}/v1'}}, {request}}}"
        for n, s in zip(("old", "new"), endpoints, strict=True)
    )
    tasks = (
        "  - {task: gsm8k, n: 200, fewshot: 0, max_tokens: 96, data_dir: demo:arithmetic}\n  - {task: greedy, max_tokens: 64}\n"
        "sensors: true\n"
    )
    experiment(folder, "urls", arms + "\n", tasks)
    return folder / "urls.yaml"


def bumpgate(*argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-m", *argv], cwd=cwd, capture_output=True, text=True, timeout=900, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_running_endpoints_are_judged_by_run_and_by_pytest_alike_and_run_on(
    two_urls: Path, endpoints: tuple[Server, Server], folder: Path
) -> None:
    ran = bumpgate("bumpgate", "run", str(two_urls), "--run-id", "by-run", cwd=folder)
    verdict = json.loads((folder / "reports" / "by-run" / "verdict.json").read_text())
    assert verdict["verdict"] in ("PASS", "REGRESSION", "INCONCLUSIVE")
    assert ran.returncode == {"PASS": 0, "REGRESSION": 1, "INCONCLUSIVE": 4}[verdict["verdict"]]
    assert ran.stdout.startswith(f"# {verdict['verdict']}")
    assert {a["status"] for a in verdict["arms"].values()} == {"measured"}

    readings = {r["task"]: r for r in verdict["sensors"]["readings"]}
    assert readings["greedy"]["is_beyond"]  # four bits a weight
    assert readings["greedy"]["figures"]["agreement"]["mean"] < 1.0

    tested = bumpgate(
        "pytest", "--pyargs", "evals", "-m", "regression", "--experiment", str(two_urls), "-p", "no:cacheprovider", cwd=folder
    )
    again = json.loads(max((folder / "reports").glob("urls-*")).joinpath("verdict.json").read_text())
    figures = ("arm", "task", "verdict", "n", "baseline", "candidate", "newly_wrong", "newly_right")
    assert [[g[f] for f in figures] for g in again["gates"]] == [[g[f] for f in figures] for g in verdict["gates"]]
    assert tested.returncode == (0 if verdict["verdict"] == "PASS" else 1), tested.stdout
    assert f"{verdict['gates'][0]['verdict']}: {again['gates'][0]['reason']}" in tested.stdout or tested.returncode == 0

    for server in endpoints:
        assert httpx.get(f"{server.endpoint.url}/health").status_code == 200
