"""gsm8k through lm-eval: its prompts, its few-shot examples, its filters and its numbers, over our one client.

The only module that imports lm_eval. lm-eval sees the data set in our own seeded order, cut at n: its few-shot sampler then
draws the same examples for a sample whatever n is, so that a longer run extends a shorter one.
"""

import contextlib
import copy
import io
import json
import logging
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

import datasets
import lm_eval
import lm_eval.evaluator
import yaml
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from evals.errors import ConfigError
from evals.experiment import TaskConfig
from evals.records import Failure, Marks, Message, Response, Sample
from tasks import gsm8k

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


class _Relay(LM):  # type: ignore[misc]  # lm_eval is untyped
    """An lm-eval model that hands every request to `ask`. What could not be measured is "" to lm-eval, and a failure to us."""

    tokenizer_name = ""

    def __init__(self, ask: Ask, ids: list[str], targets: list[str]) -> None:
        super().__init__()
        self.ask, self.ids, self.targets = ask, ids, targets
        self.samples: tuple[Sample, ...] = ()
        self.answers: dict[str, Response | Failure] = {}

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:  # noqa: ARG002
        """The server renders the template; the messages travel through lm-eval as JSON."""
        return json.dumps([{"role": m["role"], "content": m["content"]} for m in chat_history], ensure_ascii=False)

    def chat_template(self, chat_template: bool | str = False) -> str | None:  # noqa: ARG002
        return None

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:  # noqa: ARG002
        self.samples = tuple(
            Sample(
                id=self.ids[r.doc_id],
                messages=tuple(Message(**m) for m in json.loads(r.args[0])),
                target=self.targets[r.doc_id],
            )
            for r in requests
        )
        self.answers = self.ask(self.samples)
        return [cut(self.answers[s.id], r.args[1].get("until") or []) for s, r in zip(self.samples, requests, strict=True)]

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


class Gsm8k:
    """The task, loaded once for all arms.

    Raises:
        ConfigError: `data_dir` lacks the files, or the hub can't be reached.
    """

    def __init__(self, config: TaskConfig) -> None:
        _be_quiet()
        self.config = config
        own = Path(lm_eval.__file__).parent / "tasks" / "gsm8k" / "gsm8k.yaml"
        overrides: dict[str, Any] = yaml.safe_load(own.read_text(encoding="utf-8"))
        if config.fewshot is not None:
            overrides["num_fewshot"] = config.fewshot
        if config.data_dir:
            overrides |= _local_files(Path(config.data_dir), config.fewshot)
        with _Quiet():
            try:
                self._manager = TaskManager(include_defaults=False)  # its index of 26,000 files takes seconds
                self._task = self._manager.load([overrides])["tasks"]["gsm8k"]
                docs = self._task.dataset["test"]
            except (OSError, ValueError, ConnectionError, datasets.exceptions.DatasetsError) as e:
                raise ConfigError(_cannot_load(config, e)) from e
        order = list(range(len(docs)))
        random.Random(config.seed).shuffle(order)
        self._order = order[: config.n]
        self._task.dataset["test"] = docs.select(self._order)
        shots, pool = self._task.get_config("num_fewshot") or 0, len(self._task.dataset["train"])
        if shots > pool and config.fewshot != 0:
            raise ConfigError(f"gsm8k: {shots} worked examples are asked for and the training rows are {pool}; set `fewshot:`")
        if config.fewshot == 0:
            self._task.set_config(key="num_fewshot", value=0)

    @property
    def n(self) -> int:
        return len(self._order)

    def samples(self) -> tuple[Sample, ...]:
        """What a pass asks, in its order."""
        unasked = Failure(kind="harness", message="not asked")
        return self.run(lambda samples: {s.id: unasked for s in samples}).samples

    def run(self, ask: Ask) -> Marked:
        """One pass over all samples."""
        targets = [str(gsm8k.target_number(row["answer"])) for row in self._task.dataset["test"]]
        with _Quiet() as quiet:

            def asked(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
                with quiet.left():
                    return ask(samples)

            relay = _Relay(asked, [f"test-{i}" for i in self._order], targets)
            out = lm_eval.simple_evaluate(
                model=relay,
                tasks=[copy.copy(self._task)],  # it keeps a pass's requests in itself
                task_manager=self._manager,
                apply_chat_template=True,
                fewshot_as_multiturn=True,
                bootstrap_iters=2,  # above 0 it computes stderr; that of a mean is closed-form
                log_samples=True,
            )  # fmt: skip
        marks: dict[str, list[Marks]] = {s.id: [] for s in relay.samples}
        for row in out["samples"]["gsm8k"]:
            marks[relay.ids[row["doc_id"]]].append(Marks(filter=row["filter"], correct=bool(row[_METRIC] == 1)))
        return Marked(
            samples=relay.samples, answers=relay.answers, marks={k: tuple(v) for k, v in marks.items()},
            aggregates=tuple(_aggregates(out["results"]["gsm8k"])),
        )  # fmt: skip


def _aggregates(results: dict[str, Any]) -> Iterator[Aggregate]:
    for key, value in results.items():
        metric, _, name = key.partition(",")
        if metric == _METRIC and name:
            stderr = results.get(f"{metric}_stderr,{name}")
            yield Aggregate(
                filter=name, metric=metric, value=float(value), stderr=float(stderr) if isinstance(stderr, float) else None
            )


def _local_files(folder: Path, fewshot: int | None) -> dict[str, Any]:
    """lm-eval's overrides for a folder with test.jsonl and, for worked examples, train*.jsonl."""
    test, train = folder / "test.jsonl", sorted(folder.glob("train*.jsonl"))
    if not test.is_file():
        raise ConfigError(f"gsm8k: {folder} has no test.jsonl (one JSON object with question and answer a line)")
    if not train and fewshot != 0:
        raise ConfigError(f"gsm8k: {folder} has no train*.jsonl for the worked examples; add one or set `fewshot: 0`")
    for path in (test, *train):
        _check_rows(path)
    files = {"test": str(test), "train": [str(p) for p in train] or str(test)}
    return {"dataset_path": "json", "dataset_name": None, "dataset_kwargs": {"data_files": files}}


def _check_rows(path: Path) -> None:
    number = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"), 1):
        try:
            row = json.loads(line)
            gsm8k.target_number(row["answer"])
            str(row["question"])
        except (ValueError, KeyError, TypeError) as e:
            raise ConfigError(
                f"gsm8k: {path}:{number}: not an object with question and answer, the answer ending in `#### N`"
            ) from e
    if not number:
        raise ConfigError(f"gsm8k: {path} is empty; one JSON object with question and answer a line")


def _cannot_load(config: TaskConfig, error: Exception) -> str:
    first = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
    where = config.data_dir or "openai/gsm8k on the hub"
    remedy = "check the network, or give `data_dir:` a folder with test.jsonl and train.jsonl"
    return f"gsm8k: {where} can't be loaded: {first}; {remedy}"


def _be_quiet() -> None:
    datasets.disable_progress_bars()
    for name in ("lm_eval", "lm-eval", "datasets", "huggingface_hub"):
        logging.getLogger(name).setLevel(logging.ERROR)


_ONE_AT_A_TIME = threading.Lock()
"""lm-eval seeds and redirects what belongs to the whole process, so that arms side by side take turns in it."""


class _Quiet:
    """lm-eval and tqdm write to the terminal whatever they are told; our own display owns it."""

    def __enter__(self) -> Self:
        _ONE_AT_A_TIME.acquire()
        self._undo = contextlib.ExitStack()
        self._undo.enter_context(contextlib.redirect_stdout(io.StringIO()))
        self._undo.enter_context(contextlib.redirect_stderr(io.StringIO()))
        # It runs git in whatever folder we are in.
        self._undo.enter_context(patch.object(lm_eval.evaluator, "get_git_commit_hash", lambda: None))
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()
        _ONE_AT_A_TIME.release()

    @contextlib.contextmanager
    def left(self) -> Iterator[None]:
        """For as long as the server is asked: another arm may have its turn."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()
