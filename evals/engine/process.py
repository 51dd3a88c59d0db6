"""A child process in a session of its own, with its log in a file: started, watched, and always stopped as a group."""

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from evals.errors import StartError

LOG_TAIL_LINES = 40
STOP_GRACE_S = 30.0
KILL_GRACE_S = 5.0
_QUIET = re.compile(r"\b(?:DEBUG|INFO|WARNING) \d\d-\d\d ")
_PREFIX = re.compile(r"^(?:\([^()]*pid=\d+\) )*(?:ERROR \d\d-\d\d [\d:]+ \[[^\]]*\])?\s*")
_DYING = re.compile(r"EngineCore (?:encountered a fatal error|failed to start)|WorkerProc (?:hit an exception|failed)")
_CAUSE = re.compile(r"\b[\w.]*(?:Error|Exception): .+|\berror: .+|.*\bdied unexpectedly\b.*")
_CONSEQUENCE = re.compile(r"EngineDeadError|root cause|stack trace|HTTPException|died unexpectedly")


class Process:
    """`argv` running with `env`; a context manager that ends the whole process group."""

    def __init__(self, argv: list[str], env: dict[str, str], log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        try:
            with log.open("wb") as out:
                self._popen = subprocess.Popen(
                    argv, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
                )
        except OSError as e:
            raise StartError(f"{argv[0]} can't be run: {e.strerror}") from e

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
        try:
            if self._signal(signal.SIGTERM):
                self._wait_gone(STOP_GRACE_S)
        finally:  # a second Ctrl-C cuts the grace period short, and still nothing is left behind
            if self._signal(signal.SIGKILL):
                self._wait_gone(KILL_GRACE_S)
            self._popen.wait()

    def _wait_gone(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and (self.alive() or self._others_run()):
            time.sleep(0.05)

    def _others_run(self) -> bool:
        """Whether anything else of the group runs; what has ended and was not collected yet (a zombie) does not count."""
        return self._signal(0) and any(
            p.info["status"] != psutil.STATUS_ZOMBIE and _group(p.pid) == self.pid for p in psutil.process_iter(["status"])
        )

    def _signal(self, number: int) -> bool:
        """Signal the group; False where nothing of it is left."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def log_tail(self, lines: int = LOG_TAIL_LINES) -> tuple[str, ...]:
        return tuple(read_tail(self.log, lines))

    def cause(self) -> str | None:
        """The first error that the log names and that is not merely the consequence of another, in one line.

        Where the engine says that it is dying, what was logged before that (a request turned away, a warning) is passed over.
        """
        lines = [_PREFIX.sub("", line[:2000]) for line in read_tail(self.log, 2000) if not _QUIET.search(line)]
        start = next((i for i, line in enumerate(lines) if _DYING.search(line)), 0)
        found = [_whole(m[0], lines[i + 1 :]) for i, line in enumerate(lines) if i >= start and (m := _CAUSE.search(line))]
        own = [text for text in found if not _CONSEQUENCE.search(text)]
        return next(iter(own or found), None)


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _whole(error: str, following: list[str]) -> str:
    """pydantic names the field and the fault in the lines after its error's first."""
    if re.search(r"\d+ validation errors? for ", error):
        end = next((i for i, line in enumerate(following[:4]) if "[type=" in line), -1)
        error = ": ".join([error, *(line.split(" [type=")[0].strip() for line in following[: end + 1])])
    return error.strip()


def read_tail(path: Path, lines: int) -> list[str]:
    """The last lines of a log, without colours and carriage returns; at most its last 256 KiB are read."""
    with path.open("rb") as f:
        f.seek(max(0, path.stat().st_size - 256 * 1024))
        text = f.read().decode("utf-8", "replace")
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\r", "\n")
    return [line.rstrip() for line in text.splitlines() if line.strip()][-lines:]


def free_port() -> int:
    """A TCP port on loopback that nothing listens on now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port
