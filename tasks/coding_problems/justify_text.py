"""Paragraphs set in justified lines. Sample: justify_text("It is so. Yes it is.", 10) → ["It  is so.", "Yes it is."]."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def justify_text(text: str, width: int) -> list[str]: ..."

EN = r"""
Write a function `justify_text` that sets a text in lines of at most `width` characters and returns them as a list. A width
below 2 raises ValueError, whatever the text is. The only white space in a text is the space and the newline "\n".

Paragraphs. The text is cut at every "\n" into raw lines. Raw lines that are empty or hold only spaces divide paragraphs; all
raw lines in between make one paragraph together. A paragraph is just the sequence of its words, which are divided by any
spaces and newlines. In the result there is exactly one empty line `""` between two paragraphs, and none at the beginning or
the end. A text without words gives `[]`.

Long words. First, every word longer than `width` is cut into pieces: as long as the rest of it is longer than `width`, the
next piece is its first width - 1 characters and a "-"; the rest of at most `width` characters is the last piece. From then
on each piece is a word like others.

Lines. Each paragraph is filled greedily: a word goes on the current line as long as it fits there, or else begins the next
one. The gap between two words of one line is at least one space, but at least two where the word before it ends in ".", "!"
or "?"; a word fits if the line with all its least gaps is not longer than `width`.

Spaces. In every line except the last of its paragraph, the gaps are widened until the line has exactly `width` characters:
each gap gets equally many more spaces, and where that does not come out even, the spaces left over go one each to the
leftmost gaps in the first, third, fifth … line of the paragraph, and to the rightmost gaps in the second, fourth … line. A
line of one word has no gap and stays as it is, and the last line of a paragraph keeps its least gaps. No line begins or ends
with a space.

Example: `justify_text("It is so. Yes, I am\n sure of this.\n\n\nGo! Incomprehensible.", 11)` is
`["It  is  so.", "Yes,  I  am", "sure     of", "this.", "", "Go!", "Incomprehe-", "nsible."]`.
"""

ZH = r"""
请编写函数 `justify_text`，把文本排成每行至多 `width` 个字符的若干行，并以列表返回。`width` 小于 2 时，
无论文本是什么，都抛出 ValueError。文本中的空白字符只有空格和换行符 "\n"。

段落：文本在每个 "\n" 处切分成原始行。空的或只含空格的原始行用来分隔段落；它们之间的所有原始行合成一个段落。
段落就是其单词的序列，单词之间以任意多个空格和换行分隔。结果中相邻两段之间恰好有一个空行 `""`，
开头和结尾没有空行。不含单词的文本得到 `[]`。

长单词：首先，把每个长于 `width` 的单词切成若干片：只要剩余部分仍长于 `width`，
下一片就是它的前 width - 1 个字符加上一个 "-"；长度不超过 `width` 的剩余部分是最后一片。
此后每一片都与其他单词一样，是一个独立的单词。

行：每个段落按贪心方式填充：只要单词在当前行放得下，就放在当前行，否则另起一行。同一行中两个单词之间的间隔至少一个空格，
但如果前一个单词以 "."、"!" 或 "?" 结尾，则至少两个空格；如果该行在所有间隔都取最小值时不超过 `width`，单词就算放得下。

空格：除了每段的最后一行，每一行都要加宽间隔，使该行恰好有 `width` 个字符：每个间隔增加同样多的空格；
如果不能均分，多出的空格每个间隔各加一个，在该段的第一、三、五……行加给最左边的间隔，在第二、四……行加给最右边的间隔。
只有一个单词的行没有间隔，保持不变；每段的最后一行保持最小间隔。任何一行都不以空格开头或结尾。

示例：`justify_text("It is so. Yes, I am\n sure of this.\n\n\nGo! Incomprehensible.", 11)` 为
`["It  is  so.", "Yes,  I  am", "sure     of", "this.", "", "Go!", "Incomprehe-", "nsible."]`。
"""

REFERENCE = r"""
def justify_text(text, width):
    if width < 2:
        raise ValueError("the width is below 2")
    out = []
    for words in paragraphs(text):
        if out:
            out.append("")
        lines = filled(words, width)
        for number, line in enumerate(lines, 1):
            gaps = [least_gap(word) for word in line[:-1]]
            if gaps and number < len(lines):
                more, left_over = divmod(width - length(line), len(gaps))
                gaps = [gap + more for gap in gaps]
                for i in range(left_over):
                    gaps[i if number % 2 else -1 - i] += 1
            out.append("".join(word + " " * gap for word, gap in zip(line, [*gaps, 0])))
    return out


def paragraphs(text):
    words = []
    for line in [*text.split("\n"), ""]:
        if line.strip():
            words += line.split()
        elif words:
            yield words
            words = []


def filled(words, width):
    lines = [[]]
    for word in words:
        for piece in pieces(word, width):
            if length([*lines[-1], piece]) > width:
                lines.append([])
            lines[-1].append(piece)
    return lines


def pieces(word, width):
    while len(word) > width:
        yield word[: width - 1] + "-"
        word = word[width - 1 :]
    yield word


def length(line):
    return sum(map(len, line)) + sum(map(least_gap, line[:-1]))


def least_gap(word):
    return 2 if word[-1] in ".!?" else 1
"""

_SECOND = r"""
def justify_text(text, width):
    if width < 2:
        raise ValueError("width")
    paragraphs, current = [], []
    for raw in text.split("\n"):
        if raw.strip(" ") == "":
            if current:
                paragraphs.append(current)
            current = []
        else:
            current.extend(raw.split())
    if current:
        paragraphs.append(current)
    result = []
    for p, words in enumerate(paragraphs):
        if p:
            result.append("")
        cut = []
        for w in words:
            while len(w) > width:
                cut.append(w[: width - 1] + "-")
                w = w[width - 1 :]
            cut.append(w)
        lines, line, used = [], [], 0
        for w in cut:
            gap = 0
            if line:
                gap = 2 if line[-1].endswith((".", "!", "?")) else 1
            if line and used + gap + len(w) > width:
                lines.append(line)
                line, used, gap = [], 0, 0
            line.append(w)
            used += gap + len(w)
        lines.append(line)
        for n, line in enumerate(lines):
            gaps = [2 if w.endswith((".", "!", "?")) else 1 for w in line[:-1]]
            if n < len(lines) - 1 and gaps:
                spare = width - sum(map(len, line)) - sum(gaps)
                each, extra = divmod(spare, len(gaps))
                for i in range(len(gaps)):
                    gaps[i] += each
                    if n % 2 == 0 and i < extra or n % 2 == 1 and i >= len(gaps) - extra:
                        gaps[i] += 1
            s = ""
            for i, w in enumerate(line):
                s += w + (" " * gaps[i] if i < len(gaps) else "")
            result.append(s)
    return result
"""
"""A second right solution, of which wrong ones are made."""

WRONG = {
    "spaces left over always go to the left": _SECOND.replace(
        "n % 2 == 0 and i < extra or n % 2 == 1 and i >= len(gaps) - extra", "i < extra"
    ),
    "lines are numbered through all paragraphs": _SECOND.replace("n % 2", "(len(result) - p) % 2"),
    "sentences end like other words": _SECOND.replace("2 if line[-1].endswith", "1 if line[-1].endswith").replace(
        "2 if w.endswith", "1 if w.endswith"
    ),
    "the wide gap is not looked at when a line is filled": _SECOND.replace(
        "2 if line[-1].endswith", "1 if line[-1].endswith"
    ).replace("spare = width - sum(map(len, line)) - sum(gaps)", "spare = max(0, width - sum(map(len, line)) - sum(gaps))"),
    "the last line has single spaces": _SECOND.replace(
        "            if n < len",
        "            if n == len(lines) - 1:\n                gaps = [1] * len(gaps)\n            if n < len",
    ),
    "the last line is justified as well": _SECOND.replace("n < len(lines) - 1 and gaps", "gaps"),
    "lines of one word are padded": _SECOND.replace(
        "            result.append(s)", "            result.append(s.ljust(width) if n < len(lines) - 1 else s)"
    ),
    "a wide gap counts in what is made even": _SECOND.replace("- sum(gaps)", "").replace("gaps[i] += each", "gaps[i] = each"),
    "each raw line is a paragraph": _SECOND.replace(
        "            current.extend(raw.split())", "            paragraphs.append(raw.split())"
    ),
    "only raw lines without spaces divide paragraphs": _SECOND.replace('raw.strip(" ") == ""', 'raw == ""'),
    "an empty line for each raw one": _SECOND.replace(
        "            if current:\n                paragraphs", "            if True:\n                paragraphs"
    ),
    "a long word is cut without a hyphen": _SECOND.replace('w[: width - 1] + "-"', "w[:width]").replace(
        "w = w[width - 1 :]", "w = w[width:]"
    ),
    "a word as long as the line is cut": _SECOND.replace("while len(w) > width", "while len(w) >= width"),
    "a long word fills the rest of the line": _SECOND.replace("        for w in cut:", "        for w in words:").replace(
        "            if line and used",
        """            room = width - used - gap
            while len(w) > width and room > 1:
                lines.append([*line, w[: room - 1] + "-"])
                w = w[room - 1 :]
                line, used, gap, room = [], 0, 0, width
            if line and used""",
    ),
    "no error for a width of 1": _SECOND.replace("width < 2", "width < 1").replace(
        "while len(w) > width", "while len(w) > max(width, 2)"
    ),
    "the width is looked at only where there are words": _SECOND.replace("    if width", "    if text.split() and width"),
    "one empty line for an empty text": _SECOND.replace("    return result", '    return result or [""]'),
}


def checks() -> tuple[Check, ...]:
    long = (
        "The fox, who was tired. And hungry! Sat down? He sat down, and a day went by; so did two. Then\n"
        "he rose (stiff as wood) to look for something, anything... to eat.\n   \n \n"
        "Nothing!  Incomprehensibilities, as he said. Or   was it a joke?\nNo.\n\nEnd of it ."
    )
    return (
        (call("It is so. Yes it is.", 10),),
        (call("It is so. Yes, I am\n sure of this.\n\n\nGo! Incomprehensible.", 11),),
        *((call(long, width),) for width in (2, 3, 5, 12, 15, 18, 20, 27, 33, 40, 400)),
        (call("", 10),),
        (call("  \n \n\n  ", 10),),
        (call("", 1),),
        (call("a b", 1),),
        (call("a", 0),),
        (call("a b", -5),),
        (call("a b", 2),),
        (call("ab. c", 5),),
        (call("ab. c", 4),),
        (call("ab.  c d e", 6),),
        (call("\n\na\n\n\nb\n", 9),),
        (call("a\n \nb\n  c", 9),),
        (call("abcdefghij", 10),),
        (call("abcdefghijk", 10),),
        (call("x abcdefghijkl y", 5),),
        (call("a b c d e f g h i j k l m n o p q r s t", 8),),
        (call("aa b c d aa b c d aa b c d\n\nbb c d e bb c d e bb c d e", 10),),
        (call("a. b c d e! f g h i? j k l", 10),),
        (call("one 中文 二. 三 四 五六七 八", 6),),
        (call("Really?! Yes... (No.) Ok", 12),),
    )


PROBLEM = Problem(
    id="justify_text",
    category="strings",
    level="hard",
    entry="justify_text",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
