"""Tells GitHub Actions of a run, where it runs under it: annotations on the log, the scorecard as the job's summary."""

import os
import secrets
import sys
from pathlib import Path

from evals.judged import Verdict
from evals.report import github


def here() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def guarded(text: str) -> str:
    """What a model said must give no orders to the runner."""
    return github.guarded(text, secrets.token_hex(16)) if here() else text


def tell(verdict: Verdict, scorecard: Path, lenient: bool = False, above: str = "") -> None:
    """Annotations go to stderr, which the runner reads like stdout. A summary that can't be written is told, and no more.

    `above`: Markdown that the summary has before the scorecard.
    """
    if here():
        sys.stderr.write("\n".join(["", *github.annotations(verdict, lenient), ""]))
        sys.stderr.flush()
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            with Path(path).open("a", encoding="utf-8") as summary:
                text = above + scorecard.read_text(encoding="utf-8")
                summary.write(github.summary(text, github.SUMMARY_BYTES - summary.tell()))
                summary.write("\n")
        except OSError as e:
            sys.stderr.write(f"GITHUB_STEP_SUMMARY: {path}: cannot be written: {e.strerror}\n")
