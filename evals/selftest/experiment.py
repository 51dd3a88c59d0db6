"""The selftest as an experiment file: the planted checkpoints beside it, an arm for each change, one gate."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from evals import shipped
from evals.document import did_you_mean
from evals.errors import ConfigError, StoreError
from evals.records import JsonDict
from evals.selftest import faults
from evals.selftest.faults import Files
from evals.selftest.planted import BASELINE, PLANTED, Planted

NAME = "selftest"
OTHERS = ("0.27.1", "0.29.0")
"""The other version is the first of these that the engine is not."""
MARGIN = 4.0
"""Percentage points."""


def prepare(folder: Path, engine: str, only: Sequence[str], n: int) -> Path:
    """Write the checkpoints and the experiment file into `folder`, and return the file.

    What is there already and the same is left alone: an arm's answers belong to its files' names, sizes and times.

    Raises:
        ConfigError: `only` names no change. StoreError: the folder can't be written.
    """
    known = [p.name for p in PLANTED]
    if unknown := [name for name in only if name not in known]:
        raise ConfigError(f"--only {unknown[0]}: there is no such change{did_you_mean(unknown[0], known)}; see --list")
    chosen = [p for p in PLANTED if p.name in only] or list(PLANTED)
    source = shipped.resolve("demo:bf16")
    assert source is not None
    base = faults.with_system_turn({p.name: p.read_bytes() for p in source.iterdir()})
    name = f"{NAME}-part" if only else NAME  # a part that is complete must not end a whole one that is not
    path = folder / f"{name}.yaml"
    try:
        _write(base, folder / BASELINE)
        for planted in chosen:
            if planted.edit is not None:
                _write(planted.edit(base), folder / planted.name)
        path.write_text(_text(name, engine, chosen, n), encoding="utf-8")
    except OSError as e:
        raise StoreError(f"{folder}: cannot be written: {e.strerror}; name another folder with --reports") from e
    return path


def _write(files: Files, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        if not (folder / name).is_file() or (folder / name).read_bytes() != data:
            (folder / name).write_bytes(data)


def _text(name: str, engine: str, chosen: Iterable[Planted], n: int) -> str:
    base = {
        "engine": {"venv": engine},
        "model": BASELINE,
        "args": {"dtype": "bfloat16", "max-model-len": 4096, "enforce-eager": True, "enable-prefix-caching": False},
        "env": {"VLLM_CPU_KVCACHE_SPACE": 1},
        "request": {"chat_template_kwargs": {"enable_thinking": False}},
    }
    experiment = {
        "name": name,
        "baseline": BASELINE,
        "arms": {BASELINE: base} | {planted.name: _arm(planted, engine) for planted in chosen},
        "tasks": [
            {"task": "gsm8k", "n": n, "concurrency": 64, "fewshot": 0, "max_tokens": 96, "data_dir": "demo:arithmetic"},
            {"task": "greedy", "max_tokens": 64},
        ],
        "gates": [{"task": "gsm8k", "margin": MARGIN}],
    }
    return yaml.safe_dump(experiment, sort_keys=False)


def _arm(planted: Planted, engine: str) -> JsonDict:
    if "repeat_of" in planted.arm:
        return planted.arm
    own: JsonDict = {"model": planted.name} if planted.edit is not None else {}
    if planted.name == "version":
        package, _, version = engine.partition("==")
        own = {"engine": {"venv": f"{package}=={next(v for v in OTHERS if v != version)}"}}
    return {"extends": BASELINE} | own | planted.arm
