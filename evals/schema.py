"""The keys of an experiment file, as pydantic sees them. What they mean once resolved stands in experiment.py."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.experiment import Sampling
from tasks.needle import LEAST_TOKENS

_Tokens = Annotated[int, Field(ge=LEAST_TOKENS, le=10**7)]
Json = str | int | float | bool | None | list[Any] | dict[str, Any]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class EngineYaml(Strict):
    venv: str | None = None
    docker: str | None = None
    gpus: Literal["all"] | Annotated[int, Field(ge=1)] | None = None
    ipc: str | None = None
    shm_size: str | None = None
    volumes: list[str] | None = None
    entrypoint: list[str] | None = None
    command: str | list[str] | None = None
    version: str | None = None
    url: str | None = None
    api_key_env: str | None = None


class RequestYaml(Strict):
    max_tokens: int | None = Field(default=None, ge=1, le=10**9)
    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = None
    min_p: float | None = Field(default=None, ge=0, le=1)
    presence_penalty: float | None = None
    repetition_penalty: float | None = Field(default=None, gt=0)
    reasoning_effort: str | None = None
    chat_template_kwargs: dict[str, Json] = {}
    extra_body: dict[str, Json] = {}
    timeout_s: float = Field(default=600.0, gt=0)


class ArmYaml(Strict):
    extends: str | None = None
    repeat_of: str | None = None
    engine: EngineYaml | None = None
    model: str | None = None
    args: dict[str, Json] = {}
    env: dict[str, str | int | float | bool] = {}
    devices: list[Annotated[int, Field(ge=0)]] = []
    request: RequestYaml = RequestYaml()
    thinking: str | None = None
    """One effort: an arm with several has become several arms by then."""
    sampling: Sampling = "greedy"
    start_timeout_s: float = Field(default=1800.0, gt=0)


class HaystackYaml(Strict):
    en: str | None = None
    zh: str | None = None


class TaskYaml(Strict):
    task: str | None = None
    lm_eval: str | None = None
    include_path: str | None = None
    n: Annotated[int, Field(ge=1, le=10**9)] | Literal["all"] | None = None
    rounds: int = Field(default=1, ge=1, le=100)
    concurrency: int = Field(default=16, ge=1, le=10_000)
    data_dir: str | None = None
    fewshot: int | None = Field(default=None, ge=0, le=1000)
    max_tokens: int | None = Field(default=None, ge=1, le=10**9)
    language: Literal["en", "zh"] | None = None
    sandbox_image: str | None = None
    optional: bool | None = None
    lengths: list[_Tokens | Literal["max"]] | None = None
    depths: list[Annotated[int, Field(ge=0, le=100)]] | None = Field(default=None, min_length=1)
    languages: list[Literal["en", "zh"]] | None = Field(default=None, min_length=1)
    boundaries: list[_Tokens] | None = None
    repeats: int | None = Field(default=None, ge=1, le=1000)
    warm: bool | None = None
    needles: int | None = Field(default=None, ge=1)
    distractors: int | None = Field(default=None, ge=0)
    haystack: HaystackYaml | None = None


_Samples = Annotated[int, Field(ge=1, le=10**9)]


class GateYaml(Strict):
    task: str
    margin: float = Field(gt=0, lt=100)
    arms: Annotated[list[str], Field(min_length=1)] | None = None
    max_n: _Samples | None = None
    looks: Annotated[int, Field(ge=2, le=20)] | Annotated[list[_Samples], Field(min_length=2, max_length=20)] | None = None


class ExperimentYaml(Strict):
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    model: str | None = None
    baseline: str
    launches: int = Field(default=2, ge=1, le=100)
    restarts: int = Field(default=2, ge=0, le=100)
    parallel: bool = False
    sensors: bool | None = None
    seed: int = 0
    arms: dict[str, ArmYaml] = Field(min_length=1)
    tasks: list[TaskYaml] = Field(min_length=1)
    gates: list[GateYaml] | None = None


_SECTIONS: dict[str, type[Strict]] = {"arms": ArmYaml, "tasks": TaskYaml, "gates": GateYaml}
_NESTED: dict[str, type[Strict]] = {"engine": EngineYaml, "request": RequestYaml, "haystack": HaystackYaml}


def keys_at(place: tuple[str | int, ...]) -> list[str]:
    """The keys that may stand at a place of the file; empty where anything may."""
    match place:
        case ():
            model: type[Strict] | None = ExperimentYaml
        case ("arms" | "tasks" | "gates" as section, _):
            model = _SECTIONS[str(section)]
        case ("arms", _, "engine" | "request" as nested) | ("tasks", _, "haystack" as nested):
            model = _NESTED[str(nested)]
        case _:
            model = None
    return list(model.model_fields) if model else []
