"""The program in an answer. Pure.

The rule: thoughts are no answer. Of the fenced blocks that are Python (or say nothing), the last that defines the entry counts,
for whoever writes two corrects the first; one that parses comes before one that does not, and either before one that only
repeats the signature; where none defines the entry, the last block. A block ends at the first closing fence at which it parses,
for a docstring may hold fences of its own. A fence left open runs to the end of the text. Without a fence, the lines that parse
as a program with the entry. An answer that was cut at max_tokens counts only if the program was closed before.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_PYTHON = re.compile(r"\s*\{?\.?\s*(?:py|python|python3|py3|python[\d.]+|ipython)?\s*(?:[\s{},:=].*)?", re.IGNORECASE)
_BEGINS = re.compile(r"(?:from|import|def|class|async\s+def)\s|@\w|[A-Za-z_]\w*\s*(?::[^=]+)?=[^=]")
_INVISIBLE = "\ufeff\u200b"
_MOST = 20
"""Places that are tried as a block's end, or as a program's beginning: more are no honest answer's."""


@dataclass(frozen=True, kw_only=True)
class Block:
    code: str
    closed: bool
    """False for a fence that was never closed, and for a program without a fence."""


def program(text: str, entry: str) -> Block | None:
    """The block of a visible answer that counts; None where there is no code."""
    lines = re.sub(r"\r\n?", "\n", text.lstrip(_INVISIBLE)).split("\n")
    found = list(_fenced(lines)) or list(_bare(lines, entry))
    if not found:
        return None
    return max(enumerate(found), key=lambda item: (_rank(item[1].code, entry), item[0]))[1]


def _parsed(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _rank(code: str, entry: str) -> int:
    """How well a block fits: 3 defines the entry, 2 would if it parsed, 1 only repeats its signature, 0 none of these."""
    tree = _parsed(code)
    if tree is None:
        return 2 if _heads(entry).search(code) else 0
    found = [real for name, real in _names(tree) if name == entry]
    return 0 if not found else 3 if any(found) else 1


def _heads(entry: str) -> re.Pattern[str]:
    return re.compile(rf"^(?P<indent>[ \t]*)(?:async\s+def|def|class)\s+{re.escape(entry)}\b", re.MULTILINE)


def _names(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """What the module defines at its top, branches included, and whether there is more to it than a signature."""
    left: list[ast.AST] = [tree]
    while left:
        for child in ast.iter_child_nodes(left.pop()):
            match child:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    yield name, not _is_signature(child)
                case ast.Assign(targets=targets):
                    yield from ((t.id, True) for t in targets if isinstance(t, ast.Name))
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                    yield name, True
                case ast.If() | ast.Try() | ast.With():
                    left.append(child)


def _is_signature(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether every body is `...` or a docstring. `pass` is somebody's answer."""
    inner = [n for n in node.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    if isinstance(node, ast.ClassDef):
        inner = [n for n in inner if not (isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and _is_signature(n))]
    return not inner


def _fenced(lines: list[str]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        at += 1
        if opening is None:
            continue
        python = bool(_PYTHON.fullmatch(opening["info"]))
        block, at = _block(lines, at, opening, python)
        if python and block.code.strip():
            yield block


def _block(lines: list[str], start: int, opening: re.Match[str], python: bool) -> tuple[Block, int]:
    """The block that begins at a line, and the line to go on from."""
    first: tuple[Block, int] | None = None
    tried = 0
    for i in range(start, len(lines)):
        end = _closing(lines[i], opening["fence"])
        if end is None or tried == _MOST:
            continue
        body, after, strict = lines[start:i], i + 1, end == "fence"
        if end == "glued":
            body = [*body, lines[i].rstrip().removesuffix(opening["fence"])]
        elif end == "opens":
            after = i
        found = Block(code=_clean(body, opening["indent"]), closed=True), after
        if not python:
            if strict:
                return found
            continue
        tried += 1
        if _parsed(found[0].code) is not None:
            return found
        first = first or (found if strict else None)
    return first or (Block(code=_clean(lines[start:], opening["indent"]), closed=False), len(lines))


def _closing(line: str, fence: str) -> str | None:
    """How a line may end a block: `fence` does, `opens` has words behind it and may open another, `glued` ends on one."""
    closing = _FENCE.match(line)
    if closing and closing["fence"].startswith(fence):
        return "opens" if closing["info"].strip() else "fence"
    return "glued" if closing is None and line.rstrip().endswith(fence) else None


def _clean(body: list[str], indent: str) -> str:
    """Without the indent of the fence, or the marks of a quotation."""
    bare = [re.sub(r"^\s*>\s?", "", line) if ">" in indent else line.removeprefix(indent) for line in body]
    return textwrap.dedent("\n".join(bare).lstrip(_INVISIBLE))


def _bare(lines: list[str], entry: str) -> Iterator[Block]:
    """The first run of lines that is a program with the entry: prose before and after it does not parse."""
    head = _heads(entry).search("\n".join(lines))
    if head is None:
        return
    indent = head["indent"]
    lines = [line.removeprefix(indent) for line in lines]
    last = max(i for i, line in enumerate(lines) if line.strip())
    starts = [i for i, line in enumerate(lines) if _BEGINS.match(line)][:_MOST]
    for start in starts:
        end = _end(lines, start, last + 1)
        code = "\n".join(lines[start:end])
        if _rank(code, entry) == 3:
            yield Block(code=code.rstrip(), closed=end <= last)
            return
    if starts:
        yield Block(code="\n".join(lines[starts[0] :]), closed=False)


def _end(lines: list[str], start: int, end: int) -> int:
    """The end of the longest program that begins at a line; each try goes back to where Python stopped reading."""
    while end > start:
        try:
            ast.parse("\n".join(lines[start:end]))
            return end
        except SyntaxError as e:
            end = min(end - 1, start + (e.lineno or 1) - 1)
        except (ValueError, RecursionError, MemoryError):
            return start
    return start
