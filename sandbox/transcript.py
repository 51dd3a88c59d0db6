"""What was seen of a program, read from what a container said. The container is not believed: any line may be forged."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from sandbox.inside import MAX_DEPTH, SAID

JsonDict = dict[str, Any]
End = Literal["finished", "load_failed", "crashed", "timeout", "memory", "flooded", "garbled"]
"""How a program ended: it did every step; it could not be loaded; it ended early; it took too long; it took too much memory;
it said too much; it said what the protocol does not know."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What came of one step: it returned, or it raised."""

    returned: Any
    """The value as `sandbox.inside.encode` tells it, and nothing else; None also where it raised."""
    raised: tuple[str, ...] = ()
    """The builtin classes of the exception, the nearest first; empty where it returned."""
    said: str = ""
    """The exception's type and message; it can be written as UTF-8, whatever the program raised."""
    args: Any = None
    """The encoded list of arguments after the call, where that was asked for."""
    calls: JsonDict = field(default_factory=dict)
    """By name of a scripted callable: [encoded args, encoded kwargs] of each call since the step before."""


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """All that was observed of one program."""

    observations: tuple[Observation, ...]
    """One a step, in order; fewer where it did not finish."""
    end: End
    detail: str
    """Why it did not finish, in one line; empty where it did."""


class Reader:
    """Reads what is said piece by piece, of a job of so many steps, and keeps no more of it than the observations."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._observations: list[Observation] = []
        self._cut: list[bytes] = []
        self._end: tuple[End, str] | None = None
        self.size = 0
        """Bytes so far."""

    @property
    def done(self) -> bool:
        """Whether what is said from now on has no say."""
        return self._end is not None

    def feed(self, piece: bytes) -> None:
        self.size += len(piece)
        first, *others = piece.split(b"\n")
        self._cut.append(first)  # joined once a line is whole: a long one comes in many pieces
        for other in others:
            self._line(b"".join(self._cut))
            self._cut = [other]

    def transcript(self, end: End = "crashed", detail: str = "") -> Transcript:
        """What was observed, and how it ended: as was said, else as the caller knows."""
        end, detail = self._end or (end, detail)
        return Transcript(observations=tuple(self._observations), end=end, detail=detail)

    def _line(self, line: bytes) -> None:
        if self._end is not None:
            return
        try:
            told = json.loads(line)
            if told == {"end": self._steps} and len(self._observations) == self._steps:
                self._end = ("finished", "")
            elif not self._observations and "load" in told:
                self._end = ("load_failed", _raised(told["load"]).said)
            elif self._observations or "ready" not in told:
                self._observe(told)
        except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
            self._end = ("garbled", f"it wrote what is no observation: {line[:80].decode(errors='replace')!r}")

    def _observe(self, told: JsonDict) -> None:
        if told["i"] != len(self._observations) or len(self._observations) == self._steps:
            raise ValueError("out of order")
        self._observations.append(_raised(told) if "raised" in told else _returned(told))


def read(said: bytes, steps: int) -> Transcript:
    """The transcript of what was said until the container fell silent, of a job of so many steps.

    Where the end is missing, the caller knows why the container ended: "crashed" stands for that here. What follows the last
    newline was cut off.
    """
    reader = Reader(steps)
    reader.feed(said)
    return reader.transcript()


def texts(values: Iterable[Any]) -> tuple[str, ...]:
    """Raises TypeError where one is no text."""
    out = tuple(values)
    if not all(isinstance(v, str) for v in out):
        raise TypeError("no text")
    return tuple(v.encode(errors="backslashreplace").decode() for v in out)


def value(told: Any, depth: int = 0) -> Any:
    """What is told, seen to be as `encode` tells a value, so that who compares it need not expect anything else.

    Raises:
        ValueError, TypeError, OverflowError: it is not.
    """
    if told is None or type(told) in (bool, str, int):
        return told
    if depth > MAX_DEPTH:
        raise ValueError("too deep")
    kind, content = _pair(told)
    match kind:
        case "list" | "tuple" | "set" | "frozenset" if type(content) is list:
            for part in content:
                if type(part) is not int:
                    value(part, depth + 1)
        case "dict" if type(content) is list:
            for item in content:
                for part in _pair(item):
                    value(part, depth + 1)
        case "int":
            int(content, 16)
        case "float":
            float.fromhex(content)
        case "complex":
            for part in _pair(content):
                float.fromhex(part)
        case "bytes" | "bytearray":
            bytes.fromhex(content)
        case "other":
            texts([content])
        case _:
            raise ValueError(f"no value: {kind!r:.80}")
    return told


def _pair(told: Any) -> tuple[Any, Any]:
    if type(told) is not list:
        raise TypeError("no pair")
    first, second = told
    return first, second


def _returned(told: JsonDict) -> Observation:
    args = told.get("args")
    return Observation(returned=value(told["returned"]), args=value(args), calls=_calls(told))


def _raised(told: JsonDict) -> Observation:
    kind, said = texts((told["type"], told["said"]))
    classes = texts(told["raised"])
    if not classes:
        raise ValueError("an exception is of no class")
    kind, said = _shown(kind), _shown(said)
    return Observation(returned=None, raised=classes, said=f"{kind}: {said}" if said else kind, calls=_calls(told))


def _shown(text: str) -> str:
    """What a reader's terminal can be shown, and no more of it than the container was to tell."""
    return "".join(c if c.isprintable() else " " for c in text[:SAID])


def _calls(told: JsonDict) -> JsonDict:
    calls: JsonDict = told.get("calls", {})
    for times in calls.values():
        for call in times:
            for part in _pair(call):
                value(part)
    return calls
