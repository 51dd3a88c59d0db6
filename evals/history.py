"""The runs of an experiment as `bumpgate history` reads them: from each run's verdict.json and samples.parquet."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from evals import store
from evals.blessing import blessings
from evals.errors import StoreError
from evals.report import samples
from evals.trend import ArmRun

Json = dict[str, Any]

COLUMNS = ["arm", "task", "sample_id", "prompt_sha", "outcome", "completion_tokens"]


def read(reports: Path, experiment: str | None, say: Callable[[str], None]) -> dict[str, list[ArmRun]]:
    """By experiment: every arm of every run, in the order of the runs. `say` hears of runs that can't be read.

    Raises:
        StoreError: the blessings can't be read.
    """
    blessed = {b.run_id: b.arm for b in blessings(reports)}
    folders = sorted(p.parent for p in reports.glob(f"*/{store.JOURNAL}"))
    out: dict[str, list[ArmRun]] = {}
    for told, folder in sorted(_documents(folders, say), key=lambda pair: str(pair[0]["started_at"])):
        if experiment in (None, told["experiment"]):
            try:
                out.setdefault(told["experiment"], []).extend(_arms(told, folder, blessed.get(folder.name)))
            except StoreError as e:
                say(f"left out: {e}")
    return out


def _documents(folders: list[Path], say: Callable[[str], None]) -> list[tuple[Json, Path]]:
    out = []
    for folder in folders:
        try:
            out.append((json.loads((folder / "verdict.json").read_text(encoding="utf-8")), folder))
        except (OSError, ValueError):
            say(f"left out: {folder} has no verdict.json yet; `bumpgate report {folder.name}` makes what its journal can tell")
    return out


def _arms(told: Json, folder: Path, blessed: str | None) -> list[ArmRun]:
    path = folder / samples.FILE
    try:
        frame = pd.read_parquet(path, columns=COLUMNS)
    except (OSError, ValueError) as e:  # pyarrow's own errors are ValueErrors
        raise StoreError(f"{path} can't be read; `bumpgate report {folder.name}` makes it again from the journal") from e
    baseline = "stored baseline" if told["baseline_run"] else "baseline"
    return [
        ArmRun(
            run_id=folder.name, arm=name, started_at=told["started_at"], version=arm["version"],
            part=baseline if name == told["baseline"] else "no gate", blessed=name == blessed,
            verdicts={gate["task"]: gate["verdict"] for gate in told["gates"] if gate["arm"] == name},
            margins={gate["task"]: gate["margin"] for gate in told["gates"]}, samples=frame[frame["arm"] == name],
        )
        for name, arm in told["arms"].items()
    ]  # fmt: skip
