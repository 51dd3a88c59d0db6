"""The scorecard's needles: recall by length and language, and what so few can rule out."""

import json
from dataclasses import replace

import pytest
from evidence import BASELINE, CANDIDATE, record, two_arms

from evals.judged import Evidence, GateSpec, TaskSpec
from evals.records import Message, Sample, SampleRecord, Score
from evals.report import heatmap, machine, markdown, needle
from evals.report.needle_rows import Recall
from evals.verdict import judge

CELLS = [
    f"{language}-{length}-d{depth}-{i}"
    for language in ("en", "zh")
    for length in (8192, 32768)
    for depth in (10, 90)
    for i in (1, 2)
]

ASKED = (Message(role="user", content="?"),)


def needles(baseline: str, candidate: str, *, rounds: int = 1, warm: bool = False) -> Evidence:
    """One letter a cell, in CELLS' order, round after round; n is a near miss."""
    records: list[SampleRecord] = []
    for arm, letters in ((BASELINE, baseline), (CANDIDATE, candidate)):
        for i, letter in enumerate(letters):
            sample_id, round_ = CELLS[i % len(CELLS)], i // len(CELLS)
            length = int(sample_id.split("-")[1])
            r = record(arm, sample_id, letter, task="needle", round=round_, prompt_tokens=length)
            records.append(replace(r, score=Score(outcome="wrong", reason="near_miss")) if letter == "n" else r)
    return two_arms(
        "", "", tasks=(TaskSpec(name="needle", rounds=rounds, chance=0.0, marked=True, warm=warm),),
        gates=(GateSpec(task="needle", margin=2.0),), records=tuple(records),
        samples={"needle": tuple(Sample(id=i, messages=ASKED, target="a b=k3") for i in CELLS)},
    )  # fmt: skip


def test_a_table_has_a_row_for_length_and_language_and_a_column_for_each_arm() -> None:
    got = needle.section(needles("c" * 16, "cccccccccccccnen"))
    assert f"| length | language | {BASELINE} | {CANDIDATE} |" in got
    assert "| 8192 | en | 100 (4/4) | 100 (4/4) |" in got
    assert "| 32768 | zh | 100 (4/4) | **33 (1/3, 2 near)** at 10, 90 % |" in got
    assert "- **v029**: 13/15 found" in got
    assert "Otherwise: 2 near miss, 1 not measured." in got
    assert got.index("| 8192 | zh") < got.index("| 32768 | en")


@pytest.mark.parametrize(
    ("found", "n", "said"),
    [
        (8, 8, "8/8 found, which excludes no miss rate below 31 % (Clopper–Pearson, one-sided 95 %)."),
        (40, 40, "40/40 found, which excludes no miss rate below 7 % (Clopper–Pearson, one-sided 95 %)."),
        (7, 8, "7/8 found, which leaves a miss rate of 1 to 47 % possible (Clopper–Pearson, one-sided 95 %)."),
        (0, 8, "0/8 found, which leaves a miss rate of 69 to 100 % possible (Clopper–Pearson, one-sided 95 %)."),
        (0, 0, "nothing was measured."),
    ],
)
def test_what_so_many_needles_rule_out_is_said_in_words(found: int, n: int, said: str) -> None:
    assert needle.sentence(Recall(found=found, n=n)) == said


def test_a_needle_of_several_rounds_is_found_where_all_of_them_found_it() -> None:
    got = needles("c" * 32, "c" * 31 + "w", rounds=2)
    assert "**v029**: 15/16 found" in needle.section(got)
    assert "all of its 2 rounds" in needle.section(got)


def test_prompts_of_another_length_than_wanted_are_told() -> None:
    run = needles("c" * 16, "c" * 16)
    assert "All 16 prompts had exactly the wanted number of tokens." in needle.section(run)
    off = tuple(
        replace(r, response=replace(r.response, prompt_tokens=r.response.prompt_tokens - 2))
        if r.response and r.response.prompt_tokens and r.arm == CANDIDATE and r.sample_id == CELLS[0]
        else r
        for r in run.records
    )
    assert "15 of 16 prompts had exactly the wanted number of tokens; the others were off by −2." in needle.section(
        replace(run, records=off)
    )


def test_what_was_not_asked_is_a_dash_and_no_figure() -> None:
    got = needle.section(needles("c" * 16, "cc"))
    assert "| 32768 | zh | 100 (4/4) | – |" in got
    assert "**v029**: 2/2 found" in got


def test_it_stands_in_the_scorecard_and_only_where_needles_were_hidden() -> None:
    run = needles("c" * 16, "c" * 15 + "w")
    assert "## Needles, by length and depth" in markdown.scorecard(run, judge(run))
    other = two_arms("cc", "cc")
    assert "Needles" not in markdown.scorecard(other, judge(other))


def test_a_warm_pass_has_rows_of_its_own_and_makes_no_more_needles() -> None:
    got = needle.section(needles("c" * 32, "c" * 31 + "n", rounds=2, warm=True))
    assert "**v029**: 16/16 found" in got
    assert "**v029**, warm: 15/16 found" in got
    assert "| 32768 warm | zh | 100 (4/4) | **75 (3/4, 1 near)** at 90 % |" in got


def test_a_heat_map_is_a_png_for_each_arm_and_the_same_each_time() -> None:
    run = needles("c" * 16, "c" * 13 + "nwe")
    first = heatmap.pictures(run)
    assert set(first) == {BASELINE, CANDIDATE}
    assert all(png.startswith(b"\x89PNG") and b"IEND" in png[-12:] for png in first.values())
    assert first == heatmap.pictures(run)
    assert first[CANDIDATE] != heatmap.pictures(needles("c" * 16, "c" * 16))[CANDIDATE]
    assert heatmap.pictures(two_arms("cc", "cc")) == {}


def test_verdict_json_has_every_cell() -> None:
    run = needles("c" * 16, "c" * 13 + "nwe")
    told = json.loads(machine.verdict_json(run, judge(run)))["needles"]
    assert len(told) == 2 * 8
    assert told[-1] == {
        "arm": "v029", "length": 32768, "language": "zh", "warm": False, "depth": 90, "n": 1, "found": 0, "near_misses": 0
    }  # fmt: skip
    assert sum(cell["near_misses"] for cell in told) == 1


@pytest.mark.parametrize(
    ("found", "n", "least", "most"),
    [(8, 8, 0.0, 31.2344), (40, 40, 0.0, 7.2158), (0, 8, 68.7656, 100.0), (7, 8, 0.6391, 47.0679)],
)
def test_miss_rates_are_clopper_and_pearsons(found: int, n: int, least: float, most: float) -> None:
    """Independent: the least p with P(X ≤ misses | p) = 5 %, solved by hand for 0 and 1 misses: 1 − 0.05^(1/n) and so on."""
    assert Recall(found=found, n=n).miss_rates == pytest.approx((least, most), abs=1e-3)
