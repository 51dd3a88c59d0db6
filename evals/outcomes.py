"""What became of every answer that was planned, and whether that differs between an arm and the baseline. Pure."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from evals.compare import Ledger, is_scored, tally
from evals.judged import Evidence, Finding, Severity, TaskSpec
from evals.language import counted, phrase, term
from evals.records import SampleRecord
from evals.stats import mcnemar_exact, p_words, surely_above

SHIFT_ALPHA = 0.01
UNANSWERED_SHARE = 0.05
Kind = Literal["correct", "wrong", "no_answer", "error", "warning"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One thing that may be said of an answer."""

    kind: Kind
    reason: str = ""
    """Empty: whatever the reason."""


@dataclass(frozen=True, kw_only=True)
class Shift:
    """How often an outcome came on both arms, of the samples that can be paired."""

    n: int
    baseline: int
    candidate: int
    """Samples with it in any round."""
    p_value: float
    """Two-sided exact sign test on the samples in which the two arms have it in unlike shares of rounds (McNemar 1947)."""


def of(record: SampleRecord) -> frozenset[Outcome]:
    """All that can be said of one answer, with its reason and without."""
    if record.failure is not None:
        return _with_reason("error", record.failure.kind)
    if record.score is None or not is_scored(record):
        return _with_reason("error", "without_a_score")
    own = _with_reason(record.score.outcome, record.score.reason or "")
    return own.union(*(_with_reason("warning", warning) for warning in record.score.warnings))


def _with_reason(kind: Kind, reason: str) -> frozenset[Outcome]:
    return frozenset({Outcome(kind=kind), Outcome(kind=kind, reason=reason)})


def counts(book: Ledger, arm: str, task: TaskSpec) -> Counter[Outcome]:
    """Over all rounds; a planned answer without a record is not among them."""
    records = (record for k in range(task.rounds) for record in book.of(arm, task.name, k).values())
    return Counter(outcome for record in records for outcome in of(record))


def shift(evidence: Evidence, book: Ledger, arm: str, task: TaskSpec, outcome: Outcome) -> Shift:
    """Errors are looked for in all samples that both arms were asked, everything else in those that both answered."""
    ours, theirs = (_shares(book, name, task, outcome) for name in (evidence.baseline, arm))
    shared = ours.keys() & theirs.keys()
    rose, fell = sum(theirs[key] > ours[key] for key in shared), sum(theirs[key] < ours[key] for key in shared)
    return Shift(
        n=len(shared), baseline=sum(ours[key] > 0 for key in shared), candidate=sum(theirs[key] > 0 for key in shared),
        p_value=min(1.0, 2 * min(mcnemar_exact(fell, rose), mcnemar_exact(rose, fell))),
    )  # fmt: skip


def _shares(book: Ledger, arm: str, task: TaskSpec, outcome: Outcome) -> dict[str, float]:
    """By sample: the share of its rounds with this outcome; only of samples that have every round."""
    usable: Callable[[SampleRecord], bool] = (lambda _: True) if outcome.kind == "error" else is_scored
    pages = [{key: r for key, r in book.of(arm, task.name, k).items() if usable(r)} for k in range(task.rounds)]
    complete = set(pages[0]).intersection(*pages[1:])
    return {key: sum(outcome in of(page[key]) for page in pages) / len(pages) for key in complete}


def findings(evidence: Evidence, book: Ledger, arm: str, task: TaskSpec) -> Iterator[Finding]:
    yield from _errors(evidence, book, arm, task)
    if not task.marked:
        return
    yield from _warnings(evidence, book, arm, task)
    if arm == evidence.baseline:
        yield from _unanswered(book, arm, task)
    else:
        yield from _no_answer(evidence, book, arm, task)


def reasons_words(reasons: Counter[str]) -> str:
    """`20 truncated, 6 empty`."""
    return counted((term(reason), n) for reason, n in reasons.most_common())


def _errors(evidence: Evidence, book: Ledger, arm: str, task: TaskSpec) -> Iterator[Finding]:
    rounds = sorted(k for page_arm, page_task, k in book.pages if (page_arm, page_task) == (arm, task.name))
    records = [r for k in rounds for r in book.of(arm, task.name, k).values()]  # greedy counts launches as rounds
    if not records and evidence.failures.get(arm):
        return  # arm_failed says it, and why
    kinds = Counter(record.failure.kind for record in records if record.failure is not None)
    found = Counter({phrase("{kind} failures", kind=term(kind)): count for kind, count in kinds.items()})
    planned_rounds = task.rounds if task.marked else 1
    planned = planned_rounds * len(evidence.asked(arm, task.name))
    found[phrase("without a record")] = planned - sum(len(book.of(arm, task.name, k)) for k in range(planned_rounds))
    if task.marked:
        found[phrase("without a score")] = sum(record.failure is None and not is_scored(record) for record in records)
    if (found := +found).total() == 0:
        return
    first = next((record.failure.message for record in records if record.failure is not None), None)
    text = phrase(
        "{total} of {planned} could not be measured: {reasons}",
        total=found.total(),
        planned=max(planned, len(records)),
        reasons=reasons_words(found),
    )
    text += _unlike(evidence, book, arm, task, Outcome(kind="error")) if task.marked else ""
    text += phrase("; the first: {first}", first=first) if first else ""
    # One may be an accident on the wire; more is a server whose figures mean nothing.
    severity: Severity = "alarm" if kinds["no_logprobs"] > 1 else "warning"
    yield Finding(severity=severity, kind="errors", arm=arm, task=task.name, text=text)


def _warnings(evidence: Evidence, book: Ledger, arm: str, task: TaskSpec) -> Iterator[Finding]:
    found = counts(book, arm, task)
    answered = sum(found[Outcome(kind=kind)] for kind in _ANSWERED)
    for outcome, count in found.most_common():
        if outcome.kind == "warning" and outcome.reason:
            text = phrase("{reason} in {count} of {answered} responses", reason=outcome.reason, count=count, answered=answered)
            text += _unlike(evidence, book, arm, task, outcome)
            yield Finding(severity="warning", kind="score_warning", arm=arm, task=task.name, text=text)


_ANSWERED: tuple[Kind, ...] = ("correct", "wrong", "no_answer")


def _unanswered(book: Ledger, arm: str, task: TaskSpec) -> Iterator[Finding]:
    """What the baseline never answers can't show a drop."""
    for k in range(task.rounds):
        seen = tally(book, arm, task.name, k)
        if seen.n and surely_above(seen.no_answer, seen.n, UNANSWERED_SHARE):
            said = phrase(
                "no answer in {no_answer} of {n} in round {number} ({reasons})",
                no_answer=seen.no_answer,
                n=seen.n,
                number=k + 1,
                reasons=reasons_words(seen.reasons),
            )
            text = phrase("{said}: these can't show a drop", said=said)
            yield Finding(severity="warning", kind="unanswered", arm=arm, task=task.name, text=text)


def _unlike(evidence: Evidence, book: Ledger, arm: str, task: TaskSpec, outcome: Outcome) -> str:
    """How much rarer the baseline has it, where that is no chance."""
    seen = shift(evidence, book, arm, task, outcome)
    if seen.candidate <= seen.baseline or seen.p_value > SHIFT_ALPHA:
        return ""
    return phrase(
        "; in the baseline in {baseline} of {n} samples ({p})", baseline=seen.baseline, n=seen.n, p=p_words(seen.p_value)
    )


def _no_answer(evidence: Evidence, book: Ledger, arm: str, task: TaskSpec) -> Iterator[Finding]:
    seen = shift(evidence, book, arm, task, Outcome(kind="no_answer"))
    if seen.p_value <= SHIFT_ALPHA:
        ours, theirs = (_reasons(counts(book, name, task)) for name in (evidence.baseline, arm))
        text = phrase(
            "no answer in {candidate} of {n} ({theirs}), in the baseline in {baseline} ({ours}); {p}",
            candidate=seen.candidate,
            n=seen.n,
            theirs=theirs or phrase("none"),
            baseline=seen.baseline,
            ours=ours or phrase("none"),
            p=p_words(seen.p_value),
        )
        yield Finding(severity="warning", kind="no_answer_shift", arm=arm, task=task.name, text=text)


def _reasons(found: Counter[Outcome]) -> str:
    return reasons_words(Counter({o.reason: n for o, n in found.items() if o.kind == "no_answer" and o.reason}))
