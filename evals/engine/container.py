"""A server in a Docker container: started, watched, and always stopped and removed, its log kept in a file.

Its labels say which run it belongs to, so that a later bumpgate finds what a killed one left.
"""

import math
import os
import re
import secrets
import signal
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import requests
from docker.errors import NotFound
from docker.models.containers import Container as DockersContainer
from docker.types import DeviceRequest, LogConfig, Mount

from evals import engines
from evals.engine import command_line, daemon, process
from evals.engine import log as logs
from evals.errors import StartError
from evals.experiment import Arm, DockerEngine

RUN_LABEL = "bumpgate.run"
PID_LABEL = "bumpgate.pid"
FOLLOW_GRACE_S = 5.0
LEFTOVERS_TIMEOUT_S = 10


def options(arm: Arm, engine: DockerEngine, port: int) -> dict[str, Any]:
    """What `docker run` would be told, as the SDK takes it."""
    return {
        "image": engine.image,
        "entrypoint": list(engine.entrypoint) or None,  # none: the image's own
        "command": command_line.serve_args(arm, port),
        "environment": command_line.serve_env(arm),
        "network_mode": "host",
        "ipc_mode": engine.ipc,
        "shm_size": engine.shm_size,
        "volumes": list(engine.volumes),
        "mounts": [Mount(str(f), str(f), type="bind", read_only=True) for f in _model_folders(arm, engine)],
        "device_requests": _gpus(arm, engine),
        # Python as process 1 ignores SIGTERM until vLLM has set its handlers, half a minute after the start.
        "init": True,
        # A daemon whose own driver is `none` or `journald` would leave nothing to read.
        "log_config": LogConfig(type=LogConfig.types.JSON, config={}),
    }


def _gpus(arm: Arm, engine: DockerEngine) -> list[DeviceRequest]:
    if arm.devices:
        return [DeviceRequest(device_ids=[str(d) for d in arm.devices], capabilities=[["gpu"]])]
    if engine.gpus is None:
        return []
    return [DeviceRequest(count=-1 if engine.gpus == "all" else int(engine.gpus), capabilities=[["gpu"]])]


def _model_folders(arm: Arm, engine: DockerEngine) -> list[Path]:
    """A model's folder of this machine that no volume brings, and those that its links lead to, as in the hub's cache."""
    folder = Path(arm.model or "")
    if not folder.is_absolute() or engines.mounted(engine, str(folder)) is not None or not folder.is_dir():
        return []
    targets = {Path(os.path.normpath(folder / p.readlink())).parent for p in folder.iterdir() if p.is_symlink()}
    return [folder, *sorted(t for t in targets if not t.is_relative_to(folder) and t.is_dir())]


class Container:
    """The arm's image serving; a context manager that starts the container and removes it. `image.have` comes first."""

    image_id: str
    """`sha256:…`: what ran, whatever the tag points to later."""
    image_digest: str | None = None
    """`NAME@sha256:…` as a registry knows it; None for an image that was made here."""

    def __init__(self, arm: Arm, engine: DockerEngine, port: int, log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.engine, self.log = engine, log
        # Chosen here, so that a container whose creation is interrupted can still be found.
        self.name = f"bumpgate-{re.sub('[^A-Za-z0-9_.-]', '-', log.stem)}-{secrets.token_hex(4)}"
        labels = {RUN_LABEL: str(log.parent.resolve()), PID_LABEL: str(os.getpid())}
        self._options = options(arm, engine, port) | {"name": self.name, "labels": labels}
        self._follower: threading.Thread | None = None
        self._ending: str | None = None

    def __enter__(self) -> Self:
        self.log.write_bytes(b"")
        with ExitStack() as undo:
            self._client = undo.enter_context(daemon.connected())
            undo.push(lambda _kind, error, _trace: self._end(error))
            try:
                self._container = self._client.containers.create(**self._options)
                self._container.start()
                self.image_id = str(self._container.attrs["Image"])
                digests = self._client.images.get(self.image_id).attrs.get("RepoDigests")
                self.image_digest = str(digests[0]) if digests else None
            except daemon.TROUBLE as e:
                raise StartError(daemon.refusal(e, self.engine)) from e
            # Opened here: one that is slow to begin can't empty a log that is complete already.
            self._follower = threading.Thread(target=self._follow, args=(self.log.open("wb", buffering=0),), daemon=True)
            self._follower.start()
            self._undo = undo.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._undo.__exit__(kind, error, trace)

    def alive(self) -> bool:
        """A container that Docker does not answer for counts as ended, a Docker that is slow to answer does not."""
        if self._ending is not None:
            return False
        try:
            self._container.reload()
        except requests.ReadTimeout:
            return True
        except NotFound:
            self._ending = "its container was removed by somebody else"
        except daemon.TROUBLE as e:
            self._ending = f"Docker no longer answers for it: {daemon.words(e)}"
        else:
            if self._container.attrs["State"]["Running"]:
                return True
            self._note_ending()
        return False

    def ending(self) -> str:
        """How it ended: `exit code 137 (killed by SIGKILL, out of memory)`."""
        return "it runs" if self.alive() else str(self._ending)

    def cause(self) -> str | None:
        self.alive()  # of a container that has ended, the whole log is there now
        return logs.cause(self.log)

    def log_tail(self) -> tuple[str, ...]:
        self.alive()
        return tuple(logs.read_tail(self.log, logs.LOG_TAIL_LINES))

    def _note_ending(self) -> None:
        self._ending = ending(self._container.attrs["State"], self.engine)
        if self._follower is not None:
            self._follower.join(FOLLOW_GRACE_S)
        with suppress(*daemon.TROUBLE):  # what was followed is there in any case
            _keep_log(self._container, self.log)

    def _follow(self, out: IO[bytes]) -> None:
        """Write what the container says as it says it. A connection of its own, since threads must not share one."""
        with out, suppress(*daemon.TROUBLE, StartError), daemon.connected() as client:
            for piece in client.containers.get(self.name).logs(stream=True, follow=True):
                out.write(piece)

    def _end(self, error: BaseException | None) -> None:
        """Stop, keep the log, remove.

        Raises:
            StartError: it can't be removed, so that it may still hold GPUs; not in place of the block's own `error`.
        """
        try:
            self._container = self._client.containers.get(self.name)
            try:
                self._container.stop(timeout=math.ceil(process.STOP_GRACE_S))
                self._container.reload()
                seen = self._ending
                self._note_ending()
                self._ending = seen or self._ending
            finally:  # a second Ctrl-C cuts the grace period short, and still nothing is left behind
                self._container.remove(force=True, v=True)
        except NotFound:
            self._ending = self._ending or "its container was removed by somebody else"
        except daemon.TROUBLE as e:
            self._ending = self._ending or daemon.words(e)
            if error is None:
                said = f"container {self.name} can't be removed: {daemon.words(e)}"
                raise StartError(f"{said}; `docker rm -f {self.name}`") from e


def ending(state: dict[str, Any], engine: DockerEngine) -> str:
    """Docker's `State` of a container that has ended, in words."""
    code = int(state["ExitCode"])
    missing = f"{engine.image} has no program {' '.join(engine.entrypoint[:1])!r}: name its own under entrypoint"
    notes = [missing] if code == 127 else []  # from docker-init, as from a shell
    notes += [f"killed by {signal.Signals(code - 128).name}"] if code - 128 in set(signal.Signals) else []
    notes += ["out of memory"] if state.get("OOMKilled") else []
    notes += [" ".join(str(state["Error"]).split())] if state.get("Error") else []
    return f"exit code {code}" + (f" ({', '.join(notes)})" if notes else "")


def _keep_log(container: DockersContainer, path: Path) -> None:
    """The whole of what it said, from Docker."""
    whole = path.with_name(f"{path.name}.whole")
    with whole.open("wb") as out:
        out.writelines(container.logs(stream=True, follow=False))
    whole.replace(path)


def remove_leftovers(logs_folder: Path) -> tuple[str, ...]:
    """Stop and remove the containers that a killed bumpgate left running for this folder of logs, and keep their logs there.

    Their names are returned; none where no Docker answers.

    Raises:
        StartError: one can't be removed.
    """
    with ExitStack() as stack:
        try:
            client = stack.enter_context(daemon.connected(LEFTOVERS_TIMEOUT_S))
        except StartError:
            return ()
        try:
            label = f"{RUN_LABEL}={logs_folder.resolve()}"
            left = client.containers.list(all=True, filters={"label": label}, ignore_removed=True)
            for container in left:
                with suppress(NotFound):
                    container.stop(timeout=math.ceil(process.STOP_GRACE_S))
                    _keep_log(container, logs_folder / f"{container.name}.log")
                    container.remove(force=True, v=True)
        except daemon.TROUBLE as e:
            raise StartError(f"containers of a killed run can't be removed: {daemon.words(e)}; see `docker ps`") from e
        return tuple(str(container.name) for container in left)
