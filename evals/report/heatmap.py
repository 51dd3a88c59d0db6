"""Heat maps of needles, a PNG for each arm: recall by length and depth, and beside a candidate's its change.

Dark is missed. Every cell says its figures, and what was lost is hatched, so that no colour is needed.
"""

import io
from typing import Any

from evals.judged import Evidence
from evals.needle_checks import TASK
from evals.report.needle_rows import HeatRow, Recall, change, heat
from evals.report.text import signed

Axes = Any
"""matplotlib's, which is imported when something is drawn."""

CELL_INCHES = (0.95, 0.42)
DPI = 110


def pictures(evidence: Evidence) -> dict[str, bytes]:
    """By arm: the PNG. Equal evidence, equal bytes. Empty where no needle was measured."""
    task = next((task for task in evidence.tasks if task.name == TASK), None)
    if task is None:
        return {}
    rows = {arm.name: heat(evidence, arm.name, task) for arm in evidence.arms}
    measured = {name: of for name, of in rows.items() if any(row.all.n for row in of)}
    baseline = measured.get(evidence.baseline)
    return {
        name: _drawn(name, of, baseline if name != evidence.baseline else None, evidence.baseline)
        for name, of in measured.items()
    }


def _drawn(arm: str, rows: list[HeatRow], baseline: list[HeatRow] | None, baseline_name: str) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # half a second that only needles cost
    from matplotlib.figure import Figure

    depths = sorted({depth for row in rows for depth in row.by_depth})
    panels = 1 if baseline is None else 2
    width, height = CELL_INCHES[0] * len(depths) + 0.4, CELL_INCHES[1] * len(rows) + 1.1
    figure = Figure(figsize=(panels * width + 1.5, height), dpi=DPI, layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False, sharey=True)[0]
    _grid(axes[0], rows, depths, f"{arm}: needles found")
    for y, row in enumerate(rows):
        for x, depth in enumerate(depths):
            _recall_cell(axes[0], x, y, row.by_depth.get(depth))
    if baseline is not None:
        _grid(axes[1], rows, depths, f"change against {baseline_name}")
        before = {(row.name, row.language): row for row in baseline}
        for y, row in enumerate(rows):
            for x, depth in enumerate(depths):
                of = before.get((row.name, row.language))
                _change_cell(axes[1], x, y, of.by_depth.get(depth) if of else None, row.by_depth.get(depth))
    out = io.BytesIO()
    FigureCanvasAgg(figure).print_figure(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _grid(axes: Axes, rows: list[HeatRow], depths: list[int], title: str) -> None:
    axes.set(xlim=(-0.5, len(depths) - 0.5), ylim=(len(rows) - 0.5, -0.5), xlabel="depth")
    axes.set_title(title, fontsize=9)
    axes.set_xticks(range(len(depths)), [f"{d} %" for d in depths], fontsize=8)
    axes.set_yticks(range(len(rows)), [f"{row.name} {row.language}" for row in rows], fontsize=8)
    axes.tick_params(length=0)


def _recall_cell(axes: Axes, x: int, y: int, recall: Recall | None) -> None:
    if recall is None or not recall.n:
        _box(axes, x, y, 1.0, "–")
        return
    near = f"\n{recall.near} near" if recall.near else ""
    _box(axes, x, y, 0.25 + 0.75 * recall.found / recall.n, f"{recall.found}/{recall.n}{near}")


def _change_cell(axes: Axes, x: int, y: int, before: Recall | None, after: Recall | None) -> None:
    points = change(before, after)
    if points is None:
        _box(axes, x, y, 1.0, "–")
        return
    _box(axes, x, y, 1.0 - 0.6 * max(-points, 0.0) / 100, signed(points, ".0f"), "////" if points < 0 else "")


def _box(axes: Axes, x: int, y: int, lightness: float, text: str, hatch: str = "") -> None:
    """Greys alone: what is lighter is better, in any eye and on any paper."""
    from matplotlib.patches import Rectangle

    box = Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=str(lightness), edgecolor="0.5", linewidth=0.6, hatch=hatch or None)
    axes.add_patch(box)
    axes.text(
        x, y, text, ha="center", va="center", fontsize=7, color="black" if lightness > 0.5 else "white",
        bbox={"facecolor": str(lightness), "edgecolor": "none", "pad": 0.8} if hatch else None,
    )  # fmt: skip
