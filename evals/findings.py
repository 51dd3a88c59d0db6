"""What a reader should know beside the verdicts: tests and counts, each with its n. They explain, they never decide. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence

from scipy.stats import wilcoxon

from evals import checks, identity, needle_checks
from evals.compare import Ledger, check_prompts, compare, is_scored, ledger, tally
from evals.divergence import GREEDY, sentence
from evals.judged import ArmSpec, Divergence, Evidence, Finding, Severity, TaskSpec
from evals.records import SampleRecord
from evals.stats import mcnemar_exact, mcnemar_mid_p, p_words, surely_above

SHIFT_ALPHA = 0.01
LENGTH_ALPHA = 0.001
UNANSWERED_SHARE = 0.05
LONGER, SHORTER = 1.2, 0.8
_SEVERITIES = ("alarm", "warning", "note")


def findings(evidence: Evidence, divergences: Sequence[Divergence]) -> tuple[Finding, ...]:
    """Alarms first, then warnings and notes, each in the order of arms and tasks."""
    book = ledger(evidence)
    budget = [Finding(severity="note", kind="budget", arm=None, task=None, text=f"by budget: {t}") for t in evidence.given_up]
    found = [*budget, *_nothing_to_judge(evidence), *_failed_arms(evidence), *_greedy(evidence, divergences)]
    for arm in evidence.arms:
        found += [*identity.findings(evidence, arm), *checks.findings(evidence, arm.name)]
        for task in evidence.tasks:
            found += _errors(evidence, book, arm.name, task)
            if task.name == needle_checks.TASK:
                found += needle_checks.checks(evidence, book, arm, task)
            if task.marked:
                found += [*_floor(evidence, book, arm.name, task), *_harness_gap(book, arm.name, task.name)]
                found += _score_warnings(book, arm.name, task.name)
                found += _unanswered(book, arm.name, task) if arm.name == evidence.baseline else []
            if arm.name != evidence.baseline:
                found += [*_prompts(evidence, book, arm, task.name), *_lengths(evidence, book, arm, task)]
                if task.marked:
                    found += [*_gain(evidence, arm, task.name), *_no_answer_shift(evidence, book, arm.name, task.name)]
    return tuple(sorted(found, key=lambda finding: _SEVERITIES.index(finding.severity)))


def reasons_words(reasons: Counter[str]) -> str:
    """`20 truncated, 6 empty`."""
    return ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())


def gate_count(evidence: Evidence) -> int:
    """Gates that are judged: on every candidate, so that alpha is divided by this; at least 1."""
    return max(1, len(evidence.gates) * sum(arm.name != evidence.baseline for arm in evidence.arms))


def _nothing_to_judge(evidence: Evidence) -> Iterator[Finding]:
    if all(arm.name == evidence.baseline for arm in evidence.arms):
        yield Finding(
            severity="alarm",
            kind="nothing_to_judge",
            arm=None,
            task=None,
            text="no candidate arm: name one beside the baseline",
        )
    if not evidence.gates:
        yield Finding(
            severity="alarm", kind="nothing_to_judge", arm=None, task=None, text="no gate: 0 tasks can decide anything"
        )


def _failed_arms(evidence: Evidence) -> Iterator[Finding]:
    for arm in evidence.arms:
        failures = evidence.failures.get(arm.name, ())
        for failure in failures:
            text = f"launch {failure.launch + 1} failed at {failure.stage}: {failure.reason}"
            yield Finding(severity="alarm", kind="arm_failed", arm=arm.name, task=None, text=text)
        if again := evidence.restarts.get(arm.name, ()):
            text = f"its server died and was started again {len(again)} times; the first time: {again[0].reason}"
            yield Finding(severity="warning", kind="restarted", arm=arm.name, task=None, text=text)


def _greedy(evidence: Evidence, divergences: Sequence[Divergence]) -> Iterator[Finding]:
    if all(task.name != GREEDY for task in evidence.tasks):
        return
    by_arm = {divergence.arm: divergence for divergence in divergences}
    for arm in evidence.arms:
        if arm.name == evidence.baseline:
            continue
        if (divergence := by_arm.get(arm.name)) is None:
            text = "0 prompts were answered by the candidate and by two launches of the baseline: greedy outputs are unknown"
            yield Finding(severity="note", kind="greedy_unmeasured", arm=arm.name, task=GREEDY, text=text)
        elif divergence.excess:
            yield Finding(severity="warning", kind="greedy_excess", arm=arm.name, task=GREEDY, text=sentence(divergence))
        else:
            yield Finding(severity="note", kind="greedy_no_excess", arm=arm.name, task=GREEDY, text=sentence(divergence))


def _records(book: Ledger, arm: str, task: str) -> Iterator[SampleRecord]:
    """Of every round; greedy counts launches as rounds, so the spec's number is not enough."""
    rounds = sorted(page_round for page_arm, page_task, page_round in book.pages if (page_arm, page_task) == (arm, task))
    for k in rounds:
        yield from book.of(arm, task, k).values()


def _errors(evidence: Evidence, book: Ledger, arm: str, task: TaskSpec) -> Iterator[Finding]:
    records = list(_records(book, arm, task.name))
    if not records and evidence.failures.get(arm):
        return  # arm_failed says it, and why
    kinds = Counter(record.failure.kind for record in records if record.failure is not None)
    counts = Counter({f"{kind} failures": count for kind, count in kinds.items()})
    rounds = task.rounds if task.marked else 1
    planned = rounds * len(evidence.samples.get(task.name, ()))
    counts["without a record"] = planned - sum(len(book.of(arm, task.name, k)) for k in range(rounds))
    if task.marked:
        counts["without a score"] = sum(record.failure is None and not is_scored(record) for record in records)
    if (counts := +counts).total() == 0:
        return
    first = next((record.failure.message for record in records if record.failure is not None), None)
    text = f"{counts.total()} of {max(planned, len(records))} could not be measured: {reasons_words(counts)}"
    text += f"; the first: {first}" if first else ""
    yield Finding(severity="warning", kind="errors", arm=arm, task=task.name, text=text)


def _floor(evidence: Evidence, book: Ledger, arm: str, task: TaskSpec) -> Iterator[Finding]:
    seen = tally(book, arm, task.name)
    margin = min((gate.margin for gate in evidence.gates if gate.task == task.name), default=0.0)
    if seen.n and not surely_above(seen.correct, seen.n, (task.chance + margin) / 100):
        level = f"at chance level ({task.chance:g} %)" if task.chance else "at the floor"
        text = f"{level}: {seen.correct}/{seen.n} correct ({100 * seen.correct / seen.n:.1f} %)"
        yield Finding(severity="alarm", kind="floor", arm=arm, task=task.name, text=text)


def _unanswered(book: Ledger, arm: str, task: TaskSpec) -> Iterator[Finding]:
    """What the baseline never answers can't show a drop."""
    for k in range(task.rounds):
        seen = tally(book, arm, task.name, k)
        if seen.n and surely_above(seen.no_answer, seen.n, UNANSWERED_SHARE):
            counts = f"no answer in {seen.no_answer} of {seen.n} in round {k + 1} ({reasons_words(seen.reasons)})"
            text = f"{counts}: these can't show a drop"
            yield Finding(severity="warning", kind="unanswered", arm=arm, task=task.name, text=text)


def _harness_gap(book: Ledger, arm: str, task: str) -> Iterator[Finding]:
    scores = [record.score for record in book.of(arm, task, 0).values() if record.score is not None and is_scored(record)]
    for name in sorted({mark.filter for score in scores for mark in score.harness}):
        marked = [(score, mark.correct) for score in scores for mark in score.harness if mark.filter == name]
        theirs = Counter(score.reason or score.outcome for score, correct in marked if correct and score.outcome != "correct")
        ours = sum(score.outcome == "correct" and not correct for score, correct in marked)
        parts = [f"{theirs.total()} right by lm-eval and not by us ({reasons_words(theirs)})"] if theirs else []
        parts += [f"{ours} right by us and not by lm-eval"] if ours else []
        if parts:
            text = f"lm-eval {name} marks {theirs.total() + ours} of {len(marked)} otherwise: {'; '.join(parts)}"
            yield Finding(severity="note", kind="harness_gap", arm=arm, task=task, text=text)


def _score_warnings(book: Ledger, arm: str, task: str) -> Iterator[Finding]:
    scores = [record.score for record in _records(book, arm, task) if record.score is not None]
    for warning, count in Counter(warning for score in scores for warning in score.warnings).most_common():
        text = f"{warning} in {count} of {len(scores)} responses"
        yield Finding(severity="warning", kind="score_warning", arm=arm, task=task, text=text)


def _prompts(evidence: Evidence, book: Ledger, arm: ArmSpec, task: str) -> Iterator[Finding]:
    check = check_prompts(evidence, book, task, arm.name)
    if check.differing:
        meant = "though they were declared equal" if arm.same_prompts else "as declared"
        counts = f"{len(check.differing)} of {check.n} samples"
        text = f"prompts differ from the baseline's in {counts}, {meant}; first {check.differing[0]}"
        severity: Severity = "alarm" if arm.same_prompts else "note"
        yield Finding(severity=severity, kind="prompts_differ", arm=arm.name, task=task, text=text)
    elif arm.same_prompts and check.n_without_ids:
        text = (
            f"in {check.n_without_ids} of {check.n} samples an engine did not tell its rendered prompt's token ids, "
            "so a changed chat template would go unseen"
        )
        yield Finding(severity="warning", kind="prompts_unchecked", arm=arm.name, task=task, text=text)


def _gain(evidence: Evidence, arm: ArmSpec, task: str) -> Iterator[Finding]:
    delta = compare(evidence, task, arm.name, SHIFT_ALPHA)
    if delta is None:
        return
    p_value = mcnemar_mid_p(delta.newly_right, delta.newly_wrong)
    if delta.diff > 0 and p_value <= SHIFT_ALPHA / gate_count(evidence):
        text = (
            f"better by {delta.diff:.1f} points with {delta.n} samples ({delta.newly_right} newly right, "
            f"{delta.newly_wrong} newly wrong, {p_words(p_value)}): check that prompts and extraction are the same"
        )
        # Where prompts were meant to differ (another thinking effort), a gain may be the aim.
        severity: Severity = "warning" if arm.same_prompts else "note"
        yield Finding(severity=severity, kind="gain_too_good", arm=arm.name, task=task, text=text)


def _no_answer_shift(evidence: Evidence, book: Ledger, arm: str, task: str) -> Iterator[Finding]:
    baseline, candidate = _silences(book, evidence.baseline, task), _silences(book, arm, task)
    shared = baseline.keys() & candidate.keys()
    ours = Counter(reason for key in shared if (reason := baseline[key]) is not None)
    theirs = Counter(reason for key in shared if (reason := candidate[key]) is not None)
    fell = sum(baseline[key] is None and candidate[key] is not None for key in shared)
    rose = sum(baseline[key] is not None and candidate[key] is None for key in shared)
    p_value = min(1.0, 2 * min(mcnemar_exact(fell, rose), mcnemar_exact(rose, fell)))
    if p_value <= SHIFT_ALPHA:
        text = (
            f"no answer in {theirs.total()} of {len(shared)} ({reasons_words(theirs) or 'none'}), "
            f"in the baseline in {ours.total()} ({reasons_words(ours) or 'none'}); {p_words(p_value)}"
        )
        yield Finding(severity="warning", kind="no_answer_shift", arm=arm, task=task, text=text)


def _silences(book: Ledger, arm: str, task: str) -> dict[str, str | None]:
    """Why each scored sample of round 0 has no answer; None where it has one."""
    return {
        key: (record.score.reason or "no reason given") if record.score.outcome == "no_answer" else None
        for key, record in book.of(arm, task, 0).items()
        if record.score is not None and is_scored(record)
    }


def _lengths(evidence: Evidence, book: Ledger, arm: ArmSpec, task: TaskSpec) -> Iterator[Finding]:
    ours: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    for k in range(task.rounds):
        candidate = book.of(arm.name, task.name, k)
        for key, record in book.of(evidence.baseline, task.name, k).items():
            our_tokens, their_tokens = _tokens(record), _tokens(candidate.get(key))
            if our_tokens is not None and their_tokens is not None:
                ours[key] += our_tokens
                theirs[key] += their_tokens
    if not ours.total() or SHORTER < (ratio := theirs.total() / ours.total()) < LONGER:
        return
    p_value = float(wilcoxon([theirs[key] - ours[key] for key in ours]).pvalue)
    if p_value <= LENGTH_ALPHA:
        text = f"answers are {ratio:.2f} times as long in tokens, over {len(ours)} samples (Wilcoxon {p_words(p_value)})"
        severity: Severity = "warning" if arm.same_prompts else "note"
        yield Finding(severity=severity, kind="length_shift", arm=arm.name, task=task.name, text=text)


def _tokens(record: SampleRecord | None) -> int | None:
    return None if record is None or record.response is None else record.response.completion_tokens
