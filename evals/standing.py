"""What a gate may decide with the samples that it has, and at which level: nothing, where nobody planned for them. Pure.

One rule: what counts is what was planned when the gate was first looked at. Its margin and the numbers of samples at which it
may be judged are written in the journal then; at any other number, or under another margin, its figures explore.
"""

from dataclasses import dataclass

from evals import looks
from evals.judged import Evidence, GateSpec, Look
from evals.language import phrase
from evals.looks import Levels
from evals.stats import ALPHA


@dataclass(frozen=True, kw_only=True)
class Standing:
    n: int
    """Samples that the arm was to be asked."""
    sizes: tuple[int, ...]
    """Of all looks that were planned at the first."""
    levels: Levels
    unplanned: str = ""
    """Why nothing can be decided with so many samples; empty where they were planned."""
    regression: Look | None = None
    """The planned look that found one: samples that were asked later don't take it back."""


def standing(evidence: Evidence, arm: str, gate: GateSpec) -> Standing:
    ask, gates = evidence.asks.get((arm, gate.task)), gate_count(evidence)
    planned = (ask.looks if ask else gate.looks) or (len(evidence.asked(arm, gate.task)),)
    n = ask.n if ask and ask.looks else len(evidence.asked(arm, gate.task))
    taken = [look for look in evidence.looks if (look.arm, look.task) == (arm, gate.task)]
    sizes = taken[0].sizes if taken else planned
    unplanned = _unplanned(n, sizes, gate.margin, taken)
    levels = Levels(regression=ALPHA / gates)
    if not unplanned:
        levels = looks.planned(sizes, gates)[sizes.index(n)]
    found = [look for look in taken if look.verdict == "REGRESSION" and look.n in sizes and look.n != n]
    return Standing(n=n, sizes=sizes, levels=levels, unplanned=unplanned, regression=found[0] if found else None)


def _unplanned(n: int, sizes: tuple[int, ...], margin: float, taken: list[Look]) -> str:
    if taken and taken[0].margin != margin:
        return phrase("its margin was {margin:g} when it was first looked at", margin=taken[0].margin)
    if n in sizes:
        return ""
    if not taken:
        return phrase("{n} samples are at none of its looks ({looks})", n=n, looks=", ".join(map(str, sizes)))
    return phrase("it was first looked at with {n} samples, and {now} were not planned then", n=taken[0].n, now=n)


def gate_count(evidence: Evidence) -> int:
    """Gates that are judged, one for each candidate that a gate names, so that alpha is divided by this; at least 1.

    By the experiment file alone: neither a selection of tests nor an arm that failed makes the family smaller.
    """
    candidates = [arm.name for arm in evidence.arms if arm.name != evidence.baseline]
    return max(1, sum(gate.judges(name) for gate in evidence.gates for name in candidates))
