from collections.abc import Sequence
from typing import Any

import pytest
from evidence import BASELINE, CANDIDATE, evidence, record, samples

from evals.divergence import diverge, sentence
from evals.judged import Divergence, Evidence, TaskSpec
from evals.records import SampleRecord, TopTwo

Row = dict[str, Any]


def _same(n: int) -> list[Row]:
    return [{} for _ in range(n)]


def _passed(arm: str, round: int, rows: Sequence[Row | None]) -> list[SampleRecord]:
    return [
        record(arm, f"s{i}", "e" if row is None else "u", task="greedy", round=round, **(row or {}))
        for i, row in enumerate(rows)
    ]


def greedy(first: Sequence[Row | None], again: Sequence[Row | None], candidate: Sequence[Row | None]) -> Evidence:
    records = _passed(BASELINE, 0, first) + _passed(BASELINE, 1, again) + _passed(CANDIDATE, 0, candidate)
    task = TaskSpec(name="greedy", rounds=1, chance=0.0, marked=False)
    return evidence("", {CANDIDATE: ""}, tasks=(task,), samples={"greedy": samples(len(first))}, records=tuple(records))


def diverged(run: Evidence) -> Divergence:
    found = diverge(run, CANDIDATE)
    assert found is not None
    return found


def test_equal_outputs_have_no_divergence() -> None:
    found = diverged(greedy(_same(3), _same(3), _same(3)))
    assert (found.n, found.differs, found.noise_differs, found.p_value, found.excess) == (3, 0, 0, 1.0, False)
    assert [(p.first, p.common_prefix_share, p.margin) for p in found.prompts] == [(None, 1.0, None)] * 3


def test_the_first_divergence_has_its_index_prefix_and_the_baselines_margin() -> None:
    top_two = tuple(TopTwo(first=-0.1 * i, second=-0.5 * i) for i in range(4))
    ours = {"token_ids": (5, 6, 7, 8), "top_two": top_two}
    prompt = diverged(greedy([ours], [ours], [{"token_ids": (5, 6, 9, 8)}])).prompts[0]
    assert (prompt.first, prompt.common_prefix_share, prompt.noise_differs) == (2, 0.5, False)
    assert prompt.margin == pytest.approx(0.8)


def test_a_prefix_diverges_where_the_shorter_ends() -> None:
    top_two = (TopTwo(first=-0.1, second=-2.0),) * 2
    ours = {"token_ids": (5, 6), "top_two": top_two}
    longer = diverged(greedy([ours], [ours], [{"token_ids": (5, 6, 7, 8)}])).prompts[0]
    assert (longer.first, longer.common_prefix_share, longer.margin) == (2, 0.5, None)
    shorter = diverged(greedy([ours], [ours], [{"token_ids": (5,)}])).prompts[0]
    assert (shorter.first, shorter.common_prefix_share, shorter.margin) == (1, 0.5, pytest.approx(1.9))


def test_two_empty_outputs_are_equal() -> None:
    empty = {"token_ids": ()}
    prompt = diverged(greedy([empty], [empty], [empty])).prompts[0]
    assert (prompt.first, prompt.common_prefix_share) == (None, 1.0)


def test_without_token_ids_in_any_pass_texts_are_compared_with_their_reasoning() -> None:
    top_two = (TopTwo(first=-0.1, second=-2.0),) * 3
    ours = {"token_ids": None, "reasoning": "ab", "text": "cd", "top_two": top_two}
    found = diverged(greedy([ours], [ours], [{"token_ids": (1,), "reasoning": None, "text": "abXd"}]))
    assert found.by_text
    assert (found.prompts[0].first, found.prompts[0].margin) == (2, None)
    assert not diverged(greedy(_same(1), _same(1), [{"text": "other text, same ids"}])).by_text


def test_a_candidate_beyond_the_noise_floor_is_an_excess() -> None:
    found = diverged(greedy(_same(30), _same(30), [{"token_ids": (9,)} for _ in range(8)] + _same(22)))
    assert found.p_value == pytest.approx(0.5**8)
    assert found.excess
    assert sentence(found) == "differs in 8/30; the baseline differs from itself in 0/30; more than the noise floor (p = 0.004)"


def test_a_candidate_within_the_noise_floor_is_no_excess() -> None:
    noise = [{"token_ids": (9,)} for _ in range(7)]
    candidate = _same(2) + [{"token_ids": (8,)} for _ in range(8)] + _same(20)
    found = diverged(greedy(_same(30), noise + _same(23), candidate))
    assert (found.differs, found.noise_differs, found.excess) == (8, 7, False)
    assert sentence(found) == "differs in 8/30; the baseline differs from itself in 7/30; no excess (p = 0.50)"


def test_a_prompt_where_the_baseline_also_differs_is_no_evidence() -> None:
    noisy = [{"token_ids": (9,)} for _ in range(10)]
    found = diverged(greedy(_same(10), noisy, noisy))
    assert (found.differs, found.noise_differs, found.p_value, found.excess) == (10, 10, 1.0, False)


def test_only_prompts_measured_in_all_three_passes_count() -> None:
    found = diverged(greedy([{}, None, {}, {}], [{}, {}, None, {}], [{}, {}, {}, {"token_ids": (9,)}]))
    assert [prompt.sample_id for prompt in found.prompts] == ["s0", "s3"]
    assert found.n == 2


def test_a_baseline_launched_once_has_no_noise_floor() -> None:
    assert diverge(greedy(_same(3), [], _same(3)), CANDIDATE) is None
