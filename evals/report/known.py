"""The scorecard's sections on what could be known at all, and on the looks that were taken."""

from evals import knowable
from evals.judged import Evidence, GateResult, Knowable, Look, Verdict
from evals.language import phrase
from evals.report.text import table


def section(evidence: Evidence, verdict: Verdict) -> str:
    """Empty where nothing could be compared."""
    lines = [_line(g, g.knowable) for g in verdict.gates if g.knowable]
    if not lines:
        return ""
    if (chance := verdict.passes_if_equal) is not None:
        said = phrase(
            "If nothing had changed, an overall PASS was {likely:.0f} % likely{all_gates}.",
            likely=100 * chance,
            all_gates=_all_gates(verdict),
        )
        lines.append(f"- {said}")
        if chance < knowable.LIKELY:
            warning = knowable.warning(chance, [g.knowable for g in verdict.gates if g.knowable])
            lines.append(f"- {phrase('Warning: {warning}.', warning=warning)}")
    parts = [f"## {phrase('What could be known')}", "\n".join(lines)]
    if told := [look for look in evidence.looks if len(look.sizes) > 1 or look.n not in look.sizes]:
        parts.append(_looks(told))
    return "\n\n".join(parts)


def _all_gates(verdict: Verdict) -> str:
    """The chance is that of independent gates, and those on one task share the baseline."""
    return phrase(" at the least, for all {n} gates must pass", n=len(verdict.gates)) if len(verdict.gates) > 1 else ""


def _line(gate: GateResult, k: Knowable) -> str:
    told = phrase(
        "{flips}; {sentence}; {odds}.",
        flips=knowable.flips(k),
        sentence=knowable.sentence(k),
        odds=knowable.odds(k),
    )
    return f"- {gate.arm} · {gate.task}{phrase(': ')}{told}"


def _number(look: Look) -> str:
    if look.n not in look.sizes:
        return phrase("not planned")
    return phrase("{number} of {n}", number=look.sizes.index(look.n) + 1, n=len(look.sizes))


def _looks(looks: list[Look]) -> str:
    head = phrase("candidate | task | look | samples | level of PASS | level of REGRESSION | verdict | when")
    cells = [
        [
            look.arm, look.task,
            _number(look),
            f"{look.n:,}", f"{100 * look.passing:.2f} %", f"{100 * look.regression:.3f} %", look.verdict, look.at,
        ]
        for look in looks
    ]  # fmt: skip
    note = phrase(
        "Looks were planned beforehand; each decides at its own one-sided level, so that all of them together err "
        "no more often than one would (Lan, DeMets 1983). The intervals of these gates are at the level of their "
        "last look."
    )
    return f"{table(head, cells)}\n\n{note}"
