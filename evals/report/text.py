"""Foreign words in a markdown document: what a model or an engine said can be read there, and can't change it."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from evals.language import counted, phrase

_BIDI = set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""They would show the rest of a line in another order."""
LINE_BREAK = " ⏎ "


def code(text: str, limit: int, *, keep_end: bool = True) -> str:
    """A code span of one line, safe in a table's cell too; of a long text one end, with the other's length told."""
    text = clean(text).strip()
    if len(text) > limit:
        left = phrase("[{n} characters] … ", n=len(text) - limit)
        text = left + text[-limit:] if keep_end else f"{text[:limit]} …"
    text = LINE_BREAK.join(part for line in text.splitlines() if (part := " ".join(line.split())))
    # Renderers agree on `\|` inside a cell, and not on what a backslash before it means.
    text = text.replace("\\|", "\\¦").replace("|", "\\|")
    fence = _fence(text, 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else phrase("(empty)")


def inline(text: str, limit: int = 600) -> str:
    """A sentence with foreign words in it, as one line without markup of its own."""
    text = " ".join(clean(text).split())
    text = text if len(text) <= limit else f"{text[:limit]} …"
    text = re.sub(r"([\\`*|$]|~~|(?<=\])\()", r"\\\1", text)
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text)
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def block(text: str) -> str:
    """A fenced block that nothing inside can end."""
    lines = "\n".join(clean(line) for line in text.splitlines())
    fence = _fence(lines, 3)
    return f"{fence}\n{lines}\n{fence}"


def clean(text: str) -> str:
    """Without control characters, halves of surrogate pairs and marks that turn the reading direction; lines are kept."""
    lines = text.splitlines()
    return "\n".join("".join(" " if c == "\t" else "�" if _unprintable(c) else c for c in line) for line in lines)


def _unprintable(character: str) -> bool:
    return character in _BIDI or unicodedata.category(character) in ("Cc", "Cs")


def _fence(text: str, at_least: int) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(at_least, longest + 1)


def table(head: str, body: Iterable[list[str]]) -> str:
    """`head` is the first row as it is written."""
    lines = [f"| {head} |", f"|{'---|' * (head.count(' | ') + 1)}"]
    lines += [f"| {' | '.join(cells)} |" for cells in body]
    return "\n".join(lines)


def signed(points: float, spec: str = ".1f") -> str:
    """`+1.3`, `−0.4`, `0.0`."""
    text = f"{points:+{spec}}".replace("-", "−")
    return text if float(text[1:]) else text[1:]


def counts(of: Mapping[str, int]) -> str:
    """`3 truncated, 1 empty`, the most frequent first; `0` where there are none."""
    return counted(sorted(of.items(), key=lambda item: (-item[1], item[0]))) or "0"
