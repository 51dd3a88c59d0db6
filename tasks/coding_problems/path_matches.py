r"""Paths matched by wildcards, classes and alternatives. Sample: path_matches("src/**/*.{c,h}", "src/lib/io.h") → True."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def path_matches(pattern: str, path: str) -> bool: ..."

EN = r"""
Write a function `path_matches` that tells whether a pattern matches a path as a whole.

Pattern and path are first cut at every "/" into segments, which may be empty: "/a" has the segments "" and "a", and "" has
one empty segment. A pattern segment that is exactly `**` matches any number of whole path segments, also none. Every other
pattern segment matches exactly one path segment. In such a segment

- `?` matches any one character;
- `*` matches any number of characters, also none; so do several `*` in a row;
- `[...]` matches one character that is in the class, `[!...]` one that is not. A class holds one or more members: single
  characters, and ranges such as `a-f` (by code point, both ends included). A `-` that is the first or the last in the class
  is a plain character. The first `]` that is not escaped ends the class. `!` not right after the `[`, and any of `*?[{},`,
  are plain characters there;
- `{...}` matches any one of its alternatives, which are divided by commas. There may be a single one, and they may be empty
  (`a{,b}` matches "a" and "ab"). They may hold everything named here except further braces. A `,` or `}` that is escaped or
  in a class neither divides nor ends;
- a backslash makes the next character a plain one, within classes (also as an end of a range) and alternatives too;
- every other character, also `]`, `}` or `,` outside of classes and braces, matches just itself. Case matters.

Hidden names: `?`, `*` and classes never match a "." that is the first character of a path segment, and `**` matches no
segment that begins with ".". So `*.x` does match ".x" (the star matches nothing), `*x` does not.

Raise ValueError where the pattern is malformed, whatever the path is: a class or a brace that is not ended within its
segment, an empty class (`[]` or `[!]`), a range whose first end is greater than its second, a brace within a brace, a
backslash that is the last character of a segment. Otherwise return True or False.

Examples: `a/**/b` matches "a/b" and "a/x/y/b"; `**` matches every path without hidden segments, the empty one too; `a*` does
not match "a/b"; `[!a-c]{1,2*}` matches "d1" and "x2yz".
"""

ZH = r"""
请编写函数 `path_matches`，判断一个模式是否与整个路径匹配。

首先把模式和路径在每个 "/" 处切分成若干段，段可以为空："/a" 有 "" 和 "a" 两段，"" 有一个空段。
恰好为 `**` 的模式段匹配任意多个完整的路径段，也可以一个都不匹配。其他每个模式段恰好匹配一个路径段。在这样的段中：

- `?` 匹配任意一个字符；
- `*` 匹配任意多个字符，也可以一个都不匹配；连续多个 `*` 也是如此；
- `[...]` 匹配一个属于该字符类的字符，`[!...]` 匹配一个不属于它的字符。字符类含有一个或多个成员：单个字符，
  以及 `a-f` 这样的范围（按码点，包含两端）。位于类中最前或最后的 `-` 是普通字符。第一个未转义的 `]` 结束该类。
  不紧跟在 `[` 之后的 `!`，以及 `*?[{},` 中的任何一个，在类中都是普通字符；
- `{...}` 匹配其中任意一个备选项，备选项之间用逗号分隔。可以只有一个，也可以为空（`a{,b}` 匹配 "a" 和 "ab"）。
  备选项中可以使用这里所说的一切，但不能再有花括号。转义的或在字符类中的 `,` 和 `}` 不起分隔或结束的作用；
- 反斜杠使下一个字符成为普通字符，在字符类（包括作为范围的一端）和备选项中也是如此；
- 其他每个字符只匹配它自身，包括字符类和花括号之外的 `]`、`}` 或 `,`。区分大小写。

隐藏名称：`?`、`*` 和字符类都不匹配作为路径段第一个字符的 "."，`**` 不匹配任何以 "." 开头的段。
因此 `*.x` 匹配 ".x"（星号什么都不匹配），而 `*x` 不匹配。

如果模式有错误，无论路径是什么，都抛出 ValueError：字符类或花括号没有在所在的段内结束，空的字符类（`[]` 或 `[!]`），
范围的第一端大于第二端，花括号之中又有花括号，反斜杠是某一段的最后一个字符。否则返回 True 或 False。

示例：`a/**/b` 匹配 "a/b" 和 "a/x/y/b"；`**` 匹配所有不含隐藏段的路径，包括空路径；`a*` 不匹配 "a/b"；
`[!a-c]{1,2*}` 匹配 "d1" 和 "x2yz"。
"""

REFERENCE = r'''
def path_matches(pattern, path):
    wanted = [None if segment == "**" else parse(segment, 0, False)[0] for segment in pattern.split("/")]
    segments = path.split("/")
    reached = {0}
    for tokens in wanted:
        if tokens is None:
            for at, segment in enumerate(segments):
                if at in reached and not segment.startswith("."):
                    reached.add(at + 1)
        else:
            reached = {at + 1 for at in reached if at < len(segments) and len(segments[at]) in ends(tokens, segments[at], {0})}
    return len(segments) in reached


def parse(segment, at, in_braces):
    """The tokens from a place on, up to the end or to what ends an alternative, and that place."""
    tokens = []
    while at < len(segment) and not (in_braces and segment[at] in ",}"):
        c = segment[at]
        if c == "*":
            tokens.append(("star", None))
            at += 1
        elif c == "?":
            tokens.append(("any", None))
            at += 1
        elif c == "[":
            members, at = parse_class(segment, at + 1)
            tokens.append(("class", members))
        elif c == "{":
            if in_braces:
                raise ValueError("a brace within a brace")
            options = []
            while not options or segment[at] == ",":
                option, at = parse(segment, at + 1, True)
                options.append(option)
                if at == len(segment):
                    raise ValueError("a brace without an end")
            tokens.append(("options", options))
            at += 1
        else:
            c, at = parse_plain(segment, at)
            tokens.append(("plain", c))
    return tokens, at


def parse_class(segment, at):
    """Whether the class is negated and its ranges; the place after its end."""
    negated = segment.startswith("!", at)
    if negated:
        at += 1
    ranges = []
    while not segment.startswith("]", at):
        low, at = parse_plain(segment, at)
        high = low
        if segment.startswith("-", at) and not segment.startswith("-]", at):
            high, at = parse_plain(segment, at + 1)
        if low > high:
            raise ValueError("a range from high to low")
        ranges.append((low, high))
    if not ranges:
        raise ValueError("an empty class")
    return (negated, ranges), at + 1


def parse_plain(segment, at):
    if segment.startswith("\\", at):
        at += 1
    if at >= len(segment):
        raise ValueError("the segment ends too early")
    return segment[at], at + 1


def ends(tokens, text, starts):
    """Where a match of all tokens can end, if it begins at one of the starts."""
    for kind, what in tokens:
        if kind == "star":
            starts = set(starts)
            for at, c in enumerate(text):
                if at in starts and not hidden(at, c):
                    starts.add(at + 1)
        elif kind == "options":
            starts = set().union(*(ends(option, text, starts) for option in what))
        else:
            starts = {at + 1 for at in starts if at < len(text) and fits(kind, what, at, text[at])}
    return starts


def fits(kind, what, at, c):
    if kind == "plain":
        return c == what
    if hidden(at, c):
        return False
    if kind == "any":
        return True
    negated, ranges = what
    return any(low <= c <= high for low, high in ranges) != negated


def hidden(at, c):
    return at == 0 and c == "."
'''

_SECOND = r"""
import re


def path_matches(pattern, path):
    parts = [None if s == "**" else re.compile(translate(s), re.S) for s in pattern.split("/")]
    names = path.split("/")

    def go(i, j):
        if i == len(parts):
            return j == len(names)
        if parts[i] is None:
            if go(i + 1, j):
                return True
            return j < len(names) and not names[j].startswith(".") and go(i, j + 1)
        return j < len(names) and parts[i].fullmatch(names[j]) is not None and go(i + 1, j + 1)

    return go(0, 0)


def translate(s):
    out, i, braces = "", 0, False
    while i < len(s):
        c = s[i]
        i += 1
        if c == "*":
            out += r"(?:(?!^\.).)*"
        elif c == "?":
            out += r"(?!^\.)."
        elif c == "[":
            negated = s[i : i + 1] == "!"
            if negated:
                i += 1
            items = ""
            while True:
                if i >= len(s):
                    raise ValueError("class")
                c = s[i]
                i += 1
                if c == "]":
                    break
                low, i = char(s, i - 1)
                if i + 1 < len(s) and s[i] == "-" and s[i + 1] != "]":
                    high, i = char(s, i + 1)
                    if low > high:
                        raise ValueError("range")
                    items += re.escape(low) + "-" + re.escape(high)
                else:
                    items += re.escape(low)
            if not items:
                raise ValueError("empty")
            out += r"(?!^\.)[" + ("^" if negated else "") + items + "]"
        elif c == "{":
            if braces:
                raise ValueError("nested")
            braces = True
            out += "(?:"
        elif c == "}" and braces:
            braces = False
            out += ")"
        elif c == "," and braces:
            out += "|"
        else:
            c, i = char(s, i - 1)
            out += re.escape(c)
    if braces:
        raise ValueError("braces")
    return out


def char(s, i):
    if s[i] == "\\":
        i += 1
    if i >= len(s):
        raise ValueError("end")
    return s[i], i + 1
"""
"""A second right solution, of which wrong ones are made."""

WRONG = {
    "two stars match at least one segment": _SECOND.replace(
        """            if go(i + 1, j):
                return True
            return j < len(names)""",
        """            return j < len(names)""",
    ).replace("go(i, j + 1)", "(go(i, j + 1) or go(i + 1, j + 1))"),
    "two stars are greedy": _SECOND.replace(
        """            if go(i + 1, j):
                return True
            return j < len(names) and not names[j].startswith(".") and go(i, j + 1)""",
        """            while j < len(names) and not names[j].startswith("."):
                j += 1
            return go(i + 1, j)""",
    ),
    "two stars match hidden segments": _SECOND.replace(' and not names[j].startswith(".")', ""),
    "wildcards match the dot of a hidden name": _SECOND.replace(r"(?!^\.)", ""),
    "only the star keeps off the dot": _SECOND.replace(r'"(?!^\.)."', '"."').replace(r'r"(?!^\.)["', '"["'),
    "a star never stands before a dot": _SECOND.replace(r'r"(?:(?!^\.).)*"', r'r"(?!^\.).*"'),
    "no negated classes": _SECOND.replace('negated = s[i : i + 1] == "!"', "negated = False"),
    "the last minus is no plain character": _SECOND.replace('s[i] == "-" and s[i + 1] != "]"', 's[i] == "-"'),
    "an empty class is taken": _SECOND.replace("if not items:", "if False:").replace("items + ", '(items or "a") + '),
    "a range from high to low is empty": _SECOND.replace('raise ValueError("range")', 'low = high = "a"'),
    "braces nest": _SECOND.replace('                raise ValueError("nested")', "                pass"),
    "an open brace is closed at the end": _SECOND.replace('        raise ValueError("braces")', '        out += ")"'),
    "a comma outside of braces divides": _SECOND.replace('c == "," and braces', 'c == ","'),
    "a closing brace without an opening one is an error": _SECOND.replace(
        'c == "}" and braces:', 'c == "}":\n            if not braces:\n                raise ValueError("brace")'
    ),
    "malformed patterns are found only on the way": _SECOND.replace("re.compile(translate(s), re.S) for", "s for").replace(
        "parts[i].fullmatch(names[j])", "re.compile(translate(parts[i]), re.S).fullmatch(names[j])"
    ),
    "a star crosses slashes": r"""
import re


def path_matches(pattern, path):
    out = ""
    for c in pattern:
        out += ".*" if c == "*" else "." if c == "?" else re.escape(c)
    return re.fullmatch(out, path) is not None
""",
    "python's fnmatch": """
from fnmatch import fnmatchcase


def path_matches(pattern, path):
    a, b = pattern.split("/"), path.split("/")
    return len(a) == len(b) and all(fnmatchcase(y, x) for x, y in zip(a, b))
""",
    "a newline is no character": _SECOND.replace(", re.S", ""),
}


def checks() -> tuple[Check, ...]:
    def of(pattern: str, *paths: str) -> Check:
        return tuple(call(pattern, path) for path in paths)

    return (
        of("src/**/*.{c,h}", "src/lib/io.h", "src/io.c", "src/a/b/.h", "src/a/b/x.hh", "lib/io.h"),
        of("a/**/b", "a/b", "a/x/b", "a/x/y/b", "a/b/b", "a/b/c", "ab", "a//b", "a/.x/b"),
        of("**", "", "a", "a/b/c", "a/.b", ".a", "/"),
        of("", "", "a", "/"),
        of("/a", "/a", "a", "/a/"),
        of("a/**", "a", "a/", "a/b/c", "b", "a/.c", "aa"),
        of("**/a/**/b/**", "a/b", "x/a/b/a/c/b", "a/a", "b/a/b", "x/b/a"),
        of("a*", "a", "abc", "a/b", "ba", "a."),
        of("*a*b*", "ab", "xaxbx", "ba", "aab", ".ab", "a.b", "acbcb"),
        of("***/x**y/**z", "a/xy/z", "a/b/xy/z", "q/x123y/11z", "a/xy/b/z"),
        of("?", "a", "", "ab", "/", ".", "中", "\n"),
        of("??.x", "ab.x", ".b.x", "a..x"),
        of("*.x", ".x", "a.x", "..x", ".a.x"),
        of("*x", "x", ".x", "a.x"),
        of(".*", ".x", ".", "..", "x"),
        of("[!a-c]{1,2*}", "d1", "x2yz", "a1", "d3", ".1", "d1x"),
        of("[a-ce]x[0-9]", "ax5", "bx0", "cx9", "ex1", "dx5", "-x5", "Ax5"),
        of("[-a][a-]", "-a", "a-", "--", "b-", "ab"),
        of("[!-]z", "-z", "az", "!z"),
        of("[a!]", "a", "!", "b"),
        of("[*?{},[]", "*", "?", "{", "}", ",", "[", "]", "a"),
        of(r"[\]\\a]", "]", "\\", "a", "b"),
        of(r"[\!x]", "!", "x", "a"),
        of(r"[\--0]", "-", ".", "/", "0", "1", "\\"),
        of(r"a[\--0]", "a-", "a.", "a0", "a1", "a\\"),
        of(r"[+-\.]", "+", ",", "-", ".", "\\"),
        of(r"[a\-c]", "a", "-", "c", "b"),
        of("[.]x", ".x", "x"),
        of("a[.!]", "a.", "a!", "ab"),
        of("[!a]", "b", "a", ".", "", "!"),
        of("]},", "]},", "]", ","),
        of("a,b", "a,b", "a", "b"),
        of("a{,b}", "a", "ab", "b", "abb"),
        of("{}", "", "a", "{}"),
        of("{a}", "a", "{a}", "aa"),
        of("{ab,a}{b,bc}", "ab", "abb", "abbc", "abc", "a"),
        of(r"{\,,[,}],\}\{}x", ",x", "}x", "}{x", "x", "[x"),
        of("{*a,?}[!b]", "xac", "cc", "cb", "ac", "c", ".c"),
        of("{.,}a*", ".a", "a", ".ab", "b"),
        of("x{.*,*y}", "x.", "xy", "x.y", "xyy", "xz"),
        of(r"\*\?\[\{\\", "*?[{\\", "a?[{\\"),
        of(r"\a\.", "a.", "\\a."),
        of("{**}", "", "abc", "a/b", ".a"),
        of("aB", "aB", "ab", "AB"),
        of("[a", "a"),
        of("[]", "a"),
        of("[!]", "a"),
        of("[]a]", "]"),
        of("[a/b]", "a"),
        of("[!a", ""),
        of("[c-a]", "b"),
        of("{[z-y],a}", "a"),
        of("[b-b]", "b", "a", "c"),
        of("{a", "a"),
        of("{a,", "a"),
        of("{a,b/c}", "b"),
        of("{a{b}}", "ab"),
        of("x{a,{b}}", "x"),
        of("a\\", "a"),
        of("a\\/b", "a/b"),
        of("[a\\", "a"),
        of("[a-\\", "a"),
        of("[a-", "a"),
        of("b/[", "a"),
        of("**/{", ".a"),
        of("*a*b" * 3, "abxabyab", "aabbab", "abab", "b" + "ab" * 4 + "a"),
        of("**/a/**/a/*/**", "a/a/b", "x/a/y/a/z/q", "a/a", "a/b/a", "a/a/a"),
        of("{a,aa}" * 4 + "b", "aaab", "aaaab", "aaaaaaaab", "aaaaaaaaab"),
        of("[一-中]?文", "中国文", "万\n文", "文文文"),
    )


PROBLEM = Problem(
    id="path_matches",
    category="strings",
    level="hard",
    entry="path_matches",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
