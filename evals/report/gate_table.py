"""Gates as lines of a terminal. Pure."""

from collections.abc import Sequence

from evals.judged import GateResult
from evals.report.text import signed

HEAD = ("verdict", "gate", "correct, %", "change [90 % interval]", "n", "margin")


def lines(gates: Sequence[GateResult]) -> list[str]:
    """A head and a line each, columns in line."""
    rows = [HEAD, *(_row(gate) for gate in gates)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(gate: GateResult) -> tuple[str, ...]:
    name, margin, delta = f"{gate.arm} · {gate.task}", f"{gate.margin:g}", gate.delta
    if delta is None:
        return gate.verdict, name, "–", "–", "0", margin
    change = f"{signed(delta.diff)} [{signed(delta.ci_low)}, {signed(delta.ci_high)}]"
    return gate.verdict, name, f"{delta.baseline:.1f} → {delta.candidate:.1f}", change, str(delta.n), margin
