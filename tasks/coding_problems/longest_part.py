"""The longest part with few kinds of characters, each used seldom. Sample: longest_part("abca dd", 3, 1) → [1, 5]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def longest_part(text: str, kinds: int, each: int) -> list[int]: ..."

EN = """
Write a function `longest_part` that finds the longest contiguous part of a text in which

- at most `kinds` different characters occur, and
- no character occurs more than `each` times.

The space " " is free: it is neither one of the different characters, nor limited by `each`, but it does count in the length
of the part. All other characters are limited, and upper and lower case differ.

Return the part as the list `[start, end]` of two ints, such that it is `text[start:end]`. Of several longest parts return
the one that starts first. Where no part but the empty one fits, return `[0, 0]`. `kinds` and `each` are at least 0 and may be
larger than the text is long. Texts of 100,000 characters must take well under a second, whatever `kinds` and `each` are.

Examples: `longest_part("abca dd", 4, 1)` is `[1, 6]`, the part `"bca d"`. `longest_part("abca dd", 3, 1)` is `[1, 5]`, for
`"bca "` starts before the equally long `"ca d"`.
"""

ZH = """
请编写函数 `longest_part`，在文本中找出满足以下条件的最长连续片段：

- 其中至多出现 `kinds` 种不同的字符，并且
- 没有任何字符出现超过 `each` 次。

空格 " " 不受限制：它既不算作一种字符，也不受 `each` 约束，但计入片段的长度。其他所有字符都受限制，区分大小写。

以列表 `[start, end]`（两个 int）的形式返回该片段，使得片段就是 `text[start:end]`。若有多个最长片段，返回开始最早的一个。
如果只有空片段满足条件，返回 `[0, 0]`。`kinds` 和 `each` 不小于 0，可以大于文本的长度。
对于 100,000 个字符的文本，无论 `kinds` 和 `each` 取何值，耗时都必须远小于一秒。

示例：`longest_part("abca dd", 4, 1)` 为 `[1, 6]`，即片段 `"bca d"`。`longest_part("abca dd", 3, 1)` 为 `[1, 5]`，
因为 `"bca "` 比同样长的 `"ca d"` 开始得更早。
"""

REFERENCE = """
def longest_part(text, kinds, each):
    counts = {}
    start = 0
    best = [0, 0]
    for end, c in enumerate(text, 1):
        if c != " ":
            counts[c] = counts.get(c, 0) + 1
            while len(counts) > kinds or counts.get(c, 0) > each:
                first = text[start]
                start += 1
                if first != " ":
                    counts[first] -= 1
                    if not counts[first]:
                        del counts[first]
        if end - start > best[1] - best[0]:
            best = [start, end]
    return best
"""

WRONG = {
    "the last of equally long parts": REFERENCE.replace("if end - start >", "if end - start >=").replace(
        "best = [start, end]", "best = [start, end] if end > start else best"
    ),
    "spaces are characters like all others": REFERENCE.replace('if c != " "', "if True").replace('if first != " "', "if True"),
    "spaces do not count in the length": """
def longest_part(text, kinds, each):
    from collections import Counter

    counts, start, best, longest = Counter(), 0, [0, 0], 0
    for end, c in enumerate(text):
        if c == " ":
            continue
        counts[c] += 1
        while len(counts) > kinds or counts[c] > each:
            counts[text[start]] -= 1
            if counts[text[start]] == 0:
                del counts[text[start]]
            start += 1
        if sum(counts.values()) > longest:
            longest = sum(counts.values())
            best = [start, end + 1]
    return best
""",
    "kinds that are gone still count": REFERENCE.replace("if not counts[first]", "if False").replace(
        "while len(counts) > kinds or", "while (len(counts) > kinds and start < end) or"
    ),
    "each is looked at once instead of in a loop": REFERENCE.replace("while len", "if len"),
    "only the kinds matter": REFERENCE.replace(" or counts.get(c, 0) > each", ""),
    "only the repetitions matter": REFERENCE.replace("len(counts) > kinds or ", ""),
    "case does not matter": REFERENCE.replace("    counts = {}", "    text = text.lower()\n    counts = {}"),
    "a tuple": REFERENCE.replace("return best", "return tuple(best)"),
    "the last index instead of the end": REFERENCE.replace("[start, end]", "[start, end - 1]").replace(
        "best[1] - best[0]", "best[1] - best[0] + 1"
    ),
    "the part instead of its place": REFERENCE.replace("return best", "return text[best[0] : best[1]]"),
    "looks through the window for each character": """
def longest_part(text, kinds, each):
    start, best = 0, [0, 0]
    for end in range(1, len(text) + 1):
        while True:
            part = text[start:end].replace(" ", "")
            if len(set(part)) <= kinds and (text[end - 1] == " " or part.count(text[end - 1]) <= each):
                break
            start += 1
        if end - start > best[1] - best[0]:
            best = [start, end]
    return best
""",
    "starts anew at every character": """
def longest_part(text, kinds, each):
    best = [0, 0]
    for start in range(len(text)):
        counts = {}
        for end in range(start, len(text)):
            c = text[end]
            if c != " ":
                counts[c] = counts.get(c, 0) + 1
                if len(counts) > kinds or counts[c] > each:
                    break
            if end + 1 - start > best[1] - best[0]:
                best = [start, end + 1]
    return best
""",
}


def checks() -> tuple[Check, ...]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    many = "".join(letters[i * i % 23 + i // 40_000] if i % 11 else " " for i in range(100_000))
    return (
        (call("abca dd", 4, 1),),
        (call("abca dd", 3, 1),),
        (call("", 3, 3),),
        (call("", 0, 0),),
        (call("abc", 0, 5),),
        (call("abc", 5, 0),),
        (call("a  b c   d", 0, 1),),
        (call("a  b c   d", 2, 0),),
        (call("ab   cd  ", 1, 1),),
        (call("aaaa", 1, 3),),
        (call("aaaa", 10**9, 10**9),),
        (call("aAaABb", 2, 2),),
        (call("abcabcabc", 3, 2),),
        (call("aabbccdd", 2, 2),),
        (call("abcdefa", 9, 1),),
        (call("xxabcxxdexx", 4, 2),),
        (call("ab ab  ab   ab", 2, 2),),
        (call("中文中 文字中", 2, 2),),
        (call("a\nb\tc", 3, 1),),
        (call("   ", 0, 0),),
        (call("cabbac bd", 3, 2),),
        (call("abababcccccab", 2, 3),),
        (call("aabacbebebe", 3, 10),),
        (call(many, 14, 7_000),),
    )


PROBLEM = Problem(
    id="longest_part",
    category="strings",
    level="medium",
    entry="longest_part",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
)
