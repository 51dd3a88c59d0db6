"""Docker as this machine has it: connected to, and its refusals in one line."""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
import urllib3
from docker import APIClient
from docker.errors import APIError, DockerException, StreamParseError

from sandbox.errors import SandboxDown

TROUBLE = (DockerException, OSError, urllib3.exceptions.HTTPError, StreamParseError, struct.error, ValueError)
"""What asking Docker may end in. Those of requests are OSErrors; struct's and ValueError are a reply that was cut off."""

SYSTEMD = Path("/run/systemd/system")
_SILENT = {
    "FileNotFoundError": "Docker's socket is gone", "RemoteDisconnected": "Docker no longer answers",
    "ConnectionResetError": "Docker no longer answers", "BrokenPipeError": "Docker no longer answers",
    "ConnectionRefusedError": "Docker no longer answers",
}  # fmt: skip
"""What the SDK tells as `('Connection aborted.', FileNotFoundError(2, …))`, in words."""


def connect(timeout_s: int = 60, connections: int = 10) -> docker.DockerClient:
    """The engine that DOCKER_HOST or Docker's own context names; the caller closes it.

    So many `connections` are kept open: as many threads may use it at once.

    Raises:
        SandboxDown: none answers, or not to this user.
    """
    try:
        _see_socket()
        client = docker.from_env(timeout=timeout_s, max_pool_size=connections)
    except TROUBLE as e:
        raise SandboxDown(_unreachable(e)) from e
    if client.api.base_url.startswith("http+docker:"):  # a socket has no proxy, and looking for one takes most of a request
        client.api.trust_env = False
    return client


def _see_socket() -> None:
    """The SDK leaves a socket open, of which Python warns, where it finds nothing to connect to."""
    host = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    path = Path(host.removeprefix("unix://"))
    if host.startswith("unix:///") and not path.exists():
        raise DockerException(f"Error while fetching server API version: FileNotFoundError: {path}")


@contextmanager
def connected(timeout_s: int = 60) -> Iterator[docker.DockerClient]:
    """`connect` for the length of a block."""
    client = connect(timeout_s)
    try:
        yield client
    finally:
        client.close()


def cores(client: APIClient) -> int:
    """Of the machine that the engine runs on.

    Raises:
        SandboxDown: it can't tell.
    """
    try:
        return max(int(client.info()["NCPU"]), 1)
    except (*TROUBLE, KeyError, TypeError) as e:
        raise SandboxDown(f"Docker can't tell of its machine: {words(e)}; see `docker info`") from e


def _unreachable(error: Exception) -> str:
    host, said = os.environ.get("DOCKER_HOST"), _raw(error)
    where = f"at {host} (DOCKER_HOST)" if host else "at Docker's own socket"
    if "Permission denied" in said:
        return f"the Docker engine {where} does not let this user in: `sudo usermod -aG docker $USER`, then log in again"
    if host and "fetching server API version" not in said:
        return f"DOCKER_HOST={host} can't be used: {said}; write unix:///PATH or tcp://HOST:PORT"
    return f"no Docker engine answers {where}: start it ({starting()}), or set DOCKER_HOST"


def starting() -> str:
    """What to type on this machine for an engine to start."""
    if SYSTEMD.exists():
        return "`sudo systemctl start docker`"
    return "there is no systemd here: `dockerd &` as root; in a clone of bumpgate, `tools/docker/engine.sh start` as root"


def words(error: BaseException) -> str:
    """What Docker said, in one line."""
    said = _raw(error)
    if not isinstance(error, APIError):
        said = next((told for sign, told in _SILENT.items() if sign in f"{type(error).__name__} {said}"), said)
    return said


def _raw(error: BaseException) -> str:
    said = str(error.explanation or error) if isinstance(error, APIError) else str(error)
    return " ".join(said.split())[:400] or type(error).__name__
