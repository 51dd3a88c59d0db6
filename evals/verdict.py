"""PASS, REGRESSION, INCONCLUSIVE or INVALID, for every candidate on every gate, and overall. Pure.

A gate asks: is the candidate worse by less than the margin? PASS must be known, also with every error counted
against the candidate; REGRESSION must be real; INVALID says that the arms cannot be compared, and why.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from evals.compare import Ledger, Tally, check_prompts, compare, is_scored, ledger, tally, task_spec
from evals.divergence import GREEDY, diverge
from evals.findings import findings
from evals.identity import mixture
from evals.judged import ArmSpec, Delta, Evidence, GateResult, GateSpec, Knowable, TaskSpec, Verdict, VerdictName
from evals.knowable import knowable, overall
from evals.outcomes import reasons_words
from evals.power import Design
from evals.standing import Standing, gate_count, standing
from evals.stats import clopper_pearson, p_words, samples_for_margin, surely_above

THINKING_TOKENS = 8192
"""Less is hardly worth a try with thinking on: Qwen3's card asks for 32,768, and four times as little is a start."""

_GRAVEST_FIRST: tuple[VerdictName, ...] = ("REGRESSION", "INVALID", "INCONCLUSIVE", "PASS")
_REMEDIES = {
    "empty_after_thinking": "it ends before it answers: lower the thinking effort, or check the chat template",
    "empty": "check the chat template and the reasoning parser",
    "degenerate": "check the checkpoint and the sampling settings",
    "nothing_to_extract": "check the prompt's answer format",
}


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
    return min(verdicts, key=_GRAVEST_FIRST.index, default="INVALID")


def _judge_gate(evidence: Evidence, book: Ledger, arm: ArmSpec, gate: GateSpec) -> GateResult:
    stands = standing(evidence, arm.name, gate)
    delta = compare(evidence, gate.task, arm.name, stands.levels, gate.margin)
    result = GateResult(
        arm=arm.name,
        task=gate.task,
        margin=gate.margin,
        verdict="INVALID",
        reason=_incomparable(evidence, book, arm, gate, delta) or "",
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
        verdict, reason = "INCONCLUSIVE", f"the run is not finished; so far {reason}"
    if stands.regression:
        verdict = "REGRESSION"
        reason = f"found at the planned look with {stands.regression.n} samples, which no more of them takes back; now {reason}"
    elif stands.unplanned and verdict != "INVALID":
        verdict, reason = "INCONCLUSIVE", f"exploratory, and so undecided: {stands.unplanned}; {reason}"
    return replace(result, verdict=verdict, reason=reason)


def _knowable(evidence: Evidence, gate: GateSpec, stands: Standing, delta: Delta | None) -> Knowable | None:
    spec = task_spec(evidence, gate.task)
    if delta is None or spec is None:
        return None
    sizes = (stands.n,) if stands.unplanned else stands.sizes
    design = Design(sizes=sizes, margin=gate.margin, gates=gate_count(evidence), rounds=spec.rounds)
    return knowable(design, (delta.lost + delta.won) / delta.n)


def _incomparable(evidence: Evidence, book: Ledger, arm: ArmSpec, gate: GateSpec, delta: Delta | None) -> str | None:
    """Why the two arms cannot be compared on this task; None where they can."""
    spec, planned = task_spec(evidence, gate.task), len(evidence.asked(arm.name, gate.task))
    if spec is None:
        return f"{gate.task} is not among the tasks"
    if not spec.marked:
        return f"{gate.task} marks nothing right or wrong, so it cannot gate"
    if arm.name in evidence.left_out:
        return "it was not selected, and so not asked in full; the same command without a selection goes on with it"
    if down := _not_run(book, spec, (evidence.baseline, arm.name)):
        return down
    silent = _silent(evidence, book, evidence.baseline, spec) or _silent(evidence, book, arm.name, spec)
    if silent or (arm.same_prompts and (silent := _other_prompts(evidence, book, arm.name, gate.task))):
        return silent
    if not planned:
        return f"no sample of {gate.task} was planned"
    n = delta.n if delta else 0
    if 2 * n < planned:
        return f"errors: {planned - n} of {planned} samples could not be measured on both arms, too many to decide"
    for name, who in ((evidence.baseline, "the baseline"), (arm.name, "the candidate")):
        if mixed := mixture(evidence, book, name, spec):
            return f"{who} was not one configuration: {mixed}"
    rounds = [tally(book, evidence.baseline, gate.task, k) for k in range(spec.rounds)]
    unanswered = next((said for seen in rounds if (said := _unanswered(seen))), None)
    return unanswered or _at_floor(rounds[0], spec.chance, gate.margin)


def _broken(evidence: Evidence, arm: str) -> str | None:
    """Loops, word salad or silence where the baseline answers in words: seen before the tasks, which were not asked then."""
    if any(c.result == "failed" for seen in evidence.preflights.get(evidence.baseline, ()) for c in seen.checks):
        return None
    last = [check for seen in evidence.preflights.get(arm, ())[-1:] for check in seen.checks if check.result == "failed"]
    words = next((check.saw for check in last if check.name == "degenerate"), None)
    return f"broken, as its first answers show, so that no task was asked: {words}" if words and len(last) == 1 else None


def _silent(evidence: Evidence, book: Ledger, arm: str, spec: TaskSpec) -> str | None:
    """Why an arm has no measured record at all on the task."""
    who = "the baseline" if arm == evidence.baseline else "the candidate"
    records = [record for k in range(spec.rounds) for record in book.of(arm, spec.name, k).values()]
    if any(is_scored(record) for record in records):
        return None
    if failures := evidence.failures.get(arm, ()):
        what = " did not pass preflight" if failures[-1].stage == "preflight" else "'s server never answered"
        return f"{who}{what}: {failures[-1].reason}"
    if not records:
        return f"{who} was {'never asked' if evidence.finished else 'not asked yet: the run is not finished'}"
    kinds = Counter(record.failure.kind if record.failure else "without a score" for record in records)
    message = next((record.failure.message for record in records if record.failure), "its answers were not scored")
    return f"{who} could not be measured: 0 of {len(records)} requests ({reasons_words(kinds)}); the first: {message}"


def _not_run(book: Ledger, spec: TaskSpec, arms: tuple[str, ...]) -> str | None:
    """Programs without a sandbox can be run later: until then nothing is judged, for nothing forces a guess."""
    records = [r for arm in arms for k in range(spec.rounds) for r in book.of(arm, spec.name, k).values()]
    down = [r.failure for r in records if r.failure is not None and r.failure.kind == "sandbox"]
    if not down:
        return None
    return f"{len(down)} of {len(records)} programs could not be run: {down[0].message}; the same `bumpgate run` runs them"


def _other_prompts(evidence: Evidence, book: Ledger, arm: str, task: str) -> str | None:
    check = check_prompts(evidence, book, task, arm)
    if not check.differing:
        return None
    return (
        f"the rendered prompts differ in {len(check.differing)} of {check.n} samples, first {check.differing[0]}, "
        "though the settings that shape them were declared equal"
    )


def _unanswered(baseline: Tally) -> str | None:
    if not surely_above(baseline.no_answer, baseline.n, 0.5):
        return None
    reason = baseline.reasons.most_common(1)[0][0]
    remedy = _remedy(reason, baseline.longest_cut)
    return (
        f"the baseline mostly gives no answer: {baseline.no_answer}/{baseline.n} ({reasons_words(baseline.reasons)}); {remedy}"
    )


def _remedy(reason: str, longest_cut: int | None) -> str:
    if reason not in ("truncated", "truncated_in_thinking"):
        return _REMEDIES.get(reason, "look at its responses")
    cut = longest_cut or 0
    to = 1 << (max(4 * cut, THINKING_TOKENS if reason == "truncated_in_thinking" else 1) - 1).bit_length()
    words = f"raise max_tokens from {cut} to {to} or more" if cut else "raise max_tokens"
    return f"{words}, or lower the thinking effort" if reason == "truncated_in_thinking" else words


def _at_floor(baseline: Tally, chance: float, margin: float) -> str | None:
    if surely_above(baseline.correct, baseline.n, (chance + margin) / 100):
        return None
    level = f"at chance level ({chance:g} %)" if chance else "at the floor"
    share, sure = baseline.correct / baseline.n, clopper_pearson(baseline.correct, baseline.n).low
    counts = f"{baseline.correct}/{baseline.n} correct ({100 * share:.1f} %; at 95 %, {100 * sure:.1f} or more)"
    return (
        f"the baseline is {level}: {counts}, "
        f"so even losing everything would hardly exceed the margin {margin:g}; use an easier task or a stronger model"
    )


def _weigh(delta: Delta, margin: float, known: Knowable | None) -> tuple[VerdictName, str]:
    """The verdict on two arms that can be compared, with its reason."""
    planned, excluded = delta.n + delta.errors, delta.excluded
    if delta.drop_is_real_at_best and not excluded:
        return "REGRESSION", _regression_reason(delta, margin) + _what_would_settle(delta, margin)
    if delta.drop_is_real and not excluded:
        return "INVALID", (
            f"errors decide: {_regression_reason(delta, margin)}, but not real if the {delta.errors} of {planned} samples that "
            "could not be measured speak for the candidate"
        )
    if delta.excluded_at_worst:
        return "PASS", _pass_reason(delta, margin)
    if excluded:
        return "INVALID", (
            f"errors decide: {delta.errors} of {planned} samples could not be measured; without them "
            f"a drop of {delta.excluded_drop:.1f} is excluded, with them counted against the candidate only "
            f"{delta.excluded_drop_worst:.1f} (margin {margin:g})"
        )
    reason = f"a drop of up to {delta.excluded_drop:.1f} points cannot be excluded with {delta.n} samples (margin {margin:g})"
    if known is not None and known.n_needed > delta.n:
        return "INCONCLUSIVE", f"{reason}; with about {known.n_needed} a PASS is likely (80 %) if nothing changed"
    return "INCONCLUSIVE", f"{reason}; {-delta.diff:.1f} were seen, enough to leave it open but not to call it real"


def _regression_reason(delta: Delta, margin: float) -> str:
    proof = "the interval excludes 0" if delta.p_value is None else p_words(delta.p_value)
    return (
        f"a drop of {-delta.diff:.1f} points [{-delta.ci_high:.1f}, {-delta.ci_low:.1f}] with {delta.n} samples: "
        f"{delta.newly_wrong} newly wrong, {delta.newly_right} newly right ({proof}; margin {margin:g})"
    )


def _what_would_settle(delta: Delta, margin: float) -> str:
    """Of a real drop that is smaller than the margin, which only so many samples did not rule out."""
    if -delta.diff >= margin:
        return ""
    n = samples_for_margin(margin, (delta.lost + delta.won) / delta.n, -delta.diff)
    return f"; it may be within the margin: if it stays as it is, about {n} samples make a PASS likely (80 %)"


def _pass_reason(delta: Delta, margin: float) -> str:
    errors = f", {delta.errors} not measured and counted against the candidate" if delta.errors else ""
    bound = f"{delta.excluded_drop_worst:.1f} is excluded with {delta.n} samples{errors}"
    if delta.drop_is_real:
        return f"a real drop of {-delta.diff:.1f} points, but below the margin {margin:g}: a drop of {bound}"
    return f"a drop of {bound} (margin {margin:g})"
