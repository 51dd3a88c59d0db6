"""Where books go on a shelf, tallest first. Sample: shelf_places([9, 6, 6, 3, 3, 1], [6, 3, 7]) → [3, 3, 1]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def shelf_places(shelf: list[int], newcomers: list[int]) -> list[int]: ..."

EN = """
The books on a shelf stand in order of height with the tallest on the left: `shelf` is a list of integers that never rises,
and equal heights may follow one another. Write a function `shelf_places` that tells for every height in `newcomers` at which
index of `shelf` a book of that height would have to be inserted to keep the order.

- Where books of the same height are on the shelf already, a newcomer of even height goes to the right of all of them, and a
  newcomer of odd height to the left of all of them.
- Every newcomer is looked at on its own: none of them is really put on the shelf.
- Return the indices as a list, in the order of `newcomers`. An index runs from 0 (in front of all books) to `len(shelf)`.
- Heights are any integers, zero and negative ones included; 0 is even, -3 is odd. Both lists may be empty. Neither list may
  be changed.

For example, `shelf_places([9, 6, 6, 3, 3, 1], [6, 3, 7])` is `[3, 3, 1]`. A shelf of 40,000 books and as many newcomers must
take well under a second.
"""

ZH = """
书架上的书按高度排列，最高的在最左边：`shelf` 是一个从左到右不会升高的整数列表，其中可能有相邻的相等高度。
请编写函数 `shelf_places`，对 `newcomers` 中的每个高度，给出这样一本书应当插入到 `shelf` 的哪个下标，才能保持该顺序。

- 如果书架上已有相同高度的书，高度为偶数的新书放在所有这些书的右边，高度为奇数的新书放在所有这些书的左边。
- 每本新书都单独考虑：没有任何一本真的被放上书架。
- 以列表形式返回这些下标，顺序与 `newcomers` 相同。下标的范围是 0（在所有书之前）到 `len(shelf)`。
- 高度可以是任意整数，包括零和负数；0 是偶数，-3 是奇数。两个列表都可能为空。两个列表都不得修改。

例如，`shelf_places([9, 6, 6, 3, 3, 1], [6, 3, 7])` 的结果是 `[3, 3, 1]`。
当书架上有 40,000 本书、新书也有这么多时，耗时必须远小于一秒。
"""

REFERENCE = """
from bisect import bisect_left, bisect_right


def shelf_places(shelf, newcomers):
    rising = [-height for height in shelf]
    places = []
    for height in newcomers:
        find = bisect_left if height % 2 else bisect_right
        places.append(find(rising, -height))
    return places
"""

WRONG = {
    "the shelf is taken to rise": """
from bisect import bisect_left, bisect_right


def shelf_places(shelf, newcomers):
    return [bisect_left(shelf, h) if h % 2 else bisect_right(shelf, h) for h in newcomers]
""",
    "left and right are swapped by the reversal": """
from bisect import bisect_left, bisect_right


def shelf_places(shelf, newcomers):
    rising = shelf[::-1]
    return [len(shelf) - (bisect_left(rising, h) if h % 2 else bisect_right(rising, h)) for h in newcomers]
""",
    "always to the right of equal books": """
from bisect import bisect_right


def shelf_places(shelf, newcomers):
    rising = [-h for h in shelf]
    return [bisect_right(rising, -h) for h in newcomers]
""",
    "only next to the first equal book": """
def shelf_places(shelf, newcomers):
    places = []
    for h in newcomers:
        low, high = 0, len(shelf)
        while low < high:
            middle = (low + high) // 2
            if shelf[middle] > h:
                low = middle + 1
            else:
                high = middle
        if h % 2 == 0 and low < len(shelf) and shelf[low] == h:
            low += 1
        places.append(low)
    return places
""",
    "the newcomers stay on the shelf": """
from bisect import bisect_left, bisect_right


def shelf_places(shelf, newcomers):
    rising = [-h for h in shelf]
    places = []
    for h in newcomers:
        place = bisect_left(rising, -h) if h % 2 else bisect_right(rising, -h)
        rising.insert(place, -h)
        places.append(place)
    return places
""",
    "the shelf is turned around in place": """
from bisect import bisect_left, bisect_right


def shelf_places(shelf, newcomers):
    shelf.reverse()
    return [len(shelf) - (bisect_right(shelf, h) if h % 2 else bisect_left(shelf, h)) for h in newcomers]
""",
    "walks along the shelf": """
def shelf_places(shelf, newcomers):
    places = []
    for h in newcomers:
        place = 0
        while place < len(shelf) and (shelf[place] > h or (shelf[place] == h and h % 2 == 0)):
            place += 1
        places.append(place)
    return places
""",
}


def checks() -> tuple[Check, ...]:
    count = 34_000
    shelf = [count - i // 2 for i in range(count)]
    return (
        (call([9, 6, 6, 3, 3, 1], [6, 3, 7]),),
        (call([], []),),
        (call([], [4, 5]),),
        (call([3, 2, 1], []),),
        (call([4, 4, 4], [4]),),
        (call([5, 5, 5], [5]),),
        (call([8, 7, 7, 4], [9, 10, 8, 7, 6, 5, 4, 3]),),
        (call([1, 0, 0, -1, -1, -2, -2], [0, -1, -2, 1, 2, -3]),),
        (call([-3, -3, -3, -4, -4], [-3, -4, -5, -6, 0]),),
        (call([2], [2, 2, 2, 2]),),
        (call([3], [3, 3, 3, 3]),),
        (call([7], [8, 7, 6]),),
        (call([10**30 + 1, 10**30 + 1, 10**30, 10**30], [10**30, 10**30 + 1, 10**31]),),
        (call([6, 6, 6, 6, 5, 5, 5, 5], [5, 6, 5, 6, 7, 4]),),
        (call(shelf, [count // 2 + i * 7919 % (count // 20) for i in range(count)]),),
    )


PROBLEM = Problem(
    id="shelf_places",
    category="algorithms",
    level="easy",
    entry="shelf_places",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
    keeps_arguments=True,
)
