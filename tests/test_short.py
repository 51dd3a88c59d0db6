"""scorecard.md stays short whatever a run holds, and what it leaves out is in scorecard.html."""

from dataclasses import replace

import pytest
from full_run import full_run
from markdown_it import MarkdownIt

from evals.judged import Evidence
from evals.report import html, markdown
from evals.report.short import LINES, short
from evals.verdict import judge

pytestmark = pytest.mark.slow


def many(n: int) -> Evidence:
    """The full run with so many candidates more that answer, and as many that fail to start."""
    run = full_run()
    like = {f"arm{i}": "awq" if i % 2 else "mtp" for i in range(n)}
    dead = {f"dead{i}": (replace(run.failures["fp8"][0], log_tail=tuple(f"line {k}" for k in range(40))),) for i in range(n)}
    copies = tuple(replace(r, arm=arm) for arm, source in like.items() for r in run.records if r.arm == source)
    return replace(
        run,
        arms=(*run.arms, *(replace(run.arms[1], name=name) for name in (*like, *dead))),
        records=(*run.records, *copies),
        servers=run.servers | {arm: run.servers[source] for arm, source in like.items()},
        failures={**run.failures, **dead},
    )


@pytest.mark.parametrize("n", [0, 1, 3, 8])
def test_it_is_short_with_any_number_of_arms(n: int) -> None:
    run = many(n)
    verdict = judge(run)
    parts = markdown.sections(run, verdict)
    card = markdown.document(parts)
    assert len(card.splitlines()) < LINES
    assert card.startswith("# REGRESSION: upgrade\n")
    for section in ("## What could be known", "## What changed", "## Warnings and notes", "## Answers that changed sides",
                    "## How it was measured"):  # fmt: skip
        assert section in card
    page = html.page(run, verdict, parts)
    assert all(f"arm{i}" in page for i in range(n))
    opened = [token.content for token in MarkdownIt("commonmark").parse(card) if token.type == "html_block"]
    assert sum("<details>" in said for said in opened) == sum("</details>" in said for said in opened)


def test_what_is_gravest_is_never_among_what_is_cut() -> None:
    run = many(30)
    worst = run.arms[-1]
    run = replace(run, failures={name: told for name, told in run.failures.items() if name != worst.name})
    copies = tuple(replace(r, arm=worst.name) for r in run.records if r.arm == "awq")
    run = replace(run, records=(*run.records, *copies), servers=run.servers | {worst.name: run.servers["awq"]})
    verdict = judge(run)
    assert verdict.by_arm[worst.name] == "REGRESSION"
    card = markdown.scorecard(run, verdict)
    assert "| PASS" not in card.replace("**", "").split("## What could be known")[0]
    named = [line.split(":")[0] for line in card.splitlines() if line.startswith("- **")]
    assert f"- **{worst.name}" in named


def test_a_folded_table_goes_before_any_row_that_needs_no_opening() -> None:
    folded = "\n".join(
        ["<details><summary>Each</summary>", "", "| c |", "|---|", *(f"| {i} |" for i in range(90)), "", "</details>"]
    )
    (text,) = short({"coding": "\n".join(["## Programs", "", "| a |", "|---|", *ROWS[:80], "", folded])}).values()
    assert text.splitlines()[4:84] == ROWS[:80]
    assert text.splitlines()[-1] == "The rest is in scorecard.html."


def test_what_a_reader_decides_by_is_left_out_last() -> None:
    run = many(3)
    card = markdown.scorecard(run, judge(run))
    assert all(f"- **{arm.name}: " in card for arm in run.arms if arm.name != run.baseline)
    assert "\n\nAlso in scorecard.html: lm-eval's own numbers, round 1; Speculation by context; Outcomes; " in card


def test_what_fits_is_not_touched() -> None:
    parts = {"head": "# PASS: a", "gates": "", "method": "## How\n\nSo."}
    assert short(parts) == {"head": "# PASS: a", "method": "## How\n\nSo."}


ROWS = [f"| {i} | b |" for i in range(200)]
TABLE = "\n".join(["## A table", "", "| a | b |", "|---|---|", *ROWS, "", "A note."])
POINTS = "\n".join(["## A list", "", *(f"- {i}" for i in range(200))])
FOLD = ["<details><summary>It</summary>", ""]
LOG = "\n".join(["## A log", "", *FOLD, "````", *map(str, range(200)), "```", "````", "", "</details>"])


def test_a_table_keeps_its_first_rows_and_the_note_below_it() -> None:
    (text,) = short({"outcomes": TABLE}).values()
    lines = text.splitlines()
    assert len(lines) < LINES
    assert lines[4:-3] == ROWS[: len(lines) - 7]
    assert lines[-3:] == [f"| and {200 - (len(lines) - 7)} more rows, in scorecard.html |", "", "A note."]


def test_a_list_keeps_its_first_points() -> None:
    (text,) = short({"findings": POINTS}).values()
    *_, before, last = text.splitlines()
    kept = int(before.removeprefix("- ")) + 1
    assert last == f"- and {200 - kept} more, in scorecard.html"


def test_a_log_keeps_its_last_lines_inside_its_fence_and_its_fold() -> None:
    (text,) = short({"failures": LOG}).values()
    lines = text.splitlines()
    assert lines[:5] == LOG.splitlines()[:5]
    assert lines[5].startswith("[")
    assert lines[-6:] == ["198", "199", "```", "````", "", "</details>"]


def test_a_section_of_many_paragraphs_keeps_the_first_and_closes_its_folds() -> None:
    paragraphs = ["## Flips", "<details><summary>All</summary>", *(f"Paragraph {i}." for i in range(200)), "</details>"]
    (text,) = short({"flips": "\n\n".join(paragraphs)}).values()
    lines = text.splitlines()
    assert len(lines) < LINES
    assert lines[-3:] == ["</details>", "", "The rest is in scorecard.html."]


def test_a_single_row_is_not_replaced_by_a_line_that_says_so() -> None:
    for n in range(130, 150):
        text = "\n".join(["## A", "", *(f"- {i}" for i in range(n))])
        (cut,) = short({"findings": text}).values()
        assert "and 1 more" not in cut
