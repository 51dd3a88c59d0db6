"""One answer to a needle's question."""

import pytest
from evidence import response

from tasks.base import Failure, Score
from tasks.needle import Hidden, Target
from tasks.needle_score import score

FOX = Hidden(key="amber fox", identifier="k3m9xw4tzq7h")
OWL = Hidden(key="blue owl", identifier="p8rv2cytd6ne")
BEAR = Hidden(key="green bear", identifier="w5hs7jgk4xbu")
ONE = Target(wanted=(FOX,), distractors=(BEAR,)).text()
TWO = Target(wanted=(FOX, OWL), distractors=(BEAR,)).text()


def mark(text: str | None, target: str = ONE, **fields: object) -> Score:
    got = score(response(text=text, **fields), target, ())
    assert isinstance(got, Score)
    return got


@pytest.mark.parametrize(
    "text",
    [
        "k3m9xw4tzq7h",
        "The secret word of the amber fox is k3m9xw4tzq7h.",
        "**k3m9xw4tzq7h**",
        "_k3m9xw4tzq7h_",
        "`k3m9xw4tzq7h`",
        "暗号是k3m9xw4tzq7h。",
        '{"word": "k3m9xw4tzq7h"}',
        "k3m9xw4tzq7h — that is what the text says",
        "<think>green bear? w5hs7jgk4xbu</think>k3m9xw4tzq7h",
    ],
)
def test_the_identifier_exactly_is_correct(text: str) -> None:
    got = mark(text)
    assert (got.outcome, got.answer) == ("correct", "k3m9xw4tzq7h")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("k3m9xw4tzq7", "k3m9xw4tzq7"),
        ("It is k3m9w4tzq7h.", "k3m9w4tzq7h"),
        ("It is k3m9xw4tzqh7.", "k3m9xw4tzqh7"),
        ("k3m9xw4tzq7hh", "k3m9xw4tzq7hh"),
        ("K3M9XW4TZQ7H", "K3M9XW4TZQ7H"),
        ("k3m9xw 4tzq7h", "k3m9xw 4tzq7h"),
        ("k3m9xw-4tzq7h", "k3m9xw-4tzq7h"),
        ("k3m9xw4tzq7hé", "k3m9xw4tzq7hé"),
    ],
)
def test_one_or_two_characters_off_is_a_near_miss_that_shows_both(text: str, shown: str) -> None:
    got = mark(text)
    assert (got.outcome, got.reason, got.answer) == ("wrong", "near_miss", shown)
    assert got.explanation == f"k3m9xw4tzq7h of amber fox is not, {shown} is"


@pytest.mark.parametrize("text", ["I can't find it.", "k3m9xw4tz", "abck3m9xw4tzq7h", "prefix-k3m9xw4tzq7h", "the amber fox"])
def test_anything_else_is_not_found(text: str) -> None:
    got = mark(text)
    assert (got.outcome, got.reason, got.answer) == ("wrong", "not_found", None)


def test_a_distractor_is_told_apart() -> None:
    got = mark("It is w5hs7jgk4xbu.")
    assert (got.outcome, got.reason, got.answer) == ("wrong", "distractor", "w5hs7jgk4xbu")
    assert got.explanation == "k3m9xw4tzq7h of amber fox is not; w5hs7jgk4xbu is that of green bear"


def test_all_of_several_must_be_there() -> None:
    assert mark("p8rv2cytd6ne and k3m9xw4tzq7h", TWO).outcome == "correct"
    half = mark("amber fox: k3m9xw4tzq7h, blue owl: unknown", TWO)
    assert (half.outcome, half.reason) == ("wrong", "incomplete")
    assert half.explanation == "k3m9xw4tzq7h of amber fox is there; p8rv2cytd6ne of blue owl is not"
    near = mark("k3m9xw4tzq7h, p8rv2cytd6n", TWO)
    assert (near.reason, near.answer) == ("near_miss", "k3m9xw4tzq7h p8rv2cytd6n")
    assert mark("k3m9xw4tzq7h, w5hs7jgk4xbu", TWO).reason == "distractor"


@pytest.mark.parametrize(
    ("text", "fields", "reason"),
    [
        ("", {}, "empty"),
        (None, {"finish_reason": "length", "reasoning": "let me see"}, "truncated_in_thinking"),
        ("Let me go through the text. First", {"finish_reason": "length"}, "truncated"),
        ("k3m9xw4tzq", {"finish_reason": "length"}, "truncated"),
        ("!" * 200, {}, "degenerate"),
    ],
)
def test_no_answer_has_its_reason(text: str | None, fields: dict[str, str], reason: str) -> None:
    got = mark(text, **fields)
    assert (got.outcome, got.reason) == ("no_answer", reason)


def test_an_answer_that_was_cut_after_the_identifier_is_correct() -> None:
    assert mark("It is k3m9xw4tzq7h, and", finish_reason="length").outcome == "correct"


def test_an_answer_in_another_field_is_no_wrong_answer() -> None:
    got = score(response(text=None, reasoning="It is k3m9xw4tzq7h."), ONE, ())
    assert isinstance(got, Failure)


def test_what_is_wanted_stands_last_in_a_target() -> None:
    assert ONE == "green bear≠w5hs7jgk4xbu; amber fox=k3m9xw4tzq7h"
    assert Target.read(TWO) == Target(wanted=(FOX, OWL), distractors=(BEAR,))
