"""Answers that became longer or shorter, sample by sample. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import quantile_test

from evals.compare import Ledger
from evals.judged import ArmSpec, Evidence, Finding, Severity, TaskSpec
from evals.language import later, phrase
from evals.records import Response

CONFIDENCE = 0.99
LONGER = 1.25
"""A median this many times as long, or shorter by as much, is told."""
What = Literal["answers", "reasoning"]


@dataclass(frozen=True, kw_only=True)
class Shift:
    """How long a candidate's answers are, relative to the baseline's to the same samples."""

    what: What
    n: int
    """Samples that both answered, with a length above 0 on both."""
    median: float
    """Of candidate ÷ baseline, sample by sample."""
    low: float | None
    high: float | None
    """Its interval at CONFIDENCE; None where so few samples have none."""

    @property
    def large(self) -> bool:
        """Whether the median is surely not 1, and far from it."""
        if self.low is None or self.high is None:
            return False
        return (self.low > 1 and self.median >= LONGER) or (self.high < 1 and self.median <= 1 / LONGER)


def median_ratio(what: What, ratios: Sequence[float]) -> Shift | None:
    """The median and its interval by order statistics: distribution-free, from the binomial (Conover 1999, section 3.2).

    None of no ratios at all.
    """
    if not ratios:
        return None
    ends: Any = quantile_test(ratios, p=0.5).confidence_interval(CONFIDENCE)
    low, high = (None if np.isnan(end) else float(end) for end in (ends.low, ends.high))
    return Shift(what=what, n=len(ratios), median=float(np.median(ratios)), low=low, high=high)


def shifts(evidence: Evidence, book: Ledger, arm: str, task: TaskSpec) -> list[Shift]:
    """Of whole answers in tokens, and of their reasoning where both arms have some."""
    answers = median_ratio("answers", _ratios(evidence, book, arm, task, _tokens))
    reasoning = median_ratio("reasoning", _ratios(evidence, book, arm, task, _thoughts))
    return [shift for shift in (answers, reasoning) if shift is not None]


def findings(evidence: Evidence, book: Ledger, arm: ArmSpec, task: TaskSpec) -> Iterator[Finding]:
    for shift in shifts(evidence, book, arm.name, task):
        if shift.large:
            text = phrase(
                _LONGER[shift.what], median=shift.median, n=shift.n, confidence=100 * CONFIDENCE, low=shift.low, high=shift.high
            )
            severity: Severity = "warning" if arm.same_prompts else "note"
            yield Finding(severity=severity, kind="length_shift", arm=arm.name, task=task.name, text=text)


_LONGER: dict[What, str] = {
    "answers": later(
        "answers are, in tokens, {median:.2f} times as long as the baseline's (median of {n} samples, "
        "{confidence:.0f} % interval {low:.2f} to {high:.2f})"
    ),
    "reasoning": later(
        "reasoning is {median:.2f} times as long as the baseline's (median of {n} samples, "
        "{confidence:.0f} % interval {low:.2f} to {high:.2f})"
    ),
}


def _ratios(
    evidence: Evidence,
    book: Ledger,
    arm: str,
    task: TaskSpec,
    length: Callable[[Response, Response], tuple[float, float] | None],
) -> list[float]:
    """One a sample, over the rounds in which both arms answered it."""
    sums: dict[str, tuple[float, float]] = {}
    for k in range(task.rounds):
        candidate = book.of(arm, task.name, k)
        for key, record in book.of(evidence.baseline, task.name, k).items():
            other = candidate.get(key)
            if record.response is None or other is None or other.response is None:
                continue
            if pair := length(record.response, other.response):
                ours, theirs = sums.get(key, (0.0, 0.0))
                sums[key] = (ours + pair[0], theirs + pair[1])
    return [theirs / ours for ours, theirs in sums.values() if ours and theirs]


def _tokens(ours: Response, theirs: Response) -> tuple[float, float] | None:
    if ours.completion_tokens is None or theirs.completion_tokens is None:
        return None
    return ours.completion_tokens, theirs.completion_tokens


def _thoughts(ours: Response, theirs: Response) -> tuple[float, float] | None:
    """In tokens where both engines count them (vLLM 0.29 and later), else in characters."""
    if ours.reasoning_tokens and theirs.reasoning_tokens:
        return ours.reasoning_tokens, theirs.reasoning_tokens
    return (len(ours.reasoning), len(theirs.reasoning)) if ours.reasoning and theirs.reasoning else None
