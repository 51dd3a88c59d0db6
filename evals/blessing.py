"""Runs that somebody made a baseline, a line each in a file beside the runs. The last line of a run counts.

A blank line says nothing, and a last one that is cut off in the middle of its writing does not count. The next blessing moves
that into a file beside this one, as a journal does, so that nothing is glued to it and nothing is lost.
"""

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from evals import store
from evals.errors import ConfigError, StoreError
from evals.evidence import from_contents
from evals.judged import Evidence, Verdict, VerdictName
from evals.verdict import judge

FILE = "blessed.jsonl"
TORN = "blessed.torn.txt"


@dataclass(frozen=True, kw_only=True)
class Blessing:
    run_id: str
    arm: str
    """The one that is a baseline from now on."""
    experiment: str
    verdict: VerdictName
    """Of the run."""
    at: str
    """ISO 8601, UTC."""
    by: str
    why: str


_LINE = TypeAdapter(Blessing)


def blessings(reports: Path) -> tuple[Blessing, ...]:
    """In the order in which they were made.

    Raises:
        StoreError: the file can't be read.
    """
    path = reports / FILE
    try:
        lines = path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as e:
        raise StoreError(f"{path}: cannot be read: {e.strerror}") from e
    out = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or (number == len(lines) and _is_torn(line)):
            continue
        try:
            out.append(_LINE.validate_json(line))
        except ValueError as e:
            raise StoreError(f"{path}:{number}: not a blessing; mend or remove the line") from e
    return tuple(out)


def _is_torn(line: bytes) -> bool:
    """Whether a last line without a newline stops in the middle."""
    try:
        json.loads(line)
    except ValueError:
        return True
    return False


def bless(folder: Path, arm: str | None, by: str, why: str) -> Blessing:
    """Make an arm of a run a baseline.

    Raises:
        ConfigError: the run decides nothing, or it is not clear which arm is meant.
        StoreError: its journal can't be read, or the file can't be written.
    """
    evidence = from_contents(store.read(folder))
    verdict = judge(evidence)
    if refused := _refusal(evidence, verdict):
        raise ConfigError(f"{evidence.run_id} can't be a baseline: {refused}")
    chosen = _arm(evidence, verdict, arm)
    made = Blessing(
        run_id=folder.resolve().name, arm=chosen, experiment=evidence.name, verdict=verdict.by_arm.get(chosen, verdict.overall),
        at=datetime.now(UTC).isoformat(timespec="seconds"), by=by, why=why,
    )  # fmt: skip
    path = folder.resolve().parent / FILE
    try:
        _append(path, json.dumps(asdict(made), ensure_ascii=False))
    except OSError as e:
        raise StoreError(f"{path}: cannot be written: {e.strerror}") from e
    return made


def _append(path: Path, line: str) -> None:
    """A line of its own, whatever the file ends with; on the disk when this returns."""
    with path.open("a+b") as file:
        file.seek(0)
        whole, newline, last = file.read().rpartition(b"\n")
        if last and _is_torn(last):
            with path.with_name(TORN).open("ab") as torn:
                torn.write(last + b"\n")
            file.truncate(len(whole + newline))
        elif last:
            file.write(b"\n")
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _refusal(evidence: Evidence, verdict: Verdict) -> str | None:
    if not evidence.finished:
        return "it is not finished; the same `bumpgate run` goes on with it"
    if verdict.overall == "INVALID":
        invalid = next((g for g in verdict.gates if g.verdict == "INVALID"), None)
        return f"it is INVALID ({invalid.arm} · {invalid.task}: {invalid.reason})" if invalid else "it is INVALID"
    exploratory = next((g for g in verdict.gates if g.exploratory), None)
    return f"it is exploratory ({exploratory.arm} · {exploratory.task}: {exploratory.reason})" if exploratory else None


def _arm(evidence: Evidence, verdict: Verdict, named: str | None) -> str:
    """The one that is named, else the only candidate, where it passed: that is what goes out."""
    names = [arm.name for arm in evidence.arms]
    if named is not None and named not in names:
        raise ConfigError(f"{evidence.run_id} has no arm {named!r}; its arms are {', '.join(names)}")
    if named is not None:
        return named
    if len(verdict.by_arm) == 1 and verdict.overall == "PASS":
        return next(iter(verdict.by_arm))
    told = ", ".join(f"{name}: {verdict.by_arm.get(name, 'the baseline')}" for name in names)
    raise ConfigError(f"{evidence.run_id}: which arm is the baseline from now on? Name it with --arm ({told})")
