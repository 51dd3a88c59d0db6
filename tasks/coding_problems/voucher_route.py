"""The cheapest way with one road at half price. Sample: (a, b, 5), (b, c, 8) from a to c → (9, ["a", "b", "c"])."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = """
def voucher_route(
    roads: list[tuple[str, str, int]], start: str, goal: str
) -> tuple[int, list[str]] | None: ...
"""

EN = """
Write a function `voucher_route` that finds the cheapest way from the place `start` to the place `goal`. Each road is a tuple
`(origin, target, toll)`: it leads from `origin` to `target` only, not back, and `toll` is an integer of at least 0. You have
one voucher: on at most one road of the way you pay half the toll, rounded down to an integer; on all others the full toll.

Return the tuple `(cost, places)`: the sum that is paid, and the list of the places on the way from `start` to `goal`, both
included. Of all ways, choose

1. one with the lowest cost (the voucher being used where it saves most);
2. of those, one with the fewest roads;
3. of those, the one whose list of places is the smallest, as Python compares lists of strings.

- If `start` and `goal` are the same, return `(0, [start])`, even if no road touches this place.
- Return None if there is no way.
- There may be several roads from one place to the same other place, roads from a place to itself, roads in both directions,
  and circles. `roads` may be empty and must not be changed.
- There may be very many equally cheap ways, so they cannot all be listed.

For example, with the roads `[("a", "b", 5), ("b", "c", 8), ("a", "c", 20)]` the result from `"a"` to `"c"` is
`(9, ["a", "b", "c"])`: 5 in full and half of 8.
"""

ZH = """
请编写函数 `voucher_route`，找出从地点 `start` 到地点 `goal` 的最便宜的路线。每条道路是一个元组
`(origin, target, toll)`：它只能从 `origin` 通往 `target`，不能反向，`toll` 是不小于 0 的整数。你有一张优惠券：
在路线上至多一条道路上，你只付过路费的一半，向下取整；其余道路都付全价。

返回元组 `(cost, places)`：所付的总额，以及路线上从 `start` 到 `goal`（两者都包括在内）的地点列表。
在所有路线中，按以下规则选择：

1. 选总额最低的（优惠券用在最省钱的地方）；
2. 若有多条，选道路条数最少的；
3. 若仍有多条，选地点列表最小的，按 Python 比较字符串列表的规则。

- 如果 `start` 与 `goal` 相同，返回 `(0, [start])`，即使没有任何道路与该地点相连。
- 如果没有路线，返回 None。
- 从一个地点到另一个地点可能有几条道路，也可能有从一个地点回到自身的道路、双向都有的道路以及环路。
  `roads` 可能为空，且不得修改。
- 同样便宜的路线可能非常多，因此不能把它们全部列出来。

例如，道路为 `[("a", "b", 5), ("b", "c", 8), ("a", "c", 20)]` 时，从 `"a"` 到 `"c"` 的结果是
`(9, ["a", "b", "c"])`：5 付全价，8 付一半。
"""

REFERENCE = """
import heapq


def voucher_route(roads, start, goal):
    leaving = {}
    for origin, target, toll in roads:
        leaving.setdefault(origin, []).append((target, toll))
    heap = [(0, len([start]), [start], False)]
    settled = set()
    while heap:
        cost, length, places, used = heapq.heappop(heap)
        here = places[-1]
        if here == goal:
            return cost, places
        if (here, used) in settled:
            continue
        settled.add((here, used))
        for target, toll in leaving.get(here, []):
            longer = [*places, target]
            heapq.heappush(heap, (cost + toll, len(longer), longer, used))
            if not used:
                heapq.heappush(heap, (cost + toll // 2, len(longer), longer, True))
    return None
"""

WRONG = {
    "the voucher on the dearest road of the cheapest way": """
import heapq


def voucher_route(roads, start, goal):
    leaving = {}
    for origin, target, toll in roads:
        leaving.setdefault(origin, []).append((target, toll))
    heap, settled = [(0, 1, [start], 0)], set()
    while heap:
        cost, length, places, dearest = heapq.heappop(heap)
        if places[-1] == goal:
            return cost - dearest + dearest // 2, places
        if places[-1] in settled:
            continue
        settled.add(places[-1])
        for target, toll in leaving.get(places[-1], []):
            heapq.heappush(heap, (cost + toll, length + 1, [*places, target], max(dearest, toll)))
    return None
""",
    "a place is settled with and without the voucher at once": """
import heapq


def voucher_route(roads, start, goal):
    leaving = {}
    for origin, target, toll in roads:
        leaving.setdefault(origin, []).append((target, toll))
    heap, settled = [(0, 1, [start], False)], set()
    while heap:
        cost, length, places, used = heapq.heappop(heap)
        if places[-1] == goal:
            return cost, places
        if places[-1] in settled:
            continue
        settled.add(places[-1])
        for target, toll in leaving.get(places[-1], []):
            heapq.heappush(heap, (cost + toll, length + 1, [*places, target], used))
            if not used:
                heapq.heappush(heap, (cost + toll // 2, length + 1, [*places, target], True))
    return None
""",
    "the smallest list before the fewest roads": """
import heapq


def voucher_route(roads, start, goal):
    leaving = {}
    for origin, target, toll in roads:
        leaving.setdefault(origin, []).append((target, toll))
    heap, settled = [(0, [start], False)], set()
    while heap:
        cost, places, used = heapq.heappop(heap)
        if places[-1] == goal:
            return cost, places
        if (places[-1], used) in settled:
            continue
        settled.add((places[-1], used))
        for target, toll in leaving.get(places[-1], []):
            heapq.heappush(heap, (cost + toll, [*places, target], used))
            if not used:
                heapq.heappush(heap, (cost + toll // 2, [*places, target], True))
    return None
""",
    "half the toll as a float": """
import heapq


def voucher_route(roads, start, goal):
    leaving = {}
    for origin, target, toll in roads:
        leaving.setdefault(origin, []).append((target, toll))
    heap, settled = [(0, 1, [start], False)], set()
    while heap:
        cost, length, places, used = heapq.heappop(heap)
        if places[-1] == goal:
            return cost, places
        if (places[-1], used) in settled:
            continue
        settled.add((places[-1], used))
        for target, toll in leaving.get(places[-1], []):
            heapq.heappush(heap, (cost + toll, length + 1, [*places, target], used))
            if not used:
                heapq.heappush(heap, (cost + toll / 2, length + 1, [*places, target], True))
    return None
""",
    "roads lead both ways": """
import heapq


def voucher_route(roads, start, goal):
    leaving = {}
    for origin, target, toll in roads:
        leaving.setdefault(origin, []).append((target, toll))
        leaving.setdefault(target, []).append((origin, toll))
    heap, settled = [(0, 1, [start], False)], set()
    while heap:
        cost, length, places, used = heapq.heappop(heap)
        if places[-1] == goal:
            return cost, places
        if (places[-1], used) in settled:
            continue
        settled.add((places[-1], used))
        for target, toll in leaving.get(places[-1], []):
            heapq.heappush(heap, (cost + toll, length + 1, [*places, target], used))
            if not used:
                heapq.heappush(heap, (cost + toll // 2, length + 1, [*places, target], True))
    return None
""",
    "of two roads to the same place the last": """
import heapq


def voucher_route(roads, start, goal):
    leaving = {}
    for origin, target, toll in roads:
        leaving.setdefault(origin, {})[target] = toll
    heap, settled = [(0, 1, [start], False)], set()
    while heap:
        cost, length, places, used = heapq.heappop(heap)
        if places[-1] == goal:
            return cost, places
        if (places[-1], used) in settled:
            continue
        settled.add((places[-1], used))
        for target, toll in leaving.get(places[-1], {}).items():
            heapq.heappush(heap, (cost + toll, length + 1, [*places, target], used))
            if not used:
                heapq.heappush(heap, (cost + toll // 2, length + 1, [*places, target], True))
    return None
""",
    "lists every way without a circle": """
def voucher_route(roads, start, goal):
    leaving = {}
    for origin, target, toll in roads:
        leaving.setdefault(origin, []).append((target, toll))
    best = None

    def walk(places, tolls):
        nonlocal best
        if places[-1] == goal:
            saved = max((toll - toll // 2 for toll in tolls), default=0)
            found = (sum(tolls) - saved, len(places), list(places))
            if best is None or found < best:
                best = found
            return
        for target, toll in leaving.get(places[-1], []):
            if target not in places:
                walk([*places, target], [*tolls, toll])

    walk([start], [])
    return best and (best[0], best[2])
""",
}


def checks() -> tuple[Check, ...]:
    plain = [("a", "b", 5), ("b", "c", 8), ("a", "c", 20)]
    ties = [
        ("s", "z", 2),
        ("z", "t", 0),
        ("s", "b", 2),
        ("b", "t", 0),
        ("s", "aa", 2),
        ("aa", "t", 0),
        ("s", "B", 2),
        ("B", "t", 0),
    ]
    longer = [("s", "a", 0), ("a", "b", 0), ("b", "t", 6), ("s", "c", 6), ("c", "t", 0), ("s", "d", 0), ("d", "t", 6)]
    late = [("s", "m", 9), ("s", "n", 4), ("n", "m", 1), ("m", "t", 30), ("m", "u", 15), ("u", "t", 15)]
    chain = [
        road
        for i in range(60)
        for side in "yx"
        for road in ((f"{i:02}", f"{i:02}{side}", 3), (f"{i:02}{side}", f"{i + 1:02}", 2))
    ]
    ring = [(str(i), str((i * k + 1) % 40), (i * k * 13) % 17) for i in range(40) for k in (1, 3, 7)]
    return (
        (call(plain, "a", "c"),),
        (call([], "x", "x"), call(plain, "q", "q"), call([("x", "x", 0)], "x", "x")),
        (call([], "x", "y"), call(plain, "c", "a"), call(plain, "a", "q")),
        (call([("a", "b", 7)], "a", "b"), call([("a", "b", 0)], "a", "b"), call([("a", "b", 1)], "a", "b")),
        (call([("a", "b", 9), ("a", "b", 4), ("a", "b", 6)], "a", "b"),),
        (call(ties, "s", "t"),),
        (call(longer, "s", "t"),),
        (call(late, "s", "t"),),
        (
            call([("a", "c", 10), ("a", "b", 3), ("b", "c", 3)], "a", "c"),
            call([("a", "c", 10), ("a", "b", 3), ("b", "c", 4)], "a", "c"),
        ),
        (call([("a", "a", 0), ("a", "b", 5), ("b", "a", 0), ("b", "c", 5), ("c", "b", 1)], "a", "c"),),
        (call([("p", "q", 5), ("q", "r", 5), ("r", "s", 5), ("p", "s", 25)], "p", "s"),),
        (call([("s", "a", 1), ("s", "b", 2), ("a", "t", 3), ("b", "t", 2), ("s", "t", 7)], "s", "t"),),
        (call([("北", "东", 4), ("东", "南", 4), ("北", "西", 4), ("西", "南", 4)], "北", "南"),),
        tuple(call(ring, "0", str(i)) for i in (5, 11, 23, 26, 39)),
        (call([*chain, ("00", "60", 299)], "00", "60"), call([*chain, ("30", "59", 141)], "00", "60")),
    )


PROBLEM = Problem(
    id="voucher_route",
    category="algorithms",
    level="medium",
    entry="voucher_route",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    keeps_arguments=True,
)
