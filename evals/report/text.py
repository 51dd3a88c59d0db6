"""Foreign words in a markdown document: what a model or an engine said can be read there, and can't change it."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from evals.language import counted, phrase

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Unicode's Default_Ignorable_Code_Point, and marks of annotations: no eye sees them, or they turn the reading direction.

Joiners in an emoji or in Persian are among them, for two answers that differ must not look alike; the selectors that only
colour the sign before them, as in every other ⚠️, are not.
"""
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
    """With `�` for control characters and halves of surrogate pairs, and escapes for what can't be seen; lines are kept."""
    lines = _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text).splitlines()
    return "\n".join("".join(" " if c == "\t" else "�" if _unprintable(c) else c for c in line) for line in lines)


def _unprintable(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs")


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
