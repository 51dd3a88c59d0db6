"""A run's journal → its verdict, scorecard.md and .html, its heat maps, verdict.json, junit.xml and samples.parquet.

Made again, they are the same byte for byte.
"""

from pathlib import Path

from evals import language, store
from evals.evidence import from_contents
from evals.judged import Verdict
from evals.report import heatmap, html, junit, machine, markdown, needle, samples
from evals.verdict import judge


def write(folder: Path, contents: store.Contents | None = None, lang: str = language.ENGLISH) -> Verdict:
    """Judge a run and write its reports into its folder: the scorecards in a language, what machines read in English.

    Raises:
        StoreError: there is no journal, or it can't be read, or a report can't be written.
        ConfigError: there is no such language.
    """
    evidence = from_contents(contents if contents is not None else store.read(folder))
    verdict = judge(evidence)
    with language.using(lang):
        told = verdict if lang == language.ENGLISH else judge(evidence)
        parts = markdown.sections(evidence, told)
        store.write_text(folder / "scorecard.md", markdown.document(parts))
        store.write_text(folder / "scorecard.html", html.page(evidence, told, parts))
    for arm, png in heatmap.pictures(evidence).items():
        store.write_bytes(folder / needle.picture(arm), png)
    store.write_text(folder / "junit.xml", junit.junit(evidence, verdict))
    store.write_bytes(folder / samples.FILE, samples.parquet(evidence))
    store.write_text(folder / "verdict.json", machine.verdict_json(evidence, verdict))
    return verdict
