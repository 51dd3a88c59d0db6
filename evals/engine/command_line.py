"""What a server is started with: `vllm serve` as the user would type it, and its environment."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from evals.errors import ConfigError
from evals.experiment import Arm, CommandEngine, VenvEngine
from evals.vocabulary import has, parsed, vocabulary

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OUR_PYTHON = {"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "CONDA_PREFIX", "PYTHONDONTWRITEBYTECODE"}
"""What would leak this Python into an engine's; with the last, each of its processes would compile vLLM at every start."""


def serve_args(arm: Arm, port: int) -> list[str]:
    """What follows `vllm serve`; what bumpgate adds gives way to what the arm says.

    Sampling defaults come from vLLM, not from the checkpoint's generation_config, unless the arm asks for that.
    """
    ours = {
        "host": "127.0.0.1",
        "port": port,
        "served-model-name": Path(str(arm.model)).name,
        "generation-config": "vllm",
        "seed": 0,
    }
    if "speculative-config" in arm.args and _tells_acceptance_by_request(arm):
        ours["per-request-spec-decode-metrics"] = "summary"
    return [str(arm.model), *flags(ours | arm.args | {"host": "127.0.0.1", "port": port})]


def _tells_acceptance_by_request(arm: Arm) -> bool:
    """Only of an engine that we installed is the version sure enough to add a flag that older ones end at."""
    version = parsed(arm.engine.version) if isinstance(arm.engine, VenvEngine) else None
    flag = vocabulary().flags.get("per-request-spec-decode-metrics")
    return version is not None and flag is not None and has(flag.span, version) is True


def filled(engine: CommandEngine, arm: Arm, port: int) -> list[str]:
    """The user's own command with its `{port}`, `{model}` and `{args}`."""
    out: list[str] = []
    for word in engine.command:
        out += flags(arm.args) if word == "{args}" else [_fill(word, arm, port)]
    return out


def _fill(text: str, arm: Arm, port: int) -> str:
    return text.replace("{port}", str(port)).replace("{model}", str(arm.model))


def flags(args: dict[str, Any]) -> list[str]:
    """{tensor-parallel-size: 4, speculative-config: {…}, enforce-eager: true} → ['--tensor-parallel-size', '4', …]."""
    out: list[str] = []
    for name, value in args.items():
        match value:
            case True | None:
                out.append(f"--{name}")
            case False:
                out.append(f"--no-{name}")
            case dict():
                out += [f"--{name}", json.dumps(value, ensure_ascii=False)]
            case list():
                out += [f"--{name}", *map(str, value)]
            case _:
                out += [f"--{name}", str(value)]
    return out


def serve_env(arm: Arm) -> dict[str, str]:
    """The variables that bumpgate sets for a server, the arm's own last."""
    ours = {
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "VLLM_SERVER_DEV_MODE": "1",  # loopback only; gives /reset_prefix_cache, so that each round starts cold
    }
    if arm.model and Path(arm.model).is_absolute():
        ours |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    return ours | arm.env


def device_env(arm: Arm) -> dict[str, str]:
    return {"CUDA_VISIBLE_DEVICES": ",".join(map(str, arm.devices))} if arm.devices else {}


def resolved(arm: Arm) -> Arm:
    """The arm with every `${NAME}` in its flags and variables read from the environment: only for starting, never written down.

    Raises:
        ConfigError: a variable is not set.
    """

    def read(value: Any) -> Any:
        match value:
            case str():
                return _REFERENCE.sub(lambda m: variable(arm.name, m[1]), value)
            case list():
                return [read(v) for v in value]
            case dict():
                return {k: read(v) for k, v in value.items()}
            case _:
                return value

    return replace(arm, args=read(arm.args), env=read(arm.env))


def unset(arm: Arm) -> tuple[str, ...]:
    """The variables that the arm's flags and variables name and our environment lacks."""
    named = _REFERENCE.findall(json.dumps([arm.args, arm.env]))
    return tuple(name for name in dict.fromkeys(named) if name not in os.environ)


def variable(arm: str, name: str) -> str:
    """A variable of our own environment.

    Raises:
        ConfigError: it is not set.
    """
    if name not in os.environ:
        raise ConfigError(f"arm {arm}: the environment has no variable {name}; export it")
    return os.environ[name]


def inherited_env(programs: Path | None = None) -> dict[str, str]:
    """Our own environment without our own Python, and without a key that would lock us out; `programs` come first in PATH."""
    kept = {k: v for k, v in os.environ.items() if k not in _OUR_PYTHON | {"VLLM_API_KEY"}}
    return kept | ({"PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"} if programs else {})
