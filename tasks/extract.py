"""From a raw response to what can be marked: the visible answer, and the number it ends on. Pure.

Harness artefacts end here: a chain of thought is never marked, an answer in another field is never a wrong answer.
Numbers and loops have files of their own and are handed on, so that a scorer imports from one place.
"""

import re
from dataclasses import dataclass
from typing import Literal

from tasks.base import Response
from tasks.degenerate import is_degenerate as is_degenerate
from tasks.numbers import decimal_text as decimal_text
from tasks.numbers import final_number as final_number
from tasks.numbers import finished_number as finished_number

_MANY = 16
"""Tokens that tell a loop from an end."""
NoAnswerReason = Literal["truncated_in_thinking", "empty_after_thinking", "empty", "degenerate"]


@dataclass(frozen=True, kw_only=True)
class Visible:
    """The answer as a reader sees it, thoughts removed; white space at its end is kept, for it ends a number."""

    text: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NoAnswer:
    """The engine or the model gave nothing that could be marked."""

    reason: NoAnswerReason
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """What may be an answer lies where users' clients don't look: a Failure, never a wrong answer.

    It is not marked from there either: a candidate whose content is empty must not PASS by an answer that nobody would see.
    """

    name: Literal["answer_in_reasoning_field", "answer_in_tool_calls"]
    message: str


_OPEN = r"<(?:seed:)?think(?:ing)?>|\[THINK\]|◁think▷"
_THINK_TAG = re.compile(rf"(?P<open>{_OPEN})|</(?:seed:)?think(?:ing)?>|\[/THINK\]|◁/think▷")


@dataclass(frozen=True, kw_only=True)
class _Stripped:
    text: str
    tagged: bool
    open: bool
    """A thought was begun and not ended."""


def _strip_thoughts(content: str) -> _Stripped:
    """Without `<think>…</think>`; an end tag alone closes a thought that the chat template began."""
    kept: list[list[str]] = [[]]  # one piece between two end tags that nothing opened
    position, inside, tagged = 0, False, False
    for tag in _THINK_TAG.finditer(content):
        if not inside:
            kept[-1].append(content[position : tag.start()])
            if tag["open"] is None:
                # Before the very first tag all was thought, whatever follows it; later, a stray tag at the end hides nothing.
                kept.append([])
                if not tagged:
                    del kept[0]
        inside = tag["open"] is not None
        position, tagged = tag.end(), True
    if not inside:
        kept[-1].append(content[position:])
    shown = [text for text in map("".join, kept) if text.strip()]
    text = shown[-1] if shown else ""
    return _Stripped(text=text.lstrip() if tagged else text, tagged=tagged, open=inside)


def visible(response: Response) -> Visible | NoAnswer | Artefact:
    """What of a response may be marked."""
    cut = response.finish_reason == "length"
    content = _strip_thoughts(response.text or "")
    warnings = ("think_tag_in_content",) if content.tagged else ()
    if content.open and (cut or not content.text.strip()):
        return NoAnswer(reason="truncated_in_thinking", warnings=warnings)
    if content.text.strip():
        if is_degenerate(content.text, cut=cut):
            return NoAnswer(reason="degenerate", warnings=warnings)
        return Visible(text=content.text, warnings=warnings)
    return _silent(response, content.tagged, warnings)


def _silent(response: Response, tagged: bool, warnings: tuple[str, ...]) -> NoAnswer | Artefact:
    """Why the content shows nothing."""
    reasoning = (response.reasoning or "").strip()
    thought = bool(reasoning or tagged or response.reasoning_tokens)
    if not (response.text or reasoning) and _repeats(response.token_ids or ()):
        return NoAnswer(reason="degenerate", warnings=warnings)
    if response.finish_reason == "tool_calls":
        where = "content is empty and the engine read the answer as a tool call"
        return Artefact(name="answer_in_tool_calls", message=f"{where}: leave --enable-auto-tool-choice out of this arm")
    if reasoning and response.finish_reason == "stop" and is_degenerate(reasoning, cut=False):
        return NoAnswer(reason="degenerate", warnings=warnings)
    if reasoning and _is_no_thought(response):
        where = f"content is empty, finish_reason is {response.finish_reason}, and {len(reasoning)} characters are in reasoning"
        return Artefact(name="answer_in_reasoning_field", message=f"{where}; {_advice(response)}")
    if thought and response.finish_reason in ("length", "stop"):
        cut = response.finish_reason == "length"
        return NoAnswer(reason="truncated_in_thinking" if cut else "empty_after_thinking", warnings=warnings)
    return NoAnswer(reason="empty", warnings=warnings)


def _repeats(tokens: tuple[int, ...]) -> bool:
    """Whether tokens without a text are a few over and over, as of a broken checkpoint. A hidden thought is not."""
    return len(tokens) >= _MANY and len(set(tokens)) <= len(tokens) // 8


def _is_no_thought(response: Response) -> bool:
    """Whether what stands in the reasoning field may be the answer: thinking is off, or nobody said and it ended by itself."""
    return response.asked_to_think is False or (response.asked_to_think is None and response.finish_reason == "stop")


def _advice(response: Response) -> str:
    if response.asked_to_think is False:
        return "thinking is off: check the arm's reasoning parser, and whether its switch has an effect"
    return "check the arm's reasoning parser; if this arm thinks, say so: chat_template_kwargs: {enable_thinking: true}"
