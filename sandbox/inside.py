"""Runs IN the container: takes one job, runs the untrusted program, tells what it observed. Nothing it says is believed.

The job is one line of JSON on stdin: {"program": "…", "entry": "name", "steps": [step, …]} (sandbox/steps.py makes them).
It says {"ready": "3.12.4"}, its Python, before it reads that. What was observed then goes to stdout, one line of JSON a step,
as it happens: {"i": 0, "returned": value}, or {"i": 0, "raised": ["ValueError", "Exception"], "said": "…"}, and {"end": n} at
last. The host holds every expected value and compares; a program that forges these lines has to know the right answers, and
then it may as well have computed them.

Values travel as JSON: None, bool and str as themselves, an int below 2**53 as itself, all else as [type, content]. Exact
builtin types only: a subclass, whatever it overrides, is ["other", its name]. Standard library only, nothing of ours, and
little of it: every program waits for these imports.
"""

from __future__ import annotations

import _json
import builtins
import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    JsonDict = dict[str, Any]

MAX_DEPTH = 60
MAX_NODES = 2_000_000
PLAIN_INT = 2**53
SAID = 300
"""Characters kept of what an exception says."""


# What `json` itself does it with: importing that package takes as long as all else here together, for it imports `re`.
_AS_READ = types.SimpleNamespace(
    strict=False, object_hook=None, object_pairs_hook=None, parse_float=float, parse_int=int, parse_constant=None
)
_scan = _json.make_scanner(_AS_READ)  # type: ignore[arg-type]  # whatever has these attributes
_pieces = _json.make_encoder(None, None, _json.encode_basestring_ascii, None, ": ", ", ", False, False, True)  # type: ignore[arg-type]


def loads(line: str) -> Any:
    return _scan(line, 0)[0]


def dumps(value: Any) -> str:
    return "".join(_pieces(value, 0))


class TooLarge(Exception):
    """A value has more levels or more parts than can be told."""


def encode(value: object) -> Any:
    """A value as JSON can tell it exactly. Calls no method that a program could have overridden."""
    try:
        return _encode(value, 0, [MAX_NODES])
    except TooLarge:
        return ["other", "too deep or too large"]


def _encode(value: Any, depth: int, room: list[int]) -> Any:
    room[0] -= 1
    if depth > MAX_DEPTH or room[0] < 0:
        raise TooLarge
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -PLAIN_INT < value < PLAIN_INT else ["int", hex(value)]  # hex: no limit on digits, no quadratic time
    if kind is float:
        return ["float", value.hex()]
    if kind is complex:
        return ["complex", [value.real.hex(), value.imag.hex()]]
    if kind is bytes or kind is bytearray:
        return [kind.__name__, value.hex()]
    if kind is list or kind is tuple:
        return [kind.__name__, [_encode(v, depth + 1, room) for v in value]]
    if kind is set or kind is frozenset:
        return [kind.__name__, sorted((_encode(v, depth + 1, room) for v in value), key=dumps)]
    if kind is dict:
        return ["dict", [[_encode(k, depth + 1, room), _encode(v, depth + 1, room)] for k, v in value.items()]]
    return ["other", _name(kind)]


def _name(kind: type) -> str:
    """As it was defined, whatever a metaclass makes of `__name__`."""
    return str(type.__dict__["__name__"].__get__(kind))[:80]


def decode(told: Any, fakes: Fakes | None = None) -> Any:
    """The value that `encode` was given; with `fakes` also callables that a step brings along. Raises ValueError."""
    if told is None or isinstance(told, (bool, str, int)):
        return told
    if not isinstance(told, list) or len(told) != 2:
        raise ValueError(f"no value: {told!r:.80}")
    kind, content = told
    match kind:
        case "int":
            return int(content, 16)
        case "float":
            return float.fromhex(content)
        case "complex":
            return complex(*map(float.fromhex, content))
        case "bytes":
            return bytes.fromhex(content)
        case "bytearray":
            return bytearray.fromhex(content)
        case "list" | "tuple" | "set" | "frozenset":
            return getattr(builtins, kind)(decode(v, fakes) for v in content)
        case "dict":
            return {decode(k, fakes): decode(v, fakes) for k, v in content}
        case "cell" if fakes is not None:
            return fakes.cell(content)
        case "scripted" if fakes is not None:
            return fakes.scripted(*content)
    raise ValueError(f"no value: {kind!r:.80}")


class Fakes:
    """Callables for what a program gets injected: a clock that the steps set, a function that answers from a script."""

    def __init__(self) -> None:
        self.cells: JsonDict = {}
        self.calls: JsonDict = {}

    def cell(self, name: str) -> Callable[[], Any]:
        return lambda: self.cells[name]

    def scripted(self, name: str, outcomes: Iterable[Any]) -> Callable[..., Any]:
        left = list(outcomes)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.setdefault(name, []).append([encode(args), encode(kwargs)])
            if not left:
                return None
            kind, content = left.pop(0)
            if kind == "raises":
                raise getattr(builtins, content)(f"{name} fails")
            return decode(content, self)

        return call


def observe(step: JsonDict, entry: Any, state: JsonDict, fakes: Fakes) -> JsonDict:
    """Do one step; what came of it, without its number."""
    told: JsonDict = {}
    try:
        args = [decode(a, fakes) for a in step.get("args", ())]
        kwargs = {k: decode(v, fakes) for k, v in step.get("kwargs", {}).items()}
        told["returned"] = _done(step, entry, state, fakes, (args, kwargs))
        if step.get("keeps"):
            told["args"] = encode(args)
    except BaseException as e:  # sys.exit is one way to answer
        told = raised(e)
    if fakes.calls:
        told["calls"], fakes.calls = fakes.calls, {}
    return told


def _done(step: JsonDict, entry: Any, state: JsonDict, fakes: Fakes, given: tuple[list[Any], JsonDict]) -> Any:
    """What a step returned, encoded."""
    args, kwargs = given
    match step["do"]:
        case "set":
            fakes.cells[step["name"]] = args[0]
            return None
        case "new":
            state["object"] = entry(*args, **kwargs)
            return None
        case "call":
            return encode(entry(*args, **kwargs))
        case "each":
            return encode([getattr(state["object"], step["name"])(*one) for one in args[0]])
        case "repeat":
            last = None
            for _ in range(args[0]):
                last = getattr(state["object"], step["name"])(*args[1:])
            return encode(last)
        case _:
            return encode(getattr(state["object"], step["name"])(*args, **kwargs))


def raised(error: BaseException) -> JsonDict:
    """The builtin classes of an exception, and what it says. What the exception's class overrides is not asked."""
    kind = type(error)
    classes = [name for c in type.mro(kind) if getattr(builtins, name := _name(c), None) is c and c is not object]
    args = BaseException.__dict__["args"].__get__(error)
    said = args[0] if args and type(args[0]) is str else ""
    where = args[1] if issubclass(kind, SyntaxError) and len(args) > 1 else None
    if type(where) is tuple and len(where) > 1 and type(where[1]) is int:
        said = f"line {where[1]}: {said}"
    return {"raised": classes, "said": said[:SAID], "type": _name(kind)}


def load(program: str, entry: str) -> Any:
    """The entry of the program, run as a module whose name is not `__main__`, so that its own trials are not run."""
    module = types.ModuleType("program")
    sys.modules["program"] = module
    exec(compile(program, "program.py", "exec", dont_inherit=True), module.__dict__)
    return getattr(module, entry)


def main() -> None:
    out, nothing = os.fdopen(os.dup(1), "w"), os.open(os.devnull, os.O_RDWR)

    def tell(told: JsonDict) -> None:
        out.write(dumps(told) + "\n")
        out.flush()

    tell({"ready": ".".join(map(str, sys.version_info[:3]))})
    line = sys.stdin.buffer.readline()
    if not line:  # the host has no job for it, or is gone
        os._exit(0)
    job = loads(line.decode())
    for number in (0, 1, 2):  # what a program prints has no say, and must not fill our pipe
        os.dup2(nothing, number)
    if "random" in job["program"]:
        import random

        random.seed(0)
    try:
        entry = load(job["program"], job["entry"])
    except BaseException as e:
        tell({"load": raised(e)})
        os._exit(0)
    state: JsonDict = {}
    fakes = Fakes()
    for i, step in enumerate(job["steps"]):
        tell({"i": i} | observe(step, entry, state, fakes))
    tell({"end": len(job["steps"])})
    os._exit(0)  # without waiting for its threads


if __name__ == "__main__":
    main()
