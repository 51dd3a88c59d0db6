"""A bag of words that counts by prefix. Sample: add "to", "top", "to" → with_prefix("to") → 3."""

from sandbox.steps import do, each, new
from tasks.problem import Check, Problem

SIGNATURE = """
class WordBag:
    def __init__(self) -> None: ...
    def add(self, word: str, times: int = 1) -> None: ...
    def remove(self, word: str) -> bool: ...
    def remove_prefix(self, prefix: str) -> int: ...
    def count(self, word: str) -> int: ...
    def with_prefix(self, prefix: str) -> int: ...
    def longest_in(self, text: str) -> str | None: ...
    def shortest_unique(self, word: str) -> str: ...
"""

EN = """
Write a class `WordBag`, a bag of words: the same word may be in it several times. A word is any string, the empty string
included; characters are compared exactly, so upper and lower case differ. A string is a prefix of itself, and the empty
string is a prefix of every word.

- `add(word, times)` puts the word in `times` more times. `times` is an integer, 1 if left out; less than 1 raises ValueError
  and changes nothing.
- `remove(word)` takes the word out once. Returns True if it was there, False otherwise.
- `remove_prefix(prefix)` takes out every word that starts with `prefix`, as often as it is in the bag. Returns how many words
  were taken out; a word that was there three times counts three times.
- `count(word)` returns how many times exactly this word is in the bag.
- `with_prefix(prefix)` returns how many words in the bag start with `prefix`; a word that is there three times counts three
  times.
- `longest_in(text)` returns the longest word of the bag that is a prefix of `text`, or None if no word of the bag is.
- `shortest_unique(word)` returns the shortest prefix of `word` that no other word in the bag starts with. Copies of `word`
  itself are not other words. If every prefix of `word`, the whole word included, begins another word too, it returns the
  whole word. If `word` is not in the bag, it raises KeyError.

Example: after `add("to", 2)` and `add("top")`, `with_prefix("to")` is 3, `longest_in("topic")` is `"top"`, and
`shortest_unique("top")` is `"top"`. After `add("cat")` too, `shortest_unique("cat")` is `"c"`.
"""

ZH = """
请编写一个类 `WordBag`，它是一个可重复的单词集合：同一个单词可以在其中出现多次。单词可以是任意字符串，包括空字符串；
字符按原样比较，因此区分大小写。一个字符串是它自身的前缀，空字符串是所有单词的前缀。

- `add(word, times)` 将单词再放入 `times` 次。`times` 是整数，省略时为 1；小于 1 时抛出 ValueError，
  且不作任何改变。
- `remove(word)` 取出该单词一次。如果它在集合中则返回 True，否则返回 False。
- `remove_prefix(prefix)` 取出所有以 `prefix` 开头的单词，每个单词的所有重复都被取出。
  返回取出的单词个数；出现三次的单词计为三个。
- `count(word)` 返回集合中恰好等于该单词的个数。
- `with_prefix(prefix)` 返回集合中以 `prefix` 开头的单词个数；出现三次的单词计为三个。
- `longest_in(text)` 返回集合中是 `text` 前缀的最长单词；如果没有这样的单词，则返回 None。
- `shortest_unique(word)` 返回 `word` 的最短前缀，使得集合中没有其他单词以它开头。`word` 自身的重复不算其他单词。
  如果 `word` 的每个前缀（包括整个单词）也都是其他单词的开头，则返回整个单词。
  如果 `word` 不在集合中，则抛出 KeyError。

示例：执行 `add("to", 2)` 和 `add("top")` 之后，`with_prefix("to")` 为 3，`longest_in("topic")` 为 `"top"`，
`shortest_unique("top")` 为 `"top"`。再执行 `add("cat")` 之后，`shortest_unique("cat")` 为 `"c"`。
"""

REFERENCE = """
class _Node:
    def __init__(self):
        self.children = {}
        self.words = 0
        self.below = 0


class WordBag:
    def __init__(self):
        self._root = _Node()

    def add(self, word, times=1):
        if times < 1:
            raise ValueError("times must be positive")
        node = self._root
        node.below += times
        for char in word:
            node = node.children.setdefault(char, _Node())
            node.below += times
        node.words += times

    def remove(self, word):
        if not self.count(word):
            return False
        path = self._path(word)
        for node in path:
            node.below -= 1
        path[-1].words -= 1
        return True

    def remove_prefix(self, prefix):
        removed = self.with_prefix(prefix)
        if removed:
            path = self._path(prefix)
            for node in path:
                node.below -= removed
            path[-1].words = 0
            path[-1].children = {}
        return removed

    def count(self, word):
        path = self._path(word)
        return path[-1].words if len(path) > len(word) else 0

    def with_prefix(self, prefix):
        path = self._path(prefix)
        return path[-1].below if len(path) > len(prefix) else 0

    def longest_in(self, text):
        found = None
        for length, node in enumerate(self._path(text)):
            if node.words:
                found = text[:length]
        return found

    def shortest_unique(self, word):
        copies = self.count(word)
        if not copies:
            raise KeyError(word)
        for length, node in enumerate(self._path(word)):
            if node.below == copies:
                return word[:length]
        return word

    def _path(self, text):
        path = [self._root]
        for char in text:
            if char not in path[-1].children:
                break
            path.append(path[-1].children[char])
        return path
"""

NAIVE = """
class WordBag:
    def __init__(self):
        self.words = {}

    def add(self, word, times=1):
        if times < 1:
            raise ValueError
        self.words[word] = self.words.get(word, 0) + times

    def remove(self, word):
        if word not in self.words:
            return False
        self.words[word] -= 1
        if self.words[word] == 0:
            del self.words[word]
        return True

    def remove_prefix(self, prefix):
        gone = [w for w in self.words if w.startswith(prefix)]
        return sum(self.words.pop(w) for w in gone)

    def count(self, word):
        return self.words.get(word, 0)

    def with_prefix(self, prefix):
        return sum(n for w, n in self.words.items() if w.startswith(prefix))

    def longest_in(self, text):
        return max((w for w in self.words if text.startswith(w)), key=len, default=None)

    def shortest_unique(self, word):
        if word not in self.words:
            raise KeyError(word)
        for i in range(len(word) + 1):
            if not any(w.startswith(word[:i]) for w in self.words if w != word):
                return word[:i]
        return word
"""

WRONG = {
    "remove_prefix counts each word once": NAIVE.replace(
        "return sum(self.words.pop(w) for w in gone)",
        "for w in gone:\n            del self.words[w]\n        return len(gone)",
    ),
    "with_prefix counts each word once": NAIVE.replace("sum(n for w, n", "sum(1 for w, n"),
    "remove takes out all copies": NAIVE.replace("self.words[word] -= 1", "self.words[word] = 0"),
    "the shortest unique prefix is never empty": NAIVE.replace("range(len(word) + 1)", "range(1, len(word) + 1)"),
    "the empty word is no word": NAIVE.replace("if text.startswith(w))", "if w and text.startswith(w))"),
    "an empty string where nothing is found": NAIVE.replace("key=len, default=None", 'key=len, default=""'),
    "copies of the word count as other words": REFERENCE.replace("node.below == copies", "node.below == 1"),
    "remove leaves the counts of the prefixes": REFERENCE.replace(
        "        for node in path:\n            node.below -= 1\n", ""
    ),
    "remove_prefix leaves the counts of shorter prefixes": REFERENCE.replace(
        "for node in path:\n                node.below -= removed", "path[-1].below = 0"
    ),
    "removing a word that is not there breaks the counts": REFERENCE.replace(
        "        if not self.count(word):\n            return False\n        path = self._path(word)\n",
        "        path = self._path(word)\n        if len(path) <= len(word):\n            return False\n",
    ),
    "a path that ends early counts as found": REFERENCE.replace("if len(path) > len(prefix) else 0", "if path else 0"),
    "times below 1 are ignored": NAIVE.replace("raise ValueError", "return"),
}


def checks() -> tuple[Check, ...]:
    some = (new(), do("add", "to", 2), do("add", "top"), do("add", "ten", 3), do("add", "Ten"))
    nothing = ("remove", "remove_prefix", "count", "with_prefix", "longest_in", "shortest_unique")
    digits = [(format(i * 7919 % 4001, "b"), i % 3 + 1) for i in range(400)]
    asked = [(format(i, "b"),) for i in range(64)]
    return (
        (new(), do("add", "to", 2), do("add", "top"), do("with_prefix", "to"), do("longest_in", "topic"),
         do("shortest_unique", "top"), do("add", "cat"), do("shortest_unique", "cat"), do("shortest_unique", "to")),
        (new(), *(do(n, "a") for n in nothing)),
        (new(), *(do(n, "") for n in nothing)),
        (*some, each("with_prefix", [("",), ("t",), ("to",), ("te",), ("T",), ("tent",), ("x",)]),
         each("count", [("to",), ("t",), ("top",), ("ten",), ("Ten",), ("tens",), ("",)])),
        (*some, do("remove", "ten"), do("count", "ten"), do("with_prefix", "te"), do("remove", "te"), do("remove", "tens"),
         do("with_prefix", "t"), do("with_prefix", "te"), do("with_prefix", "")),
        (*some, do("remove", "to"), do("remove", "to"), do("remove", "to"), do("count", "to"), do("with_prefix", "to"),
         do("with_prefix", "")),
        (*some, do("remove_prefix", "to"), do("count", "to"), do("with_prefix", "t"), do("with_prefix", ""),
         do("remove_prefix", "to"),
         do("add", "top"), do("with_prefix", "to"), do("count", "to"), do("with_prefix", "")),
        (*some, do("remove_prefix", "tenth"), do("remove_prefix", ""), do("with_prefix", ""), do("longest_in", "ten"),
         do("count", "Ten")),
        (*some,
         each("longest_in", [("to",), ("t",), ("topmost",), ("Tenor",), ("",), ("tex",), ("txo",), ("ten",), ("toto",)])),
        (*some, do("add", ""), do("count", ""), do("with_prefix", ""), do("longest_in", "x"), do("longest_in", ""),
         do("longest_in", "tox"),
         do("shortest_unique", ""), do("remove", ""), do("longest_in", "x"), do("with_prefix", "")),
        (*some, each("shortest_unique", [("to",), ("top",), ("ten",), ("Ten",)]), do("shortest_unique", "t")),
        (*some, do("shortest_unique", "tens")),
        (new(), do("add", "abc", 3), do("shortest_unique", "abc"), do("add", "abd"), do("shortest_unique", "abc"),
         do("remove", "abd"),
         do("shortest_unique", "abc"), do("add", ""), do("shortest_unique", "abc"), do("shortest_unique", "")),
        (new(), do("add", ""), do("shortest_unique", ""), do("add", ""), do("shortest_unique", ""), do("remove_prefix", ""),
         do("count", "")),
        (new(), do("add", "a", 0), do("count", "a"), do("add", "a", -2), do("with_prefix", ""), do("shortest_unique", "a")),
        (new(), do("add", "ab", 2), do("add", "ab", 0), do("count", "ab"), do("add", "a", 1), do("with_prefix", "a")),
        (new(), do("add", "über"), do("add", "übel", 2), do("add", "数据结构"), do("add", "数学"), do("with_prefix", "üb"),
         each("shortest_unique", [("über",), ("数据结构",), ("数学",)]), do("longest_in", "数学家"), do("remove_prefix", "数"),
         do("with_prefix", "")),
        (new(), do("add", "a b"), do("add", "a"), do("add", "a "), do("shortest_unique", "a b"), do("longest_in", "a  "),
         do("count", "a ")),
        (new(), each("add", digits), each("with_prefix", asked), each("count", asked), each("remove", asked),
         each("with_prefix", asked),
         each("remove_prefix", asked[5:9]), each("with_prefix", asked), do("with_prefix", "")),
        (new(), each("add", digits), *(do("longest_in", w * 2) for w, _ in digits[:20]),
         *(do("shortest_unique", w) for w, _ in digits[:40])),
    )  # fmt: skip


PROBLEM = Problem(
    id="word_trie",
    category="data structures",
    level="medium",
    entry="WordBag",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
