"""Where the highest score of each window is. Sample: window_leaders([3, None, 3, 1], 2) → [0, 2, 2]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def window_leaders(scores: list[int | None], width: int) -> list[int]: ..."

EN = """
Write a function `window_leaders`. A window is `width` neighbouring places of the list `scores`; the first window starts at
index 0, the next one at index 1, and so on, and the last one ends with the list. Return, for each window in this order, the
index in `scores` of the highest score in the window.

- Where the highest score is there several times in the window, take the rightmost of these places.
- `None` means that there is no score at that place. A window without any score gives -1.
- If `width` is greater than the length of the list, there is no window: return `[]`. If it is less than 1, raise ValueError,
  also for an empty list.
- Scores are any integers, zero and negative ones included. The list must not be changed.

For example, `window_leaders([3, None, 3, 1], 2)` is `[0, 2, 2]`. A list of 80,000 places with a window half as wide must take
well under a second.
"""

ZH = """
请编写函数 `window_leaders`。一个窗口是列表 `scores` 中相邻的 `width` 个位置；第一个窗口从下标 0 开始，
下一个从下标 1 开始，依此类推，最后一个窗口在列表末尾结束。按此顺序，对每个窗口返回窗口中最高分在 `scores` 中的下标。

- 如果最高分在窗口中出现多次，取其中最靠右的位置。
- `None` 表示该位置没有分数。没有任何分数的窗口给出 -1。
- 如果 `width` 大于列表的长度，则没有窗口：返回 `[]`。如果它小于 1，则抛出 ValueError，列表为空时也一样。
- 分数可以是任意整数，包括零和负数。不得修改该列表。

例如，`window_leaders([3, None, 3, 1], 2)` 的结果是 `[0, 2, 2]`。
对于有 80,000 个位置、窗口宽度为其一半的列表，耗时必须远小于一秒。
"""

REFERENCE = """
from collections import deque


def window_leaders(scores, width):
    if width < 1:
        raise ValueError("a window is at least one place wide")
    leaders = []
    falling = deque()
    for i, score in enumerate(scores):
        if falling and falling[0] == i - width:
            falling.popleft()
        if score is not None:
            while falling and scores[falling[-1]] <= score:
                falling.pop()
            falling.append(i)
        if i >= width - 1:
            leaders.append(falling[0] if falling else -1)
    return leaders
"""

WRONG = {
    "the leftmost of equal scores": """
from collections import deque


def window_leaders(scores, width):
    if width < 1:
        raise ValueError("width")
    leaders, places = [], deque()
    for i, score in enumerate(scores):
        while places and places[0] <= i - width:
            places.popleft()
        if score is not None:
            while places and scores[places[-1]] < score:
                places.pop()
            places.append(i)
        if i + 1 >= width:
            leaders.append(places[0] if places else -1)
    return leaders
""",
    "a score of 0 is taken for none": """
from collections import deque


def window_leaders(scores, width):
    if width < 1:
        raise ValueError("width")
    leaders, places = [], deque()
    for i, score in enumerate(scores):
        while places and places[0] <= i - width:
            places.popleft()
        if score:
            while places and scores[places[-1]] <= score:
                places.pop()
            places.append(i)
        if i + 1 >= width:
            leaders.append(places[0] if places else -1)
    return leaders
""",
    "None is taken for 0": """
from collections import deque


def window_leaders(scores, width):
    if width < 1:
        raise ValueError("width")
    scores = [score or 0 for score in scores]
    leaders, places = [], deque()
    for i, score in enumerate(scores):
        while places and places[0] <= i - width:
            places.popleft()
        while places and scores[places[-1]] <= score:
            places.pop()
        places.append(i)
        if i + 1 >= width:
            leaders.append(places[0])
    return leaders
""",
    "the window is one place too wide": """
from collections import deque


def window_leaders(scores, width):
    if width < 1:
        raise ValueError("width")
    leaders, places = [], deque()
    for i, score in enumerate(scores):
        while places and places[0] < i - width:
            places.popleft()
        if score is not None:
            while places and scores[places[-1]] <= score:
                places.pop()
            places.append(i)
        if i + 1 >= width:
            leaders.append(places[0] if places else -1)
    return leaders
""",
    "one window of the whole list when it is too short": """
from collections import deque


def window_leaders(scores, width):
    if width < 1:
        raise ValueError("width")
    width = min(width, len(scores))
    leaders, places = [], deque()
    for i, score in enumerate(scores):
        while places and places[0] <= i - width:
            places.popleft()
        if score is not None:
            while places and scores[places[-1]] <= score:
                places.pop()
            places.append(i)
        if i + 1 >= width:
            leaders.append(places[0] if places else -1)
    return leaders
""",
    "the scores instead of their places": """
from collections import deque


def window_leaders(scores, width):
    if width < 1:
        raise ValueError("width")
    leaders, places = [], deque()
    for i, score in enumerate(scores):
        while places and places[0] <= i - width:
            places.popleft()
        if score is not None:
            while places and scores[places[-1]] <= score:
                places.pop()
            places.append(i)
        if i + 1 >= width:
            leaders.append(scores[places[0]] if places else -1)
    return leaders
""",
    "looks through each window": """
def window_leaders(scores, width):
    if width < 1:
        raise ValueError("width")
    leaders = []
    for start in range(len(scores) - width + 1):
        best = -1
        for i in range(start, start + width):
            if scores[i] is not None and (best < 0 or scores[i] >= scores[best]):
                best = i
        leaders.append(best)
    return leaders
""",
    "looks through the window again when its leader leaves": """
def window_leaders(scores, width):
    if width < 1:
        raise ValueError("width")
    leaders, best = [], -1
    for i in range(len(scores)):
        if best >= 0 and best <= i - width:
            best = -1
            for j in range(i - width + 1, i):
                if scores[j] is not None and (best < 0 or scores[j] >= scores[best]):
                    best = j
        if scores[i] is not None and (best < 0 or scores[i] >= scores[best]):
            best = i
        if i + 1 >= width:
            leaders.append(best)
    return leaders
""",
}


def checks() -> tuple[Check, ...]:
    count = 80_000
    mixed = [None if i * i % 7 == 2 else i * i * 31 % 23 - 11 for i in range(60)]
    return (
        (call([3, None, 3, 1], 2),),
        (call([], 1), call([], 5)),
        (call([], 0), call([1, 2], 0), call([1, 2], -1)),
        (call([4], 1), call([None], 1), call([4], 2)),
        (call([5, 5, 5, 5], 3),),
        (call([1, 2, 3], 4), call([1, 2, 3], 3)),
        (call([None, None, 7, None, None, None, -7, None], 3),),
        (call([0, None, None, 0, None], 2), call([None, 0], 2), call([0, 0], 1)),
        (call([-3, None, -5, -3, None], 2), call([-1, None, -2], 3)),
        (call([9, 1, 2, 9, 3, 9, 8, 7, 6, 5, 4], 4),),
        (call([10**20, 10**20 + 1, 10**20, -(10**20)], 2),),
        (call(mixed, 1), call(mixed, 2), call(mixed, 5), call(mixed, 17), call(mixed, 60), call(mixed, 61)),
        (call([9, 8, 7, 6, 5], 2), call([1, 2, 3, 4], 2), call([4, 3, None, 2, 1], 3)),
        (call([None if i % 1_000 == 999 else count - i for i in range(count)], count // 2),),
    )


PROBLEM = Problem(
    id="window_leaders",
    category="algorithms",
    level="medium",
    entry="window_leaders",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
    keeps_arguments=True,
)
