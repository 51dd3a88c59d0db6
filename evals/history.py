"""The runs of an experiment as `bumpgate history` reads them: from each run's verdict.json and samples.parquet."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import JsonValue, TypeAdapter

from evals import store
from evals.blessing import Blessing, blessings
from evals.errors import StoreError
from evals.report import samples
from evals.trend import ArmRun

COLUMNS = ["arm", "task", "sample_id", "prompt_sha", "outcome", "completion_tokens"]


@dataclass(frozen=True, kw_only=True)
class _Arm:
    version: str | None


@dataclass(frozen=True, kw_only=True)
class _Gate:
    arm: str
    task: str
    verdict: str
    margin: float


@dataclass(frozen=True, kw_only=True)
class _Told:
    """What is read of a verdict.json."""

    experiment: str
    started_at: str
    baseline: str
    baseline_run: JsonValue
    arms: dict[str, _Arm]
    gates: list[_Gate]


_TOLD = TypeAdapter(_Told)


def read(reports: Path, experiment: str | None, say: Callable[[str], None]) -> dict[str, list[ArmRun]]:
    """By experiment: every arm of every run, in the order of the runs.

    `say` hears of runs that can't be read, and of blessed ones that nothing is counted from for that.

    Raises:
        StoreError: the blessings can't be read.
    """
    blessed = {b.run_id: b for b in blessings(reports) if experiment in (None, b.experiment)}
    folders = sorted(p.parent for p in reports.glob(f"*/{store.JOURNAL}"))
    out: dict[str, list[ArmRun]] = {}
    for told, folder in sorted(_documents(folders, say), key=lambda pair: pair[0].started_at):
        if experiment in (None, told.experiment):
            try:
                out.setdefault(told.experiment, []).extend(_arms(told, folder, blessed.get(folder.name)))
            except StoreError as e:
                say(f"left out: {e}")
    _tell_missing(reports, blessed, out, say)
    return out


def _tell_missing(
    reports: Path, blessed: dict[str, Blessing], found: dict[str, list[ArmRun]], say: Callable[[str], None]
) -> None:
    """Changes since the first blessed arm would be counted from a later one without a word."""
    counted = {run.run_id: name for name, runs in found.items() for run in runs if run.blessed}
    for run_id, lost in blessed.items():
        if run_id not in counted:
            why = f"can't be read in {reports}" if (reports / run_id).is_dir() else f"is not in {reports}"
            others = lost.experiment in counted.values()
            then = "changes are counted from the other blessed runs" if others else "no change can be told"
            say(f"{run_id} was blessed on {lost.at[:10]} and {why}: {then}")


def _documents(folders: list[Path], say: Callable[[str], None]) -> list[tuple[_Told, Path]]:
    out = []
    for folder in folders:
        try:
            out.append((_TOLD.validate_json((folder / "verdict.json").read_bytes()), folder))
        except OSError:
            say(f"left out: {folder} has no verdict.json yet; `bumpgate report {folder.name}` makes what its journal can tell")
        except ValueError:
            say(f"left out: {folder}'s verdict.json is none of this version; `bumpgate report {folder.name}` makes it again")
    return out


def _arms(told: _Told, folder: Path, blessed: Blessing | None) -> list[ArmRun]:
    frame = _samples(folder)
    baseline = "stored baseline" if told.baseline_run else "baseline"
    return [
        ArmRun(
            run_id=folder.name, arm=name, started_at=told.started_at, version=arm.version,
            part=baseline if name == told.baseline else "no gate", blessed=blessed is not None and name == blessed.arm,
            verdicts={gate.task: gate.verdict for gate in told.gates if gate.arm == name},
            margins={gate.task: gate.margin for gate in told.gates}, samples=frame[frame["arm"] == name],
        )
        for name, arm in told.arms.items()
    ]  # fmt: skip


def _samples(folder: Path) -> pd.DataFrame:
    path = folder / samples.FILE
    try:
        if {samples.SCHEMA.field(name) for name in COLUMNS} <= set(pq.read_schema(path)):
            return pd.read_parquet(path, columns=COLUMNS)
    except (OSError, ValueError, pa.ArrowException) as e:  # some of pyarrow's own errors are ValueErrors
        raise StoreError(f"{path} can't be read; `bumpgate report {folder.name}` makes it again from the journal") from e
    raise StoreError(f"{path} is none of this version; `bumpgate report {folder.name}` makes it again from the journal")
