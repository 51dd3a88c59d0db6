"""A call tried again with growing pauses. Sample: fails twice, then 7; 100 ms at first → sleeps 100 and 200, returns 7."""

from collections.abc import Sequence
from typing import Any

from sandbox.steps import call, raises, scripted
from tasks.problem import Check, Problem

SIGNATURE = """
from collections.abc import Callable

def retry_call(
    function: Callable[[], object], sleep: Callable[[int], object], attempts: int, first_ms: int, cap_ms: int
) -> object: ...
"""

EN = """
Write a function `retry_call` that calls `function()` until it succeeds, at most `attempts` times in all, and pauses between
the attempts by calling `sleep(ms)` with one positional integer argument, the milliseconds.

An attempt ends in one of four ways:

- **A temporary failure**: `function` raises ConnectionError or TimeoutError, or a subclass of one of them. The next attempt
  follows after a pause. If this was the last attempt, the exception is raised to the caller.
- **Any other exception** is no reason to retry: it is raised to the caller at once. (Other kinds of OSError belong here.)
- **Busy**: `function` returns a dict that has the key `"retry_after"`, with an integer of at least 0 as its value. The next
  attempt follows after a pause. If this was the last attempt, raise TimeoutError.
- **Success**: `function` returns anything else, None, False, 0 and other dicts included. That very value is returned.

The pause after the attempt number n (counted from 1, both kinds of failures alike) is `first_ms * 2 ** (n - 1)`, but never
more than `cap_ms`. After a busy answer it is at least the value of `"retry_after"`, even if that is more than `cap_ms`; this
has no influence on later pauses. If the pause is 0, `sleep` is not called. There is no pause after the last attempt.

`first_ms` and `cap_ms` are at least 0; `cap_ms` may be less than `first_ms`. If `attempts` is less than 1, raise ValueError
without calling `function`. Exceptions that `sleep` raises are not caught.
"""

ZH = """
请编写函数 `retry_call`：调用 `function()` 直到成功为止，总共最多 `attempts` 次；两次尝试之间通过调用 `sleep(ms)` 暂停，
它接受一个位置参数，即以毫秒为单位的整数。

一次尝试有四种结局：

- **暂时失败**：`function` 抛出 ConnectionError 或 TimeoutError，或它们的子类。暂停之后进行下一次尝试。如果这已是最后一
  次尝试，则把该异常抛给调用者。
- **其他任何异常**都不是重试的理由：立即抛给调用者。（其他种类的 OSError 属于这里。）
- **繁忙**：`function` 返回一个含有键 `"retry_after"` 的字典，其值是不小于 0 的整数。暂停之后进行下一次尝试。如果这已是
  最后一次尝试，则抛出 TimeoutError。
- **成功**：`function` 返回其他任何值，包括 None、False、0 和其他字典。原样返回该值。

第 n 次尝试（从 1 起计，两种失败一视同仁）之后的暂停为 `first_ms * 2 ** (n - 1)`，但绝不超过 `cap_ms`。在繁忙的回答之
后，暂停至少为 `"retry_after"` 的值，即使它大于 `cap_ms`；这对以后的暂停没有影响。如果暂停为 0，则不调用 `sleep`。最后一
次尝试之后没有暂停。

`first_ms` 和 `cap_ms` 不小于 0；`cap_ms` 可以小于 `first_ms`。如果 `attempts` 小于 1，则抛出 ValueError，并且不调用
`function`。不捕获 `sleep` 抛出的异常。
"""

REFERENCE = """
def retry_call(function, sleep, attempts, first_ms, cap_ms):
    if attempts < 1:
        raise ValueError("at least one attempt is needed")
    backoff = first_ms
    for left in reversed(range(attempts)):
        pause = min(backoff, cap_ms)
        try:
            result = function()
        except (ConnectionError, TimeoutError):
            if not left:
                raise
        else:
            if not isinstance(result, dict) or "retry_after" not in result:
                return result
            if not left:
                raise TimeoutError("still busy")
            pause = max(pause, result["retry_after"])
        if pause > 0:
            sleep(pause)
        backoff *= 2
"""

WRONG = {
    "every OSError is retried": REFERENCE.replace("(ConnectionError, TimeoutError)", "OSError"),
    "every exception is retried": REFERENCE.replace("(ConnectionError, TimeoutError)", "Exception"),
    "one attempt too many": REFERENCE.replace("range(attempts)", "range(attempts + 1)"),
    "the pause doubles before the first": REFERENCE.replace("min(backoff, cap_ms)", "min(backoff * 2, cap_ms)"),
    "the pause grows linearly": REFERENCE.replace("backoff *= 2", "backoff += first_ms"),
    "no cap": REFERENCE.replace("min(backoff, cap_ms)", "backoff"),
    "retry_after is capped": REFERENCE.replace(
        'max(pause, result["retry_after"])', 'min(cap_ms, max(pause, result["retry_after"]))'
    ),
    "retry_after replaces the pause": REFERENCE.replace('max(pause, result["retry_after"])', 'result["retry_after"]'),
    "later pauses build on retry_after": REFERENCE.replace("backoff *= 2", "backoff = pause * 2"),
    "sleeps for 0 ms": REFERENCE.replace("pause > 0", "pause >= 0"),
    "a falsy result is retried": REFERENCE.replace(
        'if not isinstance(result, dict) or "retry_after" not in result:',
        'if result and (not isinstance(result, dict) or "retry_after" not in result):',
    ).replace('result["retry_after"])', 'result["retry_after"] if result else 0)'),
    "the last busy answer is returned": REFERENCE.replace('raise TimeoutError("still busy")', "return result"),
    "sleeps after the last attempt": """
def retry_call(function, sleep, attempts, first_ms, cap_ms):
    if attempts < 1:
        raise ValueError
    error = None
    for n in range(attempts):
        pause = min(first_ms * 2**n, cap_ms)
        try:
            result = function()
            if not (isinstance(result, dict) and "retry_after" in result):
                return result
            pause = max(pause, result["retry_after"])
            error = TimeoutError()
        except (ConnectionError, TimeoutError) as e:
            error = e
        if pause:
            sleep(pause)
    raise error
""",
    "raises the first of the failures": """
def retry_call(function, sleep, attempts, first_ms, cap_ms):
    if attempts < 1:
        raise ValueError
    first = None
    for n in range(attempts):
        pause = min(first_ms * 2**n, cap_ms)
        try:
            result = function()
        except (ConnectionError, TimeoutError) as e:
            first = first or e
        else:
            if not (isinstance(result, dict) and "retry_after" in result):
                return result
            first = first or TimeoutError()
            pause = max(pause, result["retry_after"])
        if n < attempts - 1 and pause:
            sleep(pause)
    raise first
""",
    "no error for no attempts": REFERENCE.replace("attempts < 1", "attempts < 0"),
}


def checks() -> tuple[Check, ...]:
    gone, late, broken, reset = map(raises, ("ConnectionError", "TimeoutError", "BrokenPipeError", "ConnectionResetError"))

    def trial(answers: Sequence[Any], attempts: int, first_ms: int, cap_ms: int, pauses: Sequence[Any] = ()) -> Check:
        return (call(scripted("function", answers), scripted("sleep", pauses), attempts, first_ms, cap_ms),)

    def busy(ms: int) -> dict[str, int]:
        return {"retry_after": ms}

    alarm = raises("ArithmeticError")
    return (
        trial([gone, late, 7], 3, 100, 1000),
        trial(["done"], 5, 100, 1000),
        trial(["done"], 1, 100, 1000),
        trial([broken, gone, reset, late, gone, "late"], 10, 100, 700),
        trial([None], 3, 100, 1000),
        trial([False], 3, 100, 1000),
        trial([late, 0], 3, 1, 1000),
        trial([{}], 3, 100, 1000),
        trial([{"status": "retry_after"}], 3, 100, 1000),
        trial(["retry_after"], 3, 100, 1000),
        trial([["retry_after"]], 3, 100, 1000),
        trial([busy(0), busy(150), busy(5000), busy(1000), "ok"], 5, 100, 600),
        trial([busy(900), gone, gone, "ok"], 5, 100, 1000),
        trial([{"retry_after": 250, "status": 429}, gone, 1], 4, 100, 1000),
        trial([gone, late, "ok"], 3, 0, 1000),
        trial([gone, busy(40), busy(0), "ok"], 4, 50, 0),
        trial([gone, "ok"], 2, 500, 300),
        trial([gone] * 100 + ["ok"], 101, 3, 60_000),
        trial([gone, late, broken, "too late"], 3, 100, 1000, [None, None, alarm]),
        trial([late, broken, gone, "too late"], 3, 100, 1000, [None, None, alarm]),
        trial([broken, "too late"], 1, 100, 1000, [alarm]),
        trial([gone, busy(5), "too late"], 2, 100, 1000, [None, alarm]),
        trial([busy(5), "too late"], 1, 100, 1000, [alarm]),
        trial([busy(5), reset, "too late"], 2, 100, 1000, [None, alarm]),
        trial([raises("FileNotFoundError"), "too late"], 3, 100, 1000, [alarm]),
        trial([gone, raises("OSError"), "too late"], 3, 100, 1000, [None, alarm]),
        trial([gone, raises("KeyError"), "too late"], 3, 100, 1000, [None, alarm]),
        trial([gone, "ok"], 3, 100, 1000, [raises("TimeoutError")]),
        trial([busy(1), "ok"], 3, 100, 1000, [raises("ConnectionError")]),
        trial([alarm], 0, 100, 1000),
        trial([alarm], -1, 100, 1000),
    )


PROBLEM = Problem(
    id="retry_call",
    category="engineering",
    level="medium",
    entry="retry_call",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
