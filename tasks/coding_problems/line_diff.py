"""The shortest edit script of two lists of lines. Sample: ["a", "b", "c"] to ["a", "c"], context 1 → [" a", "-b", " c"]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def line_diff(old: list[str], new: list[str], context: int) -> list[str]: ..."

EN = """
Write a function `line_diff` that shows how one list of lines becomes another.

An edit script is a list of strings, each of which is one of the characters `" "`, `"-"` or `"+"` followed by a line. Its
lines with `" "` (kept) and `"-"` (deleted) are, in order, all lines of `old`; its lines with `" "` and `"+"` (added) are, in
order, all lines of `new`. Two lines are equal only if they are exactly the same string.

1. Take a script with as few `"-"` and `"+"` lines as possible. Where there are several, compare them from the top: at the
   first place where two scripts have different first characters, the one with `" "` is preferred to the one with `"-"`, and
   `"-"` is preferred to `"+"`. This leaves exactly one script.
2. If that script has no `"-"` and no `"+"` line, return `[]`, whatever `context` is.
3. Otherwise, a kept line stays in the result only if there is a `"-"` or `"+"` line among the `context` lines of the script
   directly before it or among the `context` lines directly after it. All `"-"` and `"+"` lines stay.
4. Each longest run of consecutive lines that don't stay is replaced by one string `"@N"`, where N is their number in decimal.

Return the result as a list of strings. `context` is at least 0; with 0 no kept line stays. Both lists may be empty and
contain equal lines and empty ones; they must not be changed. They have at most 300 lines each.

For example, the lines `["a", "b", "c", "d", "e"]` and `["a", "b", "x", "d", "e"]` with the context 1 give
`["@1", " b", "-c", "+x", " d", "@1"]`.
"""

ZH = """
请编写函数 `line_diff`，显示一个行列表如何变成另一个行列表。

编辑脚本是一个字符串列表，其中每个字符串由字符 `" "`、`"-"` 或 `"+"` 之一加上一行组成。带 `" "`（保留）和 `"-"`（删除）
的行依次正好是 `old` 的所有行；带 `" "` 和 `"+"`（添加）的行依次正好是 `new` 的所有行。只有完全相同的字符串才算相等的
行。

1. 取 `"-"` 行和 `"+"` 行总数最少的脚本。如果有多个，则从头开始比较：在两个脚本的首字符不同的第一处，`" "` 优先于
   `"-"`，`"-"` 优先于 `"+"`。这样恰好剩下一个脚本。
2. 如果该脚本既没有 `"-"` 行也没有 `"+"` 行，则不论 `context` 是多少，都返回 `[]`。
3. 否则，只有在脚本中紧接其前的 `context` 行之中或紧接其后的 `context` 行之中有 `"-"` 行或 `"+"` 行时，保留行才留在结果
   里。所有 `"-"` 行和 `"+"` 行都留在结果里。
4. 由不留在结果里的相邻各行组成的每个最长连续段，替换为一个字符串 `"@N"`，其中 N 是这些行的行数（十进制）。

以字符串列表的形式返回结果。`context` 不小于 0；为 0 时不留下任何保留行。两个列表都可以为空，可以含有相等的行和空行；不
得修改它们。每个列表至多 300 行。

例如，行列表 `["a", "b", "c", "d", "e"]` 和 `["a", "b", "x", "d", "e"]` 在 context 为 1 时得到
`["@1", " b", "-c", "+x", " d", "@1"]`。
"""

REFERENCE = """
from collections import defaultdict
from itertools import groupby


def line_diff(old, new, context):
    script = _script(old, new)
    changed = [i for i, line in enumerate(script) if not line.startswith(" ")]
    if not changed:
        return []
    stay = {near for i in changed for near in range(i - context, i + context + 1)}
    out = []
    for stays, group in groupby(range(len(script)), key=stay.__contains__):
        places = list(group)
        out += [script[i] for i in places] if stays else [f"@{len(places)}"]
    return out


def _script(old, new):
    common = defaultdict(int)  # (i, j): how many lines can be kept from old[i:] and new[j:]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            with_both = common[i + 1, j + 1] + (old[i] == new[j])
            common[i, j] = max(with_both, common[i + 1, j], common[i, j + 1])
    script = []
    i = j = 0
    while i < len(old) and j < len(new):
        if old[i] == new[j]:
            script.append(" " + old[i])
            i += 1
            j += 1
        elif common[i + 1, j] == common[i, j]:
            script.append("-" + old[i])
            i += 1
        else:
            script.append("+" + new[j])
            j += 1
    return script + ["-" + line for line in old[i:]] + ["+" + line for line in new[j:]]
"""

WRONG = {
    "additions before deletions": REFERENCE.replace("common[i + 1, j] == common[i, j]", "common[i, j + 1] != common[i, j]"),
    "the next equal line is taken": REFERENCE.replace(
        "common[i + 1, j] == common[i, j]", "new[j] in old[i:] or old[i] not in new[j:]"
    ),
    "common lines are found from the end": """
def line_diff(old, new, context):
    n, m = len(old), len(new)
    best = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n):
        for j in range(m):
            best[i + 1][j + 1] = best[i][j] + 1 if old[i] == new[j] else max(best[i][j + 1], best[i + 1][j])
    script, i, j = [], n, m
    while i or j:
        if i and j and old[i - 1] == new[j - 1]:
            i, j = i - 1, j - 1
            script.append(" " + old[i])
        elif j and (not i or best[i][j - 1] >= best[i - 1][j]):
            j -= 1
            script.append("+" + new[j])
        else:
            i -= 1
            script.append("-" + old[i])
    script.reverse()
    changed = [k for k, line in enumerate(script) if line[0] != " "]
    if not changed:
        return []
    out, skipped = [], 0
    for k, line in enumerate(script):
        if any(abs(k - c) <= context for c in changed):
            if skipped:
                out.append(f"@{skipped}")
            skipped = 0
            out.append(line)
        else:
            skipped += 1
    return out + [f"@{skipped}"] * (skipped > 0)
""",
    "difflib, whose scripts are not the shortest": """
import difflib


def line_diff(old, new, context):
    script = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            script += [" " + line for line in old[a:b]]
        else:
            script += ["-" + line for line in old[a:b]] + ["+" + line for line in new[c:d]]
    changed = [i for i, line in enumerate(script) if line[0] != " "]
    if not changed:
        return []
    out, skipped = [], 0
    for i, line in enumerate(script):
        if any(abs(i - k) <= context for k in changed):
            out += [f"@{skipped}"] * (skipped > 0) + [line]
            skipped = 0
        else:
            skipped += 1
    return out + [f"@{skipped}"] * (skipped > 0)
""",
    "equal lists are one skipped run": REFERENCE.replace("    if not changed:\n        return []\n", ""),
    "one line of context too few after a change": REFERENCE.replace("i + context + 1", "i + context"),
    "one line of context too many before a change": REFERENCE.replace("range(i - context,", "range(i - context - 1,"),
    "no context before a change": REFERENCE.replace("range(i - context,", "range(i,"),
    "the rest is forgotten": REFERENCE.replace(
        'script + ["-" + line for line in old[i:]] + ["+" + line for line in new[j:]]', "script"
    ),
    "lines that are left out are not counted": REFERENCE.replace('else [f"@{len(places)}"]', "else []"),
    "lines are compared without white space at the end": REFERENCE.replace(
        "old[i] == new[j]", "old[i].rstrip() == new[j].rstrip()"
    ),
    "a gap for each line": REFERENCE.replace('[f"@{len(places)}"]', '["@1" for _ in places]'),
}


def checks() -> tuple[Check, ...]:
    def text(letters: str) -> list[str]:
        return list(letters)

    first = [f"line {i * i % 23}" for i in range(120)]
    second = [f"line {i * i % 19}" for i in range(100)]
    edited = [line + "!" if i % 17 == 5 else line for i, line in enumerate(first) if i % 13 != 4]
    whole = 1_000
    return tuple(
        (call(old, new, context),)
        for old, new, context in (
            (text("abc"), text("ac"), 1),
            (text("abcde"), text("abxde"), 1),
            ([], [], 0),
            ([], [], 3),
            (text("abc"), text("abc"), 0),
            (text("abc"), text("abc"), 5),
            ([], text("ab"), 2),
            (text("ab"), [], 2),
            (text("a"), text("b"), 0),
            (text("ab"), text("ba"), whole),
            (text("abc"), text("cba"), whole),
            (text("abcabba"), text("cbabac"), whole),
            (text("xaxbxc"), text("abc"), whole),
            (text("abc"), text("xaxbxc"), whole),
            (text("aab"), text("ab"), whole),
            (text("ab"), text("aab"), whole),
            (text("aaaa"), text("aa"), whole),
            (text("abab"), text("baba"), whole),
            (text("abcd"), text("bdac"), whole),
            (text("xyab"), text("abxy"), whole),
            (text("pqabcrs"), text("rspqxabc"), whole),
            (text("qrbacda"), text("bqadrca"), whole),
            (text("abcde"), text("cdeab"), whole),
            (text("bcdea"), text("abcdexbcd"), whole),
            (text("abcdefghij"), text("abcdeXfghij"), 0),
            (text("abcdefghij"), text("abcdeXfghij"), 2),
            (text("abcdefghij"), text("abcdefghijX"), 3),
            (text("abcdefghij"), text("Xabcdefghij"), 3),
            (text("abcdefghijkl"), text("aXcdefghYjkl"), 2),
            (text("abcdefghijkl"), text("aXcdefghYjkl"), 3),
            (text("abcdefgh"), text("abXdefYh"), 1),
            (text("abcdefghi"), text("bcdefgh"), 2),
            (text("abcdefghi"), text("abcdfghi"), 4),
            (text("abcdefghi"), text("abcdfghi"), 3),
            (["", "a", "", ""], ["", "", "a"], whole),
            (["", "x"], ["x", ""], 0),
            (["a ", "b", "c\t"], ["a", "b", "c"], 1),
            (["A", "é", "@1"], ["a", "é", "@1"], 0),
            (["-a", "+b", " c", "@2"], ["+b", " c", "-a", "@2"], 1),
            (["a", "a", "b", "b", "a"], ["b", "a", "a", "b"], whole),
            (first, second, whole),
            (second, first, 1),
            (first, edited, 2),
            (edited, first, 0),
            (first, first, 2),
        )
    )


PROBLEM = Problem(
    id="line_diff",
    category="engineering",
    level="hard",
    entry="line_diff",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    keeps_arguments=True,
)
