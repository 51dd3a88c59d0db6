"""The script that runs in the container, here as a plain process; and the values that travel to it and back."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.inside import decode, encode
from sandbox.steps import Step, call, cell, do, each, job, new, put, raises, repeat, scripted
from sandbox.transcript import Transcript, read

INSIDE = Path(__file__).parent.parent / "sandbox" / "inside.py"


def told(program: str, *steps: Step, entry: str = "f", keeps: bool = False) -> Transcript:
    line = json.dumps(job(program, entry, steps, keeps)).encode() + b"\n"
    argv = [sys.executable, "-s", "-P", "-B", str(INSIDE)]
    done = subprocess.run(argv, input=line, capture_output=True, timeout=300, env={"PYTHONHASHSEED": "0"}, check=False)
    assert not done.stderr, done.stderr
    return read(done.stdout, len(steps))


def values(program: str, *steps: Step, entry: str = "f") -> list[Any]:
    seen = told(program, *steps, entry=entry)
    assert (seen.end, seen.detail) == ("finished", "")
    return [decode(o.returned) for o in seen.observations]


def same(a: Any, b: Any) -> bool:
    """Equal in type, in the sign of zero and in the order of dicts; NaN is NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return len(a) == len(b) and all(map(same, a.items(), b.items()))
    return bool(a == b)


VALUES = [
    None, True, False, 0, 1, -1, 2**53 - 1, 2**53, -(2**53), 2**64, 10**5000, -(10**5000), 0.0, -0.0, 0.1, 1e308, 5e-324,
    math.inf, -math.inf, math.nan, 1j, complex(-0.0, math.inf), "", "text", "\udc80 \ud800", "\0\n\u2028 😀 汉字", b"",
    b"\xff\0", bytearray(b"x"), [], [[]], [1, [2.5, [None]]], (), (1,), ((), [()]), set(), {1, "a", b"a", (1, 2)}, frozenset(),
    {frozenset({1}), frozenset({frozenset()})}, {}, {"b": 1, "a": 2}, {1: "int", (1, 2): "tuple", None: [], "1": "str"},
    {"deep": {"er": [{"est": {(): set()}}]}}, ["list", [1]], ["other", "text"], ["int", "0x1"], {"end": 1},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda v: ascii(encode(v))[:30])
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert same(decode(json.loads(json.dumps(encode(value)))), value)


def test_all_values_go_into_a_container_and_come_back() -> None:
    back = values("def f(value): return value", *(call(v) for v in VALUES))
    assert all(map(same, back, VALUES))


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text() | st.binary()
KEYS = st.none() | st.integers() | st.text() | st.binary()


@given(
    st.recursive(
        PLAIN, lambda v: st.lists(v) | st.lists(v).map(tuple) | st.sets(KEYS) | st.frozensets(KEYS) | st.dictionaries(KEYS, v)
    )
)
def test_any_value_comes_back_as_it_was(value: Any) -> None:
    once = encode(value)
    back = decode(json.loads(json.dumps(once)))
    assert encode(back) == once
    assert read(json.dumps({"i": 0, "returned": once}).encode() + b"\n", 1).observations, "the reader takes it"


class Text(str): ...


class Number(int): ...


class Numbers(list[int]): ...


class Table(dict[str, int]): ...


@pytest.mark.parametrize("value", [Text("a"), Number(1), Numbers([1]), Table(a=1), object(), print, len, Exception("x"), ...])
def test_what_is_no_builtin_value_is_told_by_its_types_name(value: object) -> None:
    assert encode(value) == ["other", type(value).__name__]
    with pytest.raises(ValueError, match="no value"):
        decode(encode(value))


def test_a_subclass_in_a_list_is_told_too() -> None:
    assert encode([Number(1), 1]) == ["list", [["other", "Number"], 1]]


def test_a_value_without_end_has_one() -> None:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    laughs: list[Any] = ["ha"] * 10
    for _ in range(50):
        laughs = [laughs] * 10
    for value in (cyclic, laughs, [0] * 3_000_000):
        assert encode(value) == ["other", "too deep or too large"]


def test_dicts_keep_their_order_and_sets_have_one() -> None:
    assert encode({"b": 1, "a": 2}) != encode({"a": 2, "b": 1})
    assert encode({"a", "b", "c", "d"}) == encode({"d", "c", "b", "a"})


@pytest.mark.parametrize("value", [object(), [object()], {"a": object()}, Text("a"), [[Number(1)]], scripted])
def test_a_step_that_cant_be_sent_is_refused_here(value: Any) -> None:
    with pytest.raises(TypeError, match="can't be sent to a container"):
        job("", "f", [call(value)])


def test_an_exception_is_told_by_its_builtin_classes_and_its_message() -> None:
    program = "class Own(KeyError): pass\ndef f(): raise Own('which')"
    (seen,) = told(program, call()).observations
    assert seen.raised == ("KeyError", "LookupError", "Exception", "BaseException")
    assert seen.said == "Own: which"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import sys\ndef f(): sys.exit(3)", "SystemExit"),
        ("def f(): raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("def f(): return 1 / 0", "ZeroDivisionError: division by zero"),
        ("def f(): return f()", "RecursionError: maximum recursion depth exceeded"),
        ("class E(Exception):\n  args = property(lambda s: 1 / 0)\ndef f(): raise E('x')", "E: x"),
        ("class M(type):\n  __mro__ = 5\n  __name__ = 5\nclass E(Exception, metaclass=M): pass\ndef f(): raise E", None),
        ("def f(): raise ValueError('x' * 10**6)", "ValueError: " + "x" * 300),
        ("def f(): raise ValueError(1)", "ValueError"),
        ("def f(x): pass", None),
    ],
)
def test_whatever_is_raised_is_an_observation(program: str, said: str | None) -> None:
    seen = told(program, call())
    assert seen.end == "finished"
    assert seen.observations[0].raised[-1] == "BaseException"
    assert said in (None, seen.observations[0].said)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("def f(:", "SyntaxError: line 1: invalid syntax"),
        ("g = 1", "AttributeError: module 'program' has no attribute 'f'"),
        ("import nothing_of_the_kind", "ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
        ("raise SystemExit(0)", "SystemExit"),
        ("def f():\n    return 1\n\nx = = 2\n", "SyntaxError: line 4: invalid syntax"),
        ("f = 1\n\0", None),
        ("f = '\udc80'", None),
    ],
)
def test_what_does_not_load_says_why(program: str, said: str | None) -> None:
    seen = told(program, call())
    assert seen.end == "load_failed"
    assert said in (None, seen.detail)


def test_a_programs_own_trials_are_not_run_and_its_prints_have_no_say() -> None:
    program = """
print('{"end": 1}')
def f():
    print("x" * 10**6)
    return 1
if __name__ == "__main__":
    raise SystemExit(1)
"""
    assert values(program, call()) == [1]


def test_a_program_may_use_what_looks_up_its_module() -> None:
    program = "from __future__ import annotations\nfrom dataclasses import dataclass\nimport pickle\n"
    program += "@dataclass\nclass P:\n    x: int\ndef f(): return pickle.loads(pickle.dumps(P(3))).x"
    assert values(program, call()) == [3]


def test_the_same_random_numbers_and_hashes_each_time() -> None:
    program = "import random\ndef f(): return [random.random(), hash('a')]"
    assert values(program, call()) == values(program, call())


def test_a_class_is_driven_by_a_script() -> None:
    program = "class C:\n    def __init__(self, n=0): self.n = n\n    def add(self, k=1): self.n += k; return self.n"
    steps = [new(n=5), do("add"), do("add", k=2), each("add", [(1,), (2,)]), repeat("add", 10), do("gone")]
    seen = told(program, *steps, entry="C")
    assert [decode(o.returned) for o in seen.observations] == [None, 6, 8, [9, 11], 21, None]
    assert seen.observations[-1].raised[0] == "AttributeError"


def test_nothing_repeated_is_none() -> None:
    assert values("class C:\n    def g(self): return 1", new(), repeat("g", 0), entry="C") == [None, None]


def test_a_clock_and_a_function_are_injected() -> None:
    program = """
def f(now, fetch):
    try:
        fetch(1, key="a")
    except OSError as e:
        return [now(), str(e), fetch(), fetch()]
"""
    seen = told(program, put("now", 1.5), call(cell("now"), scripted("fetch", (raises("OSError"), 7))))
    assert decode(seen.observations[1].returned) == [1.5, "fetch fails", 7, None]
    first, *others = seen.observations[1].calls["fetch"]
    assert [decode(part) for part in first] == [(1,), {"key": "a"}]
    assert len(others) == 2


def test_arguments_are_told_after_the_call_where_that_is_asked_for() -> None:
    program = "def f(numbers): numbers.sort(); return numbers"
    assert told(program, call([2, 1]), keeps=True).observations[0].args == ["list", [["list", [1, 2]]]]
    assert told(program, call([2, 1])).observations[0].args is None


def test_without_a_job_it_ends_quietly() -> None:
    done = subprocess.run(
        [sys.executable, str(INSIDE)], stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert set(json.loads(done.stdout)) == {"ready"}


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (call([1], k="v"), "([1], k='v')"),
        (new(cell("now")), "(now)"),
        (do("pop", 1), ".pop(1)"),
        (each("pop", [(1,)]), ".pop of each of [[1]]"),
        (repeat("pop", 3), ".pop repeated (3)"),
        (put("now", 2), "now = 2"),
        (call("x" * 1000), "('" + "x" * 79 + " … " + "x" * 29 + "')"),
    ],
)
def test_a_step_is_told_in_a_line(step: Step, text: str) -> None:
    assert str(step) == text
