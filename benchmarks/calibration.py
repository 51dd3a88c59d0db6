#!/usr/bin/env python3
"""How often a gate is right: its own judging where the truth is known, and the rules of others on the same data.

    python benchmarks/calibration.py                        # the whole grid → docs/calibration.md
    python benchmarks/calibration.py --quick --json         # a small grid on stdout, in seconds

Nothing is drawn for the gate itself: evals/power.py goes through every outcome, for every number of rounds and looks, with the
functions that evals/verdict.py decides by. The rules of others are simulated (DRAWS runs each, seed SEED).
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import multinomial

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from evals import stats  # noqa: E402
from evals.gate_settings import even  # noqa: E402
from evals.power import Chances, Design, chances  # noqa: E402
from evals.stats import samples_for_margin  # noqa: E402

MARGINS = {50: 10.0, 200: 5.0, 1319: 2.0}
"""Points that a gate with so many questions is made for."""
DISCORDANCES = (0.02, 0.05, 0.1)
DROPS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
LOOKS = 4
LIKELY = 0.9
BASELINE = 0.8
"""Share that the baseline gets right, which the rules of others depend on, and ours doesn't."""
DRAWS, SEED = 20_000, 6
OTHERS = ("relative_5", "unpaired_z", "recovery_95")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One gate under one truth. Drop and margin in points, everything else as shares 0–1; rates are exact."""

    n: int
    discordance: float
    rounds: int
    true_drop: float
    margin: float
    looks: list[int]
    regression_rate: float
    pass_rate: float
    inconclusive_rate: float
    coverage: float
    mean_items: float
    fixed_items: int | None
    """Samples of the design with one look that passes as often where nothing changed; None where that wasn't looked for."""
    others: dict[str, float]
    """How often each rule of others says that something is wrong."""
    others_std_error: float


def said(looks: tuple[int, ...], margin: float, discordance: float, rounds: int, drop: float) -> Chances:
    return chances(Design(sizes=looks, margin=margin, rounds=rounds), discordance, drop / 100)


def cell(
    looks: tuple[int, ...], margin: float, discordance: float, *, rounds: int = 1, drop: float, fixed: int | None = None
) -> Cell:
    found, others = said(looks, margin, discordance, rounds, drop), alarms(looks[-1], discordance, drop / 100)
    return Cell(
        n=looks[-1], discordance=discordance, rounds=rounds, true_drop=drop, margin=margin, looks=list(looks),
        regression_rate=found.regression, pass_rate=found.passes, inconclusive_rate=found.inconclusive,
        coverage=found.coverage, mean_items=found.mean_n, fixed_items=fixed, others=others,
        others_std_error=max(sqrt(p * (1 - p) / DRAWS) for p in others.values()),
    )  # fmt: skip


@cache
def alarms(n: int, discordance: float, drop: float) -> dict[str, float]:
    """How often the rules of others would raise an alarm over one run of each arm."""
    p_lost, p_won = discordance / 2 + drop, discordance / 2
    cells = [p_lost, p_won, BASELINE - p_lost, 1 - BASELINE - p_won]
    draws = np.random.default_rng(SEED).multinomial(n, cells, size=DRAWS)
    baseline, candidate = (draws[:, 0] + draws[:, 2]) / n, (draws[:, 1] + draws[:, 2]) / n
    fired = {
        "relative_5": np.abs(candidate - baseline) > 0.05 * baseline,
        "unpaired_z": unpaired_z(baseline, candidate, n) > 1.6449,
        "recovery_95": candidate < 0.95 * baseline,
    }
    return {name: float(fired[name].mean()) for name in OTHERS}


def unpaired_z(baseline: NDArray[np.float64], candidate: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """As if the two arms had been asked different questions."""
    error = np.sqrt((baseline * (1 - baseline) + candidate * (1 - candidate)) / n)
    return np.divide(baseline - candidate, error, out=np.zeros_like(error), where=error > 0)


def grid(quick: bool) -> Iterator[Cell]:
    """With one look, and with several."""
    for n, margin in list(MARGINS.items())[: 2 if quick else None]:
        for discordance in DISCORDANCES[1:2] if quick else DISCORDANCES:
            for rounds in (1, 2):
                for looks in ((n,), even_looks(n)):
                    for drop in (0.0, margin) if quick else sorted({*DROPS, margin}):
                        yield cell(looks, margin, discordance, rounds=rounds, drop=drop)


def savings(quick: bool) -> Iterator[Cell]:
    """Gates with looks whose last one is where a PASS comes often enough; nothing changed, and a drop of the margin."""
    for margin in (2.0,) if quick else sorted(MARGINS.values()):
        for discordance in DISCORDANCES[1:2] if quick else DISCORDANCES:
            looks, fixed = as_likely(margin, discordance)
            for drop in (0.0, margin):
                yield cell(looks, margin, discordance, drop=drop, fixed=fixed)


def as_likely(margin: float, discordance: float) -> tuple[tuple[int, ...], int]:
    """The looks, and the samples of one look, with which a PASS comes in 90 % of runs if nothing changed."""
    near = samples_for_margin(margin, discordance)
    fixed = least(lambda n: said((n,), margin, discordance, 1, 0.0).passes, near)
    most = least(lambda n: said(even_looks(n), margin, discordance, 1, 0.0).passes, fixed)
    return even_looks(most), fixed


def even_looks(n: int) -> tuple[int, ...]:
    return even(round(n / LOOKS), n, LOOKS)


def least(passes: Callable[[int], float], few: int) -> int:
    """The smallest number of samples above `few` with which a PASS is likely enough, to half a percent."""
    enough = few
    while passes(enough) < LIKELY:
        few, enough = enough, round(1.3 * enough)
    while enough - few > max(1, enough // 200):
        middle = (enough + few) // 2
        few, enough = (few, middle) if passes(middle) >= LIKELY else (middle, enough)
    return enough


def bounds() -> list[list[str]]:
    """How often each bound that a gate's is made of covers the truth, at the worst of many; one look, one round."""
    out = []
    for n in (50, 100, 200):
        counts = np.arange(min(n, n // 4 + 40) + 1.0)
        lost, won = (c[counts[:, None] + counts <= n] for c in np.meshgrid(counts, counts, indexing="ij"))
        covered: dict[str, list[float]] = {words: [] for words in _BOUNDS}
        for flips, drop in product((0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2), np.arange(0, 0.1001, 0.0025)):
            truth = np.array([flips / 2 + drop, flips / 2, 1 - flips - drop])
            chance = multinomial.pmf(np.stack([lost, won, n - lost - won], axis=-1), n, truth)
            for words, excludes in _BOUNDS.items():
                covered[words].append(1 - float(chance[excludes(lost, won, n, drop, stats.ALPHA)].sum()))
        for words, found in covered.items():
            out.append([str(n), words, percent(min(found)), f"{sum(c < 0.945 for c in found)} of {len(found)}"])
    return out


_BOUNDS = {
    "Tango's": stats.tango_excludes,
    "Bonett and Price's": lambda lost, won, n, drop, alpha: stats.bonett_price_bound(lost, won, n, alpha) < drop,
    "the higher of both, as in a gate": stats.excludes,
}
_TWO = """\
A bound is near its level, not at it. Truths: flips of 1 to 20 %, drops of 0 to 10 points in steps of a quarter; one look at
one round."""
_TRUTH = """\
Made by `python benchmarks/calibration.py`, with the functions that the gate decides by. Its own figures are exact:
every outcome is gone through, none is drawn.

A question is lost with probability flips / 2 + drop and won with flips / 2, in each round. Over two rounds the drop
is the same questions in both and the other flips are drawn afresh: the noise of single answers. One gate, so that
alpha is shared with none. *Coverage*: how often the largest drop that is called possible is not below the true one."""
_SAVED = f"""\
{LOOKS} looks in even steps, the last of them where a PASS comes in {100 * LIKELY:.0f} % of runs if nothing changed,
beside the one look that passes as often. Where few answers flip for the margin they save less, or nothing: even without
a flip a margin takes so many samples that an early look can't pass."""
_OTHERS = f"""\
The last three columns: how often a rule says that something is wrong. **5 % relative**: the candidate's one run is
more than 5 % of the baseline's score away from it. **unpaired z**: one-sided, at 95 %, as if each arm had had
questions of its own. **recovery**: the candidate keeps less than 95 % of the baseline's score. They are simulated,
{DRAWS:,} runs each (standard error 0.35 points at most); the baseline gets {100 * BASELINE:.0f} % right."""


def markdown(cells: list[Cell], saved: list[Cell]) -> str:
    head = (
        "margin | flips | looks | true drop | PASS | REGRESSION | coverage | samples on average | samples of one look | share"
    )
    few = [
        [f"{c.margin:g}", percent(c.discordance), ", ".join(map(str, c.looks)), f"{c.true_drop:g}",
         *map(percent, (c.pass_rate, c.regression_rate, c.coverage)), f"{c.mean_items:.0f}", str(c.fixed_items),
         percent(c.mean_items / c.fixed_items) if c.fixed_items else ""]
        for c in saved
    ]  # fmt: skip
    names = "n | margin | flips | rounds | looks | true drop | REGRESSION | PASS | INCONCLUSIVE | coverage | samples on average"
    many = [
        [str(c.n), f"{c.margin:g}", percent(c.discordance), str(c.rounds), str(len(c.looks)), f"{c.true_drop:g}",
         *map(percent, (c.regression_rate, c.pass_rate, c.inconclusive_rate, c.coverage)), f"{c.mean_items:.0f}",
         *(percent(c.others[name]) for name in OTHERS)]
        for c in cells
    ]  # fmt: skip
    parts = [
        "# Calibration: how often a gate is right",
        _TRUTH,
        "## The worst of all cells",
        table("what | worst | where", worst(cells)),
        "## Two bounds in one",
        _TWO,
        table("n | bound | worst coverage | truths where it is below 94.5 %", bounds()),
    ]
    parts += ["## What looks save", _SAVED, table(head, few)]
    parts += ["## Every verdict, and the rules of others", _OTHERS]
    parts += [table(f"{names} | 5 % relative | unpaired z | recovery", many)]
    return "\n\n".join(parts) + "\n"


def worst(cells: list[Cell]) -> list[list[str]]:
    """The cells that are furthest from what a gate promises."""
    same, margins = [c for c in cells if not c.true_drop], [c for c in cells if c.true_drop == c.margin]
    told = (
        ("REGRESSION where nothing changed (5 % are spent)", max(same, key=lambda c: c.regression_rate), "regression_rate"),
        ("PASS of a drop as large as the margin (5 % are spent)", max(margins, key=lambda c: c.pass_rate), "pass_rate"),
        (
            "coverage (95 % are meant; a score interval is near that, not exact)",
            min(cells, key=lambda c: c.coverage),
            "coverage",
        ),
    )
    return [[what, percent(getattr(c, field)), where(c)] for what, c, field in told]


def where(c: Cell) -> str:
    flips, looks = percent(c.discordance), len(c.looks)
    return f"n {c.n}, {flips} flips, rounds: {c.rounds}, looks: {looks}, true drop {c.true_drop:g}, margin {c.margin:g}"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def table(head: str, rows: list[list[str]]) -> str:
    return "\n".join([f"| {head} |", f"|{'---|' * (head.count(' | ') + 1)}", *(f"| {' | '.join(row)} |" for row in rows)])


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a small grid")
    options.add_argument("--json", action="store_true", help="the cells on stdout, and no file")
    options.add_argument("--output", type=Path, default=ROOT / "docs" / "calibration.md")
    asked = options.parse_args()
    cells, saved = list(grid(asked.quick)), list(savings(asked.quick))
    if asked.json:
        print(json.dumps([asdict(c) for c in [*cells, *saved]], indent=1))
    else:
        asked.output.write_text(markdown(cells, saved), encoding="utf-8")
        print(f"{len(cells) + len(saved)} cells: {asked.output}")


if __name__ == "__main__":
    main()
