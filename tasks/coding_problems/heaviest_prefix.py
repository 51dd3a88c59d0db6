"""The prefix that covers most by its occurrences. Sample: heaviest_prefix("abababc") → [4, 2]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def heaviest_prefix(text: str) -> list[int]: ..."

EN = """
Write a function `heaviest_prefix` that finds the prefix of a text with the greatest weight.

A prefix is `text[:length]` with 1 ≤ length ≤ len(text). Its occurrences are all places of the text where it begins, the one
at 0 included; they may overlap. So "aa" occurs three times in "aaaa". The weight of a prefix is its length times the number
of its occurrences. Only prefixes that occur at least twice take part.

Return the list `[length, occurrences]` of the prefix with the greatest weight; of several with the same weight, that of the
longest. Where no prefix occurs twice, as in the empty text, return `[0, 0]`. Upper and lower case differ. Texts of 100,000
characters must take well under a second, those with endless repetitions too.

Examples: `heaviest_prefix("abababc")` is `[4, 2]`, for "abab" occurs at 0 and 2 and weighs 8, while "ab" occurs three times
and weighs 6. `heaviest_prefix("aaa")` is `[2, 2]`: "aa" weighs 4, "a" weighs 3. `heaviest_prefix("abcaba")` is `[2, 2]`.
"""

ZH = """
请编写函数 `heaviest_prefix`，找出文本中重量最大的前缀。

前缀是指 `text[:length]`，其中 1 ≤ length ≤ len(text)。它的出现次数是文本中以它开头的位置的个数，包括位置 0；
各次出现可以互相重叠。例如 "aa" 在 "aaaa" 中出现三次。前缀的重量是它的长度乘以它的出现次数。
只有至少出现两次的前缀才参与比较。

返回重量最大的前缀的列表 `[length, occurrences]`（长度、出现次数）；若有多个前缀重量相同，取其中最长的一个。
如果没有任何前缀出现两次（例如空文本），返回 `[0, 0]`。区分大小写。
对于 100,000 个字符的文本，包括大量重复的文本，耗时都必须远小于一秒。

示例：`heaviest_prefix("abababc")` 为 `[4, 2]`，因为 "abab" 出现在 0 和 2，重量为 8，而 "ab" 出现三次，重量为 6。
`heaviest_prefix("aaa")` 为 `[2, 2]`："aa" 的重量为 4，"a" 的重量为 3。`heaviest_prefix("abcaba")` 为 `[2, 2]`。
"""

REFERENCE = """
def heaviest_prefix(text):
    borders = [-1]
    for c in text:
        length = borders[-1]
        while length >= 0 and text[length] != c:
            length = borders[length]
        borders.append(length + 1)
    occurrences = [1] * len(borders)
    best = [0, 0]
    for length in range(len(text), 0, -1):
        times = occurrences[length]
        occurrences[borders[length]] += times
        if times > 1 and length * times > best[0] * best[1]:
            best = [length, times]
    return best
"""

WRONG = {
    "occurrences must not overlap": """
def heaviest_prefix(text):
    best = [0, 0]
    for length in range(len(text) - 1, 0, -1):
        times = text.count(text[:length])
        if times > 1 and length * times > best[0] * best[1]:
            best = [length, times]
    return best
""",
    "the shortest of equal weight": REFERENCE.replace("length * times > best", "length * times >= best"),
    "the whole text takes part": REFERENCE.replace("times > 1 and ", ""),
    "the weight is the length times the further occurrences": REFERENCE.replace(
        "length * times > best[0] * best[1]", "length * (times - 1) > best[0] * (best[1] - 1)"
    ),
    "the occurrence at 0 is not counted": REFERENCE.replace("[1] * len(borders)", "[0] + [1] * (len(borders) - 1)").replace(
        "best = [length, times]", "best = [length, times - 1]"
    ),
    "only prefixes that are suffixes as well": """
def heaviest_prefix(text):
    best = [0, 0]
    for length in range(len(text) - 1, 0, -1):
        prefix = text[:length]
        if text.endswith(prefix):
            times = sum(text.startswith(prefix, i) for i in range(len(text) - length + 1))
            if length * times > best[0] * best[1]:
                best = [length, times]
    return best
""",
    "the shorter borders are not counted": REFERENCE.replace(
        "occurrences[borders[length]] += times", "occurrences[borders[length]] += 1"
    ),
    "falls back to the start instead of the next border": REFERENCE.replace(
        "length = borders[length]", "length = 0 if length else -1"
    ),
    "a tuple": REFERENCE.replace("return best", "return tuple(best)"),
    "1 and 1 where nothing occurs twice": REFERENCE.replace("    best = [0, 0]", "    best = [1, 1]"),
    "compares at each place character by character": """
def heaviest_prefix(text):
    n = len(text)
    starts = [0] * (n + 1)
    for i in range(n):
        k = 0
        while i + k < n and text[k] == text[i + k]:
            k += 1
        starts[k] += 1
    best, times = [0, 0], 0
    for length in range(n, 0, -1):
        times += starts[length]
        if times > 1 and length * times > best[0] * best[1]:
            best = [length, times]
    return best
""",
    "looks for each prefix with find": """
def heaviest_prefix(text):
    best = [0, 0]
    for length in range(1, len(text)):
        prefix, times, at = text[:length], 0, 0
        while at >= 0:
            times += 1
            at = text.find(prefix, at + 1)
        if times > 1 and length * times >= best[0] * best[1]:
            best = [length, times]
    return best
""",
}


def checks() -> tuple[Check, ...]:
    return (
        (call("abababc"),),
        (call("aaa"),),
        (call("abcaba"),),
        (call(""),),
        (call("a"),),
        (call("abc"),),
        (call("aa"),),
        (call("aaaa"),),
        (call("aaaaaaa"),),
        (call("abacabadabacaba"),),
        (call("aabaabaaab"),),
        (call("abcabdabcabx"),),
        (call("abxabyabzab"),),
        (call("aAaA aaAA"),),
        (call("abab"),),
        (call("aabaaaab"),),
        (call("xaxxax"),),
        (call("中文中文字中文中"),),
        (call("ab ab\nab ab\n"),),
        (call("abcdabcd" + "e" * 5 + "ab" * 9),),
        (call("a" * 40_000 + "b" + "a" * 39_999),),
        (call("ab" * 15_000 + "aab" * 5_000 + "ab" * 10_000),),
    )


PROBLEM = Problem(
    id="heaviest_prefix",
    category="strings",
    level="medium",
    entry="heaviest_prefix",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
)
