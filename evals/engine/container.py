"""A server in a Docker container."""

from pathlib import Path
from types import TracebackType
from typing import Self

from evals.errors import StartError
from evals.experiment import Arm, DockerEngine


class Container:
    """The arm's image running `vllm serve`; a context manager that removes the container."""

    def __init__(self, arm: Arm, engine: DockerEngine, port: int, log: Path) -> None:
        raise StartError(f"{arm.name}: {engine} can't be served yet, at port {port}, {log}")

    def alive(self) -> bool:
        raise NotImplementedError

    def ending(self) -> str:
        raise NotImplementedError

    def cause(self) -> str | None:
        raise NotImplementedError

    def log_tail(self) -> tuple[str, ...]:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        raise NotImplementedError
