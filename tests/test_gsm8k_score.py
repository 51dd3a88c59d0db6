"""One GSM8K response: correct, wrong, no answer with its reason, or a failure of the harness."""

from decimal import Decimal

import pytest

from tasks import TASKS
from tasks.base import Failure, Marks, Response, Score
from tasks.gsm8k import score, target_number

FIELD = "Janet sells 16 - 3 - 4 = <<16-3-4=9>>9 duck eggs a day.\nShe makes 9 * 2 = $<<9*2=18>>18 every day.\n#### 18"


def reply(text: str | None, *, reasoning: str | None = None, finish: str = "stop") -> Response:
    return Response(
        text=text,
        reasoning=reasoning,
        finish_reason=finish,
        token_ids=None,
        prompt_ids_sha=None,
        top_two=None,
        prompt_tokens=30,
        completion_tokens=100,
        reasoning_tokens=None,
        latency_s=0.1,
        fingerprint=None,
    )


def marked(response: Response, target: str = FIELD) -> Score:
    result = score(response, target, ())
    assert isinstance(result, Score)
    return result


@pytest.mark.parametrize(
    ("field", "number"), [(FIELD, "18"), ("#### 1,800", "1800"), ("x\n#### -5", "-5"), ("#### $2.50 ", "2.5"), ("####7", "7")]
)
def test_target_is_read_from_the_answer_field(field: str, number: str) -> None:
    assert target_number(field) == Decimal(number)


@pytest.mark.parametrize("field", ["", "18", "#### ", "#### eighteen", "#### 18 dollars", "#### NaN", "#### 1_000"])
def test_a_field_without_a_number_raises_with_its_text(field: str) -> None:
    with pytest.raises(ValueError, match="answer field") as raised:
        target_number(field)
    assert repr(field) in str(raised.value)


@pytest.mark.parametrize("target", [FIELD, "18", "18.0"])
def test_correct_in_any_rendering(target: str) -> None:
    for text in ("#### 18", "**18**", "The answer is \\$18.00 per day.", "答案是18。每个2美元", "\\boxed{18}"):
        assert marked(reply(text), target) == Score(outcome="correct", answer="18")


def test_wrong_keeps_what_was_said() -> None:
    assert marked(reply("The answer is 1,700.50.")) == Score(outcome="wrong", answer="1700.5")


def test_reasoning_beside_an_answer_does_not_matter() -> None:
    assert marked(reply("18", reasoning="16-7=9, 9*2=17?")).outcome == "correct"


def test_a_leaked_thought_is_not_marked_but_reported() -> None:
    expected = Score(outcome="correct", answer="18", warnings=("think_tag_in_content",))
    assert marked(reply("<think>9*2=17</think>\n18")) == expected


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (reply("I do not know."), "nothing_to_extract"),
        (reply(""), "empty"),
        (reply(None, reasoning="16-3-4=9, then", finish="length"), "truncated_in_thinking"),
        (reply("<think>maybe 18? check with 7", finish="length"), "truncated_in_thinking"),
        (reply("好的" * 12, finish="length"), "degenerate"),
        (reply("She makes 9 * 2 = 18", finish="length"), "truncated"),
        (reply("The answer is 18. Let me check that", finish="length"), "truncated"),
        (reply("#### 18", finish="length"), "truncated"),
        (reply("\\boxed{18", finish="length"), "truncated"),
        (reply("She sells her", finish="length"), "truncated"),
    ],
)
def test_no_answer_has_its_reason(response: Response, reason: str) -> None:
    result = marked(response)
    assert (result.outcome, result.reason, result.answer) == ("no_answer", reason, None)


@pytest.mark.parametrize("text", ["#### 18\n\nQuestion: Tom has 5", "#### 18 dollars", "So \\boxed{18}. Let me check 7"])
def test_an_answer_finished_before_the_limit_is_marked(text: str) -> None:
    assert marked(reply(text, finish="length")) == Score(outcome="correct", answer="18")


def test_an_answer_in_the_reasoning_field_is_a_failure_never_wrong() -> None:
    result = score(reply(None, reasoning="so it is 18."), FIELD, ())
    assert isinstance(result, Failure)
    assert result.kind == "answer_in_reasoning_field"


@pytest.mark.parametrize("text", ["18", "17", "none", ""])
def test_the_harness_marks_are_handed_on(text: str) -> None:
    marks = (Marks(filter="strict-match", correct=False), Marks(filter="flexible-extract", correct=True))
    result = score(reply(text), FIELD, marks)
    assert isinstance(result, Score)
    assert result.harness == marks


def test_a_bad_target_raises_even_when_there_is_no_answer() -> None:
    with pytest.raises(ValueError, match="answer field"):
        score(reply(""), "eighteen", ())


def test_the_registry_names_each_task_by_its_key() -> None:
    assert {name: task.name for name, task in TASKS.items()} == {name: name for name in TASKS}
    assert TASKS["gsm8k"].default_margin == 2.0
    assert TASKS["greedy"].default_margin is None
    assert not TASKS["greedy"].marked
