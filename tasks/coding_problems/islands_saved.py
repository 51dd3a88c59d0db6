"""Islands joined by bridges, with saves to go back to. Sample: save "a", join 0 and 1, restore "a" → 1 bridge undone."""

from sandbox.steps import do, each, new, repeat
from tasks.problem import Check, Problem

SIGNATURE = """
class Islands:
    def __init__(self, count: int) -> None: ...
    def join(self, a: int, b: int) -> bool: ...
    def same(self, a: int, b: int) -> bool: ...
    def size(self, a: int) -> int: ...
    def least(self, a: int) -> int: ...
    def groups(self) -> int: ...
    def save(self, name: str) -> None: ...
    def restore(self, name: str) -> int: ...
"""

EN = """
Write a class `Islands`. `Islands(count)` has the islands 0 to `count - 1` (`count` is at least 0), at first without any bridge.
Islands that are connected by bridges, directly or over other islands, form a group; an island without a bridge is a group of
its own.

- `join(a, b)` connects the islands `a` and `b`. It returns True if they were in different groups before, and else False; then
  nothing changes.
- `same(a, b)` tells whether `a` and `b` are in the same group; an island is in the same group as itself.
- `size(a)` is the number of islands in the group of `a`.
- `least(a)` is the smallest number of an island in the group of `a`.
- `groups()` is the number of groups.
- `save(name)` keeps the present state under a name and returns None. A name may be saved again: both saves are kept then.
- `restore(name)` goes back to the state of the latest save of that name that is still kept, and returns how many `join` calls
  that had returned True are undone by this. All saves made after that one are dropped, whatever their names; the save itself is
  still kept, so it can be restored again. If no save of that name is kept, it raises KeyError and changes nothing.

A number that is not one of an island, negative ones included, raises IndexError in `join`, `same`, `size` and `least`, and
changes nothing.

With 30,000 islands and tens of thousands of calls, all must take well under a second together: `join`, `same`, `size` and
`least` take at most O(log count) time, `groups` and `save` O(1), and `restore` as much as there is to undo and to drop.
"""

ZH = """
请编写一个类 `Islands`。`Islands(count)` 有编号 0 到 `count - 1` 的岛（`count` 不小于 0），起初没有任何桥。
由桥直接或经过其他岛相连的岛组成一个群；没有桥的岛自成一群。

- `join(a, b)` 连接岛 `a` 和 `b`。如果它们之前在不同的群中，返回 True；否则返回 False，此时什么都不改变。
- `same(a, b)` 给出 `a` 与 `b` 是否在同一个群中；一个岛与它自己在同一个群中。
- `size(a)` 是 `a` 所在群中岛的个数。
- `least(a)` 是 `a` 所在群中最小的岛的编号。
- `groups()` 是群的个数。
- `save(name)` 以一个名称保存当前状态，返回 None。同一个名称可以再次保存：这时两次保存都保留。
- `restore(name)` 回到该名称仍保留着的最近一次保存的状态，并返回因此撤销了多少次曾返回 True 的 `join` 调用。
  在那次保存之后所做的所有保存都被丢弃，无论名称是什么；那次保存本身仍然保留，因此可以再次恢复到它。
  如果没有保留着该名称的保存，则抛出 KeyError，并且什么都不改变。

在 `join`、`same`、`size` 和 `least` 中，不是岛的编号的数（包括负数）会引发 IndexError，并且什么都不改变。

对于 30,000 个岛和数万次调用，总耗时必须远小于一秒：`join`、`same`、`size` 和 `least` 的时间至多为
O(log count)，`groups` 和 `save` 为 O(1)，`restore` 的时间与所要撤销和丢弃的数量相当。
"""

REFERENCE = """
from collections import Counter


class Islands:
    def __init__(self, count):
        self._above = list(range(count))
        self._size = [1] * count
        self._least = list(range(count))
        self._joins = []
        self._saves = []
        self._kept = Counter()

    def _top(self, island):
        if island < 0:
            raise IndexError(island)
        while self._above[island] != island:
            island = self._above[island]
        return island

    def join(self, a, b):
        top, other = self._top(a), self._top(b)
        if top == other:
            return False
        if self._size[top] < self._size[other]:
            top, other = other, top
        self._joins.append((top, other, self._least[top]))
        self._above[other] = top
        self._size[top] += self._size[other]
        self._least[top] = min(self._least[top], self._least[other])
        return True

    def same(self, a, b):
        return self._top(a) == self._top(b)

    def size(self, a):
        return self._size[self._top(a)]

    def least(self, a):
        return self._least[self._top(a)]

    def groups(self):
        return len(self._above) - len(self._joins)

    def save(self, name):
        self._saves.append((name, len(self._joins)))
        self._kept[name] += 1

    def restore(self, name):
        if not self._kept[name]:
            raise KeyError(name)
        while self._saves[-1][0] != name:
            dropped, _ = self._saves.pop()
            self._kept[dropped] -= 1
        undone = len(self._joins) - self._saves[-1][1]
        for _ in range(undone):
            top, other, least = self._joins.pop()
            self._above[other] = other
            self._size[top] -= self._size[other]
            self._least[top] = least
        return undone
"""

_STACK = """
class Islands:
    def __init__(self, count):
        self.parent = list(range(count))
        self.sizes = [1] * count
        self.lows = list(range(count))
        self.history = []
        self.saves = []

    def find(self, a):
        if a < 0 or a >= len(self.parent):
            raise IndexError("no such island")
        while self.parent[a] != a:
            a = self.parent[a]
        return a

    def join(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.sizes[a] < self.sizes[b]:
            a, b = b, a
        self.history.append((a, b, self.lows[a]))
        self.parent[b] = a
        self.sizes[a] += self.sizes[b]
        self.lows[a] = min(self.lows[a], self.lows[b])
        return True

    def same(self, a, b):
        return self.find(a) == self.find(b)

    def size(self, a):
        return self.sizes[self.find(a)]

    def least(self, a):
        return self.lows[self.find(a)]

    def groups(self):
        return len(self.parent) - len(self.history)

    def save(self, name):
        self.saves.append((name, len(self.history)))

    def restore(self, name):
        place = len(self.saves) - 1
        while place >= 0 and self.saves[place][0] != name:
            place -= 1
        if place < 0:
            raise KeyError(name)
        del self.saves[place + 1:]
        undone = len(self.history) - self.saves[place][1]
        for _ in range(undone):
            a, b, low = self.history.pop()
            self.parent[b] = b
            self.sizes[a] -= self.sizes[b]
            self.lows[a] = low
        return undone
"""


def _other(*changes: tuple[str, str]) -> str:
    program = _STACK
    for before, after in changes:
        assert program.count(before) == 1
        program = program.replace(before, after)
    return program


WRONG = {
    "paths are shortened, which no restore undoes": _other(
        ("            a = self.parent[a]\n", "            self.parent[a] = a = self.parent[self.parent[a]]\n"),
    ),
    "the smallest island is not restored": _other(("            self.lows[a] = low\n", "")),
    "the sizes are not restored": _other(("            self.sizes[a] -= self.sizes[b]\n", "")),
    "a save is gone once it is restored": _other(
        ("del self.saves[place + 1:]", "saved = self.saves[place][1]\n        del self.saves[place:]"),
        ("self.saves[place][1]\n        for", "saved\n        for"),
    ),
    "later saves of other names stay": _other(("        del self.saves[place + 1:]\n", "")),
    "the first save of a name": _other(
        ("place = len(self.saves) - 1", "place = 0 if self.saves else -1"),
        ("while place >= 0 and self", "while 0 <= place < len(self.saves) and self"),
        ("            place -= 1\n", "            place += 1\n"),
        ("if place < 0:", "if not 0 <= place < len(self.saves):"),
    ),
    "joins without effect count as undone": _other(
        ("        if a == b:\n", "        if a == b:\n            self.history.append((a, a, None))\n"),
        ("len(self.parent) - len(self.history)", "sum(self.parent[i] == i for i in range(len(self.parent)))"),
        ("self.parent[b] = b\n", "if a == b:\n                continue\n            self.parent[b] = b\n"),
    ),
    "negative numbers count from the end": _other(("a < 0 or ", "")),
    "all joins are done again at a restore": '''
class Islands:
    def __init__(self, count):
        self.count = count
        self.joined = []
        self.saves = []
        self.build()

    def build(self):
        self.parent = list(range(self.count))
        self.sizes = [1] * self.count
        self.lows = list(range(self.count))
        for a, b in self.joined:
            self.link(self.find(a), self.find(b))

    def find(self, a):
        if not 0 <= a < self.count:
            raise IndexError("no such island")
        while self.parent[a] != a:
            self.parent[a] = self.parent[self.parent[a]]
            a = self.parent[a]
        return a

    def link(self, a, b):
        if self.sizes[a] < self.sizes[b]:
            a, b = b, a
        self.parent[b] = a
        self.sizes[a] += self.sizes[b]
        self.lows[a] = min(self.lows[a], self.lows[b])

    def join(self, a, b):
        top, other = self.find(a), self.find(b)
        if top == other:
            return False
        self.link(top, other)
        self.joined.append((a, b))
        return True

    def same(self, a, b):
        return self.find(a) == self.find(b)

    def size(self, a):
        return self.sizes[self.find(a)]

    def least(self, a):
        return self.lows[self.find(a)]

    def groups(self):
        return self.count - len(self.joined)

    def save(self, name):
        self.saves.append((name, len(self.joined)))

    def restore(self, name):
        if name not in {n for n, _ in self.saves}:
            raise KeyError(name)
        while self.saves[-1][0] != name:
            self.saves.pop()
        undone = len(self.joined) - self.saves[-1][1]
        del self.joined[self.saves[-1][1]:]
        self.build()
        return undone
''',
}  # fmt: skip


def _script(count: int, text: str) -> Check:
    """A step a line: a method with its arguments, or `all` and a method of one island, which is asked about each."""
    steps = [new(count)]
    for line in text.strip().splitlines():
        for told in line.split(";"):
            name, *words = told.split()
            if name == "all":
                steps.append(each(words[0], [(i,) for i in range(count)]))
            else:
                steps.append(do(name, *(int(word) if word.strip("-").isdigit() else word for word in words)))
    return tuple(steps)


def checks() -> tuple[Check, ...]:
    length = 2_000  # so that a search without balance is slow and still passes: only what replays or copies must not
    up = [(i, i + 1) for i in range(length)]
    down = [(i - 1, i) for i in range(29_999, 29_999 - length, -1)]
    return (
        _script(3, "save a; join 0 1; groups; restore a; same 0 1; groups"),
        _script(4, "join 2 3; join 3 2; join 1 1; same 0 0; same 2 3; same 1 2; all size; all least; groups"),
        _script(0, "groups; size 0; save x; restore x; least 0; join 0 0"),
        _script(2, "join -1 0; join 0 2; same 1 -1; size -2; least 2; least -1; same 2 2; join 2 2; groups; same 0 1"),
        _script(3, "join 0 5; join 5 0; groups; join 0 3; size 3; same 0 3; join 2 0; least 2; size 2; join 2 -1; groups"),
        _script(
            2,
            """
            restore a; save a; restore b; join 0 1; restore b; groups
            restore a; restore a; groups
            """,
        ),
        _script(
            7,
            """
            join 5 6; join 4 6; least 5; save s; join 1 5; least 4; least 1; all size
            restore s; all least; all size; join 0 1; least 1; groups
            """,
        ),
        _script(
            6,
            """
            save a; join 0 1; save b; join 1 2; save a; join 3 4; restore a; groups
            restore b; groups; restore a; groups; restore b; groups
            """,
        ),
        _script(
            6,
            """
            save a; join 0 1; save a; join 1 2; restore a; join 4 5; restore a; same 0 1; groups; restore a
            """,
        ),
        _script(5, "save s; join 0 1; join 1 0; join 0 0; join 2 1; join 0 2; restore s; groups; join 1 0; restore s"),
        _script(
            8,
            """
            join 0 1; join 2 3; join 4 5; join 6 7; save m; join 1 2; join 5 6; join 3 7; size 7; least 6
            same 0 7; same 1 5; same 7 0; restore m; same 0 7; same 1 2; same 6 7; same 4 5; all size; groups
            """,
        ),
        _script(
            7,
            """
            save x; save y; join 6 0; save x; restore y; save z; join 1 2; restore x
            restore z; restore y; groups; save x; restore x
            """,
        ),
        _script(
            7,
            """
            join 3 4; join 4 5; save q; join 2 6; join 6 3; join 0 2; all least; all size
            restore q; all least; join 6 5; join 1 0; all least; restore q; all size; all least
            """,
        ),
        (
            *(new(30_000), each("join", up), each("join", down), do("save", "base"), do("size", 5), do("least", 29_999)),
            *(repeat("save", 10_000, "x"), do("join", 0, 29_999), repeat("same", 500, 0, 29_999), do("size", 0)),
            *(do("restore", "x"), repeat("restore", 10_000, "x"), do("least", 29_999), do("groups")),
            *(do("restore", "base"), do("restore", "x"), do("groups")),
        ),
    )


_BALANCE = "which of two groups is put below the other is seen by the speed alone"

PROBLEM = Problem(
    id="islands_saved",
    category="algorithms",
    level="hard",
    entry="Islands",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
    equivalent={
        "line 25, column 11: Lt becomes LtE": _BALANCE,
        "line 25, column 8: the condition is negated": _BALANCE,
        "line 25, column 11: Lt becomes GtE": _BALANCE,
        "line 26, column 12: the statement is left out": _BALANCE,
    },
)
