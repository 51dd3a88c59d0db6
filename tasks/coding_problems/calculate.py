"""Integer arithmetic as text. Sample: calculate("-2^2 + 7/-2") → -7, for `^` binds tighter than a minus and `/` truncates."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def calculate(text: str) -> int: ..."

EN = """
Write a function `calculate` that evaluates an arithmetic expression over integers of any size, exactly.

An expression is made of

- integers: one or more of the ASCII digits 0 to 9 (leading zeros are allowed),
- the binary operators `+`, `-`, `*`, `/`, `%` and `^` (power),
- the unary minus, which may be repeated and may follow any operator, as in `2*-3` or `--4`; there is no unary plus,
- parentheses around an expression.

From the tightest binding to the loosest: `^`; the unary minus; `*`, `/` and `%`; `+` and binary `-`. `^` groups from the
right (`2^3^2` is `2^9`), all other binary operators from the left. So `-2^2` is `-(2^2)`. The right side of `^` may begin
with unary minuses, which then apply to all of the power that follows: `2^-1^2` is `2^(-(1^2))`.

`/` divides and rounds toward zero: `-7/2` is -3. `%` is the remainder that belongs to it, which has the sign of the left
operand or is 0: `-7%3` is -1, `7%-3` is 1. `0^0` is 1.

Spaces (U+0020) may stand anywhere except inside an integer, so that `1 2` is malformed. Any other character is malformed, and
so are other white space, an empty text, a missing operand or operator (`2(3)`, `()`, `1+`), and unbalanced parentheses.

- For a malformed text raise ValueError, even if a part of it would raise another error: the syntax is checked before anything
  is evaluated.
- A power with a negative exponent raises ValueError, whatever its left operand is.
- `/` or `%` by zero raises ZeroDivisionError.

Operands are evaluated from left to right, and the first error is raised. Parentheses and unary minuses are nested at most 50
deep, but there may be thousands of operators in a row.
"""

ZH = """
请编写函数 `calculate`，精确地计算任意大小整数的算术表达式。

表达式由以下部分组成：

- 整数：一个或多个 ASCII 数字 0 到 9（允许前导零）；
- 二元运算符 `+`、`-`、`*`、`/`、`%` 和 `^`（乘方）；
- 一元负号，可以重复，也可以跟在任何运算符之后，例如 `2*-3` 或 `--4`；没有一元正号；
- 括起一个表达式的圆括号。

优先级从高到低依次为：`^`；一元负号；`*`、`/` 和 `%`；`+` 和二元的 `-`。`^` 从右向左结合（`2^3^2` 即 `2^9`），其他二元运
算符都从左向右结合。因此 `-2^2` 即 `-(2^2)`。`^` 的右侧可以以一元负号开头，它们作用于其后的整个乘方：`2^-1^2` 即
`2^(-(1^2))`。

`/` 是除法，结果向零取整：`-7/2` 得 -3。`%` 是与之对应的余数，其符号与左操作数相同，或者为 0：`-7%3` 得 -1，`7%-3` 得
1。`0^0` 得 1。

空格（U+0020）可以出现在任何位置，但不能在整数内部，因此 `1 2` 是格式错误的。其他任何字符都是格式错误，其他空白字符、空
文本、缺少操作数或运算符（`2(3)`、`()`、`1+`）以及不配对的括号也是格式错误。

- 对格式错误的文本抛出 ValueError，即使它的某一部分会引发别的错误：在计算任何东西之前先检查语法。
- 指数为负的乘方抛出 ValueError，不论其左操作数是什么。
- `/` 或 `%` 以零为除数时抛出 ZeroDivisionError。

操作数从左到右求值，抛出最先出现的错误。括号和一元负号至多嵌套 50 层，但可能有数千个运算符接连出现。
"""

REFERENCE = r'''
import re

RANK = {op: rank for rank, ops in enumerate([["("], ["+", "-"], ["*", "/", "%"], ["negate"], ["^"]]) for op in ops}


def calculate(text):
    values = []
    for item in _postfix(re.findall("[0-9]+|[^ ]", text)):
        if item == "negate":
            values.append(-values.pop())
        elif item in RANK:
            right = values.pop()
            values.append(_apply(item, values.pop(), right))
        else:
            values.append(int(item))
    return values.pop()


def _postfix(tokens):
    """The tokens with each operator after its operands."""
    out, pending, operand_next = [], [], True
    for token in tokens:
        if operand_next:
            if token == "(":
                pending.append("(")
            elif token == "-":
                pending.append("negate")
            elif token.isascii() and token.isdecimal():
                out.append(token)
                operand_next = False
            else:
                raise ValueError(f"no operand: {token}")
        elif token == ")":
            while pending and pending[-1] != "(":
                out.append(pending.pop())
            if not pending:
                raise ValueError("unbalanced parentheses")
            pending.pop()
        elif token in RANK and token != "(":
            while pending and (RANK[pending[-1]] > RANK[token] or RANK[pending[-1]] == RANK[token] != RANK["^"]):
                out.append(pending.pop())
            pending.append(token)
            operand_next = True
        else:
            raise ValueError(f"no operator: {token}")
    if operand_next or "(" in pending:
        raise ValueError("the expression is not complete")
    return out + pending[::-1]


def _apply(operator, left, right):
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "^":
            if right < 0:
                raise ValueError("a negative exponent")
            return left**right
    quotient = left // right
    if quotient < 0 and quotient * right != left:
        quotient += 1
    return quotient if operator == "/" else left - quotient * right
'''

WRONG = {
    "a minus binds tighter than a power": REFERENCE.replace('["negate"], ["^"]', '["^"], ["negate"]'),
    "powers group from the left": REFERENCE.replace(' != RANK["^"]', ""),
    "a minus binds looser than a product": REFERENCE.replace(
        '["*", "/", "%"], ["negate"], ["^"]', '["negate"], ["*", "/", "%"], ["^"]'
    ),
    "division rounds down": REFERENCE.replace("quotient < 0 and", "False and"),
    "the remainder has the sign of the divisor": REFERENCE.replace("left - quotient * right", "left % right"),
    "the quotient of floats": REFERENCE.replace("quotient = left // right", "quotient = int(left / right)"),
    "digits of other scripts": REFERENCE.replace("token.isascii() and ", ""),
    "spaces are removed first": REFERENCE.replace('"[0-9]+|[^ ]", text', '"[0-9]+|[^ ]", text.replace(" ", "")'),
    "any white space is allowed": REFERENCE.replace("[^ ]", r"\\S"),
    "a unary plus is allowed": REFERENCE.replace(
        '                pending.append("negate")\n',
        '                pending.append("negate")\n            elif token == "+":\n                continue\n',
    ),
    "a negative exponent gives a fraction": REFERENCE.replace("right < 0", "False"),
    "an open parenthesis at the end": REFERENCE.replace(' or "(" in pending', "").replace(
        "out + pending[::-1]", '[*out, *(p for p in pending[::-1] if p != "(")]'
    ),
    "evaluates while it reads": """
import re


def calculate(text):
    tokens = re.findall("[0-9]+|[^ ]", text) + ["end"]
    at = 0

    def take():
        nonlocal at
        at += 1
        return tokens[at - 1]

    def atom():
        token = take()
        if token == "(":
            value = total()
            if take() != ")":
                raise ValueError
            return value
        if not re.fullmatch("[0-9]+", token):
            raise ValueError
        return int(token)

    def unary():
        if tokens[at] == "-":
            take()
            return -unary()
        base = atom()
        if tokens[at] == "^":
            take()
            exponent = unary()
            if exponent < 0:
                raise ValueError
            return base**exponent
        return base

    def product():
        value = unary()
        while tokens[at] in ("*", "/", "%"):
            operator, right = take(), unary()
            if operator == "*":
                value *= right
            else:
                quotient = abs(value) // abs(right)
                quotient = -quotient if (value < 0) != (right < 0) else quotient
                value = quotient if operator == "/" else value - quotient * right
        return value

    def total():
        value = product()
        while tokens[at] in ("+", "-"):
            value = value + product() if take() == "+" else value - product()
        return value

    value = total()
    if tokens[at] != "end":
        raise ValueError
    return value
""",
}

VALID = (
    "-2^2 + 7/-2", "7", "007", " 12 ", "1+2*3", "(1+2)*3", "10-4-3", "100/10/5", "100/10*5", "17%10%4", "2*7%4", "2^3^2",
    "(2^3)^2", "-2^2", "(-2)^2", "-2^3", "2*3^2", "2^2*3", "2^3+1", "2--3", "2---3", "--4", "-(-(-5))", "2*-3", "2*-3^2",
    "-3*-3", "2^-(-3)", "2^--3", "2^--1^3*5", "2^-0", "2^-0^5*7", "-7/2", "7/-2", "-7/-2", "7/2", "-6/2", "-6/3/-1", "-7%3",
    "7%-3", "-7%-3", "7%3", "-6%3", "6%-3", "0/5", "0/-5", "0%-5", "-1/2", "1/-2", "-1%2", "0^0", "0^5", "(-1)^3", "5-0^0",
    "1 - 2 -3- 4", "( ( 3 ) )", "((((((1+1))))))", "- 5", "2 ^ 3", "8/3*3+8%3", "-8/3*3+-8%3", "2+3*4-5", "2*3+4*5",
    "1-(2-(3-4))", "3-2^2*2", "10-2*3%4", "(5)*(6)", "-(2+3)^2", "2*(3+4)^2/7", "10^18+1", "10^40/7", "-(10^40)/7",
    "(10^40+3)%(10^20)", "9007199254740993*1", "9007199254740993/1", "123456789012345678901234567890%97", "0-0", "-0",
    "12-3-4*2^2^0-1",
)  # fmt: skip

MALFORMED = (
    "", " ", "+", "+1", "1+", "1 2", "1 +", "1++2", "2*+3", "*1", "-", "--", "1-", "(", ")", "()", "(1", "1)", ")1(", "((1)",
    "(1))", "2(3)", "(2)(3)", "(2)3", "1,2", "1.5", "1.", "1//2", "2**3", "a", "1a", "x+1", "1=1", "²", "2²", "٣", "1+٣",
    "1\t+2", "1\n", "\t1", "1\u00a0+1", "1_000", "0x10", "1e3", "5!", "~1", "(1+)", "(+1)", "1 (2)", "(-)", "2^", "^2",
    "2^^3", "2^*3", "%", "1%%2", "negate", "1-+1", "−1", "1 0", "[1]", "(1]",
)  # fmt: skip

ERRORS = (
    "1/0", "1%0", "0/0", "0%0", "5/(3-3)", "5/0^2", "-(1/0)", "0*(1/0)", "1/0+", "(1/0", "1/0)", "1/0 2", "1/0+1.5", "2^-1)",
    "2^-1", "1^-1", "0^-1", "(-1)^-1", "2^-2^2", "2^(1-3)", "0*2^-1", "1/0+2^-1", "2^-1+1/0", "1/0^-1", "1/(0^-1)",
    "(1/0)^-1", "2^(1/0)", "2^-(1/0)", "(2^-1)/0", "1%0*2^-1", "1/0/0", "2^-1^0", "7%(2-2)^1", "1-(2^-1+1/0)", "3*(1/0-2^-1)",
)  # fmt: skip


def checks() -> tuple[Check, ...]:
    sums = "".join(f"{'+-*/'[i % 4]}{i * 7919 % 101 + 1}" for i in range(5_000))
    mixed = "1" + "".join(f"{'+-'[i % 2]}{'-' * (i % 3)}{i}{'*/%'[i % 3]}{i % 7 + 1}^{i % 4}" for i in range(900))
    texts = (
        *VALID,
        *MALFORMED,
        *ERRORS,
        f"3{sums}",
        mixed,
        "(" * 50 + "7" + ")" * 50,
        "-" * 49 + "3",
        "-(" * 25 + "2" + ")" * 25,
    )
    return tuple((call(text),) for text in texts)


PROBLEM = Problem(
    id="calculate",
    category="engineering",
    level="hard",
    entry="calculate",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
