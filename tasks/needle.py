"""Needles: random identifiers hidden in a long text, one of which the model has to find. Pure.

A sample is one cell of a grid, `en-32768-d30-1`: language, tokens of the whole prompt, depth in percent, which repeat. Its text
holds `The secret word of the amber fox is k3m9xw4tzq7h.` and ends `What is the secret word of the amber fox?`; sentences of the
same form about other animals are distractors. Nobody can know or guess the word, and one lost character shows.
"""

import random
import re
from dataclasses import dataclass, replace
from itertools import product
from typing import Self

from tasks.base import Language, Sample
from tasks.haystack import Haystack, HaystackError
from tasks.needle_fit import Count, Draft, Insert, fit

ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without what is misread: 0 and o, 1, l and i."""
IDENTIFIER_CHARS = 12
LEAST_TOKENS = 256
"""Of a prompt: a shorter one has no room for a text."""
_COLORS: dict[Language, tuple[str, ...]] = {
    "en": ("red", "blue", "green", "white", "black", "amber", "silver", "golden"),
    "zh": ("红色", "蓝色", "绿色", "白色", "黑色", "金色"),
}
_ANIMALS: dict[Language, tuple[str, ...]] = {
    "en": ("fox", "owl", "bear", "wolf", "crane", "otter", "tiger", "horse", "eagle", "mouse", "panda", "seal", "goat", "duck"),
    "zh": ("狐狸", "猫头鹰", "熊", "狼", "仙鹤", "水獭", "老虎", "马", "老鹰", "老鼠", "熊猫", "海豹"),
}
MOST = min(len(animals) for animals in _ANIMALS.values())
"""Needles and distractors in one prompt: each is of another animal."""
_ID = re.compile(r"(en|zh)-(\d+)-d(\d+)-(\d+)")


@dataclass(frozen=True, kw_only=True)
class Cell:
    language: Language
    length: int
    """Tokens of the whole prompt, chat template included."""
    depth: int
    """Percent of the haystack that comes before the needle."""
    repeat: int
    """From 1."""

    @property
    def id(self) -> str:
        return f"{self.language}-{self.length}-d{self.depth}-{self.repeat}"

    @property
    def group(self) -> str:
        return f"{self.language} {self.length}"

    @classmethod
    def read(cls, sample_id: str) -> Self:
        """Raises ValueError where it is no cell's id."""
        found = _ID.fullmatch(sample_id)
        if found is None:
            raise ValueError(f"{sample_id!r} is not the id of a needle's cell")
        language: Language = "en" if found[1] == "en" else "zh"
        return cls(language=language, length=int(found[2]), depth=int(found[3]), repeat=int(found[4]))


@dataclass(frozen=True, kw_only=True)
class Grid:
    """What is asked: every length at every depth in every language."""

    lengths: tuple[int, ...]
    longest: bool = False
    """Whether the longest prompt that every arm takes is asked, too; it is among `lengths` once that is known."""
    usual: bool = False
    """Whether these are the usual lengths, of which those that an arm does not take are left out."""
    left_out: tuple[int, ...] = ()
    boundaries: tuple[int, ...] = ()
    """Powers of two and chunk sizes: the lengths just below, at and just above each are asked, too."""
    depths: tuple[int, ...]
    languages: tuple[Language, ...]
    repeats: int = 1
    needles: int = 1
    """All of a prompt are asked for at once; the first stands at the cell's depth, the others spread from there."""
    distractors: int = 3

    def all_lengths(self) -> tuple[int, ...]:
        return tuple(sorted({*self.lengths, *(b + beside for b in self.boundaries for beside in (-1, 0, 1))}))

    @property
    def is_open(self) -> bool:
        """Whether its lengths wait for what the arms take."""
        return self.longest or self.usual

    @property
    def size(self) -> int:
        """Cells; of an open grid so many at most."""
        return (len(self.all_lengths()) + self.longest) * len(self.depths) * len(self.languages) * self.repeats

    def beyond(self, room: int) -> tuple[int, ...]:
        """The lengths that a user names and that prompts of `room` tokens at most don't allow."""
        return tuple(length for length in self.all_lengths() if length > room and not (self.usual and length in self.lengths))

    def within(self, room: int) -> "Grid":
        """Closed, now that a prompt is known to have `room` tokens at most; without a length where even the least has none."""
        fit = {length for length in self.lengths if length <= room}
        longest = {room} if self.longest and room >= LEAST_TOKENS else set()
        return replace(
            self,
            lengths=tuple(sorted(fit | longest)),
            longest=False,
            usual=False,
            left_out=tuple(sorted({*self.lengths} - fit)),
        )

    def cells(self, seed: int) -> tuple[Cell, ...]:
        """In a seeded order that a smaller n cuts, so that what is left is spread over the grid."""
        axes = product(self.languages, self.all_lengths(), self.depths, range(1, self.repeats + 1))
        out = [Cell(language=a, length=b, depth=c, repeat=d) for a, b, c, d in axes]
        random.Random(f"order {seed}").shuffle(out)
        return tuple(out)


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """One identifier and what it belongs to: `amber fox`."""

    key: str
    identifier: str


@dataclass(frozen=True, kw_only=True)
class Target:
    wanted: tuple[Hidden, ...]
    distractors: tuple[Hidden, ...]

    def text(self) -> str:
        """`blue owl≠m9…; amber fox=k3…`: distractors first, so that a reader who sees only the end sees what is wanted."""
        return "; ".join(
            [f"{h.key}≠{h.identifier}" for h in self.distractors] + [f"{h.key}={h.identifier}" for h in self.wanted]
        )

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises ValueError where it is no target's text."""
        pairs = [re.fullmatch(r"([^=≠;]+)([=≠])([a-z0-9_]+)", part) for part in text.split("; ")]
        if not all(pairs):
            raise ValueError(f"{text[:200]!r} is not a needle's target")
        told = [(p[2], Hidden(key=p[1], identifier=p[3])) for p in pairs if p]
        return cls(wanted=tuple(h for sign, h in told if sign == "="), distractors=tuple(h for sign, h in told if sign == "≠"))


def outline(cell: Cell) -> Sample:
    """A sample whose prompt is not made yet: how long a text is only a tokenizer can tell."""
    return Sample(id=cell.id, messages=(), target="", group=cell.group)


def sample(cell: Cell, grid: Grid, haystack: Haystack, seed: int, count: Count) -> Sample:
    """The cell's prompt, of as many tokens as needle_fit.py says. Equal arguments and counts give equal prompts.

    Raises:
        HaystackError: the haystack is too short for it, or the length too small.
    """
    draws = random.Random(f"{seed} {cell.id}")
    hidden = _hidden(draws, cell.language, grid.needles + grid.distractors)
    target = Target(wanted=hidden[: grid.needles], distractors=hidden[grid.needles :])
    inserts = [
        *(
            Insert(sentence=_sentence(h, cell.language), share=_spread(cell.depth, i, grid.needles) / 100)
            for i, h in enumerate(target.wanted)
        ),
        *(Insert(sentence=_sentence(h, cell.language), share=draws.uniform(0.05, 0.95)) for h in target.distractors),
    ]
    draft = Draft(
        language=cell.language, passage=haystack.from_sentence(draws.randrange(len(haystack.sentences))),
        inserts=tuple(inserts), question=_question(target.wanted, cell.language),
    )  # fmt: skip
    try:
        fitted = fit(draft, cell.length, count)
    except HaystackError as e:
        raise HaystackError(f"haystack {cell.language} ({haystack.source}): {e}") from e
    return Sample(id=cell.id, messages=fitted.messages, target=target.text(), group=cell.group)


def _hidden(draws: random.Random, language: Language, number: int) -> tuple[Hidden, ...]:
    """Each of another animal, and no two identifiers alike: with 31¹² of them none is near another by chance."""
    animals = draws.sample(_ANIMALS[language], number)
    gap = " " if language == "en" else ""
    return tuple(
        Hidden(key=f"{draws.choice(_COLORS[language])}{gap}{animal}", identifier=_identifier(draws)) for animal in animals
    )


def _identifier(draws: random.Random) -> str:
    """Letters and digits both, so that it never looks like a number or a word."""
    while True:
        drawn = "".join(draws.choice(ALPHABET) for _ in range(IDENTIFIER_CHARS))
        if not drawn.isdigit() and not drawn.isalpha():
            return drawn


def _spread(depth: int, index: int, needles: int) -> float:
    """Depth of each needle, percent: the first at the cell's own, the others evenly around, within 5 to 95."""
    return depth if index == 0 else 5 + (depth - 5 + 90 * index / needles) % 90


def _sentence(hidden: Hidden, language: Language) -> str:
    if language == "en":
        return f"The secret word of the {hidden.key} is {hidden.identifier}."
    return f"{hidden.key}的暗号是{hidden.identifier}。"


def _question(wanted: tuple[Hidden, ...], language: Language) -> str:
    keys = [h.key for h in wanted]
    if language == "zh":
        asked = f"{'、'.join(keys[:-1])}和{keys[-1]}" if len(keys) > 1 else keys[0]
        return f"{asked}的暗号{'分别' if len(keys) > 1 else ''}是多少？"
    if len(keys) == 1:
        return f"What is the secret word of the {keys[0]}?"
    return f"What are the secret words of the {', the '.join(keys[:-1])} and the {keys[-1]}?"
