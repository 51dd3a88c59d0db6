"""On a real vLLM: what we mark is what lm-eval itself marks, item by item, when its own model classes ask the same server.

BUMPGATE_LMEVAL_MMLU names a folder of MMLU's CSV files: then 200 of those are asked in the place of 200 sums, and 200 of the
demo's questions in the place of 40.
"""

import csv
import json
import os
import random
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import lm_eval
import pytest
import yaml
from engine_experiments import ENGINE, ENV

from evals import config, shipped
from evals.engine import Server, serve
from evals.experiment import Experiment
from evals.lmeval import HarnessTask
from evals.plan import Stage
from evals.progress import Silent
from evals.recipes import mmlu_files
from evals.records import Score
from evals.store import Answer, Journal
from evals.suite import Data, run_stage

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]

TASKS = Path(lm_eval.__file__).parent / "tasks"
N_GSM8K = 200 if "BUMPGATE_LMEVAL_MMLU" in os.environ else 40
NO_THINKING: dict[str, Any] = {"chat_template_kwargs": {"enable_thinking": False}}


@pytest.fixture(scope="module")
def mmlu_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hundred sums with four results each, of three subjects."""
    if "BUMPGATE_LMEVAL_MMLU" in os.environ:
        return Path(os.environ["BUMPGATE_LMEVAL_MMLU"])
    folder, draw = tmp_path_factory.mktemp("mmlu"), random.Random(5)
    for split, count in (("test", 70), ("dev", 5)):
        (folder / split).mkdir()
        for subject in ("anatomy", "astronomy", "virology"):
            sums = [(draw.randint(2, 60), draw.randint(2, 30)) for _ in range(count)]
            with (folder / split / f"{subject}_{split}.csv").open("w", newline="") as file:
                csv.writer(file).writerows([f"What is {a} + {b}?", *(a + b + i for i in range(4)), a % 4] for a, b in sums)
    return folder


@pytest.fixture(scope="module")
def experiment(mmlu_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    path = tmp_path_factory.mktemp("lm-eval") / "x.yaml"
    path.write_text(
        f"name: x\nbaseline: bf16\narms:\n  bf16:\n    engine: {{venv: {ENGINE}}}\n    model: demo:bf16\n"
        f"    env: {{{ENV}, VLLM_ALLOW_LONG_MAX_MODEL_LEN: 1}}\n"
        "    args: {dtype: bfloat16, max-model-len: 32768, enforce-eager: true, enable-tokenizer-info-endpoint: true}\n"
        f"    request: {json.dumps(NO_THINKING)}\n"
        f"tasks:\n  - {{task: mmlu_loglikelihood, n: 200, concurrency: 1, data_dir: '{mmlu_dir}'}}\n"
        f"  - {{task: gsm8k, n: {N_GSM8K}, concurrency: 1, fewshot: 0, max_tokens: 96, data_dir: demo:arithmetic}}\n"
    )
    return config.load(path)


@pytest.fixture(scope="module")
def server(experiment: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(experiment.arms[0], 0, tmp_path_factory.mktemp("log") / "server.log", print) as running:
        yield running


def ours(experiment: Experiment, server: Server, name: str, folder: Path) -> dict[str, tuple[Answer, Score]]:
    stage = Stage(arm=experiment.arms[0], task=next(t for t in experiment.tasks if t.name == name), round=0)
    with Journal(folder / name) as journal:
        run_stage(stage, server, Data(harness={name: HarnessTask(stage.task)}), journal, Silent())
        found = [(a, journal.contents.scores[a.key]) for a in journal.contents.answers.values()]
    return {a.sample_id: (a, score) for a, score in found if isinstance(score, Score)}


def spec(task: dict[str, Any], rows: dict[str, list[Any]], folder: Path) -> dict[str, Any]:
    """lm-eval's task with these rows by split."""
    paths = {split: str(folder / f"{task['task']}-{split}.jsonl") for split in rows}
    for split, path in paths.items():
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows[split]))
    return task | {"dataset_path": "json", "dataset_name": None, "dataset_kwargs": {"data_files": paths}}


def theirs(specs: list[dict[str, Any]], server: Server, *, chat: bool) -> dict[str, Any]:
    """lm-eval's samples, by task."""
    args = {"model": server.endpoint.model, "base_url": f"{server.endpoint.url}/v1/{'chat/' * chat}completions"}
    args |= {} if chat else {"tokenizer_backend": "remote", "max_length": 32768}
    out = lm_eval.simple_evaluate(
        model="local-chat-completions" if chat else "local-completions", model_args=args, tasks=specs,
        task_manager=lm_eval.tasks.TaskManager(include_defaults=False), apply_chat_template=chat, bootstrap_iters=0,
    )  # fmt: skip
    samples: dict[str, Any] = out["samples"]
    return samples


def test_mmlu_by_log_likelihood_is_what_local_completions_gives(
    experiment: Experiment, server: Server, mmlu_dir: Path, tmp_path: Path
) -> None:
    found = ours(experiment, server, "mmlu_loglikelihood", tmp_path)
    subjects, folder = mmlu_files.read(mmlu_dir), TASKS / "mmlu" / "default"
    asked: dict[str, list[int]] = {}
    for subject, row in sorted((i.rsplit("-", 1)[0], int(i.rsplit("-", 1)[1])) for i in found):
        asked.setdefault(subject, []).append(row)
    specs = []
    for subject, numbers in asked.items():
        task = yaml.safe_load((folder / "_default_template_yaml").read_text()) | {"num_fewshot": 5}
        task |= yaml.safe_load((folder / f"mmlu_{subject}.yaml").read_text())
        del task["include"]
        rows = {"test": [asdict(subjects[subject].test[i]) for i in numbers], "dev": [asdict(q) for q in subjects[subject].dev]}
        specs.append(spec(task, rows, tmp_path))
    told = theirs(specs, server, chat=False)
    assert len(found) == min(200, sum(len(s.test) for s in subjects.values())) == sum(map(len, told.values()))
    for subject, numbers in asked.items():
        for row in told[f"mmlu_{subject}"]:
            answer, score = found[f"{subject}-{numbers[row['doc_id']]}"]
            assert answer.response is not None
            assert answer.response.likelihoods is not None
            logprobs, greedy = zip(*(response[0] for response in row["resps"]), strict=True)
            assert [one.logprob for one in answer.response.likelihoods] == pytest.approx(logprobs, abs=1e-4)
            assert [one.greedy for one in answer.response.likelihoods] == list(greedy)
            assert score.outcome == ("correct" if row["acc"] else "wrong")


def test_gsm8k_is_what_local_chat_completions_gives(experiment: Experiment, server: Server, tmp_path: Path) -> None:
    found = ours(experiment, server, "gsm8k", tmp_path)
    lines = (shipped.resolve("demo:arithmetic") or Path()).joinpath("test.jsonl").read_text().splitlines()
    asked = sorted(int(i.removeprefix("test-")) for i in found)
    task = yaml.safe_load((TASKS / "gsm8k" / "gsm8k.yaml").read_text()) | {"num_fewshot": 0}
    task["generation_kwargs"] |= {"max_gen_toks": 96} | NO_THINKING
    rows = [json.loads(lines[i]) for i in asked]
    told = theirs([spec(task, {"test": rows, "train": rows}, tmp_path)], server, chat=True)["gsm8k"]
    marks = {(f"test-{asked[row['doc_id']]}", row["filter"]): row["exact_match"] == 1 for row in told}
    assert marks == {(i, mark.filter): mark.correct for i, (_, score) in found.items() for mark in score.harness}
    assert len(marks) == 2 * N_GSM8K
    assert 0.1 < sum(marks.values()) / len(marks) < 1
