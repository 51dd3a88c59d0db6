"""A child process in a session of its own, with its log in a file: started, watched, and always stopped as a group.

Beside its log lies a record of what it is, for as long as it runs, so that a later bumpgate finds what a killed one left.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from evals.engine import log as logs
from evals.errors import StartError
from sandbox import owner

STOP_GRACE_S = 30.0
KILL_GRACE_S = 5.0
RECORD_SUFFIX = ".process"
# The child writes the record itself before it becomes the server: at no moment does one run that is not on record.
_RECORD_AND_BECOME = """record=$1; shift
read -r boot < /proc/sys/kernel/random/boot_id && read -r stat < /proc/$$/stat &&
echo "$boot $stat" > "$record.new" && mv "$record.new" "$record"
exec "$@"
"""


class Process:
    """`argv` running with `env`; a context manager that ends the whole process group."""

    def __init__(self, argv: list[str], env: dict[str, str], log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log, self.record = log, log.with_suffix(RECORD_SUFFIX)
        if shutil.which(argv[0], path=env.get("PATH")) is None:
            raise StartError(f"{argv[0]} can't be run: there is no such program")
        with log.open("wb") as out:
            self._popen = subprocess.Popen(
                ["/bin/sh", "-c", _RECORD_AND_BECOME, "sh", str(self.record), *argv], env=env,
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    @property
    def pid(self) -> int:
        return self._popen.pid

    def alive(self) -> bool:
        return self._popen.poll() is None

    def ending(self) -> str:
        """How it ended: `exit code 2`, `killed by SIGKILL`."""
        code = self._popen.wait()
        return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """SIGTERM to the group, a grace period, then SIGKILL to whatever of it is left, and that seen gone."""
        end_group(self.pid)
        self._popen.wait()
        self.record.unlink(missing_ok=True)

    def log_tail(self) -> tuple[str, ...]:
        return tuple(logs.read_tail(self.log, logs.LOG_TAIL_LINES))

    def cause(self) -> str | None:
        return logs.cause(self.log)


def end_group(group: int) -> None:
    """Stop a process group: SIGTERM, a grace period, SIGKILL."""
    try:
        if _signal(group, signal.SIGTERM):
            _wait_gone(group, STOP_GRACE_S)
    finally:  # a second Ctrl-C cuts the grace period short, and still nothing is left behind
        if _signal(group, signal.SIGKILL):
            _wait_gone(group, KILL_GRACE_S)


def end_recorded(record: Path) -> int | None:
    """End what a record names, if that still runs: its pid, else None. The record is removed.

    A pid is used again sooner or later, so the time of the start must be the recorded one. Where the first process of the
    session has ended and others of it run on, they are known by the session: its number is nobody else's while one lives.
    """
    try:
        boot, _, line = record.read_text().partition(" ")
    except FileNotFoundError:  # it has just been stopped in another thread
        return None
    fields, ended = owner.stat_fields(line), None
    if fields and boot == owner.boot():
        pid, started = int(fields[0]), int(fields[21])
        leader = owner.started(pid)
        members = [p.pid for p in _members(pid) if _session(p.pid) == pid and (owner.started(p.pid) or -1) >= started]
        if members and leader in (started, None):
            end_group(pid)
            ended = pid
    record.unlink(missing_ok=True)
    return ended


def _wait_gone(group: int, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline and _members(group):
        time.sleep(0.05)


def _members(group: int) -> list[psutil.Process]:
    """What of the group runs; what has ended and was not collected yet (a zombie) does not count."""
    if not _signal(group, 0):
        return []
    running = (p for p in psutil.process_iter(["status"]) if p.info["status"] != psutil.STATUS_ZOMBIE)
    return [p for p in running if _group(p.pid) == group]


def _signal(group: int, number: int) -> bool:
    """Signal the group; False where nothing of it is left."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # the number is another user's by now
        return False
    return True


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def free_port() -> int:
    """A TCP port on loopback that nothing listens on now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port
