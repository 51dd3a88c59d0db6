"""A binary search tree as low as can be. Sample: shortest_search_tree([3, 1, 2]) → [[None, 1, None], 2, [None, 3, None]]."""

from typing import Any

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def shortest_search_tree(values: list[int]) -> list | None: ..."

EN = """
Write a function `shortest_search_tree` that builds a binary search tree of the least possible height.

`values` is a list of integers in any order; equal ones may occur. Every different value is in the tree exactly once. The list
must not be changed.

A tree is None if it is empty; otherwise it is a list `[left, value, right]`: `left` is the tree of all smaller values below
this node, `right` the tree of all larger ones, and either may be None. The height of a tree is 0 if it is empty, otherwise
one more than the larger height of its two subtrees. Of all search trees with these values, the returned one must have the
least height. Where several trees have the least height, any of them is accepted.

Examples: `[]` gives `None`; `[3, 1, 2, 3]` gives `[[None, 1, None], 2, [None, 3, None]]`; `[5, 4]` gives
`[[None, 4, None], 5, None]` or `[None, 4, [None, 5, None]]`.
"""

ZH = """
请编写函数 `shortest_search_tree`，构造一棵高度尽可能小的二叉搜索树。

`values` 是整数列表，顺序任意，可能含有相等的数。每个不同的值在树中恰好出现一次。不得修改该列表。

空树用 None 表示；非空树是列表 `[left, value, right]`：`left` 是该结点之下所有较小的值组成的树，`right` 是
该结点之下所有较大的值组成的树，两者都可以是 None。空树的高度为 0，非空树的高度是两棵子树高度的较大者加一。
在含有这些值的所有二叉搜索树中，返回的树的高度必须最小。若有多棵树的高度都是最小的，返回其中任意一棵均可。

示例：`[]` 得到 `None`；`[3, 1, 2, 3]` 得到 `[[None, 1, None], 2, [None, 3, None]]`；`[5, 4]` 得到
`[[None, 4, None], 5, None]` 或 `[None, 4, [None, 5, None]]`。
"""

REFERENCE = """
def shortest_search_tree(values):
    ordered = sorted(set(values))

    def tree(start, end):
        if start == end:
            return None
        middle = (start + end) // 2
        return [tree(start, middle), ordered[middle], tree(middle + 1, end)]

    return tree(0, len(ordered))
"""

WRONG = {
    "equal values are kept": REFERENCE.replace("sorted(set(values))", "sorted(values)"),
    "an empty list instead of None": REFERENCE.replace("return None", "return []"),
    "not sorted": REFERENCE.replace("sorted(set(values))", "list(dict.fromkeys(values))"),
    "inserted one after the other, not balanced": """
def shortest_search_tree(values):
    root = None
    for value in dict.fromkeys(values):
        if root is None:
            root = [None, value, None]
            continue
        node = root
        while True:
            side = 0 if value < node[1] else 2
            if node[side] is None:
                node[side] = [None, value, None]
                break
            node = node[side]
    return root
""",
    "sorts the list itself": """
def shortest_search_tree(values):
    values.sort()
    for i in range(len(values) - 1, 0, -1):
        if values[i] == values[i - 1]:
            del values[i]

    def tree(part):
        if not part:
            return None
        middle = len(part) // 2
        return [tree(part[:middle]), part[middle], tree(part[middle + 1:])]

    return tree(values)
""",
    "leaves without their empty subtrees": REFERENCE.replace(
        "        middle =", "        if end - start == 1:\n            return [ordered[start]]\n        middle ="
    ),
    "the value comes first": REFERENCE.replace(
        "[tree(start, middle), ordered[middle], tree(middle + 1, end)]",
        "[ordered[middle], tree(start, middle), tree(middle + 1, end)]",
    ),
    "the last value is left out": REFERENCE.replace("tree(0, len(ordered))", "tree(0, max(0, len(ordered) - 1))"),
    "set order instead of sorted order": REFERENCE.replace("sorted(set(values))", "list(set(values))"),
}


def checks() -> tuple[Check, ...]:
    return (
        (call([3, 1, 2]),),
        (call([]),),
        (call([7]),),
        (call([5, 4]),),
        (call([3, 1, 2, 3]),),
        (call([4, 4, 4, 4, 4]),),
        (call([1, 2, 3, 4, 5, 6, 7]),),
        (call([8, 7, 6, 5, 4, 3, 2, 1]),),
        (call([0, -1, -2, 3, -4, 0]),),
        (call([10**20, -(10**20), 0]),),
        (call([2, 1, 2, 1, 3, 1]),),
        (call(list(range(-8, 7))),),
        (call([(i * 7919) % 1009 for i in range(255)]),),
        (call([(i * i) % 97 - 40 for i in range(200)]),),
        (call([(i * 7919) % 10_007 for i in range(4_095)]),),
    )


def accepts(given: tuple[Any, ...], returned: Any) -> bool:
    ordered: list[int] = []
    height = _walk(returned, ordered)
    wanted = sorted(set(given[0]))
    return ordered == wanted and height == len(wanted).bit_length()


def _walk(tree: Any, ordered: list[int]) -> int:
    """The height of a tree, whose values are appended in order; ValueError where it is none."""
    if tree is None:
        return 0
    if type(tree) is not list or len(tree) != 3 or type(tree[1]) is not int:
        raise ValueError("not a tree")
    left = _walk(tree[0], ordered)
    ordered.append(tree[1])
    return 1 + max(left, _walk(tree[2], ordered))


PROBLEM = Problem(
    id="shortest_search_tree",
    category="data structures",
    level="easy",
    entry="shortest_search_tree",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    keeps_arguments=True,
    accepts=accepts,
)
