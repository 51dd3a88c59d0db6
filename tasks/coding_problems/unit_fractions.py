"""A fraction as a sum of different unit fractions. Sample: unit_fractions(1, 1, 2) → [2, 3, 6], or another right answer."""

from itertools import pairwise
from typing import Any

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def unit_fractions(numerator: int, denominator: int, smallest: int) -> list[int]: ..."

EN = """
Write a function `unit_fractions` that writes a fraction as a sum of different fractions of the form 1/d.

`unit_fractions(numerator, denominator, smallest)` returns the denominators as a list of ints in strictly ascending order. Each
of them is at least `smallest`, and the sum of 1/d over all of them is exactly `numerator / denominator`. There are many such
lists; each one is accepted that has at most 200 elements of at most 500 decimal digits each. For a sum of 0 the list is
empty.

Examples: for `unit_fractions(2, 3, 1)` the list `[2, 6]` is right, and so is `[3, 4, 12]`. For `unit_fractions(1, 1, 2)`, where
`[1]` is not allowed, `[2, 3, 6]` is right.

The fraction need not be in lowest terms and may be 1 or more: 1 + 1/2 + 1/3 + … grows beyond all bounds, so there is an answer
even then. Raise ValueError if `numerator` is negative, or if `denominator` or `smallest` is less than 1. `numerator` and
`denominator` are less than 10**6, `smallest` is at most 20, and the fraction is at most 4.
"""

ZH = """
请编写函数 `unit_fractions`，把一个分数写成若干个互不相同的 1/d 形式的分数之和。

`unit_fractions(numerator, denominator, smallest)` 以整数列表的形式返回这些分母，按严格递增的顺序排列。每个分母都不小于
`smallest`，并且所有 1/d 之和恰好等于 `numerator / denominator`。这样的列表有很多；只要元素不超过 200 个，且每个元素不超过
500 位十进制数字，任何一个都被接受。和为 0 时列表为空。

例如：对于 `unit_fractions(2, 3, 1)`，列表 `[2, 6]` 是正确的，`[3, 4, 12]` 也是正确的。对于 `unit_fractions(1, 1, 2)`，
不允许使用 `[1]`，而 `[2, 3, 6]` 是正确的。

分数不一定是最简分数，也可能等于或大于 1：1 + 1/2 + 1/3 + … 可以超过任何界限，所以这时也有答案。若 `numerator` 为负，
或者 `denominator` 或 `smallest` 小于 1，则抛出 ValueError。`numerator` 和 `denominator` 小于 10**6，`smallest` 不超过 20，
分数不超过 4。
"""

REFERENCE = """
from fractions import Fraction
from math import ceil


def unit_fractions(numerator, denominator, smallest):
    if numerator < 0 or denominator < 1 or smallest < 1:
        raise ValueError("no such sum")
    rest = Fraction(numerator, denominator)
    denominators = []
    while rest:
        unit = max(smallest, ceil(1 / rest))
        denominators.append(unit)
        rest -= Fraction(1, unit)
        smallest = unit + 1
    return denominators
"""

WRONG = {
    "the same denominator again": """
from fractions import Fraction
from math import ceil


def unit_fractions(numerator, denominator, smallest):
    if numerator < 0 or denominator < 1 or smallest < 1:
        raise ValueError
    rest = Fraction(numerator, denominator)
    out = []
    while rest > 0:
        d = max(smallest, ceil(1 / rest))
        out.append(d)
        rest -= Fraction(1, d)
    return out
""",
    "smallest is not heeded": """
def unit_fractions(numerator, denominator, smallest):
    if numerator < 0 or denominator < 1 or smallest < 1:
        raise ValueError
    out, d = [], 0
    while numerator:
        d = max(d + 1, -(-denominator // numerator))
        out.append(d)
        numerator, denominator = numerator * d - denominator, denominator * d
    return out
""",
    "rounds floats": """
from math import ceil


def unit_fractions(numerator, denominator, smallest):
    if numerator < 0 or denominator < 1 or smallest < 1:
        raise ValueError
    out, d = [], smallest - 1
    while numerator > 0:
        d = max(d + 1, ceil(denominator / numerator))
        out.append(d)
        numerator, denominator = numerator * d - denominator, denominator * d
    return out
""",
    "stops when the rest is tiny": """
from math import ceil


def unit_fractions(numerator, denominator, smallest):
    if numerator < 0 or denominator < 1 or smallest < 1:
        raise ValueError
    rest, out, d = numerator / denominator, [], smallest - 1
    while rest > 1e-12:
        d = max(d + 1, ceil(1 / rest - 1e-9))
        out.append(d)
        rest -= 1 / d
    return out
""",
    "fractions of 1 or more end with a unit": """
from fractions import Fraction
from math import ceil


def unit_fractions(numerator, denominator, smallest):
    if numerator < 0 or denominator < 1 or smallest < 1:
        raise ValueError
    rest = Fraction(numerator, denominator)
    out = []
    if rest >= 1 and smallest == 1:
        out.append(rest.numerator // rest.denominator)
        rest -= out[0]
    d = smallest
    while rest:
        d = max(d, ceil(1 / rest))
        out.append(d)
        rest -= Fraction(1, d)
        d += 1
    return out
""",
    "an error for zero": """
from fractions import Fraction
from math import ceil


def unit_fractions(numerator, denominator, smallest):
    if numerator <= 0 or denominator < 1 or smallest < 1:
        raise ValueError
    rest = Fraction(numerator, denominator)
    out = []
    while rest:
        d = max(smallest, ceil(1 / rest))
        out.append(d)
        rest -= Fraction(1, d)
        smallest = d + 1
    return out
""",
    "equal fractions are split until they differ, which takes for ever": """
def unit_fractions(numerator, denominator, smallest):
    if numerator < 0 or denominator < 1 or smallest < 1:
        raise ValueError
    waiting, seen = [denominator] * numerator, set()
    while waiting:
        d = waiting.pop()
        if d < smallest or d in seen:
            waiting += [d + 1, d * (d + 1)]
        else:
            seen.add(d)
    return sorted(seen)
""",
}


def _is_sum(arguments: tuple[Any, ...], answer: Any) -> bool:
    numerator, denominator, smallest = arguments
    if type(answer) is not list or len(answer) > 200 or any(type(d) is not int for d in answer):
        return False
    if any(d < smallest or d >= 10**500 for d in answer) or any(d >= e for d, e in pairwise(answer)):
        return False
    above, below = 0, 1  # without Fraction, whose gcd takes long for long answers
    for d in answer:
        above, below = above * d + below, below * d
    return bool(above * denominator == numerator * below)


def checks() -> tuple[Check, ...]:
    return (
        (call(2, 3, 1),),
        (call(1, 1, 2),),
        (call(1, 1, 1),),
        (call(0, 1, 1),),
        (call(0, 999, 7),),
        (call(1, 2, 2),),
        (call(1, 2, 3),),
        (call(4, 8, 2),),
        (call(1, 7, 8),),
        (call(4, 13, 1),),
        (call(4, 13, 4),),
        (call(5, 121, 1),),
        (call(7, 3, 1),),
        (call(3, 1, 1),),
        (call(2, 1, 2),),
        (call(2, 1, 3),),
        (call(4, 1, 1),),
        (call(3, 2, 6),),
        (call(65, 63, 5),),
        (call(3, 7, 20),),
        (call(732, 733, 1),),
        (call(123_456, 654_321, 7),),
        (call(999_983, 999_999, 1),),
        (call(-1, 2, 1),),
        (call(1, 0, 1),),
        (call(1, -2, 1),),
        (call(1, 2, 0),),
        (call(-1, -2, 1),),
    )


PROBLEM = Problem(
    id="unit_fractions",
    category="mathematics",
    level="medium",
    entry="unit_fractions",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    accepts=_is_sum,
)
