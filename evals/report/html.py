"""scorecard.html: the words and tables of scorecard.md, drawn besides, with its answers side by side. One file, no network.

A model's words get there as text alone: the template escapes, the answers are JSON that a script reads, and the page's own
policy lets nothing run or load but what is in it.
"""

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from evals import levels
from evals.judged import Evidence, Verdict
from evals.language import phrase, spoken, term
from evals.needle_checks import TASK
from evals.report import acceptance, html_flips, html_plots, html_words
from evals.report import scorecard as rows
from evals.report.needle_rows import HeatRow, Recall, change, heat
from evals.report.text import signed

MAX_BYTES = 3_000_000
FLIPS_BYTES = 2_000_000
SLACK_BYTES = 20_000
"""For the sentence that says what was left out."""
_NO_ANSWERS = html_flips.Explorer(json="", shown=0, total=1, left_out={})
"""For the size of all else."""
SHADES = 10
"""Of a heat map: steps from nothing to all."""


@dataclass(frozen=True, kw_only=True)
class Section:
    name: str
    title: str
    body: Markup


@dataclass(frozen=True, kw_only=True)
class HeatCell:
    shade: str
    """A class: `m0` all found to `m10` none; of a change `d10` all lost, `d0` none, `u10` all won; empty: not measured."""
    text: str


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    title: str
    depths: list[int]
    rows: list[tuple[str, list[HeatCell]]]
    """Name of the row, and its cells by depth."""


def page(evidence: Evidence, verdict: Verdict, parts: Mapping[str, str]) -> str:
    """The whole file; `parts` are those of scorecard.md."""
    template, costs, efforts = _template(), rows.costs(evidence), levels.levels(evidence)
    drawn = {
        "thinking": [*html_plots.efforts(efforts), *html_plots.tokens(efforts)],
        "greedy": list(html_plots.partings(verdict.divergences)),
        "costs": [*html_plots.seconds(costs), *html_plots.by_position(costs)],
        "acceptance": list(html_plots.by_context(acceptance.rows(evidence))),
    }
    told = {
        "evidence": evidence, "verdict": verdict, "sections": list(_sections(parts)), "drawn": drawn,
        "head": html_words.html(parts["head"]), "gates": html_words.html(parts["gates"]),
        "intervals": html_plots.gates(verdict.gates), "heat_maps": list(heat_maps(evidence)),
        "css": Markup(_file("scorecard.css")), "js": Markup(_file("scorecard.js")), "policy": _policy(),
    }  # fmt: skip
    bare = template.render(told, explorer=_NO_ANSWERS)
    room = min(FLIPS_BYTES, MAX_BYTES - SLACK_BYTES - len(bare.encode(errors="replace")))
    return template.render(told, explorer=html_flips.explorer(evidence, verdict, room))


def _sections(parts: Mapping[str, str]) -> Iterator[Section]:
    """Those below the table of gates that say something."""
    for name, part in parts.items():
        if part and name not in ("head", "gates"):
            heading, _, words = part.partition("\n")
            yield Section(name=name, title=heading.lstrip("# "), body=html_words.html(words))


def heat_maps(evidence: Evidence) -> Iterator[list[HeatMap]]:
    """Each arm's recall by length and depth, and beside a candidate's its change."""
    task = next((t for t in evidence.tasks if t.name == TASK), None)
    maps = {arm.name: heat(evidence, arm.name, task) for arm in evidence.arms} if task else {}
    before = {(r.name, r.language): r.by_depth for r in maps.get(evidence.baseline, ()) if r.all.n}
    for arm, found in maps.items():
        if not any(row.all.n for row in found):
            continue
        side_by_side = [_map(phrase("{arm}: needles found", arm=arm), found, lambda _, __, recall: _found(recall))]
        if arm != evidence.baseline and before:
            side_by_side.append(_map(
                phrase("{arm}: change against {baseline}, points", arm=arm, baseline=evidence.baseline), found,
                lambda row, depth, recall: _changed(change(before.get((row.name, row.language), {}).get(depth), recall)),
            ))  # fmt: skip
        yield side_by_side


def _map(title: str, found: list[HeatRow], cell: Callable[[HeatRow, int, Recall | None], HeatCell]) -> HeatMap:
    depths = sorted({depth for row in found for depth in row.by_depth})
    cells = [(f"{row.name} {row.language}", [cell(row, d, row.by_depth.get(d)) for d in depths]) for row in found]
    return HeatMap(title=title, depths=depths, rows=cells)


def _found(recall: Recall | None) -> HeatCell:
    if recall is None or not recall.n:
        return HeatCell(shade="", text="–")
    near = phrase(", {near} near", near=recall.near) if recall.near else ""
    return HeatCell(shade=f"m{_shade(1 - recall.found / recall.n)}", text=f"{recall.found}/{recall.n}{near}")


def _changed(points: float | None) -> HeatCell:
    if points is None:
        return HeatCell(shade="", text="–")
    shade = _shade(abs(points) / 100)
    return HeatCell(shade=f"{'u' if points > 0 else 'd'}{shade}", text=signed(points, ".0f"))


def _shade(share: float) -> int:
    """Never the lightest where there is something."""
    return max(1, round(SHADES * share)) if share else 0


@cache
def _template() -> Template:
    loader = PackageLoader("evals.report")
    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    env.globals |= {"phrase": phrase, "term": term, "language": spoken}
    return env.get_template("scorecard.html.j2")


@cache
def _file(name: str) -> str:
    loader = PackageLoader("evals.report")
    return loader.get_source(Environment(autoescape=True), name)[0]


def _policy() -> str:
    """Content-Security-Policy: this style and this script, and nothing from anywhere."""
    style, script = (f"'sha256-{_digest(_file(name))}'" for name in ("scorecard.css", "scorecard.js"))
    return f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
