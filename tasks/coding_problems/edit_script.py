"""The cheapest script of edits that makes one text of another. Sample: edit_script("abc", "acb") → [["keep", 1], ["swap"]]."""

from typing import Any

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def edit_script(source: str, target: str) -> list[list]: ..."

EN = """
Write a function `edit_script` that returns a cheapest script which turns the text `source` into the text `target`.

A script is a list of edits. It reads `source` once from left to right and writes `target` from left to right; each edit goes
on where the one before it stopped. Each edit is a list:

- `["keep", n]` copies the next n characters of the source (n is an int, at least 1); it costs nothing;
- `["delete", n]` skips the next n characters of the source (n is an int, at least 1); it costs 2 + n;
- `["insert", s]` writes the text s, of at least one character, and reads nothing; it costs 2 + len(s);
- `["replace", c]` skips one character of the source and writes the single character c instead; it costs 2;
- `["swap"]` reads the next two characters of the source and writes them the other way round; it costs 1.

The cost of a script is the sum of the costs of its edits. The script must read the whole source and write exactly the target,
and no other such script may cost less. Where several scripts are equally cheap, any of them is right. For two empty texts the
script is `[]`. Each text has at most 40 characters.

Examples: for "abc" and "acb" `[["keep", 1], ["swap"]]` is right, at a cost of 1. For "xabcy" and "xy" the script
`[["keep", 1], ["delete", 3], ["keep", 1]]` costs 5. For "ab" and "bca" one of several cheapest scripts is
`[["replace", "b"], ["replace", "c"], ["insert", "a"]]`, which costs 7: a swap would not leave room for the "c".
"""

ZH = """
请编写函数 `edit_script`，返回一个把文本 `source` 变成文本 `target` 的代价最小的脚本。

脚本是由若干编辑操作组成的列表。它从左到右读一遍 `source`，并从左到右写出 `target`；
每个操作都从前一个操作停下的地方继续。每个操作是一个列表：

- `["keep", n]` 照抄源文本接下来的 n 个字符（n 是 int，至少为 1），代价为 0；
- `["delete", n]` 跳过源文本接下来的 n 个字符（n 是 int，至少为 1），代价为 2 + n；
- `["insert", s]` 写出文本 s（至少一个字符），不读取任何字符，代价为 2 + len(s)；
- `["replace", c]` 跳过源文本的一个字符，改写为单个字符 c，代价为 2；
- `["swap"]` 读取源文本接下来的两个字符，并以相反的次序写出，代价为 1。

脚本的代价是其中各操作代价之和。脚本必须读完整个源文本，并恰好写出目标文本，而且不能有其他代价更小的这样的脚本。
如果有多个脚本代价同样最小，返回其中任何一个都对。两个文本都为空时，脚本是 `[]`。每个文本至多 40 个字符。

示例：对于 "abc" 和 "acb"，`[["keep", 1], ["swap"]]` 是对的，代价为 1。对于 "xabcy" 和 "xy"，脚本
`[["keep", 1], ["delete", 3], ["keep", 1]]` 的代价为 5。对于 "ab" 和 "bca"，代价最小的几个脚本之一是
`[["replace", "b"], ["replace", "c"], ["insert", "a"]]`，代价为 7：交换的话就没有位置写 "c" 了。
"""

REFERENCE = """
def edit_script(source, target):
    n, m = len(source), len(target)
    cost, steps = {}, {}
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            options = [(2 + k, i + k, j, ["delete", k]) for k in range(1, n - i + 1)]
            options += [(2 + k, i, j + k, ["insert", target[j : j + k]]) for k in range(1, m - j + 1)]
            if i < n and j < m:
                same = source[i] == target[j]
                options.append((0, i + 1, j + 1, ["keep", 1]) if same else (2, i + 1, j + 1, ["replace", target[j]]))
            two = source[i : i + 2]
            if len(two) == 2 and two[::-1] == target[j : j + 2]:
                options.append((1, i + 2, j + 2, ["swap"]))
            cost[i, j], steps[i, j] = min(((c + cost[x, y], (x, y, e)) for c, x, y, e in options), default=(0, None))
    script = []
    step = steps[0, 0]
    while step:
        x, y, edit = step
        script.append(edit)
        step = steps[x, y]
    return script
"""

_SECOND = """
from functools import lru_cache


def edit_script(source, target):
    @lru_cache(None)
    def best(i, j):
        if i == len(source) and j == len(target):
            return 0, ()
        found = []

        def add(price, read, written, edit):
            rest, script = best(i + read, j + written)
            found.append((price + rest, (edit, *script)))

        if i < len(source) and j < len(target):
            if source[i] == target[j]:
                add(0, 1, 1, ("keep", 1))
            else:
                add(2, 1, 1, ("replace", target[j]))
        if i + 1 < len(source) and j + 1 < len(target) and source[i] == target[j + 1] and source[i + 1] == target[j]:
            add(1, 2, 2, ("swap",))
        for k in range(1, len(source) - i + 1):
            add(2 + k, k, 0, ("delete", k))
        for k in range(1, len(target) - j + 1):
            add(2 + k, 0, k, ("insert", target[j : j + k]))
        return min(found, key=lambda f: f[0])

    return [list(e) for e in best(0, 0)[1]]
"""
"""A second right solution, of which wrong ones are made."""

WRONG = {
    "each deleted and inserted character costs as a run": _SECOND.replace(
        "range(1, len(source) - i + 1)", "range(1, min(len(source) - i, 1) + 1)"
    ).replace("range(1, len(target) - j + 1)", "range(1, min(len(target) - j, 1) + 1)"),
    "runs cost their length alone": _SECOND.replace("add(2 + k, ", "add(k, "),
    "runs cost the same whatever their length": _SECOND.replace("add(2 + k, ", "add(3, "),
    "no swaps": _SECOND.replace("            add(1, 2, 2,", "            add(9, 2, 2,"),
    "a swap costs as much as two replacements": _SECOND.replace("            add(1, 2, 2,", "            add(4, 2, 2,"),
    "nothing is replaced": _SECOND.replace("add(2, 1, 1,", "add(6, 1, 1,"),
    "swaps whatever comes next when the first characters cross": _SECOND.replace(" and source[i + 1] == target[j]:", ":"),
    "equal characters are always kept": """
def edit_script(source, target):
    n, m, script = len(source), len(target), []
    i = j = 0
    while i < n and j < m:
        if source[i] == target[j]:
            script.append(["keep", 1])
            i, j = i + 1, j + 1
        elif source[i : i + 2] == target[j : j + 2][::-1] and i + 1 < n:
            script.append(["swap"])
            i, j = i + 2, j + 2
        else:
            script.append(["replace", target[j]])
            i, j = i + 1, j + 1
    if i < n:
        script.append(["delete", n - i])
    if j < m:
        script.append(["insert", target[j:]])
    return script
""",
    "all between the common ends is one deletion and one insertion": """
def edit_script(source, target):
    n, m = len(source), len(target)
    a = 0
    while a < min(n, m) and source[a] == target[a]:
        a += 1
    b = 0
    while b < min(n, m) - a and source[n - 1 - b] == target[m - 1 - b]:
        b += 1
    script = []
    if a:
        script.append(["keep", a])
    if n - b > a:
        script.append(["delete", n - b - a])
    if m - b > a:
        script.append(["insert", target[a : m - b]])
    if b:
        script.append(["keep", b])
    return script
""",
    "edits are tuples": _SECOND.replace("[list(e) for e in best(0, 0)[1]]", "list(best(0, 0)[1])"),
    "the cost instead of the script": _SECOND.replace("[list(e) for e in best(0, 0)[1]]", "best(0, 0)[0]"),
    "the script is backwards": _SECOND.replace("best(0, 0)[1]]", "best(0, 0)[1][::-1]]"),
    "what is left in the end is not deleted": _SECOND.replace(
        "if i == len(source) and j == len(target)", "if j == len(target)"
    ),
}


def _accepts(arguments: tuple[Any, ...], script: Any) -> bool:
    source, target = arguments
    done = _done(source, script)
    return done is not None and done == (target, _least(source, target))


def _done(source: str, script: Any) -> tuple[str, int] | None:
    """What a script writes, and its cost; None where it is no script for this source."""
    if type(script) is not list:
        return None
    at, written, cost = 0, "", 0
    for edit in script:
        if type(edit) is not list:
            return None
        match edit:
            case ["keep", n] if type(n) is int and n >= 1:
                written += source[at : at + n]
                at += n
            case ["delete", n] if type(n) is int and n >= 1:
                at += n
                cost += 2 + n
            case ["insert", s] if type(s) is str and s:
                written += s
                cost += 2 + len(s)
            case ["replace", c] if type(c) is str and len(c) == 1:
                written += c
                at += 1
                cost += 2
            case ["swap"] if at + 2 <= len(source):
                written += source[at + 1] + source[at]
                at += 2
                cost += 1
            case _:
                return None
        if at > len(source):
            return None
    return (written, cost) if at == len(source) else None


def _least(source: str, target: str) -> int:
    """The least cost, by a table of prefixes in three states: in no run, in a deletion, in an insertion."""
    never = 10**9
    plain: dict[tuple[int, int], int] = {}
    deleting: dict[tuple[int, int], int] = {}
    inserting: dict[tuple[int, int], int] = {}
    for i in range(len(source) + 1):
        for j in range(len(target) + 1):
            deleting[i, j] = min(plain[i - 1, j] + 3, deleting[i - 1, j] + 1) if i else never
            inserting[i, j] = min(plain[i, j - 1] + 3, inserting[i, j - 1] + 1) if j else never
            ways = [deleting[i, j], inserting[i, j]] if i or j else [0]
            if i and j:
                ways.append(plain[i - 1, j - 1] + (0 if source[i - 1] == target[j - 1] else 2))
            if i > 1 and j > 1 and source[i - 2 : i] == target[j - 1] + target[j - 2]:
                ways.append(plain[i - 2, j - 2] + 1)
            plain[i, j] = min(ways)
    return plain[len(source), len(target)]


def checks() -> tuple[Check, ...]:
    long = "".join("abcd"[(i * i + i // 3) % 4] for i in range(30))
    return (
        (call("abc", "acb"),),
        (call("xabcy", "xy"),),
        (call("ab", "bca"),),
        (call("", ""),),
        (call("", "abc"),),
        (call("abc", ""),),
        (call("same", "same"),),
        (call("a", "b"),),
        (call("ab", "ba"),),
        (call("abcdef", "badcfe"),),
        (call("abc", "bca"),),
        (call("abcdefgh", "xyzuvwrs"),),
        (call("aXbXcXd", "abcd"),),
        (call("abcd", "a1b2c3d"),),
        (call("the cat sat", "the sat"),),
        (call("abcdef", "defabc"),),
        (call("ab cd", "ba, dc"),),
        (call("aab", "aba"),),
        (call("abab", "baba"),),
        (call("aaaaab", "b"),),
        (call("b", "aaaaab"),),
        (call("12345", "21354x"),),
        (call("kitten", "sitting"),),
        (call("上海自来水", "海上来自水!"),),
        (call("abxyzcd", "cdab"),),
        (call("abcdefgh", "efgh"),),
        (call("xyab", "abyx"),),
        (call("abbdbd", "bdb"),),
        (call("cada", "ad"),),
        (call("dacad", "cdaa"),),
        (call("abbda", "babb"),),
        (call(long, long[3:14] + long[16:9:-1] + long[18:]),),
        (call("".join(sorted(long)), long[:24]),),
    )


PROBLEM = Problem(
    id="edit_script",
    category="strings",
    level="hard",
    entry="edit_script",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    accepts=_accepts,
    equivalent={"line 15, column 108: 0 becomes 1": "every cost is 1 more, so that the least stays the least"},
)
