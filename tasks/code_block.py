"""The program in an answer. Pure.

The rule: thoughts are no answer. Of the fenced blocks that are Python (or say nothing), the last that defines the entry counts,
for whoever writes two corrects the first; one that parses comes before one that does not; where none defines the entry, the
last block. A fence left open runs to the end of the text. Without a fence, the lines that parse as a program with the entry.
An answer that was cut at max_tokens counts only if the program was closed before.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_PYTHON = re.compile(r"\s*\{?\.?\s*(?:py|python|python3|py3|python[\d.]+|ipython)?\s*(?:[\s{},:=].*)?", re.IGNORECASE)
_BEGINS = re.compile(r"(?:from|import|def|class|async\s+def)\s|@\w")


@dataclass(frozen=True, kw_only=True)
class Block:
    code: str
    closed: bool
    """False for a fence that was never closed, and for a program without a fence."""


def program(text: str, entry: str) -> Block | None:
    """The block of a visible answer that counts; None where there is no code."""
    found = list(_fenced(text)) or list(_bare(text, entry))
    if not found:
        return None
    return max(enumerate(found), key=lambda item: (_rank(item[1].code, entry), item[0]))[1]


def _rank(code: str, entry: str) -> int:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 1 if re.search(rf"^(?:async\s+def|def|class)\s+{re.escape(entry)}\b", code, re.MULTILINE) else 0
    return 2 if entry in _names(tree) else 0


def _names(tree: ast.Module) -> Iterator[str]:
    """What the module defines at its top, branches included."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        for child in ast.iter_child_nodes(node):
            match child:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    yield name
                case ast.Assign(targets=targets):
                    yield from (t.id for t in targets if isinstance(t, ast.Name))
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                    yield name
                case ast.If() | ast.Try() | ast.With():
                    left.append(child)


def _fenced(text: str) -> Iterator[Block]:
    lines = iter(text.replace("\r\n", "\n").split("\n"))
    for line in lines:
        opening = _FENCE.match(line)
        if opening is None:
            continue
        body: list[str] = []
        closed = False
        for inner in lines:
            closing = _FENCE.match(inner)
            if closing and not closing["info"].strip() and closing["fence"].startswith(opening["fence"]):
                closed = True
                break
            body.append(inner)
        code = _unquoted(body) if ">" in opening["indent"] else "\n".join(body)
        if _PYTHON.fullmatch(opening["info"]) and code.strip():
            yield Block(code=textwrap.dedent(code), closed=closed)


def _unquoted(lines: list[str]) -> str:
    return "\n".join(re.sub(r"^\s*>\s?", "", line) for line in lines)


def _bare(text: str, entry: str) -> Iterator[Block]:
    """The longest run of lines that is a program with the entry: prose before and after it does not parse."""
    lines = text.replace("\r\n", "\n").split("\n")
    starts = [i for i, line in enumerate(lines) if _BEGINS.match(line)]
    if not any(re.match(rf"(?:async\s+def|def|class)\s+{re.escape(entry)}\b", line) for line in lines):
        return
    for start in starts[:1]:
        ends = [i for i in range(len(lines), start, -1) if lines[i - 1].strip()]
        for end in ends:
            code = "\n".join(lines[start:end])
            if _rank(code, entry) == 2:
                yield Block(code=code, closed=end < ends[0])
                return
        yield Block(code="\n".join(lines[start:]), closed=False)
