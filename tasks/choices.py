"""Which choice an answer names, as a careful reader would take it: a letter, or an option's full text. Pure.

`(D) because …`, `The answer is **B**.`, `\\boxed{\\text{C}}`, `答案是 B`, `故选B`, `Paris`. Two letters that contradict each
other are no answer, and neither is the article of "A good example": a guess would be right once in four times.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import islice

from tasks.next_turn import NEXT_TURN

LETTERS = "ABCDEFGHIJ"
UNKNOWN = ("",) * 4
"""Four options whose texts are not known."""
_LIMIT = 200_000  # characters that are read
_MOST_MARKERS = 1000  # of one kind
_LATEX = re.compile(r"\\(?:text|mathrm|mathbf|textbf|textit|mathit|rm|bf)\s?\{([^{}]{0,400})\}")
_MARKUP = re.compile(r"[*`$]|\\[()\[\]]|\\[,;! ]|__|(?<!\w)_|_(?!\w)|</?(?:b|strong|i|em|u|p|br|span|code)\b[^<>]{0,60}>")
_BOXED = re.compile(r"\\f?box(?:ed)?\s?\{([^{}]{0,400})(\}?)")
_ASIDE = r"(?: (?:to|for|of|among|from|in|here|choice|option)\b[^.\n:=?]{0,80}?)?(?: ?\([^()\n]{0,40}\))?"
_ADVERB = r"(?:(?:clearly|therefore|thus|(?:most )?likely|probably|definitely|simply|indeed|actually)\b ?)?"
_NOUN = r"(?:(?:the )?(?:correct |right |best )?(?:option|choice|letter|answer)\b:? ?)?"
_BE = r"(?:is|was|(?:(?:would|must|will) )?(?:have|has) to be|(?:would|should|must|will) be)"
_SAYS = rf"{_ASIDE}\s{{0,3}}(?:\b{_BE}\b|[:=→]|[-=]>|(?<=\s)[-–—](?=\s))\s{{0,4}}{_ADVERB}:?\s{{0,4}}{_NOUN}"
_HAN_SAYS = r" ?(?:选项)? ?(?:应该是|应当是|应为|应是|就是|应选|应该选|选择|选|是|为|[:=]) ?:?\s{0,4}(?:选项|选择|选)? ?"
_FINAL = (re.compile(rf"(?i)\bfinal (?:answer|choice){_SAYS}"), re.compile(rf"(?:最终|最后)(?:的)?(?:答案|选择){_HAN_SAYS}"))
_STATED = (
    re.compile(rf"(?i)\b(?:answer|option|choice|(?:correct|right) (?:statement|letter|response|one))[\"']?{_SAYS}"),
    re.compile(r"(?im)\bans ?[.:] ?|^[#>\- ]{0,6}correct ?: ?|<answer> ?"),
    re.compile(r"(?im)^[#>\- ]{0,6}(?:final |correct )?answer\s{1,4}(?=\(?[A-J]\b)"),
    re.compile(rf"(?:答案|(?:正确的?)?选项(?=是|为|应)|正确的?选项|正确的?选择){_HAN_SAYS}"),
    re.compile(r"(?m)答案 ?[】\]] ?|(?:^|[\s。;,])(?:回答|答) ?: ?|正确的是 ?(?:选项 ?)?"),
    re.compile(r"我(?:认为|觉得|的答案)(?:应该|应)?是 ?"),
    re.compile(r"(?:选择|选定|选)(?!项|择|定) ?(?:选项)? ?:? ?"),
    re.compile(rf"(?i)\b(?:choose|pick|select|go(?:ing)? with) {_NOUN}"),
)
_IMPLIED = (
    re.compile(rf"(?i)\b(?:therefore|thus|hence|so)\b,? ?(?:it(?:'s| is) )?{_NOUN}"),
    re.compile(r"(?:因此|所以|故)[,:]? ?"),
)
_IT_IS = re.compile(rf"(?i)\b(?:it|this|that)(?:['’]s| is| was| would be) {_NOUN}")
_NAMED = re.compile(
    r"(?i)(?:the )?(?:(?:correct |right )?(?:answer|option|choice)|选项|选择?)\s?(?:is\b|是|为)?:?\s?(?=[(\[]?[A-J]\b)"
)
_UNCERTAIN = re.compile(
    r"(?i)(?:\b(?:if|whether|suppos\w+|assum\w+|unless|not|never|why|cannot)\b|n't\b|如果|假如|假设|若|是否|"
    r"不(?:能|应|应该|可|会|可能)?$|并非|不要$)"
)
_CLAUSE = re.compile(r"(?i)[.,;:!?\n。、]|\b(?:but|so|then|therefore|thus|hence)\b|但|所以|因此")
_REASONS = r"(?:because|since|as|for|which|that|due|based|given|in|by|from|where|is|according)\b"
_GOES_ON = re.compile(rf"\s{{0,2}}(?:$|[.,;:!。、()【\]}}|=<—–]|-\s|\n|[㐀-鿿])|[ ]{{1,2}}{_REASONS}", re.IGNORECASE)
_ENDS = re.compile(r"\s{0,2}[.。!,]?\s{0,4}(?:$|\n)")
_TEXT_ENDS = re.compile(rf"\s*[)\]}}\"'”’]{{0,3}}\s*(?:$|[.!?。](?!\d)|[,;(:]|{_REASONS})", re.IGNORECASE)
_CLOSES = re.compile(r"\w \([A-J]\)[.!。]?\s*\Z")
_PUNCTUATION = " \t\n.,;:!?。、\"'“”‘’()[]{}"


class _Fold(dict[int, str]):
    """NFKC by character for str.translate; over a whole text it takes quadratic time on long runs of combining marks."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        return "" if unicodedata.category(char) == "Cf" else unicodedata.normalize("NFKC", char)


def final_choice(text: str, options: tuple[str, ...] = UNKNOWN) -> str | None:
    """The letter that a visible answer settles on; None where it names none, or several. Never raises.

    The strongest statement wins: an option's text and nothing else, then `\\boxed{B}` and "final answer", then "the answer is
    B", "选B" and a letter on a line of its own, then "B is correct" and "therefore B", then an option's text on the first or
    the last line.
    """
    reader = _Reader(_clean(text), options)
    for named in (reader.option(reader.text, whole=True), reader.strong(), reader.stated(), reader.implied(), reader.by_text()):
        if named:
            return named.pop() if len(named) == 1 else None
    return None


def finished_choice(text: str, options: tuple[str, ...] = UNKNOWN) -> str | None:
    """The letter that no further token could change: in a closed `\\boxed{}`, or alone on an ended first line."""
    reader = _Reader(_clean(text), options)
    boxed = reader.boxed(closed=True)
    first, newline, rest = reader.text.lstrip().partition("\n")
    if not boxed and newline:
        head = _Reader(first, options)
        said = head.strong() or head.stated()
        boxed = said | _Reader(rest, options).strong() | _Reader(rest, options).stated() if said else said
    return boxed.pop() if len(boxed) == 1 else None


def _clean(text: str) -> str:
    text = text[:_LIMIT]
    if not text.isascii():
        text = text.translate(_Fold())
    text = _MARKUP.sub("", _LATEX.sub(r"\1", text))
    end = next((turn for turn in NEXT_TURN.finditer(text) if text[: turn.start()].strip()), None)
    # After its answer a model may pose itself another question; what it says to that is no answer to ours.
    return text[: end.start()] if end else text


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).strip(_PUNCTUATION)


@cache
def _letter(count: int) -> re.Pattern[str]:
    upper = LETTERS[:count]
    return re.compile(
        rf"(?P<open>[(\[{{\"'‘“「【]?)\s?(?P<letter>[{upper}{upper.lower()}])\s?(?P<close>[)\]}}\"'’”」】]?)"
        r"(?![A-Za-z0-9_]|[-'’][A-Za-z0-9]|[+#°/&^])"  # not A-level, B's, C++, C#
    )


@cache
def _another(count: int) -> re.Pattern[str]:
    return re.compile(
        rf"\s{{0,2}}(?:,|/|、|&|,? ?(?:or|and)\b|或者?|和|与|及)\s{{0,2}}(?:option )?"
        rf"[(\[]?(?P<letter>[{LETTERS[:count]}])(?![A-Za-z0-9_])(?!\s?(?:(?:is|are|was)\b|选?项?[是错不]))"
    )


@cache
def _label(count: int) -> re.Pattern[str]:
    return re.compile(rf"(?m)^[\s>#-]{{0,8}}[(\[]?([{LETTERS[:count]}])[)\].:、](?=\s|[^\x00-\x7f]|\w{{2}})")


@cache
def _bracketed(count: int) -> re.Pattern[str]:
    return re.compile(rf"\(([{LETTERS[:count]}])\)")


@cache
def _called_right(count: int) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![A-Za-z0-9'’])[(\[]?(?P<letter>[{LETTERS[:count]}])[)\]]?(?:"
        r"(?: option)? (?:is|would be|must be)(?: the)?(?: most| only)? "
        r"(?:correct|right|(?:best )?(?:answer|choice|option))\b(?!-)|"
        r" ?(?:选项|项)? ?(?:是|为)?(?:正确|对的))"
    )


class _Reader:
    """One cleaned text, read for the letters that it states."""

    def __init__(self, text: str, options: tuple[str, ...]) -> None:
        self.text, self.count = text, len(options)
        texts = {LETTERS[i]: _plain(_clean(option)) for i, option in enumerate(options)}
        self.options = {letter: text for letter, text in texts.items() if text.upper() not in {"", *LETTERS}}
        self.reach = max(map(len, options), default=0) + 100

    def strong(self) -> set[str]:
        return self.boxed(closed=False) | self._after(_FINAL)

    def boxed(self, *, closed: bool) -> set[str]:
        """Of every `\\boxed{…}` that holds a choice."""
        found: set[str] = set()
        for box in _BOXED.finditer(self.text):
            if box[2] or not closed:
                found |= self._at(_NAMED.sub("", box[1], count=1), 0) or self.option(box[1], whole=True)
        return found

    def stated(self) -> set[str]:
        return self._after(_STATED) | self._lines()

    def implied(self) -> set[str]:
        """Of "B is correct", "therefore B", and a last `(B)` where no other letter stands in brackets."""
        closing = _bracketed(self.count).findall(self.text)
        found = set(closing) if _CLOSES.search(self.text) and len(set(closing)) == 1 else set()
        found |= {said["letter"] for said in _called_right(self.count).finditer(self.text) if self._sure(said.start())}
        for pattern in (*_IMPLIED, _IT_IS):
            for marker in pattern.finditer(self.text):
                letter = _letter(self.count).match(self.text, marker.end())
                if (
                    letter
                    and letter["letter"].isupper()
                    and _ENDS.match(self.text, letter.end())
                    and self._sure(marker.start())
                ):
                    found.add(letter["letter"])
        return found

    def by_text(self) -> set[str]:
        """Of its first or its last line, or of what follows "it is", where that is an option's text."""
        lines = [line for line in self.text.split("\n") if line.strip()]
        for piece in (*lines[:1], *lines[-1:]):
            if found := self.option(piece, whole=True):
                return found
        return set().union(*(self.option(self.text[m.end() :]) for m in _IT_IS.finditer(self.text[:1000])))

    def _after(self, patterns: tuple[re.Pattern[str], ...]) -> set[str]:
        found: set[str] = set()
        for pattern in patterns:
            for marker in islice(pattern.finditer(self.text), _MOST_MARKERS):
                if self._sure(marker.start()):
                    # An option may begin as a letter does: "B cells".
                    found |= self.option(self.text[marker.end() : marker.end() + self.reach]) or self._at(
                        self.text, marker.end()
                    )
        return found

    def _sure(self, start: int) -> bool:
        """Whether the clause before a statement neither denies it nor only supposes it."""
        before = self.text[max(0, start - 60) : start]
        *_, clause = _CLAUSE.split(before)
        return not _UNCERTAIN.search(clause)

    def _lines(self) -> set[str]:
        """Of a letter alone on a line; of a labelled first or last line, where the labels are not a list of options."""
        labels = [label[1] for label in _label(self.count).finditer(self.text)]
        several = len(set(labels)) > 1
        lines = [line.strip(" \t>#-") for line in self.text.split("\n") if line.strip(" \t>#-")]
        found: set[str] = set()
        for i, line in enumerate(lines):
            named = _NAMED.match(line)
            letter = _letter(self.count).match(line, named.end() if named else 0)
            if letter is None:
                continue
            if _ENDS.fullmatch(line, letter.end()):
                found |= {letter["letter"].upper()} if letter["letter"].isupper() or len(lines) == 1 else set()
            elif named:
                continue
            elif i == 0 and not (several and labels[0] == "A"):  # a list of the options begins with A
                found |= self._opening(line, letter, last=False)
            elif i == len(lines) - 1 and not several:
                found |= self._opening(line, letter, last=True)
        return found

    def _opening(self, line: str, letter: re.Match[str], *, last: bool) -> set[str]:
        """Of a line that begins with its letter: `(D) because …`, `B. Paris`."""
        marked = letter["close"] or line[letter.end() :].lstrip()[:1] in (".", ":", ")", "-", "—", "–")
        reasoned = re.match(r",? (?:because|since)\b|,? ?(?:因为|由于)", line[letter.end() :])
        own = self.options.get(letter["letter"].upper())
        if own is not None and _plain(line[letter.end() :]) == own:
            return {letter["letter"].upper()} if marked else set()
        if last or letter["letter"].islower() or not (marked or reasoned):
            return set()
        return self._at(line, 0)

    def _at(self, text: str, start: int) -> set[str]:
        """The letters that stand at a place; empty where what stands there is an article or another word."""
        letter = _letter(self.count).match(text, start)
        if letter is None:
            return set()
        bracketed = bool(letter["open"] and letter["close"])
        plain = bracketed or letter["close"] or _GOES_ON.match(text, letter.end())
        if not plain or (letter["letter"].islower() and not bracketed and not _ENDS.match(text, letter.end())):
            return set()
        return {letter["letter"].upper()} | set(self._others(text, letter))

    def _others(self, text: str, letter: re.Match[str]) -> Iterator[str]:
        """What is named beside a letter: `A or C`; `B. Paris` where Paris is C."""
        end = letter.end()
        while another := _another(self.count).match(text, end):
            yield another["letter"]
            end = another.end()
        rest = text[letter.end() :].split("\n", 1)[0]
        if _plain(rest) != self.options.get(letter["letter"].upper()):
            yield from self.option(rest, whole=True)

    def option(self, text: str, *, whole: bool = False) -> set[str]:
        """The options whose text this is, or begins with; the longest, where one begins as another does."""
        said = _plain(text) if whole else " ".join(text.lower().split()).lstrip(_PUNCTUATION)
        fits = [
            (len(option), letter)
            for letter, option in self.options.items()
            if said == option or (not whole and said.startswith(option) and _TEXT_ENDS.match(said, len(option)))
        ]
        longest = max(fits, default=(0, ""))[0]
        return {letter for length, letter in fits if length == longest}
