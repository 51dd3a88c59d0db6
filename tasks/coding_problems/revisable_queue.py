"""A priority queue whose entries can be revised. Sample: put a 1, put b 2, shift −5, put c −3 → pop gives b (−3) before c."""

from sandbox.steps import do, each, new, repeat
from tasks.problem import Check, Problem

SIGNATURE = """
class RevisableQueue:
    def __init__(self) -> None: ...
    def put(self, key: str, priority: int) -> bool: ...
    def remove(self, key: str) -> int: ...
    def priority(self, key: str) -> int | None: ...
    def shift(self, amount: int) -> None: ...
    def first(self) -> str: ...
    def pop(self) -> list: ...
    def __len__(self) -> int: ...
"""

EN = """
Write a class `RevisableQueue`, a priority queue of keys. A key is in it at most once. The key with the LARGEST priority is
the first; of keys with equal priority, the one that took its place earlier is first. A priority is any integer.

- `put(key, priority)`: a key that is not in the queue is added and takes its place now, behind all other keys of equal
  priority. For a key that is in the queue with another priority, the priority is replaced, and it takes its place anew, in
  the same way. A key that is in the queue with exactly this priority keeps its place. Returns True if the key was not in the
  queue before, otherwise False.
- `remove(key)` takes the key out and returns its priority. It raises KeyError if the key is not in the queue.
- `priority(key)` returns the key's present priority, or None if the key is not in the queue.
- `shift(amount)` adds `amount`, which may be negative, to the priority of every key that is in the queue now. The keys keep
  their places among each other. Keys that are put in later are not affected.
- `first()` returns the first key and leaves it there. It raises IndexError if the queue is empty.
- `pop()` takes the first key out and returns the list `[key, priority]`. It raises IndexError if the queue is empty.
- `len(queue)` is the number of keys in it.

A key that is put in after it was taken out is a new one: it takes its place anew.

With 10,000 keys in the queue, 60,000 calls of `shift`, 90,000 calls of `first` and then 10,000 calls of `pop` must together
take well under a second: `shift` takes O(1) time, the other operations O(log n), on average.

Example: after `put("a", 1)`, `put("b", 2)`, `shift(-5)`, `put("c", -3)`, the keys are popped in the order b, c, a:
`["b", -3]`, `["c", -3]`, `["a", -4]`.
"""

ZH = """
请编写一个类 `RevisableQueue`，它是由键组成的优先队列。每个键最多在队列中出现一次。优先级**最大**的键排在最前；
优先级相等的键中，较早就位的排在前面。优先级可以是任意整数。

- `put(key, priority)`：如果键不在队列中，则加入它，并且它现在就位，排在所有优先级相等的其他键之后。
  如果键已在队列中但优先级不同，则替换其优先级，并以同样的方式重新就位。
  如果键已在队列中且优先级恰好相同，则保持原位。如果键此前不在队列中则返回 True，否则返回 False。
- `remove(key)` 取出该键并返回它的优先级。如果键不在队列中，则抛出 KeyError。
- `priority(key)` 返回该键当前的优先级；如果键不在队列中，则返回 None。
- `shift(amount)` 将 `amount`（可以为负数）加到当前在队列中的每个键的优先级上。
  这些键之间的先后次序不变。之后放入的键不受影响。
- `first()` 返回排在最前的键但不取出。队列为空时抛出 IndexError。
- `pop()` 取出排在最前的键，并返回列表 `[key, priority]`。队列为空时抛出 IndexError。
- `len(queue)` 是队列中键的个数。

键被取出之后再次放入时，视为新的键，重新就位。

队列中有 10,000 个键时，60,000 次 `shift`、90,000 次 `first`，再加上随后的 10,000 次 `pop`，总耗时必须远小于一秒：
平均而言，`shift` 的时间复杂度为 O（1），其他操作为 O（log n）。

示例：依次执行 `put("a", 1)`、`put("b", 2)`、`shift(-5)`、`put("c", -3)` 之后，键依 b、c、a 的顺序被 `pop` 取出：
`["b", -3]`、`["c", -3]`、`["a", -4]`。
"""

REFERENCE = """
import heapq
from itertools import count


class RevisableQueue:
    def __init__(self):
        self._heap = []
        self._entries = {}
        self._turn = count()
        self._shifted = 0

    def put(self, key, priority):
        is_new = key not in self._entries
        if self.priority(key) != priority:
            entry = (self._shifted - priority, next(self._turn), key)
            self._entries[key] = entry
            heapq.heappush(self._heap, entry)
        return is_new

    def remove(self, key):
        return self._shifted - self._entries.pop(key)[0]

    def priority(self, key):
        return self._shifted - self._entries[key][0] if key in self._entries else None

    def shift(self, amount):
        self._shifted += amount

    def first(self):
        heap, entries = self._heap, self._entries
        while entries.get(heap[0][2]) is not heap[0]:
            heapq.heappop(heap)
        return heap[0][2]

    def pop(self):
        key = self.first()
        return [key, self.remove(key)]

    def __len__(self):
        return len(self._entries)
"""

NAIVE = """
class RevisableQueue:
    def __init__(self):
        self.entries = {}

    def put(self, key, priority):
        new = key not in self.entries
        if not new and self.entries[key] != priority:
            del self.entries[key]
        self.entries[key] = priority
        return new

    def remove(self, key):
        return self.entries.pop(key)

    def priority(self, key):
        return self.entries.get(key)

    def shift(self, amount):
        for key in self.entries:
            self.entries[key] += amount

    def first(self):
        if not self.entries:
            raise IndexError
        return max(self.entries, key=self.entries.get)

    def pop(self):
        key = self.first()
        return [key, self.entries.pop(key)]

    def __len__(self):
        return len(self.entries)
"""

WRONG = {
    "every operation looks at every key": NAIVE,
    "first looks at every key": """
class RevisableQueue:
    def __init__(self):
        self.entries = {}
        self.shifted = 0

    def put(self, key, priority):
        new = key not in self.entries
        if not new and self.entries[key] + self.shifted != priority:
            del self.entries[key]
        self.entries[key] = priority - self.shifted
        return new

    def remove(self, key):
        return self.entries.pop(key) + self.shifted

    def priority(self, key):
        return self.entries[key] + self.shifted if key in self.entries else None

    def shift(self, amount):
        self.shifted += amount

    def first(self):
        if not self.entries:
            raise IndexError
        return max(self.entries, key=self.entries.get)

    def pop(self):
        key = self.first()
        return [key, self.remove(key)]

    def __len__(self):
        return len(self.entries)
""",
    "shift looks at every key": REFERENCE.replace(
        "        self._shifted += amount\n",
        "        self._entries = {k: (p - amount, turn, k) for k, (p, turn, _) in self._entries.items()}\n"
        "        self._heap = sorted(self._entries.values())\n",
    ),
    "the smallest priority is first": REFERENCE.replace("(self._shifted - priority, ", "(priority - self._shifted, ")
    .replace("self._shifted - self._entries.pop(key)[0]", "self._shifted + self._entries.pop(key)[0]")
    .replace("self._shifted - self._entries[key][0]", "self._shifted + self._entries[key][0]"),
    "an equal priority loses the place": REFERENCE.replace("if self.priority(key) != priority:", "if True:"),
    "a revised key keeps its turn": REFERENCE.replace(
        "next(self._turn), key)", "self._entries.get(key, (0, next(self._turn)))[1], key)"
    ),
    "ties by key": REFERENCE.replace("next(self._turn), key)", "key, key)"),
    "a shift moves later keys too": REFERENCE.replace("entry = (self._shifted - priority, ", "entry = (-priority, "),
    "priority(key) forgets the shifts": REFERENCE.replace(
        "return self._shifted - self._entries[key][0] if", "return -self._entries[key][0] if"
    ),
    "pop returns a tuple": REFERENCE.replace("return [key, self.remove(key)]", "return key, self.remove(key)"),
    "put returns whether the priority changed": REFERENCE.replace(
        "is_new = key not in self._entries", "is_new = self.priority(key) != priority"
    ),
    "a removed key comes back with its old entry": REFERENCE.replace(
        "while entries.get(heap[0][2]) is not heap[0]:", "while heap[0][2] not in entries:"
    ),
    "None where the queue is empty": REFERENCE.replace(
        "        while", "        if not self._entries:\n            return None\n        while"
    ),
}


def checks() -> tuple[Check, ...]:
    keys = [(f"k{i * 7919 % 10_007}", i * 4_999 % 1_009 - 500) for i in range(10_000)]
    fewer = [(f"k{i * 31 % 53}", i * 17 % 7 - 3) for i in range(150)]
    abc = (new(), do("put", "a", 1), do("put", "b", 2), do("put", "c", 2))
    return (
        (new(), do("put", "a", 1), do("put", "b", 2), do("shift", -5), do("put", "c", -3), do("pop"), do("pop"), do("pop"),
         do("__len__")),
        (new(), do("first")),
        (new(), do("pop")),
        (new(), do("remove", "a"), do("priority", "a"), do("__len__"), do("shift", 3), do("put", "a", 3), do("priority", "a"),
         do("pop")),
        (*abc, do("__len__"), do("first"), do("__len__"), do("pop"), do("first"), do("pop"), do("pop"), do("pop"),
         do("__len__")),
        (*abc, do("put", "b", 2), do("first"), do("put", "b", 3), do("put", "b", 2), do("first"), do("pop"), do("pop"),
         do("pop")),
        (*abc, do("put", "a", 2), do("put", "a", 2), do("pop"), do("pop"), do("pop")),
        (*abc, do("put", "c", 3), do("first"), do("put", "c", 0), do("first"), do("__len__"), do("pop"), do("pop"), do("pop"),
         do("__len__")),
        (*abc, do("remove", "b"), do("priority", "b"), do("first"), do("put", "b", 2), do("pop"), do("pop"), do("pop")),
        (*abc, do("remove", "c"), do("put", "c", 5), do("remove", "c"), do("put", "c", 2), do("first"), do("pop"),
         do("priority", "c"), do("pop")),
        (*abc, do("pop"), do("put", "b", 1), do("pop"), do("pop"), do("pop"), do("put", "b", 1), do("__len__")),
        (*abc, do("shift", 10), do("priority", "a"), do("priority", "b"), do("put", "d", 12), do("put", "e", 13), do("pop"),
         do("pop"), do("pop"),
         do("pop"), do("remove", "a")),
        (*abc, do("shift", 4), do("put", "b", 6), do("put", "c", 2), do("first"), do("shift", -4), do("priority", "b"),
         do("put", "c", -2),
         do("put", "a", 2), do("pop"), do("pop"), do("pop")),
        (new(), do("put", "z", 0), do("put", "y", 0), do("put", "x", 0), do("put", "", -1), do("put", "é", -1),
         *[do("pop")] * 6),
        (new(), do("put", "a", 5), do("put", "a", 5), do("put", "a", 4), do("remove", "a"), do("__len__"), do("first")),
        (new(), do("put", "a", 10**18), do("shift", 10**18), do("put", "b", 2 * 10**18 + 1), do("pop"), do("pop")),
        (new(), each("put", fewer[:80]), do("shift", 2), each("put", fewer[80:]), do("__len__"), *[do("pop")] * 53, do("pop")),
        (new(), each("put", keys), do("__len__"), repeat("shift", 60_000, 3), do("put", "late", 179_990),
         repeat("first", 90_000),
         repeat("pop", 1_000), repeat("pop", 9_000), do("pop"), do("__len__")),
    )  # fmt: skip


PROBLEM = Problem(
    id="revisable_queue",
    category="data structures",
    level="medium",
    entry="RevisableQueue",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
    equivalent={"line 11, column 24: 0 becomes 1": "only the difference to later values counts"},
)
