"""The integer root of an integer, rounded down, and what is left. Sample: floor_root(-9, 3) → [-3, 18]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def floor_root(number: int, degree: int) -> list[int]: ..."

EN = """
Write a function `floor_root` that takes roots of integers exactly.

`floor_root(number, degree)` returns the list `[root, rest]`, both integers: `root` is the largest integer with
`root ** degree <= number`, and `rest` is `number - root ** degree`. So the root of a negative number is rounded down, not
towards zero, and `rest` is never negative: `floor_root(20, 2)` is `[4, 4]`, and `floor_root(-9, 3)` is `[-3, 18]`.

Raise ValueError if `degree` is less than 1, and if `number` is negative while `degree` is even. `number` may have a thousand
digits and `degree` may be as large as 10,000; the result must be exact all the same and take well under a second.
"""

ZH = """
请编写函数 `floor_root`，精确地计算整数的整数次方根。

`floor_root(number, degree)` 返回列表 `[root, rest]`，两者都是整数：`root` 是满足 `root ** degree <= number` 的最大整数，
`rest` 是 `number - root ** degree`。因此负数的根是向下取整，而不是向零取整，并且 `rest` 永远不为负：
`floor_root(20, 2)` 为 `[4, 4]`，`floor_root(-9, 3)` 为 `[-3, 18]`。

若 `degree` 小于 1，或者 `number` 为负而 `degree` 为偶数，则抛出 ValueError。`number` 可能有一千位数字，`degree` 最大可达
10,000；结果仍必须精确，且耗时必须远小于一秒。
"""

REFERENCE = """
def floor_root(number, degree):
    if degree < 1 or (number < 0 and degree % 2 == 0):
        raise ValueError("no such root")
    size = abs(number)
    root = 0
    bits = -(-size.bit_length() // degree)
    for bit in reversed(range(bits)):
        candidate = root + (1 << bit)
        if candidate**degree <= size:
            root = candidate
    if number != size:
        root = -root if root**degree == size else -root - 1
    return [root, number - root**degree]
"""

WRONG = {
    "floats": """
def floor_root(number, degree):
    if degree < 1 or (number < 0 and degree % 2 == 0):
        raise ValueError
    root = round(abs(number) ** (1 / degree))
    if number < 0:
        root = -root
    while root**degree > number:
        root -= 1
    return [root, number - root**degree]
""",
    "negative numbers are rounded towards zero": """
def floor_root(number, degree):
    if degree < 1 or (number < 0 and degree % 2 == 0):
        raise ValueError
    size = abs(number)
    low, high = 0, 1 << (size.bit_length() // degree + 1)
    while low + 1 < high:
        middle = (low + high) // 2
        if middle**degree <= size:
            low = middle
        else:
            high = middle
    root = -low if number < 0 else low
    return [root, number - root**degree]
""",
    "exact negative roots are one too low": """
def floor_root(number, degree):
    if degree < 1 or (number < 0 and degree % 2 == 0):
        raise ValueError
    size = abs(number)
    low, high = 0, 1 << (size.bit_length() // degree + 1)
    while low + 1 < high:
        middle = (low + high) // 2
        if middle**degree <= size:
            low = middle
        else:
            high = middle
    root = -low - 1 if number < 0 else low
    return [root, number - root**degree]
""",
    "exact roots are one too low": """
def floor_root(number, degree):
    if degree < 1 or (number < 0 and degree % 2 == 0):
        raise ValueError
    bound = 1 << (abs(number).bit_length() // degree + 1)
    low, high = (0, bound) if number >= 0 else (-bound, 0)
    while low + 1 < high:
        middle = (low + high) // 2
        if middle**degree < number:
            low = middle
        else:
            high = middle
    return [low, number - low**degree]
""",
    "even roots of negative numbers raise nothing": """
def floor_root(number, degree):
    if degree < 1:
        raise ValueError
    if number < 0:
        size = -number
        root = 0
        for bit in reversed(range(size.bit_length() // degree + 1)):
            if (root + (1 << bit)) ** degree < size:
                root += 1 << bit
        root = -root - 1
        return [root, number - root**degree]
    root = 0
    for bit in reversed(range(number.bit_length() // degree + 1)):
        if (root + (1 << bit)) ** degree <= number:
            root += 1 << bit
    return [root, number - root**degree]
""",
    "counts up from zero": """
def floor_root(number, degree):
    if degree < 1 or (number < 0 and degree % 2 == 0):
        raise ValueError
    root = 0
    if number < 0:
        while root**degree > number:
            root -= 1
    else:
        while (root + 1) ** degree <= number:
            root += 1
    return [root, number - root**degree]
""",
}


def checks() -> tuple[Check, ...]:
    long = int("".join(str(i * i % 10) for i in range(1, 1001)))
    return (
        (call(20, 2),),
        (call(-9, 3),),
        (call(0, 1),),
        (call(0, 4),),
        (call(1, 2),),
        (call(-1, 1),),
        (call(-1, 5),),
        (call(7, 1),),
        (call(-7, 1),),
        (call(49, 2),),
        (call(48, 2),),
        (call(80, 4),),
        (call(-8, 3),),
        (call(-7, 3),),
        (call(5, 0),),
        (call(5, -2),),
        (call(0, 0),),
        (call(-4, 2),),
        (call(-1, 10_000),),
        (call(7, 10_000),),
        (call(-7, 9_999),),
        (call(-(2**77), 7),),
        (call(-(2**77) - 1, 7),),
        (call(999_999_999_999**2 - 1, 2),),
        (call((10**40 + 7) ** 3, 3),),
        (call((10**40 + 7) ** 3 - 1, 3),),
        (call(-((10**40 + 7) ** 5) - 1, 5),),
        (call(-((10**40 + 7) ** 5) + 1, 5),),
        (call(long, 2),),
        (call(-long, 7),),
        (call(long, 3_400),),
    )


PROBLEM = Problem(
    id="floor_root",
    category="mathematics",
    level="easy",
    entry="floor_root",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
