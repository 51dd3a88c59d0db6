"""A weighted quantile between midpoints. Sample: midpoint_quantile([10, 20], [1, 3], 0.5) → 17.5."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def midpoint_quantile(values: list[float], weights: list[int], q: float) -> float: ..."

EN = """
Write a function `midpoint_quantile` that returns a quantile of weighted numbers by this rule:

1. `weights[i]` is the weight of `values[i]`. Values of weight 0 are left out, and equal values become one value whose weight
   is the sum of their weights.
2. Lay the values that remain side by side on a line, the smallest first, starting at 0. Each takes a stretch as long as its
   weight; so the line ends at W, the sum of all weights. The position of a value is the middle of its stretch.
3. The quantile is read at `q * W`: at the position of a value it is this value, between the positions of two neighbouring
   values it changes linearly from the one to the other. Before the first position it is the smallest value, after the last
   position the largest value.

Example: with values `[10, 20]` and weights `[1, 3]` the positions are 0.5 and 2.5. For `q = 0.5` it is read at 2, three
quarters of the way from the one to the other: 17.5.

The values are ints and floats, finite and in any order; the weights are ints; `q` is an int or a float. The result is always
a float and may be off by 1e-9, absolutely or relatively. Raise ValueError if the lists differ in length, if a weight is
negative, if the sum of the weights is 0 (so also for empty lists), or if `q` is less than 0 or greater than 1. The lists must
not be changed.
"""

ZH = """
请编写函数 `midpoint_quantile`，按以下规则返回带权数值的分位数：

1. `weights[i]` 是 `values[i]` 的权重。权重为 0 的值被忽略；相等的值合并为一个值，其权重为各权重之和。
2. 将剩下的值从小到大依次并排放在一条从 0 开始的线上。每个值占据一段，长度等于它的权重；因此这条线止于 W，即所有权重之和。
   一个值的位置是它所占那一段的中点。
3. 在 `q * W` 处读取分位数：在某个值的位置上，结果就是这个值；在两个相邻值的位置之间，结果从前者到后者线性变化。
   在第一个位置之前，结果是最小的值；在最后一个位置之后，结果是最大的值。

例如：值为 `[10, 20]`、权重为 `[1, 3]` 时，位置分别是 0.5 和 2.5。当 `q = 0.5` 时，在 2 处读取，
即从前者到后者的四分之三处：17.5。

值是整数和浮点数，均为有限值，顺序任意；权重是整数；`q` 是整数或浮点数。结果始终是浮点数，允许有 1e-9 的绝对误差或相对误差。
若两个列表长度不同、有负的权重、权重之和为 0（因此也包括空列表），或者 `q` 小于 0 或大于 1，则抛出 ValueError。
不得修改这些列表。
"""

REFERENCE = """
from itertools import pairwise


def midpoint_quantile(values, weights, q):
    if len(values) != len(weights) or any(w < 0 for w in weights) or sum(weights) == 0 or not 0 <= q <= 1:
        raise ValueError("no quantile")
    merged = {}
    for value, weight in zip(values, weights):
        if weight > 0:
            merged[value] = merged.get(value, 0) + weight
    ascending = sorted(merged)
    points = [(0, ascending[0])]
    end = 0
    for value in ascending:
        points.append((end + merged[value] / 2, value))
        end += merged[value]
    points.append((end, ascending[-1]))
    for (before, lower), (after, upper) in pairwise(points):
        if q * end <= after:
            return lower + (upper - lower) * (q * end - before) / (after - before)
"""

_GUARD = """
def midpoint_quantile(values, weights, q):
    if len(values) != len(weights) or any(w < 0 for w in weights) or sum(weights) == 0 or not 0 <= q <= 1:
        raise ValueError
"""

WRONG = {
    "equal values are not merged": f"""{_GUARD}
    pairs = sorted((v, w) for v, w in zip(values, weights) if w)
    points, total = [], 0
    for v, w in pairs:
        points.append((total + w / 2, v))
        total += w
    at = q * total
    if at <= points[0][0]:
        return float(points[0][1])
    for (a, u), (b, v) in zip(points, points[1:]):
        if at <= b:
            return u + (v - u) * (at - a) / (b - a)
    return float(points[-1][1])
""",
    "values of weight zero stay": f"""{_GUARD}
    merged = {{}}
    for v, w in zip(values, weights):
        merged[v] = merged.get(v, 0) + w
    points, total = [], 0
    for v in sorted(merged):
        points.append((total + merged[v] / 2, v))
        total += merged[v]
    at = q * total
    if at <= points[0][0]:
        return float(points[0][1])
    for (a, u), (b, v) in zip(points, points[1:]):
        if at <= b:
            return u + (v - u) * (at - a) / (b - a)
    return float(points[-1][1])
""",
    "an int at the ends": f"""{_GUARD}
    merged = {{}}
    for v, w in zip(values, weights):
        if w:
            merged[v] = merged.get(v, 0) + w
    points, total = [], 0
    for v in sorted(merged):
        points.append((total + merged[v] / 2, v))
        total += merged[v]
    at = q * total
    if at <= points[0][0]:
        return points[0][1]
    for (a, u), (b, v) in zip(points, points[1:]):
        if at <= b:
            return u + (v - u) * (at - a) / (b - a)
    return points[-1][1]
""",
    "goes on beyond the first and the last position": f"""{_GUARD}
    merged = {{}}
    for v, w in zip(values, weights):
        if w:
            merged[v] = merged.get(v, 0) + w
    points, total = [], 0
    for v in sorted(merged):
        points.append((total + merged[v] / 2, v))
        total += merged[v]
    at = q * total
    if len(points) == 1:
        return float(points[0][1])
    i = 0
    while i + 2 < len(points) and points[i + 1][0] < at:
        i += 1
    (a, u), (b, v) = points[i], points[i + 1]
    return u + (v - u) * (at - a) / (b - a)
""",
    "no interpolation": f"""{_GUARD}
    total, below = sum(weights), 0
    for v, w in sorted(zip(values, weights)):
        below += w
        if w and below >= q * total:
            return float(v)
""",
    "the ends of the stretches instead of the middles": f"""{_GUARD}
    merged = {{}}
    for v, w in zip(values, weights):
        if w:
            merged[v] = merged.get(v, 0) + w
    points, total = [], 0
    for v in sorted(merged):
        total += merged[v]
        points.append((total, v))
    at = q * total
    if at <= points[0][0]:
        return float(points[0][1])
    for (a, u), (b, v) in zip(points, points[1:]):
        if at <= b:
            return u + (v - u) * (at - a) / (b - a)
""",
    "midpoints are whole numbers": f"""{_GUARD}
    merged = {{}}
    for v, w in zip(values, weights):
        if w:
            merged[v] = merged.get(v, 0) + w
    points, total = [], 0
    for v in sorted(merged):
        points.append((total + merged[v] // 2, v))
        total += merged[v]
    at = q * total
    if at <= points[0][0]:
        return float(points[0][1])
    for (a, u), (b, v) in zip(points, points[1:]):
        if at <= b:
            return u + (v - u) * (at - a) / (b - a)
    return float(points[-1][1])
""",
    "negative weights raise nothing": """
def midpoint_quantile(values, weights, q):
    if len(values) != len(weights) or sum(weights) <= 0 or not 0 <= q <= 1:
        raise ValueError
    merged = {}
    for v, w in zip(values, weights):
        if w > 0:
            merged[v] = merged.get(v, 0) + w
    points, total = [], 0
    for v in sorted(merged):
        points.append((total + merged[v] / 2, v))
        total += merged[v]
    at = q * total
    if at <= points[0][0]:
        return float(points[0][1])
    for (a, u), (b, v) in zip(points, points[1:]):
        if at <= b:
            return u + (v - u) * (at - a) / (b - a)
    return float(points[-1][1])
""",
    "sorts the list of values": f"""{_GUARD}
    order = sorted(range(len(values)), key=lambda i: values[i])
    weights = [weights[i] for i in order]
    values.sort()
    points, total = [], 0
    for v in dict.fromkeys(v for v, w in zip(values, weights) if w):
        w = sum(w for u, w in zip(values, weights) if u == v)
        points.append((total + w / 2, v))
        total += w
    at = q * total
    if at <= points[0][0]:
        return float(points[0][1])
    for (a, u), (b, v) in zip(points, points[1:]):
        if at <= b:
            return u + (v - u) * (at - a) / (b - a)
    return float(points[-1][1])
""",
}


def checks() -> tuple[Check, ...]:
    many = [(i * 7919) % 1_009 / 8 for i in range(1_500)]
    heavy = [(i * 31) % 17 for i in range(1_500)]
    return (
        (call([10, 20], [1, 3], 0.5),),
        (call([10, 20], [1, 3], 0.25),),
        (call([20, 10], [3, 1], 0.5),),
        (call([10, 20], [1, 3], 0),),
        (call([10, 20], [1, 3], 1),),
        (call([10, 20], [1, 3], 0.1),),
        (call([10, 20], [1, 3], 0.7),),
        (call([10, 20], [1, 3], 0.125),),
        (call([7], [5], 0.3),),
        (call([7], [5], 0),),
        (call([-2, -2], [5, 1], 1.0),),
        (call([3, 1, 3, 8, 3], [1, 2, 2, 4, 1], 0.4),),
        (call([3, 1, 3, 8, 3], [1, 2, 2, 4, 1], 0.55),),
        (call([1, 5, 9], [2, 0, 2], 0.375),),
        (call([-4, 5, 9], [0, 1, 2], 0.0),),
        (call([4, 5, 90], [1, 2, 0], 1.0),),
        (call([4.0, -1.5, 2.25, -7.5], [1, 2, 3, 4], 0.62),),
        (call([4.0, -1.5, 2.25, -7.5], [1, 2, 3, 4], 0.33),),
        (call([0.1, 0.2, 0.3], [1, 1, 1], 1 / 3),),
        (call([1, 2, 3, 4], [1, 1, 1, 1], 0.5),),
        (call([1, 2, 3], [1, 1, 1], 0.9),),
        (call([], [], 0.5),),
        (call([1, 2], [0, 0], 0.5),),
        (call([1, 2], [1], 0.5),),
        (call([1], [1, 1], 0.5),),
        (call([1, 2, 3], [4, -1, 4], 0.5),),
        (call([1, 2, 3], [1, -1, 2], 1),),
        (call([1, 2], [1, 1], -0.001),),
        (call([1, 2], [1, 1], 1.001),),
        (call([1, 2], [1, 1], 2),),
        (call([1, 9], [2, 2], 0.1),),
        (call([1, 9], [10**12, 3 * 10**12], 0.375),),
        (call([1, 4], [1, 1], 0.26),),
        (call(many, heavy, 0.123),),
        (call(many, heavy, 0.987),),
    )


PROBLEM = Problem(
    id="midpoint_quantile",
    category="mathematics",
    level="medium",
    entry="midpoint_quantile",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    tolerance=1e-9,
    keeps_arguments=True,
)
