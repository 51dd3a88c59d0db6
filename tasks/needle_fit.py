"""A prompt of an exact number of tokens: needles put where they belong in a haystack that is cut to fit. Pure.

The rule. A depth is a share of the haystack's characters; a needle stands at the sentence boundary that is nearest to it, so
that no sentence of the haystack is broken by one. Then the haystack's end is cut, to the character, until the whole
prompt (chat template included, as `count` counts it) has the wanted number of tokens. Where no cut gives that number, for a
character may be several tokens, up to three full stops at the cut close the gap; where those do not either, the
prompt is the longest found below it. It is never longer than wanted.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from tasks.base import Language, Message
from tasks.haystack import HaystackError, Passage

Count = Callable[[tuple[Message, ...]], int]
"""The tokens that messages take once they are rendered."""

MAX_COUNTS = 20
"""Each costs the server a tokenization of the whole prompt."""
_RESERVED = 5
"""Of them, for what is tried beside the cut."""
CLOSE = 0.005
"""Share of the wanted tokens within which the needles' places are fixed, so that a depth is off by half a point at most."""
_CHARACTERS_PER_TOKEN: dict[Language, float] = {"en": 4.3, "zh": 1.5}
"""Where the search begins; only how many counts it takes depends on them."""
_FULL_STOP: dict[Language, str] = {"en": ".", "zh": "。"}


@dataclass(frozen=True, kw_only=True)
class Insert:
    """A sentence to hide."""

    sentence: str
    share: float
    """Where: characters of the haystack before it, 0–1."""


@dataclass(frozen=True, kw_only=True)
class Fitted:
    messages: tuple[Message, ...]
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a prompt is made of, but for its length."""

    language: Language
    passage: Passage
    inserts: tuple[Insert, ...]
    question: str

    def places(self, characters: int) -> tuple[int, ...]:
        """Where each insert goes in a haystack of so many characters."""
        return tuple(self._nearest(insert.share * characters, characters) for insert in self.inserts)

    def _nearest(self, position: float, limit: int) -> int:
        ends = self.passage.boundaries
        i = bisect_left(ends, position)
        around = [e for e in ends[max(0, i - 1) : i + 1] if e <= limit]
        return min(around, key=lambda e: abs(e - position), default=0)

    def messages(self, characters: int, places: tuple[int, ...], ending: str = "") -> tuple[Message, ...]:
        text, gap = self.passage.text[:characters], " " if self.language == "en" else ""
        parts, at = [], 0
        for place, insert in sorted(zip(places, self.inserts, strict=True), key=lambda pair: pair[0]):
            parts += [text[at:place], insert.sentence, gap]
            at = max(at, place)
        return (Message(role="user", content=f"{''.join(parts)}{text[at:]}{ending}\n{self.question}"),)


def fit(draft: Draft, wanted: int, count: Count) -> Fitted:
    """The prompt of `wanted` tokens. Deterministic: equal counts, equal prompts.

    Raises:
        HaystackError: the text is too short for it, or the needles and the question alone take more.
    """
    return _Search(draft, wanted, count).run()


class _Search:
    def __init__(self, draft: Draft, wanted: int, count: Count) -> None:
        self.draft, self.wanted, self._count = draft, wanted, count
        self.left, self.bare = MAX_COUNTS, 0
        self.places: tuple[int, ...] = ()
        self.best: Fitted | None = None

    def run(self) -> Fitted:
        self.bare = self._asked(self.draft.messages(0, self.draft.places(0)))
        if self.bare > self.wanted:
            raise HaystackError(
                f"needles and question alone take {self.bare} tokens, and {self.wanted} are wanted; ask for more"
            )
        characters = self._roughly()
        self.places = self.draft.places(characters)
        cut = self._bisected(characters)
        for near in (cut + 2, cut + 3):  # a character more may merge into fewer tokens
            self._tried(near)
        for stops in (1, 2, 3):
            self._tried(cut, _FULL_STOP[self.draft.language] * stops)
        best = self.best or Fitted(messages=self.draft.messages(0, self.places), tokens=self.bare)
        if cut == len(self.draft.passage.text) and best.tokens != self.wanted:
            self._too_short(best.tokens)
        return best

    def _roughly(self) -> int:
        """Characters with which the prompt is nearly as long as wanted, its needles where such a length puts them."""
        characters = self._held((self.wanted - self.bare) * _CHARACTERS_PER_TOKEN[self.draft.language])
        for _ in range(4):
            tokens = self._asked(self.draft.messages(characters, self.draft.places(characters)))
            if abs(self.wanted - tokens) <= CLOSE * self.wanted:
                break
            moved = self._held(characters + self._step(characters, tokens))
            if moved == characters == len(self.draft.passage.text):
                self._too_short(tokens)
            characters = moved
        return characters

    def _step(self, characters: int, tokens: int) -> float:
        """Characters to add, if all of the haystack is as dense as what was counted."""
        return (self.wanted - tokens) * max(characters, 1) / max(tokens - self.bare, 1)

    def _bisected(self, characters: int) -> int:
        """The characters of the longest prompt that is not too long, by regula falsi, and by halves where that is slow."""
        low, low_tokens = 0, self.bare
        high, high_tokens = len(self.draft.passage.text) + 1, 0  # 0: not counted
        while self.left > _RESERVED and high - low > 1 and not self._exact():
            width = high - low
            tokens = self._tried(characters)
            assert tokens is not None  # counts are left, and it lies between the two
            if tokens <= self.wanted:
                low, low_tokens = characters, tokens
            else:
                high, high_tokens = characters, tokens
            if not high_tokens or not low:
                characters += round(self._step(characters, tokens)) or (1 if tokens < self.wanted else -1)
            elif high - low > width / 2:
                characters = (low + high) // 2
            else:
                characters = low + round((self.wanted - low_tokens) * (high - low) / max(high_tokens - low_tokens, 1))
            characters = min(max(characters, low + 1), high - 1)
        return low

    def _too_short(self, tokens: int) -> NoReturn:
        raise HaystackError(
            f"its {len(self.draft.passage.text)} characters make a prompt of {tokens} tokens, and {self.wanted} are wanted; "
            "name a longer text or shorter lengths"
        )

    def _exact(self) -> bool:
        return self.best is not None and self.best.tokens == self.wanted

    def _tried(self, characters: int, ending: str = "") -> int | None:
        """Tokens of a prompt with so much of the haystack, kept where it is the best so far; None where counting is over."""
        if self._exact() or not self.left or not 0 <= characters <= len(self.draft.passage.text):
            return None
        messages = self.draft.messages(characters, self.places, ending)
        tokens = self._asked(messages)
        if tokens <= self.wanted and (self.best is None or tokens > self.best.tokens):
            self.best = Fitted(messages=messages, tokens=tokens)
        return tokens

    def _asked(self, messages: tuple[Message, ...]) -> int:
        self.left -= 1
        return self._count(messages)

    def _held(self, characters: float) -> int:
        return min(max(round(characters), 0), len(self.draft.passage.text))
