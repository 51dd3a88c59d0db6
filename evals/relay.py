"""The model that lm-eval believes it asks: every request is handed to us, and the answer handed back."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lm_eval.api.model import LM

from evals.records import Choice, Failure, Message, Response, Sample
from tasks.extract import Visible, visible

Ask = Callable[[tuple[Sample, ...]], dict[str, Response | Failure]]


@dataclass(frozen=True, kw_only=True)
class Doc:
    """How lm-eval names a sample."""

    task: str
    doc_id: int


@dataclass(frozen=True, kw_only=True)
class Posed:
    """What we know of it."""

    position: int
    """In the order of a pass."""
    id: str
    target: str
    group: str


class Relay(LM):  # type: ignore[misc]  # lm_eval is untyped
    """What could not be measured is "" to lm-eval, or choices that are all alike, and a failure to us.

    `shown_only`: lm-eval is the only one who marks, so that it gets what a reader sees; else the content as it came.
    """

    tokenizer_name = ""

    def __init__(self, ask: Ask, posed: Mapping[Doc, Posed], *, shown_only: bool) -> None:
        super().__init__()
        self.ask, self.posed, self.shown_only = ask, posed, shown_only
        self.samples: tuple[Sample, ...] = ()
        self.answers: dict[str, Response | Failure] = {}

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:  # noqa: ARG002
        """The server renders the template; the messages travel through lm-eval as JSON."""
        return json.dumps([{"role": m["role"], "content": m["content"]} for m in chat_history], ensure_ascii=False)

    def chat_template(self, chat_template: bool | str = False) -> str | None:  # noqa: ARG002
        return None

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:  # noqa: ARG002
        posed = [self._posed(r) for r in requests]
        messages = [tuple(Message(**m) for m in json.loads(r.args[0])) for r in requests]
        self._asked({p.position: _sample(p, m) for p, m in zip(posed, messages, strict=True)})
        cut = shown if self.shown_only else content
        return [cut(self.answers[p.id], r.args[1].get("until") or []) for p, r in zip(posed, requests, strict=True)]

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:  # noqa: ARG002
        """lm-eval asks choice by choice; those of one sample belong together."""
        places: list[tuple[Posed, int]] = []
        asked: dict[Posed, list[tuple[str, str]]] = {}
        for request in requests:
            own = asked.setdefault(self._posed(request), [])
            places.append((self._posed(request), len(own)))
            own.append(request.args)
        self._asked({p.position: _with_choices(p, pairs) for p, pairs in asked.items()})
        return [_told(self.answers[p.id], i) for p, i in places]

    def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
        raise NotImplementedError("perplexity is no mark of 0 or 1")

    def _posed(self, request: Any) -> Posed:
        return self.posed[Doc(task=request.task_name, doc_id=request.doc_id)]

    def _asked(self, samples: Mapping[int, Sample]) -> None:
        """lm-eval asks task by task; ours is the order in which any first part is a fair share of all."""
        self.samples = tuple(samples[position] for position in sorted(samples))
        self.answers = self.ask(self.samples)


def _sample(posed: Posed, messages: tuple[Message, ...], choices: tuple[Choice, ...] = ()) -> Sample:
    return Sample(id=posed.id, messages=messages, target=posed.target, group=posed.group, choices=choices)


def _with_choices(posed: Posed, pairs: list[tuple[str, str]]) -> Sample:
    """(context, continuation) each; a context that several share is one message."""
    contexts = list(dict.fromkeys(context for context, _ in pairs))
    choices = tuple(Choice(after=contexts.index(context), text=text) for context, text in pairs)
    return _sample(posed, tuple(Message(role="user", content=context) for context in contexts), choices)


def _told(answer: Response | Failure, choice: int) -> tuple[float, bool]:
    if isinstance(answer, Failure) or answer.likelihoods is None:
        return 0.0, False
    found = answer.likelihoods[choice]
    return found.logprob, found.greedy


def content(answer: Response | Failure, until: str | list[str]) -> str:
    """The content up to its stop strings.

    They are cut here and never sent: a server stops at them inside a chain of thought as well.
    """
    return _before(answer.text or "" if isinstance(answer, Response) else "", until)


def shown(answer: Response | Failure, until: str | list[str]) -> str:
    """What a reader sees, up to the stop strings; nothing of an answer that was cut before any of them."""
    view = visible(answer) if isinstance(answer, Response) else None
    if not isinstance(view, Visible) or not isinstance(answer, Response):
        return ""
    text = _before(view.text, until)
    return "" if answer.finish_reason == "length" and text == view.text else text


def _before(text: str, until: str | list[str]) -> str:
    for stop in [until] if isinstance(until, str) else until:
        text = text.split(stop)[0]
    return text
