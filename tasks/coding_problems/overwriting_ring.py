"""A ring of the latest values that loses the oldest. Sample: capacity 2, push 1, 2, 3 → 1 is lost, values → [2, 3]."""

from sandbox.steps import do, each, new
from tasks.problem import Check, Problem

SIGNATURE = """
class Ring:
    def __init__(self, capacity: int) -> None: ...
    def push(self, value: int) -> int | None: ...
    def take(self) -> int: ...
    def back(self, steps: int) -> int: ...
    def resize(self, capacity: int) -> list[int]: ...
    def values(self) -> list[int]: ...
    def lost(self) -> int: ...
    def __len__(self) -> int: ...
"""

EN = """
Write a class `Ring` that keeps the latest integers pushed into it, at most `capacity` of them, and loses the oldest one when
there is no room for another.

- `Ring(capacity)` starts empty. A capacity of 0 is allowed; a negative one raises ValueError.
- `push(value)` adds a value, which is the newest then. If the ring was full, the oldest value is lost: it is removed, and
  `push` returns it; otherwise `push` returns None. With a capacity of 0 nothing can be kept: the pushed value itself is lost
  and returned.
- `take()` removes the oldest value and returns it. It raises IndexError if the ring is empty.
- `back(steps)` returns a value and leaves it there: `back(0)` is the newest, `back(1)` the one pushed before it, and so on.
  It raises IndexError if there is no such value, and also if `steps` is negative.
- `resize(capacity)` changes the capacity. If more values are in the ring than the new capacity allows, the oldest of them are
  lost. Returns the list of the values that this call lost, oldest first (`[]` if none). A negative capacity raises ValueError
  and changes nothing.
- `values()` returns a new list of the values, oldest first.
- `lost()` returns how many values have been lost so far, by `push` and by `resize`. Values removed by `take` are not lost.
- `len(ring)` is the number of values in it.

Example: after `Ring(2)`, `push(1)`, `push(2)`, the call `push(3)` returns 1; then `values()` is `[2, 3]` and `lost()` is 1.
"""

ZH = """
请编写一个类 `Ring`，它保存最近放入的整数，最多保存 `capacity` 个；放不下新的值时，丢失最旧的值。

- `Ring(capacity)` 创建时为空。容量可以为 0；容量为负数时抛出 ValueError。
- `push(value)` 加入一个值，它成为最新的值。如果加入前环已满，则丢失最旧的值：将其移除，并由 `push` 返回；
  否则 `push` 返回 None。容量为 0 时什么也保存不了：被放入的值本身丢失，并被返回。
- `take()` 移除最旧的值并返回它。环为空时抛出 IndexError。
- `back(steps)` 返回一个值但不移除：`back(0)` 是最新的值，`back(1)` 是在它之前放入的值，依此类推。
  如果没有这样的值，则抛出 IndexError；`steps` 为负数时同样抛出 IndexError。
- `resize(capacity)` 改变容量。如果环中的值多于新容量，则丢失其中最旧的若干个。
  返回本次调用所丢失的值的列表，从最旧的开始（没有则返回 `[]`）。容量为负数时抛出 ValueError，且不作任何改变。
- `values()` 返回由环中的值组成的新列表，从最旧的开始。
- `lost()` 返回到目前为止因 `push` 和 `resize` 而丢失的值的总个数。被 `take` 移除的值不算丢失。
- `len(ring)` 是环中值的个数。

示例：依次执行 `Ring(2)`、`push(1)`、`push(2)` 之后，调用 `push(3)` 返回 1；此时 `values()` 为 `[2, 3]`，
`lost()` 为 1。
"""

REFERENCE = """
from collections import deque


class Ring:
    def __init__(self, capacity):
        self._values = deque()
        self._lost = 0
        self.resize(capacity)

    def push(self, value):
        self._values.append(value)
        over = self._shrink()
        return over[0] if over else None

    def take(self):
        return self._values.popleft()

    def back(self, steps):
        if steps < 0:
            raise IndexError("negative steps")
        return self._values[-1 - steps]

    def resize(self, capacity):
        if capacity < 0:
            raise ValueError("negative capacity")
        self._capacity = capacity
        return self._shrink()

    def values(self):
        return list(self._values)

    def lost(self):
        return self._lost

    def __len__(self):
        return len(self._values)

    def _shrink(self):
        over = []
        while len(self._values) > self._capacity:
            over.append(self._values.popleft())
        self._lost += len(over)
        return over
"""

WRONG = {
    "0 is not kept apart from None": REFERENCE.replace("over[0] if over else None", "(over and over[0]) or None"),
    "places wrap around at both ends": '''
class Ring:
    def __init__(self, capacity):
        if capacity < 0:
            raise ValueError
        self.capacity, self.items, self.gone = capacity, [], 0

    def push(self, value):
        self.items.append(value)
        if len(self.items) > self.capacity:
            self.gone += 1
            return self.items.pop(0)
        return None

    def take(self):
        return self.items.pop(0)

    def back(self, steps):
        return self.items[len(self.items) - 1 - steps]

    def resize(self, capacity):
        if capacity < 0:
            raise ValueError
        self.capacity = capacity
        cut = max(0, len(self.items) - capacity)
        over, self.items = self.items[:cut], self.items[cut:]
        self.gone += len(over)
        return over

    def values(self):
        return list(self.items)

    def lost(self):
        return self.gone

    def __len__(self):
        return len(self.items)
''',
    "resize keeps the oldest": '''
class Ring:
    def __init__(self, capacity):
        if capacity < 0:
            raise ValueError
        self.capacity, self.items, self.gone = capacity, [], 0

    def push(self, value):
        self.items.append(value)
        if len(self.items) > self.capacity:
            self.gone += 1
            return self.items.pop(0)
        return None

    def take(self):
        return self.items.pop(0)

    def back(self, steps):
        if not 0 <= steps < len(self.items):
            raise IndexError
        return self.items[-1 - steps]

    def resize(self, capacity):
        if capacity < 0:
            raise ValueError
        self.capacity = capacity
        over, self.items = self.items[capacity:], self.items[:capacity]
        self.gone += len(over)
        return over

    def values(self):
        return list(self.items)

    def lost(self):
        return self.gone

    def __len__(self):
        return len(self.items)
''',
    "a ring of capacity 0 keeps a value": REFERENCE.replace(
        "len(self._values) > self._capacity", "len(self._values) > max(1, self._capacity)"
    ),
    "what resize loses is not counted": '''
from collections import deque


class Ring:
    def __init__(self, capacity):
        self.items = deque(maxlen=capacity)
        self.gone = 0

    def push(self, value):
        if not self.items.maxlen:
            self.gone += 1
            return value
        oldest = None
        if len(self.items) == self.items.maxlen:
            oldest = self.items[0]
            self.gone += 1
        self.items.append(value)
        return oldest

    def take(self):
        return self.items.popleft()

    def back(self, steps):
        if steps < 0:
            raise IndexError
        return self.items[-1 - steps]

    def resize(self, capacity):
        if capacity < 0:
            raise ValueError
        over = list(self.items)[: max(0, len(self.items) - capacity)]
        self.items = deque(self.items, maxlen=capacity)
        return over

    def values(self):
        return list(self.items)

    def lost(self):
        return self.gone

    def __len__(self):
        return len(self.items)
''',
    "values taken count as lost": REFERENCE.replace(
        "        return self._values.popleft()", "        self._lost += 1\n        return self._values.popleft()"
    ),
    "values() is the ring's own list": '''
class Ring:
    def __init__(self, capacity):
        if capacity < 0:
            raise ValueError
        self.capacity, self.items, self.gone = capacity, [], 0

    def push(self, value):
        self.items.insert(0, value)
        if len(self.items) > self.capacity:
            self.gone += 1
            return self.items.pop()
        return None

    def take(self):
        return self.items.pop()

    def back(self, steps):
        if steps < 0:
            raise IndexError
        return self.items[steps]

    def resize(self, capacity):
        if capacity < 0:
            raise ValueError
        self.capacity = capacity
        over = self.items[capacity:][::-1]
        del self.items[capacity:]
        self.gone += len(over)
        return over

    def values(self):
        self.items.reverse()
        return self.items

    def lost(self):
        return self.gone

    def __len__(self):
        return len(self.items)
''',
}  # fmt: skip


def checks() -> tuple[Check, ...]:
    seen = (do("values"), do("lost"), do("__len__"))
    return (
        (new(2), do("push", 1), do("push", 2), do("push", 3), *seen),
        (new(3), *seen),
        (new(3), do("take")),
        (new(3), do("back", 0)),
        (new(0), do("push", 5), do("push", 0), *seen, do("take")),
        (new(-1),),
        (new(2), do("push", 0), do("push", -4), do("push", 7), do("push", 8), do("push", 9), *seen),
        (new(4), each("push", [(i * i,) for i in range(6)]), each("back", [(0,), (1,), (2,), (3,)]), do("back", 4)),
        (new(4), each("push", [(i,) for i in range(6)]), do("back", -1), do("back", -4), *seen),
        (new(3), do("push", 1), do("push", 2), do("take"), do("back", 0), do("back", 1), *seen, do("take"), do("take")),
        (new(3), each("push", [(1,), (2,), (3,)]), do("take"), do("push", 4), do("push", 5), *seen),
        (new(5), each("push", [(i,) for i in range(1, 6)]), do("resize", 2), *seen, do("push", 6), do("push", 7), *seen),
        (new(2), each("push", [(1,), (2,)]), do("resize", 4), *seen, each("push", [(3,), (4,), (5,)]), *seen),
        (new(4), do("push", 1), do("push", 2), do("resize", 2), *seen, do("resize", 0), *seen, do("push", 3), do("lost")),
        (new(2), each("push", [(1,), (2,)]), do("resize", -1), *seen, do("push", 3), *seen),
        (new(1), each("push", [(7,), (7,), (7,)]), *seen, do("take"), do("push", 7), *seen),
        (new(3), each("push", [(1,), (2,), (3,)]), do("values"), do("values"), do("take"), do("back", 0), do("values")),
        (new(7), each("push", [(i * 37 % 101,) for i in range(300)]), do("resize", 5), each("push", [(-1,), (-2,)]), *seen),
    )  # fmt: skip


PROBLEM = Problem(
    id="overwriting_ring",
    category="data structures",
    level="easy",
    entry="Ring",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
