"""How fast earlier runs went on this machine: what `plan` tells the time from."""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from evals import needle_rates
from evals.budget import Rate, Rates
from evals.contents import Contents
from evals.engine.venv import cache_root
from evals.experiment import Arm, Experiment, TaskConfig
from evals.records import Window

KEPT = 500
LONGEST_S = 1e6
"""No start and no sample takes longer: what is beyond, or NaN, was spoilt."""

_FILE = TypeAdapter(dict[str, float | Rate])


def _path() -> Path:
    return cache_root() / "rates.json"


def _read() -> dict[str, float | Rate]:
    try:
        stored = _FILE.validate_json(_path().read_bytes())
        return {k: v for k, v in stored.items() if 0 <= (v.seconds_per_sample if isinstance(v, Rate) else v) < LONGEST_S}
    except (OSError, ValidationError):  # none yet, or of another version: it is only a convenience
        return {}


def known(experiment: Experiment) -> Rates:
    """Rates of earlier runs: of the very same arm and task, else of the newest run that asked the same model this task."""
    stored = _read()
    samples: dict[tuple[str, str], Rate] = {}
    ready: dict[str, float] = {}
    for arm in experiment.arms:
        for task in experiment.tasks:
            found = stored.get(_key(arm, task))
            found = found or (_of_lengths(arm, task, stored) if task.grid else stored.get(_like(arm, task)))
            if isinstance(found, Rate):
                samples[arm.name, task.name] = found
        seconds = stored.get(f"ready {arm.settings}") or stored.get(f"ready {arm.model}")
        if isinstance(seconds, float | int):
            ready[arm.name] = float(seconds)
    return Rates(samples=samples, ready_s=ready)


def _of_lengths(arm: Arm, task: TaskConfig, stored: Mapping[str, float | Rate]) -> Rate | None:
    """Of needles: from those of the same model that were asked, whatever their lengths."""
    if task.grid is None or task.grid.is_open:
        return None
    rounds = []
    for warm in (False, True)[: 1 + task.warm]:
        prefix = f"{_like(arm, task)} {'warm' if warm else 'cold'} "
        of = {int(k.removeprefix(prefix)): r for k, r in stored.items() if k.startswith(prefix) and isinstance(r, Rate)}
        rounds.append(needle_rates.over(task.grid.all_lengths(), of))
    cold, warmed = rounds[0], rounds[-1]
    if cold is None or warmed is None:
        return cold  # what fills the cache takes nearly all of a warm round's time, too
    return Rate(
        seconds_per_sample=(cold.seconds_per_sample + warmed.seconds_per_sample) / 2, tokens_per_sample=cold.tokens_per_sample
    )


def _by_length(arm: Arm, task: TaskConfig, contents: Contents) -> dict[str, Rate]:
    """By key: what each length took in this run."""
    own = [(p.round, w) for p, w in contents.windows if (p.arm_key, p.task_key) == (arm.key, task.key) and w.length]
    out: dict[str, Rate] = {}
    for warm in (False, True):
        of = [w for round_, w in own if (task.warm and round_ % 2 == 1) == warm]
        for length in {w.length for w in of}:
            if rate := _rate([w for w in of if w.length == length]):
                out[f"{_like(arm, task)} {'warm' if warm else 'cold'} {length}"] = rate
    return out


def measured(experiment: Experiment, contents: Contents) -> Rates:
    """Rates of this run so far."""
    samples = {
        (arm.name, task.name): rate
        for arm in experiment.arms
        for task in experiment.tasks
        if (rate := _rate([w for p, w in contents.windows if (p.arm_key, p.task_key) == (arm.key, task.key)]))
    }
    ready = {arm: info.ready_s for (arm, _), (_, info) in contents.servers.items()}
    return Rates(samples=samples, ready_s=ready)


def _rate(windows: list[Window]) -> Rate | None:
    samples = sum(w.samples for w in windows)
    if not samples:
        return None
    tokens = [w.generation_tokens for w in windows]
    each = None if None in tokens else sum(t for t in tokens if t is not None) / samples
    return Rate(seconds_per_sample=sum(w.wall_s for w in windows) / samples, tokens_per_sample=each)


def keep(experiment: Experiment, contents: Contents) -> None:
    """Add this run's rates to those of earlier ones; the newest are kept."""
    now = measured(experiment, contents)
    fresh: dict[str, float | Rate] = {}
    for arm in experiment.arms:
        if arm.name in now.ready_s:
            fresh |= {f"ready {arm.settings}": now.ready_s[arm.name], f"ready {arm.model}": now.ready_s[arm.name]}
        for task in experiment.tasks:
            if rate := now.samples.get((arm.name, task.name)):
                fresh |= {_key(arm, task): rate} | (_by_length(arm, task, contents) if task.grid else {_like(arm, task): rate})
    old = {k: v for k, v in _read().items() if k not in fresh}
    newest = dict([*old.items(), *fresh.items()][-KEPT:])
    aside = _path().with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):  # a full disk must not spoil a run that was judged
        aside.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(_FILE.dump_json(newest))
        aside.replace(_path())


def _key(arm: Arm, task: TaskConfig) -> str:
    return f"{arm.settings} {task.key}"


def _like(arm: Arm, task: TaskConfig) -> str:
    """Another version or another flag of one model is about as fast; another effort is not."""
    effort = arm.thinking.effort if arm.thinking else None
    return json.dumps([str(arm.model), task.name, task.concurrency, task.max_tokens, effort])
