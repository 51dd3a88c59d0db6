"""The scorecard's section on greedy outputs, compared token by token."""

from evals.divergence import sentence
from evals.judged import Divergence, Evidence
from evals.language import phrase
from evals.parting import ROUNDING, tie
from evals.report import sensors
from evals.report.text import table


def section(evidence: Evidence, divergences: tuple[Divergence, ...]) -> str:
    if not divergences:
        return ""
    note = phrase(
        "A finding, not a gate: any change of kernels turns some ties. What counts is whether a candidate differs "
        "more often than the baseline does from its own second launch."
    )
    lines = [f"## {phrase('Greedy outputs, token by token')}", "", note, ""]
    for d in divergences:
        texts = phrase(" ") + phrase("Texts were compared: some pass had no token ids.") if d.by_text else ""
        lines.append(f"- **{d.arm}** {phrase('{sentence}.', sentence=sentence(d))}{texts}{_parted(d)}")
    if cells := [row for d in divergences for row in _divergence_cells(d)]:
        head = phrase(
            "candidate | prompt | equal before they part | top-2 gap there, nats | {baseline} differs from itself too",
            baseline=evidence.baseline,
        )
        lines += ["", table(head, cells), "", phrase("The widest gaps, up to three an arm. {tie}", tie=_tie(evidence))]
    return "\n".join(lines)


def _parted(d: Divergence) -> str:
    first = [p.first for p in d.prompts if p.first is not None]
    if not first or d.by_text:
        return ""
    kinds = sensors.kinds(p.kind for p in d.prompts)
    where = sensors.positions(first)
    told = (
        phrase("They part {where}; {kinds}.", where=where, kinds=kinds) if kinds else phrase("They part {where}.", where=where)
    )
    return phrase(" ") + told


def _tie(evidence: Evidence) -> str:
    limit = tie(evidence)
    why = (
        phrase("what rounding moves it by")
        if limit == ROUNDING
        else phrase("what the baseline's own restart moves 99 % of gaps by")
    )
    return phrase(
        "A gap that moved by up to {limit:.2f} nats is a tie, for that is {why}; beyond it stands another opinion.",
        limit=limit,
        why=why,
    )


def _divergence_cells(d: Divergence) -> list[list[str]]:
    cells = []
    for p in sorted((p for p in d.prompts if p.first is not None), key=lambda p: -(p.margin or 0))[:3]:
        equal, itself = f"{p.first} ({100 * p.common_prefix_share:.0f} %)", phrase("yes") if p.noise_differs else phrase("no")
        gap = "–" if p.margin is None else f"{p.margin:.3f}"
        cells.append([d.arm, p.sample_id, equal, gap, itself])
    return cells
