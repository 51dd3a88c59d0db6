"""The longest part that reads the same both ways. Sample: longest_mirror("He said: Madam, I'm Adam!") → "Madam, I'm Adam"."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def longest_mirror(text: str) -> str: ..."

EN = """
Write a function `longest_mirror` that returns the longest contiguous part of a text that reads the same forwards and
backwards, where only some characters count.

Only the English letters a–z and A–Z and the digits 0–9 count; upper and lower case are the same. All other characters
(spaces, punctuation, ä, 中, ² …) are passed over in reading. The part that is returned begins and ends with a character
that counts, and is given exactly as it stands in the text, with all that lies between its ends.

The longest part is the one with the most characters that count, however many others lie between them. Of equally long ones
return the one that begins first. A single character that counts is a part that reads the same both ways. A text in which
no character counts, as the empty one, gives `""`. Texts have up to 1,000 characters.

Examples: `longest_mirror("He said: Madam, I'm Adam!")` is `"Madam, I'm Adam"`; `longest_mirror("-1 2-2 3")` is `"2-2"`.
"""

ZH = """
请编写函数 `longest_mirror`，返回文本中正读和反读都相同的最长连续片段，其中只有部分字符参与比较。

只有英文字母 a–z、A–Z 和数字 0–9 参与比较，不区分大小写。其他所有字符（空格、标点、ä、中、² 等）在读的时候一律跳过。
返回的片段必须以参与比较的字符开头和结尾，并且与文本中的原样完全一致，包括首尾之间的所有字符。

最长的片段是指参与比较的字符最多的片段，不管其间夹有多少其他字符。若有多个同样长，返回开始位置最靠前的一个。
单个参与比较的字符也算正读反读相同的片段。如果文本中没有任何参与比较的字符（例如空文本），返回 `""`。
文本最多 1,000 个字符。

示例：`longest_mirror("He said: Madam, I'm Adam!")` 为 `"Madam, I'm Adam"`；`longest_mirror("-1 2-2 3")` 为 `"2-2"`。
"""

REFERENCE = """
def longest_mirror(text):
    places = [i for i, c in enumerate(text) if c.isascii() and c.isalnum()]
    letters = [text[i].lower() for i in places]
    best = []
    for middle in range(len(letters)):
        for first, end in ((middle, middle), (middle, middle + 1)):
            while first > 0 and end < len(letters) and letters[first - 1] == letters[end]:
                first, end = first - 1, end + 1
            if end - first > len(best):
                best = places[first:end]
    return text[best[0] : best[-1] + 1] if best else ""
"""

WRONG = {
    "the last of equally long ones": """
def longest_mirror(text):
    places = [i for i, c in enumerate(text) if c.isascii() and c.isalnum()]
    letters = [text[i].lower() for i in places]
    n, best = len(letters), None
    for length in range(n, 0, -1):
        for i in range(n - length, -1, -1):
            part = letters[i : i + length]
            if part == part[::-1]:
                return text[places[i] : places[i + length - 1] + 1]
    return ""
""",
    "only odd lengths": """
def longest_mirror(text):
    places = [i for i, c in enumerate(text) if c.isascii() and c.isalnum()]
    letters = [text[i].lower() for i in places]
    best = (0, -1)
    for m in range(len(letters)):
        r = 0
        while m - r - 1 >= 0 and m + r + 1 < len(letters) and letters[m - r - 1] == letters[m + r + 1]:
            r += 1
        if 2 * r > best[1] - best[0]:
            best = (m - r, m + r)
    if not letters:
        return ""
    return text[places[best[0]] : places[best[1]] + 1] if best[1] >= 0 else text[places[0]]
""",
    "the ignored characters are left out of the answer": """
def longest_mirror(text):
    kept = [c for c in text if c.isascii() and c.isalnum()]
    n = len(kept)
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            part = [c.lower() for c in kept[i : i + length]]
            if part == part[::-1]:
                return "".join(kept[i : i + length])
    return ""
""",
    "every character counts in the length": """
def longest_mirror(text):
    places = [i for i, c in enumerate(text) if c.isascii() and c.isalnum()]
    letters = [text[i].lower() for i in places]
    best = ""
    for m in range(len(letters)):
        for i, j in ((m, m), (m, m + 1)):
            while i >= 0 and j < len(letters) and letters[i] == letters[j]:
                part = text[places[i] : places[j] + 1]
                if len(part) > len(best):
                    best = part
                i, j = i - 1, j + 1
    return best
""",
    "case matters": """
def longest_mirror(text):
    places = [i for i, c in enumerate(text) if c.isascii() and c.isalnum()]
    letters = [text[i] for i in places]
    n = len(letters)
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            part = letters[i : i + length]
            if part == part[::-1]:
                return text[places[i] : places[i + length - 1] + 1]
    return ""
""",
    "letters of all scripts count": """
def longest_mirror(text):
    places = [i for i, c in enumerate(text) if c.isalnum()]
    letters = [text[i].lower() for i in places]
    n = len(letters)
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            part = letters[i : i + length]
            if part == part[::-1]:
                return text[places[i] : places[i + length - 1] + 1]
    return ""
""",
    "the empty text is not thought of": """
def longest_mirror(text):
    places = [i for i, c in enumerate(text) if c.isascii() and c.isalnum()]
    letters = [text[i].lower() for i in places]
    n = len(letters)
    spans = [(i, j) for i in range(n) for j in range(i, n) if letters[i : j + 1] == letters[i : j + 1][::-1]]
    i, j = max(spans, key=lambda s: (s[1] - s[0], -s[0]))
    return text[places[i] : places[j] + 1]
""",
    "digits do not count": """
def longest_mirror(text):
    places = [i for i, c in enumerate(text) if c.isascii() and c.isalpha()]
    letters = [text[i].lower() for i in places]
    n = len(letters)
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            part = letters[i : i + length]
            if part == part[::-1]:
                return text[places[i] : places[i + length - 1] + 1]
    return ""
""",
}


def checks() -> tuple[Check, ...]:
    return (
        (call("He said: Madam, I'm Adam!"),),
        (call("-1 2-2 3"),),
        (call(""),),
        (call(" …é中! "),),
        (call("?x?"),),
        (call("abb"),),
        (call("abcd"),),
        (call("aab-baa"),),
        (call("abcba xyzzyx"),),
        (call("a - - - - a, bcb"),),
        (call("Was it a car, or a cat I saw?"),),
        (call("level, noon; stats"),),
        (call("éaé bcéb"),),
        (call("x²yx²y 上海自来水来自海上"),),
        (call("12/02/2021 is a date"),),
        (call("aAaA"),),
        (call("(a)(b)(c)(C)(B)"),),
        (call("".join("abac"[(i * i // 3 + i % 5) % 4] + " ,"[i % 2] for i in range(120))),),
        (call("ab " * 40 + "c" + "ba! " * 40),),
    )


PROBLEM = Problem(
    id="longest_mirror",
    category="strings",
    level="easy",
    entry="longest_mirror",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
