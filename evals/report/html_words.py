"""The scorecard's markdown as HTML: the same words and figures, and no markup but what is allowed here."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

_FOLD = re.compile(r"(?:<details>)?<summary>([^<>]*)</summary>\s*|<details>\s*|</details>\s*")
"""The one kind of HTML that the scorecard itself writes."""
_VERDICT = re.compile(r"(?:.*(?:: |：))?(PASS|REGRESSION|INCONCLUSIVE|INVALID)[.。]?")


class _Renderer(RendererHTML):
    """A rule a method, by the names of markdown-it."""

    def html_block(self, tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
        text = tokens[idx].content
        fold = _FOLD.fullmatch(text)
        return escape(text) if fold is None else text if fold[1] is None else text.replace(fold[1], escape(fold[1]))

    def image(self, *_: Any) -> str:
        """Drawn in the page itself."""
        return ""

    def strong_open(self, tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
        verdict = _VERDICT.fullmatch(tokens[idx + 1].content)
        return f'<strong class="{verdict[1].lower()}">' if verdict else "<strong>"

    def table_open(self, *_: Any) -> str:
        return '<div class="wide" tabindex="0"><table>\n'

    def table_close(self, *_: Any) -> str:
        return "</table></div>\n"


@cache
def _parser() -> MarkdownIt:
    """Without links and references: nothing in a scorecard leads anywhere."""
    parser = MarkdownIt("commonmark", {"html": True}, renderer_cls=_Renderer)
    return parser.enable("table").disable(["link", "autolink", "html_inline", "reference"])


def html(markdown: str) -> Markup:
    return Markup(_parser().render(markdown))
