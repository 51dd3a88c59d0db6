"""PASS, REGRESSION, INCONCLUSIVE or INVALID, for every candidate on every gate, and overall. Pure.

A gate asks: is the candidate worse by less than the margin? PASS must be known, also with every error counted
against the candidate; REGRESSION must be real; INVALID says that the arms cannot be compared, and why.
"""

from collections.abc import Iterable
from dataclasses import replace

from evals.compare import Ledger, compare, ledger, task_spec
from evals.divergence import GREEDY, diverge
from evals.findings import findings
from evals.incomparable import incomparable
from evals.judged import GRAVEST_FIRST, ArmSpec, Delta, Evidence, GateResult, GateSpec, Knowable, Verdict, VerdictName
from evals.knowable import knowable, overall
from evals.language import phrase
from evals.power import Design
from evals.standing import Standing, gate_count, standing
from evals.stats import p_words, samples_for_margin


def judge(evidence: Evidence) -> Verdict:
    candidates = [arm.name for arm in evidence.arms if arm.name != evidence.baseline]
    gates = judge_gates(evidence)
    judged = dict.fromkeys(result.arm for result in gates)
    by_arm = {arm: _gravest(result.verdict for result in gates if result.arm == arm) for arm in judged}
    greedy = candidates if task_spec(evidence, GREEDY) else []
    divergences = tuple(found for arm in greedy if (found := diverge(evidence, arm)) is not None)
    known = [result.knowable for result in gates]
    return Verdict(
        overall=_gravest(by_arm.values()),
        by_arm=by_arm,
        passes_if_equal=overall(k for k in known if k) if gates and all(known) else None,
        gates=gates,
        divergences=divergences,
        findings=findings(evidence, divergences),
    )


def judge_gates(evidence: Evidence) -> tuple[GateResult, ...]:
    """By candidate, and by gate among those that judge it."""
    book = ledger(evidence)
    candidates = [arm for arm in evidence.arms if arm.name != evidence.baseline]
    return tuple(
        _judge_gate(evidence, book, arm, gate) for arm in candidates for gate in evidence.gates if gate.judges(arm.name)
    )


def _gravest(verdicts: Iterable[VerdictName]) -> VerdictName:
    """Nothing judged is INVALID: an empty experiment must not pass."""
    return min(verdicts, key=GRAVEST_FIRST.index, default="INVALID")


def _judge_gate(evidence: Evidence, book: Ledger, arm: ArmSpec, gate: GateSpec) -> GateResult:
    stands = standing(evidence, arm.name, gate)
    delta = compare(evidence, gate.task, arm.name, stands.levels, gate.margin)
    result = GateResult(
        arm=arm.name,
        task=gate.task,
        margin=gate.margin,
        verdict="INVALID",
        reason=incomparable(evidence, book, arm, gate, delta) or "",
        delta=delta,
        knowable=_knowable(evidence, gate, stands, delta),
        exploratory=bool(stands.unplanned),
    )
    if broken := _broken(evidence, arm.name):
        return replace(result, verdict="REGRESSION", reason=broken)
    if result.reason or delta is None:
        return result
    verdict, reason = _weigh(delta, gate.margin, result.knowable)
    if verdict in ("PASS", "REGRESSION") and not evidence.finished:  # a look that nobody planned decides nothing
        verdict, reason = "INCONCLUSIVE", phrase("the run is not finished; so far {reason}", reason=reason)
    if stands.regression:
        verdict = "REGRESSION"
        reason = phrase(
            "found at the planned look with {n} samples, which no more of them takes back; now {reason}",
            n=stands.regression.n,
            reason=reason,
        )
    elif stands.unplanned and verdict != "INVALID":
        verdict, reason = (
            "INCONCLUSIVE",
            phrase("exploratory, and so undecided: {unplanned}; {reason}", unplanned=stands.unplanned, reason=reason),
        )
    return replace(result, verdict=verdict, reason=reason)


def _knowable(evidence: Evidence, gate: GateSpec, stands: Standing, delta: Delta | None) -> Knowable | None:
    spec = task_spec(evidence, gate.task)
    if delta is None or spec is None:
        return None
    sizes = (stands.n,) if stands.unplanned else stands.sizes
    design = Design(sizes=sizes, margin=gate.margin, gates=gate_count(evidence), rounds=spec.rounds)
    return knowable(design, (delta.lost + delta.won) / delta.n, spec.size)


def _broken(evidence: Evidence, arm: str) -> str | None:
    """Loops, word salad or silence where the baseline answers in words: seen before the tasks, which were not asked then."""
    if any(c.result == "failed" for seen in evidence.preflights.get(evidence.baseline, ()) for c in seen.checks):
        return None
    last = [check for seen in evidence.preflights.get(arm, ())[-1:] for check in seen.checks if check.result == "failed"]
    words = next((check.saw for check in last if check.name == "degenerate"), None)
    return (
        phrase("broken, as its first answers show, so that no task was asked: {words}", words=words)
        if words and len(last) == 1
        else None
    )


def _weigh(delta: Delta, margin: float, known: Knowable | None) -> tuple[VerdictName, str]:
    """The verdict on two arms that can be compared, with its reason."""
    planned, excluded = delta.n + delta.errors, delta.excluded
    if delta.drop_is_real_at_best and not excluded:
        return "REGRESSION", _regression_reason(delta, margin) + _what_would_settle(delta, margin, known)
    if delta.drop_is_real and not excluded:
        return "INVALID", (
            phrase(
                "errors decide: {regression_reason}, but not real if the {errors} of {planned} samples that could not be "
                "measured speak for the candidate",
                regression_reason=_regression_reason(delta, margin),
                errors=delta.errors,
                planned=planned,
            )
        )
    if delta.excluded_at_worst:
        return "PASS", _pass_reason(delta, margin)
    if excluded:
        return "INVALID", (
            phrase(
                "errors decide: {errors} of {planned} samples could not be measured; without them a drop of "
                "{excluded_drop:.1f} is excluded, with them counted against the candidate only {excluded_drop_worst:.1f} "
                "(margin {margin:g})",
                errors=delta.errors,
                planned=planned,
                excluded_drop=delta.excluded_drop,
                excluded_drop_worst=delta.excluded_drop_worst,
                margin=margin,
            )
        )
    reason = phrase(
        "a drop of up to {excluded_drop:.1f} points cannot be excluded with {n} samples (margin {margin:g})",
        excluded_drop=delta.excluded_drop,
        n=delta.n,
        margin=margin,
    )
    if known is not None and known.exhausted:
        return "INCONCLUSIVE", phrase(
            "{reason}; all {available} samples that there are would not make a PASS likely (80 %): set more `rounds:`, "
            "or take a wider margin",
            reason=reason,
            available=known.available,
        )
    if known is not None and known.n_needed > delta.n:
        return "INCONCLUSIVE", phrase(
            "{reason}; with about {n_needed} a PASS is likely (80 %) if nothing changed", reason=reason, n_needed=known.n_needed
        )
    return "INCONCLUSIVE", phrase(
        "{reason}; {diff:.1f} were seen, enough to leave it open but not to call it real", reason=reason, diff=-delta.diff
    )


def _regression_reason(delta: Delta, margin: float) -> str:
    proof = phrase("the interval excludes 0") if delta.p_value is None else p_words(delta.p_value)
    return phrase(
        "a drop of {diff:.1f} points [{ci_high:.1f}, {ci_low:.1f}] with {n} samples: {newly_wrong} newly wrong, "
        "{newly_right} newly right ({proof}; margin {margin:g})",
        diff=-delta.diff,
        ci_high=-delta.ci_high,
        ci_low=-delta.ci_low,
        n=delta.n,
        newly_wrong=delta.newly_wrong,
        newly_right=delta.newly_right,
        proof=proof,
        margin=margin,
    )


def _what_would_settle(delta: Delta, margin: float, known: Knowable | None) -> str:
    """Of a real drop that is smaller than the margin, which only so many samples did not rule out."""
    if -delta.diff >= margin:
        return ""
    n = samples_for_margin(margin, (delta.lost + delta.won) / delta.n, -delta.diff)
    if known is not None and known.available is not None and n > known.available:
        return phrase(
            "; it may be within the margin, and all {available} samples that there are would hardly tell: set more `rounds:`",
            available=known.available,
        )
    return phrase("; it may be within the margin: if it stays as it is, about {n} samples make a PASS likely (80 %)", n=n)


def _pass_reason(delta: Delta, margin: float) -> str:
    errors = phrase(", {errors} not measured and counted against the candidate", errors=delta.errors) if delta.errors else ""
    bound = phrase(
        "{excluded_drop_worst:.1f} is excluded with {n} samples{errors}",
        excluded_drop_worst=delta.excluded_drop_worst,
        n=delta.n,
        errors=errors,
    )
    if delta.drop_is_real:
        return phrase(
            "a real drop of {diff:.1f} points, but below the margin {margin:g}: a drop of {bound}",
            diff=-delta.diff,
            margin=margin,
            bound=bound,
        )
    return phrase("a drop of {bound} (margin {margin:g})", bound=bound, margin=margin)
