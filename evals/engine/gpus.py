"""This machine's GPUs as its driver tells (NVML): what they are, how full they are, and who holds them.

Whatever the driver does not tell is not known, and what is not known never keeps a server from starting.

NVML numbers GPUs by PCI bus, as nvidia-smi and Docker do. CUDA_VISIBLE_DEVICES numbers them by speed unless
CUDA_DEVICE_ORDER is PCI_BUS_ID: the two agree where all GPUs are alike, and elsewhere nothing is said of an arm's.
"""

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pynvml

from evals.errors import StartError
from evals.experiment import Arm, CommandEngine, DockerEngine, VenvEngine

FREE_TIMEOUT_S = 30.0
"""For memory to be given back. A driver takes seconds after a process has ended, more after it was killed."""
POLL_S = 0.5
_SLACK_MIB = 1024
"""What a driver and a desktop hold of a GPU that is free."""
_SHARE = 0.9
"""vLLM's default for --gpu-memory-utilization."""
_PARALLEL = ("tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size")


@dataclass(frozen=True, kw_only=True)
class Holder:
    """A process with memory on a GPU."""

    pid: int
    command: str | None
    """None for one that is not visible here: another container's, say."""
    user: str | None
    used_mib: int | None

    def __str__(self) -> str:
        if self.command is None:
            return f"a process that isn't visible here (pid {self.pid} to the driver)"
        return f"pid {self.pid} ({self.command})" + (f" of {self.user}" if self.user else "")


@dataclass(frozen=True, kw_only=True)
class Gpu:
    index: int
    """NVML's."""
    name: str
    total_mib: int | None
    used_mib: int | None
    """None where the driver does not tell, as for one that is cut into MIG slices."""
    holders: tuple[Holder, ...]

    def __str__(self) -> str:
        used = f"{(self.used_mib or 0) / 1024:.1f} of {(self.total_mib or 0) / 1024:.1f} GiB are held"
        return f"GPU {self.index}: {used} by {' and '.join(map(str, self.holders)) or 'what the driver does not name'}"


@dataclass(frozen=True, kw_only=True)
class View:
    """One look at all of them."""

    driver: str | None
    """Its version; None where there is no driver."""
    gpus: tuple[Gpu, ...]
    trouble: str | None
    """Why a driver that is there tells nothing."""


@dataclass(frozen=True, kw_only=True)
class Use:
    """What a server is going to take."""

    devices: tuple[int, ...]
    share: float
    """Of each one's memory, 0–1."""

    def bound_mib(self, gpu: Gpu) -> float:
        """How much may be held by others: what vLLM leaves alone, or little enough to be nobody's model."""
        total = gpu.total_mib or 0
        return max((1 - self.share) * total, 0.1 * total, _SLACK_MIB)


def look() -> View:
    """All GPUs now; none where there is no driver."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as e:
        absent = (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
        return View(driver=None, gpus=(), trouble=None if e.value in absent else str(e))
    try:
        driver, count = _told(pynvml.nvmlSystemGetDriverVersion), _told(pynvml.nvmlDeviceGetCount) or 0
        return View(driver=_text(driver), gpus=tuple(_gpu(i) for i in range(count)), trouble=None)
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def seen(devices: Sequence[int]) -> tuple[Gpu, ...]:
    """These GPUs by NVML's numbers, as far as they are there."""
    return tuple(gpu for gpu in look().gpus if gpu.index in devices)


def is_held(gpu: Gpu) -> bool:
    """Whether a server that takes vLLM's usual share of it would find too little."""
    return _used(gpu) > Use(devices=(gpu.index,), share=_SHARE).bound_mib(gpu)


@contextlib.contextmanager
def reserved(arm: Arm, say: Callable[[str], None]) -> Iterator[tuple[str, ...]]:
    """Seen free before the block, which starts and stops the arm's server, and again after it: the GPUs' names.

    Raises:
        StartError: somebody else holds one.
    """
    use = use_of(arm)
    if use is None:
        yield ()
        return
    before = wait_free(use, FREE_TIMEOUT_S, say)
    yield tuple(gpu.name for gpu in before)
    # A block that raised is not waited for: whoever starts next waits, and Ctrl-C is to end at once.
    _wait_released(use, before, FREE_TIMEOUT_S, say)


def wait_free(use: Use, timeout_s: float, say: Callable[[str], None]) -> tuple[Gpu, ...]:
    """See the GPUs free, or as soon as they are.

    Raises:
        StartError: after `timeout_s` one is still held, and by whom.
    """
    deadline, told = time.monotonic() + timeout_s, False
    while True:
        now = seen(use.devices)
        held = "; ".join(str(gpu) for gpu in now if _used(gpu) > use.bound_mib(gpu))
        if not held:
            return now
        if time.monotonic() >= deadline:
            raise StartError(f"{held}; end it or choose other devices")
        if not told:
            say(f"waiting for {held}")
            told = True
        time.sleep(POLL_S)


def _wait_released(use: Use, before: Sequence[Gpu], timeout_s: float, say: Callable[[str], None]) -> None:
    """What the server held given back; what is not is only told, for the answers that it gave are good."""
    bounds = {gpu.index: max(use.bound_mib(gpu), _used(gpu) + _SLACK_MIB) for gpu in before}
    deadline = time.monotonic() + timeout_s
    while held := [gpu for gpu in seen(use.devices) if _used(gpu) > bounds.get(gpu.index, math.inf)]:
        if time.monotonic() >= deadline:
            say(f"{'; '.join(map(str, held))}, {timeout_s:.0f} s after the server was stopped")
            return
        time.sleep(POLL_S)


def _used(gpu: Gpu) -> int:
    return gpu.used_mib or 0


def use_of(arm: Arm) -> Use | None:
    """The GPUs that the arm's server will take, by NVML's numbers; None where it takes none, or where that is not known."""
    env = arm.env if isinstance(arm.engine, DockerEngine) else os.environ | arm.env
    match arm.engine:
        case VenvEngine(package="vllm") | CommandEngine():
            visible = _visible(arm, env)
            if visible is None and isinstance(arm.engine, CommandEngine):
                return None  # a script may choose for itself
        case DockerEngine() if arm.devices or arm.engine.gpus:
            visible = arm.devices or None
        case _:
            return None
    gpus = look().gpus
    alike = len({gpu.name for gpu in gpus}) == 1 or env.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    if visible == () or not (alike or isinstance(arm.engine, DockerEngine)):
        return None
    chosen = visible if visible is not None else tuple(gpu.index for gpu in gpus)
    sizes = [_number(arm.args.get(name), 1) for name in _PARALLEL]
    needed = len(chosen) if isinstance(arm.engine, CommandEngine) or arm.devices else math.prod(map(int, sizes))
    devices = tuple(d for d in chosen[:needed] if d < len(gpus))
    return Use(devices=devices, share=_number(arm.args.get("gpu-memory-utilization"), _SHARE)) if devices else None


def _visible(arm: Arm, env: dict[str, str]) -> tuple[int, ...] | None:
    """What CUDA is allowed to see; () where that is nothing, or named otherwise than by number; None for all."""
    if arm.devices:
        return arm.devices
    if (given := env.get("CUDA_VISIBLE_DEVICES")) is None:
        return None
    words = [word.strip() for word in given.split(",")]
    return tuple(map(int, words)) if all(word.isdecimal() for word in words) else ()


def _number(value: Any, default: float) -> float:
    """A flag's value, as YAML gives it or as it was typed."""
    try:
        return float(value) if isinstance(value, int | float | str) else default
    except ValueError:
        return default


def _gpu(index: int) -> Gpu:
    handle = _told(pynvml.nvmlDeviceGetHandleByIndex, index)
    if handle is None:
        return Gpu(index=index, name="unknown", total_mib=None, used_mib=None, holders=())
    memory, mig = _told(pynvml.nvmlDeviceGetMemoryInfo, handle), _told(pynvml.nvmlDeviceGetMigMode, handle)
    whole = memory is not None and not (mig and mig[0])
    holders = _told(pynvml.nvmlDeviceGetComputeRunningProcesses, handle) or ()
    return Gpu(
        index=index, name=_text(_told(pynvml.nvmlDeviceGetName, handle)) or "unknown",
        total_mib=memory.total // 2**20 if whole else None, used_mib=memory.used // 2**20 if whole else None,
        holders=tuple(_holder(process.pid, process.usedGpuMemory) for process in holders),
    )  # fmt: skip


def _told(question: Callable[..., Any], *args: Any) -> Any:
    """The driver's answer; None where it gives none (not supported, no permission, a GPU that is lost)."""
    try:
        return question(*args)
    except pynvml.NVMLError:
        return None


def _text(said: str | bytes | None) -> str | None:
    return said.decode(errors="replace") if isinstance(said, bytes) else said


def _holder(pid: int, used: int | None) -> Holder:
    command, user = _process(pid)
    return Holder(pid=pid, command=command, user=user, used_mib=used // 2**20 if used is not None else None)


def _process(pid: int) -> tuple[str | None, str | None]:
    """Its command and user. In a container the driver's pids are the host's, and may be somebody else's in here."""
    try:
        process = psutil.Process(pid)
        command = " ".join(process.cmdline())[:60] or process.name()
        user = process.username()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None, None
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return command, user
    return (command, user) if "libcuda" in maps or "nvidia" in maps else (None, None)
