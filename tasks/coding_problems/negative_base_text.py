"""A fraction as text in a negative base, rounded. Sample: negative_base_text(1, 2, -10, 1) → "1.5" (1 - 5/10)."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def negative_base_text(numerator: int, denominator: int, base: int, places: int) -> str: ..."

EN = """
Write a function `negative_base_text` that writes the number `numerator / denominator` in a negative base.

A text in base `base` (from -36 to -2) means what it means in any base: the digit at place i counts `base ** i`, where the
places before the point are 0, 1, 2, … from right to left, and the places after the point are -1, -2, … from left to right.
The digits are 0 to 9 and then the small letters a to z, as far as they are less than `-base`. In this way negative numbers
need no sign: in base -10, "15" is -10 + 5 = -5, and "1.5" is 1 - 5/10 = 1/2.

First round the number to an integer multiple of `(-base) ** -places`: take the nearest one, and of two that are equally near
the greater one (so -1/2 becomes 0 and 1/2 becomes 1 when `places` is 0). Work exactly, without floats. Then return the
text of the rounded number: at least one digit before the point and no needless zeros in front ("0.1", not ".1" or "00.1"), no
zeros at the end of the digits after the point, and no point if no digits follow it. Zero is "0".

`denominator` may be negative. Raise ValueError if `base` is not from -36 to -2 or if `places` is negative; otherwise raise
ZeroDivisionError if `denominator` is 0. `numerator` and `denominator` may have hundreds of digits.

Examples: `negative_base_text(-5, 1, -10, 3)` is "15", `negative_base_text(1, 3, -10, 2)` is "1.73" (1 - 0.7 + 0.03), and
`negative_base_text(1, 4, -2, 2)` is "0.01".
"""

ZH = """
请编写函数 `negative_base_text`，把数 `numerator / denominator` 写成负数进制的文本。

以 `base`（从 -36 到 -2）为底的文本，其含义与任何进制相同：第 i 位上的数字乘以 `base ** i`，其中小数点之前的各位从右到左是
第 0、1、2、… 位，小数点之后的各位从左到右是第 -1、-2、… 位。数字依次是 0 到 9，然后是小写字母 a 到 z，只使用小于 `-base`
的那些。这样负数不需要符号：在 -10 进制中，"15" 是 -10 + 5 = -5，"1.5" 是 1 - 5/10 = 1/2。

首先把这个数舍入到 `(-base) ** -places` 的整数倍：取最接近的一个；若有两个同样接近，取其中较大的一个（因此当 `places` 为 0
时，-1/2 变为 0，1/2 变为 1）。请精确计算，不要使用浮点数。然后返回舍入后的数的文本：小数点之前至少有一位数字，且前面没有多余的
零（写成 "0.1"，而不是 ".1" 或 "00.1"）；小数点之后的数字末尾没有零；若小数点之后没有数字，则不写小数点。零写成 "0"。

`denominator` 可能为负。若 `base` 不在 -36 到 -2 之间，或者 `places` 为负，抛出 ValueError；否则若 `denominator` 为 0，
抛出 ZeroDivisionError。`numerator` 和 `denominator` 可能有几百位数字。

例如：`negative_base_text(-5, 1, -10, 3)` 为 "15"，`negative_base_text(1, 3, -10, 2)` 为 "1.73"（1 - 0.7 + 0.03），
`negative_base_text(1, 4, -2, 2)` 为 "0.01"。
"""

REFERENCE = """
from fractions import Fraction
from math import floor
from string import ascii_lowercase, digits

DIGITS = digits + ascii_lowercase


def negative_base_text(numerator, denominator, base, places):
    if not -36 <= base <= -2 or places < 0:
        raise ValueError("base or places")
    rounded = floor(Fraction(numerator, denominator) * (-base) ** places + Fraction(1, 2))
    number = rounded if places % 2 == 0 else -rounded
    text = ""
    while number:
        digit = number % -base
        text = DIGITS[digit] + text
        number = (number - digit) // base
    text = text.rjust(places + 1, "0")
    split = len(text) - places
    return (text[:split] + "." + text[split:].rstrip("0")).rstrip(".")
"""

_ERRORS = """
    if not -36 <= base <= -2 or places < 0:
        raise ValueError
    if denominator == 0:
        raise ZeroDivisionError
"""
_TEXT = """
    out = []
    while n:
        n, d = divmod(n, base)
        if d < 0:
            n, d = n + 1, d - base
        out.append("0123456789abcdefghijklmnopqrstuvwxyz"[d])
    while len(out) <= places:
        out.append("0")
    text = "".join(reversed(out))
    if places == 0:
        return text
    head, tail = text[:-places], text[-places:].rstrip("0")
    return head + "." + tail if tail else head
"""

WRONG = {
    "the sign of the scale is forgotten": f"""
def negative_base_text(numerator, denominator, base, places):{_ERRORS}
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    n = (2 * numerator * (-base) ** places + denominator) // (2 * denominator)
{_TEXT}""",
    "ties go to the greater digits instead of the greater number": f"""
def negative_base_text(numerator, denominator, base, places):{_ERRORS}
    numerator *= base**places
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    n = (2 * numerator + denominator) // (2 * denominator)
{_TEXT}""",
    "ties go to the even neighbour": f"""
from fractions import Fraction


def negative_base_text(numerator, denominator, base, places):{_ERRORS}
    n = round(Fraction(numerator, denominator) * base**places)
{_TEXT}""",
    "cuts off instead of rounding": f"""
def negative_base_text(numerator, denominator, base, places):{_ERRORS}
    n = numerator * base**places // denominator
{_TEXT}""",
    "floats": f"""
from math import floor


def negative_base_text(numerator, denominator, base, places):{_ERRORS}
    n = floor(numerator / denominator * abs(base) ** places + 0.5)
    if places % 2:
        n = -n
{_TEXT}""",
    "negative remainders are left as they are": """
def negative_base_text(numerator, denominator, base, places):
    if not -36 <= base <= -2 or places < 0:
        raise ValueError
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    n = (2 * numerator * (-base) ** places + denominator) // (2 * denominator) * (-1) ** places
    text = ""
    while n:
        n, d = divmod(n, base)
        text = "0123456789abcdefghijklmnopqrstuvwxyz"[abs(d)] + text
    text = text.zfill(places + 1)
    if places == 0:
        return text
    head, tail = text[:-places], text[-places:].rstrip("0")
    return head + "." + tail if tail else head
""",
    "no zeros are put before small fractions": """
def negative_base_text(numerator, denominator, base, places):
    if not -36 <= base <= -2 or places < 0:
        raise ValueError
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    n = (2 * numerator * (-base) ** places + denominator) // (2 * denominator) * (-1) ** places
    text = ""
    while n:
        n, d = divmod(n, base)
        if d < 0:
            n, d = n + 1, d - base
        text = "0123456789abcdefghijklmnopqrstuvwxyz"[d] + text
    if places == 0:
        return text or "0"
    head, tail = text[:-places] or "0", text[-places:].rstrip("0")
    return head + "." + tail if tail else head
""",
    "zeros at the end stay": """
def negative_base_text(numerator, denominator, base, places):
    if not -36 <= base <= -2 or places < 0:
        raise ValueError
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    n = (2 * numerator * (-base) ** places + denominator) // (2 * denominator) * (-1) ** places
    text = ""
    while n:
        n, d = divmod(n, base)
        if d < 0:
            n, d = n + 1, d - base
        text = "0123456789abcdefghijklmnopqrstuvwxyz"[d] + text
    text = text.zfill(places + 1)
    return text[:-places] + "." + text[-places:] if places else text
""",
    "zeros of whole numbers are stripped, too": """
def negative_base_text(numerator, denominator, base, places):
    if not -36 <= base <= -2 or places < 0:
        raise ValueError
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    n = (2 * numerator * (-base) ** places + denominator) // (2 * denominator) * (-1) ** places
    text = ""
    while n:
        n, d = divmod(n, base)
        if d < 0:
            n, d = n + 1, d - base
        text = "0123456789abcdefghijklmnopqrstuvwxyz"[d] + text
    text = text.zfill(places + 1)
    if places:
        text = text[:-places] + "." + text[-places:]
    return text.rstrip("0").rstrip(".") or "0"
""",
    "zero as denominator comes first": f"""
def negative_base_text(numerator, denominator, base, places):
    if denominator == 0:
        raise ZeroDivisionError
    if not -36 <= base <= -2 or places < 0:
        raise ValueError
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    n = (2 * numerator * (-base) ** places + denominator) // (2 * denominator) * (-1) ** places
{_TEXT}""",
}


def checks() -> tuple[Check, ...]:
    return (
        (call(-5, 1, -10, 3),),
        (call(1, 3, -10, 2),),
        (call(1, 4, -2, 2),),
        (call(1, 2, -10, 1),),
        (call(0, 7, -10, 4),),
        (call(0, -7, -2, 0),),
        (call(1, 2, -10, 0),),
        (call(-1, 2, -10, 0),),
        (call(-3, 2, -7, 0),),
        (call(5, -2, -7, 0),),
        (call(1, 20, -10, 1),),
        (call(-1, 20, -10, 1),),
        (call(3, 20, -10, 1),),
        (call(7, 200, -10, 2),),
        (call(-7, 200, -10, 2),),
        (call(7, 2_000, -10, 3),),
        (call(-9, 2_000, -10, 3),),
        (call(13, 54, -3, 3),),
        (call(1, 1_000, -10, 3),),
        (call(1, 1_000, -10, 2),),
        (call(-1, 10, -10, 1),),
        (call(1, 100, -10, 5),),
        (call(90, 1, -10, 0),),
        (call(-100, 1, -10, 2),),
        (call(12_345, 1, -2, 0),),
        (call(-12_345, 1, -2, 5),),
        (call(35, 1, -36, 0),),
        (call(-1, 1, -36, 0),),
        (call(-123_456_789, 1_000, -36, 4),),
        (call(99, 100, -16, 3),),
        (call(-1, -3, -2, 9),),
        (call(2, -3, -2, 8),),
        (call(1, 3, -2, 30),),
        (call(10, 11, -10, 4),),
        (call(10, 11, -10, 3),),
        (call(1, 11, -10, 5),),
        (call(22, 7, -3, 40),),
        (call(10**120 + 1, 7, -10, 3),),
        (call(-(10**120) - 1, 10**60 + 9, -27, 40),),
        (call(2 * 10**40 + 1, 2 * 10**20, -10, 20),),
        (call(1, 2, -1, 3),),
        (call(1, 2, 0, 3),),
        (call(1, 2, 10, 3),),
        (call(1, 2, -37, 3),),
        (call(1, 2, -2, -1),),
        (call(1, 0, -2, 1),),
        (call(0, 0, -2, 0),),
        (call(1, 0, -1, 1),),
        (call(1, 0, -2, -1),),
    )


PROBLEM = Problem(
    id="negative_base_text",
    category="mathematics",
    level="hard",
    entry="negative_base_text",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
