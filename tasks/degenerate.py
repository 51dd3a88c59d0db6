"""Loops and word salad: what a broken kernel or cache makes of a model. Pure."""

import re
from itertools import pairwise

_WINDOW = 4000  # characters at the end that are looked at
_RULER = frozenset("-=_*#~.+|:<>^/\\()[]{}·•…—\n\t ,") | {chr(c) for c in range(0x2500, 0x2600)}
_BRACKETS = frozenset("()[]{}<>\\")
_CODE = re.compile(r"[{}\[\]();=<>|`\"\\]")
_MARKUP = re.compile(r"[{}=;<>|`\\]|\w\(|\w[/_]\w")
_HAN = re.compile(r"[㐀-鿿]")
_WORD = re.compile(r"[㐀-鿿぀-ヿ]|[^\W_㐀-鿿぀-ヿ]+")
_BROKEN_JOINT = re.compile(
    r"[A-Za-z][\"?!]+'?[a-z]|[\"'][?!]{2,}[\"'A-Za-z]| [?!]{2,}"  # the?the"??
    r"|\w ?,,|,\.(?!\.)|(?<=\w) ,(?=\w)|([,.;?!]) (?!\1)[,;?!]"  # the,,of ,is . ; the
)
_GLUED_WORDS = re.compile(r"(?i)\b(?:the|of|is|and|what){2,}\b")
_ENDLESS_WORD = re.compile(r"(?<![A-Za-z])(?=[A-Z]{0,60}[a-z])[A-Za-z]{61,}")  # nor is DNA one
_BYTES = re.compile("[ĠĊ▁]\\w")
_SPECIAL = re.compile(r"(<(?:unk|pad|s|/s|eos|\|\w{1,20}\|)>|\[(?:PAD|UNK)\])(?:\s{0,2}\1){3}")
_HEX = re.compile(r"0x[0-9A-Fa-f]{1,64}\Z")
_APART = ("A-Za-zÀ-ɏ", "\u0400-\u052f", "\u0590-\u06ff", "\u0900-\u0dff", "\u10a0-\u10ff")
"""Scripts that are written with spaces and are not glued to each other; Thai, Chinese, Japanese and Korean take in any."""
_GLUED_SCRIPTS = re.compile("|".join(f"[{own}](?=[{''.join(c for c in _APART if c != own)}])" for own in _APART))
_BLANK = 200  # white space at the end of a text that was cut


def is_degenerate(text: str, *, cut: bool) -> bool:
    """Whether a text is a loop or word salad. `cut`: it ended at the token limit, as nearly every loop does.

    Meant to miss rather than to cry wolf: a refrain, a ruler, a table of zeros are ordinary.
    """
    blank = len(text) - len(text.rstrip())
    text = text.strip()
    return (cut and blank >= _BLANK) or _ends_in_loop(text, cut=cut) or _is_salad(text[-_WINDOW:], cut=cut)


def _ends_in_loop(text: str, *, cut: bool) -> bool:
    if _HEX.search(text[-70:]):
        return False
    backwards = text[: -_WINDOW - 1 : -1]
    reach = _z(backwards)
    for period in range(1, min(1000, len(backwards) // 2) + 1):
        length = period + reach[period]
        if length < 2 * period or (not cut and length < 0.8 * len(backwards)):
            continue
        unit = backwards[:period]
        if length >= _loop_length(unit, cut=cut):
            return True
    return False


def _loop_length(unit: str, *, cut: bool) -> int:
    """Characters that a repeated unit must fill before it is a loop and no ordinary repetition."""
    period = len(unit)
    han = bool(_HAN.search(unit))  # one character says as much as a word
    if all(c in _BRACKETS for c in unit):
        return 60 if cut else 100
    if all(c in _RULER for c in unit):
        return max(200 if cut else 400, 12 * period)  # rulers, dotted lines, rows of empty cells
    if all(c in _RULER or c.isdigit() for c in unit):
        return max(60 if cut else 400, 12 * period)  # the zeros of a large number, rows of zeros
    if not any(c.isalnum() for c in unit):
        return 20  # !!!!, ，，，，
    if period <= 4:
        return max(24, 12 * period) if not cut else max(16, 8 * period) if han else max(24, 10 * period)
    code = bool(_CODE.search(unit))
    if period > 60:
        times = 8 if code else 4
    elif code:
        times = 16
    else:
        times = 6 if period <= 10 else 5
    return max(24 if han else 40, times * period * (1 if cut else 3))


def _z(text: str) -> list[int]:
    """Z-function: for each i > 0 how many characters text[i:] shares with text from its start. Linear."""
    z = [0] * len(text)
    left = right = 0
    for i in range(1, len(text)):
        k = min(right - i, z[i - left]) if i < right else 0
        while i + k < len(text) and text[k] == text[i + k]:
            k += 1
        z[i] = k
        if i + k > right:
            left, right = i, i + k
    return z


def _is_salad(text: str, *, cut: bool) -> bool:
    if text.count("\ufffd") >= max(8, len(text) // 20) or len(_GLUED_SCRIPTS.findall(text)) >= 3 or _SPECIAL.search(text):
        return True
    words = [word.lower() for word in _WORD.findall(text)]
    if _MARKUP.search(text):
        return False  # code, tables, markup: punctuation and few words are their nature
    if len(_BROKEN_JOINT.findall(text)) >= max(3, len(words) // 8) or _ENDLESS_WORD.search(text):
        return True
    if len(_BYTES.findall(text)) >= max(4, len(words) // 2) or len(set(_GLUED_WORDS.findall(text))) >= 3:
        return True
    return cut and _says_little(words[-100:])


def _says_little(words: list[str]) -> bool:
    """Whether few words come again and again, or most of them twice in a row. Chinese characters do so in ordinary words."""
    twice = sum(a == b and len(a) > 1 for a, b in pairwise(words))
    if len(words) < 20 or sum(word.isalpha() for word in words) < len(words) // 2:
        return False
    return twice >= len(words) // 3 or (len(words) >= 30 and len(set(words)) <= len(words) // 8)
