"""The k-th number of several sorted rows, and where it is. Sample: kth_across([[1, 4], [1, 3]], 2) → [1, 1, 0]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def kth_across(rows: list[list[int]], k: int) -> list[int]: ..."

EN = """
Each list in `rows` is sorted in ascending order. Imagine all their numbers in one line: in ascending order, equal numbers
by the index of their row, and equal numbers of the same row by their place in it. Write a function `kth_across` that finds
the `k`-th of this line.

- Return the list `[number, row, place]`: `row` is the index in `rows`, `place` the index in that row, both from 0.
- `k` counts from 1: `k == 1` is the first of the line. A negative `k` counts from the end: `k == -1` is the last of the line,
  `k == -2` the one before it.
- `k == 0` raises ValueError, whatever the rows hold. A `k` beyond either end of the line raises IndexError.
- There may be no rows, and rows may be empty. Equal numbers each count. The rows must not be changed.

For example, `kth_across([[1, 4], [1, 3]], 2)` is `[1, 1, 0]`, and with `k == -1` it is `[4, 0, 1]`.
"""

ZH = """
`rows` 中的每个列表都已按升序排列。设想把其中所有的数排成一列：按升序排列，相等的数按所在行的下标排列，
同一行中相等的数按其在该行中的位置排列。请编写函数 `kth_across`，找出这一列中的第 `k` 个数。

- 返回列表 `[number, row, place]`：`row` 是在 `rows` 中的下标，`place` 是在该行中的下标，两者都从 0 开始。
- `k` 从 1 开始计数：`k == 1` 表示这一列的第一个数。负的 `k` 从末尾开始计数：`k == -1` 表示最后一个数，
  `k == -2` 表示倒数第二个数。
- `k == 0` 时抛出 ValueError，无论各行中有什么。`k` 超出这一列的任意一端时抛出 IndexError。
- 可能没有任何行，行也可能为空。相等的数各自计数。不得修改这些行。

例如，`kth_across([[1, 4], [1, 3]], 2)` 的结果是 `[1, 1, 0]`；当 `k == -1` 时，结果是 `[4, 0, 1]`。
"""

REFERENCE = """
def kth_across(rows, k):
    line = sorted([number, i, place] for i, row in enumerate(rows) for place, number in enumerate(row))
    if k > 0:
        return line[k - 1]
    if k < 0:
        return line[k]
    raise ValueError("k counts from 1 or from -1")
"""

WRONG = {
    "a large k falls back to the other end": """
def kth_across(rows, k):
    if k == 0:
        raise ValueError("k is 0")
    line = sorted([n, r, p] for r, row in enumerate(rows) for p, n in enumerate(row))
    if not line:
        raise IndexError("no numbers")
    return line[(k - 1 if k > 0 else k) % len(line)]
""",
    "equal numbers from the end by ascending row": """
def kth_across(rows, k):
    if k == 0:
        raise ValueError("k is 0")
    line = [[n, r, p] for r, row in enumerate(rows) for p, n in enumerate(row)]
    if abs(k) > len(line):
        raise IndexError("too far")
    line.sort(key=lambda found: found[0], reverse=k < 0)
    return line[abs(k) - 1]
""",
    "a negative k beyond the start is not an error": """
def kth_across(rows, k):
    if k == 0:
        raise ValueError("k is 0")
    line = sorted([n, r, p] for r, row in enumerate(rows) for p, n in enumerate(row))
    if k < 0:
        k += len(line) + 1
    if k > len(line):
        raise IndexError("too far")
    return line[k - 1]
""",
    "equal numbers count once": """
def kth_across(rows, k):
    if k == 0:
        raise ValueError("k is 0")
    first = {}
    for r, row in enumerate(rows):
        for p, n in enumerate(row):
            first.setdefault(n, [n, r, p])
    line = sorted(first.values())
    return line[k - 1 if k > 0 else k]
""",
    "k of 0 in an empty line is an IndexError": """
def kth_across(rows, k):
    line = sorted([n, r, p] for r, row in enumerate(rows) for p, n in enumerate(row))
    if abs(k) > len(line) or not line:
        raise IndexError("too far")
    if k == 0:
        raise ValueError("k is 0")
    return line[k - 1 if k > 0 else k]
""",
    "a tuple": """
import heapq


def kth_across(rows, k):
    if k == 0:
        raise ValueError("k is 0")
    line = list(heapq.merge(*([(n, r, p) for p, n in enumerate(row)] for r, row in enumerate(rows))))
    return line[k - 1 if k > 0 else k]
""",
    "the rows are used up": """
def kth_across(rows, k):
    if k == 0:
        raise ValueError("k is 0")
    lengths = [len(row) for row in rows]
    if abs(k) > sum(lengths):
        raise IndexError("too far")
    line = []
    while any(rows):
        r = min((i for i, row in enumerate(rows) if row), key=lambda i: rows[i][0])
        line.append([rows[r][0], r, lengths[r] - len(rows[r])])
        rows[r].pop(0)
    return line[k - 1 if k > 0 else k]
""",
}


def checks() -> tuple[Check, ...]:
    rows = [[1, 4, 4, 9], [], [1, 1, 4], [-5, 4, 10]]
    wide = [sorted((i * 7919 + j * 104_729) % 997 for j in range(i % 7)) for i in range(60)]
    return (
        (call([[1, 4], [1, 3]], 2), call([[1, 4], [1, 3]], -1)),
        tuple(call(rows, k) for k in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)),
        tuple(call(rows, k) for k in (-1, -2, -3, -4, -5, -6, -7, -8, -9, -10)),
        (call(rows, 11), call(rows, -11)),
        (call(rows, 0),),
        (call([], 0), call([[], []], 0)),
        (call([], 1), call([], -1), call([[], []], 1), call([[], []], -1)),
        (call([[7]], 1), call([[7]], -1), call([[7]], 2), call([[7]], -2)),
        (call([[3, 3, 3]], 2), call([[3, 3, 3]], -1)),
        (call([[2], [2], [2]], 1), call([[2], [2], [2]], -1), call([[2], [2], [2]], 2)),
        (call([[], [5], [], [4]], 1), call([[], [5], [], [4]], -1)),
        (call([[10**20, 10**20 + 1], [10**20]], 2), call([[-2, -1], [-3]], -1)),
        tuple(call(wide, k) for k in (1, 40, 97, 150, -1, -33, -100)),
        (call([[1, 2], [3, 4]], 100), call([[1, 2], [3, 4]], -100)),
    )


PROBLEM = Problem(
    id="kth_across",
    category="algorithms",
    level="easy",
    entry="kth_across",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    keeps_arguments=True,
)
