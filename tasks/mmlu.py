"""Multiple-choice questions over 57 subjects: the mark of one response.

A sample asks "Which of these is a noble gas?", lists `A. nitrogen` to `D. neon`, and ends in `Answer:`; the target is `D` with
the options below it, and any clear statement of D is correct: `D`, `**(D)**`, `The answer is D because …`, `故选D`, `Neon.`.
"""

from typing import assert_never

from tasks.base import Failure, Marks, Outcome, Response, Score
from tasks.choices import LETTERS, UNKNOWN, final_choice, finished_choice
from tasks.extract import Artefact, NoAnswer, Visible, visible


def target(answer: int, options: tuple[str, ...]) -> str:
    """What a sample is marked by: the letter of the right option, and below it every option on a line of its own."""
    if not 0 <= answer < len(options) <= len(LETTERS):
        raise ValueError(f"answer {answer} is none of {len(options)} options")
    lines = [f"{letter}. {' '.join(option.split())}" for letter, option in zip(LETTERS, options, strict=False)]
    return "\n".join([LETTERS[answer], *lines])


def score_likelihoods(response: Response, target: str, harness: tuple[Marks, ...]) -> Score | Failure:
    """Mark a response to the same question whose four letters were asked by log-probability: the likeliest is the answer.

    Of two that are equally likely the first, as lm-eval has it.
    """
    told = [choice.logprob for choice in response.likelihoods or ()]
    if not told:
        return Failure(kind="no_logprobs", message="no_logprobs: the response holds none")
    answer = LETTERS[told.index(max(told))]
    return Score(outcome="correct" if answer == target[0] else "wrong", answer=answer, harness=harness)


def score(response: Response, target: str, harness: tuple[Marks, ...]) -> Score | Failure:
    """Mark a response. `target`: as `target()` writes it, or the bare letter. Raises ValueError on any other.

    `harness`: lm-eval's own marks, handed on as they are.
    """
    expected, *lines = target.split("\n")
    options = tuple(line[3:] for line in lines) or UNKNOWN
    if len(expected) != 1 or expected not in LETTERS[: len(options)]:
        raise ValueError(f"MMLU target does not begin with a letter of its options: {target[:200]!r}")
    view = visible(response)
    match view:
        case Artefact(name=name, message=message):
            return Failure(kind=name, message=message)
        case NoAnswer(reason=reason, warnings=warnings):
            return Score(outcome="no_answer", reason=reason, harness=harness, warnings=warnings)
        case Visible(text=text, warnings=warnings):
            cut = response.finish_reason == "length"
            # A cut answer may still be going through the options: only what is finished counts.
            answer = finished_choice(text, options) if cut else final_choice(text, options)
            if answer is None:
                missing = "truncated" if cut else "nothing_to_extract"
                return Score(outcome="no_answer", reason=missing, harness=harness, warnings=warnings)
            outcome: Outcome = "correct" if answer == expected else "wrong"
            return Score(outcome=outcome, answer=answer, harness=harness, warnings=warnings)
        case _:
            assert_never(view)
