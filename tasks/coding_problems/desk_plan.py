"""Which desk each visitor gets. Sample: desk_plan([(0, 5), (1, 2), (6, 8)], 1) → [1, 2, 2]: desk 2 is free for longer."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def desk_plan(visits: list[tuple[int, int]], pause: int) -> list[int]: ..."

EN = """
Visitors of an office are given desks. Each visit is a tuple `(start, end)` of integer times. Write a function `desk_plan` that
returns, in the order of `visits`, the number of the desk that each visitor gets. Desks are numbered 1, 2, 3, ...

- Visitors are served in order of their start; of those with the same start, the one with the later end first; of those with
  equal start and end, the one that comes first in `visits`.
- After a visit a desk has to be cleaned for `pause`: a visit can be given a desk that was used before if its start is at
  least `end + pause` of that desk's last visit.
- Of several desks that can be given, the one whose last visit ended earliest is given, and among those the one with the
  smallest number. A new desk, with the next number, is opened only if no opened desk can be given.
- A visit may have `start == end`; it needs a desk like any other, and the same rule about `end + pause` holds after it.
- Raise ValueError if some visit has `end < start`, or if `pause` is negative. `visits` may be empty, in any order, and must not
  be changed. Times may be negative.

For example, `desk_plan([(0, 5), (1, 2), (6, 8)], 1)` is `[1, 2, 2]`: at time 6 both desks can be given, and the last visit at
desk 2 ended earlier.
"""

ZH = """
一间办公室给来访者分配办公桌。每次来访是一个元组 `(start, end)`，两者都是整数时刻。请编写函数 `desk_plan`，
按 `visits` 的顺序返回每位来访者得到的办公桌的编号。办公桌编号为 1、2、3……

- 按开始时刻的先后为来访者安排；开始时刻相同的，结束时刻较晚的先安排；开始和结束时刻都相同的，
  在 `visits` 中靠前的先安排。
- 每次来访之后，办公桌需要 `pause` 这么长的时间来清洁：只有当一次来访的开始时刻不早于某张用过的桌子最后一次来访的
  `end + pause` 时，才能把这张桌子分配给它。
- 如果有几张桌子可以分配，分配其中最后一次来访结束得最早的那张；若仍有多张，分配编号最小的那张。
  只有当已启用的桌子都不能分配时，才启用一张新桌子，编号为下一个数。
- 来访可以满足 `start == end`；它同样需要一张桌子，之后同样适用关于 `end + pause` 的规则。
- 如果某次来访的 `end < start`，或者 `pause` 为负，则抛出 ValueError。`visits` 可能为空，可以是任意顺序，且不得修改。
  时刻可以为负。

例如，`desk_plan([(0, 5), (1, 2), (6, 8)], 1)` 的结果是 `[1, 2, 2]`：在时刻 6 两张桌子都可以分配，
而 2 号桌的最后一次来访结束得更早。
"""

REFERENCE = """
import heapq


def desk_plan(visits, pause):
    if pause < 0 or any(end < start for start, end in visits):
        raise ValueError("a pause or a visit of negative length")
    given = {}
    desks = []
    for i in sorted(range(len(visits)), key=lambda i: (visits[i][0], -visits[i][1])):
        start, end = visits[i]
        if desks and desks[0][0] + pause <= start:
            _, given[i] = heapq.heappop(desks)
        else:
            given[i] = len(desks) + 1
        heapq.heappush(desks, (end, given[i]))
    return [given[i] for i in range(len(visits))]
"""

WRONG = {
    "the smallest number instead of the longest free": """
def desk_plan(visits, pause):
    if pause < 0 or any(end < start for start, end in visits):
        raise ValueError("negative")
    given, last = [0] * len(visits), []
    for i in sorted(range(len(visits)), key=lambda i: (visits[i][0], -visits[i][1])):
        start, end = visits[i]
        for desk, ended in enumerate(last):
            if ended + pause <= start:
                break
        else:
            desk = len(last)
            last.append(end)
        last[desk] = end
        given[i] = desk + 1
    return given
""",
    "the earlier end first at the same start": """
import heapq


def desk_plan(visits, pause):
    if pause < 0 or any(end < start for start, end in visits):
        raise ValueError("negative")
    given, desks = [0] * len(visits), []
    for i in sorted(range(len(visits)), key=lambda i: visits[i]):
        start, end = visits[i]
        if desks and desks[0][0] + pause <= start:
            desk = heapq.heappop(desks)[1]
        else:
            desk = len(desks) + 1
        given[i] = desk
        heapq.heappush(desks, (end, desk))
    return given
""",
    "free only after the pause": """
import heapq


def desk_plan(visits, pause):
    if pause < 0 or any(end < start for start, end in visits):
        raise ValueError("negative")
    given, desks = [0] * len(visits), []
    for i in sorted(range(len(visits)), key=lambda i: (visits[i][0], -visits[i][1])):
        start, end = visits[i]
        if desks and desks[0][0] + pause < start:
            desk = heapq.heappop(desks)[1]
        else:
            desk = len(desks) + 1
        given[i] = desk
        heapq.heappush(desks, (end, desk))
    return given
""",
    "in the order of service": """
import heapq


def desk_plan(visits, pause):
    if pause < 0 or any(end < start for start, end in visits):
        raise ValueError("negative")
    given, desks = [], []
    for start, end in sorted(visits, key=lambda visit: (visit[0], -visit[1])):
        if desks and desks[0][0] + pause <= start:
            desk = heapq.heappop(desks)[1]
        else:
            desk = len(desks) + 1
        given.append(desk)
        heapq.heappush(desks, (end, desk))
    return given
""",
    "a visit of no length is refused": """
import heapq


def desk_plan(visits, pause):
    if pause < 0 or any(end <= start for start, end in visits):
        raise ValueError("negative")
    given, desks = [0] * len(visits), []
    for i in sorted(range(len(visits)), key=lambda i: (visits[i][0], -visits[i][1])):
        start, end = visits[i]
        if desks and desks[0][0] + pause <= start:
            desk = heapq.heappop(desks)[1]
        else:
            desk = len(desks) + 1
        given[i] = desk
        heapq.heappush(desks, (end, desk))
    return given
""",
    "the visits are sorted in place": """
import heapq


def desk_plan(visits, pause):
    if pause < 0 or any(end < start for start, end in visits):
        raise ValueError("negative")
    original = list(visits)
    visits.sort(key=lambda visit: (visit[0], -visit[1]))
    queues, desks = {}, []
    for start, end in visits:
        if desks and desks[0][0] + pause <= start:
            desk = heapq.heappop(desks)[1]
        else:
            desk = len(desks) + 1
        queues.setdefault((start, end), []).append(desk)
        heapq.heappush(desks, (end, desk))
    return [queues[visit].pop(0) for visit in original]
""",
}


def checks() -> tuple[Check, ...]:
    many = [(i * 7919 % 61 - 20, i * 7919 % 61 - 20 + i * i % 11) for i in range(60)]
    return (
        (call([(0, 5), (1, 2), (6, 8)], 1),),
        (call([], 0), call([], 3)),
        (call([], -1), call([(1, 2)], -1)),
        (call([(3, 2)], 0), call([(0, 1), (5, 9), (7, 6)], 2)),
        (call([(4, 4)], 0), call([(4, 4), (4, 4)], 0), call([(4, 4), (4, 4)], 1)),
        (call([(2, 3), (2, 9), (2, 5)], 0),),
        (call([(0, 2), (2, 4), (4, 6)], 0), call([(0, 2), (2, 4), (4, 6)], 1), call([(0, 2), (3, 4), (5, 6)], 1)),
        (call([(8, 9), (0, 4), (3, 6), (5, 7)], 0),),
        (call([(0, 3), (0, 3), (0, 3), (3, 5), (3, 5)], 0),),
        (call([(0, 10), (1, 4), (2, 3), (11, 12), (11, 15), (11, 13)], 0),),
        (call([(-9, -5), (-7, -6), (-5, -5), (-5, 0), (0, 1)], 0), call([(-3, -1), (-1, 2), (0, 0)], 2)),
        (call([(5, 5), (5, 7), (5, 5), (7, 7), (7, 8)], 0),),
        (call(many, 0), call(many, 1), call(many, 4)),
        (call([(10**15, 10**15 + 1), (0, 10**15), (1, 2)], 10**15 - 2),),
    )


PROBLEM = Problem(
    id="desk_plan",
    category="algorithms",
    level="medium",
    entry="desk_plan",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    keeps_arguments=True,
)
