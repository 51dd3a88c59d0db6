"""Which folder under reports/ an experiment runs in."""

import itertools
import re
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evals import store
from evals.blessing import blessings
from evals.contents import Contents
from evals.data import load_data
from evals.errors import ConfigError, StoreError
from evals.experiment import Experiment, UrlEngine
from evals.topup import limited, made_longer

FRESH_H = 12
"""Hours after which an ended run is not gone on with where a url answers, behind which anything may have changed: what runs
every night begins anew."""


def pick(
    reports: Path, experiment: Experiment, run_id: str | None, new: bool, candidates: Collection[str] | None = None
) -> Path:
    """Where to run: the run that is named, else the newest one of this experiment that is not complete, else a new one.

    Complete it is where nothing is left to ask of `candidates` (None: all), or all was decided. A complete one is gone on with
    where it is asked more samples than it was looked at with: that explores, as the same folder tells (evals/standing.py). A
    run that was blessed stays as it is.

    Raises:
        ConfigError: the name is no plain one, or is that of another experiment's run, or of a blessed one.
        StoreError: both a name and `new` were asked for, and the name is taken.
    """
    kept = {blessing.run_id for blessing in blessings(reports)}
    if run_id is not None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", run_id):
            raise ConfigError(
                f"--run-id {run_id!r}: use letters, digits, '.', '_' and '-' alone; --reports names another folder"
            )
        if run_id in kept:
            raise ConfigError(f"--run-id {run_id}: is blessed, and stays as it is; name another")
        if (reports / run_id / store.JOURNAL).exists():
            header = store.read(reports / run_id).header
            if header is not None and header.name != experiment.name:
                raise ConfigError(f"--run-id {run_id}: is a run of {header.name!r}, not of {experiment.name!r}; name another")
        if new and (reports / run_id).exists():
            raise StoreError(f"{reports / run_id} exists; leave out --new to go on with it, or name another --run-id")
        return reports / run_id
    if not new:
        begun = ((folder, store.read(folder)) for folder in reversed(list(store.runs(reports, experiment.name))))
        newest = next(((folder, told) for folder, told in begun if told.header is not None), None)
        if newest is not None and newest[0].name not in kept and _goes_on(experiment, newest[1], candidates):
            return newest[0]
    seconds = (datetime.now(UTC) + timedelta(seconds=n) for n in itertools.count())
    names = (f"{experiment.name}-{at:%Y%m%d-%H%M%S}" for at in seconds)  # two runs may be begun in one second
    return next(reports / name for name in names if not (reports / name).exists())


def _goes_on(experiment: Experiment, told: Contents, candidates: Collection[str] | None) -> bool:
    """Beside a run that was looked at with fewer samples, a new one with more would be a second look that nobody sees."""
    if not told.complete(candidates):
        return not (told.finished and _is_old(experiment, told))
    # Before the data is read, "all" counts as more than any number: it is read only where that may be so.
    return made_longer(experiment, told) and made_longer(
        limited(experiment, load_data(experiment).sizes(experiment.tasks)), told
    )


def _is_old(experiment: Experiment, told: Contents) -> bool:
    long_ago = (datetime.now(UTC) - timedelta(hours=FRESH_H)).isoformat(timespec="seconds")
    return told.finished_at < long_ago and any(isinstance(arm.engine, UrlEngine) for arm in experiment.arms)
