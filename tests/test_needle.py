"""Needles: where they stand, how long the prompts are, and that nothing of them depends on luck."""

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from needle_texts import by_byte, by_character, by_piece, by_three_bytes, content, haystack, text

from tasks.base import Language, Message, Sample
from tasks.haystack import Haystack, HaystackError
from tasks.needle import ALPHABET, Cell, Grid, Target, outline, sample
from tasks.needle_fit import MAX_COUNTS

HAYSTACKS: dict[Language, Haystack] = {"en": haystack("en"), "zh": haystack("zh")}
GRID = Grid(lengths=(500, 2000), depths=(10, 50, 90), languages=("en", "zh"))
Count = Callable[[tuple[Message, ...]], int]


def cell(language: Language = "en", length: int = 2000, depth: int = 50, repeat: int = 1) -> Cell:
    return Cell(language=language, length=length, depth=depth, repeat=repeat)


def made(of: Cell, count: Count = by_piece, grid: Grid = GRID, seed: int = 0) -> Sample:
    return sample(of, grid, HAYSTACKS[of.language], seed, count)


@pytest.mark.parametrize("count", [by_character, by_piece])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("length", [300, 511, 2048, 7001])
def test_a_prompt_has_exactly_the_wanted_tokens(language: Language, length: int, count: Count) -> None:
    assert count(made(cell(language, length), count).messages) == length


@pytest.mark.parametrize("count", [by_byte, by_three_bytes])
@pytest.mark.parametrize("length", range(1500, 1506))
def test_characters_of_several_tokens_leave_a_gap_of_less_than_one_of_them(count: Count, length: int) -> None:
    got = count(made(cell("zh", length), count).messages)
    assert length - 2 <= got <= length


@settings(max_examples=50)
@given(st.integers(200, 9000), st.sampled_from(["en", "zh"]), st.integers(10, 90), st.integers(0, 99))
def test_no_prompt_is_ever_longer_or_takes_more_counts_than_allowed(
    length: int, language: Language, depth: int, seed: int
) -> None:
    counts = []

    def count(messages: tuple[Message, ...]) -> int:
        counts.append(by_piece(messages))
        return counts[-1]

    got = made(cell(language, length, depth), count, seed=seed)
    assert by_piece(got.messages) in (length, length - 1)
    assert len(counts) <= MAX_COUNTS


def test_a_long_prompt_takes_few_counts() -> None:
    long, counts = Haystack.of(text("en", 60_000), "en", "drawn"), []

    def count(messages: tuple[Message, ...]) -> int:
        counts.append(by_piece(messages))
        return counts[-1]

    got = sample(cell(length=100_000), GRID, long, 0, count)
    assert by_piece(got.messages) == 100_000
    assert len(counts) <= 12


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("depth", [10, 30, 50, 70, 90])
def test_the_needle_stands_at_its_depth_between_two_sentences(language: Language, depth: int) -> None:
    got = made(cell(language, 6000, depth))
    wanted = Target.read(got.target).wanted[0]
    body = content(got.messages).rsplit("\n", 1)[0]
    needle = re.search(rf"(?:The secret word of the )?{wanted.key}(?: is |的暗号是){wanted.identifier}[.。] ?", body)
    assert needle is not None
    assert 100 * needle.start() / (len(body) - len(needle[0])) == pytest.approx(depth, abs=2)
    assert body[: needle.start()].rstrip()[-1] in ".。"


def test_without_its_sentences_the_text_is_the_haystack_as_it_was() -> None:
    got = made(cell("en", 3000))
    body = content(got.messages).rsplit("\n", 1)[0]
    hidden = Target.read(got.target)
    for h in (*hidden.wanted, *hidden.distractors):
        sentence = f"The secret word of the {h.key} is {h.identifier}. "
        assert body.count(sentence) == 1
        body = body.replace(sentence, "")
    turned = "".join(HAYSTACKS["en"].sentences * 2)
    assert body.rstrip(".")[:-3] in turned


def test_identifiers_are_random_and_all_different() -> None:
    found = [h.identifier for i in range(1, 60) for h in Target.read(made(cell(length=300, repeat=i)).target).wanted]
    assert len(set(found)) == len(found)
    assert all(set(word) <= set(ALPHABET) and len(word) == 12 for word in found)
    assert not set("0o1li") & set(ALPHABET)


def test_distractors_have_the_same_form_and_another_key() -> None:
    grid = Grid(lengths=(2000,), depths=(50,), languages=("zh",), needles=2, distractors=5)
    got = made(cell("zh"), grid=grid)
    hidden = Target.read(got.target)
    assert (len(hidden.wanted), len(hidden.distractors)) == (2, 5)
    keys = [h.key for h in (*hidden.wanted, *hidden.distractors)]
    assert len(set(keys)) == 7
    assert all(
        content(got.messages).count(f"{h.key}的暗号是{h.identifier}。") == 1 for h in (*hidden.wanted, *hidden.distractors)
    )


@pytest.mark.parametrize(
    ("language", "needles", "said"),
    [
        ("en", 1, r"What is the secret word of the \w+ \w+\?"),
        ("en", 3, r"What are the secret words of the \w+ \w+, the \w+ \w+ and the \w+ \w+\?"),
        ("zh", 1, r"\w+的暗号是多少？"),
        ("zh", 2, r"\w+和\w+的暗号分别是多少？"),
    ],
)
def test_the_question_names_what_is_wanted(language: Language, needles: int, said: str) -> None:
    got = made(cell(language), grid=Grid(lengths=(1,), depths=(1,), languages=("en",), needles=needles))
    question = content(got.messages).rsplit("\n", 1)[1]
    assert re.fullmatch(said, question)
    assert all(h.key in question for h in Target.read(got.target).wanted)


def test_several_needles_are_spread() -> None:
    grid = Grid(lengths=(1,), depths=(1,), languages=("en",), needles=4, distractors=0)
    got = made(cell("en", 6000, 90), grid=grid)
    places = sorted(content(got.messages).index(h.identifier) for h in Target.read(got.target).wanted)
    assert all(b - a > 0.15 * len(content(got.messages)) for a, b in pairwise(places))


def test_equal_arguments_make_equal_prompts_and_other_seeds_others() -> None:
    assert made(cell()) == made(cell())
    others = [made(cell(), seed=1), made(cell(repeat=2)), made(cell(depth=51))]
    assert len({s.messages for s in others} | {made(cell()).messages}) == 4


def test_a_text_that_is_too_short_is_told() -> None:
    short = Haystack.of(text("en", 50), "en", "notes.txt")
    with pytest.raises(
        HaystackError, match=r"haystack en \(notes.txt\): its \d+ characters make a prompt of \d+ tokens, and 2000"
    ):
        sample(cell(), GRID, short, 0, by_piece)


def test_a_length_without_room_for_the_question_is_told() -> None:
    with pytest.raises(HaystackError, match="alone take"):
        made(cell(length=40))


def test_ids_carry_their_cell() -> None:
    of = cell("en", 32768, 30)
    assert (of.id, of.group) == ("en-32768-d30-1", "en 32768")
    assert Cell.read(of.id) == of
    with pytest.raises(ValueError, match="not the id"):
        Cell.read("fr-1-d1-1")
    assert outline(of) == Sample(id=of.id, messages=(), target="", group=of.group)
    assert made(cell()).group == "en 2000"


def test_a_grid_asks_every_cell_and_the_lengths_around_a_boundary() -> None:
    grid = Grid(lengths=(100, 32768), boundaries=(32768,), depths=(10, 90), languages=("en", "zh"), repeats=2)
    assert grid.all_lengths() == (100, 32767, 32768, 32769)
    cells = grid.cells(0)
    assert len(cells) == len({c.id for c in cells}) == 4 * 2 * 2 * 2
    assert cells == grid.cells(0)
    assert cells != grid.cells(1)
    assert len({c.length for c in cells[:12]}) == 4


def test_a_target_that_is_none_raises() -> None:
    with pytest.raises(ValueError, match="not a needle's target"):
        Target.read("#### 7")
