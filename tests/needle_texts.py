"""Small haystacks and stand-ins for tokenizers, for the needle's tests."""

import random
import re

from tasks.base import Language, Message
from tasks.haystack import Haystack

WORDS: dict[Language, list[str]] = {
    "en": ["river", "a", "mountain", "of", "letters", "under", "extraordinary", "the", "light", "in", "harbour", "nine"],
    "zh": ["河流", "山", "在", "灯光", "之下", "港口", "的", "一封信", "黄昏", "来到", "我们", "九"],
}


def text(language: Language, sentences: int, seed: int = 0) -> str:
    r, gap, stop = random.Random(seed), *((" ", ". ") if language == "en" else ("", "。"))
    return "".join(gap.join(r.choices(WORDS[language], k=r.randint(3, 15))) + stop for _ in range(sentences))


def haystack(language: Language = "en", sentences: int = 4000) -> Haystack:
    return Haystack.of(text(language, sentences), language, "drawn")


def content(messages: tuple[Message, ...]) -> str:
    return messages[-1].content


def by_character(messages: tuple[Message, ...]) -> int:
    return 7 + len(content(messages))


def by_byte(messages: tuple[Message, ...]) -> int:
    return 9 + len(content(messages).encode())


def by_piece(messages: tuple[Message, ...]) -> int:
    """Like a byte-pair encoding: pieces of words, of which a character more may make fewer."""
    pieces = re.findall(r" ?[a-z]{1,4}ing| ?[a-zA-Z]{1,5}|\d|[一-鿿]{1,2}|\s+|.", content(messages))
    return 11 + len(pieces)


def by_three_bytes(messages: tuple[Message, ...]) -> int:
    """Two tokens for each Chinese character, so that no cut alone reaches every number."""
    return 8 + sum(2 if c > "\u2fff" else 1 for c in content(messages))
