"""One container for one program: started ahead, given its job once, listened to, removed."""

import json
import signal
import time
from contextlib import ExitStack, suppress
from typing import Any

from docker import APIClient
from docker.errors import NotFound
from docker.types import LogConfig, Ulimit

from sandbox import daemon, owner
from sandbox.errors import ContainerLost, ImageError, SandboxDown
from sandbox.limits import Limits
from sandbox.stream import Stream
from sandbox.transcript import Reader, Transcript

OWNER_LABEL = "bumpgate.sandbox.owner"
NOBODY = "65534:65534"
START_S = 120.0
"""For a container to say that it is ready, also on a machine that is busy."""
END_S = 3.0
"""For Docker to note that a container has ended, once its output has."""
MIB = 2**20
# Process 1 of a container gets no SIGKILL from within; 255 is what a Docker that was killed and comes back finds.
_FROM_OUTSIDE = {128 + signal.SIGKILL, 255}


def options(image: str, labels: dict[str, str]) -> dict[str, Any]:
    """What a container is created with, as the SDK's API client takes it."""
    return {
        "image": image,
        "user": NOBODY,
        "stdin_open": True,
        "network_disabled": True,
        "environment": {"PYTHONHASHSEED": "0"},
        "labels": labels | {OWNER_LABEL: owner.me()},
        "working_dir": "/tmp",
        "use_config_proxy": False,
    }


def host_options(limits: Limits) -> dict[str, Any]:
    """What the host grants it."""
    memory = limits.memory_mib * MIB
    return {
        "network_mode": "none",
        "ipc_mode": "none",
        "read_only": True,
        "tmpfs": {"/tmp": f"rw,noexec,nosuid,nodev,size={limits.tmp_mib}m,mode=1777"},
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],  # and Docker's own seccomp profile, by saying nothing
        "pids_limit": limits.pids,
        "mem_limit": memory,
        "memswap_limit": memory,
        "nano_cpus": int(limits.cpus * 1e9),
        "ulimits": [Ulimit(name="nofile", soft=256, hard=256), Ulimit(name="core", soft=0, hard=0)],
        "log_config": LogConfig(type=LogConfig.types.NONE),  # else a program that prints for ever fills the disk
    }


def start(client: APIClient, image: str, limits: Limits, labels: dict[str, str]) -> "Container":
    """A container whose Python waits for a job. The caller removes it.

    Raises:
        SandboxDown: Docker does not answer, or refuses.
        ImageError: its Python does not get as far as waiting for a job.
    """
    with ExitStack() as undo:
        try:
            host = client.create_host_config(**host_options(limits))
            made = client.create_container(**options(image, labels), host_config=host)["Id"]
            undo.callback(remove, client, made)
            stream = Stream(client.attach_socket(made, params={"stdin": 1, "stdout": 1, "stream": 1}))
            undo.callback(stream.close)
            client.start(made)
        except daemon.TROUBLE as e:
            raise SandboxDown(f"Docker can't start a sandbox of {image}: {daemon.words(e)}; see `docker info`") from e
        container = Container(client, made, stream, limits)
        container.await_ready()
        undo.pop_all()
    return container


def remove(client: APIClient, container_id: str) -> None:
    """Kill and remove it, whatever it does. Where Docker can't, the next pool does."""
    with suppress(*daemon.TROUBLE):
        client.remove_container(container_id, force=True, v=True)


class Container:
    """One that `start` made."""

    python = ""
    """The version of its Python."""

    def __init__(self, client: APIClient, container_id: str, stream: Stream, limits: Limits) -> None:
        self._client, self.id, self._stream, self._limits = client, container_id, stream, limits

    def await_ready(self) -> None:
        deadline, said = time.monotonic() + START_S, b""
        try:
            while not said.endswith(b"\n"):
                said += self._stream.receive(deadline)
        except TimeoutError as e:
            raise SandboxDown(f"a sandbox was not ready after {START_S:g} s: look whether Docker is stuck, `docker ps`") from e
        except EOFError as e:
            how = self._ended(Reader(0)).detail
            raise ImageError(f"a sandbox ended before it took a job, {how}: it needs an image of Python 3.11 or later") from e
        try:
            self.python = str(json.loads(said)["ready"])
        except (ValueError, TypeError, KeyError) as e:
            raise ImageError(f"what runs in the sandbox is not bumpgate's: it said {said[:80]!r}; build its image anew") from e

    def fresh(self) -> bool:
        """Whether it still waits for its job: a Docker that was restarted has killed it."""
        return not self._stream.ended()

    def ask(self, line: bytes, steps: int) -> Transcript:
        """What comes of a job. Once only.

        Raises:
            ContainerLost: it was killed or removed from outside, as far as can be told.
            SandboxDown: Docker no longer answers.
        """
        reader = Reader(steps)
        deadline = time.monotonic() + self._limits.wall_s
        try:
            self._stream.send(line, deadline)
            while not reader.done:
                reader.feed(self._stream.receive(deadline))
                if reader.size > self._limits.output_mib * MIB:
                    return reader.transcript("flooded", f"it told more than {self._limits.output_mib} MiB")
        except TimeoutError:
            self._state()  # a Docker that is gone or stuck is no fault of the program
            return reader.transcript("timeout", f"no end after {self._limits.wall_s:g} s")
        except EOFError:
            return self._ended(reader)
        return reader.transcript()

    def _ended(self, reader: Reader) -> Transcript:
        """Why it fell silent before its end."""
        deadline = time.monotonic() + END_S
        while (state := self._state())["Running"] and time.monotonic() < deadline:
            time.sleep(0.02)
        if state["Running"]:  # a program can close its output; but a Docker that is restarted hangs up too
            seen = reader.transcript("crashed", "it closed its output")
            raise ContainerLost(f"Docker hung up on sandbox {self.id[:12]}, which runs on; see Docker's own log", seen)
        code = int(state["ExitCode"])
        if state["OOMKilled"]:
            return reader.transcript("memory", f"it took more than {self._limits.memory_mib} MiB")
        how = f"exit code {code}"
        if code - 128 in set(signal.Signals):
            how += f" ({signal.Signals(code - 128).name})"
        seen = reader.transcript("crashed", how)
        if code in _FROM_OUTSIDE:
            raise ContainerLost(f"sandbox {self.id[:12]} was killed from outside: {how}; see Docker's own log", seen)
        return seen

    def _state(self) -> dict[str, Any]:
        try:
            state: dict[str, Any] = self._client.inspect_container(self.id)["State"]
        except NotFound as e:
            raise ContainerLost(f"sandbox {self.id[:12]} was removed by somebody else: see who cleans up Docker here") from e
        except daemon.TROUBLE as e:
            raise SandboxDown(f"Docker no longer answers for a sandbox: {daemon.words(e)}; see `docker info`") from e
        return state

    def close(self) -> None:
        """Hang up; where it still waits for a job it ends."""
        self._stream.close()

    def remove(self) -> None:
        """Kill and remove it, whatever it does."""
        self._stream.close()
        remove(self._client, self.id)
