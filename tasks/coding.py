"""Fifty programs to write, each run in a container and judged by what it returns. pass@1 on real execution.

A sample asks "Write a class `MinStack` …" with the signature; the program of the answer (code_block.py says which block that
is) is run in the sandbox with every step of every check, and `score` compares the transcript with what is right.
"""

import random
from dataclasses import dataclass
from typing import assert_never

from sandbox.transcript import End, Transcript
from tasks import code_block
from tasks.base import Failure, Language, Message, Outcome, Response, Sample, Score
from tasks.extract import Artefact, NoAnswer, Visible, visible
from tasks.problem import NOTHING, Problem, first_mismatch
from tasks.problem_set import Posed

_ASK: dict[Language, str] = {
    "en": "{text}\n\nIts signature:\n\n```python\n{signature}\n```\n\n"
    "Use Python 3.11 and its standard library only. Answer with the complete program in one Python code block.",
    "zh": "{text}\n\n其签名为：\n\n```python\n{signature}\n```\n\n"
    "仅使用 Python 3.11 及其标准库。请将完整的程序放在一个 Python 代码块中作答。",
}


def samples(posed: dict[str, Posed], language: Language, seed: int) -> tuple[Sample, ...]:
    """Every problem as one user message, in a seeded order that a smaller n cuts."""
    order = list(posed.values())
    random.Random(seed).shuffle(order)
    return tuple(_sample(p, language) for p in order)


def _sample(posed: Posed, language: Language) -> Sample:
    of = posed.problem
    asked = Message(role="user", content=prompt(of, language))
    return Sample(id=of.id, messages=(asked,), target=f"{len(posed.wanted)} checks", group=of.category)


def prompt(of: Problem, language: Language) -> str:
    """All that is asked for a problem."""
    text = (of.en if language == "en" else of.zh).strip()
    if of.signature:
        text = _ASK[language].format(text=text, signature=of.signature.strip())
    return text


@dataclass(frozen=True, kw_only=True)
class Program:
    code: str
    warnings: tuple[str, ...]
    """Artefacts seen on the way to it."""


def program(response: Response, of: Problem) -> Program | Score | Failure:
    """The program that an answer holds, else why there is none: a mark, or a failure of the harness."""
    view = visible(response)
    match view:
        case Artefact(name=name, message=message):
            return Failure(kind=name, message=message)
        case NoAnswer(reason=reason, warnings=warnings):
            return Score(outcome="no_answer", reason=reason, warnings=warnings)
        case Visible(text=text, warnings=warnings):
            cut = response.finish_reason == "length"
            block = code_block.program(text, of.entry)
            if block is None or (cut and not block.closed):
                return Score(outcome="no_answer", reason="truncated" if cut else "nothing_to_extract", warnings=warnings)
            return Program(code=block.code, warnings=warnings)
        case _:
            assert_never(view)


def settled(posed: Posed, seen: Transcript) -> bool:
    """Whether a program that did not finish had gone wrong before: a second try would tell nothing new."""
    mismatch = first_mismatch(posed.problem, posed.problem.checks(), posed.wanted, seen)
    return mismatch is not None and mismatch.got != NOTHING


def score(posed: Posed, program: Program, seen: Transcript) -> Score:
    """The mark of a program, from what was seen of it."""
    mismatch = first_mismatch(posed.problem, posed.problem.checks(), posed.wanted, seen)
    reason, explanation = None, None
    if mismatch is not None and mismatch.got != NOTHING:
        reason, explanation = "failed_check", str(mismatch)
    elif mismatch is not None or seen.end != "finished":
        where = f"check {mismatch.check}: {mismatch.step}: " if mismatch and seen.end != "load_failed" else ""
        reason, explanation = _REASONS[seen.end], f"{where}{seen.detail or seen.end}"
    outcome: Outcome = "wrong" if reason else "correct"
    return Score(outcome=outcome, reason=reason, answer=program.code, explanation=explanation, warnings=program.warnings)


_REASONS: dict[End, str] = {
    "finished": "garbled", "garbled": "garbled", "load_failed": "does_not_load", "crashed": "crashed", "timeout": "timed_out",
    "memory": "out_of_memory", "flooded": "too_much_output",
}  # fmt: skip
