"""A map from ranges of integers to values. Sample: set 0–10 "a", set 3–5 "b" → get(4) "b", get(5) "a"."""

from sandbox.steps import do, each, new, repeat
from tasks.problem import Check, Problem

SIGNATURE = """
class RangeMap:
    def __init__(self) -> None: ...
    def set(self, start: int, end: int, value: str) -> None: ...
    def fill(self, start: int, end: int, value: str) -> int: ...
    def erase(self, start: int, end: int) -> int: ...
    def get(self, point: int) -> str | None: ...
    def total(self, value: str) -> int: ...
    def ranges(self, start: int, end: int) -> list[list]: ...
    def gap(self, start: int, length: int) -> int: ...
"""

EN = """
Write a class `RangeMap` that gives values to integers, whole ranges at a time. At first no integer has a value.

A range is given by `start` and `end` and consists of the integers `p` with `start <= p < end`; they may be negative and may
be as large as 10**18 in size. If `start == end`, the range is empty: nothing changes, and there is nothing to return (0 or
`[]`). If `start > end`, every method that takes a range raises ValueError and changes nothing. A value is any string, the
empty string included.

- `set(start, end, value)` gives the value to every integer of the range, whatever it had before.
- `fill(start, end, value)` gives the value to those integers of the range that have none; the others keep theirs. Returns how
  many integers got it.
- `erase(start, end)` takes the values of all integers of the range away. Returns how many of them had one.
- `get(point)` returns the value of this integer, or None if it has none.
- `total(value)` returns how many integers have exactly this value.
- `ranges(start, end)` returns the parts of the range that have a value, as a list of lists `[s, e, v]` in ascending order:
  the integers `p` with `s <= p < e` have the value `v`. Each part is as long as possible within the range: neighbouring parts
  with the same value are one part, no matter how they were set. No part reaches beyond `start` or `end`.
- `gap(start, length)` returns the smallest integer `p >= start` such that none of the `length` integers `p`, `p + 1`, …,
  `p + length - 1` has a value. A `length` less than 1 raises ValueError.

After 5,000 calls of `set` with ranges of up to 10**9 integers, 100,000 calls of `get` must take well under a second in all,
so must 50,000 calls of `total`, and so must the calls of `set`. (Inserting into or deleting from one Python list is fast
enough for this.)

Example: after `set(0, 10, "a")` and `set(3, 5, "b")`, `get(4)` is `"b"`, `get(5)` is `"a"`, `get(10)` is None, `total("a")`
is 8, and `ranges(2, 8)` is `[[2, 3, "a"], [3, 5, "b"], [5, 8, "a"]]`. Then `erase(4, 7)` returns 3, and `gap(1, 2)` is 4,
`gap(1, 4)` is 10.
"""

ZH = """
请编写一个类 `RangeMap`，它为整数赋值，每次对一整段区间进行。最初，所有整数都没有值。

区间由 `start` 和 `end` 给出，由满足 `start <= p < end` 的整数 `p` 组成；它们可以为负数，绝对值可达 10**18。
如果 `start == end`，则区间为空：不作任何改变，也没有可返回的内容（0 或 `[]`）。
如果 `start > end`，则所有以区间为参数的方法都抛出 ValueError，且不作任何改变。值可以是任意字符串，包括空字符串。

- `set(start, end, value)` 将该值赋给区间中的每个整数，无论它们之前是什么值。
- `fill(start, end, value)` 将该值赋给区间中没有值的那些整数；其余整数保持原值。返回得到该值的整数个数。
- `erase(start, end)` 去掉区间中所有整数的值。返回其中原来有值的整数个数。
- `get(point)` 返回该整数的值；如果没有值，则返回 None。
- `total(value)` 返回值恰好等于 `value` 的整数个数。
- `ranges(start, end)` 返回区间中有值的各部分，形式为升序排列的列表 `[s, e, v]` 组成的列表：
  满足 `s <= p < e` 的整数 `p` 的值为 `v`。每一部分在该区间内都尽可能长：相邻且值相同的部分合为一个部分，
  无论它们是怎样被赋值的。任何部分都不超出 `start` 和 `end`。
- `gap(start, length)` 返回满足以下条件的最小整数 `p >= start`：`length` 个整数 `p`、`p + 1`、…、
  `p + length - 1` 都没有值。`length` 小于 1 时抛出 ValueError。

用长达 10**9 个整数的区间调用 5,000 次 `set` 之后，100,000 次 `get` 的总耗时必须远小于一秒，
50,000 次 `total` 的总耗时以及这些 `set` 的总耗时也都必须远小于一秒。（对一个 Python 列表进行插入或删除，速度足以满足要求。）

示例：执行 `set(0, 10, "a")` 和 `set(3, 5, "b")` 之后，`get(4)` 为 `"b"`，`get(5)` 为 `"a"`，`get(10)` 为 None，
`total("a")` 为 8，`ranges(2, 8)` 为 `[[2, 3, "a"], [3, 5, "b"], [5, 8, "a"]]`。接着 `erase(4, 7)` 返回 3，
此时 `gap(1, 2)` 为 4，`gap(1, 4)` 为 10。
"""

REFERENCE = """
from bisect import bisect_left, bisect_right
from collections import Counter
from math import inf


class RangeMap:
    def __init__(self):
        self._starts = [-inf]
        self._values = [None]
        self._totals = Counter()

    def set(self, start, end, value):
        self._write(start, end, value)

    def fill(self, start, end, value):
        gaps = [(s, e) for s, e, v in self._parts(start, end) if v is None]
        for s, e in gaps:
            self._write(s, e, value)
        return sum(e - s for s, e in gaps)

    def erase(self, start, end):
        erased = sum(e - s for s, e, _ in self.ranges(start, end))
        self._write(start, end, None)
        return erased

    def get(self, point):
        return self._values[bisect_right(self._starts, point) - 1]

    def total(self, value):
        return self._totals[value]

    def ranges(self, start, end):
        return [[s, e, v] for s, e, v in self._parts(start, end) if v is not None]

    def gap(self, start, length):
        if length < 1:
            raise ValueError("length must be positive")
        i = bisect_right(self._starts, start) - 1
        while True:
            end = self._starts[i + 1] if i + 1 < len(self._starts) else inf
            if self._values[i] is None and end - start >= length:
                return start
            start = end
            i += 1

    def _parts(self, start, end):
        if start > end:
            raise ValueError("start is behind end")
        parts = []
        i = bisect_right(self._starts, start) - 1
        while start < end:
            i += 1
            stop = min(end, self._starts[i]) if i < len(self._starts) else end
            parts.append((start, stop, self._values[i - 1]))
            start = stop
        return parts

    def _write(self, start, end, value):
        for s, e, v in self._parts(start, end):
            self._totals[v] -= e - s
        if start == end:
            return
        self._totals[value] += end - start
        i, j = bisect_left(self._starts, start), bisect_right(self._starts, end)
        before, after = self._values[i - 1], self._values[j - 1]
        edges = [(start, value)] * (before != value) + [(end, after)] * (after != value)
        self._starts[i:j] = [s for s, _ in edges]
        self._values[i:j] = [v for _, v in edges]
"""

HISTORY = """
class RangeMap:
    def __init__(self):
        self.history = []

    def set(self, start, end, value):
        self._check(start, end)
        if start < end:
            self.history.append((start, end, value))

    def fill(self, start, end, value):
        gaps = [(s, e) for s, e, v in self._parts(start, end) if v is None]
        for s, e in gaps:
            self.set(s, e, value)
        return sum(e - s for s, e in gaps)

    def erase(self, start, end):
        count = sum(e - s for s, e, v in self.ranges(start, end))
        self.set(start, end, None)
        return count

    def get(self, point):
        for start, end, value in reversed(self.history):
            if start <= point < end:
                return value
        return None

    def total(self, value):
        edges = sorted({p for s, e, _ in self.history for p in (s, e)})
        return sum(b - a for a, b in zip(edges, edges[1:]) if self.get(a) == value)

    def ranges(self, start, end):
        return [[s, e, v] for s, e, v in self._parts(start, end) if v is not None]

    def gap(self, start, length):
        if length < 1:
            raise ValueError
        last = max([e for _, e, _ in self.history] + [start]) + length
        for p in sorted({start, *(e for _, e, _ in self.history if e > start), *(s for s, _, _ in self.history if s > start)}):
            if all(v is None for _, _, v in self._parts(p, p + length)):
                return p
        return last

    def _check(self, start, end):
        if start > end:
            raise ValueError

    def _parts(self, start, end):
        self._check(start, end)
        edges = sorted({start, end, *(p for s, e, _ in self.history for p in (s, e) if start < p < end)})
        parts = []
        for a, b in zip(edges, edges[1:]):
            value = self.get(a)
            if parts and parts[-1][2] == value:
                parts[-1][1] = b
            else:
                parts.append([a, b, value])
        return parts
"""

WRONG = {
    "get looks through all that was ever set": HISTORY,
    "get looks at every part": REFERENCE.replace(
        "return self._values[bisect_right(self._starts, point) - 1]",
        "return [v for s, v in zip(self._starts, self._values) if s <= point][-1]",
    ),
    "one entry for each integer": """
class RangeMap:
    def __init__(self):
        self.values = {}

    def set(self, start, end, value):
        if start > end:
            raise ValueError
        for p in range(start, end):
            self.values[p] = value

    def fill(self, start, end, value):
        if start > end:
            raise ValueError
        new = [p for p in range(start, end) if p not in self.values]
        for p in new:
            self.values[p] = value
        return len(new)

    def erase(self, start, end):
        if start > end:
            raise ValueError
        return sum(self.values.pop(p, None) is not None for p in range(start, end))

    def get(self, point):
        return self.values.get(point)

    def total(self, value):
        return list(self.values.values()).count(value)

    def ranges(self, start, end):
        if start > end:
            raise ValueError
        out = []
        for p in range(start, end):
            if p in self.values:
                if out and out[-1][1] == p and out[-1][2] == self.values[p]:
                    out[-1][1] = p + 1
                else:
                    out.append([p, p + 1, self.values[p]])
        return out

    def gap(self, start, length):
        if length < 1:
            raise ValueError
        free = 0
        while free < length:
            free = 0 if start in self.values else free + 1
            start += 1
        return start - length
""",
    "neighbours with the same value are not merged": REFERENCE.replace(
        "[(start, value)] * (before != value)", "[(start, value)]"
    ),
    "what follows the range is not merged": REFERENCE.replace("[(end, after)] * (after != value)", "[(end, after)]"),
    "parts are not clipped at the start": REFERENCE.replace(
        "        while start < end:\n",
        "        start = self._starts[i] if i and start < end else start\n        while start < end:\n",
    ),
    "the empty string is no value": REFERENCE.replace("if v is not None]", "if v]").replace("if v is None]", "if not v]"),
    "an empty range leaves a mark": REFERENCE.replace("        if start == end:\n            return\n", ""),
    "no error where the start is behind the end": REFERENCE.replace(
        '            raise ValueError("start is behind end")\n', "            return []\n"
    ).replace("if start == end:", "if start >= end:"),
    "fill overwrites": REFERENCE.replace(
        "        for s, e in gaps:\n            self._write(s, e, value)\n", "        self._write(start, end, value)\n"
    ),
    "the end belongs to the range": REFERENCE.replace(
        "bisect_right(self._starts, point) - 1", "bisect_left(self._starts, point) - 1"
    ),
    "erase counts the whole range": REFERENCE.replace(
        "erased = sum(e - s for s, e, _ in self.ranges(start, end))",
        "erased = sum(e - s for s, e, _ in self._parts(start, end))",
    ),
    "the totals forget what was overwritten": REFERENCE.replace("            self._totals[v] -= e - s", "            pass"),
    "gap ignores what lies before the next value": REFERENCE.replace(
        "            if self._values[i] is None and end - start >= length:", "            if self._values[i] is None:"
    ),
    "the value after the range is lost": REFERENCE.replace(
        "self._values[i - 1], self._values[j - 1]", "self._values[i - 1], None"
    ),
}


def checks() -> tuple[Check, ...]:
    def seen(start: int = -20, end: int = 40) -> Check:
        return (do("ranges", start, end), each("total", [("a",), ("b",), ("c",), ("",)]))

    two = (new(), do("set", 0, 10, "a"), do("set", 3, 5, "b"))
    gaps = each("gap", [(s, n) for s in (-5, 0, 1, 4, 9, 10, 20) for n in (1, 2, 4, 9)])
    mixed = [(i * 37 % 50 - 20, i * 37 % 50 - 20 + i * 11 % 9, "abc"[i * 7 % 11 % 3]) for i in range(60)]
    many = [(i * 7_919_333 % 10**9, i * 7_919_333 % 10**9 + 10 ** (i * 7 % 6), f"v{i % 7}") for i in range(5_000)]
    asked = [(i * 104_729_111 % 10**9,) for i in range(300)]
    return (
        (*two, each("get", [(4,), (5,), (10,), (0,), (-1,), (2,), (3,), (9,)]), do("total", "a"), do("ranges", 2, 8),
         do("erase", 4, 7), do("gap", 1, 2), do("gap", 1, 4)),
        (new(), do("get", 0), do("total", "a"), do("ranges", -(10**18), 10**18), do("gap", 5, 10**18), do("erase", 0, 9)),
        (new(), do("set", 3, 3, "a"), do("get", 3), do("fill", 3, 3, "a"), do("erase", 3, 3), do("ranges", 3, 3), *seen()),
        (*two, do("set", 4, 4, "c"), do("set", 12, 12, "c"), do("get", 12), do("fill", 11, 11, "c"), do("erase", 4, 4),
         do("ranges", 4, 4), *seen()),
        (*two, do("set", 5, 4, "c"), do("fill", 30, 20, "c"), do("erase", 9, 0), do("ranges", 1, 0), *seen()),
        (*two, do("gap", 0, 0), do("gap", 0, -3), gaps),
        (new(), do("set", 0, 5, "a"), do("set", 5, 9, "a"), *seen(), do("set", -4, 0, "a"), *seen(), do("set", 2, 3, "a"),
         *seen()),
        (new(), do("set", 0, 3, "a"), do("set", 6, 9, "a"), do("set", 3, 6, "a"), *seen(), do("ranges", 4, 5),
         do("ranges", 9, 12)),
        (*two, do("set", 3, 5, "a"), *seen(), do("set", 0, 10, "b"), *seen()),
        (*two, do("fill", -2, 12, "c"), do("fill", -2, 12, "b"), *seen(), do("ranges", -1, 1)),
        (*two, do("erase", 1, 2), do("erase", 7, 30), do("fill", 0, 9, "a"), *seen(), gaps),
        (*two, do("erase", -5, 30), *seen(), do("erase", -5, 30), do("fill", -5, 3, "b"), *seen()),
        (*two, do("erase", 3, 5), do("set", 3, 4, ""), *seen(), do("fill", 0, 6, "c"), do("get", 3), *seen(),
         do("erase", 3, 4)),
        (new(), do("set", 0, 2, "a"), do("set", 4, 6, "b"), do("set", 9, 20, "c"), gaps, do("erase", 5, 12), gaps, *seen()),
        (new(), do("set", -(10**18), 10**18, "a"), do("set", 0, 1, "b"), do("total", "a"), do("get", 10**18),
         do("get", -(10**18)),
         do("gap", -(10**18), 1), do("erase", -5, 6), do("gap", -(10**18), 11), do("gap", -(10**18), 12), do("total", "a")),
        (new(), do("set", -9, -3, "a"), do("set", -3, 2, "b"), do("set", -6, -1, "c"), do("get", -3), *seen(),
         do("erase", -7, -2), *seen()),
        (new(), each("set", mixed), *seen(), do("erase", 0, 7), each("fill", mixed[5:12]), *seen(), gaps, do("erase", -7, 19)),
        (new(), each("fill", mixed), *seen(), *(do("erase", s, s + 2) for s in range(-18, 20, 5)), gaps, *seen(),
         each("set", mixed[:9]), *seen()),
        (new(), do("set", 1, 9, "a"), do("ranges", 0, 10), do("ranges", 1, 9), do("ranges", 2, 3), do("ranges", 9, 11),
         do("ranges", -3, 1),
         do("ranges", 8, 9)),
        (new(), do("set", 2 * 10**9, 2 * 10**9 + 2, "first"), each("set", many), each("get", asked),
         repeat("get", 100_000, 2 * 10**9 + 1), repeat("total", 50_000, "v3"),
         do("ranges", 0, 10**6), do("gap", 0, 20_000)),
    )  # fmt: skip


PROBLEM = Problem(
    id="range_map",
    category="data structures",
    level="hard",
    entry="RangeMap",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
)
