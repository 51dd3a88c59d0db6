"""Disjoint groups with leaders, bans and savepoints. Sample: join(0, 1), save(), join(1, 2), restore(0) → 1, size(1) → 2."""

from sandbox.steps import do, each, new
from tasks.problem import Check, Problem

SIGNATURE = """
class Groups:
    def __init__(self, count: int) -> None: ...
    def join(self, a: int, b: int) -> bool: ...
    def ban(self, a: int, b: int) -> bool: ...
    def relation(self, a: int, b: int) -> str: ...
    def leader(self, a: int) -> int: ...
    def size(self, a: int) -> int: ...
    def largest(self) -> int: ...
    def save(self) -> int: ...
    def restore(self, mark: int) -> int: ...
    def release(self, mark: int) -> None: ...
"""

EN = """
Write a class `Groups` that divides the members 0, 1, …, `count - 1` into groups, and that can go back to earlier states.

At first each member is a group of its own and its own leader, and there are no bans. `count` is at least 0.

- `join(a, b)` makes one group of the group of `a` and the group of `b` and returns True. The leader of the larger of the two
  groups leads the new one; if both are equally large, it is the leader of the group of `a`. If `a` and `b` are in the same
  group already, it changes nothing and returns False. If there is a ban between the two groups, it raises ValueError.
- `ban(a, b)` puts a ban between the group of `a` and the group of `b`: they must not be joined, and no groups that come to
  contain them. (So a group takes its bans with it when it is joined to another.) Returns True; if there is a ban between the
  two groups already, it changes nothing and returns False. If `a` and `b` are in the same group, also if `a == b`, it raises
  ValueError.
- `relation(a, b)` returns `"same"` if both are in the same group, `"banned"` if there is a ban between their groups, and
  otherwise `"free"`.
- `leader(a)` returns the leader of the group of `a`, and `size(a)` the number of its members.
- `largest()` returns the size of the largest group, 0 if there are no members.
- `save()` makes a savepoint of the present state and returns its number. The savepoints are numbered 0, 1, 2, … in the order
  in which they were made; a new one gets as its number how many savepoints there are at that moment.
- `restore(mark)` brings back the groups, leaders and bans as they were when savepoint `mark` was made, and deletes all
  savepoints with a larger number. Savepoint `mark` itself remains and may be restored again. Returns how many changes were
  taken back: calls of `join` and `ban` since then that returned True and had not been taken back yet.
- `release(mark)` deletes savepoint `mark` and all with a larger number. Groups, leaders and bans stay as they are, and the
  changes can still be taken back by restoring an earlier savepoint.

`restore` and `release` raise ValueError if there is no savepoint of this number. A method that gets a member that does not
exist, a negative one for example, raises IndexError; it does so before anything else is looked at. A call that raises changes
nothing.

Example: with `Groups(4)`: `join(1, 0)` is True, now `leader(0)` is 1; `save()` is 0; `join(3, 1)` is True, `leader(3)` is 1;
`ban(0, 2)` is True, `relation(2, 3)` is `"banned"`; `restore(0)` is 2, and `relation(2, 3)` is `"free"`.
"""

ZH = """
请编写一个类 `Groups`，它将成员 0、1、…、`count - 1` 划分为若干组，并且能够回到之前的状态。

最初，每个成员自成一组，自己是组长，并且没有任何禁令。`count` 不小于 0。

- `join(a, b)` 将 `a` 所在的组与 `b` 所在的组合并为一组，并返回 True。两组中较大者的组长成为新组的组长；
  如果两组一样大，则由 `a` 所在组的组长担任。如果 `a` 和 `b` 已在同一组，则不作任何改变并返回 False。
  如果两组之间有禁令，则抛出 ValueError。
- `ban(a, b)` 在 `a` 所在的组与 `b` 所在的组之间设立禁令：这两个组不得合并，以后包含它们的组也不得合并。
  （也就是说，一个组并入另一组时，会带上它的禁令。）返回 True；如果两组之间已经有禁令，则不作任何改变并返回 False。
  如果 `a` 和 `b` 在同一组（包括 `a == b` 的情况），则抛出 ValueError。
- `relation(a, b)`：两者在同一组时返回 `"same"`，两者的组之间有禁令时返回 `"banned"`，否则返回 `"free"`。
- `leader(a)` 返回 `a` 所在组的组长，`size(a)` 返回该组的成员个数。
- `largest()` 返回最大的组的成员个数；没有成员时返回 0。
- `save()` 为当前状态建立一个保存点，并返回它的编号。保存点按建立的先后编号为 0、1、2、…；
  新保存点的编号等于建立它时已有的保存点个数。
- `restore(mark)` 将各组、组长和禁令恢复到建立保存点 `mark` 时的样子，并删除所有编号更大的保存点。
  保存点 `mark` 本身保留，可以再次恢复。返回被撤销的改变的个数，
  即从那时起返回过 True 且尚未被撤销的 `join` 和 `ban` 调用的次数。
- `release(mark)` 删除保存点 `mark` 和所有编号更大的保存点。各组、组长和禁令保持不变，
  这些改变仍然可以通过恢复更早的保存点来撤销。

如果没有这个编号的保存点，`restore` 和 `release` 抛出 ValueError。如果某个方法得到的成员不存在（例如为负数），
则抛出 IndexError，并且这一检查先于其他一切检查。抛出异常的调用不作任何改变。

示例：对于 `Groups(4)`：`join(1, 0)` 为 True，此时 `leader(0)` 为 1；`save()` 为 0；`join(3, 1)` 为 True，
`leader(3)` 为 1；`ban(0, 2)` 为 True，`relation(2, 3)` 为 `"banned"`；`restore(0)` 为 2，此后 `relation(2, 3)` 为 `"free"`。
"""

REFERENCE = """
class Groups:
    def __init__(self, count):
        self._above = list(range(count))
        self._sizes = [1] * count
        self._bans = []
        self._changes = []
        self._marks = []

    def join(self, a, b):
        relation = self.relation(a, b)
        if relation == "banned":
            raise ValueError("there is a ban between the groups")
        if relation == "same":
            return False
        upper, lower = self.leader(a), self.leader(b)
        if self._sizes[upper] < self._sizes[lower]:
            upper, lower = lower, upper
        self._above[lower] = upper
        self._sizes[upper] += self._sizes[lower]
        self._changes.append(lower)
        return True

    def ban(self, a, b):
        relation = self.relation(a, b)
        if relation == "same":
            raise ValueError("both are in the same group")
        if relation == "banned":
            return False
        self._bans.append((a, b))
        self._changes.append(None)
        return True

    def relation(self, a, b):
        pair = {self.leader(a), self.leader(b)}
        if len(pair) == 1:
            return "same"
        return "banned" if any({self.leader(x), self.leader(y)} == pair for x, y in self._bans) else "free"

    def leader(self, a):
        if a < 0:
            raise IndexError("no such member")
        while self._above[a] != a:
            a = self._above[a]
        return a

    def size(self, a):
        return self._sizes[self.leader(a)]

    def largest(self):
        return max(self._sizes, default=0)

    def save(self):
        self._marks.append(len(self._changes))
        return len(self._marks) - 1

    def restore(self, mark):
        self._check(mark)
        del self._marks[mark + 1 :]
        undone = 0
        while len(self._changes) > self._marks[mark]:
            self._undo(self._changes.pop())
            undone += 1
        return undone

    def release(self, mark):
        self._check(mark)
        del self._marks[mark:]

    def _check(self, mark):
        if mark not in range(len(self._marks)):
            raise ValueError("no such savepoint")

    def _undo(self, lower):
        if lower is None:
            self._bans.pop()
            return
        upper = self._above[lower]
        self._sizes[upper] -= self._sizes[lower]
        self._above[lower] = lower
"""

SNAPSHOTS = """
class Groups:
    def __init__(self, count):
        self.lead = list(range(count))
        self.bans = []
        self.done = 0
        self.saved = []

    def join(self, a, b):
        relation = self.relation(a, b)
        if relation == "banned":
            raise ValueError
        if relation == "same":
            return False
        keep, lose = self.lead[a], self.lead[b]
        if self.size(b) > self.size(a):
            keep, lose = lose, keep
        self.lead = [keep if x == lose else x for x in self.lead]
        self.done += 1
        return True

    def ban(self, a, b):
        relation = self.relation(a, b)
        if relation == "same":
            raise ValueError
        if relation == "banned":
            return False
        self.bans.append((a, b))
        self.done += 1
        return True

    def relation(self, a, b):
        x, y = self.leader(a), self.leader(b)
        if x == y:
            return "same"
        for c, d in self.bans:
            if (self.lead[c], self.lead[d]) in ((x, y), (y, x)):
                return "banned"
        return "free"

    def leader(self, a):
        if not 0 <= a < len(self.lead):
            raise IndexError
        return self.lead[a]

    def size(self, a):
        return self.lead.count(self.leader(a))

    def largest(self):
        return max((self.lead.count(x) for x in self.lead), default=0)

    def save(self):
        self.saved.append((list(self.lead), list(self.bans), self.done))
        return len(self.saved) - 1

    def restore(self, mark):
        if not 0 <= mark < len(self.saved):
            raise ValueError
        del self.saved[mark + 1:]
        before = self.done
        lead, bans, self.done = self.saved[mark]
        self.lead, self.bans = list(lead), list(bans)
        return before - self.done

    def release(self, mark):
        if not 0 <= mark < len(self.saved):
            raise ValueError
        del self.saved[mark:]
"""

WRONG = {
    "paths are shortened, which can't be taken back": REFERENCE.replace(
        "            a = self._above[a]\n",
        "            self._above[a] = self._above[self._above[a]]\n            a = self._above[a]\n",
    ),
    "ties go to the leader of b": REFERENCE.replace(
        "self._sizes[upper] < self._sizes[lower]", "self._sizes[upper] <= self._sizes[lower]"
    ),
    "the leader of a always leads": REFERENCE.replace("if self._sizes[upper] < self._sizes[lower]:", "if False:"),
    "a ban is between two members only": REFERENCE.replace(
        "any({self.leader(x), self.leader(y)} == pair for x, y in self._bans)", "(a, b) in self._bans or (b, a) in self._bans"
    ),
    "a ban has a direction": REFERENCE.replace(
        "any({self.leader(x), self.leader(y)} == pair for x, y in self._bans)",
        "any((self.leader(x), self.leader(y)) == (self.leader(a), self.leader(b)) for x, y in self._bans)",
    ),
    "bans are kept by leaders, which change": REFERENCE.replace(
        "any({self.leader(x), self.leader(y)} == pair for x, y in self._bans)", "any({x, y} == pair for x, y in self._bans)"
    ).replace("self._bans.append((a, b))", "self._bans.append((self.leader(a), self.leader(b)))"),
    "restore does not take bans back": SNAPSHOTS.replace(
        "self.lead, self.bans = list(lead), list(bans)", "self.lead = list(lead)"
    ),
    "restore deletes its savepoint": REFERENCE.replace(
        "        return undone", "        del self._marks[mark]\n        return undone"
    ),
    "restore keeps later savepoints": REFERENCE.replace("        del self._marks[mark + 1 :]\n", ""),
    "release makes the changes final": REFERENCE.replace(
        "        del self._marks[mark:]\n", "        del self._marks[mark:]\n        self._changes.clear()\n"
    ),
    "negative numbers count from the end": REFERENCE.replace(
        '        if a < 0:\n            raise IndexError("no such member")\n', ""
    ),
    "a negative savepoint counts from the end": SNAPSHOTS.replace(
        "if not 0 <= mark < len(self.saved)", "if mark >= len(self.saved)"
    ),
    "calls that changed nothing are counted": SNAPSHOTS.replace(
        '        if relation == "same":\n            return False',
        '        if relation == "same":\n            self.done += 1\n            return False',
    ),
    "a snapshot is changed by what follows": SNAPSHOTS.replace(
        "self.lead, self.bans = list(lead), list(bans)", "self.lead, self.bans = lead, bans"
    ),
    "ban allows the same group": REFERENCE.replace(
        '            raise ValueError("both are in the same group")', "            return False"
    ),
    "largest() keeps its record when joins are taken back": REFERENCE.replace(
        "        return max(self._sizes, default=0)",
        "        self._record = max([getattr(self, '_record', 0), *self._sizes])\n        return self._record",
    ),
}


def checks() -> tuple[Check, ...]:
    def seen(count: int) -> Check:
        members = [(i,) for i in range(count)]
        pairs = [(i, j) for i in range(count) for j in range(i, count)]
        return (each("leader", members), each("size", members), each("relation", pairs), do("largest"))

    def bad(*args: int) -> Check:
        return tuple(do(name, *args) for name in ("join", "ban", "relation"))

    pairs = [(i * 17 % 40, i * i * 7 % 40) for i in range(60)]
    trio = (new(6), do("join", 0, 1), do("join", 2, 3), do("join", 1, 4))
    return (
        (new(4), do("join", 1, 0), do("leader", 0), do("save"), do("join", 3, 1), do("leader", 3), do("ban", 0, 2),
         do("relation", 2, 3),
         do("restore", 0), do("relation", 2, 3), *seen(4)),
        (new(0), do("largest"), do("leader", 0), do("save"), do("restore", 0), do("size", -1)),
        (new(1), *seen(1), do("join", 0, 0), do("ban", 0, 0), do("save"), do("restore", 0)),
        (new(3), *bad(0, 3), *bad(3, 0), *bad(-1, 0), *bad(0, -1), do("leader", -1), do("leader", 3), do("size", -3),
         do("size", 3), *seen(3)),
        (new(3), do("join", -1, -1), do("ban", -1, 2), do("ban", 5, 5)),
        (*trio, *seen(6), do("join", 3, 4), *seen(6), do("join", 5, 2), do("leader", 5), do("size", 5)),
        (*trio, do("join", 4, 0), do("join", 3, 2), do("join", 5, 5), do("save"), do("join", 0, 4), do("join", 5, 3),
         do("restore", 0), *seen(6)),
        (*trio, do("ban", 4, 3), do("ban", 2, 0), do("ban", 3, 1), do("join", 2, 1), do("join", 1, 2), *seen(6),
         do("join", 5, 3),
         *seen(6), do("join", 5, 0), do("ban", 5, 4), do("join", 2, 5)),
        (new(6), do("ban", 0, 1), do("ban", 2, 3), do("join", 0, 2), *seen(6), do("join", 1, 3), *seen(6), do("join", 1, 2),
         do("ban", 3, 0)),
        (new(5), do("ban", 0, 1), do("join", 2, 1), do("join", 3, 2), do("relation", 0, 3), do("join", 4, 0),
         do("relation", 3, 4), do("join", 3, 4),
         *seen(5)),
        (*trio, do("ban", 0, 4), do("ban", 3, 2), do("ban", 5, 5), do("join", 0, 5), *seen(6)),
        (new(5), do("restore", 0), do("release", 0), do("restore", -1), do("save"), do("restore", 1), do("release", 1),
         do("release", -1),
         do("restore", -1), do("join", 0, 1), do("restore", 0), *seen(5)),
        (new(6), do("save"), do("join", 0, 1), do("save"), do("join", 1, 2), do("ban", 2, 3), do("save"), do("join", 4, 5),
         do("restore", 1), *seen(6),
         do("restore", 2), do("restore", 1), do("join", 3, 4), do("restore", 1), do("save"), do("restore", 0), *seen(6),
         do("restore", 0)),
        (new(6), do("save"), do("join", 0, 1), do("save"), do("ban", 1, 2), do("save"), do("release", 1), do("restore", 1),
         do("restore", 2),
         do("join", 3, 4), do("save"), do("restore", 1), *seen(6), do("restore", 0), *seen(6)),
        (new(6), do("save"), do("save"), do("join", 5, 4), do("release", 0), do("restore", 0), do("save"), do("join", 4, 3),
         do("restore", 0), *seen(6)),
        (new(5), do("join", 0, 1), do("save"), do("join", 0, 2), do("largest"), do("join", 3, 4), do("join", 3, 0),
         do("largest"),
         do("restore", 0), do("largest"), *seen(5)),
        (new(8), do("join", 0, 1), do("join", 2, 3), do("save"), do("join", 0, 2), do("join", 4, 5), do("save"),
         do("join", 4, 3), each("leader", [(1,), (3,), (5,)]),
         do("restore", 1), each("leader", [(1,), (3,), (5,)]), do("restore", 0), *seen(8), do("join", 3, 1), do("leader", 0)),
        (new(4), do("save"), do("ban", 0, 1), do("restore", 0), do("ban", 2, 3), do("restore", 0), *seen(4)),
        (new(4), do("save"), do("ban", 0, 1), do("join", 1, 0), do("join", 1, 2), do("join", 0, 2), do("ban", 2, 1),
         do("ban", 0, 2), do("restore", 0),
         do("join", 0, 1), *seen(4)),
        (new(40), each("join", pairs[:15]), do("save"), each("ban", [(0, 21), (3, 30), (12, 39), (33, 2)]),
         each("join", pairs[15:24]), do("save"),
         each("join", [(1, 31), (37, 8), (29, 38)]), do("largest"), each("size", [(i,) for i in range(40)]), do("restore", 1),
         *seen(12), do("restore", 0),
         *seen(12), each("join", pairs[30:]), each("leader", [(i,) for i in range(40)])),
    )  # fmt: skip


PROBLEM = Problem(
    id="undo_groups",
    category="data structures",
    level="hard",
    entry="Groups",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
