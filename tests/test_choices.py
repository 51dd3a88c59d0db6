"""Which choice an answer names, in many wordings, and what names none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.choices import LETTERS, final_choice, finished_choice

CITIES = ("Paris", "London", "New York", "Rome, in Italy")
CELLS = ("B cells", "D-glucose", "10", "10.5")

STATED = {
    "B": "B",
    " b ": "B",
    "B.": "B",
    "(B)": "B",
    "（Ｂ）": "B",
    "**C**": "C",
    "__C__": "C",
    "`C`": "C",
    "Ⓒ": "C",
    "[D]": "D",
    "The answer is (B).": "B",
    "the answer is b.": "B",
    "The answer is B because it is wet.": "B",
    "The correct answer is **B. London**.": "B",
    "The correct answer is therefore: D": "D",
    "The best answer to this question is C.": "C",
    "The answer is option C": "C",
    "The correct option is (C), since A is in France.": "C",
    "Answer: **C**": "C",
    "**Answer:** C": "C",
    "Answer: C. New York": "C",
    "Answer - no, wait: nothing.\nAnswer = D": "D",
    "Answer:\n\nB": "B",
    "### Answer\nB": "B",
    "Answer B": "B",
    "ANSWER: A": "A",
    "Answer → D": "D",
    "(D) because it is south": "D",
    "D: because it is south": "D",
    "D, because it is south": "D",
    "D) Rome, in Italy": "D",
    "A. Paris": "A",
    "A because Paris is in France": "A",
    "C\n\nExplanation: A is in France, B is in England.": "C",
    "It lies on the Thames.\n\n**B**": "B",
    "It lies on the Thames.\n\nB. London": "B",
    "I would go with C.": "C",
    "I choose (d)": "D",
    "I'd pick option B, though A is close.": "B",
    "Both A and C are on rivers. The answer is C.": "C",
    "A is wrong. B is correct.": "B",
    "Option B is the best choice.": "B",
    "Option C is the answer.": "C",
    "It can't be A, so the answer is D.": "D",
    "I'm not sure but the answer is B": "B",
    "If the answer is A, all is lost. The answer is D.": "D",
    "Therefore, B.": "B",
    "So it is (B)": "B",
    "\\boxed{C}": "C",
    "$\\boxed{\\text{(C)}}$": "C",
    "\\[\\boxed{\\mathbf{C}}\\]": "C",
    "\\boxed{\\text{C. New York}}": "C",
    "\\boxed{New York}": "C",
    "The answer is A, at first sight. \\boxed{C}": "C",
    "So the answer is A. Wait. Final answer: B": "B",
    "The final answer is $\\boxed{D}$.": "D",
    "A. France\nB. England\nC. America\nD. Italy\n\nAnswer: D": "D",
    "Let me see.\nA) no\nB) yes\nC) no\nD) no\nThe answer is B.": "B",
    "Answer: B\n\nQuestion: What next?\nA. this\nB. that\nAnswer: C": "B",
    "B\n\nQ: What next?\nAnswer: C": "B",
    "答案是 B": "B",
    "答案是B。因为伦敦在英国": "B",
    "答案：Ｃ": "C",
    "正确答案为：A": "A",
    "答案应为 (D)": "D",
    "最终答案：**C**": "C",
    "正确的选项是C,不是A": "C",
    "选B": "B",
    "故选 B。": "B",
    "故选：B": "B",
    "综上，故选:B．": "B",
    "因此,应选择D": "D",
    "不选A,选C": "C",
    "选项B错误,选项C正确。": "C",
    "D项是正确的": "D",
    "所以 B。": "B",
    "如果选A,则不对。答案是D": "D",
    "London": "B",
    "london.": "B",
    "It is London.": "B",
    "That's New York.": "C",
    "The answer is London.": "B",
    "The answer is New York, since it has ten million people.": "C",
    "It lies on the Thames.\n\nLondon": "B",
    "答案是London": "B",
    "The correct answer is:\n\n**C. New York**\n\nExplanation: It is big. A is not.": "C",
    "To determine this, look.\n\n**Answer: B. London**": "B",
    "**Correct answer: B**": "B",
    "The answer: (B)": "B",
    "Based on this, the correct choice would be **(B)**.": "B",
    "Therefore, the correct answer is:\n\n\\[\n\\boxed{B}\n\\]": "B",
    "✅ **Correct Answer: B. London**": "B",
    "### ✅ Answer: B": "B",
    "Ans: B": "B",
    "My answer: B": "B",
    "Correct: B": "B",
    "Option (B) is correct": "B",
    "(B) London is correct.": "B",
    "B) London is the correct answer.": "B",
    "Hence, option B is the correct answer": "B",
    "Thus, B is correct": "B",
    "The correct statement is B.": "B",
    "答案是选项B": "B",
    "综上所述,答案是B": "B",
    "因此,正确答案是:**B**": "B",
    "本题选B": "B",
    "B选项正确": "B",
    "正确答案:B. 伦敦": "B",
    "我认为是B": "B",
    "应该选B": "B",
    "答案为:\\boxed{B}": "B",
    "故答案为B": "B",
    "故本题正确答案为 B": "B",
    "The answer is not A, B, or C, so it's D.": "D",
    "The options:\n\n- A. Paris: incorrect.\n- B. London: correct.\n- C. New York: no.\n\nThe correct option is **B**.": "B",
    "Let's analyze:\n\n**A. Paris** – wrong\n**B. London** – right\n\n---\n\n### Final Answer: **B. London**": "B",
    "**B**\n\nThe reason is that A is a city in France.": "B",
    "The answer is **B) London**.\n\nA) Paris is wrong because\nC) New York is wrong because": "B",
    "B. London\n\nA is wrong.": "B",
    "**B. London**\n\n**Explanation:**\n\nA. Paris is in France.\nC. New York is in America.": "B",
    "The answer is (D): Rome, in Italy.": "D",
    "Answer: B (London)": "B",
    "Answer: [B]": "B",
    "Answer is B": "B",
    "answer:B": "B",
    "<answer>B</answer>": "B",
    'Answer: "B"': "B",
    "The answer is ‘B’.": "B",
    "The correct answer is choice B.": "B",
    "The correct letter is B": "B",
    "So the answer must be B!": "B",
    "The answer would have to be B.": "B",
    "I think the answer is B, but I'm not certain.": "B",
    "The best answer is: B": "B",
    "The answer is C) New York": "C",
    "The answer is A": "A",
    "The answer is A, Paris.": "A",
    "The answer is A - Paris": "A",
    "A - Paris": "A",
    "The answer is A) Paris": "A",
    "Paris (A)": "A",
    "London (B).": "B",
    "The capital is London, so the answer is B. Let me know if you'd like more details about option A or C.": "B",
    '{"answer": "B"}': "B",
    '```json\n{"answer": "B"}\n```': "B",
    "Answer:B\nConfidence: 90%": "B",
    "The answer is:\nB": "B",
    "答案选择B": "B",
    "选 (B)": "B",
    "这道题的答案应该是B。": "B",
    "答案是B,而不是A": "B",
    "答：B": "B",
    "答：选B。因为A错": "B",
    "【答案】B\n【解析】A错误": "B",
    "选项是B": "B",
    "正确的是B": "B",
    "B，因为伦敦在英国": "B",
    "答案是B，C是错的": "B",
    "The answer is B, A is in France.": "B",
    "The answer is <b>B</b>": "B",
    "_B_": "B",
    "\\boxed{\\text{Option B}}": "B",
    "\\boxed{\\textbf{(B)}\\ London}": "B",
    "Option B.": "B",
    "Choice B": "B",
    "B!": "B",
    "b. London": "B",
    "I think it's B.": "B",
    "It is (C)": "C",
    "Correct answer - B": "B",
    "B<|im_end|>\n<|im_start|>user\nAnswer: C": "B",
    "The answer is B.\nUser: next?\nAssistant: The answer is C.": "B",
}


@pytest.mark.parametrize(("text", "letter"), STATED.items())
def test_a_stated_choice_is_read(text: str, letter: str) -> None:
    assert final_choice(text, CITIES) == letter


NOTHING = [
    "",
    "I do not know.",
    "A good example is the Seine.",
    "A city on a river.",
    "The answer is A good example of that.",
    "The answer is a matter of taste.",
    "The answer is not A.",
    "The answer isn't B.",
    "The answer cannot be C",
    "If the answer is A, all is lost.",
    "Whether option B is correct I do not know.",
    "B is incorrect.",
    "B is not correct.",
    "I would not choose B.",
    "E",
    "The answer is E.",
    "The answer is A or B.",
    "The answer is either (A) or (C)",
    "Answer: A, C",
    "A/B",
    "B and C",
    "A and D are correct",
    "So the answer is A. Wait, the answer is B.",
    "\\boxed{A} or \\boxed{B}",
    "\\boxed{A}. The final answer is B.",
    "B. Paris",
    "Answer: C. London",
    "C++ is a language.",
    "A-levels are taken at eighteen.",
    "Vitamin D",
    "I",
    "Dr. B said so.",
    "A. Paris lies in France.\nB. London lies in England.",
    "Option A: it is in France\nOption B: it is in England",
    "C is a language.",
    "Paris or London",
    "It is not London.",
    "Parisian",
    "答案是 A 或 B",
    "不能选B",
    "不选A",
    "选项B错误",
    "如果选A,则不对",
    "B不正确",
    "A和B都正确吗",
    "答案不是A",
    "Options A and B are both plausible.",
    "I cannot determine the answer.",
    "The answer depends on A.",
    "The answer is that B cells multiply",
    "The answer is a Paris landmark",
    "The answer lies between B and C.",
    "It's a tie between A and B",
    "Which option is A?",
    "答案可能是A或者B",
    "None of the above",
    "I don't think it's B.",
    "Whether it is B",
    "It is A good example",
    "答：B或者C",
    "选项A是错的",
    "下列说法正确的是：",
    "Answer - a matter of taste",
    "b. Paris",
    "Option B: it is in England",
    "The answer is B, C",
]


@pytest.mark.parametrize("text", NOTHING)
def test_what_states_no_one_choice_is_left_alone(text: str) -> None:
    assert final_choice(text, CITIES) is None


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer is B cells.", "A"),
        ("B cells", "A"),
        ("The answer is D-glucose", "B"),
        ("The answer is B.", "B"),
        ("The answer is 10.", "C"),
        ("The answer is 10.5", "D"),
        ("10.5.", "D"),
        ("The answer is 10.57", None),
    ],
)
def test_an_option_that_begins_like_a_letter_or_another_option_is_told_apart(text: str, letter: str | None) -> None:
    assert final_choice(text, CELLS) == letter


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        ("B. F. Skinner", ("William James", "Wilhelm Wundt", "B. F. Skinner", "Carl Rogers"), "C"),
        ("HI", ("H2S", "HI", "HBr", "H2O"), "B"),
        ("The correct answer is Only (II)", ("Only (II)", "Only (IV )", "(I) and (IV )", "(II) and (III)"), "A"),
        ("The correct answer is " + "long " * 200 + "end.", ("long " * 200 + "end", "short", "x", "y"), "A"),
    ],
)
def test_options_as_mmlu_has_them(text: str, options: tuple[str, ...], letter: str) -> None:
    assert final_choice(text, options) == letter


def test_two_options_of_one_text_are_no_answer_but_their_letters_are() -> None:
    same = ("one", "two", "one", "three")
    assert final_choice("The answer is one.", same) is None
    assert final_choice("C. one", same) == "C"


def test_an_option_that_is_a_letter_does_not_hide_the_letters() -> None:
    assert final_choice("The answer is B.", ("B", "A", "D", "C")) == "B"


@pytest.mark.parametrize("letter", LETTERS)
def test_ten_options_reach_to_j(letter: str) -> None:
    ten = ("",) * 10
    for text in (letter, f"The answer is ({letter}).", f"答案是{letter}", f"\\boxed{{{letter}}}", f"Answer: {letter}"):
        assert final_choice(text, ten) == letter
    assert final_choice("I think that nothing fits.", ten) is None
    assert final_choice("The answer is I think unclear.", ten) is None


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("\\boxed{B} Let me check", "B"),
        ("\\boxed{B", None),
        ("B\n\nExplanation: A is in", "B"),
        ("Answer: B\n\nA is in", "B"),
        ("B\n\nBut the answer is C", None),
        ("B", None),
        ("The answer is B", None),
        ("It lies on the Thames.\nThe answer is B. Or", None),
        ("A. Paris lies", None),
    ],
)
def test_of_a_cut_answer_only_what_is_finished_counts(text: str, letter: str | None) -> None:
    assert finished_choice(text, CITIES) == letter


@given(st.text(alphabet="ABab()[].,:;*\\{}$\n 答案是选boxed answer", max_size=200))
@settings(max_examples=100)
def test_any_text_is_read_without_a_fault(text: str) -> None:
    assert final_choice(text, CITIES) in {None, *"ABCD"}
    assert finished_choice(text, CITIES) in {None, *"ABCD"}


@pytest.mark.timeout(60)  # linear time takes seconds; a pattern that backtracks takes hours
@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["answer to ", "the answer is (", "\\boxed{", "A\n", "选", "A, B and ", "(" * 50, "\n \n", "is "]
)
def test_long_texts_are_read_in_linear_time(piece: str) -> None:
    final_choice(piece * (200_000 // len(piece)), CITIES)
