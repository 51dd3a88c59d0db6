"""Half-open bookings merged where they overlap. Sample: 9 to 12, 11 to 14, 14 to 15, at least 2 → [[9, 14, 2]]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def merge_bookings(starts: list[int], ends: list[int], at_least: int) -> list[list[int]]: ..."

EN = """
A room is booked by the minute. The booking number i covers the minutes `starts[i]`, `starts[i] + 1`, …, `ends[i] - 1`: the
minute `ends[i]` is no longer part of it. Both lists have the same length.

Write a function `merge_bookings` that joins the bookings which overlap into blocks. Two bookings overlap when they have at
least one minute in common, and bookings that are linked through others belong to the same block: 1 to 3, 2 to 5 and 4 to 6
form one block. Bookings that merely touch, like 1 to 3 and 3 to 5, stay separate unless another booking overlaps both.

Return a list with one list `[start, end, count]` for each block of at least `at_least` bookings (1 or more), in ascending
order of `start`: the first minute of the block, the end of the block (the first minute after it) and the number of bookings
in it. Equal bookings are counted one by one. For example, `merge_bookings([9, 11, 14], [12, 14, 15], 2)` is `[[9, 14, 2]]`.

- A booking whose start equals its end covers no minute: ignore it, wherever it lies; it is not counted.
- If the start of any booking is greater than its end, raise ValueError.
- The bookings come in no particular order, minutes may be negative, and the lists may be empty (the result is then `[]`). The
  lists may be changed.
- 100,000 bookings must take well under a second.
"""

ZH = """
一间会议室按分钟预订。第 i 条预订覆盖的分钟为 `starts[i]`、`starts[i] + 1`、…、`ends[i] - 1`：分钟 `ends[i]` 已不属于
它。两个列表长度相同。

请编写函数 `merge_bookings`，把相互重叠的预订合并成块。两条预订至少有一个共同的分钟时称为重叠；通过其他预订间接相连的预
订属于同一块：1 到 3、2 到 5 和 4 到 6 构成一块。仅仅首尾相接的预订，例如 1 到 3 和 3 到 5，保持分开，除非另有一条预订与
两者都重叠。

返回一个列表，每个至少含有 `at_least` 条预订（`at_least` 不小于 1）的块对应一个列表 `[start, end, count]`，按 `start` 升
序排列：该块的第一分钟、该块的结束（其后的第一分钟）、以及该块中预订的条数。相同的预订要逐条计数。例如，
`merge_bookings([9, 11, 14], [12, 14, 15], 2)` 的结果是 `[[9, 14, 2]]`。

- 开始等于结束的预订不覆盖任何分钟：无论它在哪里，都忽略它，也不计数。
- 只要有一条预订的开始大于其结束，就抛出 ValueError。
- 预订没有特定的顺序，分钟可以是负数，列表可以为空（此时结果为 `[]`）。可以修改这两个列表。
- 处理 100,000 条预订的耗时必须远小于一秒。
"""

REFERENCE = """
def merge_bookings(starts, ends, at_least):
    blocks = []
    count = 0
    for start, end in sorted(zip(starts, ends)):
        if start > end:
            raise ValueError("a booking ends before it starts")
        if start == end:
            continue
        if count and start < last:
            last = max(last, end)
            count += 1
            continue
        if count >= at_least:
            blocks.append([first, last, count])
        first, last, count = start, end, 1
    if count >= at_least:
        blocks.append([first, last, count])
    return blocks
"""

WRONG = {
    "bookings that touch are merged": REFERENCE.replace("start < last", "start <= last"),
    "a booking inside another shortens the block": REFERENCE.replace("max(last, end)", "end"),
    "an empty booking counts as one": REFERENCE.replace("        if start == end:\n            continue\n", ""),
    "an empty booking is an error": REFERENCE.replace("start > end", "start >= end"),
    "a reversed booking is ignored": REFERENCE.replace("if start == end", "if start >= end").replace(
        "if start > end", "if False"
    ),
    "not sorted": REFERENCE.replace("sorted(zip(starts, ends))", "zip(starts, ends)"),
    "more than at_least": REFERENCE.replace("count >= at_least", "count > at_least"),
    "the last block is forgotten": REFERENCE.replace(
        "    if count >= at_least:\n        blocks.append([first, last, count])\n    return", "    return"
    ),
    "tuples": REFERENCE.replace("[first, last, count]", "(first, last, count)"),
    "quadratic": """
def merge_bookings(starts, ends, at_least):
    blocks = []
    for start, end in zip(starts, ends):
        if start > end:
            raise ValueError
        if start == end:
            continue
        block = [start, end, 1]
        for other in [b for b in blocks if b[0] < end and start < b[1]]:
            blocks.remove(other)
            block = [min(block[0], other[0]), max(block[1], other[1]), block[2] + other[2]]
        blocks.append(block)
    return sorted(block for block in blocks if block[2] >= at_least)
""",
}


def checks() -> tuple[Check, ...]:
    starts = [i * 7919 % 100_003 * 10 for i in range(54_000)]
    ends = [start + (9 if i % 500 else 90) for i, start in enumerate(starts)]
    return (
        (call([9, 11, 14], [12, 14, 15], 2),),
        (call([9, 11, 14], [12, 14, 15], 1),),
        (call([], [], 1),),
        (call([4], [7], 1),),
        (call([4], [7], 2),),
        (call([1, 3], [3, 5], 1),),
        (call([1, 3, 2], [3, 5, 4], 1),),
        (call([4, 2, 1], [6, 5, 3], 3),),
        (call([0, 2, 9], [10, 3, 12], 1),),
        (call([0, 2, 4, 10], [10, 3, 5, 11], 1),),
        (call([5, 5, 5], [8, 8, 8], 3),),
        (call([5, 5, 5], [6, 9, 7], 1),),
        (call([100, 99, 20, 3], [200, 101, 30, 25], 1),),
        (call([3], [3], 1),),
        (call([1, 4, 9, 20, 1, 0], [9, 4, 9, 20, 1, 0], 1),),
        (call([7, 7, 8, 8], [7, 9, 8, 10], 2),),
        (call([1, 6], [4, 5], 1),),
        (call([0, 50, 10], [100, 40, 10], 9),),
        (call([-3], [-5], 1),),
        (call([-5, -3, -10, -9], [-2, 1, -9, -7], 1),),
        (call([10**18, 0], [10**18 + 2, 10**18 + 1], 2),),
        (call([30, 10, 20], [40, 20, 30], 1),),
        (call([1, 3, 4, 8, 20, 21, 30], [2, 9, 5, 12, 22, 23, 31], 2),),
        (call([1, 5, 2, 6], [4, 9, 3, 8], 2),),
        (call(starts, ends, 4),),
    )


PROBLEM = Problem(
    id="merge_bookings",
    category="engineering",
    level="easy",
    entry="merge_bookings",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
)
