"""What to take along, at most two of a kind. Sample: pack_kit([("a", 3, 8), ("a", 2, 7), ("b", 1, 4)], 4, 2) → [0, 2]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def pack_kit(items: list[tuple[str, int, int]], limit: int, pieces: int) -> list[int]: ..."

EN = """
Write a function `pack_kit` that chooses which items go into a kit. An item is a tuple `(kind, weight, worth)`; weight and
worth are integers of at least 0. An item can be taken once or not at all. The kit has these rules:

- The weights of the items taken add up to at most `limit`, and at most `pieces` items are taken.
- At most two items of the same kind are taken.
- An item that is the only one of its kind in the kit counts with its full worth. Of two items of the same kind, the one with
  the greater worth counts in full and the other one with half of its worth, rounded down.

Return the indices of the items taken as a list in ascending order. Among all kits that keep to the rules, choose

1. one with the greatest sum of what the items count;
2. of those, one with the smallest sum of weights;
3. of those, one with the fewest items;
4. of those, the one whose list of indices is smallest, as Python compares lists.

`limit` and `pieces` are at least 0, `limit` at most 200 and `pieces` at most 10. There are at most 60 items; they may be listed
in any order, also with the kinds mixed, and trying all choices would take far too long. `items` may be empty, and must not be
changed.

For example, `pack_kit([("rope", 3, 8), ("rope", 2, 7), ("map", 1, 4)], 4, 2)` is `[0, 2]`: they count 12. Both ropes would be
too heavy, and the second rope with the map counts only 11.
"""

ZH = """
请编写函数 `pack_kit`，选择把哪些物品放进一个包里。一件物品是一个元组 `(kind, weight, worth)`，
分别为种类、重量和价值；重量和价值都是不小于 0 的整数。每件物品要么带一次，要么不带。规则如下：

- 所带物品的重量之和至多为 `limit`，所带物品至多 `pieces` 件。
- 同一种类的物品至多带两件。
- 如果一件物品是包里该种类唯一的一件，它按全部价值计算。如果同一种类有两件，其中价值较大的一件按全部价值计算，
  另一件按其价值的一半计算，向下取整。

以升序列表返回所带物品的下标。在所有符合规则的选法中，按以下规则选择：

1. 选各物品计算所得之和最大的；
2. 若有多种，选重量之和最小的；
3. 若仍有多种，选物品件数最少的；
4. 若仍有多种，选下标列表最小的，按 Python 的列表比较规则。

`limit` 和 `pieces` 都不小于 0，`limit` 至多为 200，`pieces` 至多为 10。物品至多 60 件，可以按任意顺序给出，
不同种类也可能混在一起；尝试所有选法会耗时太久。`items` 可能为空，且不得修改。

例如，`pack_kit([("rope", 3, 8), ("rope", 2, 7), ("map", 1, 4)], 4, 2)` 的结果是 `[0, 2]`：合计 12。
两根绳子一起太重，而第二根绳子加地图合计只有 11。
"""

REFERENCE = """
from itertools import combinations


def pack_kit(items, limit, pieces):
    kinds = {}
    for i, (kind, _, _) in enumerate(items):
        kinds.setdefault(kind, []).append(i)
    best = {(0, 0): (0, [])}
    for of_kind in kinds.values():
        options = [(items[i][1], items[i][2], [i]) for i in of_kind]
        for i, j in combinations(of_kind, 2):
            less, more = sorted((items[i][2], items[j][2]))
            options.append((items[i][1] + items[j][1], more + less // 2, [i, j]))
        extended = dict(best)
        for (weight, count), (lost, taken) in best.items():
            for more_weight, worth, more in options:
                key = (weight + more_weight, count + len(more))
                if key[0] <= limit and key[1] <= pieces:
                    kit = (lost - worth, sorted(taken + more))
                    extended[key] = min(kit, extended.get(key, kit))
        best = extended
    return min((lost, key, taken) for key, (lost, taken) in best.items())[2]
"""

WRONG = {
    "a kind is decided item by item in the given order": """
def pack_kit(items, limit, pieces):
    states = {(0, 0): (0, [], ())}
    for i, (kind, weight, worth) in enumerate(items):
        grown = dict(states)
        for (w, n), (lost, taken, kinds) in states.items():
            if w + weight > limit or n + 1 > pieces or kinds.count(kind) == 2:
                continue
            gain = worth // 2 if kind in kinds else worth
            kit = (lost - gain, [*taken, i], (*kinds, kind))
            key = (w + weight, n + 1)
            if key not in grown or kit[:2] < grown[key][:2]:
                grown[key] = kit
        states = grown
    return min((lost, w, n, taken) for (w, n), (lost, taken, _) in states.items())[3]
""",
    "one of a kind": """
def pack_kit(items, limit, pieces):
    kinds = {}
    for i, item in enumerate(items):
        kinds.setdefault(item[0], []).append(i)
    best = {(0, 0): (0, [])}
    for members in kinds.values():
        grown = dict(best)
        for (w, n), (lost, taken) in best.items():
            for i in members:
                key = (w + items[i][1], n + 1)
                if key[0] <= limit and key[1] <= pieces:
                    kit = (lost - items[i][2], sorted([*taken, i]))
                    grown[key] = min(kit, grown.get(key, kit))
        best = grown
    return min((lost, w, n, taken) for (w, n), (lost, taken) in best.items())[3]
""",
    "the later of two counts half": """
from itertools import combinations


def pack_kit(items, limit, pieces):
    kinds = {}
    for i, item in enumerate(items):
        kinds.setdefault(item[0], []).append(i)
    best = {(0, 0): (0, [])}
    for members in kinds.values():
        options = [(items[i][1], items[i][2], [i]) for i in members]
        options += [(items[i][1] + items[j][1], items[i][2] + items[j][2] // 2, [i, j]) for i, j in combinations(members, 2)]
        grown = dict(best)
        for (w, n), (lost, taken) in best.items():
            for weight, worth, more in options:
                key = (w + weight, n + len(more))
                if key[0] <= limit and key[1] <= pieces:
                    kit = (lost - worth, sorted([*taken, *more]))
                    grown[key] = min(kit, grown.get(key, kit))
        best = grown
    return min((lost, w, n, taken) for (w, n), (lost, taken) in best.items())[3]
""",
    "fewest items before smallest weight": """
from itertools import combinations


def pack_kit(items, limit, pieces):
    kinds = {}
    for i, item in enumerate(items):
        kinds.setdefault(item[0], []).append(i)
    best = {(0, 0): (0, [])}
    for members in kinds.values():
        options = [(items[i][1], items[i][2], [i]) for i in members]
        for i, j in combinations(members, 2):
            low, high = sorted([items[i][2], items[j][2]])
            options.append((items[i][1] + items[j][1], high + low // 2, [i, j]))
        grown = dict(best)
        for (w, n), (lost, taken) in best.items():
            for weight, worth, more in options:
                key = (w + weight, n + len(more))
                if key[0] <= limit and key[1] <= pieces:
                    kit = (lost - worth, sorted([*taken, *more]))
                    grown[key] = min(kit, grown.get(key, kit))
        best = grown
    return min((lost, n, w, taken) for (w, n), (lost, taken) in best.items())[3]
""",
    "the best by worth for its weight": """
def pack_kit(items, limit, pieces):
    order = sorted(range(len(items)), key=lambda i: (-items[i][2] / (items[i][1] or 0.5), i))
    taken, weight, kinds = [], 0, []
    for i in order:
        kind, heavy, worth = items[i]
        gain = worth // 2 if kind in kinds else worth
        if gain and weight + heavy <= limit and len(taken) < pieces and kinds.count(kind) < 2:
            taken.append(i)
            kinds.append(kind)
            weight += heavy
    return sorted(taken)
""",
    "indices in the order in which kinds were seen": """
from itertools import combinations


def pack_kit(items, limit, pieces):
    kinds = {}
    for i, item in enumerate(items):
        kinds.setdefault(item[0], []).append(i)
    best = {(0, 0): (0, [])}
    for members in kinds.values():
        options = [(items[i][1], items[i][2], [i]) for i in members]
        for i, j in combinations(members, 2):
            low, high = sorted([items[i][2], items[j][2]])
            options.append((items[i][1] + items[j][1], high + low // 2, [i, j]))
        grown = dict(best)
        for (w, n), (lost, taken) in best.items():
            for weight, worth, more in options:
                key = (w + weight, n + len(more))
                if key[0] <= limit and key[1] <= pieces:
                    kit = (lost - worth, [*taken, *more])
                    grown[key] = min(kit, grown.get(key, kit))
        best = grown
    return min((lost, w, n, taken) for (w, n), (lost, taken) in best.items())[3]
""",
    "tries all choices": """
from itertools import combinations


def pack_kit(items, limit, pieces):
    best = (0, 0, 0, [])
    for count in range(1, min(pieces, len(items)) + 1):
        for taken in combinations(range(len(items)), count):
            weight = sum(items[i][1] for i in taken)
            if weight > limit:
                continue
            kinds = {}
            for i in taken:
                kinds.setdefault(items[i][0], []).append(items[i][2])
            if any(len(worths) > 2 for worths in kinds.values()):
                continue
            worth = sum(max(worths) + (min(worths) // 2 if len(worths) == 2 else 0) for worths in kinds.values())
            best = min(best, (-worth, weight, count, list(taken)))
    return best[3]
""",
}


def checks() -> tuple[Check, ...]:
    names = ("kettle", "rope", "map", "lamp", "saw", "tin", "cup")
    many = [(names[i * i % 7], i * 31 % 17 + 3, i * i * 7 % 29 + i % 5) for i in range(40)]
    return (
        (call([("rope", 3, 8), ("rope", 2, 7), ("map", 1, 4)], 4, 2),),
        (call([], 10, 3), call([("a", 1, 5)], 0, 3), call([("a", 1, 5)], 5, 0), call([("a", 0, 5)], 0, 1)),
        (call([("a", 1, 0)], 5, 2), call([("a", 0, 0), ("b", 0, 0)], 5, 2), call([("a", 2, 5), ("a", 0, 1)], 5, 2)),
        (call([("a", 2, 5), ("a", 1, 9), ("a", 3, 8)], 9, 3), call([("a", 2, 5), ("a", 1, 9), ("a", 3, 8)], 3, 3)),
        (call([("x", 4, 3), ("x", 4, 10), ("y", 4, 4)], 8, 2), call([("x", 4, 9), ("x", 4, 10), ("y", 4, 4)], 8, 2)),
        (call([("a", 5, 6), ("b", 2, 3), ("c", 2, 3)], 5, 3), call([("a", 4, 6), ("b", 2, 3), ("c", 2, 3)], 5, 3)),
        (call([("a", 2, 4), ("b", 2, 4), ("c", 2, 4), ("d", 2, 4)], 4, 2), call([("a", 2, 4), ("b", 2, 4)], 3, 2)),
        (call([("p", 3, 6), ("q", 3, 6), ("p", 3, 6), ("q", 3, 6)], 9, 3), call([("p", 1, 3), ("p", 1, 3), ("q", 1, 1)], 2, 2)),
        (call([("z", 2, 2), ("y", 3, 7), ("x", 3, 7), ("z", 1, 5), ("y", 3, 3), ("x", 2, 6)], 7, 3),),
        tuple(call([("a", 10, 60), ("b", 20, 100), ("c", 30, 120)], 50, pieces) for pieces in (3, 2, 1)),
        (call([("m", 1, 7), ("n", 1, 3), ("m", 1, 5), ("n", 1, 3), ("m", 1, 7)], 4, 4),),
        (
            call([("a", 3, 5), ("b", 2, 3), ("a", 2, 3), ("b", 3, 5), ("c", 5, 8)], 5, 2),
            call([("b", 0, 4), ("b", 0, 4), ("b", 0, 4)], 0, 3),
        ),
        (call([("a", 1, 2), ("b", 1, 2), ("c", 0, 1), ("d", 2, 4), ("c", 0, 3), ("b", 1, 1)], 3, 4),),
        (call(many[:9], 30, 4), call(many[4:16], 41, 5), call(many[10:30], 60, 6)),
        (call(many, 75, 8), call(many, 40, 10)),
    )


PROBLEM = Problem(
    id="pack_kit",
    category="algorithms",
    level="hard",
    entry="pack_kit",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    keeps_arguments=True,
    equivalent={"line 9, column 21: 0 becomes 1": "every kit counts one less, and they are only compared with each other"},
)
