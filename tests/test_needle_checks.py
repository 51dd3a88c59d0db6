"""What is said of needles beside their recall: lengths off the wanted, a warm pass that was not warm."""

from dataclasses import replace

import pytest
from evidence import BASELINE, CANDIDATE
from test_needle_report import CELLS, needles

from evals.judged import Evidence, Finding
from evals.records import Window
from evals.verdict import judge


def found(run: Evidence, kind: str) -> list[Finding]:
    return [f for f in judge(run).findings if f.kind == kind]


def off(run: Evidence, arm: str, by: int | None) -> Evidence:
    """With so many tokens more than wanted in one answer of an arm; None: untold."""
    records = tuple(
        replace(r, response=replace(r.response, prompt_tokens=None if by is None else r.response.prompt_tokens + by))
        if r.response and r.response.prompt_tokens and (r.arm, r.sample_id) == (arm, CELLS[0])
        else r
        for r in run.records
    )
    return replace(run, records=records)


def test_exact_lengths_are_no_finding() -> None:
    assert not found(needles("c" * 16, "c" * 16), "needle_lengths")


def test_a_prompt_that_fell_short_on_both_arms_is_a_warning_of_each() -> None:
    run = off(off(needles("c" * 16, "c" * 16), BASELINE, -1), CANDIDATE, -1)
    told = found(run, "needle_lengths")
    assert [(f.severity, f.arm) for f in told] == [("warning", BASELINE), ("warning", CANDIDATE)]
    assert "15 of 16 prompts had exactly the wanted number of tokens; the others were off by −1." in told[0].text


@pytest.mark.parametrize(("offs", "said"), [((18, 18), "+18."), ((18, 3), "+3 to +18."), ((-3, 2), "−3 to +2.")])
def test_the_range_is_of_those_that_were_off(offs: tuple[int, int], said: str) -> None:
    run, by = needles("c" * 16, "c" * 16), dict(zip(CELLS, offs, strict=False))
    records = tuple(
        replace(r, response=replace(r.response, prompt_tokens=r.response.prompt_tokens + by.get(r.sample_id, 0)))
        if r.response and r.response.prompt_tokens
        else r
        for r in run.records
    )
    told = found(replace(run, records=records), "needle_lengths")
    assert f"14 of 16 prompts had exactly the wanted number of tokens; the others were off by {said}" in told[0].text


def test_a_candidate_that_counts_the_same_text_otherwise_is_an_alarm() -> None:
    told = found(off(needles("c" * 16, "c" * 16), CANDIDATE, +1), "needle_lengths")
    assert (told[0].severity, told[0].arm) == ("alarm", CANDIDATE)
    assert "in 1 of 16 answers; first en-8192-d10-1: 8193 in place of 8192" in told[0].text


def test_an_arm_that_was_meant_to_be_asked_otherwise_has_a_note() -> None:
    run = off(needles("c" * 16, "c" * 16), CANDIDATE, +4)
    run = replace(run, arms=tuple(replace(a, same_prompts=a.name == BASELINE) for a in run.arms))
    assert [f.severity for f in found(run, "needle_lengths")] == ["note"]


def test_a_length_that_no_engine_tells_is_not_silently_right() -> None:
    (told,) = found(off(needles("c" * 16, "c" * 16), BASELINE, None), "needle_lengths")
    assert "to 1 more the engine did not tell it" in told.text


def warm(candidate: str, *, queries: int | None, hits: int | None) -> Evidence:
    """Every arm with the same counters in its warm round; cold rounds never hit."""
    run = needles("c" * 32, candidate, rounds=2, warm=True)
    windows = tuple(
        Window(
            arm=arm,
            task="needle",
            round=k,
            wall_s=1.0,
            samples=16,
            generation_tokens=1,
            prompt_tokens=1,
            prefix_cache_queries=queries,
            prefix_cache_hits=hits if k else 0,
            drafts=None,
            draft_tokens=None,
            accepted_tokens=None,
            accepted_per_position=(),
            cold=not k,
        )
        for arm in (BASELINE, CANDIDATE)
        for k in (0, 1)
    )
    return replace(run, windows=windows)


@pytest.mark.parametrize(
    ("queries", "hits", "severity", "said"),
    [
        (1000, 0, "alarm", "0 of 1,000 prompt tokens of the warm pass came from the prefix cache"),
        (0, 0, "alarm", "0 of 0"),  # what an engine counts whose prefix cache is switched off
        (1000, 120, "warning", "120 of 1,000"),
    ],
)
def test_a_warm_pass_without_hits_is_an_alarm(queries: int, hits: int, severity: str, said: str) -> None:
    told = found(warm("c" * 32, queries=queries, hits=hits), "warm_not_warm")
    assert [(f.severity, f.arm) for f in told] == [(severity, BASELINE), (severity, CANDIDATE)]
    assert said in told[0].text


def test_a_warm_pass_that_hit_is_no_finding() -> None:
    run = warm("c" * 32, queries=1000, hits=498)
    assert not [f for f in judge(run).findings if f.kind.startswith("warm")]


def test_hits_that_an_engine_does_not_tell_are_unknown_and_not_none() -> None:
    assert [f.severity for f in found(warm("c" * 32, queries=None, hits=None), "warm_unknown")] == ["warning"] * 2
    assert not found(warm("c" * 32, queries=None, hits=None), "warm_not_warm")


def test_a_warm_answer_that_is_marked_otherwise_is_shown() -> None:
    (told,) = found(warm("c" * 16 + "n" + "c" * 15, queries=1000, hits=500), "warm_differs")
    assert told.arm == CANDIDATE
    assert told.text.startswith("1 warm answers are marked otherwise than the cold ones")
    assert "(1 lost, 0 not); first en-8192-d10-1: correct and then near miss" in told.text
