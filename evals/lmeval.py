"""gsm8k and mmlu through lm-eval: its prompts, its few-shot examples, its filters and its numbers, over our one client.

The only module that imports lm_eval. lm-eval sees the data set in our own seeded order, cut at n: its few-shot sampler then
draws the same examples for a sample whatever n is, so that a longer run extends a shorter one.
"""

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import datasets
import jinja2
import lm_eval
import lm_eval.utils
from lm_eval.api.group import Group
from lm_eval.api.model import LM
from lm_eval.config.group import AggMetricConfig
from lm_eval.tasks import TaskManager

from evals.errors import ConfigError
from evals.experiment import TaskConfig
from evals.quiet import Quiet, be_quiet
from evals.recipes import gsm8k, mmlu
from evals.recipes.recipe import Place, Recipe
from evals.records import Failure, Marks, Message, Response, Sample

RECIPES: dict[str, Recipe] = {"gsm8k": gsm8k.RECIPE, "mmlu": mmlu.RECIPE}
"""The tasks that lm-eval poses, by name."""
Ask = Callable[[tuple[Sample, ...]], dict[str, Response | Failure]]
_METRIC = "exact_match"


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """lm-eval's own number under one filter, as a share 0–1."""

    filter: str
    metric: str
    value: float
    stderr: float | None


@dataclass(frozen=True, kw_only=True)
class Marked:
    """One pass: every sample with lm-eval's marks of it."""

    samples: tuple[Sample, ...]
    answers: dict[str, Response | Failure]
    marks: dict[str, tuple[Marks, ...]]
    aggregates: tuple[Aggregate, ...]


@dataclass(frozen=True, kw_only=True)
class _Doc:
    """How lm-eval names a sample."""

    task: str
    doc_id: int


@dataclass(frozen=True, kw_only=True)
class _Posed:
    """What we know of it."""

    position: int
    """In the order of a pass."""
    id: str
    target: str
    group: str


class _Relay(LM):  # type: ignore[misc]  # lm_eval is untyped
    """An lm-eval model that hands every request to `ask`. What could not be measured is "" to lm-eval, and a failure to us."""

    tokenizer_name = ""

    def __init__(self, ask: Ask, posed: Mapping[_Doc, _Posed]) -> None:
        super().__init__()
        self.ask, self.posed = ask, posed
        self.samples: tuple[Sample, ...] = ()
        self.answers: dict[str, Response | Failure] = {}

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:  # noqa: ARG002
        """The server renders the template; the messages travel through lm-eval as JSON."""
        return json.dumps([{"role": m["role"], "content": m["content"]} for m in chat_history], ensure_ascii=False)

    def chat_template(self, chat_template: bool | str = False) -> str | None:  # noqa: ARG002
        return None

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:  # noqa: ARG002
        posed = [self.posed[_Doc(task=r.task_name, doc_id=r.doc_id)] for r in requests]
        samples = [
            Sample(id=p.id, messages=tuple(Message(**m) for m in json.loads(r.args[0])), target=p.target, group=p.group)
            for p, r in zip(posed, requests, strict=True)
        ]
        # lm-eval asks task by task; ours is the order in which any first part is a fair share of all.
        self.samples = tuple(samples[i] for i in sorted(range(len(samples)), key=lambda i: posed[i].position))
        self.answers = self.ask(self.samples)
        return [cut(self.answers[s.id], r.args[1].get("until") or []) for s, r in zip(samples, requests, strict=True)]

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        raise NotImplementedError("log-likelihood needs /v1/completions; this model asks over chat")

    def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
        raise NotImplementedError("log-likelihood needs /v1/completions; this model asks over chat")


def cut(answer: Response | Failure, until: list[str]) -> str:
    """The text that lm-eval marks: the content up to its stop strings.

    They are cut here and never sent: a server stops at them inside a chain of thought as well.
    """
    text = answer.text or "" if isinstance(answer, Response) else ""
    for stop in until:
        text = text.split(stop)[0]
    return text


class HarnessTask:
    """A task that lm-eval poses and marks, loaded once for all arms.

    Raises:
        ConfigError: `data_dir` lacks the files, or the hub can't be reached.
    """

    def __init__(self, config: TaskConfig) -> None:
        be_quiet()
        lm_eval.utils.env.from_string = _compiled  # it compiles its template afresh for every row: minutes for all of MMLU
        self.config, self._recipe = config, RECIPES[config.name]
        given = self._recipe.parts(config, Path(lm_eval.__file__).parent / "tasks")
        with Quiet():
            try:
                self._manager = TaskManager(include_defaults=False)  # its index of 26,000 files takes seconds
                loaded = self._manager.load(list(given.values()))["tasks"]
                tasks = {part: loaded[overrides["task"]] for part, overrides in given.items()}
                docs = {part: task.dataset["test"] for part, task in tasks.items()}
            except (OSError, ValueError, ConnectionError, datasets.exceptions.DatasetsError) as e:
                raise ConfigError(_cannot_load(config, self._recipe, e)) from e
        order = self._recipe.order({part: len(rows) for part, rows in docs.items()}, config.seed)[: config.n]
        self._parts: dict[str, Any] = {}
        for part, task in tasks.items():
            if rows := [place.row for place in order if place.part == part]:
                self._check_fewshot(task)
                task.dataset["test"] = docs[part].select(rows)
                self._parts[part] = task
        self._posed = dict(self._pose(order, docs))

    def _pose(self, order: Sequence[Place], docs: Mapping[str, Any]) -> Iterator[tuple[_Doc, _Posed]]:
        """lm-eval numbers a part's chosen rows from 0."""
        asked: Counter[str] = Counter()
        for position, place in enumerate(order):
            yield _Doc(task=self._parts[place.part].config.task, doc_id=asked[place.part]), _Posed(
                position=position, id=f"{place.part}-{place.row}", target=self._recipe.target(docs[place.part][place.row]),
                group=place.part if self._recipe.grouped else "",
            )  # fmt: skip
            asked[place.part] += 1

    def _check_fewshot(self, task: Any) -> None:
        shots, pool = task.get_config("num_fewshot") or 0, len(task.dataset[task.config.fewshot_split])
        if shots > pool and self.config.fewshot != 0:
            raise ConfigError(
                f"{task.config.task}: {shots} worked examples are asked for and the rows for them are {pool}; set `fewshot:`"
            )
        if self.config.fewshot == 0:
            task.set_config(key="num_fewshot", value=0)

    @property
    def n(self) -> int:
        return len(self._posed)

    def samples(self) -> tuple[Sample, ...]:
        """What a pass asks, in its order."""
        unasked = Failure(kind="harness", message="not asked")
        return self.run(lambda samples: {s.id: unasked for s in samples}).samples

    def run(self, ask: Ask) -> Marked:
        """One pass over all samples."""
        with Quiet() as quiet:

            def asked(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
                with quiet.left():
                    return ask(samples)

            relay = _Relay(asked, self._posed)
            out = lm_eval.simple_evaluate(
                model=relay,
                tasks=[self._for_one_pass()],
                task_manager=self._manager,
                apply_chat_template=True,
                fewshot_as_multiturn=True,
                bootstrap_iters=2,  # above 0 it computes stderr; that of a mean is closed-form
                log_samples=True,
            )  # fmt: skip
        marks: dict[str, list[Marks]] = {s.id: [] for s in relay.samples}
        for task, rows in out["samples"].items():
            for row in rows:
                of = self._posed[_Doc(task=task, doc_id=row["doc_id"])]
                marks[of.id].append(Marks(filter=row["filter"], correct=bool(row[_METRIC] == 1)))
        return Marked(
            samples=relay.samples, answers=relay.answers, marks={k: tuple(v) for k, v in marks.items()},
            aggregates=tuple(_aggregates(out["results"][self._recipe.group])),
        )  # fmt: skip

    def _for_one_pass(self) -> Any:
        """Copies, for a task keeps a pass's requests in itself; several as one group, for its numbers over all of them."""
        copies = [copy.copy(task) for task in self._parts.values()]
        if not self._recipe.grouped:
            return copies[0]
        whole = AggMetricConfig(metric=_METRIC, weight_by_size=True)
        group = Group(name=self._recipe.group, aggregate_metric_list=[whole])
        for task in copies:
            group.add(task)
        return group


def _aggregates(results: dict[str, Any]) -> Iterator[Aggregate]:
    for key, value in results.items():
        metric, _, name = key.partition(",")
        if metric == _METRIC and name:
            stderr = results.get(f"{metric}_stderr,{name}")
            yield Aggregate(
                filter=name, metric=metric, value=float(value), stderr=float(stderr) if isinstance(stderr, float) else None
            )


@lru_cache(maxsize=1000)
def _compiled(template: str) -> jinja2.Template:
    return jinja2.Environment.from_string(lm_eval.utils.env, template)


def _cannot_load(config: TaskConfig, recipe: Recipe, error: Exception) -> str:
    first = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
    where = config.data_dir or f"{recipe.hub} on the hub"
    remedy = f"check the network, or give `data_dir:` a folder with {recipe.local}"
    return f"{config.name}: {where} can't be loaded: {first}; {remedy}"
