"""All solutions of several congruences a·x ≡ b (mod m). Sample: linear_congruences([[2, 4, 6], [1, 3, 4]]) → [11, 12]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def linear_congruences(congruences: list[list[int]]) -> list[int]: ..."

EN = """
Write a function `linear_congruences` that finds all integers `x` which satisfy several congruences at once.

Each congruence is a list `[a, b, m]` of three integers and demands that `a * x - b` be a multiple of `m`. `a` and `b` may be
any integers, also 0 and negative ones. `m` is 0 or more; the only multiple of 0 is 0, so with `m == 0` the demand is
`a * x == b`. The moduli of different congruences may have common divisors, and `a` and `m` may have them, too.

Return what describes all solutions:

- `[]` if there is no solution.
- `[x, 0]` if `x` is the only solution; it may be negative.
- `[r, period]` otherwise: the solutions are then exactly the integers that differ from `r` by a multiple of `period`, with
  `period >= 1` and `0 <= r < period`. If every integer is a solution, as for an empty list, this is `[0, 1]`.

Raise ValueError if any `m` in the list is negative, even if the other congruences have no solution. The list must not be
changed. The numbers may have hundreds of digits and there may be a few hundred congruences, so trying out candidates is too
slow.

Examples: `[[2, 4, 6], [1, 3, 4]]` gives `[11, 12]`; `[[3, -6, 0], [1, 1, 3]]` gives `[-2, 0]`; `[[2, 1, 4]]` gives `[]`.
"""

ZH = """
请编写函数 `linear_congruences`，找出同时满足若干个同余式的所有整数 `x`。

每个同余式是由三个整数组成的列表 `[a, b, m]`，要求 `a * x - b` 是 `m` 的倍数。`a` 和 `b` 可以是任意整数，包括 0 和负数。
`m` 大于或等于 0；0 的倍数只有 0，因此当 `m == 0` 时，要求就是 `a * x == b`。不同同余式的模可能有公约数，`a` 和 `m`
也可能有公约数。

返回对全部解的描述：

- 若没有解，返回 `[]`。
- 若 `x` 是唯一的解，返回 `[x, 0]`；它可能是负数。
- 其他情况返回 `[r, period]`：此时全部解恰好是与 `r` 相差 `period` 的倍数的那些整数，其中 `period >= 1`，且
  `0 <= r < period`。若每个整数都是解（例如列表为空时），结果就是 `[0, 1]`。

只要列表中有任何一个 `m` 为负，就抛出 ValueError，即使其余的同余式无解也是如此。不得修改该列表。这些数可能有几百位，
同余式可能有几百个，因此逐个尝试候选值太慢。

例如：`[[2, 4, 6], [1, 3, 4]]` 的结果是 `[11, 12]`；`[[3, -6, 0], [1, 1, 3]]` 的结果是 `[-2, 0]`；
`[[2, 1, 4]]` 的结果是 `[]`。
"""

REFERENCE = """
from math import gcd


def linear_congruences(congruences):
    if any(m < 0 for _, _, m in congruences):
        raise ValueError("negative modulus")
    x, period = 0, 1  # the solutions so far: x + period * t for all integers t
    for a, b, m in congruences:
        factor, rest = a * period, b - a * x  # now to solve: factor * t - rest is a multiple of m
        common = gcd(factor, m)
        if common == 0:
            if rest != 0:
                return []
            continue
        if rest % common != 0:
            return []
        if m == 0:
            x, period = x + period * (rest // factor), 0
        else:
            t = rest // common * pow(factor // common, -1, m // common)
            x, period = x + period * t, period * (m // common)
            if period:
                x %= period
    return [x, period]
"""

WRONG = {
    "the moduli are taken to be coprime": """
from math import gcd


def linear_congruences(congruences):
    if any(m < 0 for a, b, m in congruences):
        raise ValueError
    r, period = 0, 1
    exact = None
    reduced = []
    for a, b, m in congruences:
        if m == 0:
            if a == 0:
                if b != 0:
                    return []
                continue
            if b % a or (exact is not None and exact != b // a):
                return []
            exact = b // a
            continue
        g = gcd(a, m)
        if b % g:
            return []
        m //= g
        reduced.append((b // g * pow(a // g, -1, m) % m, m))
    if exact is not None:
        return [exact, 0] if all((exact - b) % m == 0 for b, m in reduced) else []
    for b, m in reduced:
        try:
            t = (b - r) * pow(period, -1, m) % m
        except ValueError:
            return []
        r, period = r + period * t, period * m
    return [r % period, period]
""",
    "a and m are taken to be coprime": """
from math import gcd


def linear_congruences(congruences):
    if any(m < 0 for a, b, m in congruences):
        raise ValueError
    r, period, exact = 0, 1, None
    for a, b, m in congruences:
        if m == 0:
            if a == 0:
                if b != 0:
                    return []
                continue
            if b % a or (exact is not None and exact != b // a):
                return []
            exact = b // a
            continue
        try:
            b = b * pow(a, -1, m) % m
        except ValueError:
            return []
        g = gcd(period, m)
        if (b - r) % g:
            return []
        t = (b - r) // g * pow(period // g, -1, m // g) % (m // g)
        r, period = r + period * t, period // g * m
        r %= period
    if exact is not None:
        return [exact, 0] if (exact - r) % period == 0 else []
    return [r, period]
""",
    "the period is not divided by the gcd of a and m": """
from math import gcd


def linear_congruences(congruences):
    if any(m < 0 for a, b, m in congruences):
        raise ValueError
    r, period, exact = 0, 1, None
    for a, b, m in congruences:
        if m == 0:
            if a == 0:
                if b != 0:
                    return []
                continue
            if b % a or (exact is not None and exact != b // a):
                return []
            exact = b // a
            continue
        g = gcd(a, m)
        if b % g:
            return []
        b = b // g * pow(a // g, -1, m // g) % (m // g)
        h = gcd(period, m)
        if (b - r) % h:
            return []
        t = (b - r) // h * pow(period // h, -1, m // h) % (m // h)
        r, period = r + period * t, period // h * m
        r %= period
    if exact is not None:
        return [exact, 0] if (exact - r) % period == 0 else []
    return [r, period]
""",
    "modulus 0 is an error": """
from math import gcd


def linear_congruences(congruences):
    if any(m <= 0 for a, b, m in congruences):
        raise ValueError
    r, period = 0, 1
    for a, b, m in congruences:
        g = gcd(a, m)
        if b % g:
            return []
        m //= g
        b = b // g * pow(a // g, -1, m) % m
        h = gcd(period, m)
        if (b - r) % h:
            return []
        t = (b - r) // h * pow(period // h, -1, m // h) % (m // h)
        r, period = r + period * t, period // h * m
    return [r % period, period]
""",
    "an equation ends the search": """
from math import gcd


def linear_congruences(congruences):
    if any(m < 0 for a, b, m in congruences):
        raise ValueError
    r, period = 0, 1
    for a, b, m in congruences:
        if m == 0:
            if a == 0:
                if b != 0:
                    return []
                continue
            if b % a or (b // a - r) % period:
                return []
            return [b // a, 0]
        g = gcd(a, m)
        if b % g:
            return []
        m //= g
        b = b // g * pow(a // g, -1, m) % m
        h = gcd(period, m)
        if (b - r) % h:
            return []
        t = (b - r) // h * pow(period // h, -1, m // h) % (m // h)
        r, period = r + period * t, period // h * m
    return [r % period, period]
""",
    "0 * x == 0 pins x to 0": """
from math import gcd


def linear_congruences(congruences):
    if any(m < 0 for a, b, m in congruences):
        raise ValueError
    r, period, exact = 0, 1, None
    for a, b, m in congruences:
        if m == 0:
            if (a == 0 and b != 0) or (a and b % a):
                return []
            value = b // a if a else 0
            if exact is not None and exact != value:
                return []
            exact = value
            continue
        g = gcd(a, m)
        if b % g:
            return []
        m //= g
        b = b // g * pow(a // g, -1, m) % m
        h = gcd(period, m)
        if (b - r) % h:
            return []
        t = (b - r) // h * pow(period // h, -1, m // h) % (m // h)
        r, period = r + period * t, period // h * m
    if exact is not None:
        return [exact, 0] if (exact - r) % period == 0 else []
    return [r % period, period]
""",
    "negative moduli after a contradiction raise nothing": """
from math import gcd


def linear_congruences(congruences):
    r, period = 0, 1
    for a, b, m in congruences:
        if m < 0:
            raise ValueError
        c, e = a * period, b - a * r
        g = gcd(c, m)
        if g == 0:
            if e:
                return []
            continue
        if e % g:
            return []
        if m == 0:
            r, period = r + period * (e // c), 0
        else:
            r, period = r + period * (e // g * pow(c // g, -1, m // g)), period * (m // g)
            if period:
                r %= period
    return [r, period]
""",
    "tries all candidates": """
from math import gcd, lcm


def linear_congruences(congruences):
    if any(m < 0 for a, b, m in congruences):
        raise ValueError
    period = lcm(*[m // gcd(a, m) for a, b, m in congruences if m])
    for a, b, m in congruences:
        if m == 0 and a != 0:
            if b % a:
                return []
            x = b // a
            if all((c * x - d) % n == 0 if n else c * x == d for c, d, n in congruences):
                return [x, 0]
            return []
        if m == 0 and b != 0:
            return []
    for x in range(period):
        if all((a * x - b) % m == 0 for a, b, m in congruences if m):
            return [x, period]
    return []
""",
}


def checks() -> tuple[Check, ...]:
    far = 3**200 + 1
    odd = list(range(101, 500, 2))
    return (
        (call([[2, 4, 6], [1, 3, 4]]),),
        (call([[3, -6, 0], [1, 1, 3]]),),
        (call([[2, 1, 4]]),),
        (call([]),),
        (call([[1, 5, 1]]),),
        (call([[1, 2, 3], [1, 3, 5], [1, 2, 7]]),),
        (call([[1, 3, 4], [1, 5, 6]]),),
        (call([[1, 3, 4], [1, 4, 6]]),),
        (call([[1, 7, 12], [1, 7, 12]]),),
        (call([[1, 7, 12], [1, 3, 4], [1, 1, 6]]),),
        (call([[6, 4, 10]]),),
        (call([[-3, 5, 7]]),),
        (call([[5, -13, 8], [-7, -100, 12]]),),
        (call([[0, 0, 9]]),),
        (call([[0, 18, 9]]),),
        (call([[0, 4, 9]]),),
        (call([[12, 24, 6]]),),
        (call([[12, 25, 6]]),),
        (call([[0, 0, 0]]),),
        (call([[0, 3, 0]]),),
        (call([[0, 0, 0], [1, 2, 5]]),),
        (call([[1, 0, 0]]),),
        (call([[4, 10, 0]]),),
        (call([[-4, 12, 0]]),),
        (call([[-4, -12, 0], [2, 6, 0]]),),
        (call([[1, 3, 0], [1, 4, 0]]),),
        (call([[1, 3, 0], [1, 4, 5]]),),
        (call([[1, -7, 0], [2, 1, 5], [3, 0, 7]]),),
        (call([[2, 1, 5], [3, 0, 7], [1, -7, 0]]),),
        (call([[2, 1, 5], [3, 1, 7], [1, -7, 0]]),),
        (call([[1, 3, 0], [0, 0, 0], [0, 10, 5]]),),
        (call([[1, 3, 0], [0, 1, 5]]),),
        (call([[1, 1, -3]]),),
        (call([[2, 1, 4], [1, 1, -3]]),),
        (call([[1, 3, 0], [1, 4, 0], [1, 1, -1]]),),
        (call([[4, 2, 6], [9, 3, 15], [10, 5, 35]]),),
        (call([[1, far, 2**300], [1, far, 6**100], [1, far, 10**90]]),),
        (call([[7, 7 * far, 0], [1, far, 2**300], [far, far * far, 10**90]]),),
        (call([[1, far, 2**300], [1, far + 1, 6**100]]),),
        (call([[m - 1, m * 5 - 123_456_789, m] for m in odd]),),
        (call([[2, 2 * 31**150, 2 * m] for m in odd]),),
        (call([[2, 2 * 31**150, 2 * m] for m in odd] + [[1, -1, 101]]),),
    )


PROBLEM = Problem(
    id="linear_congruences",
    category="mathematics",
    level="hard",
    entry="linear_congruences",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    keeps_arguments=True,
)
