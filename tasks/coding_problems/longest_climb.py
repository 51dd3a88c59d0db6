"""The longest rising choice of stops, some way apart. Sample: longest_climb([1, 2, 3, 2, 5], 2) → [0, 2, 4]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def longest_climb(heights: list[int], gap: int) -> list[int]: ..."

EN = """
Along a path there are stops 0, 1, 2, ...; `heights[i]` is the height of stop `i`. A climb is a choice of stops, in the order of
the path, in which every stop is strictly higher than the chosen stop before it, and comes at least `gap` places after it: if
`i` and `j` are chosen one after the other, then `heights[i] < heights[j]` and `j - i >= gap`. Write a function `longest_climb`
that returns the climb with the most stops, as the list of their indices in ascending order.

- Where several climbs have the most stops, return the one whose list of indices is the smallest, as Python compares lists: the
  one with the smallest first index, among those the one with the smallest second index, and so on.
- A single stop is a climb. Without any stops return `[]`.
- If `gap` is less than 1, raise ValueError, also when there are no stops. `gap` may be greater than the number of stops.
- Heights are any integers, equal and negative ones included. The list must not be changed.
- 40,000 stops must take well under a second, whatever `gap` is, so comparing all pairs of stops is too slow.

For example, `longest_climb([1, 2, 3, 2, 5], 2)` is `[0, 2, 4]`, and with a gap of 3 it is `[0, 3]`.
"""

ZH = """
一条路上有站点 0、1、2……；`heights[i]` 是站点 `i` 的高度。一次攀登是按路上的顺序选出的若干站点，
其中每个站点都严格高于前一个选出的站点，并且至少在它之后 `gap` 个位置：如果 `i` 和 `j` 是相继选出的两个站点，
那么 `heights[i] < heights[j]` 且 `j - i >= gap`。请编写函数 `longest_climb`，返回站点最多的攀登，
形式为其下标按升序排列的列表。

- 如果有多个攀登的站点数都最多，返回其中下标列表最小的那个，按 Python 的列表比较规则：第一个下标最小的；
  若仍有多个，第二个下标最小的，依此类推。
- 单独一个站点也是一次攀登。没有任何站点时返回 `[]`。
- 如果 `gap` 小于 1，则抛出 ValueError，没有站点时也一样。`gap` 可以大于站点的个数。
- 高度可以是任意整数，包括相等的数和负数。不得修改该列表。
- 无论 `gap` 是多少，40,000 个站点的耗时都必须远小于一秒，因此两两比较所有站点太慢。

例如，`longest_climb([1, 2, 3, 2, 5], 2)` 的结果是 `[0, 2, 4]`；当 `gap` 为 3 时，结果是 `[0, 3]`。
"""

REFERENCE = """
from bisect import bisect_left


def longest_climb(heights, gap):
    if gap < 1:
        raise ValueError("a gap is at least one place")
    if not heights:
        return []
    stops = range(len(heights))
    longest_from = {}
    # lowered[n] is the greatest height, negated, at which a climb of n + 1 stops starts that stop i may come before
    lowered = []
    for i in reversed(stops):
        if i + gap in stops:
            negated, length = -heights[i + gap], longest_from[i + gap]
            if length > len(lowered):
                lowered.append(negated)
            else:
                lowered[length - 1] = min(lowered[length - 1], negated)
        longest_from[i] = bisect_left(lowered, -heights[i]) + 1
    climb = []
    left = max(longest_from.values())
    for i in stops:
        fits = not climb or (heights[climb[-1]] < heights[i] and i - climb[-1] >= gap)
        if fits and longest_from[i] == left:
            climb.append(i)
            left -= 1
    return climb
"""

WRONG = {
    "compares all pairs": """
def longest_climb(heights, gap):
    if gap < 1:
        raise ValueError("gap")
    n = len(heights)
    best, following = [1] * n, [-1] * n
    for i in range(n - 1, -1, -1):
        for j in range(i + gap, n):
            if heights[j] > heights[i] and best[j] + 1 > best[i]:
                best[i], following[i] = best[j] + 1, j
    if not n:
        return []
    i, climb = best.index(max(best)), []
    while i >= 0:
        climb.append(i)
        i = following[i]
    return climb
""",
    "links to the stop before, which is not the smallest list": """
from bisect import bisect_left


def longest_climb(heights, gap):
    if gap < 1:
        raise ValueError("gap")
    tops, ends, lengths, before = [], [], {}, {}
    for i in range(len(heights)):
        j = i - gap
        if j >= 0:
            place = lengths[j] - 1
            if place == len(tops):
                tops.append(heights[j])
                ends.append(j)
            elif heights[j] < tops[place]:
                tops[place], ends[place] = heights[j], j
        place = bisect_left(tops, heights[i])
        lengths[i] = place + 1
        before[i] = ends[place - 1] if place else None
    if not lengths:
        return []
    i, climb = max(lengths, key=lambda i: (lengths[i], -i)), []
    while i is not None:
        climb.append(i)
        i = before[i]
    return climb[::-1]
""",
    "the newest stop always replaces the older one": """
from bisect import bisect_left


def longest_climb(heights, gap):
    if gap < 1:
        raise ValueError("gap")
    n = len(heights)
    if not n:
        return []
    lengths, lowered = [1] * n, []
    for i in range(n - 1, -1, -1):
        if i + gap < n:
            place = lengths[i + gap] - 1
            if place == len(lowered):
                lowered.append(-heights[i + gap])
            else:
                lowered[place] = -heights[i + gap]
        lengths[i] = bisect_left(lowered, -heights[i]) + 1
    climb, left = [], max(lengths)
    for i in range(n):
        if lengths[i] == left and (not climb or (i >= climb[-1] + gap and heights[i] > heights[climb[-1]])):
            climb.append(i)
            left -= 1
    return climb
""",
    "the gap is left out": """
from bisect import bisect_left


def longest_climb(heights, gap):
    if gap < 1:
        raise ValueError("gap")
    n = len(heights)
    lengths, lowered = [1] * n, []
    for i in range(n - 1, -1, -1):
        place = bisect_left(lowered, -heights[i])
        lowered[place:place + 1] = [-heights[i]]
        lengths[i] = place + 1
    climb, left = [], max(lengths, default=0)
    for i in range(n):
        if lengths[i] == left and (not climb or heights[i] > heights[climb[-1]]):
            climb.append(i)
            left -= 1
    return climb
""",
    "equal heights climb too": """
from bisect import bisect_right


def longest_climb(heights, gap):
    if gap < 1:
        raise ValueError("gap")
    n = len(heights)
    lengths, lowered = [1] * n, []
    for i in range(n - 1, -1, -1):
        if i + gap < n:
            place = lengths[i + gap] - 1
            if place == len(lowered):
                lowered.append(-heights[i + gap])
            else:
                lowered[place] = min(lowered[place], -heights[i + gap])
        lengths[i] = bisect_right(lowered, -heights[i]) + 1
    climb, left = [], max(lengths, default=0)
    for i in range(n):
        if lengths[i] == left and (not climb or (i >= climb[-1] + gap and heights[i] >= heights[climb[-1]])):
            climb.append(i)
            left -= 1
    return climb
""",
    "one place between is enough for a gap of one more": """
from bisect import bisect_left


def longest_climb(heights, gap):
    if gap < 1:
        raise ValueError("gap")
    n = len(heights)
    lengths, lowered = [1] * n, []
    for i in range(n - 1, -1, -1):
        if i + gap + 1 < n:
            place = lengths[i + gap + 1] - 1
            if place == len(lowered):
                lowered.append(-heights[i + gap + 1])
            else:
                lowered[place] = min(lowered[place], -heights[i + gap + 1])
        lengths[i] = bisect_left(lowered, -heights[i]) + 1
    climb, left = [], max(lengths, default=0)
    for i in range(n):
        if lengths[i] == left and (not climb or (i > climb[-1] + gap and heights[i] > heights[climb[-1]])):
            climb.append(i)
            left -= 1
    return climb
""",
    "the heights instead of the stops": """
from bisect import bisect_left


def longest_climb(heights, gap):
    if gap < 1:
        raise ValueError("gap")
    n = len(heights)
    lengths, lowered = [1] * n, []
    for i in range(n - 1, -1, -1):
        if i + gap < n:
            place = lengths[i + gap] - 1
            if place == len(lowered):
                lowered.append(-heights[i + gap])
            else:
                lowered[place] = min(lowered[place], -heights[i + gap])
        lengths[i] = bisect_left(lowered, -heights[i]) + 1
    climb, last, left = [], None, max(lengths, default=0)
    for i in range(n):
        if lengths[i] == left and (last is None or (i >= last + gap and heights[i] > heights[last])):
            climb.append(heights[i])
            last = i
            left -= 1
    return climb
""",
}


def checks() -> tuple[Check, ...]:
    rough = [(i * i * 31 + i * 17) % 53 - 20 for i in range(50)]
    return (
        (call([1, 2, 3, 2, 5], 2), call([1, 2, 3, 2, 5], 3)),
        (call([], 1), call([], 9)),
        (call([], 0), call([1, 2], 0), call([3], -1)),
        (call([7], 1), call([7], 5), call([1, 2, 3], 3), call([1, 2, 3], 2)),
        (call([4, 4, 4, 4], 1), call([4, 4, 5, 5], 1), call([4, 4, 5, 5], 2), call([5, 4, 3], 1)),
        (call([3, 1, 4, 2], 1), call([2, 3, 1, 4], 1), call([5, 6, 1, 2], 1), call([1, 5, 2, 3], 1)),
        (call([-5, -7, -6, 0, -1], 1), call([-5, -7, -6, 0, -1], 2)),
        (call([2, 1, 3, 2, 4, 3, 5], 1), call([2, 1, 3, 2, 4, 3, 5], 2), call([2, 1, 3, 2, 4, 3, 5], 3)),
        tuple(call(rough, gap) for gap in (1, 2, 3, 4, 5, 7, 10)),
        (call([3, 9, 8, 1, 9, 2, 5, 7, 4, 6, 8], 2), call([1, 9, 5, 8, 9, 2, 7, 3, 3, 4, 9, 1], 2)),
        (call([10**20, 10**20 + 1, 10**20 + 2], 1), call([0, 0, 1, 0, 2, 1, 1, 3, 2, 3], 2)),
        (call(list(range(30)), 4), call(list(range(30, 0, -1)), 2), call([i // 3 for i in range(40)], 1)),
        tuple(call([(i * 7919 + seed * i * i) % 17 for i in range(24)], gap) for seed in range(5) for gap in (2, 3)),
        (call([(i * i * 31 + i * 7_919) % 100_003 for i in range(40_000)], 3),),
    )


PROBLEM = Problem(
    id="longest_climb",
    category="algorithms",
    level="hard",
    entry="longest_climb",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
    keeps_arguments=True,
)
