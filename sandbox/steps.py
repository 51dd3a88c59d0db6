"""What a program is asked to do. Frozen; values are builtin types, and the two fakes below.

A function is judged by `call` steps. A class, or a function that returns one, is judged by a script: `new` makes an object,
`do` calls its methods, `each` and `repeat` one of them many times. Programs that need a clock or another function get fakes:
`cell("now")` is a callable without arguments that returns what `put("now", 1.5)` set last; `scripted("fetch",
(raises("OSError"), 7))` is a callable that answers from its script, then None, and whose arguments are observed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, assert_never

from sandbox.inside import decode, encode

JsonDict = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """A callable that returns the value last put into the cell of this name."""

    name: str


@dataclass(frozen=True)
class Raises:
    """An outcome of a scripted callable: it raises this builtin exception."""

    name: str


@dataclass(frozen=True)
class Scripted:
    """A callable that answers from a script, then with None."""

    name: str
    outcomes: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing to do; `name` is a method's or a cell's."""

    do: Literal["call", "new", "method", "each", "repeat", "set"]
    name: str = ""
    args: tuple[Any, ...] = ()
    kwargs: JsonDict = field(default_factory=dict)

    def told(self, keeps: bool) -> JsonDict:
        """As the container reads it; `keeps`: the arguments are observed after the call."""
        kwargs = {k: _encode(v) for k, v in self.kwargs.items()}
        return {"do": self.do, "name": self.name, "args": [_encode(a) for a in self.args], "kwargs": kwargs, "keeps": keeps}

    def __str__(self) -> str:
        given = ", ".join([*map(_short, self.args), *(f"{k}={_short(v)}" for k, v in self.kwargs.items())])
        match self.do:
            case "call" | "new":
                return f"({given})"
            case "set":
                return f"{self.name} = {given}"
            case "each":
                return f".{self.name} of each of {given}"
            case "method":
                return f".{self.name}({given})"
            case "repeat":
                return f".{self.name} repeated ({given})"
            case _:
                assert_never(self.do)


def call(*args: Any, **kwargs: Any) -> Step:
    """entry(*args, **kwargs), whose result is observed."""
    return Step(do="call", args=args, kwargs=kwargs)


def new(*args: Any, **kwargs: Any) -> Step:
    """entry(*args, **kwargs), whose result is the object of the following `do` steps and is not observed."""
    return Step(do="new", args=args, kwargs=kwargs)


def do(name: str, *args: Any, **kwargs: Any) -> Step:
    """object.name(*args, **kwargs), whose result is observed; `__len__`, `__call__` and the like are names too."""
    return Step(do="method", name=name, args=args, kwargs=kwargs)


def each(name: str, calls: Iterable[tuple[Any, ...]]) -> Step:
    """object.name(*args) for each tuple of arguments; the list of the results is one observation."""
    return Step(do="each", name=name, args=([list(args) for args in calls],))


def repeat(name: str, times: int, *args: Any) -> Step:
    """object.name(*args) so many times; the last result is observed."""
    return Step(do="repeat", name=name, args=(times, *args))


def put(cell: str, value: Any) -> Step:
    """Let `cell(name)` return this value from now on."""
    return Step(do="set", name=cell, args=(value,))


def cell(name: str) -> Cell:
    return Cell(name)


def scripted(name: str, outcomes: Iterable[Any] = ()) -> Scripted:
    return Scripted(name, tuple(outcomes))


def raises(name: str) -> Raises:
    return Raises(name)


def job(program: str, entry: str, steps: Iterable[Step], keeps: bool = False) -> JsonDict:
    """What is sent to the container."""
    return {"program": program, "entry": entry, "steps": [s.told(keeps) for s in steps]}


def _encode(value: Any) -> Any:
    match value:
        case Cell(name=name):
            return ["cell", name]
        case Scripted(name=name, outcomes=outcomes):
            return ["scripted", [name, [_outcome(o) for o in outcomes]]]
        case list() | tuple():
            return [type(value).__name__, [_encode(v) for v in value]]
    told = encode(value)
    try:
        decode(told)
    except ValueError as e:
        raise TypeError(f"{_short(value)} can't be sent to a container: its parts must be builtin values") from e
    return told


def _outcome(outcome: Any) -> list[Any]:
    return ["raises", outcome.name] if isinstance(outcome, Raises) else ["returns", _encode(outcome)]


def _short(value: Any) -> str:
    match value:
        case Cell(name=name) | Scripted(name=name):
            return name
    try:
        text = repr(value)
    except ValueError:  # Python writes no int of more than 4300 digits
        return "…"
    return text if len(text) <= 120 else f"{text[:80]} … {text[-30:]}"
