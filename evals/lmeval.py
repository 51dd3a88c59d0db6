"""Tasks through lm-eval: its prompts, its few-shot examples, its filters and its numbers, over our one client.

lm-eval sees the data set in our own seeded order, cut at n: its few-shot sampler then
draws the same examples for a sample whatever n is, so that a longer run extends a shorter one.
"""

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import datasets
import jinja2
import lm_eval
import lm_eval.utils
from lm_eval.api.group import Group
from lm_eval.config.group import AggMetricConfig
from lm_eval.tasks import TaskManager

from evals.errors import ConfigError
from evals.experiment import TaskConfig
from evals.quiet import Quiet, be_quiet
from evals.recipes import gsm8k, mmlu
from evals.recipes.recipe import Place, Recipe
from evals.records import Failure, Marks, Response, Sample
from evals.relay import Ask, Doc, Posed, Relay

RECIPES: dict[str, Recipe] = {"gsm8k": gsm8k.RECIPE, "mmlu": mmlu.RECIPE, "mmlu_loglikelihood": mmlu.LOGLIKELIHOOD}
"""The tasks of our own that lm-eval poses, by name."""
_ALL = "all of it"
"""A group of ours around whatever is asked."""
_UNLOADABLE = (OSError, ValueError, LookupError, TypeError, AssertionError, ImportError, datasets.exceptions.DatasetsError)
"""What lm-eval and the libraries under it raise where a task's files or rows can't be had."""


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """lm-eval's own number under one filter, as a share 0–1 of what was measured."""

    filter: str
    metric: str
    value: float
    stderr: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class Marked:
    """One pass: every sample with lm-eval's marks of it."""

    samples: tuple[Sample, ...]
    answers: dict[str, Response | Failure]
    marks: dict[str, tuple[Marks, ...]]
    aggregates: tuple[Aggregate, ...]


class HarnessTask:
    """A task that lm-eval poses and marks, loaded once for all arms.

    Raises:
        ConfigError: `data_dir` lacks the files, the hub can't be reached, or lm-eval's marks are not 0 and 1.
    """

    def __init__(self, config: TaskConfig) -> None:
        be_quiet()
        lm_eval.utils.env.from_string = _compiled  # it compiles its template afresh for every row: minutes for all of MMLU
        self.config, self._recipe = config, _recipe(config)
        given = self._recipe.parts(config, Path(lm_eval.__file__).parent / "tasks")
        with Quiet():
            try:
                # Its index of all its files takes seconds.
                folders = list(config.foreign.folders) if config.foreign else None
                self._manager = TaskManager(include_defaults=False, include_path=folders)
                loaded = self._manager.load(list(given.values()))["tasks"]
                parts = {spec["task"]: part for part, spec in given.items() if isinstance(spec, dict)}
                tasks = {parts.get(name, name): task for name, task in loaded.items()}
                self._choose(tasks, {part: task.eval_docs for part, task in tasks.items()})
            except _UNLOADABLE as e:
                raise ConfigError(_cannot_load(config, self._recipe, e)) from e
        if config.foreign:
            self._check_marks()

    def _choose(self, tasks: Mapping[str, Any], docs: Mapping[str, Any]) -> None:
        whole = self._recipe.order({part: len(rows) for part, rows in docs.items()}, self.config.seed)
        self.size, order = len(whole), whole[: self.config.n]
        self._parts: dict[str, Any] = {}
        for part, task in tasks.items():
            if rows := [place.row for place in order if place.part == part]:
                self._set_fewshot(task)
                _narrow(task, docs[part], rows)
                self._parts[part] = task
        self._posed = dict(self._pose(order, docs))

    def _pose(self, order: Sequence[Place], docs: Mapping[str, Any]) -> Iterator[tuple[Doc, Posed]]:
        """lm-eval numbers a part's chosen rows from 0."""
        asked: Counter[str] = Counter()
        for position, place in enumerate(order):
            task, row = self._parts[place.part], docs[place.part][place.row]
            target = self._recipe.target(row) if self._recipe.target else str(task.doc_to_target(row))
            yield Doc(task=task.config.task, doc_id=asked[place.part]), Posed(
                position=position, id=f"{place.part}-{place.row}", target=target,
                group=place.part if self._recipe.grouped else "",
            )  # fmt: skip
            asked[place.part] += 1

    def _set_fewshot(self, task: Any) -> None:
        if self.config.fewshot is not None:
            task.set_config(key="num_fewshot", value=self.config.fewshot)
        shots, pool = task.get_config("num_fewshot") or 0, len(task.sampler.df or ())
        if shots > pool:
            raise ConfigError(
                f"{task.config.task}: {shots} worked examples are asked for and the rows for them are {pool}; set `fewshot:`"
            )

    def _check_marks(self) -> None:
        """What lm-eval makes of no answer at all shows what its marks are."""
        name, marked = self.config.name, self.run(_not_asked)
        if not all(marked.marks.values()):
            raise ConfigError(f"{name}: lm-eval marks a sample by {self._recipe.metric}, and here not by 0 or 1")
        if any(not s.messages[c.after].content.strip() for s in marked.samples for c in s.choices):
            raise ConfigError(f"{name}: asks for log-probabilities with nothing before them, which can't be done here")

    @property
    def n(self) -> int:
        return len(self._posed)

    def samples(self) -> tuple[Sample, ...]:
        """What a pass asks, in its order."""
        return self.run(_not_asked).samples

    def run(self, ask: Ask) -> Marked:
        """One pass over all samples; one that lm-eval marks by neither 0 nor 1 has no marks.

        Raises:
            ConfigError: a task of lm-eval's own fails in its own code.
        """
        try:
            return self._run(ask)
        except _UNLOADABLE as e:
            if self.config.foreign is None:
                raise
            raise ConfigError(
                f"{self.config.name}: lm-eval can't pose or mark it ({type(e).__name__}): {_first_line(e)}; leave it out"
            ) from e

    def _run(self, ask: Ask) -> Marked:
        with Quiet() as quiet:

            def asked(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
                with quiet.left():
                    return ask(samples)

            relay = Relay(asked, self._posed, shown_only=self.config.foreign is not None)
            out = lm_eval.simple_evaluate(
                model=relay,
                tasks=[self._for_one_pass()],
                task_manager=self._manager,
                apply_chat_template=not self._recipe.likelihood,
                fewshot_as_multiturn=not self._recipe.likelihood,
                bootstrap_iters=2,  # above 0 it computes stderr; that of a mean is closed-form
                log_samples=True,
            )  # fmt: skip
        marked: dict[str, dict[str, Any]] = {s.id: {} for s in relay.samples}
        for task, rows in out["samples"].items():
            for row in rows:
                of = self._posed[Doc(task=task, doc_id=row["doc_id"])]
                marked[of.id][row["filter"]] = row.get(self._recipe.metric)
        marks = {k: _marks(v) for k, v in marked.items()}
        measured = [marks[k] for k, answer in relay.answers.items() if isinstance(answer, Response)]
        # To lm-eval an answer that could not be measured is a wrong one, or the first choice: its number is of others then.
        whole = len(measured) == len(relay.answers)
        found = _aggregates(out["results"][_ALL], self._recipe.metric, len(measured))
        return Marked(
            samples=relay.samples, answers=relay.answers, marks=marks,
            aggregates=tuple(found if whole else _of_marks(measured, self._recipe.metric)),
        )  # fmt: skip

    def _for_one_pass(self) -> Any:
        """Copies, for a task keeps a pass's requests in itself; as one group, for its numbers over all of them."""
        group = Group(name=_ALL, aggregate_metric_list=[AggMetricConfig(metric=self._recipe.metric, weight_by_size=True)])
        for task in self._parts.values():
            group.add(copy.copy(task))
        return group


def _not_asked(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
    return {s.id: Failure(kind="harness", message="not asked") for s in samples}


def _marks(by_filter: Mapping[str, Any]) -> tuple[Marks, ...]:
    if not all(mark in (0, 1) for mark in by_filter.values()):
        return ()
    return tuple(Marks(filter=name, correct=bool(mark == 1)) for name, mark in by_filter.items())


def _recipe(config: TaskConfig) -> Recipe:
    if config.foreign is None:
        return RECIPES[config.name]
    return Recipe(
        parts=lambda _config, _folder: {config.name: config.name}, order=mmlu.order, target=None, hub="its data set", local="",
        metric=config.foreign.metric, likelihood=config.foreign.likelihood,
    )  # fmt: skip


def _narrow(task: Any, docs: Any, rows: list[int]) -> None:
    """Have lm-eval see these rows alone, in this order. Worked examples were taken from the others before."""
    chosen = docs.select(rows) if isinstance(docs, datasets.Dataset) else [docs[row] for row in rows]
    task.has_test_docs, task.test_docs = lambda: True, lambda: chosen


def _of_marks(measured: Sequence[tuple[Marks, ...]], metric: str) -> Iterator[Aggregate]:
    """Of lm-eval's marks of what was measured alone, the mean that it makes of them; nothing of nothing."""
    by_filter: dict[str, list[bool]] = {}
    for mark in (mark for marks in measured for mark in marks):
        by_filter.setdefault(mark.filter, []).append(mark.correct)
    for name, correct in by_filter.items():
        yield Aggregate(filter=name, metric=metric, value=sum(correct) / len(correct), stderr=None, n=len(correct))


def _aggregates(results: dict[str, Any], metric: str, n: int) -> Iterator[Aggregate]:
    for key, value in results.items():
        found, _, name = key.partition(",")
        if found == metric and name:
            stderr = results.get(f"{metric}_stderr,{name}")
            yield Aggregate(
                filter=name, metric=metric, value=float(value), stderr=float(stderr) if isinstance(stderr, float) else None, n=n
            )


@lru_cache(maxsize=1000)
def _compiled(template: str) -> jinja2.Template:
    return jinja2.Environment.from_string(lm_eval.utils.env, template)


def _cannot_load(config: TaskConfig, recipe: Recipe, error: Exception) -> str:
    where = config.data_dir or f"{recipe.hub} on the hub"
    remedy = "check the network" + (f", or give `data_dir:` a folder with {recipe.local}" if recipe.local else "")
    return f"{config.name}: {where} can't be loaded: {_first_line(error)}; {remedy}"


def _first_line(error: Exception) -> str:
    return " ".join((str(error).strip().splitlines() or [type(error).__name__])[0].split())[:200]
