"""The fastest way out of a vault with keys, doors, lifts and mud. Sample: vault_minutes(["S~X"]) → 2, with no key held."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def vault_minutes(grid: list[str]) -> int: ..."

EN = """
A vault is a grid of cells, given as a list of strings of equal length, one character a cell. Write a function `vault_minutes`
that returns the smallest number of minutes in which one gets from the only `S` to the only `X`, or -1 if that is impossible.

One moves to one of the four neighbouring cells (up, down, left, right), never out of the grid. A move takes 1 minute, except
into mud. The cells are:

- `#`: a wall, which cannot be entered.
- `.`: floor. `S` and `X` are floor too.
- `a` to `e`: floor with a key on it. Whoever enters the cell picks the key up, like it or not, and keeps it for good. Several
  cells may have the same letter; holding a letter twice is the same as holding it once.
- `A` to `E`: a door. It can be entered only by those who hold the key with the same (small) letter. Keys are not used up.
- `~`: mud. A move into mud takes 1 minute and 1 more minute for each different letter of which a key is held. One cannot move
  from a mud cell directly to another mud cell.
- `1` to `9`: a lift. If a digit stands in the grid twice, then whoever moves into one of these two cells is carried at once to
  the other, without choice and without further time, and goes on from there; being carried to a lift does not start it again.
  A digit that stands in the grid only once is floor. No digit stands in it more than twice.

There may be no way because of missing keys. The way ends as soon as `X` is reached. The same cell may be entered many times.
For example, `vault_minutes(["Sa~AX"])` is 5: 1 for the key, 2 for the mud with one key held, 1 for the door, 1 for the exit.
"""

ZH = """
一座金库是由格子组成的网格，以等长字符串的列表给出，每个字符是一个格子。请编写函数 `vault_minutes`，
返回从唯一的 `S` 到达唯一的 `X` 所需的最少分钟数；如果无法到达，返回 -1。

每次移动到上、下、左、右四个相邻格子之一，不能走出网格。移动一次用 1 分钟，进入泥地时除外。格子有以下几种：

- `#`：墙，不能进入。
- `.`：地板。`S` 和 `X` 也是地板。
- `a` 到 `e`：放有钥匙的地板。进入该格子的人必定会拿起钥匙（不能选择不拿），并一直持有。多个格子可以有同一个字母；
  同一个字母持有两把与持有一把没有区别。
- `A` 到 `E`：门。只有持有相同（小写）字母的钥匙的人才能进入。钥匙不会消耗。
- `~`：泥地。进入泥地的一次移动用 1 分钟，并且所持钥匙每有一个不同的字母就再多用 1 分钟。
  不能从一个泥地格子直接移动到另一个泥地格子。
- `1` 到 `9`：电梯。如果一个数字在网格中出现两次，那么移动进入这两个格子之一的人会立即被送到另一个格子，不能选择，
  也不再花费时间，然后从那里继续走；被送到电梯格子上不会再次启动电梯。在网格中只出现一次的数字就是地板。
  没有数字出现多于两次。

可能因为缺少钥匙而无路可走。一到达 `X`，路程就结束。同一个格子可以多次进入。
例如，`vault_minutes(["Sa~AX"])` 的结果是 5：拿钥匙 1 分钟，持有一把钥匙时进入泥地 2 分钟，门 1 分钟，出口 1 分钟。
"""

REFERENCE = """
import heapq


def vault_minutes(grid):
    cells = {(row, column): cell for row, line in enumerate(grid) for column, cell in enumerate(line)}
    lifts = {}
    for place, cell in cells.items():
        if cell.isdigit():
            lifts.setdefault(cell, []).append(place)
    carried = {}
    for places in lifts.values():
        carried[min(places)] = max(places)
        carried[max(places)] = min(places)
    start = next(place for place, cell in cells.items() if cell == "S")
    heap = [(0, start, "")]
    settled = set()
    while heap:
        minutes, place, keys = heapq.heappop(heap)
        if cells[place] == "X":
            return minutes
        if (place, keys) in settled:
            continue
        settled.add((place, keys))
        row, column = place
        for step in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            cell = cells.get(step, "#")
            if cell == "#" or (cell in "ABCDE" and cell.lower() not in keys):
                continue
            if cell == "~":
                if cells[place] != "~":
                    heapq.heappush(heap, (minutes + 1 + len(keys), step, keys))
            elif cell in "abcde":
                heapq.heappush(heap, (minutes + 1, step, "".join(sorted({*keys, cell}))))
            else:
                heapq.heappush(heap, (minutes + 1, carried.get(step, step), keys))
    return -1
"""

_SEARCH = """
import heapq


def vault_minutes(grid):
    cells = {(r, c): cell for r, line in enumerate(grid) for c, cell in enumerate(line)}
    lifts, carried = {}, {}
    for place, cell in cells.items():
        if cell.isdigit():
            lifts.setdefault(cell, []).append(place)
    for places in lifts.values():
        if len(places) == 2:
            carried[places[0]], carried[places[1]] = places[1], places[0]
    start = next(place for place, cell in cells.items() if cell == "S")
    heap, settled = [(0, start, ())], set()
    while heap:
        minutes, place, keys = heapq.heappop(heap)
        if cells[place] == "X":
            return minutes
        if (place, keys) in settled:
            continue
        settled.add((place, keys))
        for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            step = (place[0] + down, place[1] + right)
            cell = cells.get(step, "#")
            held = keys
            if cell == "#" or (cell in "ABCDE" and cell.lower() not in keys):
                continue
            if cell == "~" and cells[place] == "~":
                continue
            cost = 1 + len(keys) if cell == "~" else 1
            if cell in "abcde" and cell not in keys:
                held = tuple(sorted((*keys, cell)))
            ends = [carried.get(step, step)]
            for end in ends:
                heapq.heappush(heap, (minutes + cost, end, held))
    return -1
"""


def _other(old: str, new: str) -> str:
    assert _SEARCH.count(old) == 1
    return _SEARCH.replace(old, new)


WRONG = {
    "mud takes one minute more however many keys are held": _other("1 + len(keys) if", "2 if"),
    "mud without keys takes two minutes": _other("1 + len(keys) if", "2 + len(keys) if"),
    "from mud to mud": _other('if cell == "~" and cells[place] == "~":', "if False:"),
    "lifts are a matter of choice": _other("ends = [carried.get(step, step)]", "ends = {step, carried.get(step, step)}"),
    "a lift takes another minute": _other("minutes + cost, end", "minutes + cost + (end != step), end"),
    "a second key of the same letter makes mud slower": _other(' and cell not in keys:\n', ":\n"),
    "keys are picked up only if one likes": _other(
        "heapq.heappush(heap, (minutes + cost, end, held))",
        "heapq.heappush(heap, (minutes + cost, end, held))\n                heapq.heappush(heap, (minutes + cost, end, keys))",
    ),
    "a key is used up by its door": _other(
        "            ends = ",
        '            if cell in "ABCDE":\n                held = tuple(sorted({*keys} - {cell.lower()}))\n            ends = ',
    ),
    "a cell is entered once, whatever keys are held": _other(
        "if (place, keys) in settled:", "if place in settled:"
    ).replace("settled.add((place, keys))", "settled.add(place)"),
    "the first way found by breadth": '''
from collections import deque


def vault_minutes(grid):
    cells = {(r, c): cell for r, line in enumerate(grid) for c, cell in enumerate(line)}
    lifts, carried = {}, {}
    for place, cell in cells.items():
        if cell.isdigit():
            lifts.setdefault(cell, []).append(place)
    for places in lifts.values():
        if len(places) == 2:
            carried[places[0]], carried[places[1]] = places[1], places[0]
    start = next(place for place, cell in cells.items() if cell == "S")
    queue, seen = deque([(0, start, frozenset())]), {(start, frozenset())}
    while queue:
        minutes, place, keys = queue.popleft()
        if cells[place] == "X":
            return minutes
        for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            step = (place[0] + down, place[1] + right)
            cell = cells.get(step, "#")
            if cell == "#" or (cell in "ABCDE" and cell.lower() not in keys) or cell == cells[place] == "~":
                continue
            cost = 1 + len(keys) if cell == "~" else 1
            held = keys | {cell} if cell in "abcde" else keys
            end = carried.get(step, step)
            if (end, held) not in seen:
                seen.add((end, held))
                queue.append((minutes + cost, end, held))
    return -1
''',
}  # fmt: skip


def checks() -> tuple[Check, ...]:
    width = 14
    field = [
        "".join(".#.~.#..~"[(row * row * 5 + column * column * 3 + row * column) % 9] for column in range(width))
        for row in range(width)
    ]
    marks = {
        (0, 0): "S",
        (13, 13): "X",
        (0, 9): "1",
        (12, 2): "1",
        (6, 6): "a",
        (2, 12): "b",
        (13, 12): "A",
        (12, 13): "B",
        (8, 3): "c",
    }
    maze = ["".join(marks.get((r, c), cell) for c, cell in enumerate(line)) for r, line in enumerate(field)]
    return (
        (call(["Sa~AX"]), call(["S~X"]), call(["SX"]), call(["XS"]), call(["S", "X"])),
        (call(["S#X"]), call(["SAX"]), call(["S~~X"]), call(["SBa", "##X"])),
        (call(["SA.X", "a###"]), call(["aSAAAX"]), call(["bSAX", "#a##"])),
        (call(["S..a", "~##~", "X..."]), call(["Sab~X"]), call(["Saa~X", "#####"])),
        (call(["S1##", "##1X"]), call(["S1X1"]), call(["S1.1X"]), call(["S5X"]), call(["1S1", "##X"])),
        (call(["S2#..", "..#2X", "..#.."]), call(["S12", "#1#", "2.X"]), call(["S1", "X1"]), call(["S#X", "1#.", "1.."])),
        (call(["Sabcde~X"]), call(["Sabc~X", ".######", "......."]), call(["Sabc~X", "......", "######"])),
        (call(["S~~~X", ".#.#.", "..#.."]), call(["S~.~X"]), call(["S~1~X", "###1~"])),
        (call(["S.a.~.~.~.X", "##########.", "..........."]), call(["S.a.~.~.~.X", ".#########.", "..........."])),
        (call(["cSa", "A#B", "b#C", "X##"]), call(["cSaA", "B##b", "C##.", "X..."]), call(["dDSe", "##EX"])),
        (call(["#a#", "bSB", "#A#", "#X#"]), call(["aXA", "#S#", "..."])),
        (call(["S...", "3##4", "a3.A", "4##X"]), call(["S7~7~X"]), call(["S.7", "a#~", "7AX"])),
        (call(maze), call([line[::-1] for line in maze]), call([line.replace("~", ".") for line in maze])),
        (call(["SaaaX~", "~~~~~~"]), call(["S.a#", "~#.~", ".#b#", "~A.B", "..#X"]), call(["S~a~X", ".###.", "....."])),
        (call(["a~S~b", ".#~#.", "A...B", "#.X.#"]), call(["a~S~b", "####.", "XBA.."])),
    )


PROBLEM = Problem(
    id="vault_minutes",
    category="algorithms",
    level="hard",
    entry="vault_minutes",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
