"""What of a scorecard stands in scorecard.md: all of it up to so many lines, and of a larger run the first of each kind. Pure.

scorecard.html has everything. A table keeps its first rows, a list its first points, a log its last lines.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from evals.language import phrase

LINES = 150
"""Fewer than these."""
_ROOM = 15
"""Lines that each section has before any is left out."""
_SHARES = {"head": 4.0, "gates": 4.0, "known": 2.0, "changes": 2.0, "findings": 2.0, "flips": 1.6, "needles": 1.6}
"""Times as much room for what a reader decides by."""
_DETAILS = (
    "harness", "acceptance", "preflight", "outcomes", "arms", "costs", "sensors", "greedy", "subjects", "coding", "needles",
    "thinking", "failures",
)  # fmt: skip
"""What can be left out, in this order."""
_FOLDED_TABLE = re.compile(
    r"^<details>(?:(?!</details>|```).)*?^\|---\|(?:(?!</details>).)*</details>$", re.DOTALL | re.MULTILINE
)
Kind = Literal["table", "list", "log", "text"]


@dataclass(frozen=True, kw_only=True)
class _Run:
    """Lines of one kind, one after another."""

    kind: Kind
    lines: tuple[str, ...]

    def cut(self, to: int) -> list[str]:
        left = len(self.lines) - to
        if self.kind == "text" or left < 2:  # a line that says so would take the place of one
            return list(self.lines)
        match self.kind:
            case "table":
                return [*self.lines[:to], f"| {phrase('and {n} more rows, in scorecard.html', n=left)} |"]
            case "list":
                return [*self.lines[:to], f"- {phrase('and {n} more, in scorecard.html', n=left)}"]
            case "log":
                return [phrase("[{n} lines before, in scorecard.html]", n=left), *self.lines[left:]]


def short(parts: Mapping[str, str]) -> dict[str, str]:
    """The sections of a scorecard, in fewer than LINES lines together: all that fit with _ROOM, and then with less."""
    kept = {name: part for name, part in parts.items() if part}
    for left_out in _left_out(kept):
        shown = {name: part for name, part in kept.items() if name not in left_out}
        if _fits(_cut(shown, left_out, _ROOM)):
            break
    most = bisect_left(range(LINES), True, key=lambda room: not _fits(_cut(shown, left_out, room + 1)))
    return _cut(shown, left_out, max(most, 1))


def _fits(parts: Mapping[str, str]) -> bool:
    return sum(part.count("\n") + 2 for part in parts.values()) <= LINES


def _cut(parts: Mapping[str, str], left_out: Mapping[str, str], room: int) -> dict[str, str]:
    out = {name: _section(part, int(room * _SHARES.get(name, 1.0))) for name, part in parts.items()}
    named = phrase("Also in scorecard.html: {titles}.", titles=phrase("; ").join(left_out.values()))
    return out | ({"more": named} if left_out else {})


def _left_out(parts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The titles of what is left out: of nothing, and then of one section more each time."""
    out: dict[str, str] = {}
    yield out
    for name in _DETAILS:
        if name in parts:
            out[name] = re.sub(r"^#+ |<[^<>]*>", "", parts[name].split("\n", 1)[0])
            yield out


def _section(part: str, room: int) -> str:
    if part.count("\n") >= room:  # a table that has to be opened goes before any row that needs not
        part = _FOLDED_TABLE.sub(phrase("The rest is in scorecard.html."), part)
    runs = list(_runs(part.split("\n")))

    def cut(to: int) -> list[str]:
        return [line for run in runs for line in run.cut(to)]

    most = bisect_left(range(1, room + 1), True, key=lambda to: len(cut(to)) > room)
    return "\n".join(cut(most)) if most else _first(cut(1), room)


def _runs(lines: list[str]) -> Iterator[_Run]:
    """A table's head and rule are text, and so are the fences of a log."""
    kinds = list(_kinds(lines))
    start = 0
    for end in range(1, len(lines) + 1):
        if end == len(lines) or kinds[end] != kinds[start]:
            yield _Run(kind=kinds[start], lines=tuple(lines[start:end]))
            start = end


def _kinds(lines: list[str]) -> Iterator[Kind]:
    fence, body = "", False
    for line in lines:
        if fence:
            fence = "" if line == fence else fence
            yield "log" if fence else "text"
            continue
        opened = re.match("`{3,}", line)
        fence, body = opened[0] if opened else "", body and line.startswith("| ")
        yield "table" if body else "list" if line.startswith("- ") else "text"
        body = body or line.startswith("|---|")


def _first(lines: list[str], room: int) -> str:
    """The first paragraphs, with all folds closed that they open."""
    kept: list[str] = []
    for paragraph in _paragraphs(lines):
        if kept and len(kept) + len(paragraph) + 2 > room:
            break
        kept += [*paragraph, ""]
    opened = sum("<details>" in line for line in kept) - sum("</details>" in line for line in kept)
    more = phrase("The rest is in scorecard.html.")
    return "\n".join([*kept, *["</details>", ""] * max(opened, 0), more])


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    found: list[str] = []
    for line, kind in zip(lines, _kinds(lines), strict=True):
        if line or kind == "log":
            found.append(line)
        elif found:
            yield found
            found = []
    if found:
        yield found
