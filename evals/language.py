"""In which language a scorecard is written: English templates in the code, and a file of translations for each other language.

What is said with `phrase` comes out in the language of the innermost `using`, and in English outside of any: so does all that
a journal keeps, and all that machines read.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml

from evals.document import did_you_mean
from evals.errors import ConfigError

ENGLISH = "en"
LANGUAGES = (ENGLISH, "zh")


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    language: str
    phrases: Mapping[str, str]
    """By English template; the same placeholders on both sides."""
    terms: Mapping[str, str]
    """Of words that are values elsewhere, as an outcome's reason."""


_ENGLISH = Catalogue(language=ENGLISH, phrases={}, terms={})
_spoken: ContextVar[Catalogue] = ContextVar("_spoken")


@cache
def catalogue(language: str) -> Catalogue:
    """`languages/zh.yaml`: a list of `en` and `zh` pairs, and the terms.

    Raises:
        ConfigError: there is no such language.
    """
    if language not in LANGUAGES:
        said = f"there is no language {language!r}{did_you_mean(language, LANGUAGES)}"
        raise ConfigError(f"{said}; --lang and BUMPGATE_LANG take {' or '.join(LANGUAGES)}")
    if language == ENGLISH:
        return _ENGLISH
    text = resources.files("evals").joinpath("languages", f"{language}.yaml").read_text(encoding="utf-8")
    told = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return Catalogue(
        language=language, phrases={one["en"]: one[language] for one in told["phrases"]}, terms=told["terms"]
    )  # fmt: skip


@contextmanager
def using(language: str) -> Iterator[None]:
    """Raises ConfigError where there is no such language."""
    before = _spoken.set(catalogue(language))
    try:
        yield
    finally:
        _spoken.reset(before)


def spoken() -> str:
    return _spoken.get(_ENGLISH).language


def phrase(template: str, /, **values: object) -> str:
    """A sentence, or a part of one. Values are put in as they are, and never read as templates."""
    return translation(template).format_map(values)


def counted(found: Iterable[tuple[str, int]]) -> str:
    """`20 truncated, 6 empty`, in the order that they come."""
    return phrase(", ").join(phrase("{n} {reason}", n=n, reason=what) for what, n in found)


def translation(template: str) -> str:
    """The template in the language that is spoken, to be filled in elsewhere."""
    return _spoken.get(_ENGLISH).phrases.get(template, template)


def later(template: str) -> str:
    """A template that `phrase` is given at another place."""
    return template


def term(word: str) -> str:
    """A word of a closed set; itself where the language has none for it."""
    return _spoken.get(_ENGLISH).terms.get(word, word)
