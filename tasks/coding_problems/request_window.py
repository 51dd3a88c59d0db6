"""At most so many requests of a client in any window. Sample: limit 2 in 10 s at 0, 1, 2 and 10 → yes, yes, no, yes."""

from sandbox.steps import cell, do, new, put
from tasks.problem import Check, Problem

SIGNATURE = """
from collections.abc import Callable

class RequestWindow:
    def __init__(self, limit: int, seconds: int, now: Callable[[], int]) -> None: ...
    def allow(self, client: str) -> bool: ...
    def remaining(self, client: str) -> int: ...
    def wait(self, client: str) -> int: ...
"""

EN = """
Write a class `RequestWindow` that limits how often each client may send a request: within any `seconds` seconds, at most
`limit` requests of the same client are allowed.

`now` is a function without arguments that returns the current time in whole seconds, which never goes back. Use it instead of
the real clock. Let `t` be the time at which a method is called. An allowed request that was made at time `r` still counts
while `t - r < seconds`; once `t - r == seconds` it no longer does. Requests that were refused never count. Clients do not
influence each other, and an unknown client has made no request.

- `allow(client)` is a request of this client: it returns True if fewer than `limit` of the client's requests count, and then
  this request counts from now on; otherwise it returns False.
- `remaining(client)` returns how many requests of this client would be allowed now, one after another.
- `wait(client)` returns the number of seconds until the client's next request would be allowed, provided that it makes none
  until then; 0 if one is allowed now.

`remaining` and `wait` are no requests and change nothing. The constructor raises ValueError if `limit` or `seconds` is less
than 1.
"""

ZH = """
请编写一个类 `RequestWindow`，限制每个客户端发送请求的频率：在任意 `seconds` 秒之内，同一个客户端最多有 `limit` 个请求被
允许。

`now` 是一个无参数的函数，返回以整秒表示的当前时间，时间不会倒退。请用它代替真实的时钟。设 `t` 为调用某个方法的时刻。在
时刻 `r` 被允许的请求，只要 `t - r < seconds` 就仍然计数；一旦 `t - r == seconds` 就不再计数。被拒绝的请求从不计数。各客
户端互不影响；未知的客户端视为没有发过请求。

- `allow(client)` 是该客户端的一次请求：如果该客户端当前计数的请求少于 `limit` 个，则返回 True，并且这次请求从此刻起计
  数；否则返回 False。
- `remaining(client)` 返回该客户端此刻还能接连被允许多少个请求。
- `wait(client)` 返回该客户端的下一个请求还要过多少秒才会被允许（假定在此之前它不再发请求）；如果现在就允许，则返回 0。

`remaining` 和 `wait` 不是请求，不改变任何状态。如果 `limit` 或 `seconds` 小于 1，构造函数抛出 ValueError。
"""

REFERENCE = """
from collections import deque


class RequestWindow:
    def __init__(self, limit, seconds, now):
        if limit < 1 or seconds < 1:
            raise ValueError("limit and seconds must be at least 1")
        self._limit = limit
        self._seconds = seconds
        self._now = now
        self._allowed = {}

    def _recent(self, client):
        times = self._allowed.setdefault(client, deque())
        while times and self._now() - times[0] >= self._seconds:
            times.popleft()
        return times

    def allow(self, client):
        times = self._recent(client)
        if len(times) == self._limit:
            return False
        times.append(self._now())
        return True

    def remaining(self, client):
        return self._limit - len(self._recent(client))

    def wait(self, client):
        times = self._recent(client)
        if len(times) < self._limit:
            return 0
        return times[0] + self._seconds - self._now()
"""

WRONG = {
    "a request still counts when the window is over": REFERENCE.replace(">= self._seconds", "> self._seconds"),
    "refused requests count": REFERENCE.replace(
        """        if len(times) == self._limit:
            return False
        times.append(self._now())
        return True""",
        """        times.append(self._now())
        return len(times) <= self._limit""",
    ),
    "one window for all clients": REFERENCE.replace("setdefault(client, deque())", "setdefault(None, deque())"),
    "wait looks at the newest request": REFERENCE.replace("times[0] + self._seconds", "times[-1] + self._seconds"),
    "no error for a limit of 0": REFERENCE.replace("limit < 1 or seconds < 1", "limit < 0 or seconds < 0"),
    "a fixed window instead of a sliding one": """
class RequestWindow:
    def __init__(self, limit, seconds, now):
        if limit < 1 or seconds < 1:
            raise ValueError
        self.limit, self.seconds, self.now = limit, seconds, now
        self.windows = {}

    def _window(self, client):
        start, count = self.windows.get(client, (self.now(), 0))
        if self.now() - start >= self.seconds:
            start, count = self.now(), 0
        return start, count

    def allow(self, client):
        start, count = self._window(client)
        if count >= self.limit:
            return False
        self.windows[client] = (start, count + 1)
        return True

    def remaining(self, client):
        return self.limit - self._window(client)[1]

    def wait(self, client):
        start, count = self._window(client)
        return 0 if count < self.limit else start + self.seconds - self.now()
""",
    "remaining is a request": REFERENCE.replace(
        "        return self._limit - len(self._recent(client))",
        "        return self._limit - len(self._recent(client)) if self.allow(client) else 0",
    ),
}


def checks() -> tuple[Check, ...]:
    now = cell("now")
    ask, left, wait = (do(name, "ann") for name in ("allow", "remaining", "wait"))
    bob = do("allow", "bob")
    return (
        (put("now", 0), new(2, 10, now), ask, put("now", 1), ask, put("now", 2), ask, put("now", 10), ask),
        (put("now", 5), new(1, 1, now), ask, ask, wait, put("now", 6), wait, ask, ask),
        (put("now", 100), new(3, 60, now), left, wait, left, ask, left, ask, left, ask, left, ask, left, wait),
        (put("now", 0), new(1, 10, now), ask, put("now", 9), ask, wait, left, put("now", 10), wait, left, ask, ask, wait),
        (put("now", 0), new(2, 10, now), ask, put("now", 9), ask, put("now", 11), ask, ask, wait, put("now", 19), ask),
        (put("now", 0), new(2, 10, now), ask, put("now", 4), ask, wait, put("now", 6), wait, ask, wait, put("now", 10), wait),
        (put("now", 0), new(1, 10, now), ask, put("now", 5), ask, ask, put("now", 10), ask, put("now", 14), ask, wait),
        (put("now", 0), new(1, 10, now), ask, bob, bob, do("wait", "eve"), do("remaining", "eve"), put("now", 3), bob, ask),
        (put("now", 0), new(3, 5, now), ask, ask, ask, wait, put("now", 5), left, ask, put("now", 1000), left, wait),
        (put("now", 0), new(2, 10, now), left, left, left, wait, wait, ask, ask, ask),
        (put("now", -20), new(1, 10, now), ask, put("now", -11), ask, wait, put("now", -10), ask, put("now", 0), ask),
        (put("now", 0), new(1, 10, now), do("allow", ""), do("allow", "Ann"), ask, do("allow", ""), do("allow", "ann ")),
        (new(0, 10, now),),
        (new(-1, 10, now),),
        (new(10, 0, now),),
        (new(3, -3, now),),
    )


PROBLEM = Problem(
    id="request_window",
    category="engineering",
    level="easy",
    entry="RequestWindow",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
