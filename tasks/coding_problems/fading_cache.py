"""A cache that removes the least used key, and whose counts fade. Sample: capacity 1, put a, get a, put b → a is removed."""

from sandbox.steps import do, each, new
from tasks.problem import Check, Problem

SIGNATURE = """
class FadingCache:
    def __init__(self, capacity: int, period: int) -> None: ...
    def get(self, key: str) -> int | None: ...
    def put(self, key: str, value: int) -> str | None: ...
    def pin(self, key: str) -> bool: ...
    def unpin(self, key: str) -> bool: ...
    def uses(self, key: str) -> int | None: ...
    def order(self) -> list[str]: ...
    def __len__(self) -> int: ...
"""

EN = """
Write a class `FadingCache`, a cache of at most `capacity` keys with a value each. When there is no room, it removes the key
that was used least; but old uses fade.

For each key in the cache, the cache knows its use count, when it was last written, and whether it is pinned.

- `FadingCache(capacity, period)` starts empty. It raises ValueError if `capacity` is negative or `period` less than 1.
- `get(key)`: if the key is in the cache, its use count grows by 1, and its value is returned; otherwise returns None.
- `put(key, value)` writes a key. If the key is in the cache, its value is replaced and its use count grows by 1; returns
  None. Otherwise, if the cache is full, first one key is removed to make room; then the key is stored with use count 1, not
  pinned. Returns the key that was removed, or None if none was. If the cache is full and no key may be removed, the new key
  is not stored, nothing is removed, and `put` returns the new key itself; with a capacity of 0 this is always so.
- Only keys that are not pinned may be removed. Of them, the one with the smallest use count is removed; of several with the
  same count, the one whose last write (by `put`) was longest ago. When a key was last read does not matter.
- `pin(key)` makes a key pinned. Returns True if the key is in the cache and was not pinned, otherwise False.
- `unpin(key)` makes it not pinned any more. Returns True if the key is in the cache and was pinned, otherwise False.
- Fading: an access is a `get` that finds its key, or any `put`, also one that stores nothing. After every `period`-th access
  of the cache, when all that the access does is done, the use counts of all keys that are not pinned are halved, rounding
  down; they may become 0. This includes the key just read or written. The counts of pinned keys do not fade.
- `uses(key)` returns the present use count, or None if the key is not in the cache. `order()` returns the list of all keys
  that are not pinned, in the order in which they would be removed if nothing but removals happened. `len(cache)` is the
  number of keys in the cache, the pinned ones included. None of these three is an access, nor are `pin` and `unpin`.

Example: `FadingCache(2, 5)`; `put("a", 1)`, `put("b", 2)`, `put("a", 3)` all return None; `get("b")` is 2: both keys have use
count 2 now, and `order()` is `["b", "a"]`, for b was written before a. `put("c", 4)` returns `"b"`; as this is the fifth
access, `uses("a")` is 1 and `uses("c")` is 0 after it.
"""

ZH = """
请编写一个类 `FadingCache`，它是一个缓存，最多保存 `capacity` 个键，每个键有一个值。放不下时，它移除使用最少的键；
但较早的使用次数会逐渐衰减。

对缓存中的每个键，缓存都记录它的使用次数、最近一次写入的时间，以及它是否被固定。

- `FadingCache(capacity, period)` 创建时为空。`capacity` 为负数或 `period` 小于 1 时抛出 ValueError。
- `get(key)`：如果键在缓存中，则它的使用次数加 1，并返回它的值；否则返回 None。
- `put(key, value)` 写入一个键。如果键已在缓存中，则替换其值，使用次数加 1，并返回 None。
  否则，如果缓存已满，则先移除一个键以腾出位置；然后存入该键，使用次数为 1，未被固定。返回被移除的键；
  如果没有移除任何键，则返回 None。如果缓存已满而没有可以移除的键，则不存入新键，也不移除任何键，
  `put` 返回新键本身；容量为 0 时总是如此。
- 只有未被固定的键可以被移除。其中使用次数最小的键被移除；如果有几个键使用次数相同，
  则移除其中最近一次写入（通过 `put`）距今最久的那个。键最近何时被读取无关紧要。
- `pin(key)` 固定一个键。如果键在缓存中且此前未被固定则返回 True，否则返回 False。
- `unpin(key)` 取消固定。如果键在缓存中且此前被固定则返回 True，否则返回 False。
- 衰减：找到键的 `get`，以及任何 `put`（包括什么也没有存入的），都算一次访问。缓存每经过 `period` 次访问，
  在最后那次访问的所有操作完成之后，所有未被固定的键的使用次数减半，向下取整；可能变为 0。
  这也包括刚刚读取或写入的键。被固定的键的使用次数不衰减。
- `uses(key)` 返回当前的使用次数；如果键不在缓存中，则返回 None。`order()` 返回所有未被固定的键的列表，
  按照假如只发生移除时它们被移除的先后顺序排列。`len(cache)` 是缓存中键的个数，包括被固定的键。
  这三个操作以及 `pin` 和 `unpin` 都不算访问。

示例：`FadingCache(2, 5)`；`put("a", 1)`、`put("b", 2)`、`put("a", 3)` 都返回 None；`get("b")` 为 2：
此时两个键的使用次数都是 2，`order()` 为 `["b", "a"]`，因为 b 的写入早于 a。`put("c", 4)` 返回 `"b"`；
由于这是第五次访问，此后 `uses("a")` 为 1，`uses("c")` 为 0。
"""

REFERENCE = """
class _Entry:
    def __init__(self):
        self.uses = 0
        self.pinned = False


class FadingCache:
    def __init__(self, capacity, period):
        if capacity < 0 or period < 1:
            raise ValueError("capacity or period is too small")
        self._capacity = capacity
        self._period = period
        self._until_fading = period
        self._entries = {}  # in the order of their last writes

    def get(self, key):
        if key not in self._entries:
            return None
        entry = self._entries[key]
        entry.uses += 1
        self._accessed()
        return entry.value

    def put(self, key, value):
        removed = self._make_room(key)
        if removed != key:
            entry = self._entries.pop(key, None) or _Entry()
            entry.uses += 1
            entry.value = value
            self._entries[key] = entry
        self._accessed()
        return removed

    def pin(self, key):
        return self._set_pinned(key, True)

    def unpin(self, key):
        return self._set_pinned(key, False)

    def uses(self, key):
        return self._entries[key].uses if key in self._entries else None

    def order(self):
        loose = [key for key, entry in self._entries.items() if not entry.pinned]
        return sorted(loose, key=self.uses)

    def __len__(self):
        return len(self._entries)

    def _make_room(self, key):
        if key in self._entries or len(self) < self._capacity:
            return None
        for removed in self.order():
            del self._entries[removed]
            return removed
        return key

    def _set_pinned(self, key, pinned):
        if key not in self._entries or self._entries[key].pinned == pinned:
            return False
        self._entries[key].pinned = pinned
        return True

    def _accessed(self):
        self._until_fading -= 1
        if self._until_fading == 0:
            self._until_fading = self._period
            for key in self.order():
                self._entries[key].uses //= 2
"""

SECOND = """
class FadingCache:
    def __init__(self, capacity, period):
        if capacity < 0:
            raise ValueError("capacity")
        if period <= 0:
            raise ValueError("period")
        self.capacity, self.period = capacity, period
        self.values, self.count, self.written = {}, {}, {}
        self.pinned = set()
        self.left = period
        self.now = 0

    def get(self, key):
        if key not in self.values:
            return None
        self.count[key] += 1
        value = self.values[key]
        self.tick()
        return value

    def put(self, key, value):
        out = None
        if key in self.values:
            self.values[key] = value
            self.count[key] += 1
            self.written[key] = self.now
        elif len(self.values) < self.capacity:
            self.store(key, value)
        else:
            loose = [k for k in self.values if k not in self.pinned]
            if loose:
                out = min(loose, key=lambda k: (self.count[k], self.written[k]))
                del self.values[out], self.count[out], self.written[out]
                self.store(key, value)
            else:
                out = key
        self.tick()
        return out

    def store(self, key, value):
        self.values[key], self.count[key], self.written[key] = value, 1, self.now

    def tick(self):
        self.now += 1
        self.left -= 1
        if self.left == 0:
            self.left = self.period
            for key in self.count:
                if key not in self.pinned:
                    self.count[key] //= 2

    def pin(self, key):
        if key not in self.values or key in self.pinned:
            return False
        self.pinned.add(key)
        return True

    def unpin(self, key):
        if key not in self.pinned:
            return False
        self.pinned.remove(key)
        return True

    def uses(self, key):
        return self.count.get(key)

    def order(self):
        return sorted((k for k in self.values if k not in self.pinned), key=lambda k: (self.count[k], self.written[k]))

    def __len__(self):
        return len(self.values)
"""

WRONG = {
    "ties by the last use": SECOND.replace(
        "        value = self.values[key]\n", "        value = self.values[key]\n        self.written[key] = self.now\n"
    ),
    "ties by the first write": SECOND.replace("            self.written[key] = self.now\n        elif", "        elif"),
    "least recently written, whatever the counts": SECOND.replace("(self.count[k], self.written[k])", "self.written[k]"),
    "a get that misses is an access": SECOND.replace(
        "        if key not in self.values:\n            return None",
        "        if key not in self.values:\n            self.tick()\n            return None",
    ),
    "a put that stores nothing is no access": SECOND.replace("                out = key\n", "                return key\n"),
    "the counts fade before the access": SECOND.replace(
        "        self.count[key] += 1\n        value = self.values[key]\n        self.tick()\n",
        "        self.tick()\n        self.count[key] += 1\n        value = self.values[key]\n",
    ),
    "pinned counts fade too": SECOND.replace(
        "                if key not in self.pinned:\n                    self.count[key] //= 2",
        "                self.count[key] //= 2",
    ),
    "counts stay at least 1": SECOND.replace("self.count[key] //= 2", "self.count[key] = max(1, self.count[key] // 2)"),
    "counts round up": SECOND.replace("self.count[key] //= 2", "self.count[key] = (self.count[key] + 1) // 2"),
    "counts become floats": SECOND.replace("self.count[key] //= 2", "self.count[key] /= 2"),
    "the new key may be the one that is removed": SECOND.replace(
        "out = min(loose, ", "self.count[key], self.written[key] = 1, self.now\n                out = min([*loose, key], "
    ).replace(
        "del self.values[out], self.count[out], self.written[out]\n                self.store(key, value)",
        "self.store(key, value)\n                del self.values[out], self.count[out], self.written[out]",
    ),
    "pinned keys take no room": SECOND.replace(
        "elif len(self.values) < self.capacity", "elif len(self.values) - len(self.pinned) < self.capacity"
    ),
    "an error where all are pinned": SECOND.replace("            if loose:\n", "            if True:\n"),
    "order lists pinned keys": SECOND.replace("sorted((k for k in self.values if k not in self.pinned)", "sorted(self.values"),
    "pin takes keys that are not there": SECOND.replace(
        "if key not in self.values or key in self.pinned", "if key in self.pinned"
    ),
    "a write does not count as a use": SECOND.replace(
        "            self.values[key] = value\n            self.count[key] += 1\n", "            self.values[key] = value\n"
    ),
}


def checks() -> tuple[Check, ...]:
    seen = (do("order"), *(do("uses", key) for key in "abcd"), do("__len__"))
    abc = (do("put", "a", 1), do("put", "b", 2), do("put", "c", 3))
    reads = [(f"k{i * i % 13}",) for i in range(60)]
    writes = [(f"k{i * 7 % 17}", i) for i in range(90)]
    return (
        (new(2, 5), do("put", "a", 1), do("put", "b", 2), do("put", "a", 3), do("get", "b"), do("order"), do("put", "c", 4),
         *seen),
        (new(-1, 3),),
        (new(3, 0),),
        (new(3, -2),),
        (new(0, 1), do("put", "a", 1), do("get", "a"), do("pin", "a"), *seen),
        (new(3, 100), *seen, do("get", "a"), do("pin", "a"), do("unpin", "a"), *abc, do("get", "a"), do("get", "x"), *seen),
        (new(3, 100), *abc, do("get", "a"), do("get", "c"), do("put", "d", 4), *seen, do("get", "b"), do("put", "b", 5), *seen,
         do("get", "b")),
        (new(3, 100), *abc, do("get", "a"), do("get", "b"), do("get", "c"), do("get", "a"), do("get", "b"), do("get", "c"),
         do("put", "a", 9),
         do("get", "b"), do("get", "c"), do("order"), do("put", "d", 0), *seen, do("get", "a")),
        (new(3, 100), *abc, do("put", "a", 0), do("put", "b", 0), do("put", "c", 0), do("put", "b", 7), do("get", "a"),
         do("get", "c"), do("order"),
         do("put", "d", 1), do("put", "e", 1), do("put", "a", 1), *seen),
        (new(3, 4), *abc, do("get", "a"), *seen, do("get", "x"), do("get", "x"), do("get", "b"), do("get", "b"),
         do("get", "b"), *seen,
         do("put", "d", 4), *seen),
        (new(3, 1), *abc, *seen, do("get", "b"), do("put", "b", 3), *seen, do("put", "d", 1), *seen),
        (new(3, 2), *abc, do("get", "c"), *seen, do("get", "c"), do("get", "c"), do("get", "c"), do("put", "c", -1), *seen,
         do("get", "c")),
        (new(2, 100), do("put", "a", 1), do("pin", "a"), do("pin", "a"), do("put", "b", 2), do("get", "b"), do("put", "c", 3),
         *seen, do("pin", "b"),
         do("unpin", "b"), do("unpin", "a"), do("unpin", "a"), do("put", "d", 4), *seen),
        (new(2, 4), do("put", "a", 1), do("put", "b", 2), do("pin", "a"), do("pin", "b"), do("put", "c", 3), *seen,
         do("put", "c", 3), *seen,
         do("put", "a", 5), do("get", "a"), do("unpin", "b"), do("put", "c", 3), *seen, do("get", "c"), *seen),
        (new(2, 3), do("put", "a", 1), do("pin", "a"), do("get", "a"), do("get", "a"), *seen, do("put", "b", 0),
         do("unpin", "a"), do("get", "b"),
         do("get", "a"), *seen, do("pin", "b"), do("put", "c", 0), do("put", "d", 0), *seen),
        (new(1, 100), do("put", "a", 0), do("get", "a"), do("get", "a"), do("put", "b", -1), *seen, do("put", "b", -2),
         do("get", "b"), do("put", "", 3),
         do("order"), do("get", "")),
        (new(3, 7), *abc, do("pin", "b"), do("put", "d", 4), do("put", "a", 5), do("put", "c", 6), do("order"), do("get", "b"),
         *seen, do("unpin", "b"),
         do("order"), do("put", "x", 1), do("put", "y", 1), do("order"), do("pin", "zz"), do("put", "zz", 1), do("order")),
        (new(5, 6), each("put", writes[:30]), do("order"), each("get", reads[:20]), do("order"), do("pin", "k3"),
         do("pin", "k12"), each("put", writes[30:50]),
         do("order"), each("uses", reads[:15]), each("get", reads), do("order"), each("put", writes[50:]), do("order"),
         each("uses", reads[:15]), do("__len__")),
        (new(9, 11), each("put", writes[:40]), each("get", reads), do("order"), do("pin", "k4"), do("pin", "k9"),
         do("pin", "k1"), each("put", writes),
         do("order"), each("get", reads), each("uses", reads[:15]), do("order")),
    )  # fmt: skip


PROBLEM = Problem(
    id="fading_cache",
    category="data structures",
    level="hard",
    entry="FadingCache",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
