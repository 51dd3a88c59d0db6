"""Long texts: the user's own in whole sentences, and one that is generated and does not repeat itself."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from tasks import prose
from tasks.base import Language
from tasks.haystack import Haystack, HaystackError, read

BOOKS = Path(os.environ.get("BUMPGATE_BOOKS", Path(__file__).parents[2] / "shared" / "data" / "haystack"))
"""Public-domain novels, which are no part of the project."""
LENGTHS: dict[Language, int] = {"en": 640_000, "zh": 256_000}
"""Characters of 128K tokens and more, at 5 and at 2 a token."""


@pytest.fixture(scope="module", params=["en", "zh"])
def generated(request: pytest.FixtureRequest) -> Haystack:
    language: Language = request.param
    return prose.haystack(language, LENGTHS[language], seed=0)


def words(of: Haystack) -> list[str]:
    text = "".join(of.sentences)
    return re.findall(r"[A-Za-z'-]+", text) if of.language == "en" else re.findall(r"[一-鿿]", text)


def test_a_generated_text_is_long_enough_for_128k_tokens(generated: Haystack) -> None:
    assert generated.characters >= LENGTHS[generated.language]


def test_a_generated_text_does_not_repeat_itself(generated: Haystack) -> None:
    # Short Chinese speech within a sentence is cut as a sentence of its own, and may come again.
    again = len(generated.sentences) - len({s.strip() for s in generated.sentences})
    assert again <= (0 if generated.language == "en" else 0.02 * len(generated.sentences))
    said, span = words(generated), 12 if generated.language == "en" else 18
    pieces = Counter(tuple(said[i : i + span]) for i in range(len(said) - span))
    assert sum(1 for n in pieces.values() if n > 1) < 0.005 * len(pieces)


def test_a_generated_text_has_a_large_vocabulary(generated: Haystack) -> None:
    assert len(set(words(generated))) > (800 if generated.language == "en" else 700)


def test_a_generated_text_is_clean(generated: Haystack) -> None:
    text = "".join(generated.sentences)
    assert not re.search(r"[{}|:0-9]", text)
    assert not re.search(r"secret word|暗号", text)
    if generated.language == "en":
        assert not re.search(r"\b[Aa] [aeiou]|  |\bthe the\b", text)
        assert all(re.match('"?[A-Z]', paragraph) for paragraph in text.split("\n\n") if paragraph)
    assert all(10 < len(p) < 2500 for p in text.strip().split("\n\n"))


def test_a_generated_text_is_seeded() -> None:
    assert prose.haystack("zh", 2000, 0) == prose.haystack("zh", 2000, 0)
    assert prose.haystack("zh", 2000, 0) != prose.haystack("zh", 2000, 1)


def test_sentences_joined_are_the_text_again() -> None:
    text = 'Chapter One\n\nHe said: "No." Then he left! Why?\n\n他说：“走吧。”天黑了。'
    got = Haystack.of(text, "en", "x")
    assert "".join(got.sentences) == text
    assert got.sentences == ("Chapter One\n\n", 'He said: "No." ', "Then he left! ", "Why?\n\n", "他说：“走吧。”", "天黑了。")


def test_a_passage_goes_around() -> None:
    got = Haystack.of("A. B. C. ", "en", "x").from_sentence(1)
    assert (got.text, got.boundaries) == ("B. C. A. ", (0, 3, 6, 9))


def test_a_folder_is_its_text_files_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("Three. Four.\n")
    (tmp_path / "a.txt").write_bytes("\ufeffOne.\r\nTwo.".encode())
    (tmp_path / "c.md").write_text("No.")
    assert "".join(read(tmp_path, "en").sentences) == "One.\nTwo.\n\nThree. Four.\n"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("none.txt", None, "cannot be read: No such file"),
        ("latin.txt", "Él no. Él sí. Él va.".encode("latin-1"), "not UTF-8"),
        ("empty.txt", b"", "no text of several sentences"),
        ("word.txt", b"word", "no text of several sentences"),
    ],
)
def test_a_text_that_cannot_be_used_is_one_line(tmp_path: Path, name: str, data: bytes | None, said: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(HaystackError, match=said) as raised:
        read(tmp_path / name, "en")
    assert "\n" not in str(raised.value)


def test_a_folder_without_text_files_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(HaystackError, match=r"holds no \.txt file"):
        read(tmp_path, "zh")


@pytest.mark.parametrize("name", ["en_moby_dick.txt", "en_pride_and_prejudice.txt", "zh_hongloumeng.txt", "zh_xiyouji.txt"])
def test_a_book_is_read_in_sentences(name: str) -> None:
    path = BOOKS / name
    if not path.is_file():
        pytest.skip(f"no {path}: set BUMPGATE_BOOKS to a folder that holds it")
    language: Language = "en" if name.startswith("en") else "zh"
    got = read(path, language)
    lengths = sorted(map(len, got.sentences))
    assert len(lengths) > 3000
    assert 10 < lengths[len(lengths) // 2] < 200
    assert lengths[len(lengths) * 99 // 100] < 800
