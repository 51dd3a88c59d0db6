"""The scorecard's section on what became of the answers, and on how long they were."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from evals import lengths
from evals.compare import Ledger, ledger
from evals.judged import Evidence, TaskSpec
from evals.language import later, phrase, term
from evals.outcomes import SHIFT_ALPHA, Kind, Outcome, counts, shift
from evals.report.text import table
from evals.stats import p_words


@dataclass(frozen=True, kw_only=True)
class OutcomeRow:
    """One outcome of one task, arm by arm."""

    task: str
    outcome: Outcome
    n: dict[str, int]
    """By arm: answers that are on record, over all rounds."""
    counts: dict[str, int]
    p_value: dict[str, float]
    """By candidate, against the baseline."""


@dataclass(frozen=True, kw_only=True)
class SameTokens:
    """Responses of a candidate whose tokens are the baseline's, to the last one, of those that both gave with token ids."""

    same: int
    comparable: int


_ORDER: tuple[Kind, ...] = ("correct", "wrong", "no_answer", "error", "warning")
_NAMES: dict[Kind, str] = {
    "correct": later("correct"), "wrong": later("wrong"), "no_answer": later("no answer"), "error": later("not measured"),
    "warning": later("warning"),
}  # fmt: skip

_LENGTHS: dict[lengths.What, str] = {"answers": later("length of answers"), "reasoning": later("length of reasoning")}


def section(evidence: Evidence) -> str:
    """Empty where nothing was answered."""
    book = ledger(evidence)
    asked = {record.arm for record in evidence.records}
    arms = [arm.name for arm in evidence.arms if arm.name in asked]
    cells = [row for task in evidence.tasks for row in _task(evidence, book, task, arms)]
    if not cells:
        return ""
    head = " | ".join([phrase("task"), phrase("outcome"), *arms])
    note = phrase(
        "Percent of the answers on record (and how many), over all rounds. No answer counts as not correct; what "
        "could not be measured is in no pair. Length: tokens of an answer over those of the baseline's, reasoning "
        "among them, and reasoning alone; the median over samples [{confidence:.0f} % interval by order "
        "statistics]. Bold: unlike the baseline, by an exact sign test on the samples that both have, or by that "
        "interval and by more than a quarter.",
        confidence=100 * lengths.CONFIDENCE,
    )
    return f"## {phrase('Outcomes')}\n\n{table(head, cells)}\n\n{note}"


def _task(evidence: Evidence, book: Ledger, task: TaskSpec, arms: list[str]) -> Iterator[list[str]]:
    for row in rows(evidence, book, task) if task.marked else ():
        reason = phrase(": ") + term(row.outcome.reason).replace("_", " ") if row.outcome.reason else ""
        yield [task.name, f"{phrase(_NAMES[row.outcome.kind])}{reason}", *(_cell(row, arm) for arm in arms)]
    candidates = [arm for arm in arms if arm != evidence.baseline]
    same = {arm: same_tokens(evidence, arm, task.name) for arm in candidates if task.marked}
    if any(found.comparable for found in same.values()):
        told = (same.get(arm) for arm in arms)
        yield [
            task.name,
            phrase("the baseline's tokens"),
            *(
                phrase("{same} of {comparable}", same=s.same, comparable=s.comparable) if s and s.comparable else "–"
                for s in told
            ),
        ]
    shifts = {arm: {s.what: s for s in lengths.shifts(evidence, book, arm, task)} for arm in candidates}
    for what in _LENGTHS:
        if any(what in of_arm for of_arm in shifts.values()):
            yield [task.name, phrase(_LENGTHS[what]), *(_length(shifts.get(arm, {}).get(what)) for arm in arms)]


def _length(shift: lengths.Shift | None) -> str:
    if shift is None:
        return "–"
    text = f"**{shift.median:.2f}**" if shift.large else f"{shift.median:.2f}"
    return f"{text} [{shift.low:.2f}, {shift.high:.2f}]" if shift.low is not None and shift.high is not None else text


def _cell(row: OutcomeRow, arm: str) -> str:
    if not row.n[arm]:
        return "–"
    text = f"{100 * row.counts[arm] / row.n[arm]:.1f} ({row.counts[arm]})" if row.counts[arm] else "0"
    p_value = row.p_value.get(arm, 1.0)
    return f"**{text}**, {p_words(p_value)}" if p_value <= SHIFT_ALPHA else text


def rows(evidence: Evidence, book: Ledger, task: TaskSpec) -> list[OutcomeRow]:
    """What came at least once on any arm; correct, wrong and those two alone also without a reason."""
    found = {arm.name: counts(book, arm.name, task) for arm in evidence.arms}
    seen = {outcome for of_arm in found.values() for outcome in of_arm}
    with_reason = {outcome.kind for outcome in seen if outcome.reason}
    shown = [o for o in seen if o.reason or o.kind in ("correct", "wrong") or o.kind not in with_reason]
    total = Counter(outcome for of_arm in found.values() for outcome in of_arm.elements())
    shown.sort(key=lambda o: (_ORDER.index(o.kind), bool(o.reason), -total[o], o.reason))
    return [
        OutcomeRow(
            task=task.name, outcome=outcome,
            n={arm: sum(of_arm[Outcome(kind=kind)] for kind in _ORDER[:4]) for arm, of_arm in found.items()},
            counts={arm: of_arm[outcome] for arm, of_arm in found.items()},
            p_value={
                arm: shift(evidence, book, arm, task, outcome).p_value for arm in found if arm != evidence.baseline
            },
        )
        for outcome in shown
    ]  # fmt: skip


def same_tokens(evidence: Evidence, arm: str, task: str) -> SameTokens:
    ids = {
        (r.arm, r.round, r.sample_id): r.response.token_ids
        for r in evidence.records
        if r.task == task and r.arm in (arm, evidence.baseline) and r.response and r.response.token_ids is not None
    }
    pairs = [(tokens, ids.get((evidence.baseline, k, sample))) for (name, k, sample), tokens in ids.items() if name == arm]
    both = [ours == theirs for ours, theirs in pairs if theirs is not None]
    return SameTokens(same=sum(both), comparable=len(both))
