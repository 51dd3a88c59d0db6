"""Docker for an arm's server: the sandbox's connection, its absence and refusals as an arm's errors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import docker

from evals.errors import StartError
from evals.experiment import DockerEngine
from sandbox.daemon import TROUBLE, connect, starting, words
from sandbox.errors import SandboxDown

__all__ = ["TROUBLE", "connected", "refusal", "starting", "words"]

_NO_RUNTIME = (
    "Docker has no NVIDIA runtime: install nvidia-container-toolkit, then `sudo nvidia-ctk runtime configure --runtime=docker` "
    "and restart Docker (`sudo systemctl restart docker`, where there is systemd)"
)


@contextmanager
def connected(timeout_s: int = 60) -> Iterator[docker.DockerClient]:
    """The engine that DOCKER_HOST or Docker's own context names.

    Raises:
        StartError: none answers, or not to this user.
    """
    try:
        client = connect(timeout_s)
    except SandboxDown as e:
        raise StartError(str(e)) from e.__cause__  # what Docker itself said
    try:
        yield client
    finally:
        client.close()


def refusal(error: BaseException, engine: DockerEngine) -> str:
    """Why a container was not started, and what to do about it."""
    said = words(error)
    if re.search(r"could not select device driver|GPU vendor|unknown runtime.*nvidia", said):
        return f"{_NO_RUNTIME} ({said})"
    if re.search(r"nvidia-container-cli.*(unknown device|device error)", said):
        return f"no such GPU: compare the arm's devices with `nvidia-smi -L` ({said})"
    return f"Docker can't start {engine.image}: {said}"
