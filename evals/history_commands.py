"""`bumpgate bless` and `bumpgate history`: which run is the baseline, and what became of a metric since."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from getpass import getuser
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from evals import console
from evals.document import did_you_mean
from evals.errors import ConfigError

Reports = Annotated[Path, typer.Option("--reports", help="Where runs are kept.")]


def folder_of(run: str, reports: Path) -> Path:
    """A run's folder, by its id or as it is named.

    Raises:
        ConfigError: there is none.
    """
    if not run.strip():
        raise ConfigError("RUN is empty; name a run's id, or its folder")
    folder = Path(run) if Path(run).is_dir() else reports / run
    if not folder.is_dir():
        raise ConfigError(f"there is no run {run!r} in {reports}; name a run's id, or its folder")
    return folder


def bless(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id or folder.")],
    why: Annotated[str, typer.Option("--why", help="For whoever reads it later: why this is the baseline from now on.")],
    arm: Annotated[
        str | None, typer.Option("--arm", help="The arm; else the run's only candidate, where it passed.", show_default=False)
    ] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who says so; else the user's name.", show_default=False)] = None,
    reports: Reports = Path("reports"),
) -> None:
    """Make a run a baseline: `history` counts from it, and `run --baseline-run` judges against it."""
    from evals import blessing  # scipy, as in cli.py

    folder = folder_of(run, reports)
    if not why.strip():
        raise ConfigError("--why is empty; write for whoever reads it later why this is the baseline from now on")
    made = blessing.bless(folder, arm, by or _user(), why)
    out = console.out()
    out.print(f"blessed: {made.arm} of {made.run_id} ({made.verdict}), by {made.by}: {made.why}")


def _user() -> str:
    try:
        return getuser()
    except (OSError, KeyError):  # a user id without a name
        return "unknown"


def history(
    experiment: Annotated[
        str | None, typer.Argument(metavar="[EXPERIMENT]", help="An experiment's name; all if left out.", show_default=False)
    ] = None,
    task: Annotated[str | None, typer.Option("--task", help="One task; all if left out.", show_default=False)] = None,
    metric: Annotated[str, typer.Option("--metric", help="correct, no_answer or tokens.")] = "correct",
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw it, too; needs one experiment and task.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Rows for a machine.")] = False,
    reports: Reports = Path("reports"),
) -> None:
    """A metric over the runs, each arm against the first blessed one and the last, sample by sample."""
    from evals import blessing, trend  # pandas and scipy, as in cli.py
    from evals import history as runs
    from evals.report import trend as shown

    if metric not in trend.METRICS:
        raise ConfigError(f"--metric {metric}: is none{did_you_mean(metric, trend.METRICS)}; use {', '.join(trend.METRICS)}")
    chosen = next(name for name in get_args(trend.Metric) if name == metric)
    news = console.news()
    found = runs.read(reports, experiment, news.print)
    sheets = {
        (name, one): rows
        for name, arms in found.items()
        for one in _tasks(arms, task)
        if (rows := trend.rows(arms, one, chosen))
    }
    if not sheets:
        raise ConfigError(f"nothing in {reports} tells of {' · '.join(filter(None, [experiment, task, metric]))}; run it first")
    if plot is not None:
        if len(sheets) > 1:
            told = ", ".join(f"{name} --task {one}" for name, one in sheets)
            raise ConfigError(f"--plot draws one experiment and task; name one of: {told}")
        (((name, one), rows),) = sheets.items()
        _save(plot, shown.plot(rows, f"{name} · {one}", chosen))
    if as_json:
        sys.stdout.write(json.dumps([_row(*key, row) for key, rows in sheets.items() for row in rows], indent=2) + "\n")
        return
    for (name, one), rows in sheets.items():
        sys.stdout.write(f"{name} · {one}: {trend.METRICS[chosen]}\n{shown.table(rows, chosen)}\n\n")
    if not any(experiment in (None, b.experiment) for b in blessing.blessings(reports)):
        sys.stdout.write(
            "nothing is blessed yet: `bumpgate bless RUN --why TEXT` makes a run what later ones are held against\n"
        )


def _tasks(arms: Sequence[Any], task: str | None) -> list[str]:
    names = dict.fromkeys(name for arm in arms for name in arm.samples["task"].unique())
    return [str(name) for name in names if task in (None, name)]


def _save(path: Path, png: bytes) -> None:
    try:
        path.write_bytes(png)
    except OSError as e:
        raise ConfigError(f"--plot {path}: cannot be written: {e.strerror}; name another file") from e


def _row(experiment: str, task: str, row: Any) -> dict[str, Any]:
    run = row.run
    return {
        "experiment": experiment, "task": task, "run_id": run.run_id, "started_at": run.started_at, "arm": run.arm,
        "version": run.version, "verdict": row.verdict, "blessed": run.blessed, "n": row.n, "value": row.value, "low": row.low,
        "high": row.high, "since_first": asdict(row.since_first) if row.since_first else None,
        "since_last": asdict(row.since_last) if row.since_last else None, "margin": row.margin,
    }  # fmt: skip
