"""What is right in a transcript: exact types, and what a problem allows."""

from dataclasses import replace
from typing import Any

import pytest

from sandbox.inside import encode
from sandbox.steps import Step, call, cell, do, new, put, scripted
from sandbox.transcript import Observation, Transcript
from tasks.problem import NOTHING, Check, Problem, expected, first_mismatch

PLAIN = Problem(
    id="p", category="algorithms", level="easy", entry="f", signature="", en="", zh="", checks=tuple, reference="", wrong={}
)  # fmt: skip


def seen(*observations: Observation) -> Transcript:
    return Transcript(observations=observations, end="finished", detail="")


def gave(value: Any, **over: Any) -> Observation:
    return Observation(returned=encode(value), **over)


def judged(problem: Problem, want: Any, got: Any, *args: Any) -> bool:
    checks: tuple[Check, ...] = ((call(*args),),)
    return first_mismatch(problem, checks, [[expected(problem, gave(want))]], seen(gave(got))) is None


@pytest.mark.parametrize(
    "value", [None, True, 0, 1, -(10**40), 0.5, -0.0, float("inf"), "a", "\ud800", b"a", [1], (1,), {1}, {"a": [1]}, 1j, [[]]]
)
def test_a_value_is_itself(value: Any) -> None:
    assert judged(PLAIN, value, value)


@pytest.mark.parametrize(
    ("want", "got"),
    [
        (1, True), (1, 1.0), (1.0, 1), (0, False), (0.0, -0.0), (None, False), ("a", b"a"), (b"a", bytearray(b"a")),
        ([1], (1,)), ((1,), [1]), ({1}, frozenset({1})), ([1, 2], [2, 1]), ({"a": 1}, {"a": 1.0}), ({"a": 1}, {"a": 1, "b": 2}),
        (1, 2), ("a", "A"), ([], None), (0.1 + 0.2, 0.3), ([1], [1, 1]), (float("nan"), 0.0), (0.0, float("nan")),
        (10**40, 10**40 + 1), ("1", 1),
    ],
)  # fmt: skip
def test_another_value_is_not(want: Any, got: Any) -> None:
    assert not judged(PLAIN, want, got)


def test_the_order_of_a_dict_counts_only_where_the_problem_says_so() -> None:
    assert judged(PLAIN, {"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not judged(replace(PLAIN, dict_order=True), {"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert judged(PLAIN, [{"a": 1, "b": {"c": 1, "d": 2}}], [{"b": {"d": 2, "c": 1}, "a": 1}])


def test_a_list_in_any_order_is_a_bag() -> None:
    loose = replace(PLAIN, any_order=True)
    assert judged(loose, [1, 2, 2], [2, 1, 2])
    assert not judged(loose, [1, 2, 2], [1, 1, 2])
    assert not judged(loose, [1, 2], (2, 1))
    assert judged(loose, [["a", 1], ["b", 2]], [["b", 2], ["a", 1]])


def test_floats_may_differ_by_the_tolerance_and_nothing_else_may() -> None:
    near = replace(PLAIN, tolerance=1e-6)
    assert judged(near, 0.1 + 0.2, 0.3)
    assert judged(near, 1e12, 1e12 + 1)
    assert judged(near, [0.0, {"a": 1.0}], [-0.0, {"a": 1.0 + 1e-9}])
    assert not judged(near, 1.0, 1.00001)
    assert not judged(near, 1.0, 1)
    assert not judged(near, 1.0, float("nan"))
    assert judged(near, float("nan"), float("nan"))
    assert not judged(near, float("inf"), 1e308)
    assert not judged(near, [1.0], [1.0, 2.0])


def test_a_large_value_is_kept_as_its_hash_and_told_apart() -> None:
    large = list(range(2_000))
    want = expected(PLAIN, gave(large))
    assert set(want["returned"]) == {"sha256"}
    checks: tuple[Check, ...] = ((call(),),)
    assert first_mismatch(PLAIN, checks, [[want]], seen(gave(large))) is None
    assert first_mismatch(PLAIN, checks, [[want]], seen(gave([*large[:-1], 0]))) is not None


def test_arguments_must_be_left_alone_where_the_problem_says_so() -> None:
    keeps = replace(PLAIN, keeps_arguments=True)
    checks: tuple[Check, ...] = ((call([2, 1]),),)
    wanted = [[expected(PLAIN, gave(3))]]
    assert first_mismatch(keeps, checks, wanted, seen(gave(3, args=encode([[2, 1]])))) is None
    assert first_mismatch(keeps, checks, wanted, seen(gave(3, args=encode([[1, 2]])))) is not None
    assert first_mismatch(keeps, checks, wanted, seen(gave(3))) is not None


def test_several_right_answers_are_told_by_the_problem_itself() -> None:
    even = replace(PLAIN, accepts=lambda args, got: type(got) is int and got % 2 == 0 and got > args[0])
    assert judged(even, 4, 6, 3)
    assert not judged(even, 4, 2, 3)
    assert not judged(even, 4, "6", 3)
    assert not judged(replace(PLAIN, accepts=lambda _, got: got[0] == 1), 4, [], 3)  # a shape it does not know


def test_an_exception_is_right_by_its_class_or_a_class_above() -> None:
    checks: tuple[Check, ...] = ((call(),),)
    for wanted, classes, right in [
        ("ValueError", ("ValueError", "Exception"), True),
        ("LookupError", ("KeyError", "LookupError", "Exception"), True),
        ("KeyError", ("LookupError", "Exception"), False),
    ]:
        observed = Observation(returned=None, raised=classes, said="x")
        assert (first_mismatch(PLAIN, checks, [[{"raised": wanted}]], seen(observed)) is None) is right
    assert first_mismatch(PLAIN, checks, [[{"raised": "ValueError"}]], seen(gave(None))) is not None
    assert (
        first_mismatch(PLAIN, checks, [[expected(PLAIN, gave(None))]], seen(Observation(returned=None, raised=("E",))))
        is not None
    )


def test_calls_of_what_was_injected_are_compared() -> None:
    step = call(scripted("fetch", [1]))
    want = expected(PLAIN, gave(1, calls={"fetch": [[encode((2,)), encode({})]]}))
    same, other = ({"fetch": [[encode((n,)), encode({})]]} for n in (2, 3))
    assert first_mismatch(PLAIN, ((step,),), [[want]], seen(gave(1, calls=same))) is None
    assert first_mismatch(PLAIN, ((step,),), [[want]], seen(gave(1, calls=other))) is not None
    assert first_mismatch(PLAIN, ((step,),), [[want]], seen(gave(1))) is not None


def test_the_first_fault_is_told_with_its_check_and_what_is_missing_is_a_fault() -> None:
    checks: tuple[Check, ...] = ((new(),), (new(), do("push", 3), do("top")))
    wanted = [
        [expected(PLAIN, gave(None))],
        [expected(PLAIN, gave(None)), expected(PLAIN, gave(None)), expected(PLAIN, gave(3))],
    ]
    right = (gave(None),) * 3
    mismatch = first_mismatch(PLAIN, checks, wanted, seen(*right, gave(4)))
    assert str(mismatch) == "check 2: .top(): got 4, wanted 3"
    mismatch = first_mismatch(PLAIN, checks, wanted, seen(*right))
    assert mismatch is not None
    assert mismatch.got == NOTHING


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (call(1, "a", k=[2]), "(1, 'a', k=[2])"),
        (new(cell("now"), capacity=2), "(now, capacity=2)"),
        (do("push", 3), ".push(3)"),
        (put("now", 1.5), "now = 1.5"),
    ],
)
def test_a_step_reads_like_python(step: Step, told: str) -> None:
    assert str(step) == told


def test_a_long_argument_is_cut() -> None:
    assert len(str(call(list(range(10_000))))) < 200


def test_calls_before_an_exception_are_compared_too() -> None:
    step = call(scripted("sleep"))
    observed = Observation(returned=None, raised=("OSError",), calls={"sleep": [[encode((2,)), encode({})]]})
    want = expected(PLAIN, observed)
    assert first_mismatch(PLAIN, ((step,),), [[want]], seen(observed)) is None
    assert first_mismatch(PLAIN, ((step,),), [[want]], seen(replace(observed, calls={}))) is not None


def test_a_large_value_is_not_hashed_where_another_one_may_be_right_too() -> None:
    values = [1 / 3 + i for i in range(400)]
    near = replace(PLAIN, tolerance=1e-6)
    assert judged(near, values, [v + 1e-9 for v in values])
    assert not judged(near, values, [v + 1e-3 for v in values])
    loose = replace(PLAIN, any_order=True)
    assert judged(loose, values, values[::-1])
    large = {i: i for i in range(1_000)}
    assert judged(PLAIN, large, dict(reversed(large.items())))
    assert not judged(replace(PLAIN, dict_order=True), large, dict(reversed(large.items())))


def test_a_checker_that_stumbles_over_an_answer_does_not_accept_it() -> None:
    def strict(_: tuple[Any, ...], got: Any) -> bool:
        assert isinstance(got, list)
        return True

    def endless(args: tuple[Any, ...], got: Any) -> bool:
        return endless(args, got)

    assert not judged(replace(PLAIN, accepts=strict), [], 3)
    assert not judged(replace(PLAIN, accepts=endless), [], 3)
