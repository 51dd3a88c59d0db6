"""The first gate against harness artefacts: what may be marked, what is a loop, which number an answer ends on."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.base import Response
from tasks.extract import (
    Artefact,
    NoAnswer,
    Visible,
    decimal_text,
    final_number,
    finished_number,
    visible,
)


def reply(
    text: str | None,
    *,
    reasoning: str | None = None,
    finish: str | None = "stop",
    reasoning_tokens: int | None = None,
    asked: bool | None = None,
) -> Response:
    return Response(
        text=text,
        reasoning=reasoning,
        finish_reason=finish,
        token_ids=None,
        prompt_ids_sha=None,
        top_two=None,
        prompt_tokens=30,
        completion_tokens=100,
        reasoning_tokens=reasoning_tokens,
        latency_s=0.1,
        fingerprint=None,
        asked_to_think=asked,
    )


# ---- what is visible


# vllm 30445
SALAD = 'The question: "What isIs \'the\'s capital the capital of ? ??" \'scapital?"the?the"????"?" thecapital??"is\'the'


@pytest.mark.parametrize(
    ("response", "text"),
    [
        pytest.param(reply("18", reasoning="16-7=9; 9*2=18"), "18", id="rename-new"),
        pytest.param(reply("  18\n"), "  18\n", id="white space at the end is kept"),
        pytest.param(reply("no no"), "no no", id="short"),
        pytest.param(reply("a < b and c > d"), "a < b and c > d", id="angle brackets"),
    ],
)
def test_ordinary_content_is_shown_as_it_is(response: Response, text: str) -> None:
    assert visible(response) == Visible(text=text)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>9*2=18</think>\n18", "18"),
        ("<think>\n\n</think>\n\n18", "18"),
        ("9*2 is 17, no, 18</think>\n\nIt is 18.", "It is 18."),  # the template began the thought
        ("<think>a</think>It is <think>b 7</think>18", "It is 18"),
        ("<think>a <think>b</think> 7</think> 18", "18"),
        ("<think>a</think> 18 </think>", "18 "),
        ("[THINK]7[/THINK]18", "18"),
        ("<thinking>7</thinking>18", "18"),
        ("◁think▷7◁/think▷18", "18"),
        ("18 <think>or is it 7", "18 "),
    ],
)
def test_a_thought_in_the_content_is_removed_and_reported(content: str, text: str) -> None:
    assert visible(reply(content)) == Visible(text=text, warnings=("think_tag_in_content",))


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        pytest.param(reply(None, reasoning="16-3-4=9, then", finish="length"), "truncated_in_thinking", id="trunc-new"),
        pytest.param(reply("<think>maybe 18? check with 7", finish="length"), "truncated_in_thinking", id="think-leak-open"),
        pytest.param(reply("<think>maybe 18? check with 7"), "truncated_in_thinking", id="open, stopped"),
        pytest.param(reply("So 18. <think>check 7", finish="length"), "truncated_in_thinking", id="text, then open"),
        pytest.param(reply("<think>18</think>", finish="length"), "truncated_in_thinking", id="closed at the limit"),
        pytest.param(reply("", finish="length", reasoning_tokens=90), "truncated_in_thinking", id="thought dropped by parser"),
        pytest.param(reply("<think>18</think>\n"), "empty_after_thinking", id="only a thought"),
        pytest.param(reply("so it is 18</think>"), "empty_after_thinking", id="only a thought the template began"),
        pytest.param(reply("", reasoning_tokens=90), "empty_after_thinking", id="thought dropped by parser, stopped"),
        pytest.param(reply(None, reasoning="so 18", asked=True), "empty_after_thinking", id="asked to think"),
        pytest.param(reply(None), "empty", id="null"),
        pytest.param(reply(" \n"), "empty", id="blank"),
        pytest.param(reply("", reasoning="\n\n"), "empty", id="blank reasoning"),
        pytest.param(reply(None, finish=None), "empty", id="no finish reason"),
        pytest.param(replace(reply("", finish="length"), token_ids=(0,) * 256), "degenerate", id="special tokens, cut"),
        pytest.param(replace(reply(None), token_ids=(0, 1) * 20), "degenerate", id="special tokens, ended"),
        pytest.param(replace(reply("", finish="length"), token_ids=tuple(range(256))), "empty", id="what is not shown"),
        pytest.param(replace(reply(""), token_ids=(2,)), "empty", id="the end alone"),
        pytest.param(reply(SALAD, finish="length"), "degenerate", id="word-salad"),
        pytest.param(reply("好的" * 12, finish="length"), "degenerate", id="han-repeat"),
        pytest.param(reply("<think>hm</think>" + "!" * 60, finish="length"), "degenerate", id="after a thought"),
        pytest.param(reply(None, reasoning="!" * 200), "degenerate", id="garbage is no answer in the reasoning field"),
    ],
)
def test_nothing_to_mark_has_its_reason(response: Response, reason: str) -> None:
    view = visible(response)
    assert isinstance(view, NoAnswer)
    assert view.reason == reason


@pytest.mark.parametrize("content", [None, "", "\n\n"])
def test_an_answer_in_the_reasoning_field_is_the_harness_not_the_model(content: str | None) -> None:
    view = visible(reply(content, reasoning="0.8 > 0.11, so 9.8 is the larger number."))
    assert isinstance(view, Artefact)
    assert view.name == "answer_in_reasoning_field"


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_with_thinking_off_nothing_in_the_reasoning_field_is_a_thought(finish: str) -> None:
    """`raise max_tokens` would be the wrong advice; nor is it marked, for nobody's client sees it."""
    view = visible(reply(None, reasoning="9.8 is the larger number", finish=finish, asked=False))
    assert isinstance(view, Artefact)
    assert "thinking is off: check the arm's reasoning parser" in view.message


def test_an_answer_read_as_a_tool_call_is_the_harness_not_the_model() -> None:
    view = visible(reply(None, finish="tool_calls"))
    assert isinstance(view, Artefact)
    assert view.name == "answer_in_tool_calls"


@pytest.mark.timeout(600)  # linear time takes a second; a pattern that backtracks takes hours
@pytest.mark.slow
def test_megabytes_of_tags_are_read_in_linear_time() -> None:
    visible(reply("<think>a</think>b" * 120_000))
    visible(reply("<think>" * 280_000))
    visible(reply("</think>a" * 220_000))


# ---- which number


NUMBERS = [
    # The published artefacts.
    ("The answer is **18**.", "18"),
    ("**Answer: \\$18 per day.**", "18"),
    ("The answer is 18...", "18"),
    ("The total is 18.00", "18"),
    ("#### 18 dollars\n\nQuestion: next 5", "18"),
    ("答案是18。每个2美元", "18"),
    ("The answer is １８", "18"),
    ("It costs 1 800 dollars", "1800"),
    # Plain endings.
    ("18", "18"),
    ("= 18", "18"),
    ("$18.", "18"),
    ("**18**", "18"),
    ("`18`", "18"),
    ("Therefore, 18 dollars.", "18"),
    ("18 apples and 3 pears", "3"),
    ("Total: 18 eggs/day", "18"),
    ("| total | 18 |", "18"),
    ("The answer is approx. 18", "18"),
    ("18 %", "18"),
    ("18\\%", "18"),
    ("That is 18…", "18"),
    ("所以一共是18个苹果。", "18"),
    ("一共十六个，卖了18美元！", "18"),
    # Signs.
    ("5-3", "3"),
    ("(2)-3", "3"),
    ("The answer is -5", "-5"),
    ("The answer is −5.", "-5"),
    ("-$5", "-5"),
    ("$-5$", "-5"),
    ("It fell to ($ -5)", "-5"),
    ("答案是-5", "-5"),
    ("温度是−5度", "-5"),
    ("- 5 apples", "5"),
    # Currency, thousands, decimals.
    ("USD18", "18"),
    ("US$18", "18"),
    ("€ 18", "18"),
    ("￥18", "18"),
    ("$1,800", "1800"),
    ("Thus the answer is 1,800.50", "1800.5"),
    ("1\u00a0800 €", "1800"),
    ("1\u202f800 €", "1800"),
    ("1\u2009800 €", "1800"),
    ("12 345 678", "12345678"),
    ("１，８００円", "1800"),
    ("\\$1{,}800", "1800"),
    ("$1\\,800$", "1800"),
    ("3 10", "10"),
    ("1234 567", "567"),
    ("She counted 1, 2, 3", "3"),
    ("1\n800", "800"),
    ("The answer is .5", "0.5"),
    ("1\u200b8", "18"),
    # LaTeX.
    ("The answer is: \\(18\\)", "18"),
    ("Answer:\n\\[\n18\n\\]", "18"),
    ("Answer:\n$$\n18\n$$", "18"),
    ("The final answer is $\\boxed{18}$. It took 3 steps.", "18"),
    ("\\boxed{18\\text{ m}^2}", "18"),
    ("\\boxed{\\text{\\$18 per day}}", "18"),
    ("\\boxed{9 \\times 2 = 18}", "18"),
    ("\\boxed{7}\nWait.\n\\boxed{18}", "18"),
    ("\\boxed{18}\nSo \\boxed{\\text{done}} in 3", "18"),
    ("\\boxed{\\frac{1}{2}}", "0.5"),
    # Units are no numbers.
    ("The area is 18 m²", "18"),
    ("The area is 18 m^2", "18"),
    ("The area is 18 m^{2}", "18"),
    ("18 g of CO2", "18"),
    # Fractions and equations.
    ("The answer is 1/2", "0.5"),
    ("Answer: 1 1/2 cups", "1.5"),
    ("The answer is 1½", "1.5"),
    ("Answer: 18/2 = 9", "9"),
    ("Answer: 9 * 2 = 18 dollars, in 3 days", "18"),
    ("The answer is 9 eggs × $2 = $18", "18"),
    ("Answer: 18 (that is 9*2)", "18"),
    ("Answer: 18 (as 9*2 = 18, and 16-7=9)", "18"),
    ("Answer: x = 18", "18"),
    # Markers, and what comes after them.
    ("### Answer\n18", "18"),
    ("**Final Answer**\n\n18 dollars\n\nThis took 3 steps.", "18"),
    ("**Answer**: 18\n\nNote: 2 eggs are left.", "18"),
    ("Answer (in dollars): 18. In 2 weeks more.", "18"),
    ("The answer to the question is 18, not 7.", "18"),
    ("The answer would be 18 or so, in 3 days", "18"),
    ("The answer is 7. No. The answer is 18. She has 4 cats.", "18"),
    ("答：3天一共走了12千米。", "12"),
    ("3*4=12\n答：3天一共走了12千米。", "12"),
    ("答案：3天后他还剩12个。", "12"),
    ("答：18美元，每个2美元", "18"),
    ("**Answer:** After 3 days, he has **12** left.", "12"),
    ("12*3=36\nAnswer: In 3 days, he earns $36.", "36"),
    ("Answer: The 3 friends each get 12 apples.", "12"),
    ("Answer: Since Betty has $50, she needs $5 more.", "5"),
    ("Answer: 18 dollars for 3 boxes", "18"),
    ("Answer: She sells 9 eggs for $2 each, so 9*2 = 18", "18"),
    ("The answer is 2^10 = 1024.", "1024"),
    ("The answer is not 12 but 18.", "18"),
    ("答案是3乘以5等于15。", "15"),
    ("答案是12万", "120000"),
    ("答案是1.2万", "12000"),
    ("Final answer: 18\nAnswer: 7", "18"),
    ("The answer is simple. There are 3 dogs and 15 cats, so 18 pets.", "18"),
    ("The answer is that she makes $18 per day. That is for 9 eggs.", "18"),
    ("Answer: She sells 16 - 7 = 9 eggs a day.\nShe makes 9 * 2 = $18 a day.\n\nQuestion: 5?", "18"),
    ("答案：18元", "18"),
    ("答案为：18元，每个2元", "18"),
    ("答案：每天18美元。每个2美元", "18"),
    ("最终答案是 **18** 。单价 2 元", "18"),
    ("### 答案\n18\n\n共3步", "18"),
    # `####`, the dataset's own.
    ("####18", "18"),
    ("#### **18**", "18"),
    ("#### \\$1,800\n#### 7", "1800"),
    ("#### -18", "-18"),
    ("The answer is 7\n#### 18", "18"),
    ("#### Step 1: count 16 eggs\n#### 18", "18"),
    ("#### 1. Find the eggs\n16-7=9\n#### 2. Find the money\nShe makes $18.", "18"),
    ("#### 18. That is for 9 eggs", "18"),
    ("### 18\nfor 9", "9"),
    # Thousands of every kind.
    ("It costs 1'800 dollars", "1800"),
    ("CHF 1’234’567.50", "1234567.5"),
    ("1_800", "1800"),
    ("1\u2007800", "1800"),
    ("1\u2002800", "1800"),
    ("1&nbsp;800", "1800"),
    ("1&#8239;800", "1800"),
    ("1.800.000", "1800000"),
    ("1.800,50 Euro", "1800.5"),
    ("12,34,567 rupees", "1234567"),
    ("1,00,000", "100000"),
    ("1٬800", "1800"),
    ("In 2019, 300 men", "300"),
    ("3.14", "3.14"),
    ("1.800", "1.8"),
    ("he said '18'", "18"),
    ("it's 5'300", "5300"),
    # Signs.
    ("The answer is –18", "-18"),
    ("The answer is ‒18", "-18"),
    ("The answer is ‑18", "-18"),
    ("The answer is ﹣18", "-18"),
    ("The answer is －18", "-18"),
    ("#### –18", "-18"),
    ("pages 3–5", "5"),
    ("3 – 5", "5"),
    ("The answer is negative 18", "-18"),
    ("The answer is minus $18", "-18"),
    ("16 minus 7 is 9", "9"),
    ("sixteen minus 7", "7"),
    ("答案是负18度", "-18"),
    ("胜负18场", "18"),
    # Currencies and percent.
    ("₩1,800", "1800"),
    ("-₽18", "-18"),
    ("18¢", "18"),
    ("18％", "18"),
    # Fractions.
    ("The answer is 3 ½", "3.5"),
    ("The answer is ⅝", "0.625"),
    ("The answer is 1⁄2", "0.5"),
    ("\\boxed{\\frac12}", "0.5"),
    ("\\boxed{-\\frac{1}{2}}", "-0.5"),
    ("\\boxed{3\\frac{1}{2}}", "3.5"),
    ("5-\\frac{1}{2}", "0.5"),
    # What states the answer.
    ("<answer>18</answer>\nI used 3 steps.", "18"),
    ('{"answer": "18", "steps": 3}', "18"),
    ('{"final_answer": 18, "confidence": 0.95}', "18"),
    ("The final result is 18. In 3 steps", "18"),
    ("答：18美元。每个2美元", "18"),
    ("答：**18**", "18"),
    ("16-7=9, 9*2=18\n答：她3天一共赚18美元。共2步", "18"),
    ("答：有16个。吃了3个。剩13个。", "13"),
    ("【答案】18\n【解析】9×2=18，共3步。还有7", "18"),
    ("最终结果是18。用了2步", "18"),
    # And what comes after it.
    ("18\n\nQuestion: How many are 5?\nAnswer: 9", "18"),
    ("The answer is 18.\nUser: and 7+7?\nAssistant: The answer is 14.", "18"),
    ("The answer is 18.<|im_end|>\n<|im_start|>user\nThe answer is 7?", "18"),
    ("答案是18。\n\n问题：小红有5个\n答案：5", "18"),
    ("Question: what are 9 * 2?\nThat is 18", "18"),
    ("Let me tell it again, in 3 steps.\nQuestion: what are 9 * 2?\nAnswer: 18", "18"),
]


@pytest.mark.parametrize(("text", "number"), NUMBERS)
def test_the_number_an_answer_ends_on(text: str, number: str) -> None:
    assert final_number(text) == Decimal(number)


@pytest.mark.parametrize("text", ["", "no number", "H2O", "#### ", "\\boxed{}", "答案是", "9" * 41, "$", "-", "...", "x^2"])
def test_no_number_is_none(text: str) -> None:
    assert final_number(text) is None


def test_forty_digits_are_kept_exactly() -> None:
    digits = "1234567890" * 4
    assert final_number(f"So 5, or -{digits}") == Decimal(f"-{digits}")
    assert final_number(f"So 5, or {digits}1") == 5


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("#### 18\n", "18"),
        ("#### 18 dollars", "18"),
        ("#### 18.\n\nQuestion: 5", "18"),
        ("\\boxed{18}", "18"),
        ("\\boxed{18}\n#### 1", "18"),
        ("#### 18", None),
        ("#### 18.", None),
        ("#### 1,", None),
        ("\\boxed{18", None),
        ("\\boxed{18 \\text{ dol", None),
        ("The answer is 18. ", None),
        ("9 * 2 = 18", None),
    ],
)
def test_a_number_is_finished_when_nothing_to_come_could_change_it(text: str, number: str | None) -> None:
    assert finished_number(text) == (None if number is None else Decimal(number))


@given(st.text(), st.text(alphabet="0123456789.,-$/ #=*{}\\\n答案是：answer boxed²½−"))
@settings(max_examples=300)
def test_reading_a_number_never_raises(anything: str, crafted: str) -> None:
    final_number(anything)
    finished_number(anything)
    final_number(crafted)
    finished_number(crafted + anything)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=2))
def test_a_number_survives_every_rendering(value: Decimal) -> None:
    for text in (f"#### {value}", f"The answer is **{value}**.", f"\\boxed{{{value}}}", f"{value:,}", f"答案是{value}。共2个"):
        assert final_number(text) == value
    assert Decimal(decimal_text(value)) == value


@pytest.mark.parametrize(("value", "text"), [("18.00", "18"), ("-0.0", "0"), ("1800", "1800"), ("0.50", "0.5"), ("-5", "-5")])
def test_decimal_text_is_plain(value: str, text: str) -> None:
    assert decimal_text(Decimal(value)) == text


HOSTILE = [
    "1,111",
    "1 111 ",
    "####  ",
    "#### 1. a\n",
    "answer is ",
    "\\boxed{",
    "\u0316\u0301",
    "1/",
    "1 1/",
    "final answer to ",
    "答案",
    "9",
]


@pytest.mark.slow
@pytest.mark.timeout(600)  # linear time takes a second; a quadratic one takes hours
@pytest.mark.parametrize("unit", HOSTILE)
def test_megabytes_take_linear_time(unit: str) -> None:
    final_number(unit * (2_000_000 // len(unit.encode())))
