"""A run's folder: one append-only journal that tells everything, and nothing in the reports that it does not tell.

A line is one JSON object with a `kind`. What is flushed survives `kill -9`; a line torn by it is set aside at the next start.
"""

import fcntl
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from evals.contents import ALL as ALL
from evals.contents import JOURNAL as JOURNAL
from evals.contents import Answer as Answer
from evals.contents import Contents as Contents
from evals.contents import Header as Header
from evals.contents import Place as Place
from evals.contents import read as read
from evals.contents import take
from evals.errors import StoreError
from evals.judged import Ask, Look
from evals.records import (
    Failure,
    Forced,
    HarnessResult,
    JsonDict,
    LaunchFailure,
    Preflight,
    Sample,
    SandboxInfo,
    Score,
    ServerInfo,
    Window,
)


class Journal:
    """The journal of one run, open for appending; knows all that was written before. A context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder, path = folder, folder / JOURNAL
        self._lock = threading.RLock()  # arms side by side write into one journal
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
        except OSError as e:
            raise StoreError(f"{path}: cannot be written: {e.strerror}; name another folder with --reports") from e
        with ExitStack() as undo:
            undo.callback(self._file.close)
            self._hold()
            self._set_torn_line_aside(path)
            self.contents = read(folder)
            undo.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def _hold(self) -> None:
        """One process writes a journal; the kernel lets go of it when that process ends, however it ends."""
        holder = self.folder / "holder.txt"
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            write_text(holder, f"process {os.getpid()}")
        except BlockingIOError as e:
            who = holder.read_text() if holder.exists() else "another process"
            raise StoreError(f"{self.folder} is being written by {who}; wait for it, or start another run with --new") from e
        except OSError as e:
            raise StoreError(
                f"{self.folder}: its journal can't be locked: {e.strerror}; name another disk with --reports"
            ) from e

    def _set_torn_line_aside(self, path: Path) -> None:
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with (self.folder / "torn.txt").open("ab") as torn:
                torn.write(data[whole:] + b"\n")
            os.truncate(path, whole)

    def _write(self, line: JsonDict) -> None:
        text = json.dumps(line, separators=(",", ":"))
        try:
            with self._lock:
                take(self.contents, json.loads(text))  # first, so that no line is ever written that can't be read back
                self._append(text.encode() + b"\n")
        except OSError as e:
            where, undone = (
                self.folder / JOURNAL,
                "what was written before is kept: free some space, and the same command goes on",
            )
            raise StoreError(f"{where}: cannot be written: {e.strerror}; {undone}") from e

    def _append(self, line: bytes) -> None:
        """The whole of it or, on a full disk, nothing: what is written next must not follow half a line."""
        before = os.fstat(self._file.fileno()).st_size
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError:
            os.truncate(self._file.fileno(), before)
            raise

    def begin(self, header: Header) -> None:
        self._write({"kind": "run", "header": asdict(header)})

    def put_samples(self, task: str, samples: tuple[Sample, ...], made_for: str = "") -> None:
        """What a task asks, in its order. The first of those that are there already tell nothing new."""
        stored = self.contents.samples.get(task, ())
        if stored[: len(samples)] != samples or not stored or (made_for and self.contents.made_for.get(task) != made_for):
            told = {"kind": "samples", "task": task, "samples": [asdict(s) for s in samples]}
            self._write(told | ({"made_for": made_for} if made_for else {}))

    def put_answer(self, answer: Answer) -> None:
        self._write({"kind": "answer", "answer": asdict(answer)})

    def put_score(self, key: str, said: Score | Failure) -> None:
        if self.contents.scores.get(key) != said:
            score, failure = (asdict(said), None) if isinstance(said, Score) else (None, asdict(said))
            self._write({"kind": "score", "key": key, "score": score, "failure": failure})

    def put_sandbox(self, info: SandboxInfo) -> None:
        if self.contents.sandbox != info:
            self._write({"kind": "sandbox", "sandbox": asdict(info)})

    def unjudged(self) -> list[Answer]:
        """Programs of the present configuration that wait for the sandbox."""
        with self._lock:
            return self.contents.unjudged()

    @contextmanager
    def still(self) -> Iterator[Contents]:
        """What was written, while nobody adds to it."""
        with self._lock:
            yield self.contents

    def put_forced(self, forced: Forced) -> None:
        header = self.contents.header
        assert header is not None  # only what a run has begun is asked about
        self._write({"kind": "forced", "arm_key": header.arm_keys[forced.arm], "forced": asdict(forced)})

    def put_server(self, arm: str, arm_key: str, info: ServerInfo) -> None:
        self._write({"kind": "server", "arm": arm, "arm_key": arm_key, "server": asdict(info)})

    def put_preflight(self, arm: str, arm_key: str, preflight: Preflight) -> None:
        self._write({"kind": "preflight", "arm": arm, "arm_key": arm_key, "preflight": asdict(preflight)})

    def put_launch_failure(self, arm: str, arm_key: str, failure: LaunchFailure) -> None:
        self._write({"kind": "launch_failure", "arm": arm, "arm_key": arm_key, "failure": asdict(failure)})

    def put_restart(self, arm: str, arm_key: str, why: LaunchFailure) -> None:
        self._write({"kind": "restart", "arm": arm, "arm_key": arm_key, "failure": asdict(why)})

    def put_window(self, place: Place, window: Window) -> None:
        self._write({"kind": "window", "place": asdict(place), "window": asdict(window)})

    def put_harness(self, place: Place, result: HarnessResult) -> None:
        if self.contents.harness.get((place, result.filter)) != result:
            self._write({"kind": "harness", "place": asdict(place), "result": asdict(result)})

    def stage_done(self, place: Place, n: int | None) -> None:
        self._write({"kind": "stage", "place": asdict(place), "n": ALL if n is None else n})

    def put_allotment(self, budget_s: float, n: dict[str, int], told: tuple[str, ...]) -> None:
        self._write({"kind": "allotment", "budget_s": budget_s, "n": n, "told": told})

    def put_asks(self, asks: Mapping[tuple[str, str], Ask]) -> None:
        if self.contents.asks != asks:
            self._write({"kind": "asks", "asks": [asdict(ask) for ask in asks.values()]})

    def put_looks(self, looks: Sequence[Look]) -> None:
        """One line for all gates that were looked at together; none where there is nothing new."""
        header = self.contents.header
        if not looks:
            return
        assert header is not None  # of a run that was begun
        told = [
            {"arm_key": header.arm_keys[look.arm], "task_key": header.task_keys[look.task], "look": asdict(look)}
            for look in looks
        ]
        self._write({"kind": "looks", "looks": told})

    def forget(self, arm: str) -> None:
        """Nothing that was written of this arm counts any more; the lines stay."""
        self._write({"kind": "forget", "arm": arm})

    def finish(self, left_out: Iterable[str] = ()) -> None:
        """`left_out`: arms that were not selected, and have something left to be asked."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self._write({"kind": "finished", "left_out": list(left_out), "at": at})

    def answered(self, place: Place) -> int:
        with self._lock:
            return sum(p == place for p, _ in self.contents.answers)

    def has_stage(self, place: Place, n: int | None) -> bool:
        """Whether the stage was asked to its end, for at least `n` samples (None: all) and without a failure."""
        if self.contents.stages.get(place, 0) < (ALL if n is None else n):
            return False
        with self._lock:
            unmeasured = any(a.failure for (p, _), a in self.contents.answers.items() if p == place)
            return not unmeasured and not any(a.place == place for a in self.contents.unjudged())


def write_text(path: Path, text: str) -> None:
    """A file beside the journal.

    Raises:
        StoreError: it can't be written.
    """
    write_bytes(path, text.encode(errors="replace"))


def write_bytes(path: Path, data: bytes) -> None:
    """A file beside the journal.

    Raises:
        StoreError: it can't be written.
    """
    try:
        path.write_bytes(data)
    except OSError as e:
        raise StoreError(f"{path}: cannot be written: {e.strerror}; the answers are in the journal: `bumpgate report`") from e


def runs(reports: Path, name: str) -> Iterable[Path]:
    """The folders of an experiment's runs, oldest first; those of `upgrade-mtp` are not runs of `upgrade`."""
    if not reports.is_dir():
        return []
    stamped = re.compile(rf"{re.escape(name)}-\d{{8}}-\d{{6}}")
    return sorted(p for p in reports.iterdir() if stamped.fullmatch(p.name) and (p / JOURNAL).is_file())
