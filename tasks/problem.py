"""One coding problem: what is asked, what is checked, what is right. The host alone knows what is right.

A check is a tuple of steps: one `call` for a function, a script of operations for a class. What each step must return was
computed by the reference when the problem was built (tools/coding/build.py), reviewed, and lies beside the problem as
expected/ID.json. Types are compared exactly: `True` is not `1`, `1.0` is not `1`, a tuple is no list.
"""

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from sandbox.inside import decode, encode
from sandbox.steps import Step
from sandbox.transcript import Observation, Transcript

Category = Literal["algorithms", "strings", "data structures", "mathematics", "engineering"]
Level = Literal["easy", "medium", "hard"]
Check = tuple[Step, ...]
JsonDict = dict[str, Any]

NOTHING = "nothing"
"""What a step gave that was never done."""
LARGE = 2_000
"""Characters of JSON above which an expected value is kept as its hash."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One exercise. `en` and `zh` say the same, and all that a solver needs: types, edge cases, errors, what breaks ties."""

    id: str
    category: Category
    level: Level
    entry: str
    """The function or class that a solution defines."""
    signature: str
    """Python that the prompt shows: the head of the function, or the class with its methods' heads. Empty: the text is all
    that is asked."""
    en: str
    zh: str
    checks: Callable[[], tuple[Check, ...]]
    """Builds them anew each time, for large inputs are not kept."""
    reference: str
    """A solution that passes."""
    wrong: dict[str, str]
    """Plausible solutions that fail, by what is wrong with them."""
    large: bool = False
    """Whether a check separates O(n log n) from O(n²): the reference has at least 100 × headroom."""
    tolerance: float = 0.0
    """Floats may differ by so much, absolutely or relatively; 0: not at all, not even in the sign of zero."""
    any_order: bool = False
    """Whether the elements of a returned list may come in any order."""
    dict_order: bool = False
    """Whether the order of a dict's keys counts."""
    keeps_arguments: bool = False
    """Whether the arguments must be unchanged after a call, as the prompt then says."""
    accepts: Callable[[tuple[Any, ...], Any], bool] | None = None
    """(the arguments of a `call`, what it returned) → right or not, where there are several right answers."""
    equivalent: dict[str, str] = field(default_factory=dict)
    """Mutants of the reference that no check can tell from it, as tools/coding/mutate.py names them, and why."""


@dataclass(frozen=True, kw_only=True)
class Mismatch:
    """The first step that went wrong."""

    check: int
    """Its number among the checks, from 1."""
    step: str
    got: str
    wanted: str

    def __str__(self) -> str:
        return f"check {self.check}: {self.step}: got {self.got}, wanted {self.wanted}"


def steps(checks: tuple[Check, ...]) -> tuple[Step, ...]:
    """All steps of all checks, in order: one program is asked them all in one container."""
    return tuple(step for check in checks for step in check)


def expected(of: Problem, observed: Observation) -> JsonDict:
    """What a reference did in one step, as it is stored: a large value as its hash, where only an equal one is right."""
    out: JsonDict = {"raised": observed.raised[0]} if observed.raised else {"returned": observed.returned}
    if observed.calls:
        out["calls"] = observed.calls
    text = canonical(out.get("returned"), of.dict_order)
    if len(text) > LARGE and not (of.tolerance or of.any_order):
        out["returned"] = {"sha256": _sha(text)}
    return out


def first_mismatch(
    problem: Problem, checks: tuple[Check, ...], wanted: list[list[JsonDict]], transcript: Transcript
) -> Mismatch | None:
    """The first step of a transcript that is not as it should be; None where all are, and none is missing."""
    observations = iter(transcript.observations)
    for number, (check, right) in enumerate(zip(checks, wanted, strict=True), 1):
        for step, want in zip(check, right, strict=True):
            seen = next(observations, None)
            if seen is None or not _agrees(problem, step, want, seen):
                got = NOTHING if seen is None else _told(seen)
                return Mismatch(check=number, step=shown(problem, step), got=got, wanted=_wanted(want))
    return None


def _agrees(problem: Problem, step: Step, want: JsonDict, seen: Observation) -> bool:
    if _canonical_calls(seen.calls) != _canonical_calls(want.get("calls", {})):
        return False
    if "raised" in want:
        return want["raised"] in seen.raised
    if seen.raised:
        return False
    if problem.keeps_arguments and step.do == "call" and seen.args != encode(list(step.args)):
        return False
    if problem.accepts is not None and step.do == "call":
        return _accepted(problem.accepts, step, seen)
    return _equal(problem, want["returned"], seen.returned)


def _accepted(accepts: Callable[[tuple[Any, ...], Any], bool], step: Step, seen: Observation) -> bool:
    try:
        value = decode(seen.returned)
    except (ValueError, TypeError, KeyError, OverflowError):
        return False
    try:  # an answer of a shape that the problem did not think of is not right
        return accepts(step.args, value) is True
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError, RecursionError):
        return False


def _equal(problem: Problem, want: Any, got: Any) -> bool:
    if problem.any_order and _is(got, "list"):
        got = ["list", sorted(got[1], key=json.dumps)]
        if _is(want, "list"):
            want = ["list", sorted(want[1], key=json.dumps)]
    if isinstance(want, dict):
        return bool(want["sha256"] == _sha(canonical(got, problem.dict_order)))
    if problem.tolerance:
        return _near(want, got, problem.tolerance)
    return canonical(want, problem.dict_order) == canonical(got, problem.dict_order)


def _near(want: Any, got: Any, tolerance: float) -> bool:
    """Equal but for floats, which may differ a little; keys of dicts may not."""
    if _is(want, "float") and _is(got, "float"):
        a, b = float.fromhex(want[1]), float.fromhex(got[1])
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(_near(w, g, tolerance) for w, g in zip(want, got, strict=True))
    return type(want) is type(got) and bool(want == got)


def canonical(told: Any, dict_order: bool) -> str:
    """An encoded value as text that is equal for equal values."""
    return json.dumps(told if dict_order else _sorted(told), separators=(",", ":"))


def _sorted(told: Any) -> Any:
    if not isinstance(told, list):
        return told
    inner = [_sorted(v) for v in told]
    if _is(told, "dict") and isinstance(inner[1], list):
        inner[1] = sorted(inner[1], key=json.dumps)
    return inner


def _canonical_calls(calls: JsonDict) -> str:
    return json.dumps(calls, sort_keys=True)


def _is(told: Any, kind: str) -> bool:
    return isinstance(told, list) and len(told) == 2 and told[0] == kind and (kind == "float" or isinstance(told[1], list))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def shown(problem: Problem, step: Step) -> str:
    """A step as Python has it."""
    return f"{problem.entry if step.do in ('call', 'new') else ''}{step}"


def _told(seen: Observation) -> str:
    return seen.said if seen.raised else _value(seen.returned)


def _wanted(want: JsonDict) -> str:
    return want["raised"] if "raised" in want else _value(want["returned"])


def _value(told: Any) -> str:
    if isinstance(told, dict):
        return "another value, too large to show"
    if isinstance(told, list) and told[0] == "other":
        return f"a value of type {told[1]}"
    try:
        text = repr(decode(told))
    except (ValueError, TypeError, IndexError):
        text = str(told)
    return text if len(text) <= 200 else f"{text[:140]} … {text[-40:]}"
