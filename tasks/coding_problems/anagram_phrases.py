"""Phrases made of the same letters. Sample: anagram_phrases(["the eyes", "See", "They see"]) → [["the eyes", "They see"]]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def anagram_phrases(phrases: list[str]) -> list[list[str]]: ..."

EN = """
Write a function `anagram_phrases` that finds the phrases of a list that are anagrams of each other.

Two phrases are anagrams when they hold the same letters, each the same number of times. Only the English letters a–z and A–Z
count as letters, and upper and lower case are the same; spaces, digits, punctuation and all other characters are ignored. A
phrase without any letter is left out altogether. Exactly equal phrases are one phrase, which stands where it came first:
`["ab", "ab"]` holds no anagrams, `["ab", "AB"]` does.

Return a list of groups, each a list of at least two different phrases that are anagrams of each other, as they are written
in the input. Within a group, shorter phrases come first (by the number of characters of the whole phrase), and phrases of
the same length in the order in which they first came in the input. The groups with more phrases come first; of groups with
equally many, the one that holds the earliest phrase of the input. Without any group the result is `[]`. The input list must
not be changed.
"""

ZH = """
请编写函数 `anagram_phrases`，在一个列表中找出互为变位词（字母相同、次序可不同）的短语。

如果两个短语包含相同的字母，且每个字母出现的次数也相同，它们就互为变位词。只有英文字母 a–z 和 A–Z 算作字母，
不区分大小写；空格、数字、标点以及其他所有字符一律忽略。不含任何字母的短语完全不参与。完全相同的短语只算一个，
位置以第一次出现为准：`["ab", "ab"]` 中没有变位词，而 `["ab", "AB"]` 中有。

返回一个由若干组构成的列表，每组是一个列表，包含至少两个互为变位词的不同短语，按输入中的原样写出。
组内较短的短语在前（按整个短语的字符数计算），长度相同的短语按它们在输入中首次出现的先后排列。
短语较多的组在前；短语数相同时，包含输入中最早出现的短语的那一组在前。没有任何组时返回 `[]`。不得修改输入的列表。
"""

REFERENCE = """
def anagram_phrases(phrases):
    groups = {}
    for phrase in dict.fromkeys(phrases):
        letters = sorted(c.lower() for c in phrase if c.isascii() and c.isalpha())
        if letters:
            groups.setdefault("".join(letters), []).append(phrase)
    found = [sorted(group, key=len) for group in groups.values() if len(group) > 1]
    return sorted(found, key=len, reverse=True)
"""

WRONG = {
    "equal phrases are kept twice": """
def anagram_phrases(phrases):
    groups = {}
    for phrase in phrases:
        key = "".join(sorted(c.lower() for c in phrase if c.isascii() and c.isalpha()))
        if key:
            groups.setdefault(key, []).append(phrase)
    found = [sorted(g, key=len) for g in groups.values() if len(g) > 1]
    return sorted(found, key=len, reverse=True)
""",
    "phrases without letters form a group": """
def anagram_phrases(phrases):
    groups = {}
    for phrase in dict.fromkeys(phrases):
        key = "".join(sorted(c.lower() for c in phrase if c.isascii() and c.isalpha()))
        groups.setdefault(key, []).append(phrase)
    found = [sorted(g, key=len) for g in groups.values() if len(g) > 1]
    return sorted(found, key=lambda g: -len(g))
""",
    "phrases of one length are sorted by the alphabet": """
def anagram_phrases(phrases):
    groups = {}
    for phrase in dict.fromkeys(phrases):
        key = "".join(sorted(c.lower() for c in phrase if c.isascii() and c.isalpha()))
        if key:
            groups.setdefault(key, []).append(phrase)
    found = [sorted(g, key=lambda p: (len(p), p)) for g in groups.values() if len(g) > 1]
    return sorted(found, key=lambda g: -len(g))
""",
    "groups in the order of their first phrase, whatever their size": """
def anagram_phrases(phrases):
    groups = {}
    for phrase in dict.fromkeys(phrases):
        key = "".join(sorted(c.lower() for c in phrase if c.isascii() and c.isalpha()))
        if key:
            groups.setdefault(key, []).append(phrase)
    return [sorted(g, key=len) for g in groups.values() if len(g) > 1]
""",
    "equally large groups in reverse order": """
def anagram_phrases(phrases):
    groups = {}
    for phrase in dict.fromkeys(phrases):
        key = "".join(sorted(c.lower() for c in phrase if c.isascii() and c.isalpha()))
        if key:
            groups.setdefault(key, []).append(phrase)
    found = [sorted(g, key=len) for g in groups.values() if len(g) > 1]
    found.sort(key=len)
    return found[::-1]
""",
    "letters are not counted": """
def anagram_phrases(phrases):
    groups = {}
    for phrase in dict.fromkeys(phrases):
        key = "".join(sorted({c.lower() for c in phrase if c.isascii() and c.isalpha()}))
        if key:
            groups.setdefault(key, []).append(phrase)
    found = [sorted(g, key=len) for g in groups.values() if len(g) > 1]
    return sorted(found, key=len, reverse=True)
""",
    "letters of all scripts count": """
def anagram_phrases(phrases):
    groups = {}
    for phrase in dict.fromkeys(phrases):
        key = "".join(sorted(c for c in phrase.lower() if c.isalpha()))
        if key:
            groups.setdefault(key, []).append(phrase)
    found = [sorted(g, key=len) for g in groups.values() if len(g) > 1]
    return sorted(found, key=len, reverse=True)
""",
    "sorts the input by length": """
def anagram_phrases(phrases):
    first = {p: i for i, p in reversed(list(enumerate(phrases)))}
    phrases.sort(key=len)
    groups = {}
    for phrase in dict.fromkeys(phrases):
        key = "".join(sorted(c.lower() for c in phrase if c.isascii() and c.isalpha()))
        if key:
            groups.setdefault(key, []).append(phrase)
    found = [g for g in groups.values() if len(g) > 1]
    return sorted(found, key=lambda g: (-len(g), min(first[p] for p in g)))
""",
}


def checks() -> tuple[Check, ...]:
    many = ["".join("abcdefgh"[(i * k + i // 7) % 8] for k in (1, 3, 5)) + "-" * (i % 3) for i in range(150)]
    return (
        (call(["the eyes", "See", "They see"]),),
        (call(["Dirty room", "dormitory", "room"]),),
        (call([]),),
        (call(["one"]),),
        (call(["ab", "ab"]),),
        (call(["ab", "AB"]),),
        (call(["ab", "ba", "ab", "ba", "ab"]),),
        (call(["", "123", "…", " ", "42"]),),
        (call(["aab", "abb", "ab", "bab"]),),
        (call(["no!", "on", "O N", "n-o", "No"]),),
        (call(["dusty", "listen", "study", "silent", "enlist"]),),
        (call(["tea", "now", "eat", "won"]),),
        (call(["own ", "tea", "eat", "won"]),),
        (call(["été", "t", "T", "tée", "te"]),),
        (call(["中文 pots", "stop中", "tops", "文"]),),
        (call(["The eyes", "they see", "the eyes", "THE EYES!", "eye"]),),
        (call(["c3po", "cop", "C-P-O 7"]),),
        (call(many),),
    )


PROBLEM = Problem(
    id="anagram_phrases",
    category="strings",
    level="easy",
    entry="anagram_phrases",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    keeps_arguments=True,
)
