"""`bumpgate history` as a table for a terminal and as a plot."""

import io
from typing import Any

from evals.report.text import signed
from evals.trend import Change, Metric, Row

DPI = 110
HEAD = ["date", "run", "arm", "vLLM", "verdict", "n", "value", "since the first blessed", "since the last blessed", ""]
_MARKS = {"up": "▲", "down": "▼", None: " "}


def table(rows: list[Row], metric: Metric) -> str:
    """Columns in line; ▲ and ▼ where an interval leaves out that nothing changed."""
    cells = [HEAD, *(_cells(row, metric) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)


def _cells(row: Row, metric: Metric) -> list[str]:
    run = row.run
    return [
        run.started_at[:10], run.run_id, run.arm, run.version or "–", row.verdict, str(row.n), f"{row.value:.1f}",
        _change(row.since_first, metric, row.n), _change(row.since_last, metric, row.n), "blessed" if run.blessed else "",
    ]  # fmt: skip


def _change(change: Change | None, metric: Metric, n: int) -> str:
    if change is None:
        return "–"
    of = f" (n {change.n})" if change.n != n else ""
    if metric == "tokens":
        ends = "" if change.low is None or change.high is None else f" [{change.low:.2f}, {change.high:.2f}]"
        return f"{_MARKS[change.real(metric)]} ×{change.value:.2f}{ends}{of}"
    assert change.low is not None  # as shares always have
    assert change.high is not None
    return f"{_MARKS[change.real(metric)]} {signed(change.value)} [{signed(change.low)}, {signed(change.high)}]{of}"


def plot(rows: list[Row], title: str, metric: Metric) -> bytes:
    """A PNG: above the value of every arm, below its change since the first blessed arm, with intervals and the margin."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # as in heatmap.py
    from matplotlib.figure import Figure

    runs = list(dict.fromkeys(row.run.run_id for row in rows))
    figure = Figure(figsize=(max(6.0, 1.2 * len(runs) + 2), 6), dpi=DPI, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    arms = list(dict.fromkeys(row.run.arm for row in rows))
    for number, arm in enumerate(arms):
        own = [row for row in rows if row.run.arm == arm]
        at = [runs.index(row.run.run_id) + 0.08 * (number - (len(arms) - 1) / 2) for row in own]
        _line(above, at, [(row.value, row.low, row.high) for row in own], arm, number)
        changed = [(x, row.since_first) for x, row in zip(at, own, strict=True) if row.since_first is not None]
        _line(below, [x for x, _ in changed], [(c.value, c.low, c.high) for _, c in changed], arm, number)
        ringed = [(x, row.value) for x, row in zip(at, own, strict=True) if row.run.blessed]
        above.plot([x for x, _ in ringed], [y for _, y in ringed], "o", fillstyle="none", markersize=13, color="0.3")
    above.set(
        title=f"{title}; ringed: blessed",
        ylabel={"correct": "correct, %", "no_answer": "no answer, %", "tokens": "tokens"}[metric],
    )
    below.set(ylabel="since the first blessed" + (", ratio" if metric == "tokens" else ", points"))
    below.axhline(1.0 if metric == "tokens" else 0.0, color="0.4", linewidth=0.8)
    for margin in {row.margin for row in rows if row.margin is not None}:
        below.axhline(-margin, color="0.4", linewidth=0.8, linestyle="--")
        below.annotate(f"margin {margin:g}", (0, -margin), textcoords="offset points", xytext=(2, 3), fontsize=7)
    below.set_xticks(range(len(runs)), [_tick([row for row in rows if row.run.run_id == run]) for run in runs], fontsize=8)
    above.legend(fontsize=8)
    out = io.BytesIO()
    FigureCanvasAgg(figure).print_figure(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _tick(rows: list[Row]) -> str:
    """The date, and under it the versions of vLLM."""
    versions = dict.fromkeys(row.run.version or "?" for row in rows)
    return f"{rows[0].run.started_at[:10]}\n{', '.join(versions)}"


def _line(axes: Any, at: list[float], values: list[tuple[float, float | None, float | None]], arm: str, number: int) -> None:
    """Points with their intervals, joined; told apart by form as well as by colour."""
    if not at:
        return
    errors = [
        [max(value - low, 0.0) if low is not None else 0.0 for value, low, _ in values],  # rounding may be a hair below 0
        [max(high - value, 0.0) if high is not None else 0.0 for value, _, high in values],
    ]
    form = "osD^vPX*"[number % 8]
    axes.errorbar(
        at, [value for value, _, _ in values], yerr=errors, marker=form, markersize=5, capsize=3, linewidth=1, label=arm
    )
