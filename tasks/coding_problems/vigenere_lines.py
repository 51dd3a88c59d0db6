"""A Vigenère cipher for letters and digits, anew on each line. Sample: vigenere_lines("Zoo 9!", "bc", False) → "Aqp 1!"."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def vigenere_lines(text: str, key: str, decode: bool) -> str: ..."

EN = r"""
Write a function `vigenere_lines` that encodes a text with a keyword, or decodes it.

The keyword is made of the English letters (a–z, A–Z) of `key`, in their order; upper and lower case are the same there, and
all other characters of `key` are ignored. Each of its letters is a shift: a is 0, b is 1, …, z is 25. A key without any
English letter raises ValueError, even where the text is empty.

When encoding, each English letter of the text moves forward in the alphabet by the current shift, from z on to a, and keeps
its case; each digit 0–9 moves forward among the ten digits by the current shift, from 9 on to 0. So under d (3) `y` becomes
`b`, `Y` becomes `B`, `9` becomes `2`; under l (11) `0` becomes `1`. When decoding, they move back by the same shift.

The shifts are used in turn: each letter or digit of the text uses one, and after the last comes the first again. All other
characters (spaces, punctuation, é, 中, ² …) stay as they are and use no shift. After every newline character "\n" the
keyword begins anew with its first letter. Return the resulting text.

Example: `vigenere_lines("Zoo 9!", "bc", False)` is `"Aqp 1!"`, and `vigenere_lines("Aqp 1!", "bc", True)` is `"Zoo 9!"`.
"""

ZH = r"""
请编写函数 `vigenere_lines`，用一个密钥词对文本加密或解密。

密钥词由 `key` 中的英文字母（a–z、A–Z）按原有次序组成，其中不区分大小写，`key` 中的其他字符全部忽略。
密钥词的每个字母表示一个位移：a 为 0，b 为 1，……，z 为 25。如果 `key` 不含任何英文字母，则抛出 ValueError，
即使文本为空也是如此。

加密时，文本中的每个英文字母在字母表中向后移动当前的位移量，z 之后接着是 a，大小写保持不变；
每个数字 0–9 在十个数字中向后移动当前的位移量，9 之后接着是 0。例如位移为 d（3）时，`y` 变为 `b`，`Y` 变为 `B`，
`9` 变为 `2`；位移为 l（11）时，`0` 变为 `1`。解密时则向前移动同样的位移量。

各位移依次轮流使用：文本中的每个字母或数字用掉一个，用完最后一个后又从第一个开始。
其他所有字符（空格、标点、é、中、² 等）保持不变，也不消耗位移。每遇到一个换行符 "\n" 之后，
密钥词都重新从第一个字母开始。返回得到的文本。

示例：`vigenere_lines("Zoo 9!", "bc", False)` 为 `"Aqp 1!"`，`vigenere_lines("Aqp 1!", "bc", True)` 为 `"Zoo 9!"`。
"""

REFERENCE = r"""
from string import ascii_lowercase, ascii_uppercase, digits


def vigenere_lines(text, key, decode):
    shifts = [ascii_lowercase.index(c.lower()) for c in key if c in ascii_lowercase + ascii_uppercase]
    if not shifts:
        raise ValueError("the key has no letter")
    out, used = [], 0
    for c in text:
        if c == "\n":
            used = 0
        ring = next((r for r in (ascii_lowercase, ascii_uppercase, digits) if c in r), None)
        if ring:
            shift = shifts[used % len(shifts)]
            c = ring[(ring.index(c) + (-shift if decode else shift)) % len(ring)]
            used += 1
        out.append(c)
    return "".join(out)
"""

_SECOND = r"""
def vigenere_lines(text, key, decode):
    shifts = [ord(c) - 97 for c in key.lower() if "a" <= c <= "z"]
    if not shifts:
        raise ValueError("no letter")
    out, i = [], 0
    for c in text:
        if c == "\n":
            i = 0
        shift = shifts[i % len(shifts)]
        if decode:
            shift = -shift
        if "a" <= c <= "z":
            c = chr((ord(c) - 97 + shift) % 26 + 97)
            i += 1
        elif "A" <= c <= "Z":
            c = chr((ord(c) - 65 + shift) % 26 + 65)
            i += 1
        elif "0" <= c <= "9":
            c = chr((ord(c) - 48 + shift) % 10 + 48)
            i += 1
        out.append(c)
    return "".join(out)
"""
"""A second right solution, of which wrong ones are made."""

WRONG = {
    "every character uses a shift": _SECOND.replace("            i += 1\n", "").replace(
        "        out.append(c)", '        if c != "\\n":\n            i += 1\n        out.append(c)'
    ),
    "the keyword goes on over newlines": _SECOND.replace('        if c == "\\n":\n            i = 0\n', ""),
    "digits use no shift": _SECOND.replace("+ 48)\n            i += 1\n", "+ 48)\n"),
    "digits stay as they are": _SECOND.replace('"0" <= c <= "9"', "False"),
    "other characters of the key shift as well": _SECOND.replace(' if "a" <= c <= "z"]', "]"),
    "upper case in the key is dropped": _SECOND.replace("key.lower()", "key"),
    "an empty text before the key is looked at": _SECOND.replace(
        "    shifts =", '    if not text:\n        return ""\n    shifts =', 1
    ),
    "digits of other scripts and é move": _SECOND.replace('"0" <= c <= "9"', "c.isdigit()")
    .replace("ord(c) - 48", "int(c)")
    .replace('"a" <= c <= "z":', "c.isalpha() and c.islower():"),
    "the case is lost": _SECOND.replace("% 26 + 65", "% 26 + 97"),
    "decodes forward": _SECOND.replace("            shift = -shift", "            shift = shift"),
}


def checks() -> tuple[Check, ...]:
    every = "".join(chr(32 + i) for i in range(95))
    return (
        (call("Zoo 9!", "bc", False),),
        (call("Aqp 1!", "bc", True),),
        (call("", "key", False),),
        (call("", "", False),),
        (call("", "12 ä", True),),
        (call("text", "…", False),),
        (call("yY9 zZ0", "d", False),),
        (call("0123456789", "l", False),),
        (call("0123456789", "z", True),),
        (call("Attack at dawn, 05:30!", "Lemon", False),),
        (call("Attack at dawn, 05:30!", "Lemon", True),),
        (call("abc\nabc\n\nabcabc", "bdf", False),),
        (call("ab\nab 12\nxyz", "zy", True),),
        (call("naïve 中文 x² ٣ Ünder é1", "bcd", False),),
        (call("hello world", "B-c 3.D", False),),
        (call(every, "aZ", False),),
        (call(every + "\n" + every, "Qx y", True),),
        (call("same", "a", False),),
        (call("a\r\nb\tc", "bc", False),),
    )


PROBLEM = Problem(
    id="vigenere_lines",
    category="strings",
    level="easy",
    entry="vigenere_lines",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
