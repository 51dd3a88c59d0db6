"""`bumpgate doctor` and `bumpgate clean`: what this machine has of what runs need, and what they left on it."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from evals import console
from evals.errors import BumpgateError
from evals.history_commands import Reports


def doctor(
    reports: Reports = Path("reports"),
    as_json: Annotated[bool, typer.Option("--json", help="A list of checks for a machine.")] = False,
) -> None:
    """What this machine has of what a run needs, and what to type where something is missing. Takes seconds."""
    from evals import doctor as checkup

    checks = checkup.examine(reports)
    out = console.out()
    if as_json:
        out.print(json.dumps([asdict(check) for check in checks], ensure_ascii=False, indent=2))
    else:
        for check in checks:
            out.print(checkup.line(check))
    if not checkup.healthy(checks):
        raise typer.Exit(BumpgateError.exit_code)


def clean(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help="A version, or as in vllm==0.25.0; all if left out.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A list of what was, or would be, removed.")] = False,
) -> None:
    """Remove the engines that bumpgate installed, and what belongs to them. They are installed again when they are needed."""
    from evals.engine import cache

    out = console.out(quiet=as_json)
    found = cache.items(names or ())
    going = [item for item in found if not item.kept]
    freed, size = cache.freed_bytes(going), sum(item.size_bytes for item in going)
    done = []
    for item in found if dry_run else map(cache.remove, found):
        out.print(cache.line(item, removed=not dry_run))
        done.append(item)
    if as_json:
        rows = [asdict(item) | {"path": str(item.path), "removed": not dry_run and item.kept is None} for item in done]
        sys.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
    shared = (
        f"; `uv cache clean` frees {(size - freed) / cache.GIB:.1f} GiB that uv keeps of them" if size > 1.1 * freed else ""
    )
    out.print(f"{'would free' if dry_run else 'freed'} {freed / cache.GIB:.1f} GiB{shared}")
