"""A text with a cursor, undo and redo in steps. Sample: insert "a", insert "b", erase 1, undo → "ab|", undo → "|"."""

from sandbox.steps import do, each, new, repeat
from tasks.problem import Check, Problem

SIGNATURE = """
class Editor:
    def __init__(self, text: str = "", depth: int = 100) -> None: ...
    def insert(self, text: str) -> None: ...
    def erase(self, count: int) -> str: ...
    def move(self, position: int) -> int: ...
    def undo(self) -> bool: ...
    def redo(self) -> bool: ...
    def show(self) -> str: ...
"""

EN = r"""
Write a class `Editor`: a text with a cursor, whose changes can be undone and redone step by step.

- `Editor(text, depth)` starts with this text and the cursor behind it. `depth` says how many steps can be undone at most, see
  below; a negative one raises ValueError.
- `insert(text)` inserts the text at the cursor, which stands behind the inserted text then. Returns None.
- `erase(count)`: if `count` is positive, it removes the `count` characters before the cursor; if `count` is negative, the
  `-count` characters after the cursor. If there are fewer, it removes those that there are. Returns the removed characters,
  in the order of the text.
- `move(position)` puts the cursor behind the first `position` characters; a negative position counts as 0, one beyond the end
  of the text as the end. Returns the cursor's new position.
- `show()` returns the text with `"|"` added where the cursor is. It affects nothing.

A call of `insert` or `erase` that alters the text is a change. A call that inserts or removes no character has no effect at
all: it is as if it had not been made.

Changes form steps. A change belongs to the same step as the change before it if both are of the same kind, and no call of
`move`, `undo` or `redo` lies between them, whatever that call did or returned; otherwise it begins a new step. There are
three kinds: to insert, to erase before the cursor, and to erase after the cursor. One exception: inserting a text that
contains a newline `"\n"` is always a step of its own, to which neither the change before it nor the one after it belongs.

- `undo()` takes back the latest step that is not undone: text and cursor become as they were just before the first change of
  the step. Returns True, or False if there is no step to undo.
- `redo()` does the step again that was undone last: text and cursor become as they were just after the last change of the
  step. Returns True, or False if there is no step to redo. The step can be undone again then.
- A change makes all undone steps vanish: they can't be redone any more. `move` does not.
- When there are more than `depth` steps that could be undone, the oldest one is forgotten: its effect stays, but it can't be
  undone any more. With a depth of 0 nothing can ever be undone.

Example: `Editor()`, `insert("a")`, `insert("b")`, `erase(1)` returns `"b"`, `undo()` is True, `show()` is `"ab|"`, `undo()`
is True, `show()` is `"|"`, `undo()` is False, `redo()` is True, `show()` is `"ab|"`.
"""

ZH = r"""
请编写一个类 `Editor`：一段带有光标的文本，对它的更改可以逐步撤销和重做。

- `Editor(text, depth)` 创建时的文本为 `text`，光标在文本末尾。`depth` 是最多可以撤销的步数，见下文；
  为负数时抛出 ValueError。
- `insert(text)` 在光标处插入文本，此后光标位于所插入文本之后。返回 None。
- `erase(count)`：`count` 为正数时，删除光标之前的 `count` 个字符；为负数时，删除光标之后的 `-count` 个字符。
  如果字符不够，则有多少删除多少。返回被删除的字符，按它们在文本中的顺序。
- `move(position)` 将光标移到前 `position` 个字符之后；负数视为 0，超出文本末尾则视为末尾。返回光标的新位置。
- `show()` 返回在光标处加上 `"|"` 的文本。它不影响任何东西。

改变了文本的 `insert` 或 `erase` 调用称为一次更改。没有插入或删除任何字符的调用完全没有作用，如同没有调用过一样。

更改组成步骤。如果一次更改与它之前的那次更改属于同一种类，并且两者之间没有调用过 `move`、`undo` 或 `redo`
（无论这些调用做了什么、返回了什么），则它们属于同一步骤；否则这次更改开始一个新的步骤。种类共有三种：
插入、删除光标之前的字符、删除光标之后的字符。有一个例外：插入含有换行符 `"\n"` 的文本总是单独成为一个步骤，
它之前和之后的更改都不属于这个步骤。

- `undo()` 撤销尚未被撤销的最近一个步骤：文本和光标恢复为该步骤的第一次更改之前的样子。返回 True；
  如果没有可以撤销的步骤，则返回 False。
- `redo()` 重做最近被撤销的那个步骤：文本和光标变为该步骤的最后一次更改刚刚完成时的样子。返回 True；
  如果没有可以重做的步骤，则返回 False。此后该步骤又可以被撤销。
- 一次更改会使所有已被撤销的步骤消失：它们不能再被重做。`move` 则不会。
- 如果可以撤销的步骤多于 `depth` 个，则忘掉其中最早的一个：它的效果保留，但不能再被撤销。
  `depth` 为 0 时，任何东西都不能撤销。

示例：`Editor()`，`insert("a")`，`insert("b")`，`erase(1)` 返回 `"b"`，`undo()` 为 True，`show()` 为 `"ab|"`，
`undo()` 为 True，`show()` 为 `"|"`，`undo()` 为 False，`redo()` 为 True，`show()` 为 `"ab|"`。
"""

REFERENCE = r"""
class Editor:
    def __init__(self, text="", depth=100):
        if depth < 0:
            raise ValueError("negative depth")
        self._depth = depth
        self._now = (text, "")  # what is before the cursor, and what is after it
        self._done = []
        self._undone = []
        self._kind = None

    def insert(self, text):
        before, after = self._now
        if "\n" in text:
            self._kind = None
        if text:
            self._change("insert", before + text, after)
        if "\n" in text:
            self._kind = None

    def erase(self, count):
        before, after = self._now
        if count > 0:
            rest = before[:-count]
            removed = before[len(rest) :]
            kind, state = "erase before", (rest, after)
        else:
            removed = after[:-count]
            kind, state = "erase after", (before, after[-count:])
        if removed:
            self._change(kind, *state)
        return removed

    def move(self, position):
        self._kind = None
        text = "".join(self._now)
        position = min(max(position, 0), len(text))
        self._now = (text[:position], text[position:])
        return position

    def undo(self):
        self._kind = None
        if not self._done:
            return False
        step = self._done.pop()
        self._undone.append(step)
        self._now = step[0]
        return True

    def redo(self):
        self._kind = None
        if not self._undone:
            return False
        step = self._undone.pop()
        self._done.append(step)
        self._now = step[1]
        return True

    def show(self):
        return "|".join(self._now)

    def _change(self, kind, before, after):
        start = self._now
        if kind == self._kind and self._done:
            start, _ = self._done.pop()
        self._now = (before, after)
        self._done.append((start, self._now))
        if len(self._done) > self._depth:
            del self._done[0]
        self._undone.clear()
        self._kind = kind
"""

WRONG = {
    "each change is a step": REFERENCE.replace("if kind == self._kind and self._done:", "if False:"),
    "one step for changes of any kind": REFERENCE.replace(
        "if kind == self._kind and self._done:", "if self._kind and self._done:"
    ),
    "moving does not end a step": REFERENCE.replace(
        '        self._kind = None\n        text = "".join', '        text = "".join'
    ),
    "redo that does nothing does not end a step": REFERENCE.replace(
        "        self._kind = None\n        if not self._undone:\n            return False\n",
        "        if not self._undone:\n            return False\n        self._kind = None\n",
    ),
    "undo does not end a step": REFERENCE.replace(
        "        self._kind = None\n        if not self._done:", "        if not self._done:"
    ),
    "redo restores the cursor before the undo": REFERENCE.replace(
        "        self._undone.append(step)", "        self._undone.append((step[0], self._now))"
    ),
    "undo leaves the cursor at the end": REFERENCE.replace("self._now = step[0]", 'self._now = ("".join(step[0]), "")'),
    "moving empties what can be redone": REFERENCE.replace(
        '        text = "".join', '        self._undone.clear()\n        text = "".join'
    ),
    "a change keeps what can be redone": REFERENCE.replace("        self._undone.clear()\n", ""),
    "an empty insert ends what can be redone": REFERENCE.replace("        if text:\n", "        if text is not None:\n"),
    "an empty erase ends the step": REFERENCE.replace(
        "        if removed:\n", "        if not removed:\n            self._kind = None\n        else:\n"
    ),
    "erasing forwards and backwards is one kind": REFERENCE.replace('"erase before"', '"erase"').replace(
        '"erase after"', '"erase"'
    ),
    "a newline does not stand alone": REFERENCE.replace('        if "\\n" in text:\n            self._kind = None\n', ""),
    "a newline ends a step, but belongs to it": REFERENCE.replace(
        '        if "\\n" in text:\n            self._kind = None\n        if text', "        if text"
    ),
    "text after a newline belongs to its step": REFERENCE.replace(
        'after)\n        if "\\n" in text:\n            self._kind = None\n', "after)\n"
    ),
    "only a single newline stands alone": REFERENCE.replace('if "\\n" in text', 'if text == "\\n"'),
    "the depth is not kept": REFERENCE.replace("            del self._done[0]\n", "            pass\n"),
    "the depth forgets the newest": REFERENCE.replace("            del self._done[0]\n", "            del self._done[-1]\n"),
    "erased text is returned backwards": REFERENCE.replace(
        "        return removed\n", "        return removed[::-1] if count > 0 else removed\n"
    ),
    "erase counts characters that are not there": REFERENCE.replace(
        "rest = before[:-count]", "rest = before[:len(before) - count]"
    ),
    "a negative position counts from the end": REFERENCE.replace(
        "min(max(position, 0), len(text))", "min(position, len(text))"
    ),
}


def checks() -> tuple[Check, ...]:
    def undone(times: int) -> Check:
        return (do("undo"), do("show")) * times

    def redone(times: int) -> Check:
        return (do("redo"), do("show")) * times

    words = (new(), do("insert", "one"), do("move", 3), do("insert", " two"), do("move", 0), do("insert", ">"), do("show"))
    return (
        (new(), do("insert", "a"), do("insert", "b"), do("erase", 1), *undone(3), *redone(3)),
        (new(), do("show"), do("undo"), do("redo"), do("erase", 3), do("erase", -3), do("move", 5), do("move", -5), do("show")),
        (new("text"), do("show"), do("move", 2), do("erase", 1), do("show"), do("erase", -1), do("show"), *undone(3),
         *redone(3)),
        (new("abc", -1),),
        (new("abc", 0), do("insert", "d"), do("insert", "e"), do("undo"), do("show"), do("erase", 2), do("undo"), do("redo"),
         do("show")),
        (new("abcdef"), do("erase", 2), do("show"), do("erase", 5), do("show"), do("erase", 1), do("undo"), do("show")),
        (new("abcdef"), do("move", 1), do("erase", -2), do("erase", -1), do("show"), do("erase", -9), do("erase", -1),
         do("show"), *undone(2), *redone(1)),
        (new("abcdef"), do("move", 3), do("erase", 1), do("erase", -1), do("erase", 1), do("show"), *undone(4), *redone(4)),
        (*words, *undone(4), *redone(4)),
        (*words, do("undo"), do("undo"), do("move", 1), do("redo"), do("show"), do("move", 2), do("redo"), do("show"),
         do("redo")),
        (*words, do("undo"), do("move", 2), do("undo"), do("show"), do("move", 0), do("insert", "x"), do("redo"), do("show"),
         *undone(3)),
        (*words, do("undo"), do("insert", ""), do("erase", 0), do("erase", 5), do("redo"), do("show"), do("undo"), do("undo"),
         do("erase", -7),
         *redone(2)),
        (new("ab"), do("insert", "c"), do("insert", ""), do("erase", -1), do("erase", 0), do("insert", "d"), do("show"),
         *undone(2)),
        (new("ab"), do("erase", 1), do("erase", -2), do("insert", ""), do("erase", 1), do("erase", 1), *undone(2)),
        (new(), do("insert", "a"), do("redo"), do("insert", "b"), do("move", 2), do("insert", "c"), do("move", 9),
         do("insert", "d"), *undone(5)),
        (new(), do("insert", "a"), do("move", 1), do("insert", "b"), do("undo"), do("insert", "c"), do("undo"), do("show"),
         do("redo"),
         do("insert", "d"), *undone(4)),
        (new(), do("undo"), do("insert", "a"), do("insert", "b"), do("insert", "\n"), do("insert", "c"), do("insert", "d"),
         do("insert", "e\nf"),
         do("insert", "\n\n"), do("insert", "g"), do("show"), *undone(7), *redone(7)),
        (new("x\ny"), do("erase", 1), do("erase", 1), do("erase", 1), do("insert", "\n"), do("erase", 1), do("show"),
         *undone(4)),
        (new("", 2), do("insert", "a"), do("insert", "b"), do("move", 0), do("insert", "c"), do("erase", -1), do("show"),
         *undone(3), *redone(3)),
        (new("", 2), do("insert", "a"), do("erase", 1), do("insert", "b"), do("insert", "c"), do("insert", "d"), *undone(3),
         do("insert", "e"),
         *redone(1), *undone(2)),
        (new("", 1), do("insert", "a"), do("insert", "b"), do("erase", 1), do("insert", "\n"), do("insert", "z"), *undone(2),
         *redone(2)),
        (new("é数据"), do("move", 1), do("insert", "结构"), do("erase", -1), do("show"), do("move", -3), do("move", 99),
         do("erase", 2), *undone(3),
         do("insert", "|"), do("show")),
        (new(text="q", depth=3), each("insert", [("\n",)] * 5), do("show"), *undone(4), *redone(4)),
        (new("s"), each("insert", [("\n",)] * 104), do("show"), repeat("undo", 100), do("show"), do("undo"),
         repeat("redo", 99), do("redo"), do("redo")),
    )  # fmt: skip


PROBLEM = Problem(
    id="undo_editor",
    category="data structures",
    level="hard",
    entry="Editor",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
