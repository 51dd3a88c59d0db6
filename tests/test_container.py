"""Servers in containers: the stub under a real Docker engine, and what needs none."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import docker
import docker_engine
import httpx
import pytest
from docker.errors import APIError
from docker_engine import IMAGE, VOLUMES, containers, image_id, make_image
from test_server import venv_arm

from evals.engine import Server, container, daemon, process, serve
from evals.engine.container import Container, options, remove_leftovers
from evals.engine.log import LOG_TAIL_LINES
from evals.errors import BuildError, CanaryError, EngineError, StartError
from evals.experiment import Arm, DockerEngine

pytestmark = pytest.mark.usefixtures("short_waits")

ROOT = Path(__file__).parent.parent
ENGINE = DockerEngine(
    image=IMAGE, gpus=None, ipc=None, shm_size=None, volumes=tuple(VOLUMES), entrypoint=("vllm", "serve")
)  # fmt: skip
IN_DOCKER = [pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]


def in_docker(test: Any) -> Any:
    for mark in IN_DOCKER:
        test = mark(test)
    return test


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "v029-launch1.log"


def docker_arm(fault: str = "", **over: Any) -> Arm:
    return venv_arm(fault, **({"engine": ENGINE, "start_timeout_s": 60.0} | over))


def quiet(_: str) -> None: ...


def refusal(kind: type[EngineError], arm: Arm, log: Path) -> EngineError:
    with pytest.raises(kind) as refused, serve(arm, 0, log, quiet):
        raise AssertionError("the block must not be entered")
    assert "\n" not in refused.value.reason
    return refused.value


def container_of(running: Server) -> Container:
    assert isinstance(running.running, Container)
    return running.running


# --- what Docker is told, without Docker ----------------------------------------------------------------------------------


def test_an_arm_becomes_what_docker_run_would_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    engine = replace(ENGINE, ipc="host", shm_size="16g", volumes=("/srv/models:/models:ro", "hf:/hub"))
    arm = docker_arm(args={"tensor-parallel-size": 2}, env={"VLLM_USE_V1": "1", "DO_NOT_TRACK": "0"})
    told = options(arm, engine, 8123)
    assert (told["image"], told["network_mode"], told["ipc_mode"], told["shm_size"]) == (IMAGE, "host", "host", "16g")
    assert told["entrypoint"] == ["vllm", "serve"]
    assert told["command"][0] == "/models/qwen"
    assert told["command"][told["command"].index("--port") + 1] == "8123"
    assert told["command"][told["command"].index("--tensor-parallel-size") + 1] == "2"
    assert told["volumes"] == ["/srv/models:/models:ro", "hf:/hub"]
    assert (told["environment"]["VLLM_USE_V1"], told["environment"]["DO_NOT_TRACK"]) == ("1", "0")
    assert not {"VLLM_LOGGING_LEVEL", "PATH", "HOME"} & told["environment"].keys()
    assert told["log_config"].type == "json-file"
    assert "auto_remove" not in told


@pytest.mark.parametrize(
    ("gpus", "devices", "asked"),
    [
        (None, (), []),
        ("all", (), [(-1, None)]),
        ("2", (), [(2, None)]),
        (None, (1, 3), [(None, ["1", "3"])]),
        ("all", (1, 3), [(None, ["1", "3"])]),
    ],
)
def test_gpus_are_asked_for_by_number_or_by_name(gpus: str | None, devices: tuple[int, ...], asked: list[Any]) -> None:
    requests = options(docker_arm(devices=devices), replace(ENGINE, gpus=gpus), 8000)["device_requests"]
    assert [(r["Count"] or None, r["DeviceIDs"] or None) for r in requests] == asked
    assert all(r["Capabilities"] == [["gpu"]] for r in requests)


def test_an_entrypoint_of_no_word_is_the_images_own() -> None:
    assert options(docker_arm(), replace(ENGINE, entrypoint=()), 8000)["entrypoint"] is None


def test_a_folder_that_no_volume_brings_is_mounted_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "snapshot").mkdir()
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "abc").write_text("{}")
    (tmp_path / "snapshot" / "config.json").symlink_to("../blobs/abc")
    model = tmp_path / "snapshot"
    mounts = options(docker_arm(model=str(model)), ENGINE, 8000)["mounts"]
    assert [(m["Source"], m["Target"], m["Type"], m["ReadOnly"]) for m in mounts] == [
        (str(folder), str(folder), "bind", True) for folder in (model, tmp_path / "blobs")
    ]
    brought = replace(ENGINE, volumes=(f"{tmp_path}:{tmp_path}",))
    assert options(docker_arm(model=str(model)), brought, 8000)["mounts"] == []
    assert options(docker_arm(model="Qwen/Qwen3-8B"), ENGINE, 8000)["mounts"] == []
    assert options(docker_arm(model="/not/here"), ENGINE, 8000)["mounts"] == []


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"ExitCode": 2}, "exit code 2"),
        ({"ExitCode": 127}, f"exit code 127 ({IMAGE} has no program 'vllm': name its own under entrypoint)"),
        ({"ExitCode": 137, "OOMKilled": True}, "exit code 137 (killed by SIGKILL, out of memory)"),
        ({"ExitCode": 139, "OOMKilled": False}, "exit code 139 (killed by SIGSEGV)"),
        ({"ExitCode": 255, "Error": "the shim\nis gone"}, "exit code 255 (the shim is gone)"),
    ],
)
def test_an_ending_is_told_with_what_docker_knows_of_it(state: dict[str, Any], said: str) -> None:
    assert container.ending({"OOMKilled": False} | state, ENGINE) == said


@pytest.mark.parametrize(
    ("said", "do"),
    [
        ('could not select device driver "" with capabilities: [[gpu]]', "nvidia-container-toolkit"),
        ("nvidia-container-cli: device error: 7: unknown device: unknown", "nvidia-smi -L"),
    ],
)
def test_a_start_that_docker_refuses_says_what_to_do(said: str, do: str) -> None:
    line = daemon.refusal(APIError("500 Server Error", explanation=f"OCI runtime\ncreate failed: {said}"), ENGINE)
    assert do in line
    assert said in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("unix:///nowhere/docker.sock", "no Docker engine answers at unix:///nowhere/docker.sock (DOCKER_HOST): start it"),
        ("tcp://127.0.0.1:9", "no Docker engine answers at tcp://127.0.0.1:9 (DOCKER_HOST): start it"),
        ("nonsense", "DOCKER_HOST=nonsense can't be used: "),
    ],
)
def test_a_docker_that_is_down_is_one_line(log: Path, monkeypatch: pytest.MonkeyPatch, host: str, said: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    assert refusal(StartError, docker_arm(), log).reason.startswith(said)
    assert remove_leftovers(log.parent) == ()


# --- containers -----------------------------------------------------------------------------------------------------------


@in_docker
def test_a_container_serves_for_the_length_of_the_block(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_SECRET", "sk-1")
    news: list[str] = []
    with serve(docker_arm(env={"STUB_FAULT": "", "API_KEY": "x"}), 1, log, news.append) as running:
        assert running.alive()
        inside, info = container_of(running), running.info
        assert (info.launch, info.engine, info.version, info.model) == (1, f"docker {IMAGE}", "0.29.0", "qwen")
        assert info.argv[:3] == ("vllm", "serve", "/models/qwen")
        assert info.image_id == inside.image_id == image_id(IMAGE)
        assert info.image_digest is None
        assert info.env["API_KEY"] == "***"
        assert containers(log.parent) == [inside.name]
        with closing(docker.from_env()) as asked:
            told = asked.containers.get(inside.name).attrs["Config"]
        assert {"bumpgate.run": str(log.parent.resolve()), "bumpgate.pid": str(os.getpid())}.items() <= told["Labels"].items()
        assert not any(word.startswith("OUR_SECRET") for word in told["Env"])
        assert running.reset_prefix_cache() is True
        assert running.cause() is None
        assert inside.ending() == "it runs"
        assert "startup complete" in running.log_tail()[-1]
        url = running.endpoint.url
    assert not running.alive()
    assert inside.ending() == "exit code 143 (killed by SIGTERM)"
    assert containers(log.parent) == []
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{url}/health")
    assert news == [f"starting docker {IMAGE} for v029"]
    assert "startup complete" in log.read_text()


@in_docker
def test_a_container_is_removed_when_the_block_raises(log: Path) -> None:
    with pytest.raises(KeyboardInterrupt), serve(docker_arm(), 0, log, quiet) as running:
        raise KeyboardInterrupt
    assert not running.alive()
    assert containers(log.parent) == []


@in_docker
def test_a_container_that_ignores_its_end_is_killed(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "STOP_GRACE_S", 0.3)
    with serve(docker_arm("stubborn"), 0, log, quiet) as running:
        start = time.monotonic()
    assert time.monotonic() - start < 10
    assert container_of(running).ending() == "exit code 137 (killed by SIGKILL)"


@in_docker
def test_a_failed_start_is_told_in_the_engines_own_words(log: Path) -> None:
    refused = refusal(StartError, docker_arm("start"), log)
    assert refused.reason == "the server ended before it was ready: ValueError: No available memory for the cache blocks."
    assert len(refused.log_tail) == LOG_TAIL_LINES == 40
    assert refused.log_tail[-1].endswith("Failed core proc(s): {}")
    said = log.read_text()
    assert "noise 0\n" in said
    assert "noise 99\n" in said
    assert containers(log.parent) == []


@in_docker
def test_a_container_that_is_never_healthy_is_given_up_at_the_deadline(log: Path) -> None:
    refused = refusal(StartError, docker_arm("never-healthy", start_timeout_s=3.0), log)
    assert refused.reason == "not healthy after 3 s; raise start_timeout_s or see the log"
    assert any("startup complete" in line for line in refused.log_tail)
    assert containers(log.parent) == []


@in_docker
@pytest.mark.parametrize("fault", ["first-request", "slow-death"])
def test_a_healthy_server_that_dies_at_its_first_request_fails_its_canary(log: Path, fault: str) -> None:
    refused = refusal(CanaryError, docker_arm(fault), log)
    assert refused.reason == "healthy, but the first request failed: RuntimeError: could not create a primitive for float32"
    assert any("EngineDeadError" in line for line in refused.log_tail)
    assert containers(log.parent) == []


@in_docker
def test_a_server_that_dies_in_the_middle_is_known_to_be_dead_with_its_last_words(log: Path) -> None:
    with serve(docker_arm("mid-run:1"), 0, log, quiet) as running:
        with pytest.raises(httpx.TransportError):
            httpx.post(f"{running.endpoint.url}/v1/chat/completions", json={"model": "qwen", "messages": [{"content": "hi"}]})
        while running.alive():
            time.sleep(0.02)
        assert running.cause() == "RuntimeError: could not create a primitive for float32"
        assert any("EngineDeadError" in line for line in running.log_tail())
        assert container_of(running).ending() == "exit code 1"


@in_docker
def test_a_container_that_somebody_removes_counts_as_ended(log: Path) -> None:
    with serve(docker_arm(), 0, log, quiet) as running, closing(docker.from_env()) as other:
        other.containers.get(container_of(running).name).remove(force=True)
        assert not running.alive()
        assert "removed by somebody else" in container_of(running).ending()
        assert "startup complete" in running.log_tail()[-1]


@in_docker
def test_a_docker_that_crashes_is_an_ending_and_the_next_engine_clears_what_it_left(
    log: Path, monkeypatch: pytest.MonkeyPatch, own_engine: Path
) -> None:
    monkeypatch.setattr(process, "STOP_GRACE_S", 0.1)
    make_image(IMAGE)
    with pytest.raises(StartError) as refused, serve(docker_arm(), 0, log, quiet) as running:  # noqa: PT012  # its end raises
        while not running.log_tail():  # what a container says comes a moment after it was said
            time.sleep(0.02)
        os.kill(int((own_engine / "docker.pid").read_text()), signal.SIGKILL)
        while running.alive():
            time.sleep(0.02)
        assert container_of(running).ending().startswith("Docker no longer answers for it: ")
        assert "startup complete" in running.log_tail()[-1]
    name = container_of(running).name
    assert refused.value.reason.startswith(f"container {name} can't be removed: ")
    assert refused.value.reason.endswith(f"; `docker rm -f {name}`")
    assert docker_engine.script("start", own_engine).returncode == 0
    with pytest.raises(httpx.TransportError):  # it ran on without its dockerd
        httpx.get(f"{running.endpoint.url}/health")
    assert remove_leftovers(log.parent) == (name,)


@in_docker
def test_an_image_that_is_nowhere_is_one_line_with_what_to_do(log: Path) -> None:
    refused = refusal(BuildError, docker_arm(engine=replace(ENGINE, image="localhost:9/no/such:v1")), log)
    assert refused.stage == "build"
    assert refused.reason.startswith("localhost:9/no/such:v1 is not on this machine and can't be pulled: ")
    assert refused.reason.endswith("; try `docker pull localhost:9/no/such:v1`")


@in_docker
def test_an_image_without_the_program_is_one_line_and_leaves_nothing(log: Path) -> None:
    refused = refusal(StartError, docker_arm(engine=replace(ENGINE, entrypoint=("no-such-program",))), log)
    assert f"{IMAGE} has no program 'no-such-program': name its own under entrypoint" in refused.reason
    assert containers(log.parent) == []


@in_docker
def test_a_machine_without_nvidias_runtime_is_told_what_to_install(log: Path) -> None:
    with closing(docker.from_env()) as asked:
        if "nvidia" in asked.info()["Runtimes"]:
            pytest.skip("this machine has NVIDIA's runtime")
    refused = refusal(StartError, docker_arm(engine=replace(ENGINE, gpus="all")), log)
    assert "nvidia-ctk runtime configure" in refused.reason
    assert containers(log.parent) == []


@in_docker
def test_another_image_under_the_same_tag_is_another_image(log: Path) -> None:
    arm = docker_arm(engine=replace(ENGINE, image="bumpgate-test:moves"))
    first = make_image("bumpgate-test:moves", "first")
    with serve(arm, 0, log, quiet) as running:
        make_image("bumpgate-test:moves", "second")
        assert running.info.image_id == first
    with serve(arm, 1, log, quiet) as running:
        assert running.info.image_id == image_id("bumpgate-test:moves") != first


# --- what a killed bumpgate leaves ----------------------------------------------------------------------------------------

_SERVE = """
import sys, time
from pathlib import Path
sys.path[:0] = [{tests!r}, {root!r}]
from test_container import docker_arm, quiet
from evals.engine import serve
with serve(docker_arm(), 0, Path(sys.argv[1]), quiet) as running:
    print(running.running.name, flush=True)
    time.sleep(60)
"""


@in_docker
def test_what_a_killed_bumpgate_left_is_removed_and_its_log_kept(log: Path, tmp_path: Path) -> None:
    code = _SERVE.format(tests=str(ROOT / "tests"), root=str(ROOT))
    with subprocess.Popen([sys.executable, "-c", code, str(log)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        name = child.stdout.readline().strip()
        child.send_signal(signal.SIGKILL)
    assert containers(log.parent) == [name]
    with serve(docker_arm(), 0, tmp_path / "another" / "run.log", quiet) as other:
        assert remove_leftovers(log.parent) == (name,)
        assert other.alive()
    assert containers(log.parent) == []
    assert "startup complete" in (log.parent / f"{name}.log").read_text()
    assert remove_leftovers(log.parent) == ()
