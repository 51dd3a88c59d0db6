"""Servers that a killed bumpgate left running: found by what they left on record in a run's logs, and ended."""

from collections.abc import Callable
from pathlib import Path

from evals.engine.container import remove_leftovers
from evals.engine.process import RECORD_SUFFIX, end_recorded


def end(logs: Path, say: Callable[[str], None], *, containers: bool) -> None:
    """End whatever still runs of the servers whose logs lie in this folder. Only for who holds the run's journal.

    Docker is asked only where the run has `containers`: elsewhere it may be slow to say that it isn't there.

    Raises:
        StartError: a container can't be removed.
    """
    for record in sorted(logs.glob(f"*{RECORD_SUFFIX}")):
        pid = end_recorded(record)
        if pid is not None:
            say(f"ended the server that a killed run left behind (process {pid}, {record.stem})")
    for name in remove_leftovers(logs) if containers else ():
        say(f"ended the server that a killed run left behind (container {name})")
