"""The neighbouring primes of an interval that are farthest apart. Sample: widest_prime_gap(0, 10) → [3, 5]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def widest_prime_gap(low: int, high: int) -> list[int]: ..."

EN = """
Write a function `widest_prime_gap` that finds the widest gap between primes in an interval.

Call two primes neighbours if no other prime lies between them. Among all neighbours `p < q` with `low <= p` and `q <= high`,
return the ones with the greatest difference `q - p` as the list `[p, q]`; where several have the same greatest difference,
return those with the smallest `p`. If the interval holds fewer than two primes, return `[]`.

Example: `widest_prime_gap(0, 10)` is `[3, 5]`, for the primes are 2, 3, 5 and 7.

`low` may be negative, and it may be greater than `high`; then the interval is empty. `high` is at most 10**12, and
`high - low` at most 600,000. Even the largest inputs must take no more than about a second: there is no time to try divisors
for each number of the interval, and no room for a table of all numbers up to `high`.
"""

ZH = """
请编写函数 `widest_prime_gap`，在一个区间中找出相邻质数之间最大的间隔。

若两个质数之间没有其他质数，则称它们相邻。在所有满足 `low <= p` 且 `q <= high` 的相邻质数 `p < q` 中，
找出差 `q - p` 最大的一对，以列表 `[p, q]` 的形式返回；若有多对的差同为最大，返回 `p` 最小的一对。
若区间内的质数少于两个，返回 `[]`。

例如：`widest_prime_gap(0, 10)` 为 `[3, 5]`，因为其中的质数是 2、3、5、7。

`low` 可能为负，也可能大于 `high`，此时区间为空。`high` 不超过 10**12，`high - low` 不超过 600,000。
即使是最大的输入，耗时也不得超过一秒左右：没有时间对区间中的每个数逐一试除，也没有空间存放直到 `high` 的所有数的表。
"""

REFERENCE = """
from itertools import compress, count, pairwise
from math import isqrt


def widest_prime_gap(low, high):
    neighbours = pairwise(_primes(max(low, 2), high))
    return list(max(neighbours, key=lambda pair: pair[1] - pair[0], default=()))


def _primes(low, high):
    if high < 2:
        return []
    flags = bytearray(b"1") * (high - low + 1)
    for prime in _primes(2, isqrt(high)):
        start = max(2, -(-low // prime)) * prime - low
        flags[start::prime] = bytes(len(range(start, len(flags), prime)))
    return list(compress(count(low), flags))
"""

WRONG = {
    "tries divisors for each number": """
def is_prime(n):
    if n < 4:
        return n > 1
    if n % 2 == 0 or n % 3 == 0:
        return False
    d = 5
    while d * d <= n:
        if n % d == 0 or n % (d + 2) == 0:
            return False
        d += 6
    return True


def widest_prime_gap(low, high):
    best, last = [], None
    for n in range(max(low, 2), high + 1):
        if is_prime(n):
            if last is not None and (not best or n - last > best[1] - best[0]):
                best = [last, n]
            last = n
    return best
""",
    "tries the primes up to the root for each number": """
from math import isqrt


def widest_prime_gap(low, high):
    root = isqrt(max(high, 0)) + 1
    flags = bytearray([1]) * (root + 1)
    small = []
    for n in range(2, root + 1):
        if flags[n]:
            small.append(n)
            for m in range(n * n, root + 1, n):
                flags[m] = 0
    best, last = [], None
    for n in range(max(low, 2), high + 1):
        prime = True
        for p in small:
            if p * p > n:
                break
            if n % p == 0:
                prime = False
                break
        if prime:
            if last is not None and (not best or n - last > best[1] - best[0]):
                best = [last, n]
            last = n
    return best
""",
    "a table up to high": """
def widest_prime_gap(low, high):
    if high < 2:
        return []
    flags = bytearray([1]) * (high + 1)
    flags[0] = flags[1] = 0
    n = 2
    while n * n <= high:
        if flags[n]:
            flags[n * n :: n] = bytes(len(range(n * n, high + 1, n)))
        n += 1
    best, last = [], None
    for n in range(max(low, 2), high + 1):
        if flags[n]:
            if last is not None and (not best or n - last > best[1] - best[0]):
                best = [last, n]
            last = n
    return best
""",
    "the last of equal gaps": """
from math import isqrt


def sieve(low, high):
    if high < 2:
        return []
    flags = bytearray([1]) * max(0, high - low + 1)
    for p in sieve(2, isqrt(high)):
        start = max(p * p, (low + p - 1) // p * p) - low
        flags[start::p] = bytes(len(range(start, len(flags), p)))
    return [low + i for i, flag in enumerate(flags) if flag]


def widest_prime_gap(low, high):
    primes = sieve(max(low, 2), high)
    best = []
    for p, q in zip(primes, primes[1:]):
        if not best or q - p >= best[1] - best[0]:
            best = [p, q]
    return best
""",
    "high is left out": """
from math import isqrt


def sieve(low, high):
    if high <= 2:
        return []
    flags = bytearray([1]) * max(0, high - low)
    for p in sieve(2, isqrt(high) + 1):
        start = max(p * p, (low + p - 1) // p * p) - low
        flags[start::p] = bytes(len(range(start, len(flags), p)))
    return [low + i for i, flag in enumerate(flags) if flag]


def widest_prime_gap(low, high):
    primes = sieve(max(low, 2), high)
    return list(max(zip(primes, primes[1:]), key=lambda pq: pq[1] - pq[0], default=[]))
""",
    "one is a prime": """
from math import isqrt


def sieve(low, high):
    if high < 2:
        return []
    flags = bytearray([1]) * max(0, high - low + 1)
    for p in sieve(2, isqrt(high)):
        start = max(p * p, (low + p - 1) // p * p) - low
        flags[start::p] = bytes(len(range(start, len(flags), p)))
    return [low + i for i, flag in enumerate(flags) if flag]


def widest_prime_gap(low, high):
    primes = sieve(max(low, 1), high)
    return list(max(zip(primes, primes[1:]), key=lambda pq: pq[1] - pq[0], default=[]))
""",
    "small primes strike themselves": """
from math import isqrt


def small_primes(limit):
    return [n for n in range(2, limit + 1) if all(n % d for d in range(2, isqrt(n) + 1))]


def widest_prime_gap(low, high):
    low = max(low, 2)
    if high < low:
        return []
    flags = [True] * (high - low + 1)
    for p in small_primes(isqrt(high)):
        for m in range((low + p - 1) // p * p, high + 1, p):
            flags[m - low] = False
    primes = [low + i for i, flag in enumerate(flags) if flag]
    return list(max(zip(primes, primes[1:]), key=lambda pq: pq[1] - pq[0], default=[]))
""",
    "squares of primes are taken for primes": """
from math import isqrt


def sieve(low, high):
    if high < 2:
        return []
    flags = bytearray([1]) * max(0, high - low + 1)
    for p in sieve(2, isqrt(high)):
        start = max(p * p + p, (low + p - 1) // p * p) - low
        flags[start::p] = bytes(len(range(start, len(flags), p)))
    return [low + i for i, flag in enumerate(flags) if flag]


def widest_prime_gap(low, high):
    primes = sieve(max(low, 2), high)
    return list(max(zip(primes, primes[1:]), key=lambda pq: pq[1] - pq[0], default=[]))
""",
}


def checks() -> tuple[Check, ...]:
    return (
        (call(0, 10),),
        (call(1, 3),),
        (call(2, 3),),
        (call(2, 4),),
        (call(3, 4),),
        (call(3, 3),),
        (call(2, 2),),
        (call(0, 1),),
        (call(10, 5),),
        (call(100, -100),),
        (call(-20, 1),),
        (call(-20, -3),),
        (call(-20, 3),),
        (call(8, 12),),
        (call(7, 11),),
        (call(24, 28),),
        (call(23, 29),),
        (call(24, 29),),
        (call(23, 28),),
        (call(0, 48),),
        (call(0, 200),),
        (call(113, 127),),
        (call(114, 126),),
        (call(-5_000, 10_000),),
        (call(999_950, 1_000_050),),
        (call(31_607**2 - 30, 31_607**2 + 30),),
        (call(10**12 - 600_000, 10**12),),
    )


PROBLEM = Problem(
    id="widest_prime_gap",
    category="mathematics",
    level="medium",
    entry="widest_prime_gap",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
)
