"""A YAML file as plain values that know their lines, so that every complaint can name its place."""

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import yaml

from evals.errors import ConfigError

Place = tuple[str | int, ...]

_NAMES = {"name", "baseline", "model", "extends", "repeat_of", "task", "lm_eval", "reasoning_effort", "thinking"}
"""Keys whose value is a name, or several: taken as written, so that `baseline: 8` and `thinking: off` mean what they say."""
_FREE = {"args", "env", "chat_template_kwargs", "extra_body"}
"""Keys below which everything is the user's own."""


class Document:
    """Values as YAML's safe loader builds them; a key given twice is refused.

    Raises:
        ConfigError: not YAML, or not plain values; one line.
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.lines: dict[Place, int] = {}
        self._loader = yaml.SafeLoader("")
        self._open: list[yaml.Node] = []
        self._flat: set[yaml.Node] = set()
        try:
            node = yaml.compose(text, Loader=yaml.SafeLoader)
            self.data = self._plain(node, ()) if node is not None else None
        except yaml.YAMLError as e:
            mark = getattr(e, "problem_mark", None)
            line = mark.line + 1 if mark else text.count("\n", 0, getattr(e, "position", 0)) + 1
            said = [getattr(e, "context", None), getattr(e, "problem", None) or str(e).partition("\n")[0]]
            self.fail((), f"not valid YAML: {', '.join(part for part in said if part)}", line)
        except RecursionError:
            self.fail((), "nested too deeply")

    def fail(self, place: Place, message: str, line: int | None = None) -> NoReturn:
        """`path:line: place: message`, always one line; of a place that is not in the file, the line of what holds it."""
        known = place
        while known not in self.lines and known:
            known = known[:-1]
        dotted = ".".join(str(p) for p in place)
        text = f"{self.path}:{line or self.lines.get(known, 1)}: {dotted + ': ' if dotted else ''}{message}"
        raise ConfigError(" ".join(text.encode(errors="replace").decode().split()))

    def _plain(self, node: yaml.Node, place: Place) -> Any:
        self.lines.setdefault(place, node.start_mark.line + 1)
        if node in self._open:
            self.fail(place, "an alias that holds itself", node.start_mark.line + 1)
        self._open.append(node)
        try:
            match node:
                case yaml.MappingNode():
                    return self._mapping(node, place)
                case yaml.SequenceNode():
                    return [self._plain(child, (*place, i)) for i, child in enumerate(node.value)]
                case _:
                    return self._scalar(node, place)
        finally:
            self._open.pop()

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        if node not in self._flat:
            self._refuse_twice(node, place)
            self._loader.flatten_mapping(node)  # YAML's `<<: *other`: merged keys come first, so that own ones win
            self._flat.add(node)
        out: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            self.lines[(*place, key)] = key_node.start_mark.line + 1
            out[key] = self._plain(value_node, (*place, key))
        return out

    def _refuse_twice(self, node: yaml.MappingNode, place: Place) -> None:
        seen: set[str] = set()
        for key_node, _ in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self.fail(place, "a key must be plain text", line)
            if key_node.value in seen:
                self.fail((*place, key_node.value), "is given twice; keep one", line)
            seen.add(key_node.value)

    def _scalar(self, node: yaml.Node, place: Place) -> Any:
        text = str(node.value)
        if "\0" in text or (not text.isascii() and text.encode(errors="replace").decode() != text):
            self.fail(place, "holds a character that can't be sent or stored")
        kind = node.tag.rpartition(":")[2]
        key = next((part for part in reversed(place) if isinstance(part, str)), "")
        if kind == "timestamp" or (kind != "null" and key in _NAMES and not _FREE.intersection(place)):
            return text
        try:
            return self._loader.construct_object(node)
        except ValueError:
            self.fail(place, "is not a number that can be read")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
