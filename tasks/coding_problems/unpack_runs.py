r"""Runs unpacked, with groups and escapes. Sample: unpack_runs("a3(b2c)2\\5", 99) → "aaabbcbbc5"."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def unpack_runs(packed: str, limit: int) -> str: ..."

EN = r"""
Write a function `unpack_runs` that unpacks a text in which repetitions were shortened.

A packed text is a sequence of items, possibly empty. An item is a unit, and after it possibly a count; it stands for the
unit's text, as many times as the count says, or once where there is no count. A unit is one of these:

- a single character other than a digit 0–9, `(`, `)` or `\`: it stands for itself;
- an escape: a `\` and then one of the digits 0–9, `(`, `)` or `\`; it stands for that second character;
- a group: `(`, one or more items, `)`; it stands for the text of its items. Groups may hold groups.

A count is the whole run of digits 0–9 that directly follows the unit: a decimal number of at least 2, without leading zeros.
Digits of other scripts, spaces and newlines are ordinary characters.

Return the unpacked text. Raise ValueError where `packed` breaks these rules: a count of 0 or 1 or with a leading zero, a
digit where a unit should begin, a `\` before another character or at the end, an empty group, brackets that do not match.
Raise ValueError also where the unpacked text would have more than `limit` characters (`limit` is at least 0); such a text
may be far too long for the memory, so find out without making it.

Examples, in which `\` is one backslash: `a3(b2c)2\5` gives `aaabbcbbc5`, `\34` gives `3333`, `((x2)2y)2` gives `xxxxyxxxxy`.
"""

ZH = r"""
请编写函数 `unpack_runs`，把缩写了重复内容的文本还原。

压缩文本由若干项依次组成，也可以为空。一项由一个单元和其后可有可无的次数组成；它表示把该单元的文本重复指定的次数，
没有次数时表示一次。单元有以下几种：

- 单个字符，但不是数字 0–9、`(`、`)` 或 `\`：表示它自身；
- 转义：一个 `\`，后面跟数字 0–9、`(`、`)` 或 `\` 中的一个；表示后面的这个字符；
- 组：`(`、一项或多项、`)`；表示其中各项的文本。组内可以再有组。

次数是紧跟在单元之后的整串数字 0–9：一个不小于 2 的十进制数，不带前导零。
其他文字的数字、空格和换行都是普通字符。

返回还原后的文本。如果 `packed` 违反上述规则，抛出 ValueError：次数为 0 或 1 或带前导零，应当开始一个单元的地方是数字，
`\` 后面是其他字符或位于末尾，空的组，括号不配对。如果还原后的文本会超过 `limit` 个字符（`limit` 不小于 0），
也抛出 ValueError；这样的文本可能远远超出内存，因此必须在不生成它的情况下判断出来。

示例（其中 `\` 是一个反斜杠）：`a3(b2c)2\5` 得到 `aaabbcbbc5`，`\34` 得到 `3333`，`((x2)2y)2` 得到 `xxxxyxxxxy`。
"""

REFERENCE = r"""
DIGITS = "0123456789"


def unpack_runs(packed, limit):
    groups = [""]
    place = 0
    while place < len(packed):
        unit = packed[place]
        place += 1
        if unit == "(":
            groups.append("")
            continue
        if unit == ")":
            unit = groups.pop()
            if not unit or not groups:
                raise ValueError("an empty group, or a bracket that was not opened")
        elif unit == "\\":
            unit = packed[place : place + 1]
            place += 1
            if unit not in tuple(DIGITS + "()\\"):
                raise ValueError("nothing to escape")
        elif unit in DIGITS:
            raise ValueError("a count of nothing")
        start = place
        while place < len(packed) and packed[place] in DIGITS:
            place += 1
        count = packed[start:place]
        if count and (count == "1" or count.startswith("0")):
            raise ValueError("a count of 0 or 1, or a leading zero")
        times = int(count or "1")
        if len(groups[-1]) + len(unit) * times > limit:
            raise ValueError("too long")
        groups[-1] += unit * times
    if len(groups) > 1:
        raise ValueError("a bracket is not closed")
    return groups[0]
"""

_SECOND = r"""
def unpack_runs(packed, limit):
    def sequence(i, depth):
        text = ""
        while i < len(packed):
            c = packed[i]
            if c == ")":
                if depth == 0:
                    raise ValueError("closing bracket")
                return text, i
            if c == "(":
                unit, i = sequence(i + 1, depth + 1)
                if not unit:
                    raise ValueError("empty group")
            elif c == "\\":
                i += 1
                if i >= len(packed) or packed[i] not in "0123456789()\\":
                    raise ValueError("escape")
                unit = packed[i]
            elif c in "0123456789":
                raise ValueError("digit")
            else:
                unit = c
            i += 1
            digits = ""
            while i < len(packed) and packed[i] in "0123456789":
                digits += packed[i]
                i += 1
            if digits and (digits[0] == "0" or int(digits) < 2):
                raise ValueError("count")
            times = int(digits) if digits else 1
            if len(text) + len(unit) * times > limit:
                raise ValueError("too long")
            text += unit * times
        if depth:
            raise ValueError("not closed")
        return text, i

    return sequence(0, 0)[0]
"""
"""A second right solution, of which wrong ones are made."""

WRONG = {
    "a count of 1 is taken": _SECOND.replace("int(digits) < 2", "int(digits) < 1"),
    "leading zeros are taken": _SECOND.replace('digits[0] == "0" or ', ""),
    "counts have one digit": _SECOND.replace("while i < len(packed) and packed[i] in", "if i < len(packed) and packed[i] in"),
    "digits of other scripts are counts": _SECOND.replace('c in "0123456789"', "c.isdigit()").replace(
        'packed[i] in "0123456789"', "packed[i].isdigit()"
    ),
    "any character may be escaped": _SECOND.replace(r' or packed[i] not in "0123456789()\\"', ""),
    "a backslash at the end is an IndexError": _SECOND.replace("i >= len(packed) or ", ""),
    "an open bracket is closed at the end": _SECOND.replace("        if depth:", "        if False:").replace(
        "text, i\n\n    return", "text, i - 1\n\n    return"
    ),
    "an empty group is taken": _SECOND.replace("if not unit:", "if False:"),
    "the limit itself is too long": _SECOND.replace("> limit", ">= limit"),
    "the length is looked at only in the end": _SECOND.replace("len(text) + len(unit) * times > limit", "False").replace(
        "    return sequence(0, 0)[0]",
        '    text = sequence(0, 0)[0]\n    if len(text) > limit:\n        raise ValueError("too long")\n    return text',
    ),
    "the limit is for a single run": _SECOND.replace("len(text) + len(unit)", "len(unit)"),
}


def checks() -> tuple[Check, ...]:
    return (
        (call(r"a3(b2c)2\5", 99),),
        (call(r"\34", 4),),
        (call("((x2)2y)2", 10),),
        (call("((x2)2y)2", 9),),
        (call("", 0),),
        (call("a", 0),),
        (call("abc", 3),),
        (call("abc", 2),),
        (call("a0", 99),),
        (call("a1", 99),),
        (call("a02", 99),),
        (call("a12b10", 99),),
        (call("3a", 99),),
        (call("(3a)", 99),),
        (call("()", 99),),
        (call("a()2", 99),),
        (call("(a", 99),),
        (call("(a(b)2", 99),),
        (call("a)", 99),),
        (call("a)(b", 99),),
        (call(")", 99),),
        (call("a\\", 99),),
        (call("\\n", 99),),
        (call("\\\\2\\(3\\)\\10", 99),),
        (call("\\\\2\\(3\\)\\12", 99),),
        (call("(\\12)2\\0\\9x", 99),),
        (call("x²2 3\n2٣2é", 99),),
        (call("a99999999999999999999", 1_000),),
        (call("(a99999)99999999999999999999", 100_000),),
        (call("(a9)2b", 18),),
        (call("(abc)4", 11),),
        (call("(abc)4", 12),),
        (call("x(yz)2", 4),),
        (call("(a2b(c2)3)2-3", 50),),
        (call("[a]{2}*2", 50),),
    )


PROBLEM = Problem(
    id="unpack_runs",
    category="strings",
    level="medium",
    entry="unpack_runs",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    equivalent={
        "line 32, column 23: 1 becomes 0": "a group that is too long is noticed later, where it joins the outermost text"
    },
)
