"""Efforts of one server side by side: what is counted, what is not known, and which are equal."""

from dataclasses import replace
from pathlib import Path

import pytest
from evidence import evidence, passes, samples
from scipy.stats import binomtest

from evals import levels
from evals.judged import ArmSpec, Evidence, TaskSpec
from evals.levels import Level, LevelPair, Spread
from evals.records import SampleRecord
from evals.report import machine, markdown, thinking
from evals.stats import paired_interval, wilson
from evals.verdict import judge

GOLDEN = Path(__file__).parent / "golden" / "thinking.md"
EFFORTS = ("off", "low", "xhigh")
N = 200


def specs(*efforts: str | None, server: str = "s") -> tuple[ArmSpec, ...]:
    return tuple(
        ArmSpec(
            name=f"a-{e}" if e else "a", same_prompts=not i, thinking=e, server=server, asked=f"thinking {e}, greedy",
        )
        for i, e in enumerate(efforts)
    )  # fmt: skip


def run(*rounds: tuple[str, ...], efforts: tuple[str | None, ...] = EFFORTS, server: str = "s") -> Evidence:
    """One arm an effort, in this order, with its passes over the task; the first is the baseline."""
    arms = specs(*efforts, server=server)
    records = tuple(row for arm, letters in zip(arms, rounds, strict=True) for row in passes(arm.name, letters))
    plain = evidence("c", {}, samples={"gsm8k": samples(len(rounds[0][0]))})
    task = TaskSpec(name="gsm8k", rounds=len(rounds[0]), chance=0.0, marked=True)
    return replace(plain, baseline=arms[0].name, arms=arms, records=records, tasks=(task,))


def answers(found: Evidence, arm: str, **fields: object) -> Evidence:
    def changed(row: SampleRecord) -> SampleRecord:
        return replace(row, response=replace(row.response, **fields)) if row.arm == arm and row.response else row

    return replace(found, records=tuple(changed(row) for row in found.records))


def by_effort(found: Evidence) -> dict[str, Level]:
    return {row.effort: row for row in levels.levels(found)}


def test_accuracy_is_of_the_samples_that_were_measured_in_every_round() -> None:
    off = by_effort(run(("ccwe", "cwcc"), ("cccc", "cccc"), efforts=("off", "low")))["off"]
    assert (off.asked, off.n, off.responses) == (4, 3, 7)
    assert off.correct == pytest.approx(100 * (1 + 0.5 + 0.5) / 3)
    expected = wilson(2, 3)
    assert (off.ci_low, off.ci_high) == (100 * expected.low, 100 * expected.high)


@pytest.mark.parametrize(("correct", "n"), [(0, 20), (1, 20), (183, 200), (200, 200)])
def test_wilsons_interval_is_scipys(correct: int, n: int) -> None:
    expected = binomtest(correct, n).proportion_ci(confidence_level=0.9, method="wilson")
    found = wilson(correct, n)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_what_the_engine_does_not_tell_is_not_0() -> None:
    found = run(("ccc",), ("ccc",), efforts=("off", "low"))
    found = answers(found, "a-low", reasoning_tokens=30, reasoning="Hm, wait.", completion_tokens=40, latency_s=2.0)
    off, low = by_effort(found).values()
    assert (off.reasoning_tokens, off.reasoning_characters) == (None, None)
    assert low.reasoning_tokens == Spread(n=3, median=30, mean=30)
    assert low.reasoning_characters == Spread(n=3, median=9, mean=9)
    assert low.latency_s == Spread(n=3, median=2.0, mean=2.0)


def test_a_told_0_is_a_0_and_counts_are_of_those_that_told() -> None:
    found = run(("ccc",), ("ccc",), efforts=("off", "low"))
    told = {"s0": 0, "s1": 10}
    records = tuple(
        replace(row, response=replace(row.response, reasoning_tokens=told.get(row.sample_id)))
        if row.arm == "a-low" and row.response else row
        for row in found.records
    )  # fmt: skip
    assert by_effort(replace(found, records=records))["low"].reasoning_tokens == Spread(n=2, median=5, mean=5)


def test_answers_that_were_cut_off_are_counted() -> None:
    found = answers(run(("ccct",), ("cccc",), efforts=("off", "low")), "a-off", finish_reason="length")
    assert (by_effort(found)["off"].truncated, by_effort(found)["low"].truncated) == (4, 0)


def test_two_levels_inside_the_noise_are_equal_and_others_are_not() -> None:
    low = "w" * 3 + "c" * (N - 3)
    found = levels.pairs(run(("w" * 40 + "c" * (N - 40),), (low,), ("w" + "c" * (N - 2) + "w",)))
    expected = paired_interval(1, 2, N, 1 - 0.1 / 3)
    assert [(p.less, p.more, p.equal) for p in found] == [
        ("a-off", "a-low", False), ("a-off", "a-xhigh", False), ("a-low", "a-xhigh", True),
    ]  # fmt: skip
    assert found[2] == LevelPair(
        task="gsm8k", less="a-low", more="a-xhigh", n=N, diff=0.5, ci_low=-100 * expected.high, ci_high=-100 * expected.low
    )
    assert found[0].diff == pytest.approx(18.5)  # the larger effort less the smaller one


def test_one_pair_has_the_interval_of_a_gate() -> None:
    (pair,) = levels.pairs(run(("cccc",), ("cccw",), efforts=("off", "low")))
    expected = paired_interval(1, 0, 4, 0.9)
    assert (pair.ci_low, pair.ci_high) == (-100 * expected.high, -100 * expected.low)


def test_the_efforts_come_in_their_order_whichever_the_file_has() -> None:
    found = run(("cc",), ("cc",), ("cc",), efforts=("xhigh", "off", "low"))
    assert [row.effort for row in levels.levels(found)] == list(EFFORTS)
    assert next((p.less, p.more) for p in levels.pairs(found)) == ("a-off", "a-low")


@pytest.mark.parametrize(
    "efforts", [("off", "off"), ("off", None), (None, None)], ids=["the same", "one is not told", "none is told"]
)
def test_arms_of_one_effort_are_not_compared(efforts: tuple[str | None, ...]) -> None:
    found = run(("cc",), ("cc",), efforts=efforts)
    assert levels.levels(found) == levels.pairs(found) == ()
    assert thinking.section(found) == ""


def test_arms_of_two_servers_are_not_compared() -> None:
    found = run(("cc",), ("cc",), efforts=("off", "low"))
    apart = replace(found, arms=(found.arms[0], replace(found.arms[1], server="other")))
    assert levels.levels(apart) == ()


def test_nothing_measured_is_no_figure() -> None:
    found = run(("ee",), ("cc",), efforts=("off", "low"))
    assert levels.pairs(found) == ()
    off = by_effort(found)["off"]
    assert (off.n, off.correct, off.responses, off.completion_tokens, off.latency_s) == (0, None, 0, None, None)
    assert "| gsm8k | off | a-off | 0 of 2 | – | – | – | – | – |" in thinking.section(found)


def whole_run() -> Evidence:
    letters = {"off": "w" * 30 + "c" * (N - 30), "low": "w" * 9 + "c" * (N - 9), "xhigh": "c" * (N - 8) + "w" * 8}
    found = run(*((letters[e], letters[e]) for e in EFFORTS))
    found = answers(found, "a-off", completion_tokens=120, latency_s=0.8)
    found = answers(found, "a-low", completion_tokens=700, reasoning_tokens=560, reasoning="x" * 2000, latency_s=4.25)
    return answers(found, "a-xhigh", completion_tokens=3100, reasoning="y" * 9000, latency_s=21.0, finish_reason="length")


def test_the_section_is_the_golden_one(request: pytest.FixtureRequest) -> None:
    text = thinking.section(whole_run()) + "\n"
    if request.config.getoption("--update-golden"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_top_says_under_what_every_arm_was_asked() -> None:
    found = whole_run()
    card = markdown.scorecard(found, judge(found))
    top = card.partition("\n- **")[0]
    assert "Asked: a-off with thinking off, greedy; a-low with thinking low, greedy; a-xhigh with thinking xhigh" in top
    alike = replace(found, arms=tuple(replace(arm, asked="thinking off, greedy") for arm in found.arms))
    assert "Every arm was asked with thinking off, greedy." in markdown.scorecard(alike, judge(alike)).partition("\n- **")[0]


def test_the_machines_verdict_has_the_same_rows() -> None:
    found = whole_run()
    text = machine.verdict_json(found, judge(found))
    assert text.count('"equal": true') == sum(p.equal for p in levels.pairs(found)) == 1
    assert text.count('"reasoning_tokens": null') == 2
    assert '"asked": "thinking low, greedy",\n      "thinking": "low"' in text


@pytest.mark.parametrize(
    ("off", "low", "why"),
    [
        ("w" * 20, "w" * 20, "the baseline is at the floor"),
        ("t" * 20, "t" * 20, "the baseline mostly gives no answer"),
        ("c" * 20, "c" * 8 + "e" * 12, "12 of 20 samples could not be measured"),
        ("e" * 12 + "c" * 8, "c" * 20, "12 of 20 samples could not be measured"),
    ],
)
def test_what_could_not_be_compared_is_never_called_equal(off: str, low: str, why: str) -> None:
    found = run((off,), (low,), efforts=("off", "low"))
    (pair,) = levels.pairs(found)
    assert (pair.open, pair.equal) == (True, False)
    assert why in (pair.incomparable or "")
    assert "are equal" not in thinking.section(found)
    assert "off and low cannot be told apart, and not called equal: 0.0 points" in thinking.section(found)


def test_of_efforts_that_were_not_measured_nothing_is_said() -> None:
    found = run(("e" * 20,), ("e" * 20,), efforts=("off", "low"))
    assert not levels.pairs(found)
    assert "equal" not in thinking.section(found)
