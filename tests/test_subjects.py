"""MMLU's groups and subjects in the scorecard, each candidate paired with the baseline."""

from dataclasses import replace

import pytest
from evidence import BASELINE, CANDIDATE, evidence, two_arms

from evals.judged import Evidence, TaskSpec
from evals.report import markdown
from evals.report.subjects import rows, section
from evals.verdict import judge
from tasks.mmlu_subjects import GROUPS

SUBJECTS = ("anatomy", "anatomy", "virology", "astronomy")


def mmlu(run: Evidence) -> Evidence:
    """The run with its samples spread over SUBJECTS."""
    asked = tuple(replace(s, group=SUBJECTS[i % 4]) for i, s in enumerate(run.samples["gsm8k"]))
    return replace(
        run,
        tasks=(TaskSpec(name="mmlu", rounds=run.tasks[0].rounds, chance=25.0, marked=True),),
        gates=tuple(replace(g, task="mmlu") for g in run.gates),
        samples={"mmlu": asked},
        records=tuple(replace(r, task="mmlu") for r in run.records),
    )


def test_each_group_sums_its_subjects_and_all_sums_the_groups() -> None:
    run = mmlu(two_arms("ccwwcccw", "wcwccccw"))
    found = list(rows(run, run.tasks[0]))
    assert [(r.name, r.group, r.asked) for r in found] == [
        ("all", True, 8), ("STEM", True, 6), ("anatomy", False, 4), ("astronomy", False, 2), ("other", True, 2),
        ("virology", False, 2),
    ]  # fmt: skip
    whole, stem, anatomy, astronomy, other, _ = (r.cells[CANDIDATE] for r in found)
    assert (whole.n, whole.correct, whole.lost, whole.won, whole.diff) == (8, 62.5, 1, 1, 0)
    assert (stem.n, stem.lost, stem.won) == (6, 1, 1)
    assert (anatomy.correct, anatomy.diff) == (75, -25)
    assert (astronomy.correct, astronomy.diff) == (50, 50)
    assert (other.correct, other.diff) == (50, 0)
    assert anatomy.interval.low < -25 < anatomy.interval.high
    assert other.interval.low < 0 < other.interval.high


def test_a_change_has_tangos_interval_turned_from_drop_to_change() -> None:
    run = mmlu(two_arms("c" * 50, "ww" + "c" * 48))
    interval = next(iter(rows(run, run.tasks[0]))).cells[CANDIDATE].interval
    assert (round(interval.low, 2), round(interval.high, 2)) == (-11.39, 1.34)  # FACTS: 2 lost, 0 won, 50


def test_rounds_are_averaged_and_what_was_not_measured_in_each_is_left_out() -> None:
    run = mmlu(two_arms(("cccc", "cccc"), ("cwcc", "cccc"[:3] + "e")))
    cells = {r.name: r.cells.get(CANDIDATE) for r in rows(run, run.tasks[0])}
    anatomy = cells["anatomy"]
    assert anatomy is not None
    assert (anatomy.n, anatomy.lost, anatomy.correct) == (2, 0.5, 75)
    assert cells["astronomy"] is None
    assert "| astronomy | 1 | 100.0 | not measured |" in section(run)
    assert "| **STEM** | 3 | 100.0 | 75.0 of 2: −25.0 [" in section(run)


def test_the_scorecard_folds_it_away_and_says_that_it_decides_nothing() -> None:
    run = mmlu(two_arms("ccww", "cwww"))
    text = markdown.scorecard(run, judge(run))
    assert section(run) in text
    assert section(run).startswith(
        "<details><summary>mmlu by subject: 3 subjects, 4 samples</summary>\n\n| subject | samples |"
    )
    assert "decides nothing" in section(run)
    assert "| anatomy | 2 | 100.0 | 50.0: −50.0 [" in section(run)
    assert "], 1 / 0 |" in section(run)


@pytest.mark.parametrize("run", [two_arms("cc", "cw"), evidence("cc", {})])
def test_other_tasks_have_no_subjects(run: Evidence) -> None:
    assert section(run) == ""


def test_a_baseline_alone_has_its_rows() -> None:
    assert "| subject | samples | base |".replace("base", BASELINE) in section(mmlu(evidence("cccc", {})))


def test_every_subject_has_one_of_four_groups() -> None:
    assert len(GROUPS) == 57
    assert set(GROUPS.values()) == {"STEM", "humanities", "social sciences", "other"}
