"""Docker as this machine has it: connected to for the length of a block, and its refusals in one line."""

import os
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import docker
import urllib3
from docker.errors import APIError, DockerException, StreamParseError

from evals.errors import StartError
from evals.experiment import DockerEngine

TROUBLE = (DockerException, OSError, urllib3.exceptions.HTTPError, StreamParseError, struct.error, ValueError)
"""What asking Docker may end in. Those of requests are OSErrors; struct's and ValueError are a reply that was cut off."""
_NO_RUNTIME = (
    "Docker has no NVIDIA runtime: install nvidia-container-toolkit, then `sudo nvidia-ctk runtime configure --runtime=docker` "
    "and `sudo systemctl restart docker`"
)


@contextmanager
def connected(timeout_s: int = 60) -> Iterator[docker.DockerClient]:
    """The engine that DOCKER_HOST or Docker's own context names.

    Raises:
        StartError: none answers, or not to this user.
    """
    try:
        client = docker.from_env(timeout=timeout_s)
    except TROUBLE as e:
        raise StartError(_unreachable(e)) from e
    try:
        yield client
    finally:
        client.close()


def _unreachable(error: Exception) -> str:
    host, said = os.environ.get("DOCKER_HOST"), words(error)
    where = f"at {host} (DOCKER_HOST)" if host else "at Docker's own socket"
    if "Permission denied" in said:
        return f"the Docker engine {where} does not let this user in: `sudo usermod -aG docker $USER`, then log in again"
    if host and "fetching server API version" not in said:
        return f"DOCKER_HOST={host} can't be used: {said}; write unix:///PATH or tcp://HOST:PORT"
    return f"no Docker engine answers {where}: start it (`sudo systemctl start docker`), or set DOCKER_HOST"


def words(error: BaseException) -> str:
    """What Docker said, in one line."""
    said = str(error.explanation or error) if isinstance(error, APIError) else str(error)
    return " ".join(said.split())[:400] or type(error).__name__


def refusal(error: BaseException, engine: DockerEngine) -> str:
    """Why a container was not started, and what to do about it."""
    said = words(error)
    if re.search(r"could not select device driver|GPU vendor|unknown runtime.*nvidia", said):
        return f"{_NO_RUNTIME} ({said})"
    if re.search(r"nvidia-container-cli.*(unknown device|device error)", said):
        return f"no such GPU: compare the arm's devices with `nvidia-smi -L` ({said})"
    return f"Docker can't start {engine.image}: {said}"
