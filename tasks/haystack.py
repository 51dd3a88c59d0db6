"""The long text that needles are hidden in, kept in whole sentences.

A user's own: a file, or all .txt files of a folder in the order of their names, joined. Otherwise prose.py writes one.
"""

import re
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Self

from tasks.base import Language

_END = re.compile(r"[.!?][\"'”’)\]]*\s+|[。！？．…]+[”’」』）》]*\s*|\n\s*\n\s*")
"""Where a sentence ends, with the white space after it; a blank line ends a heading, too."""


class HaystackError(Exception):
    """A text that can't be used, in one line: what happened and what to do."""


@dataclass(frozen=True, kw_only=True)
class Haystack:
    language: Language
    source: str
    """What it is, for messages: a path, or `generated`."""
    sentences: tuple[str, ...]
    """Each with the white space after it: joined they are the text again."""

    @classmethod
    def of(cls, text: str, language: Language, source: str) -> Self:
        """Raises HaystackError where there are no sentences in it."""
        ends = [0, *(m.end() for m in _END.finditer(text)), len(text)]
        sentences = tuple(text[a:b] for a, b in pairwise(ends) if b > a)
        if len(sentences) < 3:
            raise HaystackError(f"{source}: no text of several sentences to hide anything in; name another for {language}")
        return cls(language=language, source=source, sentences=sentences)

    @property
    def characters(self) -> int:
        return sum(map(len, self.sentences))

    def from_sentence(self, first: int) -> "Passage":
        """The whole text, begun at a sentence and gone around."""
        turned = (*self.sentences[first:], *self.sentences[:first])
        return Passage(text="".join(turned), boundaries=tuple(accumulate(map(len, turned), initial=0)))


@dataclass(frozen=True, kw_only=True)
class Passage:
    text: str
    boundaries: tuple[int, ...]
    """Ascending: characters before each sentence, and before the end."""


def read(path: Path, language: Language) -> Haystack:
    """A user's text, line endings made `\\n`.

    Raises:
        HaystackError: it can't be read, is not UTF-8, or holds no sentences.
    """
    try:
        files = sorted(p for p in path.glob("*.txt") if p.is_file()) if path.is_dir() else [path]
        if not files:
            raise HaystackError(f"{path}: the folder holds no .txt file; name one that does, or a file")
        texts = [f.read_text(encoding="utf-8-sig") for f in files]
    except OSError as e:
        raise HaystackError(f"{path}: cannot be read: {e.strerror}") from e
    except UnicodeDecodeError as e:
        raise HaystackError(f"{path}: not UTF-8 (byte 0x{e.object[e.start]:02x} at {e.start}); save it as UTF-8") from e
    return Haystack.of("\n\n".join(text.strip() for text in texts) + "\n", language, str(path))
