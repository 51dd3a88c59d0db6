"""Why a candidate cannot be compared with the baseline on a task, in words with what to do about it. Pure."""

from collections import Counter

from evals.compare import Ledger, Tally, check_prompts, is_scored, tally, task_spec
from evals.identity import mixture
from evals.judged import ArmSpec, Delta, Evidence, GateSpec, TaskSpec
from evals.language import later, phrase
from evals.outcomes import reasons_words
from evals.stats import clopper_pearson, surely_above

THINKING_TOKENS = 8192
"""Less is hardly worth a try with thinking on: Qwen3's card asks for 32,768, and four times as little is a start."""

_REMEDIES = {
    "empty_after_thinking": later("it ends before it answers: lower the thinking effort, or check the chat template"),
    "empty": later("check the chat template and the reasoning parser"),
    "degenerate": later("check the checkpoint and the sampling settings"),
    "nothing_to_extract": later("check the prompt's answer format"),
}


def incomparable(evidence: Evidence, book: Ledger, arm: ArmSpec, gate: GateSpec, delta: Delta | None) -> str | None:
    """Why the two arms cannot be compared on this task; None where they can."""
    spec, planned = task_spec(evidence, gate.task), len(evidence.asked(arm.name, gate.task))
    if spec is None:
        return phrase("{task} is not among the tasks", task=gate.task)
    if not spec.marked:
        return phrase("{task} marks nothing right or wrong, so it cannot gate", task=gate.task)
    if arm.name in evidence.left_out:
        return phrase("it was not selected, and so not asked in full; the same command without a selection goes on with it")
    if down := _not_run(book, spec, (evidence.baseline, arm.name)):
        return down
    silent = _silent(evidence, book, evidence.baseline, spec) or _silent(evidence, book, arm.name, spec)
    if silent or (arm.same_prompts and (silent := _other_prompts(evidence, book, arm.name, gate.task))):
        return silent
    if not planned:
        return phrase("no sample of {task} was planned", task=gate.task)
    n = delta.n if delta else 0
    if 2 * n < planned:
        return phrase(
            "errors: {left} of {planned} samples could not be measured on both arms, too many to decide",
            left=planned - n,
            planned=planned,
        )
    for name, who in ((evidence.baseline, phrase("the baseline")), (arm.name, phrase("the candidate"))):
        if mixed := mixture(evidence, book, name, spec):
            return phrase("{who} was not one configuration: {mixed}", who=who, mixed=mixed)
    rounds = [tally(book, evidence.baseline, gate.task, k) for k in range(spec.rounds)]
    unanswered = next((said for seen in rounds if (said := _unanswered(seen))), None)
    return unanswered or _at_floor(rounds[0], spec.chance, gate.margin)


def _silent(evidence: Evidence, book: Ledger, arm: str, spec: TaskSpec) -> str | None:
    """Why an arm has no measured record at all on the task."""
    who = phrase("the baseline") if arm == evidence.baseline else phrase("the candidate")
    records = [record for k in range(spec.rounds) for record in book.of(arm, spec.name, k).values()]
    if any(is_scored(record) for record in records):
        return None
    if failures := evidence.failures.get(arm, ()):
        reason = failures[-1].reason
        if failures[-1].stage == "preflight":
            return phrase("{who} did not pass preflight: {reason}", who=who, reason=reason)
        return phrase("{who}'s server never answered: {reason}", who=who, reason=reason)
    if not records:
        if evidence.finished:
            return phrase("{who} was never asked", who=who)
        return phrase("{who} was not asked yet: the run is not finished", who=who)
    kinds = Counter(record.failure.kind if record.failure else phrase("without a score") for record in records)
    message = next((record.failure.message for record in records if record.failure), phrase("its answers were not scored"))
    return phrase(
        "{who} could not be measured: 0 of {n} requests ({reasons}); the first: {message}",
        who=who,
        n=len(records),
        reasons=reasons_words(kinds),
        message=message,
    )


def _not_run(book: Ledger, spec: TaskSpec, arms: tuple[str, ...]) -> str | None:
    """Programs without a sandbox can be run later: until then nothing is judged, for nothing forces a guess."""
    records = [r for arm in arms for k in range(spec.rounds) for r in book.of(arm, spec.name, k).values()]
    down = [r.failure for r in records if r.failure is not None and r.failure.kind == "sandbox"]
    if not down:
        return None
    return phrase(
        "{down} of {n} programs could not be run: {message}; the same `bumpgate run` runs them",
        down=len(down),
        n=len(records),
        message=down[0].message,
    )


def _other_prompts(evidence: Evidence, book: Ledger, arm: str, task: str) -> str | None:
    check = check_prompts(evidence, book, task, arm)
    if not check.differing:
        return None
    return phrase(
        "the rendered prompts differ in {differing} of {n} samples, first {first}, though the settings that shape them "
        "were declared equal",
        differing=len(check.differing),
        n=check.n,
        first=check.differing[0],
    )


def _unanswered(baseline: Tally) -> str | None:
    if not surely_above(baseline.no_answer, baseline.n, 0.5):
        return None
    reason = baseline.reasons.most_common(1)[0][0]
    remedy = _remedy(reason, baseline.longest_cut)
    return phrase(
        "the baseline mostly gives no answer: {no_answer}/{n} ({reasons}); {remedy}",
        no_answer=baseline.no_answer,
        n=baseline.n,
        reasons=reasons_words(baseline.reasons),
        remedy=remedy,
    )


def _remedy(reason: str, longest_cut: int | None) -> str:
    if reason not in ("truncated", "truncated_in_thinking"):
        return phrase(_REMEDIES.get(reason, later("look at its responses")))
    cut = longest_cut or 0
    to = 1 << (max(4 * cut, THINKING_TOKENS if reason == "truncated_in_thinking" else 1) - 1).bit_length()
    words = phrase("raise max_tokens from {cut} to {to} or more", cut=cut, to=to) if cut else phrase("raise max_tokens")
    return phrase("{words}, or lower the thinking effort", words=words) if reason == "truncated_in_thinking" else words


def _at_floor(baseline: Tally, chance: float, margin: float) -> str | None:
    if surely_above(baseline.correct, baseline.n, (chance + margin) / 100):
        return None
    level = phrase("at chance level ({chance:g} %)", chance=chance) if chance else phrase("at the floor")
    share, sure = baseline.correct / baseline.n, clopper_pearson(baseline.correct, baseline.n).low
    counts = phrase(
        "{correct}/{n} correct ({share:.1f} %; at 95 %, {sure:.1f} or more)",
        correct=baseline.correct,
        n=baseline.n,
        share=100 * share,
        sure=100 * sure,
    )
    return phrase(
        "the baseline is {level}: {counts}, so even losing everything would hardly exceed the margin {margin:g}; "
        "use an easier task or a stronger model",
        level=level,
        counts=counts,
        margin=margin,
    )
