"""A stand-in for the `pynvml` module: the driver's side of it, with GPUs that a test fills and empties."""

from dataclasses import dataclass, field
from typing import Any

import pynvml

GIB = 2**30


@dataclass
class FakeGpu:
    used_gib: float = 0.4
    total_gib: float = 24
    name: str | bytes = "NVIDIA GeForce RTX 4090"
    pids: list[int] = field(default_factory=list)
    mig: int = 0
    unsupported: set[str] = field(default_factory=set)
    """Questions that it does not answer."""
    later: list[float] = field(default_factory=list)
    """What it will hold at the following looks, one after another."""


@dataclass
class Memory:
    total: int
    used: int


@dataclass
class Process:
    pid: int
    usedGpuMemory: int | None


class FakeNvml:
    NVMLError = pynvml.NVMLError
    NVML_ERROR_LIBRARY_NOT_FOUND = pynvml.NVML_ERROR_LIBRARY_NOT_FOUND
    NVML_ERROR_DRIVER_NOT_LOADED = pynvml.NVML_ERROR_DRIVER_NOT_LOADED

    def __init__(self, *gpus: FakeGpu, broken: int | None = None) -> None:
        self.gpus, self.broken, self.open, self.looks = list(gpus), broken, 0, 0

    def nvmlInit(self) -> None:
        if self.broken is not None:
            raise pynvml.NVMLError(self.broken)
        self.open += 1
        self.looks += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlSystemGetDriverVersion(self) -> str:
        return "570.86.15"

    def nvmlDeviceGetCount(self) -> int:
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:
        return self._ask("handle", self.gpus[index])

    def nvmlDeviceGetName(self, gpu: FakeGpu) -> str | bytes:
        return self._ask("name", gpu).name

    def nvmlDeviceGetMemoryInfo(self, gpu: FakeGpu) -> Memory:
        self._ask("memory", gpu)
        if gpu.later:
            gpu.used_gib = gpu.later.pop(0)
        return Memory(total=int(gpu.total_gib * GIB), used=int(gpu.used_gib * GIB))

    def nvmlDeviceGetMigMode(self, gpu: FakeGpu) -> list[int]:
        return [self._ask("mig", gpu).mig, 0]

    def nvmlDeviceGetComputeRunningProcesses(self, gpu: FakeGpu) -> list[Any]:
        return [Process(pid=pid, usedGpuMemory=int(gpu.used_gib * GIB)) for pid in self._ask("processes", gpu).pids]

    @staticmethod
    def _ask(question: str, gpu: FakeGpu) -> FakeGpu:
        if question in gpu.unsupported:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return gpu
