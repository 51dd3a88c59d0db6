"""The next word of the same letters in an order of one's own. Sample: next_word("ab", "cba") → "ba", for it wraps around."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def next_word(word: str, alphabet: str) -> str: ..."

EN = """
Take all the different words that have exactly the letters of `word`, each letter as often as it is there, and sort them as
in a dictionary, letter by letter; which of two letters is the smaller one is told by `alphabet`, whose first letter is the
smallest and whose last is the greatest. Write a function `next_word` that returns the word that comes right after `word` in
this order. After the last word comes the first one again.

- A word of which there is only one arrangement, the empty word included, is its own successor.
- Raise ValueError if `word` has a letter that `alphabet` lacks, or if `alphabet` has some letter more than once (even one
  that the word does not need).
- A letter is any single character; `"a"` and `"A"` are different letters. `alphabet` may be empty, and may have letters that
  the word lacks.
- Words of several hundred letters must be done in well under a second, so the words cannot be listed.

For example, `next_word("bac", "cba")` is `"acb"`: with this alphabet the six words in order are cba, cab, bca, bac, acb, abc.
"""

ZH = """
考虑由 `word` 的全部字母组成的所有不同的词（每个字母出现的次数与 `word` 中相同），像词典那样逐个字母比较并排序；
两个字母谁小由 `alphabet` 决定：它的第一个字母最小，最后一个字母最大。请编写函数 `next_word`，
返回在这个顺序中紧跟在 `word` 之后的词。最后一个词之后又是第一个词。

- 只有一种排列的词（包括空词）的下一个词就是它自己。
- 如果 `word` 中有 `alphabet` 里没有的字母，或者 `alphabet` 中有某个字母出现多于一次（即使这个词并不需要它），
  则抛出 ValueError。
- 字母可以是任意单个字符；`"a"` 与 `"A"` 是不同的字母。`alphabet` 可能为空，也可能含有该词中没有的字母。
- 对于有几百个字母的词，耗时必须远小于一秒，因此不能把所有的词都列出来。

例如，`next_word("bac", "cba")` 的结果是 `"acb"`：按此字母表，六个词依次为 cba、cab、bca、bac、acb、abc。
"""

REFERENCE = """
def next_word(word, alphabet):
    rank = {letter: place for place, letter in enumerate(alphabet)}
    if len(rank) != len(alphabet) or not rank.keys() >= set(word):
        raise ValueError("no alphabet for this word")
    ranks = [rank[letter] for letter in word]
    rises = [i for i in range(len(ranks) - 1) if ranks[i] < ranks[i + 1]]
    if rises:
        i = rises[-1]
        j = max(j for j in range(len(ranks)) if ranks[j] > ranks[i])
        ranks[i], ranks[j] = ranks[j], ranks[i]
        ranks[i + 1 :] = ranks[:i:-1]
    else:
        ranks.sort()
    return "".join(alphabet[place] for place in ranks)
"""

WRONG = {
    "the usual order of characters": """
def next_word(word, alphabet):
    if len(set(alphabet)) != len(alphabet) or set(word) - set(alphabet):
        raise ValueError("no alphabet for this word")
    letters = list(word)
    i = len(letters) - 2
    while i >= 0 and letters[i] >= letters[i + 1]:
        i -= 1
    if i < 0:
        return "".join(sorted(letters))
    j = len(letters) - 1
    while letters[j] <= letters[i]:
        j -= 1
    letters[i], letters[j] = letters[j], letters[i]
    letters[i + 1:] = reversed(letters[i + 1:])
    return "".join(letters)
""",
    "lists all the words": """
from itertools import permutations


def next_word(word, alphabet):
    if len(set(alphabet)) != len(alphabet) or set(word) - set(alphabet):
        raise ValueError("no alphabet for this word")
    ranks = tuple(alphabet.index(letter) for letter in word)
    words = sorted(set(permutations(ranks)))
    following = words[(words.index(ranks) + 1) % len(words)]
    return "".join(alphabet[r] for r in following)
""",
    "equal letters count as a rise": """
def next_word(word, alphabet):
    if len(set(alphabet)) != len(alphabet) or set(word) - set(alphabet):
        raise ValueError("no alphabet for this word")
    ranks = [alphabet.index(letter) for letter in word]
    i = len(ranks) - 2
    while i >= 0 and ranks[i] > ranks[i + 1]:
        i -= 1
    if i < 0:
        ranks.reverse()
    else:
        j = len(ranks) - 1
        while ranks[j] < ranks[i]:
            j -= 1
        ranks[i], ranks[j] = ranks[j], ranks[i]
        ranks[i + 1:] = ranks[i + 1:][::-1]
    return "".join(alphabet[r] for r in ranks)
""",
    "the last word stays as it is": """
def next_word(word, alphabet):
    if len(set(alphabet)) != len(alphabet) or set(word) - set(alphabet):
        raise ValueError("no alphabet for this word")
    ranks = [alphabet.index(letter) for letter in word]
    for i in range(len(ranks) - 2, -1, -1):
        if ranks[i] < ranks[i + 1]:
            j = max(j for j in range(i, len(ranks)) if ranks[j] > ranks[i])
            ranks[i], ranks[j] = ranks[j], ranks[i]
            ranks[i + 1:] = sorted(ranks[i + 1:])
            return "".join(alphabet[r] for r in ranks)
    return word
""",
    "a repeated letter of the alphabet is let through": """
def next_word(word, alphabet):
    if any(letter not in alphabet for letter in word):
        raise ValueError("a letter that the alphabet lacks")
    ranks = [alphabet.index(letter) for letter in word]
    for i in range(len(ranks) - 2, -1, -1):
        if ranks[i] < ranks[i + 1]:
            j = max(j for j in range(i, len(ranks)) if ranks[j] > ranks[i])
            ranks[i], ranks[j] = ranks[j], ranks[i]
            ranks[i + 1:] = sorted(ranks[i + 1:])
            return "".join(alphabet[r] for r in ranks)
    return "".join(alphabet[r] for r in sorted(ranks))
""",
    "the rest after the exchange is not put in order": """
def next_word(word, alphabet):
    if len(set(alphabet)) != len(alphabet) or set(word) - set(alphabet):
        raise ValueError("no alphabet for this word")
    ranks = [alphabet.index(letter) for letter in word]
    for i in range(len(ranks) - 2, -1, -1):
        if ranks[i] < ranks[i + 1]:
            j = max(j for j in range(i, len(ranks)) if ranks[j] > ranks[i])
            ranks[i], ranks[j] = ranks[j], ranks[i]
            return "".join(alphabet[r] for r in ranks)
    return "".join(alphabet[r] for r in sorted(ranks))
""",
}


def checks() -> tuple[Check, ...]:
    latin = "abcdefghijklmnopqrstuvwxyz"
    return (
        (call("bac", "cba"),),
        (call("ab", "cba"), call("ba", "cba")),
        (call("", "abc"), call("", "")),
        (call("a", "a"), call("z", latin)),
        (call("aaaa", "ba"),),
        (call("abca", "abca"), call("ab", "abcc"), call("", "xx")),
        (call("abd", "abc"), call("a", ""), call("A", "abc")),
        (call("aAbB", "BbAa"), call("AabB", "aAbB")),
        (call("abcdefgh", "hgfedcba"), call("hgfedcba", latin), call("abcdefgh", latin)),
        (call("aabb", "ab"), call("abab", "ab"), call("abba", "ab"), call("baab", "ab"), call("bbaa", "ab")),
        (call("1 0-1", "- 01"), call("öäü", "üäö"), call("猫狗猫鱼", "鱼猫狗")),
        (call("cabcba", "bca"), call("acbbcc", "cab"), call("bacbca", "acb")),
        (call("xyzyxxzyzy" * 3, "zxy"), call("zzyyxx", "xyz"), call("xzzyyx", "xyz")),
        (call("a" + latin[::-1] * 12, latin), call(latin[::-1] * 2, "".join(reversed(latin)))),
        (call("bdddccaa", "abcd"), call("adccb", "abcd"), call("adddd", "abcd")),
    )


PROBLEM = Problem(
    id="next_word",
    category="algorithms",
    level="easy",
    entry="next_word",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
