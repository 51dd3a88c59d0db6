"""An LRU cache whose entries expire. Sample: capacity 2; put a, b, get a, put c → b is evicted, a and c remain."""

from sandbox.steps import cell, do, new, put, scripted
from tasks.problem import Check, Problem

SIGNATURE = """
from collections.abc import Callable

class ExpiringCache:
    def __init__(self, capacity: int, ttl: int, now: Callable[[], int], on_evict: Callable[[str, object], object]) -> None: ...
    def put(self, key: str, value: object, ttl: int | None = None) -> None: ...
    def get(self, key: str, default: object = None) -> object: ...
    def touch(self, key: str) -> bool: ...
    def resize(self, capacity: int) -> None: ...
    def keys(self) -> list[str]: ...
    def stats(self) -> dict[str, int]: ...
    def __len__(self) -> int: ...
"""

EN = """
Write a class `ExpiringCache`: a cache with limited room, which throws out the least recently used entry when it is full, and
whose entries expire.

`now` is a function without arguments that returns the current time in whole seconds, which never goes back; use it instead of
the real clock. An entry whose life (re)starts at time `s` with the time to live `d` is alive while `now() < s + d`. As soon
as `now() >= s + d` it has expired: for every method it is as if it had been removed at that moment.

- `put(key, value, ttl=None)` stores a value under a key, as the most recently used entry, whose life starts now. Its time to
  live is `ttl`, or the `ttl` of the constructor where it is None. If a living entry has this key, the new one replaces its
  value, its life and its time to live. If there is no living entry with this key and the cache already holds `capacity`
  living entries, the least recently used of them is evicted.
- `get(key, default=None)` returns the value of the living entry with this key, which becomes the most recently used; its life
  is not prolonged. Without such an entry it returns `default`. Values may be None or anything else.
- `touch(key)` restarts the life of the living entry with this key, with the entry's own time to live, makes it the most
  recently used and returns True. Without such an entry it returns False.
- `resize(capacity)` sets a new capacity. While more entries are alive than that, the least recently used one is evicted.
- `keys()` returns the list of the keys of all living entries, from the least to the most recently used, without using them.
- `stats()` returns `{"hits": …, "misses": …, "evicted": …}`: how many calls of `get` found a living entry, how many did not,
  and how many entries were evicted, since the construction. `touch` counts neither as a hit nor as a miss.
- `len(cache)` is the number of living entries.

For every evicted entry, and for no other, `on_evict(key, value)` is called once, with two positional arguments, in the order
of the evictions. Entries that have expired or were replaced are not evicted, and an expired entry never causes a living one
to be evicted.

The constructor raises ValueError if `capacity` or `ttl` is less than 1, `put` if its `ttl` is an integer less than 1, and
`resize` if `capacity` is less than 1. A `put` or `resize` that raises changes nothing.
"""

ZH = """
请编写一个类 `ExpiringCache`：一个容量有限的缓存，装满时移出最久未使用的条目，并且其中的条目会过期。

`now` 是一个无参数的函数，返回以整秒表示的当前时间，时间不会倒退；请用它代替真实的时钟。一个条目的寿命若在时刻 `s` 以生
存时间 `d`（重新）开始，那么只要 `now() < s + d` 它就是存活的。一旦 `now() >= s + d` 它就过期了：对所有方法而言，就好像
它在那一刻已被删除。

- `put(key, value, ttl=None)` 以某个键存入一个值，作为最近使用的条目，其寿命从现在开始。它的生存时间为 `ttl`；若 `ttl`
  为 None，则为构造函数的 `ttl`。如果已有该键的存活条目，则替换它的值、寿命和生存时间。如果没有该键的存活条目，并且缓存
  中已有 `capacity` 个存活条目，则逐出其中最久未使用的条目。
- `get(key, default=None)` 返回该键的存活条目的值，该条目成为最近使用的条目，但其寿命不会延长。没有这样的条目时返回
  `default`。值可以是 None 或其他任何东西。
- `touch(key)` 以条目自己的生存时间重新开始该键的存活条目的寿命，使它成为最近使用的条目，并返回 True。没有这样的条目时返
  回 False。
- `resize(capacity)` 设置新的容量。只要存活条目多于新的容量，就逐出最久未使用的条目。
- `keys()` 返回所有存活条目的键的列表，从最久未使用的到最近使用的；这不算作使用。
- `stats()` 返回 `{"hits": …, "misses": …, "evicted": …}`：自构造以来，有多少次 `get` 调用找到了存活条目，有多少次没有找
  到，以及有多少个条目被逐出。`touch` 既不算命中，也不算未命中。
- `len(cache)` 是存活条目的个数。

每逐出一个条目，就调用一次 `on_evict(key, value)`，使用两个位置参数，按逐出的先后顺序；对其他条目不调用。过期的或被替换
的条目不算被逐出，过期的条目绝不会导致存活的条目被逐出。

如果 `capacity` 或 `ttl` 小于 1，构造函数抛出 ValueError；如果 `put` 的 `ttl` 是小于 1 的整数，`put` 抛出 ValueError；如
果 `capacity` 小于 1，`resize` 抛出 ValueError。抛出异常的 `put` 或 `resize` 不改变任何状态。
"""

REFERENCE = '''
from collections import OrderedDict


class ExpiringCache:
    def __init__(self, capacity, ttl, now, on_evict):
        if capacity < 1 or ttl < 1:
            raise ValueError("capacity and ttl must be at least 1")
        self._capacity = capacity
        self._ttl = ttl
        self._now = now
        self._on_evict = on_evict
        self._entries = OrderedDict()
        self._stats = {"hits": 0, "misses": 0, "evicted": 0}

    def _living(self):
        """The entries, the least recently used first, as key -> (value, time to live, end), without those that have expired."""
        moment = self._now()
        for key in [key for key, (_, _, end) in self._entries.items() if moment >= end]:
            del self._entries[key]
        return self._entries

    def _shrink(self):
        while len(self._entries) > self._capacity:
            key, (value, _, _) = self._entries.popitem(last=False)
            self._stats["evicted"] += 1
            self._on_evict(key, value)

    def put(self, key, value, ttl=None):
        if ttl is None:
            ttl = self._ttl
        if ttl < 1:
            raise ValueError("ttl must be at least 1")
        living = self._living()
        living[key] = value, ttl, self._now() + ttl
        living.move_to_end(key)
        self._shrink()

    def get(self, key, default=None):
        living = self._living()
        if key not in living:
            self._stats["misses"] += 1
            return default
        self._stats["hits"] += 1
        living.move_to_end(key)
        return living[key][0]

    def touch(self, key):
        living = self._living()
        if key not in living:
            return False
        value, ttl, _ = living[key]
        self.put(key, value, ttl)
        return True

    def resize(self, capacity):
        if capacity < 1:
            raise ValueError("capacity must be at least 1")
        self._capacity = capacity
        self._living()
        self._shrink()

    def keys(self):
        return list(self._living())

    def stats(self):
        return dict(self._stats)

    def __len__(self):
        return len(self._living())
'''

WRONG = {
    "an entry lives one second too long": REFERENCE.replace("moment >= end", "moment > end"),
    "get is no use": REFERENCE.replace(
        '        self._stats["hits"] += 1\n        living.move_to_end(key)', '        self._stats["hits"] += 1'
    ),
    "get prolongs the life": REFERENCE.replace(
        "        return living[key][0]",
        "        value, ttl, _ = living[key]\n        living[key] = value, ttl, self._now() + ttl\n        return value",
    ),
    "replacing is no use": REFERENCE.replace(
        "        living.move_to_end(key)\n        self._shrink()", "        self._shrink()"
    ),
    "a replaced entry keeps its own time to live": REFERENCE.replace(
        "            ttl = self._ttl\n", "            ttl = self._living()[key][1] if key in self._living() else self._ttl\n"
    ),
    "touch takes the default time to live": REFERENCE.replace("self.put(key, value, ttl)", "self.put(key, value)"),
    "touch is no use": REFERENCE.replace("self.put(key, value, ttl)", "living[key] = value, ttl, self._now() + ttl"),
    "touch counts as a hit or miss": REFERENCE.replace(
        "            return False", '            self._stats["misses"] += 1\n            return False'
    ),
    "expired entries take up room": REFERENCE.replace(
        "        living = self._living()\n        living[key]", "        living = self._entries\n        living[key]"
    ),
    "resize evicts expired entries": REFERENCE.replace(
        "        self._living()\n        self._shrink()", "        self._shrink()"
    ),
    "resize waits for the next put": REFERENCE.replace(
        "        self._living()\n        self._shrink()", "        self._living()"
    ),
    "a put into a full cache evicts even if it replaces": REFERENCE.replace(
        "        living[key] = value, ttl, self._now() + ttl\n",
        """        if len(living) == self._capacity:
            first, (old, _, _) = living.popitem(last=False)
            self._stats["evicted"] += 1
            self._on_evict(first, old)
        living[key] = value, ttl, self._now() + ttl
""",
    ),
    "on_evict for replaced entries": REFERENCE.replace(
        "        living[key] = value, ttl, self._now() + ttl\n",
        """        if key in living:
            self._on_evict(key, living[key][0])
        living[key] = value, ttl, self._now() + ttl
""",
    ),
    "None is taken for missing": REFERENCE.replace(
        "        if key not in living:\n            self._stats",
        "        if key not in living or living[key][0] is None:\n            self._stats",
    ),
    "a time to live of 0 means the default": REFERENCE.replace("if ttl is None:", "if not ttl:"),
}


def checks() -> tuple[Check, ...]:
    now, evicted = cell("now"), scripted("evicted")

    def start(capacity: int, ttl: int, at: int = 0) -> Check:
        return (put("now", at), new(capacity, ttl, now, evicted))

    keys, stats, size = do("keys"), do("stats"), do("__len__")
    a, b, c, d = (do("put", key, i) for i, key in enumerate("abcd", 1))
    get_a, get_b, get_c = (do("get", key) for key in "abc")
    touch_a = do("touch", "a")
    at = [put("now", t) for t in range(60)]
    names = [f"k{i * 7 % 11}" for i in range(120)]
    life = [
        step
        for i, name in enumerate(names)
        for step in (
            put("now", i // 2),
            do("put", name, i, i % 9 + 1)
            if i % 3 == 0
            else do("touch", names[i - 5])
            if i % 7 == 0
            else do("get", names[i - 1]),
            *((do("resize", i % 4 + 2),) if i % 20 == 19 else ()),
        )
    ]
    return (
        (*start(2, 10), a, b, get_a, c, keys, get_b, get_a, get_c, size, stats),
        (*start(2, 10), keys, size, stats, get_a, touch_a, do("get", "a", 7), do("get", "a", default="x"), stats),
        (*start(1, 1), a, get_a, b, get_a, get_b, at[1], get_b, size, keys, stats),
        (*start(3, 10, 100), a, put("now", 109), get_a, size, put("now", 110), get_a, size, keys, stats),
        (*start(3, 10), a, b, c, a, keys, d, keys, stats),
        (*start(3, 10), a, b, c, touch_a, keys, d, keys, stats),
        (*start(3, 10), a, b, c, get_a, do("get", "x"), keys, d, keys, stats),
        (*start(3, 10), a, at[5], get_a, at[9], get_a, at[10], get_a, keys, stats),
        (*start(3, 10), a, at[5], touch_a, at[14], get_a, touch_a, at[23], size, at[24], size, touch_a, get_a, stats),
        (*start(3, 10), do("put", "a", 1, 3), at[2], touch_a, at[4], touch_a, at[6], keys, at[7], keys, touch_a),
        (*start(3, 10), do("put", "a", 1, 30), at[15], keys, touch_a, at[44], keys, at[45], keys),
        (*start(3, 10), do("put", "a", 1, 3), do("put", "a", 2), at[9], get_a, at[10], get_a),
        (*start(3, 10), a, do("put", "a", 2, ttl=3), at[2], get_a, at[3], get_a, stats),
        (*start(3, 10), a, at[8], do("put", "a", 5), at[17], get_a, at[18], get_a),
        (
            *start(2, 10),
            do("put", "a", 1, 20),
            do("put", "b", 2, 5),
            at[5],
            c,
            keys,
            stats,
            get_a,
            do("put", "b", 4),
            keys,
            stats,
        ),
        (*start(2, 10), do("put", "b", 2, 5), do("put", "a", 1, 20), at[6], do("put", "b", 3), keys, size, stats),
        (*start(2, 10), do("put", "b", 1, 20), do("put", "a", 2, 5), at[5], do("put", "a", 3), keys, get_b, c, keys, stats),
        (*start(2, 10), a, b, do("put", "a", 9), size, keys, get_a, c, get_a, get_b, stats),
        (*start(2, 10), a, b, do("put", "b", 9), keys, stats, c, keys, stats),
        (*start(4, 10), a, b, c, d, get_a, do("resize", 2), keys, size, stats, b, keys, do("resize", 3), d, c, keys, stats),
        (
            *start(4, 10),
            do("put", "a", 1, 20),
            do("put", "b", 2, 3),
            do("put", "c", 3, 20),
            d,
            at[4],
            do("resize", 3),
            keys,
            stats,
        ),
        (*start(4, 10), do("put", "a", 1, 3), b, c, d, at[3], do("resize", 2), keys, stats, do("resize", 1), keys, stats),
        (*start(1, 5), a, do("resize", 3), b, c, keys, at[5], size, do("resize", 1), stats, d, keys),
        (
            *start(2, 10),
            do("put", "a", None),
            get_a,
            do("get", "a", 5),
            do("put", "b", False),
            do("get", "b", 5),
            stats,
            c,
            d,
            stats,
        ),
        (*start(2, 10), do("put", "", [1, {"x": None}]), do("get", ""), do("put", "A", 0), get_a, c, d, stats),
        (*start(2, 10), a, b, do("put", "c", 3, 0), keys, do("put", "a", 9, -1), get_a, keys, stats),
        (*start(2, 10), a, b, do("resize", 0), do("resize", -2), keys, c, keys, size, stats),
        (*start(2, 10), a, do("put", "b", 2, 1), at[1], get_b, touch_a, do("put", "a", 3, 1), get_a, at[2], get_a, keys, stats),
        (*start(3, 10), a, b, c, keys, keys, size, do("touch", "b"), do("touch", "z"), keys, d, keys, stats),
        (new(0, 10, now, evicted),),
        (new(-1, 10, now, evicted),),
        (new(10, 0, now, evicted),),
        (new(10, -1, now, evicted),),
        (*start(4, 6), *life, keys, size, stats),
    )


PROBLEM = Problem(
    id="expiring_cache",
    category="engineering",
    level="hard",
    entry="ExpiringCache",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
