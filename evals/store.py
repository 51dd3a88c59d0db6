"""A run's folder: one append-only journal that tells everything, and nothing in the reports that it does not tell.

A line is one JSON object with a `kind`. What is flushed survives `kill -9`; a line torn by it is set aside at the next start.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pydantic import TypeAdapter

from evals.errors import StoreError
from evals.records import (
    ArmSpec,
    Failure,
    GateSpec,
    HarnessResult,
    JsonDict,
    LaunchFailure,
    Response,
    Sample,
    Score,
    ServerInfo,
    TaskSpec,
    Window,
)

JOURNAL = "journal.jsonl"
ALL = 2**31
"""Stands for 'every sample of the data set' where a number is stored."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a run set out to do; the last one written counts."""

    run_id: str
    name: str
    bumpgate_version: str
    started_at: str
    baseline: str
    arms: tuple[ArmSpec, ...]
    tasks: tuple[TaskSpec, ...]
    gates: tuple[GateSpec, ...]
    arm_keys: dict[str, str]
    task_keys: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a record belongs: answers are told apart by the full configuration that they were given under."""

    arm: str
    arm_key: str
    task: str
    task_key: str
    round: int


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One response or failure, with the key of everything that shaped it."""

    place: Place
    sample_id: str
    prompt_sha: str
    key: str
    response: Response | None
    failure: Failure | None


@dataclass
class Contents:
    """A journal read back. Later lines replace earlier ones of the same place and sample."""

    header: Header | None = None
    samples: dict[str, tuple[Sample, ...]] = field(default_factory=dict)
    answers: dict[tuple[Place, str], Answer] = field(default_factory=dict)
    scores: dict[str, Score | Failure] = field(default_factory=dict)
    servers: dict[tuple[str, int], tuple[str, ServerInfo]] = field(default_factory=dict)
    failures: dict[tuple[str, int], tuple[str, LaunchFailure]] = field(default_factory=dict)
    windows: list[tuple[Place, Window]] = field(default_factory=list)
    harness: dict[tuple[Place, str], HarnessResult] = field(default_factory=dict)
    stages: dict[Place, int] = field(default_factory=dict)
    finished: bool = False


class _Reader:
    """Validates each kind of line into the type that was written."""

    header = TypeAdapter(Header)
    place = TypeAdapter(Place)
    samples = TypeAdapter(tuple[Sample, ...])
    answer = TypeAdapter(Answer)
    score = TypeAdapter(Score | None)
    failure = TypeAdapter(Failure | None)
    server = TypeAdapter(ServerInfo)
    launch_failure = TypeAdapter(LaunchFailure)
    window = TypeAdapter(Window)
    harness = TypeAdapter(HarnessResult)


def read(folder: Path) -> Contents:
    """Everything that a run's journal tells.

    Raises:
        StoreError: there is none, or a line that is not the last can't be read.
    """
    path = folder / JOURNAL
    out = Contents()
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as e:
        raise StoreError(f"{path}: cannot be read: {e.strerror}; name a run's folder under reports/") from e
    for number, line in enumerate(lines[:-1], 1):  # what follows the last newline was torn off by a kill
        try:
            _take(out, json.loads(line))
        except (ValueError, KeyError, TypeError) as e:  # pydantic's ValidationError is a ValueError
            raise StoreError(
                f"{path}:{number}: not a line of this journal ({type(e).__name__}); restore the file or start a new run"
            ) from e
    return out


def _take(out: Contents, line: JsonDict) -> None:
    match line["kind"]:
        case "run":
            out.header, out.finished = _Reader.header.validate_python(line["header"]), False
        case "samples":
            out.samples[line["task"]] = _Reader.samples.validate_python(line["samples"])
        case "answer":
            answer = _Reader.answer.validate_python(line["answer"])
            out.answers[(answer.place, answer.sample_id)] = answer
        case "score":
            said = _Reader.score.validate_python(line["score"]) or _Reader.failure.validate_python(line["failure"])
            if said is not None:
                out.scores[line["key"]] = said
        case "server":
            info = _Reader.server.validate_python(line["server"])
            info = _with_earlier_images(out.servers.get((line["arm"], info.launch)), line["arm_key"], info)
            out.servers[(line["arm"], info.launch)] = (line["arm_key"], info)
            out.failures.pop((line["arm"], info.launch), None)
        case "launch_failure":
            failed = _Reader.launch_failure.validate_python(line["failure"])
            out.failures[(line["arm"], failed.launch)] = (line["arm_key"], failed)
        case "window":
            out.windows.append((_Reader.place.validate_python(line["place"]), _Reader.window.validate_python(line["window"])))
        case "harness":
            place, result = _Reader.place.validate_python(line["place"]), _Reader.harness.validate_python(line["result"])
            out.harness[(place, result.filter)] = result
        case "stage":
            out.stages[_Reader.place.validate_python(line["place"])] = line["n"]
        case "forget":
            _forget(out, line["arm"])
        case "finished":
            out.finished = True
        case other:
            raise ValueError(f"unknown kind {other!r}")


def _with_earlier_images(before: tuple[str, ServerInfo] | None, arm_key: str, info: ServerInfo) -> ServerInfo:
    """A launch that is gone on with may find another image behind the same tag: the answers of both stand in the journal."""
    if before is None or before[0] != arm_key or before[1].image_id is None:
        return info
    ids = dict.fromkeys((*before[1].earlier_image_ids, before[1].image_id))
    return replace(info, earlier_image_ids=tuple(i for i in ids if i != info.image_id))


def _forget(out: Contents, arm: str) -> None:
    out.answers = {k: v for k, v in out.answers.items() if k[0].arm != arm}
    out.stages = {k: v for k, v in out.stages.items() if k.arm != arm}
    out.windows = [w for w in out.windows if w[0].arm != arm]
    out.harness = {k: v for k, v in out.harness.items() if k[0].arm != arm}
    out.servers = {k: v for k, v in out.servers.items() if k[0] != arm}
    out.failures = {k: v for k, v in out.failures.items() if k[0] != arm}


class Journal:
    """The journal of one run, open for appending; knows all that was written before. A context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder, path = folder, folder / JOURNAL
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("ab")
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
        except BlockingIOError as e:
            who = holder.read_text() if holder.exists() else "another process"
            raise StoreError(f"{self.folder} is being written by {who}; wait for it, or start another run with --new") from e
        holder.write_text(f"process {os.getpid()}")

    def _set_torn_line_aside(self, path: Path) -> None:
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with (self.folder / "torn.txt").open("ab") as torn:
                torn.write(data[whole:] + b"\n")
            os.truncate(path, whole)

    def _write(self, line: JsonDict) -> None:
        text = json.dumps(line, separators=(",", ":"))
        _take(self.contents, json.loads(text))  # first, so that no line is ever written that can't be read back
        self._file.write(text.encode() + b"\n")
        self._file.flush()

    def begin(self, header: Header) -> None:
        self._write({"kind": "run", "header": asdict(header)})

    def put_samples(self, task: str, samples: tuple[Sample, ...]) -> None:
        if self.contents.samples.get(task) != samples:
            self._write({"kind": "samples", "task": task, "samples": [asdict(s) for s in samples]})

    def put_answer(self, answer: Answer) -> None:
        self._write({"kind": "answer", "answer": asdict(answer)})

    def put_score(self, key: str, said: Score | Failure) -> None:
        if self.contents.scores.get(key) != said:
            score, failure = (asdict(said), None) if isinstance(said, Score) else (None, asdict(said))
            self._write({"kind": "score", "key": key, "score": score, "failure": failure})

    def put_server(self, arm: str, arm_key: str, info: ServerInfo) -> None:
        self._write({"kind": "server", "arm": arm, "arm_key": arm_key, "server": asdict(info)})

    def put_launch_failure(self, arm: str, arm_key: str, failure: LaunchFailure) -> None:
        self._write({"kind": "launch_failure", "arm": arm, "arm_key": arm_key, "failure": asdict(failure)})

    def put_window(self, place: Place, window: Window) -> None:
        self._write({"kind": "window", "place": asdict(place), "window": asdict(window)})

    def put_harness(self, place: Place, result: HarnessResult) -> None:
        if self.contents.harness.get((place, result.filter)) != result:
            self._write({"kind": "harness", "place": asdict(place), "result": asdict(result)})

    def stage_done(self, place: Place, n: int | None) -> None:
        self._write({"kind": "stage", "place": asdict(place), "n": ALL if n is None else n})

    def forget(self, arm: str) -> None:
        """Nothing that was written of this arm counts any more; the lines stay."""
        self._write({"kind": "forget", "arm": arm})

    def finish(self) -> None:
        self._write({"kind": "finished"})

    def has_stage(self, place: Place, n: int | None) -> bool:
        """Whether the stage was asked to its end, for at least `n` samples (None: all) and without a failure."""
        if self.contents.stages.get(place, 0) < (ALL if n is None else n):
            return False
        return not any(a.failure for (p, _), a in self.contents.answers.items() if p == place)


def runs(reports: Path, name: str) -> Iterable[Path]:
    """The folders of an experiment's runs, oldest first; those of `upgrade-mtp` are not runs of `upgrade`."""
    if not reports.is_dir():
        return []
    stamped = re.compile(rf"{re.escape(name)}-\d{{8}}-\d{{6}}")
    return sorted(p for p in reports.iterdir() if stamped.fullmatch(p.name) and (p / JOURNAL).is_file())
