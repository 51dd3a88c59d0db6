"""What is built after what, or a cycle. Sample: ["app: lib", "lib:"] → {"order": ["lib", "app"]}."""

from typing import Any

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def build_order(rules: list[str]) -> dict[str, list[str]]: ..."

EN = """
Write a function `build_order` that finds an order in which the parts of a program can be built.

A rule is a string like `"app: core util"`: the name of a part, a colon, and the names of the parts that must be built before
it, each preceded by one or more spaces. There may be none, as in `"core:"`. Names are not empty and contain neither white
space nor colons. The same part may have several rules, whose needs add up, and a need may be repeated, which means the same
as once. A part without a rule of its own needs nothing, but has to be built too.

- If there is an order in which every part comes after all parts that it needs, return `{"order": names}`, where `names` is a
  list with every part exactly once in such an order. Any such order is accepted.
- Otherwise return `{"cycle": names}`, where `names` is a list of one or more different parts, each of which needs the next
  one directly, and the last of which needs the first one directly. Any such cycle is accepted. A part that needs itself is a
  cycle of one.

For example, `["a: b", "b: c", "c: d b"]` gives `{"cycle": ["b", "c"]}` or `{"cycle": ["c", "b"]}`.

The dict that is returned has exactly one key. Without rules it is `{"order": []}`. The argument must not be changed. There
may be 40,000 parts in one single chain in which each part needs the next; this must take well under a second, so a solution
must neither run into the limit on recursion nor take quadratic time.
"""

ZH = """
请编写函数 `build_order`，求出构建一个程序各部件的顺序。

一条规则是一个字符串，例如 `"app: core util"`：先是一个部件的名称，然后是一个冒号，再后面是必须在它之前构建的部件的名
称，每个名称之前有一个或多个空格。也可以一个都没有，例如 `"core:"`。名称不为空，既不含空白字符也不含冒号。同一个部件可以
有多条规则，其需求合并在一起；同一个需求可以重复出现，其含义与出现一次相同。没有自己的规则的部件什么也不需要，但它同样必
须被构建。

- 如果存在一个顺序，使得每个部件都排在它所需要的所有部件之后，则返回 `{"order": names}`，其中 `names` 是一个列表，按这样
  的顺序包含每个部件恰好一次。任何一个这样的顺序都可以接受。
- 否则返回 `{"cycle": names}`，其中 `names` 是由一个或多个互不相同的部件组成的列表，每个部件都直接需要下一个部件，最后一
  个部件直接需要第一个部件。任何一个这样的环都可以接受。需要自身的部件是长度为一的环。

例如，`["a: b", "b: c", "c: d b"]` 得到 `{"cycle": ["b", "c"]}` 或 `{"cycle": ["c", "b"]}`。

返回的字典恰好有一个键。没有规则时，返回 `{"order": []}`。不得修改参数。可能有 40,000 个部件组成一条链，其中每个部件都需
要下一个；处理它的耗时必须远小于一秒，因此解法既不能触及递归深度的限制，也不能是平方级的时间。
"""

REFERENCE = """
def build_order(rules):
    needs = {}
    for rule in rules:
        name, _, needed = rule.partition(":")
        parts = needed.split()
        needs.setdefault(name, []).extend(parts)
        for part in parts:
            needs.setdefault(part, [])
    users = {name: [] for name in needs}
    for name, parts in needs.items():
        for part in parts:
            users[part].append(name)
    waiting = {name: len(parts) for name, parts in needs.items()}
    ready = [name for name in needs if not waiting[name]]
    order = []
    while ready:
        built = ready.pop()
        order.append(built)
        for name in users[built]:
            waiting[name] -= 1
            if not waiting[name]:
                ready.append(name)
    if len(order) == len(needs):
        return {"order": order}
    return {"cycle": _cycle(needs, waiting)}


def _cycle(needs, waiting):
    blocked = next(name for name in needs if waiting[name])
    place = {}
    while blocked not in place:
        place[blocked] = len(place)
        blocked = next(part for part in needs[blocked] if waiting[part])
    return list(place)[place[blocked] :]
"""

WRONG = {
    "users before what they need": REFERENCE.replace('"order": order', '"order": order[::-1]'),
    "parts without a rule are left out": REFERENCE.replace(
        '"order": order', '"order": [n for n in order if any(r.startswith(n + ":") for r in rules)]'
    ),
    "the last rule of a part replaces the others": REFERENCE.replace(
        "needs.setdefault(name, []).extend(parts)", "needs[name] = parts"
    ),
    "a repeated need is waited for twice": """
def build_order(rules):
    needs = {}
    for rule in rules:
        name, parts = rule.split(":")
        needs.setdefault(name, []).extend(parts.split())
    names = list(dict.fromkeys([*needs, *(p for parts in needs.values() for p in parts)]))
    waiting = {name: len(needs.get(name, [])) for name in names}
    users = {name: set() for name in names}
    for name, parts in needs.items():
        for part in parts:
            users[part].add(name)
    order = [name for name in names if waiting[name] == 0]
    for part in order:
        for name in users[part]:
            waiting[name] -= 1
            if waiting[name] == 0:
                order.append(name)
    if len(order) == len(names):
        return {"order": order}
    name, path = next(n for n in names if waiting[n]), {}
    while name not in path:
        path[name] = len(path)
        name = next((p for p in needs[name] if waiting[p]), name)
    return {"cycle": list(path)[path[name] :]}
""",
    "the way to the cycle is part of it": REFERENCE.replace("list(place)[place[blocked] :]", "list(place)"),
    "the first part again at the end of the cycle": REFERENCE.replace(
        "list(place)[place[blocked] :]", "list(place)[place[blocked] :] + [blocked]"
    ),
    "the cycle is reversed": REFERENCE.replace("list(place)[place[blocked] :]", "list(place)[place[blocked] :][::-1]"),
    "all parts that could not be built": REFERENCE.replace(
        '{"cycle": _cycle(needs, waiting)}', '{"cycle": [n for n in needs if waiting[n]]}'
    ),
    "an error for a cycle": REFERENCE.replace('return {"cycle": _cycle(needs, waiting)}', "raise ValueError"),
    "needs are split at single spaces": REFERENCE.replace("needed.split()", 'needed[1:].split(" ")'),
    "recursion": """
def build_order(rules):
    needs = {}
    for rule in rules:
        name, parts = rule.split(":")
        needs.setdefault(name, []).extend(parts.split())
    order, done, path = [], set(), []

    def visit(name):
        if name in done:
            return None
        if name in path:
            return path[path.index(name) :]
        path.append(name)
        for part in needs.get(name, []):
            cycle = visit(part)
            if cycle:
                return cycle
        path.pop()
        done.add(name)
        order.append(name)
        return None

    for name in needs:
        cycle = visit(name)
        if cycle:
            return {"cycle": cycle}
    return {"order": order}
""",
    "looks through all parts for those that are ready": """
def build_order(rules):
    needs = {}
    for rule in rules:
        name, parts = rule.split(":")
        needs.setdefault(name, set()).update(parts.split())
        for part in parts.split():
            needs.setdefault(part, set())
    left, order, built = dict(needs), [], set()
    while left:
        ready = [name for name, parts in left.items() if parts <= built]
        if not ready:
            break
        for name in ready:
            order.append(name)
            built.add(name)
            del left[name]
    if not left:
        return {"order": order}
    name, path = next(iter(left)), []
    while name not in path:
        path.append(name)
        name = next(p for p in needs[name] if p in left)
    return {"cycle": path[path.index(name) :]}
""",
}


def checks() -> tuple[Check, ...]:
    grid = [f"{i},{j}: {i - 1},{j} {i},{j - 1}" for i in range(1, 12) for j in range(1, 12)]
    sparse = [f"m{i}: m{i // 2}  m{i // 3}   m{i * 2 // 3}" for i in range(96, 0, -1)]
    return (
        (call(["app: lib", "lib:"]),),
        (call([]),),
        (call(["a:"]),),
        (call(["a: b"]),),
        (call(["a: a"]),),
        (call(["a: b", "b: c", "c: d b"]),),
        (call(["a: b b", "b: c c c", "c:"]),),
        (call(["a: b b b", "b: c a c a", "c:"]),),
        (call(["top: left right", "left: base", "right: base", "base:"]),),
        (call(["x:", "y:", "z: x", "w: z y"]),),
        (call(["b: a", "c: b", "b: d", "d: e", "b:", "e: a"]),),
        (call(["a: b", "a: c", "c: a", "a: d"]),),
        (call(["a: b", "b: c", "c: d", "d: e", "e: c", "f: a"]),),
        (call(["a:", "b: a b", "c: b"]),),
        (call(["q: w e", "w: e r", "e: r t", "r: q", "t:"]),),
        (call(["one: x two", "two: x three", "three: x y one", "y: x"]),),
        (call(["a:   c", "b: c", "c:  out   ", "d: a  b   out"]),),
        (call(["p: q", "q: p", "r: s", "s: t", "t: r"]),),
        (call(["构建: 测试", "测试: 编译", "-: 构建 =", "=: 0.1"]),),
        (call(grid),),
        (call(sparse),),
        (call([*sparse, "m0: m95"]),),
        (call([f"r{i}: r{(i + 1) % 2_500}" for i in range(2_500)]),),
        (call([f"n{i}: n{i + 1}" for i in range(30_000)]),),
    )


def accepts(args: tuple[Any, ...], answer: Any) -> bool:
    needs: dict[str, set[str]] = {}
    for rule in args[0]:
        name, _, needed = rule.partition(":")
        needs.setdefault(name, set()).update(needed.split())
    if type(answer) is not dict or len(answer) != 1:
        return False
    ((kind, names),) = answer.items()
    if type(names) is not list or any(type(name) is not str for name in names):
        return False
    place = {name: i for i, name in enumerate(names)}
    if len(place) < len(names):
        return False
    if kind == "cycle":
        return bool(names) and all(b in needs.get(a, ()) for a, b in zip(names, names[1:] + names[:1], strict=True))
    if kind != "order" or place.keys() != needs.keys() | {part for needed in needs.values() for part in needed}:
        return False
    return all(place[part] < place[name] for name, needed in needs.items() for part in needed)


PROBLEM = Problem(
    id="build_order",
    category="engineering",
    level="medium",
    entry="build_order",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    large=True,
    keeps_arguments=True,
    accepts=accepts,
)
