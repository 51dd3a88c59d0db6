"""One MMLU response: correct, wrong, no answer with its reason, or a failure of the harness."""

import pytest
from test_gsm8k_score import reply

from tasks.base import Failure, Marks, Response, Score
from tasks.mmlu import score, target

TARGET = target(3, ("nitrogen", "oxygen", "carbon\ndioxide", "neon"))


def marked(response: Response, of: str = TARGET) -> Score:
    result = score(response, of, ())
    assert isinstance(result, Score)
    return result


def test_the_target_is_the_letter_and_every_option_on_one_line() -> None:
    assert TARGET == "D\nA. nitrogen\nB. oxygen\nC. carbon dioxide\nD. neon"


def test_correct_in_any_wording() -> None:
    for text in ("D", "**(D)**", "The answer is D because …", "故选D", "Neon.", "\\boxed{D}"):
        assert marked(reply(text)) == Score(outcome="correct", answer="D")


def test_wrong_keeps_the_letter_that_was_meant() -> None:
    assert marked(reply("It is carbon dioxide.")) == Score(outcome="wrong", answer="C")


def test_a_bare_letter_is_a_target_too() -> None:
    assert marked(reply("B."), "B").outcome == "correct"


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (reply("I do not know."), "nothing_to_extract"),
        (reply("The answer is A or D."), "nothing_to_extract"),
        (reply(""), "empty"),
        (reply(None, reasoning="neon is noble, so", finish="length"), "truncated_in_thinking"),
        (reply("<think>The answer is D", finish="length"), "truncated_in_thinking"),
        (reply("<think>The answer is D"), "truncated_in_thinking"),
        (reply("好的" * 12, finish="length"), "degenerate"),
        (reply("The answer is D", finish="length"), "truncated"),
        (reply("A. nitrogen is a", finish="length"), "truncated"),
    ],
)
def test_no_answer_has_its_reason(response: Response, reason: str) -> None:
    result = marked(response)
    assert (result.outcome, result.reason, result.answer) == ("no_answer", reason, None)


def test_an_answer_finished_before_the_limit_is_marked() -> None:
    assert marked(reply("D\n\nQuestion: which gas", finish="length")) == Score(outcome="correct", answer="D")


def test_a_leaked_thought_is_not_marked_but_reported() -> None:
    expected = Score(outcome="correct", answer="D", warnings=("think_tag_in_content",))
    assert marked(reply("<think>A? B?</think>\nD")) == expected


def test_an_answer_in_the_reasoning_field_is_a_failure_never_wrong() -> None:
    result = score(reply(None, reasoning="so it is D."), TARGET, ())
    assert isinstance(result, Failure)
    assert result.kind == "answer_in_reasoning_field"


def test_the_harness_marks_are_handed_on() -> None:
    marks = (Marks(filter="get_response", correct=False),)
    result = score(reply("D"), TARGET, marks)
    assert isinstance(result, Score)
    assert result.harness == marks


@pytest.mark.parametrize("bad", ["", "E", "D. neon", "d", "D\nA. one\nB. two"])
def test_a_bad_target_raises(bad: str) -> None:
    with pytest.raises(ValueError, match="MMLU target"):
        score(reply("D"), bad, ())


def test_an_answer_beyond_the_options_raises() -> None:
    with pytest.raises(ValueError, match="answer 4"):
        target(4, ("a", "b", "c", "d"))
