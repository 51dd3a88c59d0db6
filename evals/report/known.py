"""The scorecard's sections on what could be known at all, and on the looks that were taken."""

from evals import knowable
from evals.judged import Evidence, GateResult, Knowable, Look, Verdict
from evals.report.text import table


def section(evidence: Evidence, verdict: Verdict) -> str:
    """Empty where nothing could be compared."""
    lines = [_line(g, g.knowable) for g in verdict.gates if g.knowable]
    if not lines:
        return ""
    if (chance := verdict.passes_if_equal) is not None:
        lines.append(f"- If nothing had changed, an overall PASS was {100 * chance:.0f} % likely{_all_gates(verdict)}.")
        if chance < knowable.LIKELY:
            lines.append(f"- Warning: {knowable.warning(chance, len(verdict.gates))}.")
    parts = ["## What could be known", "\n".join(lines)]
    if told := [look for look in evidence.looks if len(look.sizes) > 1 or look.n not in look.sizes]:
        parts.append(_looks(told))
    return "\n\n".join(parts)


def _all_gates(verdict: Verdict) -> str:
    """The chance is that of independent gates, and those on one task share the baseline."""
    return f" at the least, for all {len(verdict.gates)} gates must pass" if len(verdict.gates) > 1 else ""


def _line(gate: GateResult, k: Knowable) -> str:
    flips = f"{100 * k.discordance:.1f} % of the answers flip"
    return f"- {gate.arm} · {gate.task}: {flips}; {knowable.sentence(k)}; {knowable.odds(k)}."


def _looks(looks: list[Look]) -> str:
    head = "candidate | task | look | samples | level of PASS | level of REGRESSION | verdict | when"
    cells = [
        [
            look.arm, look.task,
            f"{look.sizes.index(look.n) + 1} of {len(look.sizes)}" if look.n in look.sizes else "not planned",
            f"{look.n:,}", f"{100 * look.passing:.2f} %", f"{100 * look.regression:.3f} %", look.verdict, look.at,
        ]
        for look in looks
    ]  # fmt: skip
    note = (
        "Looks were planned beforehand; each decides at its own one-sided level, so that all of them together err no more "
        "often than one would (Lan, DeMets 1983). The intervals of these gates are at the level of their last look."
    )
    return f"{table(head, cells)}\n\n{note}"
