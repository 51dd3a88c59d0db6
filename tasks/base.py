"""What a task and its marking need: the question, the raw response, the score. Frozen, keyword-only, each defined once.

evals/records.py adds what judging needs and hands these on, so that `tasks` needs nothing of `evals`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

Outcome = Literal["correct", "wrong", "no_answer"]
Language = Literal["en", "zh"]
"""Of a prompt."""
ChangeKind = Literal["speculation", "prefix_cache", "thinking", "parsers", "sampling"]
"""What may be changed about a model and be invisible to a task that generates nothing."""
GENERATES_NOTHING: frozenset[ChangeKind] = frozenset(get_args(ChangeKind))
"""What a task by log-probability is blind to: it reads a prompt, and nothing is ever decoded."""


@dataclass(frozen=True, kw_only=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A continuation whose log-probability is asked for, where nothing is to be generated."""

    after: int
    """The message that it continues, counted from 0."""
    text: str


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One item of a task, the same for every arm."""

    id: str
    messages: tuple[Message, ...]
    target: str
    """What a right answer is compared with; empty where nothing is marked (greedy)."""
    group: str = ""
    """What it is one of: a category of problems."""
    choices: tuple[Choice, ...] = ()
    """What is asked by log-probability; then the messages are plain texts, and no chat template renders them."""


@dataclass(frozen=True, kw_only=True)
class TopTwo:
    """Log-probabilities (natural logarithm) of the two likeliest tokens at one position."""

    first: float
    second: float


@dataclass(frozen=True, kw_only=True)
class Likelihood:
    """What the engine told of one continuation."""

    logprob: float
    """Natural logarithm, summed over its tokens."""
    greedy: bool
    """Whether each of them was the likeliest."""


@dataclass(frozen=True, kw_only=True)
class Response:
    """What the engine returned for a sample, raw."""

    text: str | None
    """`message.content` as it came; None where the engine sent null."""
    reasoning: str | None
    """`message.reasoning`, or `message.reasoning_content` on vLLM before 0.12."""
    finish_reason: str | None
    token_ids: tuple[int, ...] | None
    """Completion token ids; None where the engine does not return them."""
    prompt_ids_sha: str | None
    """sha256 over the rendered prompt's token ids: equal prompts, equal hash."""
    top_two: tuple[TopTwo, ...] | None
    """Per completion token, where the task asked for log-probabilities."""
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    latency_s: float
    fingerprint: str | None
    """`system_fingerprint`: engine version and a hash of its configuration, vLLM 0.25 and later."""
    draft_tokens: int | None = None
    """Tokens that speculation drafted for it; None where the engine does not tell that by request."""
    accepted_tokens: int | None = None
    """Those of them that were accepted."""
    prompt_start: tuple[int, ...] = ()
    """The first two token ids of the rendered prompt; empty where the engine does not tell them."""
    prompt_ids: tuple[int, ...] | None = None
    """All of them; None where the engine does not tell them, and where nobody needs them later: a journal stays small."""
    likelihoods: tuple[Likelihood, ...] | None = None
    """Of each choice, where the sample has some: then there is no text."""
    cached_tokens: int | None = None
    """Prompt tokens that the prefix cache had; None where the engine does not tell (--enable-prompt-tokens-details)."""
    asked_to_think: bool | None = None
    """Whether the request switched thinking on or off; None where it said neither."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """The harness could not measure. Never a wrong answer."""

    kind: Literal[
        "timeout", "connection", "http", "protocol", "no_logprobs", "harness", "sandbox", "answer_in_reasoning_field",
        "answer_in_tool_calls",
    ]  # fmt: skip
    message: str


@dataclass(frozen=True, kw_only=True)
class Marks:
    """lm-eval's own mark of one response under one of its filters."""

    filter: str
    correct: bool


@dataclass(frozen=True, kw_only=True)
class Score:
    """What the scorer said of a response. `no_answer` counts as not correct: the model or the engine did that."""

    outcome: Outcome
    reason: str | None = None
    """Why there is no answer: truncated, truncated_in_thinking, empty, empty_after_thinking, degenerate,
    nothing_to_extract. Of a program that is
    wrong: failed_check, timed_out, crashed, out_of_memory, does_not_load, too_much_output, garbled.
    Of a needle: near_miss, distractor, incomplete, not_found."""
    answer: str | None = None
    """What was extracted."""
    explanation: str | None = None
    """Of a wrong program: the first check that failed, what it got and what was wanted.
    Of needles: which are there and which not."""
    harness: tuple[Marks, ...] = ()
    warnings: tuple[str, ...] = ()
    """Artefacts seen on the way, such as think_tag_in_content."""


@dataclass(frozen=True, kw_only=True)
class TaskInfo:
    """What plan, gate and report must know of a task before anything is asked."""

    name: str
    marked: bool
    """Whether answers are right or wrong (gsm8k), or only compared (greedy)."""
    chance: float
    """Share that guessing gets right, percent."""
    blind_to: frozenset[ChangeKind]
    """Kinds of change the task cannot see: a gate between arms that differ only in these is refused."""
    default_n: int | None
    """Samples asked where the experiment names no n; None: all there are."""
    default_margin: float | None
    """Percentage points; None where the task gates nothing."""
    default_max_tokens: int
    """Completion tokens a response may take."""
    hub_n: int | None
    """Samples of the data set on the hub; None where it has none there."""
    score: Callable[[Response, str, tuple[Marks, ...]], Score | Failure] | None
    """(response, target, lm-eval's marks) → the mark; None where nothing is marked, or only the sandbox can tell."""
    sandboxed: bool = False
    """Whether answers are programs that the sandbox runs."""
