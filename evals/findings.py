"""What a reader should know beside the verdicts: tests and counts, each with its n. They explain, they never decide. Pure."""

from collections.abc import Iterator, Sequence

from evals import acceptance, checks, identity, lengths, needle_checks, outcomes, sensors
from evals.compare import Ledger, check_prompts, compare, ledger, tally
from evals.divergence import GREEDY, sentence
from evals.judged import ArmSpec, Divergence, Evidence, Finding, Severity, TaskSpec
from evals.language import phrase, term
from evals.looks import Levels
from evals.standing import gate_count, standing
from evals.stats import mcnemar_mid_p, p_words, surely_above

GAIN_ALPHA = 0.01
_SEVERITIES = ("alarm", "warning", "note")


def findings(evidence: Evidence, divergences: Sequence[Divergence]) -> tuple[Finding, ...]:
    """Alarms first, then warnings and notes, each in the order of arms and tasks."""
    book = ledger(evidence)
    budget = [
        Finding(severity="note", kind="budget", arm=None, task=None, text=phrase("by budget: {line}", line=line))
        for line in evidence.given_up
    ]
    found = [*budget, *_stored(evidence), *_nothing_to_judge(evidence), *_failed_arms(evidence)]
    found += [*_greedy(evidence, divergences), *_exploratory(evidence)]
    for arm in evidence.arms:
        found += [*identity.findings(evidence, arm), *checks.findings(evidence, arm.name)]
        for task in evidence.tasks:
            found += [*outcomes.findings(evidence, book, arm.name, task), *acceptance.findings(evidence, arm.name, task)]
            if task.name == needle_checks.TASK:
                found += needle_checks.checks(evidence, book, arm, task)
            found += _floor(evidence, book, arm.name, task) if task.marked else []
            if arm.name != evidence.baseline:
                found += [*_prompts(evidence, book, arm, task.name), *lengths.findings(evidence, book, arm, task)]
                found += _gain(evidence, arm, task.name) if task.marked else []
    found += sensors.findings(evidence)
    return tuple(sorted(found, key=lambda finding: _SEVERITIES.index(finding.severity)))


def _stored(evidence: Evidence) -> Iterator[Finding]:
    if stored := evidence.stored:
        text = phrase(
            "not served: its answers are those of {arm} in the run {run_id} of {started_at}, so that whatever else "
            "the machine changed since then shows as the candidate's doing",
            arm=stored.arm,
            run_id=stored.run_id,
            started_at=stored.started_at,
        )
        yield Finding(severity="note", kind="stored_baseline", arm=evidence.baseline, task=None, text=text)


def _nothing_to_judge(evidence: Evidence) -> Iterator[Finding]:
    if all(arm.name == evidence.baseline for arm in evidence.arms):
        yield Finding(
            severity="alarm",
            kind="nothing_to_judge",
            arm=None,
            task=None,
            text=phrase("no candidate arm: name one beside the baseline"),
        )
    if not evidence.gates:
        yield Finding(
            severity="alarm", kind="nothing_to_judge", arm=None, task=None, text=phrase("no gate: 0 tasks can decide anything")
        )


def _exploratory(evidence: Evidence) -> Iterator[Finding]:
    candidates = [arm.name for arm in evidence.arms if arm.name != evidence.baseline]
    for arm in candidates:
        for gate in (g for g in evidence.gates if g.judges(arm)):
            if why := standing(evidence, arm, gate).unplanned:
                text = phrase("exploratory: {why}; its figures decide nothing, and `--new` measures afresh", why=why)
                yield Finding(severity="alarm", kind="exploratory", arm=arm, task=gate.task, text=text)
        if evidence.gates and not any(gate.judges(arm) for gate in evidence.gates):
            text = phrase("no gate judges it: its figures are there to be read")
            yield Finding(severity="note", kind="not_judged", arm=arm, task=None, text=text)


def _failed_arms(evidence: Evidence) -> Iterator[Finding]:
    for arm in evidence.arms:
        failures = evidence.failures.get(arm.name, ())
        for failure in failures:
            text = phrase(
                "launch {launch} failed at {stage}: {reason}",
                launch=failure.launch + 1,
                stage=term(failure.stage),
                reason=failure.reason,
            )
            yield Finding(severity="alarm", kind="arm_failed", arm=arm.name, task=None, text=text)
        if again := evidence.restarts.get(arm.name, ()):
            text = phrase(
                "its server died and was started again {n} times; the first time: {reason}",
                n=len(again),
                reason=again[0].reason,
            )
            yield Finding(severity="warning", kind="restarted", arm=arm.name, task=None, text=text)


def _greedy(evidence: Evidence, divergences: Sequence[Divergence]) -> Iterator[Finding]:
    if all(task.name != GREEDY for task in evidence.tasks):
        return
    by_arm = {divergence.arm: divergence for divergence in divergences}
    for arm in evidence.arms:
        if arm.name == evidence.baseline:
            continue
        if (divergence := by_arm.get(arm.name)) is None:
            text = phrase(
                "0 prompts were answered by the candidate and by two launches of the baseline: greedy outputs are unknown"
            )
            yield Finding(severity="note", kind="greedy_unmeasured", arm=arm.name, task=GREEDY, text=text)
        elif divergence.excess:
            # Where prompts were meant to differ (another thinking effort), so are the answers.
            severity: Severity = "warning" if arm.same_prompts else "note"
            yield Finding(severity=severity, kind="greedy_excess", arm=arm.name, task=GREEDY, text=sentence(divergence))
        else:
            yield Finding(severity="note", kind="greedy_no_excess", arm=arm.name, task=GREEDY, text=sentence(divergence))


def _floor(evidence: Evidence, book: Ledger, arm: str, task: TaskSpec) -> Iterator[Finding]:
    seen = tally(book, arm, task.name)
    margin = min((gate.margin for gate in evidence.gates if gate.task == task.name), default=0.0)
    if seen.n and not surely_above(seen.correct, seen.n, (task.chance + margin) / 100):
        level = phrase("at chance level ({chance:g} %)", chance=task.chance) if task.chance else phrase("at the floor")
        text = phrase(
            "{level}: {correct}/{n} correct ({percent:.1f} %)",
            level=level,
            correct=seen.correct,
            n=seen.n,
            percent=100 * seen.correct / seen.n,
        )
        yield Finding(severity="alarm", kind="floor", arm=arm, task=task.name, text=text)


def _prompts(evidence: Evidence, book: Ledger, arm: ArmSpec, task: str) -> Iterator[Finding]:
    check = check_prompts(evidence, book, task, arm.name)
    if check.differing:
        meant = phrase("though they were declared equal") if arm.same_prompts else phrase("as declared")
        text = phrase(
            "prompts differ from the baseline's in {differing} of {n} samples, {meant}; first {first}",
            differing=len(check.differing),
            n=check.n,
            meant=meant,
            first=check.differing[0],
        )
        severity: Severity = "alarm" if arm.same_prompts else "note"
        yield Finding(severity=severity, kind="prompts_differ", arm=arm.name, task=task, text=text)
    elif arm.same_prompts and check.n_without_ids:
        text = phrase(
            "in {n_without_ids} of {n} samples an engine did not tell its rendered prompt's token ids, so a changed "
            "chat template would go unseen",
            n_without_ids=check.n_without_ids,
            n=check.n,
        )
        yield Finding(severity="warning", kind="prompts_unchecked", arm=arm.name, task=task, text=text)


def _gain(evidence: Evidence, arm: ArmSpec, task: str) -> Iterator[Finding]:
    delta = compare(evidence, task, arm.name, Levels(), 0.0)
    if delta is None:
        return
    p_value = mcnemar_mid_p(delta.newly_right, delta.newly_wrong)
    if delta.diff > 0 and p_value <= GAIN_ALPHA / gate_count(evidence):
        text = phrase(
            "better by {diff:.1f} points with {n} samples ({newly_right} newly right, {newly_wrong} newly wrong, "
            "{p}): check that prompts and extraction are the same",
            diff=delta.diff,
            n=delta.n,
            newly_right=delta.newly_right,
            newly_wrong=delta.newly_wrong,
            p=p_words(p_value),
        )
        # Where prompts were meant to differ (another thinking effort), a gain may be the aim.
        severity: Severity = "warning" if arm.same_prompts else "note"
        yield Finding(severity=severity, kind="gain_too_good", arm=arm.name, task=task, text=text)
