"""Where text is printed: as it is, for it may be what a program, a server or a model said."""

import errno
import os
import sys
from io import TextIOWrapper
from typing import TextIO

from rich.console import Console


def out(quiet: bool = False) -> Console:
    """For stdout."""
    return Console(soft_wrap=True, highlight=False, markup=False, emoji=False, quiet=quiet)


def news() -> Console:
    """For stderr."""
    return Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)


def print_anything() -> None:
    """Have streams of a narrow encoding, or that are closed, take what is printed: a `?` for what they can't show."""
    sys.stdout, sys.stderr = (s or _nowhere() for s in (sys.stdout, sys.stderr))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def unprinted(end: BaseException) -> str | None:
    """Why what was printed before this end could not be written; None where it was. stdout is then let go, for a quiet exit."""
    failed = end if isinstance(end, OSError) and end.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO) else None
    try:
        sys.stdout.flush()
    except OSError as e:
        failed = e
    if failed is None:
        return None
    sys.stdout = _nowhere()
    return failed.strerror


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")
