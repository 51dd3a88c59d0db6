"""The mark of an answer to a needle's question: every identifier that was asked for, whole and exact. Pure.

A near miss, one or two characters off, is told apart from the wrong needle and from none: it is what a broken cache or a
rounded weight makes of a found one.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import assert_never

from tasks.base import Failure, Marks, Response, Score
from tasks.extract import Artefact, NoAnswer, Visible, visible
from tasks.needle import Hidden, Target

NEAR = 2
"""Edits."""
_LETTER = "A-Za-z0-9\u00c0-\u024f\u0370-\u04ff\uff10-\uff5a"
_RUN = re.compile(rf"[{_LETTER}]+(?:[-_][{_LETTER}]+)*")
"""What a reader takes for one identifier; Chinese characters end it."""


def score(response: Response, target: str, harness: tuple[Marks, ...]) -> Score | Failure:
    """Mark a response. `target`: as Target.text() writes it. Raises ValueError on any other."""
    hidden = Target.read(target)
    view = visible(response)
    match view:
        case Artefact(name=name, message=message):
            return Failure(kind=name, message=message)
        case NoAnswer(reason=reason, warnings=warnings):
            return Score(outcome="no_answer", reason=reason, harness=harness, warnings=warnings)
        case Visible(text=text, warnings=warnings):
            return _marked(text, hidden, response.finish_reason == "length", harness, warnings)
        case _:
            assert_never(view)


def _marked(text: str, hidden: Target, cut: bool, harness: tuple[Marks, ...], warnings: tuple[str, ...]) -> Score:
    runs = _RUN.findall(text)
    found = [h for h in hidden.wanted if h.identifier in runs]
    missing = [h for h in hidden.wanted if h.identifier not in runs]
    answer = " ".join(h.identifier for h in found) or None
    if not missing:
        return Score(outcome="correct", answer=answer, harness=harness, warnings=warnings)
    if cut:  # it might have come
        return Score(outcome="no_answer", reason="truncated", answer=answer, harness=harness, warnings=warnings)
    there = [f"{h.identifier} of {h.key} is there" for h in found]
    near = [(h, said) for h in missing if (said := _nearest(h.identifier, runs)) is not None]
    taken = [h for h in hidden.distractors if h.identifier in runs]
    if near:
        reason, answer = "near_miss", " ".join(filter(None, [answer, *(said for _, said in near)]))
    elif taken:
        reason, answer = "distractor", " ".join(filter(None, [answer, *(h.identifier for h in taken)]))
    else:
        reason = "incomplete" if found else "not_found"
    explanation = "; ".join([*there, *_lacks(missing, dict(near)), *(f"{h.identifier} is that of {h.key}" for h in taken)])
    return Score(outcome="wrong", reason=reason, answer=answer, explanation=explanation, harness=harness, warnings=warnings)


def _lacks(missing: Iterable[Hidden], near: dict[Hidden, str]) -> Iterator[str]:
    for h in missing:
        yield f"{h.identifier} of {h.key} is not" + (f", {near[h]} is" if h in near else "")


def _nearest(identifier: str, runs: list[str]) -> str | None:
    """What is said in its place: the closest word, or two beside each other that were one, within NEAR edits."""
    said = [*runs, *(f"{a} {b}" for a, b in pairwise(runs))]
    distances = [(_distance(identifier, word.lower()), word) for word in said if abs(len(word) - len(identifier)) <= NEAR]
    distance, word = min(distances, default=(NEAR + 1, ""))
    return word if distance <= NEAR else None


def _distance(a: str, b: str) -> int:
    """Levenshtein's."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]
