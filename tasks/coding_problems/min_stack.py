"""A stack that knows its smallest element. Sample: push 3, push 1, get_min → 1, pop → 1, get_min → 3."""

from sandbox.steps import do, each, new, repeat
from tasks.problem import Check, Problem

SIGNATURE = """
class MinStack:
    def __init__(self) -> None: ...
    def push(self, value: int) -> None: ...
    def pop(self) -> int: ...
    def top(self) -> int: ...
    def get_min(self) -> int: ...
    def __len__(self) -> int: ...
"""

EN = """
Write a class `MinStack`, a stack of integers that can also tell its smallest element.

- `push(value)` puts a value on top and returns None.
- `pop()` removes the top value and returns it.
- `top()` returns the top value and leaves it there.
- `get_min()` returns the smallest value that is in the stack now and leaves the stack as it is.
- `len(stack)` is the number of values in it.

`pop`, `top` and `get_min` raise IndexError on an empty stack. Every operation takes O(1) time. The same value may be pushed
several times.
"""

ZH = """
请编写一个类 `MinStack`：一个整数栈，并且能够给出栈中的最小元素。

- `push(value)` 将一个值压入栈顶，返回 None。
- `pop()` 移除栈顶的值并返回它。
- `top()` 返回栈顶的值，但不移除。
- `get_min()` 返回当前栈中的最小值，不改变栈。
- `len(stack)` 是栈中值的个数。

对空栈调用 `pop`、`top` 和 `get_min` 时抛出 IndexError。每个操作的时间复杂度都是 O(1)。同一个值可以被压入多次。
"""

REFERENCE = """
class MinStack:
    def __init__(self):
        self._values = []
        self._least = []

    def push(self, value):
        self._values.append(value)
        self._least.append(value if not self._least else min(value, self._least[-1]))

    def pop(self):
        self._least.pop()
        return self._values.pop()

    def top(self):
        return self._values[-1]

    def get_min(self):
        return self._least[-1]

    def __len__(self):
        return len(self._values)
"""

WRONG = {
    "a second equal minimum is not kept": """
class MinStack:
    def __init__(self):
        self.values, self.least = [], []

    def push(self, value):
        self.values.append(value)
        if not self.least or value < self.least[-1]:
            self.least.append(value)

    def pop(self):
        value = self.values.pop()
        if value == self.least[-1]:
            self.least.pop()
        return value

    def top(self):
        return self.values[-1]

    def get_min(self):
        return self.least[-1]

    def __len__(self):
        return len(self.values)
""",
    "the minimum of all time": """
class MinStack:
    def __init__(self):
        self.values, self.least = [], None

    def push(self, value):
        self.values.append(value)
        if self.least is None or value < self.least:
            self.least = value

    def pop(self):
        return self.values.pop()

    def top(self):
        return self.values[-1]

    def get_min(self):
        if not self.values:
            raise IndexError
        return self.least

    def __len__(self):
        return len(self.values)
""",
    "None instead of an error when it is empty": """
class MinStack:
    def __init__(self):
        self.values = []

    def push(self, value):
        self.values.append(value)

    def pop(self):
        return self.values.pop() if self.values else None

    def top(self):
        return self.values[-1] if self.values else None

    def get_min(self):
        return min(self.values, default=None)

    def __len__(self):
        return len(self.values)
""",
    "get_min looks through the whole stack": """
class MinStack:
    def __init__(self):
        self.values = []

    def push(self, value):
        self.values.append(value)

    def pop(self):
        return self.values.pop()

    def top(self):
        return self.values[-1]

    def get_min(self):
        if not self.values:
            raise IndexError
        return min(self.values)

    def __len__(self):
        return len(self.values)
""",
    "values shared by all stacks": """
class MinStack:
    values = []

    def push(self, value):
        self.values.append(value)

    def pop(self):
        return self.values.pop()

    def top(self):
        return self.values[-1]

    def get_min(self):
        if not self.values:
            raise IndexError
        return min(self.values)

    def __len__(self):
        return len(self.values)
""",
}


def checks() -> tuple[Check, ...]:
    many = [((i * -7919) % 100_003,) for i in range(20_000)]
    return (
        (new(), do("push", 3), do("top"), do("get_min"), do("__len__")),
        (new(), do("push", 3), do("push", 1), do("get_min"), do("pop"), do("get_min"), do("pop"), do("__len__")),
        (new(), do("push", 1), do("push", 1), do("pop"), do("get_min"), do("pop"), do("get_min")),
        (new(), do("pop")),
        (new(), do("top")),
        (new(), do("get_min")),
        (new(), do("__len__")),
        (new(), do("push", 5), do("pop"), do("push", 7), do("get_min"), do("top")),
        (new(), do("push", 0), do("push", -1), do("push", -2), do("pop"), do("get_min"), do("pop"), do("get_min")),
        (new(), do("push", -3), do("push", -3), do("push", -5), do("pop"), do("get_min"), do("pop"), do("get_min"), do("top")),
        (new(), do("push", 10**30), do("push", 10**30 + 1), do("get_min"), do("top"), do("pop"), do("get_min")),
        (new(), do("push", 2), do("pop"), do("pop")),
        (new(), do("push", 3), do("push", 1), do("push", 2), do("get_min"), do("pop"), do("get_min")),
        (new(), each("push", many), repeat("get_min", 200_000), do("pop"), do("__len__")),
    )  # fmt: skip


PROBLEM = Problem(
    id="min_stack",
    category="data structures",
    level="easy",
    entry="MinStack",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
)
