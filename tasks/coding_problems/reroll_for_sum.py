"""The best chance to reach a sum with dice that may be thrown again. Sample: two coins 0/1, sum 1, one reroll → [3, 4]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def reroll_for_sum(dice: list[list[int]], target: int, rerolls: int) -> list[int]: ..."

EN = """
Write a function `reroll_for_sum` that computes the chance to win a game of dice when it is played as well as possible.

`dice[i]` lists the faces of die i, each equally likely; a number that is listed twice is twice as likely. Faces may be
negative, and dice may differ in their faces and in how many they have. The game:

1. All dice are thrown.
2. At most `rerolls` times, the player, who sees all dice, chooses which of the dice that were thrown last to throw again: any
   of them, one, several or all. Those that were thrown last but are not chosen are put aside with the faces they show and may
   never be thrown again. Once no die is chosen or no reroll is left, the game ends.
3. The player wins if the sum of all dice, the ones put aside included, is exactly `target` when the game ends.

Return the greatest chance to win as the list `[numerator, denominator]` of ints: the exact fraction in lowest terms with a
positive denominator (`[0, 1]` if the player can't win, `[1, 1]` if the player can't lose).

Without any dice the sum is 0. Raise ValueError if `rerolls` is negative or if a die has no faces. The lists must not be
changed. There are at most 3 dice with at most 6 faces each, and at most 4 rerolls; a second is enough time then.

Example: with `dice = [[0, 1], [0, 1]]`, `target = 1` and `rerolls = 1` the player wins at once with chance 1/2, and throws one
of the dice again otherwise: `[3, 4]`. With `rerolls = 2` it is `[7, 8]`.
"""

ZH = """
请编写函数 `reroll_for_sum`，计算一个掷骰子游戏在采取最佳策略时的获胜概率。

`dice[i]` 列出第 i 个骰子的各个面，每个面的可能性相同；列出两次的数，可能性就是两倍。面上的数可能为负，
各个骰子的面以及面的个数可以不同。游戏规则如下：

1. 掷出所有骰子。
2. 玩家能看到所有骰子，最多可以重掷 `rerolls` 次：每次从刚刚掷出的那些骰子中选择要再掷的骰子，可以是任意的一个、几个或全部。
   刚刚掷出但没有被选中的骰子，以当时的面放到一旁，以后不得再掷。一旦没有选择任何骰子，或者重掷次数用完，游戏就结束。
3. 如果游戏结束时所有骰子（包括放到一旁的骰子）的点数之和恰好等于 `target`，玩家获胜。

以整数列表 `[numerator, denominator]` 的形式返回最大的获胜概率：精确的最简分数，分母为正
（若玩家不可能获胜，返回 `[0, 1]`；若玩家必定获胜，返回 `[1, 1]`）。

没有任何骰子时，点数之和为 0。若 `rerolls` 为负，或者某个骰子没有面，抛出 ValueError。不得修改这些列表。
最多有 3 个骰子，每个最多 6 个面，最多重掷 4 次；此时一秒钟应当足够。

例如：当 `dice = [[0, 1], [0, 1]]`、`target = 1`、`rerolls = 1` 时，玩家以 1/2 的概率直接获胜，否则再掷其中一个骰子：
结果为 `[3, 4]`。当 `rerolls = 2` 时，结果为 `[7, 8]`。
"""

REFERENCE = """
from fractions import Fraction
from functools import cache
from itertools import product


def reroll_for_sum(dice, target, rerolls):
    if rerolls < 0 or any(not faces for faces in dice):
        raise ValueError("no such game")

    @cache
    def before_throw(thrown, needed, left):
        rolls = list(product(*(dice[i] for i in thrown)))
        return sum(after_throw(thrown, roll, needed, left) for roll in rolls) / len(rolls)

    def after_throw(thrown, roll, needed, left):
        if left == 0:
            return Fraction(sum(roll) == needed)
        chances = []
        for again in product((False, True), repeat=len(roll)):
            aside = sum(face for face, chosen in zip(roll, again) if not chosen)
            chosen_dice = tuple(die for die, chosen in zip(thrown, again) if chosen)
            chances.append(before_throw(chosen_dice, needed - aside, left - 1))
        return max(chances)

    chance = before_throw(tuple(range(len(dice))), target, rerolls)
    return [chance.numerator, chance.denominator]
"""

WRONG = {
    "dice put aside may be thrown again": """
from fractions import Fraction
from functools import lru_cache
from itertools import product


def reroll_for_sum(dice, target, rerolls):
    if rerolls < 0 or any(len(d) == 0 for d in dice):
        raise ValueError

    @lru_cache(None)
    def best(values, left):
        if sum(values) == target or left == 0:
            return Fraction(int(sum(values) == target))
        top = Fraction(0)
        for mask in product([0, 1], repeat=len(dice)):
            if any(mask):
                options = [d if m else [v] for d, m, v in zip(dice, mask, values)]
                total = sum(best(v, left - 1) for v in product(*options))
                count = 1
                for o in options:
                    count *= len(o)
                top = max(top, total / count)
        return top

    rolls = list(product(*dice))
    p = sum((best(r, rerolls) for r in rolls), Fraction(0)) / len(rolls)
    return [p.numerator, p.denominator]
""",
    "only one die is thrown again": """
from fractions import Fraction
from itertools import product


def reroll_for_sum(dice, target, rerolls):
    if rerolls < 0 or any(len(d) == 0 for d in dice):
        raise ValueError

    def single(die, need, left):
        p = Fraction(die.count(need), len(die))
        return 1 - (1 - p) ** left

    def best(values, left):
        if sum(values) == target:
            return Fraction(1)
        if left == 0 or not values:
            return Fraction(0)
        return max(single(d, target - sum(values) + v, left) for d, v in zip(dice, values))

    rolls = list(product(*dice))
    p = sum((best(r, rerolls) for r in rolls), Fraction(0)) / len(rolls)
    return [p.numerator, p.denominator]
""",
    "a winning throw is thrown again": """
from fractions import Fraction
from functools import lru_cache
from itertools import product


def reroll_for_sum(dice, target, rerolls):
    if rerolls < 0 or any(len(d) == 0 for d in dice):
        raise ValueError

    @lru_cache(None)
    def chance(thrown, need, left):
        rolls = list(product(*[dice[i] for i in thrown]))
        total = Fraction(0)
        for roll in rolls:
            if left == 0 or not thrown:
                total += int(sum(roll) == need)
                continue
            options = []
            for mask in range(1, 1 << len(thrown)):
                kept = sum(v for k, v in enumerate(roll) if not mask >> k & 1)
                rest = tuple(i for k, i in enumerate(thrown) if mask >> k & 1)
                options.append(chance(rest, need - kept, left - 1))
            total += max(options)
        return total / len(rolls)

    p = chance(tuple(range(len(dice))), target, rerolls)
    return [p.numerator, p.denominator]
""",
    "faces that are listed twice count once": """
from fractions import Fraction
from functools import lru_cache
from itertools import product


def reroll_for_sum(dice, target, rerolls):
    if rerolls < 0 or any(len(d) == 0 for d in dice):
        raise ValueError
    faces = [sorted(set(d)) for d in dice]

    @lru_cache(None)
    def chance(thrown, need, left):
        rolls = list(product(*[faces[i] for i in thrown]))
        total = Fraction(0)
        for roll in rolls:
            best = Fraction(int(sum(roll) == need))
            for mask in range(1, 1 << len(thrown) if left else 1):
                kept = sum(v for k, v in enumerate(roll) if not mask >> k & 1)
                rest = tuple(i for k, i in enumerate(thrown) if mask >> k & 1)
                best = max(best, chance(rest, need - kept, left - 1))
            total += best
        return total / len(rolls)

    p = chance(tuple(range(len(dice))), target, rerolls)
    return [p.numerator, p.denominator]
""",
    "the choice is made before the throw is seen": """
from fractions import Fraction
from itertools import product


def reroll_for_sum(dice, target, rerolls):
    if rerolls < 0 or any(len(d) == 0 for d in dice):
        raise ValueError
    rolls = list(product(*dice))
    p = Fraction(sum(sum(r) == target for r in rolls), len(rolls))
    p = 1 - (1 - p) ** (rerolls + 1)
    return [p.numerator, p.denominator]
""",
    "looks only one reroll ahead": """
from fractions import Fraction
from functools import lru_cache
from itertools import product


def reroll_for_sum(dice, target, rerolls):
    if rerolls < 0 or any(len(d) == 0 for d in dice):
        raise ValueError

    def at_once(thrown, need):
        rolls = list(product(*[dice[i] for i in thrown]))
        return Fraction(sum(sum(r) == need for r in rolls), len(rolls))

    @lru_cache(None)
    def chance(thrown, need, left):
        rolls = list(product(*[dice[i] for i in thrown]))
        if left == 0:
            return at_once(thrown, need)
        total = Fraction(0)
        for roll in rolls:
            options = []
            for mask in range(1 << len(thrown)):
                kept = sum(v for k, v in enumerate(roll) if not mask >> k & 1)
                rest = tuple(i for k, i in enumerate(thrown) if mask >> k & 1)
                options.append((at_once(rest, need - kept), len(rest), rest, need - kept))
            _, _, rest, then = max(options)
            total += chance(rest, then, left - 1)
        return total / len(rolls)

    p = chance(tuple(range(len(dice))), target, rerolls)
    return [p.numerator, p.denominator]
""",
    "at least the target instead of exactly": """
from fractions import Fraction
from functools import lru_cache
from itertools import product


def reroll_for_sum(dice, target, rerolls):
    if rerolls < 0 or any(len(d) == 0 for d in dice):
        raise ValueError

    @lru_cache(None)
    def chance(thrown, need, left):
        rolls = list(product(*[dice[i] for i in thrown]))
        total = Fraction(0)
        for roll in rolls:
            best = Fraction(int(sum(roll) >= need))
            for mask in range(1, 1 << len(thrown) if left else 1):
                kept = sum(v for k, v in enumerate(roll) if not mask >> k & 1)
                rest = tuple(i for k, i in enumerate(thrown) if mask >> k & 1)
                best = max(best, chance(rest, need - kept, left - 1))
            total += best
        return total / len(rolls)

    p = chance(tuple(range(len(dice))), target, rerolls)
    return [p.numerator, p.denominator]
""",
    "floats": """
from fractions import Fraction
from functools import lru_cache
from itertools import product


def reroll_for_sum(dice, target, rerolls):
    if rerolls < 0 or any(len(d) == 0 for d in dice):
        raise ValueError

    @lru_cache(None)
    def chance(thrown, need, left):
        rolls = list(product(*[dice[i] for i in thrown]))
        total = 0.0
        for roll in rolls:
            best = float(sum(roll) == need)
            for mask in range(1, 1 << len(thrown) if left else 1):
                kept = sum(v for k, v in enumerate(roll) if not mask >> k & 1)
                rest = tuple(i for k, i in enumerate(thrown) if mask >> k & 1)
                best = max(best, chance(rest, need - kept, left - 1))
            total += best
        return total / len(rolls)

    p = Fraction(chance(tuple(range(len(dice))), target, rerolls)).limit_denominator(10**9)
    return [p.numerator, p.denominator]
""",
    "a die without faces is left out": """
from fractions import Fraction
from functools import lru_cache
from itertools import product


def reroll_for_sum(dice, target, rerolls):
    if rerolls < 0:
        raise ValueError
    dice = [d for d in dice if d]

    @lru_cache(None)
    def chance(thrown, need, left):
        rolls = list(product(*[dice[i] for i in thrown]))
        total = Fraction(0)
        for roll in rolls:
            best = Fraction(int(sum(roll) == need))
            for mask in range(1, 1 << len(thrown) if left else 1):
                kept = sum(v for k, v in enumerate(roll) if not mask >> k & 1)
                rest = tuple(i for k, i in enumerate(thrown) if mask >> k & 1)
                best = max(best, chance(rest, need - kept, left - 1))
            total += best
        return total / len(rolls)

    p = chance(tuple(range(len(dice))), target, rerolls)
    return [p.numerator, p.denominator]
""",
}


def checks() -> tuple[Check, ...]:
    cube = [1, 2, 3, 4, 5, 6]
    return (
        (call([[0, 1], [0, 1]], 1, 1),),
        (call([[0, 1], [0, 1]], 1, 2),),
        (call([cube], 6, 0),),
        (call([cube], 6, 1),),
        (call([cube], 6, 4),),
        (call([cube], 7, 3),),
        (call([], 0, 2),),
        (call([], 0, 0),),
        (call([], 1, 2),),
        (call([[5]], 5, 0),),
        (call([[5], [-5]], 0, 1),),
        (call([[5]], 4, 3),),
        (call([[1, 1, 2]], 1, 1),),
        (call([[1, 2, 2, 2], [3, 3, 4]], 4, 1),),
        (call([cube, cube], 7, 0),),
        (call([cube, cube], 7, 1),),
        (call([cube, cube], 12, 1),),
        (call([cube, cube], 3, 2),),
        (call([[-3, 0, 3], [-2, 2], [1, 1, 5, -1]], 0, 2),),
        (call([[-3, 0, 3], [-2, 2], [1, 1, 5, -1]], 9, 3),),
        (call([[0, 0, 0, 1], [0, 5, 5], [2, 3]], 8, 2),),
        (call([[0, 1, 4], [0, 2, 8], [0, 3, 9]], 6, 3),),
        (call([cube, [1, 2, 3, 4], cube], 10, 1),),
        (call([cube, cube, cube], 18, 2),),
        (call([cube, cube, [1, 2, 2, 3]], 4, 4),),
        (call([[1, 2, 3, 5, 8, 13], [1, 4, 9, 16, 25, 36], [2, 3, 5, 7, 11, 13]], 20, 2),),
        (call([[10**20, 1], [-(10**20), 2]], 0, 1),),
        (call([cube], 3, -1),),
        (call([cube, []], 3, 1),),
        (call([[]], 0, 0),),
        (call([], 0, -1),),
    )


PROBLEM = Problem(
    id="reroll_for_sum",
    category="mathematics",
    level="hard",
    entry="reroll_for_sum",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    keeps_arguments=True,
)
