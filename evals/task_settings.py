"""A file's `tasks:` → what each asks, checked as far as it can be before anything is loaded."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from evals import foreign
from evals.document import Place, did_you_mean
from evals.errors import ConfigError
from evals.experiment import TaskConfig
from evals.recipes import gsm8k, mmlu
from evals.schema import HaystackYaml, TaskYaml
from tasks import TASKS, greedy, needle, problem_set
from tasks.base import Language
from tasks.needle import Grid

Fail = Callable[[Place, str], NoReturn]
DataDir = Callable[[str | None, Place], tuple[str | None, str]]
"""A folder as the file names it → its path, and a fingerprint of its files."""


_COUNTS: dict[str, Callable[[Path, int | None], int]] = {
    "gsm8k": gsm8k.count, "mmlu": mmlu.count, "mmlu_loglikelihood": mmlu.count,
}  # fmt: skip
Text = Callable[[str, Place], tuple[str, str]]
"""A file or a folder of texts → its path, and a fingerprint."""
_ONLY: dict[str, tuple[str, ...]] = {
    "coding": ("language", "sandbox_image", "optional"),
    "needle": ("lengths", "depths", "languages", "boundaries", "repeats", "needles", "distractors", "haystack", "warm"),
}
"""Keys by the one task that has them."""
USUAL_GRID = Grid(
    lengths=(8192, 32768, 65536, 100_000), longest=True, usual=True, depths=(10, 30, 50, 70, 90), languages=("en", "zh")
)


def read(tasks: Sequence[TaskYaml], seed: int, data_dir: DataDir, text: Text, fail: Fail) -> tuple[TaskConfig, ...]:
    """Every task of an experiment, in its order."""
    out: list[TaskConfig] = []
    for i, task in enumerate(tasks):
        place: Place = ("tasks", i)
        name = _name(task, place, fail)
        if any(t.name == name for t in out):
            fail((*place, "lm_eval" if task.lm_eval is not None else "task"), f"{name!r} is listed twice; keep one")
        if task.lm_eval is not None:
            config = _foreign(task, name, place, seed, text, fail)
        else:
            config = _task(task, name, place, seed, data_dir, fail)
        out.append(_with_needles(config, task, place, text, fail) if name == "needle" else config)
    return tuple(out)


def _name(task: TaskYaml, place: Place, fail: Fail) -> str:
    """The task's, known or one of lm-eval's."""
    if task.lm_eval is not None:
        if task.task is not None:
            fail((*place, "task"), f"names a task of bumpgate's own, and `lm_eval: {task.lm_eval}` another; keep one")
        if task.lm_eval in TASKS:
            fail((*place, "lm_eval"), f"{task.lm_eval} is a task of bumpgate's own: write `task: {task.lm_eval}`")
        return task.lm_eval
    if task.task is None:
        fail((*place, "task"), "is required; `lm_eval: NAME` names one of lm-eval's")
    if task.task not in TASKS:
        known = f"{did_you_mean(task.task, TASKS)}; known: {', '.join(TASKS)}; `lm_eval: {task.task}` looks among lm-eval's own"
        fail((*place, "task"), f"there is no task {task.task!r}{known}")
    return task.task


def _foreign(task: TaskYaml, name: str, place: Place, seed: int, text: Text, fail: Fail) -> TaskConfig:
    """What lm-eval's files tell of it is known before anything is loaded."""
    if task.data_dir is not None:
        fail((*place, "data_dir"), "a task of lm-eval's has its rows from the hub, or from its own file; leave it out")
    folder, files = text(task.include_path, (*place, "include_path")) if task.include_path is not None else (None, "")
    try:
        found = foreign.find(name, Path(folder) if folder else None)
    except ConfigError as e:
        fail((*place, "lm_eval"), str(e))
    _refuse_others(task, name, place, fail)
    if found.likelihood and task.max_tokens is not None:
        fail((*place, "max_tokens"), f"{name} is asked by log-probability and generates nothing; leave it out")
    return TaskConfig(
        name=name, n=None if task.n == "all" else task.n or found.info.default_n, rounds=task.rounds, seed=seed,
        concurrency=task.concurrency, fewshot=task.fewshot, data_dir=None, data_files=files, foreign=found,
        max_tokens=task.max_tokens or found.info.default_max_tokens,
    )  # fmt: skip


def _refuse_others(task: TaskYaml, name: str, place: Place, fail: Fail) -> None:
    for owner, key in ((owner, key) for owner, keys in _ONLY.items() for key in keys):
        if getattr(task, key) is not None and name != owner:
            fail((*place, key), f"belongs to the task {owner}; leave it out of {name}")


def _with_needles(config: TaskConfig, task: TaskYaml, place: Place, text: Text, fail: Fail) -> TaskConfig:
    if task.data_dir is not None:
        fail((*place, "data_dir"), "needle has no data set; `haystack:` names its texts")
    grid = replace(
        USUAL_GRID if task.lengths is None else _of_lengths(task.lengths), boundaries=tuple(task.boundaries or ()),
        depths=tuple(dict.fromkeys(task.depths or USUAL_GRID.depths)),
        languages=tuple(dict.fromkeys(task.languages or USUAL_GRID.languages)), repeats=task.repeats or 1,
        needles=task.needles or 1, distractors=3 if task.distractors is None else task.distractors,
    )  # fmt: skip
    if not grid.size:
        fail((*place, "lengths"), "name at least one length, or a boundary")
    if grid.needles + grid.distractors > needle.MOST:
        fail((*place, "needles"), f"needles and distractors are {needle.MOST} at most")
    haystacks: dict[Language, str] = {}
    files = []
    for name, given in _haystacks(task):
        if name not in grid.languages:
            fail((*place, "haystack", name), f"{name} is not among its languages")
        haystacks[name], fingerprint = text(given, (*place, "haystack", name))
        files.append(fingerprint)
    return replace(
        config, grid=grid, haystacks=haystacks, data_files=" ".join(files), size=grid.size, warm=bool(task.warm),
        rounds=2 * config.rounds if task.warm else config.rounds,
    )  # fmt: skip


def _of_lengths(given: Sequence[int | str]) -> Grid:
    lengths = {tokens for tokens in given if isinstance(tokens, int)}
    return replace(USUAL_GRID, lengths=tuple(sorted(lengths)), longest="max" in given, usual=False)


def _haystacks(task: TaskYaml) -> list[tuple[Language, str]]:
    named = task.haystack or HaystackYaml()
    pairs: list[tuple[Language, str | None]] = [("en", named.en), ("zh", named.zh)]
    return [(name, given) for name, given in pairs if given is not None]


def _task(task: TaskYaml, name: str, place: Place, seed: int, data_dir: DataDir, fail: Fail) -> TaskConfig:
    info = TASKS[name]
    n = None if task.n == "all" else info.default_n if task.n is None else task.n
    if name == "greedy":  # its prompts are shipped, so that their number is known before the run
        n = min(n or 2**31, len(greedy.prompts()))
    if not info.marked and task.rounds != 1:
        fail((*place, "rounds"), f"{name} has one round a launch; set `launches` instead")
    if task.include_path is not None:
        fail((*place, "include_path"), f"belongs to `lm_eval:`; leave it out of {name}")
    _refuse_others(task, name, place, fail)
    folder, files = data_dir(task.data_dir, (*place, "data_dir"))
    size = _rows(name, Path(folder), task.fewshot, (*place, "data_dir"), fail) if folder else info.hub_n
    if info.sandboxed:
        size, files = _problems(folder, task.language or "en", (*place, "data_dir"), fail)
    return TaskConfig(
        name=name, n=n, size=size, rounds=task.rounds, concurrency=task.concurrency, fewshot=task.fewshot,
        data_dir=folder, data_files=files, max_tokens=task.max_tokens or info.default_max_tokens, seed=seed,
        language=task.language or "en", sandbox_image=task.sandbox_image, optional=bool(task.optional),
    )  # fmt: skip


def _problems(folder: str | None, language: Language, place: Place, fail: Fail) -> tuple[int, str]:
    """How many coding problems there are, and a fingerprint of all that a mark depends on."""
    try:
        posed = problem_set.read(Path(folder)) if folder else problem_set.read()
    except problem_set.ProblemError as e:
        fail(place, str(e))
    return len(posed), f"{language} {' '.join(p.fingerprint for p in posed.values())}"


def _rows(name: str, folder: Path, fewshot: int | None, place: Place, fail: Fail) -> int | None:
    """Questions of a data set's folder; what it lacks is told as the file's fault, and so by `plan`, too."""
    try:
        return _COUNTS[name](folder, fewshot) if name in _COUNTS else None
    except ConfigError as e:
        fail(place, str(e))
