"""A run's journal → its verdict, scorecard.md and verdict.json: made again, they are the same byte for byte."""

from pathlib import Path

from evals import store
from evals.evidence import from_contents
from evals.records import Verdict
from evals.report import machine, markdown
from evals.verdict import judge


def write(folder: Path, contents: store.Contents | None = None) -> Verdict:
    """Judge a run and write its reports into its folder.

    Raises:
        StoreError: there is no journal, or it can't be read.
    """
    evidence = from_contents(contents if contents is not None else store.read(folder))
    verdict = judge(evidence)
    (folder / "scorecard.md").write_text(markdown.scorecard(evidence, verdict), encoding="utf-8", errors="replace")
    (folder / "verdict.json").write_text(machine.verdict_json(evidence, verdict), encoding="utf-8", errors="replace")
    return verdict
