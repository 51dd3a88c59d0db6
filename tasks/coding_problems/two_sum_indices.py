"""Two places whose numbers add up. Sample: two_sum_indices([2, 7, 11, 15], 9) → [0, 1]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def two_sum_indices(numbers: list[int], target: int) -> list[int]: ..."

EN = """
Write a function `two_sum_indices` that finds two different places `i < j` of a list with `numbers[i] + numbers[j] == target`.

Return them as the list `[i, j]`. Where several pairs fit, return the one with the smallest `j`, and among those the one with
the smallest `i`. Where none fits, return `[]`. The list may be empty, unsorted, and hold negative or equal numbers; it must
not be changed. Lists of 100,000 numbers must take well under a second.
"""

ZH = """
请编写函数 `two_sum_indices`，在列表中找出两个不同的下标 `i < j`，使得 `numbers[i] + numbers[j] == target`。

以列表 `[i, j]` 的形式返回。若有多对满足条件，返回 `j` 最小的一对；若仍有多对，返回其中 `i` 最小的一对。若没有满足条件的一对，
返回 `[]`。列表可能为空、无序，并可能含有负数或相等的数；不得修改该列表。对于 100,000 个数的列表，耗时必须远小于一秒。
"""

REFERENCE = """
def two_sum_indices(numbers, target):
    first = {}
    for j, number in enumerate(numbers):
        i = first.get(target - number)
        if i is not None:
            return [i, j]
        first.setdefault(number, j)
    return []
"""

WRONG = {
    "a number is paired with itself": """
def two_sum_indices(numbers, target):
    place = {n: i for i, n in enumerate(numbers)}
    for i, n in enumerate(numbers):
        if target - n in place:
            return sorted([i, place[target - n]])
    return []
""",
    "the smallest i instead of the smallest j": """
def two_sum_indices(numbers, target):
    places = {}
    for i, n in enumerate(numbers):
        places.setdefault(n, []).append(i)
    for i, n in enumerate(numbers):
        for j in places.get(target - n, []):
            if j > i:
                return [i, j]
    return []
""",
    "the last of equal numbers": """
def two_sum_indices(numbers, target):
    seen = {}
    for j, n in enumerate(numbers):
        if target - n in seen:
            return [seen[target - n], j]
        seen[n] = j
    return []
""",
    "place 0 is taken for nothing": """
def two_sum_indices(numbers, target):
    seen = {}
    for j, n in enumerate(numbers):
        if seen.get(target - n):
            return [seen[target - n], j]
        seen.setdefault(n, j)
    return []
""",
    "a tuple": """
def two_sum_indices(numbers, target):
    seen = {}
    for j, n in enumerate(numbers):
        if target - n in seen:
            return (seen[target - n], j)
        seen.setdefault(n, j)
    return ()
""",
    "sorts the list": """
def two_sum_indices(numbers, target):
    original = list(numbers)
    numbers.sort()
    for j in range(len(original)):
        for i in range(j):
            if original[i] + original[j] == target:
                return [i, j]
    return []
""",
    "quadratic": """
def two_sum_indices(numbers, target):
    for j in range(len(numbers)):
        for i in range(j):
            if numbers[i] + numbers[j] == target:
                return [i, j]
    return []
""",
}


def checks() -> tuple[Check, ...]:
    return (
        (call([2, 7, 11, 15], 9),),
        (call([], 0),),
        (call([5], 10),),
        (call([5, 5], 10),),
        (call([1, 2, 3], 7),),
        (call([3, 1, 3, 3], 6),),
        (call([1, 5, 5, 9, 1], 10),),
        (call([1, 4, 6, 9], 10),),
        (call([0, 4, 3, 0], 0),),
        (call([-3, 4, 3, 90], 0),),
        (call([-1, -2, -3, -4], -7),),
        (call([1, 1, 1, 2], 3),),
        (call([10**20, 3, -(10**20)], 0),),
        (call([4, 1, 2, 3], 8),),
        (call([2 * (i * 7919 % 100_003) for i in range(60_000)], 11),),
    )


PROBLEM = Problem(
    id="two_sum_indices",
    category="algorithms",
    level="easy",
    entry="two_sum_indices",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
    keeps_arguments=True,
)
