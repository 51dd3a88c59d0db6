"""The median of a sliding window. Sample: size 3, push 5, 1, 9, 2 → 10, 6, 10, 4, each twice the median."""

from sandbox.steps import do, each, new, repeat
from tasks.problem import Check, Problem

SIGNATURE = """
class MedianWindow:
    def __init__(self, size: int) -> None: ...
    def push(self, value: int) -> int: ...
    def undo(self) -> int: ...
    def drop(self) -> int: ...
    def twice_median(self) -> int: ...
    def __len__(self) -> int: ...
"""

EN = """
Write a class `MedianWindow` that keeps the newest integers of a stream, at most `size` of them, and tells their median.

Twice the median is always an integer, and the class works with that: if the number of values in the window is odd, it is two
times the middle one of the sorted values; if it is even, it is the sum of the two middle ones. (Of 5, 1, 9 it is 10; of 1, 9
it is 10 too.) It is an int, exact for integers of any size.

- `MedianWindow(size)` starts empty. A size less than 1 raises ValueError.
- `push(value)` adds the value as the newest. If the window was full, the oldest value leaves it first. Returns twice the
  median of the window after that.
- `undo()` takes the newest value out and returns it. A value that left the window because of a push does not come back.
- `drop()` takes the oldest value out and returns it.
- `twice_median()` returns twice the median of the window and changes nothing.
- `len(window)` is the number of values in it.

`undo`, `drop` and `twice_median` raise IndexError if the window is empty. Equal values may occur; each counts.

With `size` 4,000, 5,000 pushes of different values and 170,000 calls of `twice_median` must together take well under a
second: `twice_median` takes O(1) time. (Inserting into or deleting from one Python list is fast enough for the other
methods.)

Example: `MedianWindow(3)`, then `push` of 5, 1, 9, 2 returns 10, 6, 10, 4; now `undo()` returns 2, and `twice_median()` is
10.
"""

ZH = """
请编写一个类 `MedianWindow`，它保存数据流中最新的整数，最多 `size` 个，并给出它们的中位数。

中位数的两倍总是整数，本类使用这个数：如果窗口中值的个数为奇数，它是排序后中间那个值的两倍；
如果个数为偶数，它是排序后中间两个值的和。（对于 5、1、9，它是 10；对于 1、9，它也是 10。）
它的类型是 int，对任意大小的整数都必须精确。

- `MedianWindow(size)` 创建时为空。`size` 小于 1 时抛出 ValueError。
- `push(value)` 加入一个值，作为最新的值。如果加入前窗口已满，则最旧的值先离开窗口。返回此后窗口中位数的两倍。
- `undo()` 取出最新的值并返回它。因 `push` 而离开窗口的值不会回来。
- `drop()` 取出最旧的值并返回它。
- `twice_median()` 返回窗口中位数的两倍，不作任何改变。
- `len(window)` 是窗口中值的个数。

窗口为空时，`undo`、`drop` 和 `twice_median` 抛出 IndexError。窗口中可能有相等的值，每一个都要计入。

当 `size` 为 4,000 时，5,000 次 `push` 不同的值和 170,000 次 `twice_median`，总耗时必须远小于一秒：
`twice_median` 的时间复杂度为 O(1)。（对其他方法来说，在一个 Python 列表中插入或删除已经足够快。）

示例：`MedianWindow(3)`，然后依次 `push` 5、1、9、2，返回 10、6、10、4；此时 `undo()` 返回 2，
而 `twice_median()` 为 10。
"""

REFERENCE = """
from bisect import bisect_left, insort
from collections import deque


class MedianWindow:
    def __init__(self, size):
        if size < 1:
            raise ValueError("size must be positive")
        self._size = size
        self._arrived = deque()
        self._ordered = []

    def push(self, value):
        if len(self._arrived) == self._size:
            self.drop()
        self._arrived.append(value)
        insort(self._ordered, value)
        return self.twice_median()

    def undo(self):
        return self._forget(self._arrived.pop())

    def drop(self):
        return self._forget(self._arrived.popleft())

    def twice_median(self):
        count = len(self._ordered)
        return self._ordered[count // 2] + self._ordered[~(count // 2)]

    def __len__(self):
        return len(self._arrived)

    def _forget(self, value):
        del self._ordered[bisect_left(self._ordered, value)]
        return value
"""

NAIVE = """
class MedianWindow:
    def __init__(self, size):
        if size < 1:
            raise ValueError
        self.size = size
        self.values = []

    def push(self, value):
        if len(self.values) == self.size:
            self.values.pop(0)
        self.values.append(value)
        return self.twice_median()

    def undo(self):
        return self.values.pop()

    def drop(self):
        return self.values.pop(0)

    def twice_median(self):
        ordered = sorted(self.values)
        n = len(ordered)
        if n == 0:
            raise IndexError
        return ordered[n // 2] + ordered[(n - 1) // 2]

    def __len__(self):
        return len(self.values)
"""

WRONG = {
    "sorts the window each time": NAIVE,
    "the median is not doubled": REFERENCE.replace(
        "return self._ordered[count // 2] + self._ordered[~(count // 2)]",
        "return self._ordered[count // 2] if count % 2 else self._ordered[count // 2 - 1] + self._ordered[count // 2]",
    ),
    "the upper median of an even number": REFERENCE.replace("self._ordered[~(count // 2)]", "self._ordered[count // 2]"),
    "floats lose large integers": REFERENCE.replace(
        "return self._ordered[count // 2] + self._ordered[~(count // 2)]",
        "return int(2 * (self._ordered[count // 2] + self._ordered[~(count // 2)]) / 2)",
    ),
    "equal values are kept once": REFERENCE.replace(
        "        insort(self._ordered, value)\n",
        "        if value not in self._ordered:\n            insort(self._ordered, value)\n",
    ),
    "undo brings the lost value back": NAIVE.replace(
        "self.values.pop(0)\n        self", "self.lost = self.values.pop(0)\n        self"
    ).replace(
        "        return self.values.pop()\n",
        "        value = self.values.pop()\n        if hasattr(self, 'lost'):\n"
        "            self.values.insert(0, self.lost)\n            del self.lost\n        return value\n",
    ),
    "undo takes the oldest": REFERENCE.replace("self._arrived.pop())", "self._arrived.popleft())"),
    "a size of 0 is allowed": REFERENCE.replace("if size < 1", "if size < 0"),
    "the oldest leaves too late": REFERENCE.replace(
        "if len(self._arrived) == self._size", "if len(self._arrived) > self._size"
    ),
    "0 for an empty window": REFERENCE.replace(
        "        count = len(self._ordered)\n",
        "        count = len(self._ordered)\n        if not count:\n            return 0\n",
    ),
}


def checks() -> tuple[Check, ...]:
    stream = [((i * 7919) % 100_003 - 50_000,) for i in range(5_000)]
    waves = [((i * i * 31 + i) % 23 - 11,) for i in range(200)]
    return (
        (new(3), each("push", [(5,), (1,), (9,), (2,)]), do("undo"), do("twice_median"), do("__len__")),
        (new(1), each("push", [(4,), (-7,), (0,)]), do("twice_median"), do("__len__"), do("drop"), do("__len__"),
         do("push", 3)),
        (new(0),),
        (new(-2),),
        (new(5), do("twice_median")),
        (new(5), do("undo")),
        (new(5), do("drop")),
        (new(5), do("__len__")),
        (new(4), each("push", [(2,), (2,), (2,), (8,), (8,), (8,)]), do("drop"), do("twice_median"), do("undo"),
         do("twice_median"), do("__len__")),
        (new(4), each("push", [(7,), (3,), (3,), (7,)]), do("undo"), do("twice_median"), do("drop"), do("twice_median"),
         do("undo"), do("undo"), do("undo")),
        (new(2), each("push", [(1,), (2,)]), do("push", 9), do("undo"), do("__len__"), do("twice_median"), do("push", 4),
         do("push", 6), do("drop")),
        (new(3), each("push", [(-5,), (-2,), (-9,), (-4,)]), do("twice_median"), do("drop"), do("twice_median")),
        (new(3), do("push", 10**20), do("push", 10**20 + 3), do("push", 10**20 + 1), do("twice_median"), do("drop"),
         do("twice_median")),
        (new(2), do("push", 2**53 + 1), do("push", 2**53 + 2), do("twice_median")),
        (new(6), do("push", 1), do("drop"), do("push", 2), do("push", 3), do("undo"), do("twice_median"), do("drop"),
         do("twice_median")),
        (new(6), each("push", [(9,), (1,), (8,), (2,), (7,), (3,)]), do("drop"), do("drop"), do("twice_median"), do("undo"),
         do("push", 5), do("twice_median")),
        (new(8), each("push", waves), each("undo", [()] * 3), each("push", waves[3:40]), each("drop", [()] * 5),
         do("twice_median"), do("__len__")),
        (new(17), each("push", waves), each("drop", [()] * 7), do("twice_median"), each("undo", [()] * 6), do("twice_median"),
         do("drop")),
        (new(4_000), each("push", stream), repeat("twice_median", 170_000), do("undo"), do("drop"), do("twice_median"),
         do("__len__")),
    )  # fmt: skip


PROBLEM = Problem(
    id="windowed_median",
    category="data structures",
    level="medium",
    entry="MedianWindow",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
)
