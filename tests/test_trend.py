"""A metric over runs: paired by sample and prompt, against the first blessed arm and the last."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from scipy.stats import norm

from evals import trend
from evals.trend import ArmRun, Metric

N, LOST, WON = 1000, 8, 5
"""Of a thousand samples: 0.3 points less a release."""


def frame(outcomes: list[str | None], *, task: str = "gsm8k", sha: str = "m", tokens: int = 10) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"arm": "a", "task": task, "sample_id": f"s{i}", "prompt_sha": sha, "outcome": o, "completion_tokens": tokens}
            for i, o in enumerate(outcomes)
        ]
    )


def arm_run(number: int, samples: pd.DataFrame, *, blessed: bool = True, **fields: Any) -> ArmRun:
    told: dict[str, Any] = {
        "run_id": f"r{number}", "arm": "a", "started_at": f"2026-0{number}-01T00:00:00+00:00", "version": f"0.2{number}.0",
        "part": "no gate", "blessed": blessed, "verdicts": {"gsm8k": "PASS"}, "margins": {"gsm8k": 2.0}, "samples": samples,
    }  # fmt: skip
    return ArmRun(**(told | fields))


def release(number: int) -> list[str]:
    """A tenth is wrong at first; each release loses 8 and wins 5 others."""
    right = [i < 900 for i in range(N)]
    for k in range(number):
        for i in range(LOST):
            right[LOST * k + i] = False
        for i in range(WON):
            right[900 + WON * k + i] = True
    return ["correct" if r else "wrong" for r in right]


def test_a_slow_creep_is_seen_although_each_release_is_like_the_one_before_it() -> None:
    rows = trend.rows([arm_run(k + 1, frame(release(k))) for k in range(7)], "gsm8k", "correct")
    assert [round(row.value, 1) for row in rows] == [90.0, 89.7, 89.4, 89.1, 88.8, 88.5, 88.2]
    assert rows[0].since_first is rows[0].since_last is None
    steps = [row.since_last for row in rows[1:]]
    assert all(step is not None and step.real("correct") is None and (step.low or 0) > -2 for step in steps)  # the margin
    whole = rows[-1].since_first
    assert whole is not None
    assert (whole.n, round(whole.value, 6)) == (N, -1.8)
    assert whole.real("correct") == "down"


def test_the_interval_is_tangos() -> None:
    """Against the score equation itself: the ends are where the statistic is the normal quantile."""
    (_, row) = trend.rows([arm_run(1, frame(release(0))), arm_run(2, frame(release(6)))], "gsm8k", "correct")
    change = row.since_first
    assert change is not None
    assert change.low is not None
    b, c, d, z = LOST * 6, WON * 6, -change.low / 100, norm.isf(0.05)
    big, mid, small = 2 * N, -b - c + (2 * N - b + c) * d, -c * d * (1 - d)
    p = ((mid**2 - 4 * big * small) ** 0.5 - mid) / (2 * big)
    assert abs(b - c - N * d) / (N * (2 * p + d * (1 - d))) ** 0.5 == pytest.approx(z, rel=1e-6)


def test_only_samples_with_the_same_prompt_are_held_against_each_other() -> None:
    first = frame(["correct"] * 10)
    second = pd.concat([frame(["wrong"] * 4), frame(["wrong"] * 10, sha="other").iloc[4:]])
    row = trend.rows([arm_run(1, first), arm_run(2, second)], "gsm8k", "correct")[1]
    assert row.n == 10
    assert row.since_first is not None
    assert row.since_first.n == 4
    elsewhere = trend.rows([arm_run(1, first), arm_run(2, frame(["wrong"], sha="other"))], "gsm8k", "correct")[1]
    assert elsewhere.since_first is None


def test_what_was_not_measured_is_no_0() -> None:
    (row,) = trend.rows([arm_run(1, frame(["correct", "wrong", "error", "no_answer"]))], "gsm8k", "correct")
    assert (row.n, row.value) == (3, pytest.approx(100 / 3))
    assert trend.rows([arm_run(1, frame(["error", None]))], "gsm8k", "correct") == []
    assert trend.rows([arm_run(1, frame(["correct"]))], "mmlu", "correct") == []


def test_rounds_are_averaged_and_a_sample_with_an_error_in_one_is_left_out() -> None:
    both = pd.concat([frame(["correct", "correct", "correct"]), frame(["wrong", "correct", "error"])])
    (row,) = trend.rows([arm_run(1, both)], "gsm8k", "correct")
    assert (row.n, row.value) == (2, 75.0)


def test_arms_are_not_held_against_others_of_their_own_run() -> None:
    one = arm_run(1, frame(["correct"] * 5))
    beside = replace(one, arm="b", blessed=False, verdicts={}, part="baseline")
    rows = trend.rows([one, beside, arm_run(2, frame(["correct"] * 5))], "gsm8k", "correct")
    assert [row.since_first is None for row in rows] == [True, True, False]


def test_a_row_has_the_verdict_of_its_own_tasks_gate() -> None:
    both = pd.concat([frame(["correct"] * 3), frame(["correct"] * 3, task="mmlu"), frame(["correct"] * 3, task="coding")])
    run = arm_run(1, both, verdicts={"gsm8k": "PASS", "mmlu": "REGRESSION"})
    told = [trend.rows([run], task, "correct")[0].verdict for task in ("gsm8k", "mmlu", "coding")]
    assert told == ["PASS", "REGRESSION", "no gate"]


def test_the_last_is_the_one_blessed_last_before() -> None:
    runs = [
        arm_run(1, frame(["correct"] * 9)),
        arm_run(2, frame(["wrong"] * 9)),
        arm_run(3, frame(["wrong"] * 9), blessed=False),
    ]
    row = trend.rows(runs, "gsm8k", "correct")[2]
    assert row.since_first is not None
    assert row.since_last is not None
    assert (row.since_first.value, row.since_last.value) == (-100.0, 0.0)


@pytest.mark.parametrize(("metric", "value", "change"), [("no_answer", 50.0, 50.0), ("tokens", 30.0, 3.0)])
def test_other_metrics(metric: Metric, value: float, change: float) -> None:
    runs = [arm_run(1, frame(["correct"] * 20)), arm_run(2, frame(["correct", "no_answer"] * 10, tokens=30))]
    row = trend.rows(runs, "gsm8k", metric)[1]
    assert row.since_first is not None
    assert (row.value, row.since_first.value, row.since_first.real(metric)) == (value, change, "up")
