"""Grade-school mathematics: the mark of one response.

A sample asks "Janet's ducks lay 16 eggs per day. … How much does she make every day?"; the dataset's answer field ends in
`#### 18`, and any right rendering of 18 is correct: `$18.00`, `**18**`, `\\boxed{18}`, `答案是18。`.
"""

import re
from decimal import Decimal
from typing import assert_never

from tasks.base import Failure, Marks, Outcome, Response, Score
from tasks.extract import Artefact, NoAnswer, Visible, decimal_text, final_number, finished_number, visible

_TARGET = re.compile(r"####\s*\$?(-?[0-9][0-9,]*(?:\.[0-9]+)?)\s*\Z")


def target_number(answer_field: str) -> Decimal:
    """The number behind `####` in GSM8K's answer field. Raises ValueError with the text where there is none."""
    target = _TARGET.search(answer_field)
    if target is None:
        raise ValueError(f"GSM8K answer field does not end in '#### <number>': {answer_field[-200:]!r}")
    return Decimal(target[1].replace(",", ""))


def score(response: Response, target: str, harness: tuple[Marks, ...]) -> Score | Failure:
    """Mark a response. `target`: the dataset's answer field, or the bare number. Raises ValueError on any other target.

    `harness`: lm-eval's own marks, handed on as they are.
    """
    expected = target_number(target if "####" in target else f"#### {target}")
    view = visible(response)
    match view:
        case Artefact(name=name, message=message):
            return Failure(kind=name, message=message)
        case NoAnswer(reason=reason, warnings=warnings):
            return Score(outcome="no_answer", reason=reason, harness=harness, warnings=warnings)
        case Visible(text=text, warnings=warnings):
            cut = response.finish_reason == "length"
            # A cut chain of thought often stops on a number, at times the right one: only a finished answer counts.
            answer = finished_number(text) if cut else final_number(text)
            if answer is None:
                missing = "truncated" if cut else "nothing_to_extract"
                return Score(outcome="no_answer", reason=missing, harness=harness, warnings=warnings)
            outcome: Outcome = "correct" if answer == expected else "wrong"
            return Score(outcome=outcome, answer=decimal_text(answer), harness=harness, warnings=warnings)
        case _:
            assert_never(view)
