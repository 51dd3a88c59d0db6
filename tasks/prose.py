"""A long text that nobody wrote: drawn from a grammar with a large vocabulary, in paragraphs that keep to a person and a place.

A line of grammars/en.txt or zh.txt is `symbol: one | another | …`, and an alternative may hold other symbols: `{thing}`. A
symbol in capitals is drawn once for each paragraph. Nothing in it has digits, or the form of a needle.
"""

import random
import re
from importlib.resources import files

from tasks.base import Language
from tasks.haystack import Haystack

_SYMBOL = re.compile(r"\{(\w+)\}")
_SENTENCES = (4, 9)
"""In a paragraph, from and to."""
_OPENING = re.compile(r'^"?[a-z]|(?<= )"[a-z]')
_WRONG_ARTICLE = re.compile(r"\b([Aa])(?= [aeiou])")


def haystack(language: Language, characters: int, seed: int) -> Haystack:
    """A text of at least so many characters, in whole paragraphs."""
    grammar, draws = _grammar(language), random.Random(f"{language} {seed}")
    paragraphs: list[str] = []
    seen: set[str] = set()
    length = 0
    while length < characters:
        paragraphs.append(_paragraph(grammar, draws, language, seen) + "\n\n")
        length += len(paragraphs[-1])
    return Haystack.of("".join(paragraphs), language, "generated")


def _grammar(language: Language) -> dict[str, tuple[str, ...]]:
    text = files("tasks").joinpath("grammars", f"{language}.txt").read_text(encoding="utf-8")
    rules = (line.partition(":") for line in text.splitlines() if line)
    return {name: tuple(alternative.strip() for alternative in told.split("|")) for name, _, told in rules}


def _paragraph(grammar: dict[str, tuple[str, ...]], draws: random.Random, language: Language, seen: set[str]) -> str:
    kept: dict[str, str] = {}
    sentences: list[str] = []
    wanted = draws.randint(*_SENTENCES)
    while len(sentences) < wanted:
        drawn = _expanded("sentence", grammar, draws, kept)
        if drawn not in seen:  # no sentence comes twice in a text
            seen.add(drawn)
            sentences.append(drawn if language == "zh" else _english(drawn))
    return ("" if language == "zh" else " ").join(sentences)


def _expanded(symbol: str, grammar: dict[str, tuple[str, ...]], draws: random.Random, kept: dict[str, str]) -> str:
    if symbol in kept:
        return kept[symbol]
    drawn = draws.choice(grammar[symbol.lower()])
    out = _SYMBOL.sub(lambda found: _expanded(found[1], grammar, draws, kept), drawn)
    if symbol.isupper():
        kept[symbol] = out
    return out


def _english(sentence: str) -> str:
    return _OPENING.sub(lambda found: found[0].upper(), _WRONG_ARTICLE.sub(r"\1n", sentence))
