"""The number an answer ends on, as a careful reader would take it. Pure."""

import re
import unicodedata
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from tasks.next_turn import NEXT_TURN

_LIMIT = 1_000_000  # characters at the end that are read for a number
_MOST_DIGITS = 40  # what is longer is no answer
_MOST_MARKERS = 200  # of one kind; with no number after so many, there is none
_CURRENCY = r"(?:\$|USD|EUR|GBP|CHF|CNY|RMB|Rs\.?)"  # every sign of a currency is read as $
_GROUPED = (
    r"(?:[0-9]{1,3}(?:(?:,[0-9]{3}){1,12}|(?:['_][0-9]{3}){1,12}|(?: [0-9]{3}){1,12}(?! [0-9]))"
    r"|[0-9]{1,2}(?:,[0-9]{2}){1,12},[0-9]{3})(?![0-9])"  # the second as India writes 12,34,567
)
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_^])(?<![_^]\{)"  # not the 2 of H2O, x_1, m^2; and no sign in 5-3
    rf"(?P<minus>(?<![)\]}}%-])-)?(?:{_CURRENCY}\s{{0,2}}(?P<late_minus>-)?)?"
    rf"(?P<digits>(?:{_GROUPED}|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
)
_FRACTION = re.compile(
    r"(?:\s{1,2}(?P<above>[0-9]{1,3}))?\s{0,2}/\s{0,2}(?P<below>[0-9]{1,20}(?:\.[0-9]{1,20})?)(?![0-9]|[./][0-9])"
)
_PLAIN = (
    (re.compile(r"-\\[cdt]?frac\{([0-9]{1,20})\}\{([0-9]{1,20})\}"), r"-\1/\2 "),
    (re.compile(r"\\[cdt]?frac\{([0-9]{1,20})\}\{([0-9]{1,20})\}"), r" \1/\2 "),
    (re.compile(r"\\[cdt]?frac ?([0-9])([0-9])(?![0-9])"), r" \1/\2 "),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\!"), ""),
    (re.compile(r"\\[,;: ]"), " "),
    (re.compile(r"\\{1,3}([$%#&])"), r"\1"),
    (re.compile(r"\\(?:times|cdot|div)(?![A-Za-z])"), "×"),
    (re.compile(r"&(?:nbsp|thinsp|ensp|emsp|#(?:160|8201|8239|x[aA]0|x2009|x202[fF]));"), " "),
    (re.compile(r"(?<![0-9.])([0-9]{1,3})\.([0-9]{3})(?:\.([0-9]{3}))?,([0-9]{1,2})(?![0-9,])"), r"\1\2\3.\4"),  # 1.800,50
    (re.compile(r"(?<![0-9.])([0-9]{1,3})\.([0-9]{3})\.([0-9]{3})(?![0-9.]?[0-9])"), r"\1\2\3"),
    (re.compile(r"(?i)(\b(?:is|was|are|be|equals?)|[:=#*]) ?(?:negative|minus) (?=\$?[0-9])"), r"\1 -"),
    (re.compile(r"(?<![胜正])[负負] ?(?=\$?[0-9])"), "-"),
    (re.compile(r"(?<=[0-9]),? ?等于 ?(?=\$?[0-9])"), " = "),
)
"""LaTeX, HTML and other spellings of a number → the one that is read below."""
_HASHES = re.compile(r"(?<!#)####(?!#)")
_STEP = re.compile(r"([0-9]{1,2})[.):、] {0,3}[*_]{0,2}[^\W\d_]")  # `#### 1. Find the eggs` is a heading
_BOXED = re.compile(r"\\f?box(?:ed)?\s{0,3}\{")
_ASIDE = r"(?: (?:to|for|in|of)\b[^.\n:=?]{0,60}?)?(?: ?\([^()\n]{0,40}\))?[ *_`\"']{0,6}"
_SAYS = rf"{_ASIDE}(?:(?P<says>(?:is|was|equals|(?:will|would|should) be)\b)|[:=])"
_PHRASES = (
    re.compile(rf"(?i)\bfinal[ _](?:answer|result){_SAYS}"),
    re.compile(rf"(?im)\banswer{_SAYS}|^[#*_ ]{{0,12}}(?:final )?answer[*_ ]{{0,6}}$"),
    re.compile(r"(?i)<answer>(?P<says>)"),
    re.compile(
        r"(?:答案|最[终后]结果) ?[*_】\]]{0,4} ?(?:(?P<says>应该是|应当是|应为|就是|是|为|等于)|[:=]|(?<=[】\]])|$)",
        re.MULTILINE,
    ),
)
_REPLY = re.compile(r"(?m)(?:^|[\s。;,!?*#])(?:回答|答) ?[*_]{0,4} ?:")
"""`答：` before a whole sentence, that tells what was asked again before it says how much."""
_LEAD = re.compile(r"(?:[\s:*_`>\"'(\[{|#=]|\\[\[(]|\$\$|-\s)*")
_SENTENCE_END = re.compile(r"\n|[。!?]|\.(?![0-9A-Za-z])")
_OPERATION = re.compile(r"(?: ?[A-Za-z]{1,20}){0,2}\)? {0,2}(?:[-+*/×÷x^]|of|[加减乘除]以?) {0,2}[({$]{0,2}[0-9]")
_NOT_BUT = re.compile(r"(?i)not\b[^.\n]{1,40}?\bbut ")
_BOLD = re.compile(r"\*\*([^*\n]{1,60})\*\*")
_WHEN = re.compile(r"(?i)(?:after|in|since|if|when|for|with|as|because|given|over)\b[^,.\n]{1,120}, ")
"""What a sentence may say before it comes to the point."""
_OF_SEVERAL = re.compile(r"[0-9.]{1,12} ?[^\d\s,]{1,2}(?:[之以]?后|里|内|中|一共|总共|共)")
"""`3天后…`, `3天一共…`: what is counted comes after it."""
_THE = re.compile(r"(?i)\bthe $")
_MANY = {"万": Decimal(10**4), "亿": Decimal(10**8)}
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_ALIKE = dict.fromkeys("−‐‑‒–", "-") | dict.fromkeys("’ʼ", "'") | {"⁄": "/", "٬": ",", "٫": "."}
"""What NFKC leaves apart."""
_MIXED = re.compile(r"(?<=[0-9]) (?=\.[0-9]+(?![0-9.]))")
"""Between a whole number and a fraction that was one character: 3 ½."""


@dataclass(frozen=True, kw_only=True)
class _Found:
    value: Decimal
    start: int
    end: int
    fraction: bool


class _Fold(dict[int, str]):
    """NFKC by character for str.translate: over a whole text it takes quadratic time on long runs of combining marks."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char in _SUPERSCRIPTS or unicodedata.category(char) == "Cf":
            return ""  # m² is a unit; zero-width characters split numbers
        if char in _ALIKE:
            return _ALIKE[char]
        if unicodedata.category(char) == "Sc":
            return "$"
        plain = unicodedata.normalize("NFKC", char)
        if "⁄" in plain:  # ½ → .5, and ⅓ → 1/3, for it has no decimal
            value = str(unicodedata.numeric(char))
            return value.removeprefix("0") if len(value) < 6 else f" {plain.replace('⁄', '/')}"
        return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in plain)


def _clean(text: str) -> str:
    text = text[-_LIMIT:]
    if not text.isascii():
        text = _MIXED.sub("", text.translate(_Fold()))
    for pattern, plain in _PLAIN:
        text = pattern.sub(plain, text)
    return text


def _numbers(text: str) -> Iterator[_Found]:
    position = 0
    while number := _NUMBER.search(text, position):
        position = number.end()
        digits = re.sub("[,'_ ]", "", number["digits"])
        if len(digits) > _MOST_DIGITS:
            continue
        value, fraction = Decimal(digits), _FRACTION.match(text, position)
        if text[max(0, number.start() - 1)] == "/":
            fraction = None  # the 4/2024 of a date
        if fraction and (below := Decimal(fraction["below"])) and not (fraction["above"] and "." in digits):
            position = fraction.end()
            value = value + Decimal(fraction["above"]) / below if fraction["above"] else value / below
        else:
            fraction = None
        if times := _MANY.get(text[position : position + 2].strip()[:1]):
            value *= times
        if number["minus"] or number["late_minus"]:
            value = value.copy_negate()
        yield _Found(value=value, start=number.start(), end=position, fraction=fraction is not None)


def _after(text: str, start: int, *, says: bool) -> Decimal | None:
    """The first number of the sentence after a marker. Of an equation there, what it comes to; of reasoning, its end."""
    lead = _LEAD.match(text, start, start + 400)
    start = lead.end() if lead else start
    end = _SENTENCE_END.search(text, start, start + 400)
    stop = end.start() if end else start + 400
    sentence = text[start:stop]
    if denied := _NOT_BUT.match(sentence):
        sentence = sentence[denied.end() :]
    first = next(_numbers(sentence), None)
    if first is None:
        return None
    if not says and "=" not in text[start : stop + 4000].split("\n\n", 1)[0] and (pointed := _pointed(sentence)) is not None:
        return pointed
    if not says and first.start > 0:
        # `Answer:` and then words: with calculations to follow, it heads the reasoning and not the result.
        rest = text[stop : stop + 4000].split("\n\n", 1)[0]
        if "=" in rest:
            return _last(rest)
        if "=" in sentence:
            return next(_numbers(sentence.rpartition("=")[2]), first).value
    equation = sentence[first.end :]
    if "=" in equation and (_OPERATION.match(equation) or (first.fraction and equation.lstrip().startswith("="))):
        result = next(_numbers(equation.rpartition("=")[2]), None)
        return result.value if result else first.value
    return first.value


def _pointed(sentence: str) -> Decimal | None:
    """Of a sentence that restates what was asked before it comes to the point: a bold number, or what follows."""
    bold = [value for marked in _BOLD.finditer(sentence) if (value := _last(marked[1])) is not None]
    if bold:
        return bold[-1]
    before = _WHEN.match(sentence)
    rest = sentence[before.end() :] if before else sentence
    found = list(islice(_numbers(rest), 20))
    if len(found) > 1 and (_THE.search(rest[: found[0].start]) or _OF_SEVERAL.match(rest[found[0].start :])):
        return found[1].value
    return found[0].value if before and found else None


def _last(text: str) -> Decimal | None:
    value = None
    for found in _numbers(text):
        value = found.value
    return value


def _after_hashes(text: str) -> Decimal | None:
    """Of the first `####` that a number follows: after a finished answer all is rambling."""
    steps = False
    for marker in islice(_HASHES.finditer(text), _MOST_MARKERS):
        lead = _LEAD.match(text, marker.end(), marker.end() + 400)
        start = lead.end() if lead else marker.end()
        step = _STEP.match(text, start)
        steps = steps or (step is not None and step[1] == "1")
        if (step and steps) or not _NUMBER.match(text, start):
            continue
        value = _after(text, start, says=True)
        if value is not None:
            return value
    return None


def _boxed(text: str, *, closed: bool) -> Decimal | None:
    """Of the last `\\boxed{…}` that holds a number. `closed`: only those whose brace is closed."""
    for marker in reversed(deque(_BOXED.finditer(text), maxlen=_MOST_MARKERS)):
        content = text[marker.end() : marker.end() + 200]
        depth = 1
        for i, char in enumerate(content):
            depth += (char == "{") - (char == "}")
            if depth == 0:
                content = content[:i]
                break
        if depth and closed:
            continue
        value = _after(content, 0, says=True)
        if value is not None:
            return value
    return None


def _replied(text: str) -> Decimal | None:
    """Of the last `答：`: what follows at once, or the end of a sentence that has its working above it."""
    for marker in deque(_REPLY.finditer(text), maxlen=1):
        lead = _LEAD.match(text, marker.end(), marker.end() + 400)
        start = lead.end() if lead else marker.end()
        if _NUMBER.match(text, start):
            return _after(text, start, says=False)
        end = _SENTENCE_END.search(text, start, start + 400)
        if next(_numbers(text[max(0, marker.start() - 4000) : marker.start()]), None) is not None:
            return _last(text[start : end.start() if end else start + 400])
    return None


def _stated(text: str) -> Decimal | None:
    """What is marked as the answer."""
    for marked in (_after_hashes(text), _boxed(text, closed=False)):
        if marked is not None:
            return marked
    for phrase in _PHRASES:
        for marker in reversed(deque(phrase.finditer(text), maxlen=_MOST_MARKERS)):
            value = _after(text, marker.end(), says=marker["says"] is not None)
            if value is not None:
                return value
    return _replied(text)


def final_number(text: str) -> Decimal | None:
    """The number an answer ends on; None where there is none. Never raises, linear in the text.

    The strongest marker wins: the first `#### N`, else the last `\\boxed{N}`, "final answer is N", "answer is N",
    "答案是N", "答：N"; else the last number of all. What a model asks itself after an answer is not read.
    """
    text = _clean(text)
    if own := NEXT_TURN.search(text):
        head = text[: own.start()]
        stated = _stated(head)
        if stated is None and len(head.split()) <= 3:
            stated = _last(head)
        if stated is not None:
            return stated
    stated = _stated(text)
    return _last(text) if stated is None else stated


def finished_number(text: str) -> Decimal | None:
    """The number of a `####` or closed `\\boxed{}` that no further token could change: a cut response may be marked by it."""
    text = _clean(text)
    value = _after_hashes(text)
    if value is not None and not text.endswith((",", "'", "_")) and _after_hashes(text + "7") == value:
        return value
    return _boxed(text, closed=True)


def decimal_text(value: Decimal) -> str:
    """Plain digits with no trailing zeros: 18.00 → 18, −0 → 0."""
    plain = format(value, "f")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain == "-0" else plain
