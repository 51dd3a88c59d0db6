"""The fewest coins for an amount, and of those the smallest. Sample: smallest_coins(8, [1, 4, 3, 5]) → [4, 4], not [5, 3]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def smallest_coins(amount: int, kinds: list[int]) -> list[int] | None: ..."

EN = """
Write a function `smallest_coins` that pays exactly `amount` with as few coins as possible. `kinds` holds the values of the
coins that exist; there are as many coins of each value as needed. Return the coins as a list from the largest to the
smallest, each coin as often as it is used.

- Where the fewest coins can be chosen in several ways, choose the one whose largest coin is smallest; where these are equal,
  the one whose second largest coin is smallest, and so on. In other words: of the lists from the largest to the smallest coin,
  take the one that is smallest when lists are compared as Python compares them.
- Return None if the amount cannot be paid exactly. An amount of 0 is paid with `[]`, whatever coins there are.
- Raise ValueError if `amount` is negative or if any value in `kinds` is 0 or negative.
- `kinds` may be empty, in any order, and may name a value several times, which has no effect. It must not be changed.
- An amount of 10,000 with ten kinds must take well under a second.

For example, `smallest_coins(8, [1, 4, 3, 5])` is `[4, 4]`, for that is smaller than `[5, 3]`.
"""

ZH = """
请编写函数 `smallest_coins`，用尽可能少的硬币恰好支付 `amount`。`kinds` 中是现有硬币的面值；
每种面值的硬币要多少有多少。以列表形式返回所用的硬币，从大到小排列，每枚硬币用了几次就出现几次。

- 如果有多种选法都使用最少的硬币，选最大硬币最小的那一种；若仍相等，选第二大硬币最小的那一种，依此类推。
  换句话说：在这些从大到小排列的列表中，取按 Python 的列表比较规则最小的那一个。
- 如果无法恰好支付该金额，返回 None。金额 0 用 `[]` 支付，无论有哪些硬币。
- 如果 `amount` 为负，或者 `kinds` 中有任何面值为 0 或负数，则抛出 ValueError。
- `kinds` 可能为空，可以是任意顺序，也可能多次列出同一个面值（这没有影响）。不得修改它。
- 对于金额 10,000 和十种面值，耗时必须远小于一秒。

例如，`smallest_coins(8, [1, 4, 3, 5])` 的结果是 `[4, 4]`，因为它小于 `[5, 3]`。
"""

REFERENCE = """
def smallest_coins(amount, kinds):
    if amount < 0 or any(coin <= 0 for coin in kinds):
        raise ValueError("an amount or a coin that cannot be")
    fewest = [0] + [float("inf")] * amount
    fewest_up_to = {}
    for coin in sorted(set(kinds)):
        for total in range(coin, amount + 1):
            fewest[total] = min(fewest[total], fewest[total - coin] + 1)
        fewest_up_to[coin] = fewest.copy()
    if fewest[amount] == float("inf"):
        return None
    paid = []
    while amount:
        coin = next(c for c, known in fewest_up_to.items() if known[amount] == fewest[amount])
        paid.append(coin)
        amount -= coin
    return paid
"""

WRONG = {
    "greedy from the largest coin": """
def smallest_coins(amount, kinds):
    if amount < 0 or any(k <= 0 for k in kinds):
        raise ValueError("impossible")
    paid = []
    for coin in sorted(set(kinds), reverse=True):
        while amount >= coin:
            paid.append(coin)
            amount -= coin
    return None if amount else paid
""",
    "the largest coin as large as possible": """
def smallest_coins(amount, kinds):
    if amount < 0 or any(k <= 0 for k in kinds):
        raise ValueError("impossible")
    best = [0] + [None] * amount
    for total in range(1, amount + 1):
        known = [best[total - k] for k in kinds if k <= total and best[total - k] is not None]
        best[total] = min(known) + 1 if known else None
    if best[amount] is None:
        return None
    paid = []
    while amount:
        coin = max(k for k in kinds if k <= amount and best[amount - k] == best[amount] - 1)
        paid.append(coin)
        amount -= coin
    return paid
""",
    "takes the smallest coin that fits first": """
def smallest_coins(amount, kinds):
    if amount < 0 or any(k <= 0 for k in kinds):
        raise ValueError("impossible")
    best = [0] + [None] * amount
    for total in range(1, amount + 1):
        known = [best[total - k] for k in kinds if k <= total and best[total - k] is not None]
        best[total] = min(known) + 1 if known else None
    if best[amount] is None:
        return None
    paid = []
    while amount:
        coin = min(k for k in kinds if k <= amount and best[amount - k] == best[amount] - 1)
        paid.append(coin)
        amount -= coin
    return sorted(paid, reverse=True)
""",
    "from the smallest to the largest": """
def smallest_coins(amount, kinds):
    if amount < 0 or any(k <= 0 for k in kinds):
        raise ValueError("impossible")
    best = {0: []}
    for coin in sorted(set(kinds)):
        for total in range(coin, amount + 1):
            if total - coin in best:
                paid = [coin, *best[total - coin]]
                if total not in best or len(paid) < len(best[total]):
                    best[total] = paid
    found = best.get(amount)
    return None if found is None else found[::-1]
""",
    "an empty list when it cannot be paid": """
def smallest_coins(amount, kinds):
    if amount < 0 or any(k <= 0 for k in kinds):
        raise ValueError("impossible")
    best = {0: []}
    for coin in sorted(set(kinds)):
        for total in range(coin, amount + 1):
            if total - coin in best:
                paid = [coin, *best[total - coin]]
                if total not in best or (len(paid), paid) < (len(best[total]), best[total]):
                    best[total] = paid
    return best.get(amount, [])
""",
    "every coin once only": """
def smallest_coins(amount, kinds):
    if amount < 0 or any(k <= 0 for k in kinds):
        raise ValueError("impossible")
    best = {0: []}
    for coin in sorted(set(kinds)):
        for total in range(amount, coin - 1, -1):
            if total - coin in best:
                paid = [coin, *best[total - coin]]
                if total not in best or (len(paid), paid) < (len(best[total]), best[total]):
                    best[total] = paid
    return best.get(amount)
""",
    "tries all ways without a memory": """
def smallest_coins(amount, kinds):
    if amount < 0 or any(k <= 0 for k in kinds):
        raise ValueError("impossible")
    coins = sorted(set(kinds))

    def pay(rest, last):
        if rest == 0:
            return []
        best = None
        for place in range(last + 1):
            if coins[place] <= rest:
                paid = pay(rest - coins[place], place)
                if paid is not None and (best is None or len(paid) + 1 < len(best)):
                    best = [coins[place], *paid]
        return best

    return pay(amount, len(coins) - 1)
""",
}


def checks() -> tuple[Check, ...]:
    return (
        (call(8, [1, 4, 3, 5]),),
        (call(0, []), call(0, [3]), call(0, [5, 1])),
        (call(7, []), call(7, [8, 9]), call(7, [2, 4])),
        (call(-1, [1]), call(-5, [])),
        (call(5, [5, 0]), call(5, [5, -2]), call(0, [0]), call(0, [1, -1])),
        (call(6, [6]), call(12, [6]), call(13, [6])),
        (call(6, [1, 3, 4]), call(30, [1, 10, 25]), call(15, [1, 7, 10])),
        (call(9, [5, 5, 4, 5, 4]), call(3, [1, 1, 1])),
        (call(12, [1, 2, 3, 7, 6, 9, 10]), call(18, [9, 8, 1, 5, 4, 13]), call(21, [2, 7, 9, 10, 3, 11])),
        tuple(call(total, [11, 2, 7, 5, 9, 16]) for total in range(20, 60, 3)),
        tuple(call(total, [6, 10, 15]) for total in (29, 30, 31, 45, 61)),
        (call(11, [1, 5, 6, 8, 9]), call(24, [1, 5, 10, 12, 14, 7]), call(33, [4, 9, 15, 16, 20, 3, 8, 21])),
        (call(1, [1]), call(1, [2, 1]), call(2, [1]), call(4, [2, 1])),
        (call(9_973, [37, 41, 53, 67, 71, 389, 397, 401, 650]), call(5_003, [2, 486, 480, 478, 600])),
    )


PROBLEM = Problem(
    id="smallest_coins",
    category="algorithms",
    level="medium",
    entry="smallest_coins",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    keeps_arguments=True,
    equivalent={
        "line 5, column 14: 0 becomes 1": "all counts of coins are one higher, and they are only compared with each other",
        "line 9, column 70: 1 becomes 2": "all counts of coins are doubled, and they are only compared with each other",
    },
)
