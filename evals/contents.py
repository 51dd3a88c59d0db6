"""A run's journal read back: every line validated into the type that was written."""

import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter

from evals.errors import StoreError
from evals.judged import ArmSpec, Ask, GateSpec, Look, StoredArm, TaskSpec
from evals.records import (
    Failure,
    Forced,
    HarnessResult,
    JsonDict,
    LaunchFailure,
    Preflight,
    Response,
    Sample,
    SandboxInfo,
    Score,
    ServerInfo,
    Window,
)
from tasks import task_info

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
    sensors: bool = True
    arm_keys: dict[str, str]
    task_keys: dict[str, str]
    settings: dict[str, dict[str, JsonDict]] = field(default_factory=dict)
    """By arm and task: what is sent with a question beside its messages, and how many are asked at a time."""
    stored: StoredArm | None = None
    """Whose answers stand for the baseline; its key is then of that arm, and no answer of this run's own."""


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
    made_for: dict[str, str] = field(default_factory=dict)
    """By task whose samples are made in the run: the key of the task that they were made for."""
    answers: dict[tuple[Place, str], Answer] = field(default_factory=dict)
    scores: dict[str, Score | Failure] = field(default_factory=dict)
    servers: dict[tuple[str, int], tuple[str, ServerInfo]] = field(default_factory=dict)
    starts: list[tuple[str, str, ServerInfo]] = field(default_factory=list)
    """(arm, its key, what was started): all of them, where `servers` has the last of each launch."""
    failures: dict[tuple[str, int], tuple[str, LaunchFailure]] = field(default_factory=dict)
    restarts: list[tuple[str, str, LaunchFailure]] = field(default_factory=list)
    """(arm, its key, why): a server that died while it was asked and was started again."""
    preflights: dict[tuple[str, int], tuple[str, Preflight]] = field(default_factory=dict)
    windows: list[tuple[Place, Window]] = field(default_factory=list)
    harness: dict[tuple[Place, str], HarnessResult] = field(default_factory=dict)
    forced: dict[tuple[str, int, str, str], tuple[str, Forced]] = field(default_factory=dict)
    """By arm, launch, task and sample: the arm's key, and how likely it finds the baseline's answer."""
    stages: dict[Place, int] = field(default_factory=dict)
    given_up: tuple[str, ...] = ()
    """What the last budget left out."""
    allotments: dict[float, dict[str, int]] = field(default_factory=dict)
    """By budget in seconds: samples by task."""
    asks: dict[tuple[str, str], Ask] = field(default_factory=dict)
    """By arm and task: how far it is to be asked, as the last pass has it."""
    looks: dict[tuple[str, str, str, int], Look] = field(default_factory=dict)
    """By arm, its key, the task's, and the number of samples: the plan of the first at so many, and the last one's verdict."""
    finished: bool = False
    finished_at: str = ""
    """ISO 8601, UTC; when it was ended last."""
    left_out: tuple[str, ...] = ()
    """Arms that were not selected when it was ended, and have something left to be asked."""
    sandbox: SandboxInfo | None = None

    def preflight(self, arm: str) -> Preflight | None:
        """What an arm, as it is configured now, showed at the first of its launches that looked at it."""
        key = self.header.arm_keys.get(arm) if self.header else None
        found = {launch: seen for (name, launch), (arm_key, seen) in self.preflights.items() if (name, arm_key) == (arm, key)}
        return found[min(found)] if found else None

    def looks_now(self) -> tuple[Look, ...]:
        """Those at the present configuration of their arms and tasks."""
        arms, tasks = (self.header.arm_keys, self.header.task_keys) if self.header else ({}, {})
        found = self.looks.items()
        return tuple(look for (arm, *keys, _), look in found if keys == [arms.get(arm), tasks.get(look.task)])

    def unjudged(self) -> list[Answer]:
        """Programs of the present configuration that the sandbox has not run, or could not run."""
        return [a for a in self.answers.values() if self._waits(a)]

    def answered(self, task: str) -> bool:
        """Whether any arm, as it is configured now, has answered a sample of the task, as that is configured now."""
        h = self.header
        return h is not None and any(
            a.response and p.task == task and (h.arm_keys.get(p.arm), h.task_keys.get(task)) == (p.arm_key, p.task_key)
            for (p, _), a in self.answers.items()
        )

    def _waits(self, answer: Answer) -> bool:
        header, said = self.header, self.scores.get(answer.key)
        if header is None or answer.response is None or not task_info(answer.place.task).sandboxed:
            return False
        current = (header.arm_keys.get(answer.place.arm), header.task_keys.get(answer.place.task))
        waits = said is None or (isinstance(said, Failure) and said.kind == "sandbox")
        return waits and current == (answer.place.arm_key, answer.place.task_key)

    def complete(self, candidates: Collection[str] | None = None) -> bool:
        """Whether it was ended with every gate of these candidates decided, or with nothing left to ask of them.

        What was decided is not gone on with: the same command, typed another day, shall not show old answers as new ones.
        `candidates`: None for all.
        """
        if (h := self.header) is None or not self.finished:
            return False
        judged = {a.name for a in h.arms if a.name != h.baseline and (candidates is None or a.name in candidates)}
        if judged & set(self.left_out):
            return False
        waits = any(a.place.arm in judged | {h.baseline} for a in self.unjudged())
        return self._decided(judged) or not (waits or self.unanswered(judged | {h.baseline}))

    def _decided(self, names: Collection[str]) -> bool:
        """Whether each gate of these candidates was a PASS or a REGRESSION when it was last looked at."""
        last = {(look.arm, look.task): look.verdict for look in sorted(self.looks_now(), key=lambda look: look.n)}
        gates = self.header.gates if self.header else ()
        said = [last.get((name, g.task)) for g in gates for name in names if g.judges(name)]
        return bool(said) and all(verdict in ("PASS", "REGRESSION") for verdict in said)

    def unanswered(self, names: Collection[str] | None = None) -> bool:
        """Whether a server of these arms (None: all), as they are configured now, failed, or an answer did not come."""
        of = self.header.arm_keys if self.header else {}
        keys = {name: key for name, key in of.items() if names is None or name in names}
        failed = any(keys.get(arm) == key for (arm, _), (key, _) in self.failures.items())
        return failed or any(a.failure and keys.get(p.arm) == p.arm_key for (p, _), a in self.answers.items())


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
    preflight = TypeAdapter(Preflight)
    window = TypeAdapter(Window)
    harness = TypeAdapter(HarnessResult)
    sandbox = TypeAdapter(SandboxInfo)
    asks = TypeAdapter(tuple[Ask, ...])
    look = TypeAdapter(Look)
    forced = TypeAdapter(Forced)


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
            take(out, json.loads(line))
        except (ValueError, KeyError, TypeError) as e:  # pydantic's ValidationError is a ValueError
            what = f"not a line of this journal ({type(e).__name__})"
            raise StoreError(f"{path}:{number}: {what}; restore the file, or begin anew with --new") from e
    return out


def take(out: Contents, line: JsonDict) -> None:
    """Add one line.

    Raises:
        ValueError, KeyError, TypeError: it is none of a journal.
    """
    match line["kind"]:
        case "run":
            out.header, out.finished = _Reader.header.validate_python(line["header"]), False
        case "samples":
            out.samples[line["task"]] = _Reader.samples.validate_python(line["samples"])
            out.made_for[line["task"]] = str(line.get("made_for", ""))
        case "answer":
            answer = _Reader.answer.validate_python(line["answer"])
            out.answers[(answer.place, answer.sample_id)] = answer
        case "score":
            said = _Reader.score.validate_python(line["score"]) or _Reader.failure.validate_python(line["failure"])
            if said is not None:
                out.scores[line["key"]] = said
        case "server":
            info = _Reader.server.validate_python(line["server"])
            out.servers[(line["arm"], info.launch)] = (line["arm_key"], info)
            out.starts.append((line["arm"], line["arm_key"], info))
            out.failures.pop((line["arm"], info.launch), None)
        case "launch_failure":
            failed = _Reader.launch_failure.validate_python(line["failure"])
            out.failures[(line["arm"], failed.launch)] = (line["arm_key"], failed)
        case "preflight":
            seen = _Reader.preflight.validate_python(line["preflight"])
            out.preflights[(line["arm"], seen.launch)] = (line["arm_key"], seen)
        case "restart":
            out.restarts.append((line["arm"], line["arm_key"], _Reader.launch_failure.validate_python(line["failure"])))
        case "window":
            out.windows.append((_Reader.place.validate_python(line["place"]), _Reader.window.validate_python(line["window"])))
        case "harness":
            place, result = _Reader.place.validate_python(line["place"]), _Reader.harness.validate_python(line["result"])
            out.harness[(place, result.filter)] = result
        case "forced":
            told = _Reader.forced.validate_python(line["forced"])
            out.forced[(told.arm, told.launch, told.task, told.sample_id)] = (line["arm_key"], told)
        case "stage":
            place = _Reader.place.validate_python(line["place"])
            out.stages[place] = max(out.stages.get(place, 0), line["n"])  # fewer, asked again, take nothing back
        case "asks":
            out.asks = {(ask.arm, ask.task): ask for ask in _Reader.asks.validate_python(line["asks"])}
        case "looks":
            for told in line["looks"]:
                look = _Reader.look.validate_python(told["look"])
                key = (look.arm, told["arm_key"], told["task_key"], look.n)
                first = out.looks.get(key, look)  # what was planned then is what counts, whatever the file says now
                out.looks[key] = replace(look, margin=first.margin, sizes=first.sizes)
        case "allotment":
            out.allotments[float(line["budget_s"])] = {str(task): int(n) for task, n in line["n"].items()}
            out.given_up = tuple(map(str, line.get("told", ())))
        case "sandbox":
            _use_sandbox(out, _Reader.sandbox.validate_python(line["sandbox"]))
        case "forget":
            _forget(out, line["arm"])
        case "finished":
            out.finished, out.finished_at = True, str(line.get("at", ""))
            out.left_out = tuple(map(str, line.get("left_out", ())))
        case other:
            raise ValueError(f"unknown kind {other!r}")


def _use_sandbox(out: Contents, info: SandboxInfo) -> None:
    """In another image or under other limits a program may do something else: its mark counts no more."""
    if out.sandbox is not None and out.sandbox != info:
        stale = {a.key for a in out.answers.values() if task_info(a.place.task).sandboxed}
        out.scores = {key: said for key, said in out.scores.items() if key not in stale}
    out.sandbox = info


def _forget(out: Contents, arm: str) -> None:
    out.answers = {k: v for k, v in out.answers.items() if k[0].arm != arm}
    out.stages = {k: v for k, v in out.stages.items() if k.arm != arm}
    out.windows = [w for w in out.windows if w[0].arm != arm]
    out.harness = {k: v for k, v in out.harness.items() if k[0].arm != arm}
    out.servers = {k: v for k, v in out.servers.items() if k[0] != arm}
    out.failures = {k: v for k, v in out.failures.items() if k[0] != arm}
    out.preflights = {k: v for k, v in out.preflights.items() if k[0] != arm}
    out.looks = {k: v for k, v in out.looks.items() if v.arm != arm}
    out.forced = {k: v for k, v in out.forced.items() if k[0] != arm}
    out.starts = [s for s in out.starts if s[0] != arm]
    out.restarts = [r for r in out.restarts if r[0] != arm]
