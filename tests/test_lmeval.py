"""gsm8k through lm-eval itself, on a data set of this test's own; the model's side is a plain function."""

import json
from pathlib import Path

import pytest

from evals.errors import ConfigError
from evals.experiment import TaskConfig
from evals.lmeval import HarnessTask
from evals.records import Failure, Response, Sample


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    for split, count in (("test", 12), ("train", 9)):
        rows = [
            {"question": f"{split} {i}: what is {i} + 1?", "answer": f"{i} + 1 = {i + 1}\n#### {i + 1}"} for i in range(count)
        ]
        (tmp_path / f"{split}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return tmp_path


def config(folder: Path, n: int | None = 5, fewshot: int | None = None, seed: int = 0) -> TaskConfig:
    return TaskConfig(
        name="gsm8k", n=n, rounds=1, concurrency=2, data_dir=str(folder), fewshot=fewshot, max_tokens=64, seed=seed
    )


def says(text: str | None, finish: str = "stop") -> Response:
    return Response(
        text=text, reasoning=None, finish_reason=finish, token_ids=None, prompt_ids_sha=None, top_two=None, prompt_tokens=1,
        completion_tokens=1, reasoning_tokens=None, latency_s=0.0, fingerprint=None,
    )  # fmt: skip


def right(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
    return {s.id: says(f"so\n#### {s.target}") for s in samples}


def test_a_longer_run_extends_a_shorter_one_with_the_same_worked_examples(data_dir: Path) -> None:
    short = HarnessTask(config(data_dir, n=4)).run(right).samples
    long = HarnessTask(config(data_dir, n=9)).run(right).samples
    assert long[:4] == short
    assert len({s.id for s in long}) == 9


def test_two_passes_ask_the_same(data_dir: Path) -> None:
    task = HarnessTask(config(data_dir))
    assert task.run(right).samples == task.run(right).samples


def test_another_seed_asks_in_another_order(data_dir: Path) -> None:
    ids = [[s.id for s in HarnessTask(config(data_dir, n=None, seed=seed)).run(right).samples] for seed in (0, 1)]
    assert ids[0] != ids[1]
    assert sorted(ids[0]) == sorted(ids[1])


def test_worked_examples_are_turns_of_the_chat_and_come_from_train(data_dir: Path) -> None:
    sample = HarnessTask(config(data_dir)).run(right).samples[0]
    assert [m.role for m in sample.messages] == ["user", "assistant"] * 5 + ["user"]
    assert all("train" in m.content for m in sample.messages[0:10:2])
    assert sample.messages[-1].content.startswith("Question: test ")
    assert sample.messages[-1].content.endswith("\nAnswer:")


@pytest.mark.parametrize(("fewshot", "turns"), [(0, 1), (2, 5)])
def test_fewshot_is_taken_from_the_experiment(data_dir: Path, fewshot: int, turns: int) -> None:
    assert len(HarnessTask(config(data_dir, fewshot=fewshot)).run(right).samples[0].messages) == turns


def test_the_sample_that_a_mark_belongs_to_is_the_one_that_was_asked(data_dir: Path) -> None:
    """lm-eval renumbers a subset of a data set; a mark must not land on its neighbour."""

    def one_right(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
        return {s.id: says(f"#### {s.target}" if s.id == samples[2].id else "#### 999") for s in samples}

    marked = HarnessTask(config(data_dir, n=7)).run(one_right)
    correct = {i for i, marks in marked.marks.items() if all(m.correct for m in marks)}
    assert correct == {marked.samples[2].id}
    question = marked.samples[2].messages[-1].content
    number = int(question.split("test ")[1].split(":")[0])
    assert marked.samples[2].id == f"test-{number}"
    assert marked.samples[2].target == str(number + 1)


def test_lm_evals_own_number_and_stderr_are_kept(data_dir: Path) -> None:
    def half(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
        return {s.id: says(f"#### {s.target}" if i % 2 else f"it is {s.target}") for i, s in enumerate(samples)}

    by_filter = {a.filter: a for a in HarnessTask(config(data_dir, n=4)).run(half).aggregates}
    assert by_filter["strict-match"].value == 0.5
    assert by_filter["flexible-extract"].value == 1.0
    assert by_filter["strict-match"].stderr == pytest.approx(0.5 / 3**0.5)  # sd/√n with n − 1 = 3


def test_what_could_not_be_measured_is_empty_to_lm_eval_and_a_failure_to_us(data_dir: Path) -> None:
    def lost(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
        return {s.id: Failure(kind="timeout", message="no answer") for s in samples}

    marked = HarnessTask(config(data_dir)).run(lost)
    assert all(isinstance(a, Failure) for a in marked.answers.values())
    assert marked.aggregates == ()


def test_lm_evals_number_is_of_what_was_measured_alone(data_dir: Path) -> None:
    def partly(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
        told = [says("#### -1"), *(says(f"#### {s.target}") for s in samples[1:3])]
        lost = Failure(kind="http_400", message="HTTP 400")
        return {s.id: told[i] if i < 3 else lost for i, s in enumerate(samples)}

    found = HarnessTask(config(data_dir, n=5)).run(partly).aggregates
    assert {(a.filter, a.value, a.n) for a in found} == {(name, 2 / 3, 3) for name in ("strict-match", "flexible-extract")}


def test_stop_words_are_cut_here_and_never_sent(data_dir: Path) -> None:
    def rambling(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
        return {s.id: says(f"#### {s.target}\n\nQuestion: next\n#### 5") for s in samples}

    assert {a.value for a in HarnessTask(config(data_dir)).run(rambling).aggregates} == {1.0}


def test_the_data_set_is_asked_whole_when_it_is_smaller_than_n(data_dir: Path) -> None:
    assert HarnessTask(config(data_dir, n=500)).n == 12


def test_a_folder_without_the_files_is_one_clear_line(tmp_path: Path, data_dir: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ConfigError, match=r"has no test\.jsonl"):
        HarnessTask(config(empty))
    (data_dir / "train.jsonl").unlink()
    with pytest.raises(ConfigError, match=r"no train.*fewshot: 0"):
        HarnessTask(config(data_dir))
    assert HarnessTask(config(data_dir, fewshot=0)).n == 5


@pytest.mark.parametrize("text", ["not json\n", '{"question": "q"}\n', '{"question": "q", "answer": "no marker"}\n', ""])
def test_a_broken_data_file_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "test.jsonl").write_text(text)
    with pytest.raises(ConfigError) as caught:
        HarnessTask(config(tmp_path, fewshot=0)).run(right)
    assert "gsm8k" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_a_folder_the_hub_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}

    def load_dataset(path: str, name: str, **kwargs: object) -> None:
        asked.update(path=path, name=name, **kwargs)
        raise ConnectionError("no network in this test")

    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    with pytest.raises(ConfigError, match=r"openai/gsm8k on the hub.*data_dir"):
        HarnessTask(TaskConfig(name="gsm8k", n=5, rounds=1, concurrency=1, data_dir=None, fewshot=None, max_tokens=8, seed=0))
    assert (asked["path"], asked["name"]) == ("openai/gsm8k", "main")


def test_more_worked_examples_than_rows_are_told_before_anything_is_served(data_dir: Path) -> None:
    with pytest.raises(ConfigError, match=r"20 worked examples.*rows for them are 9"):
        HarnessTask(config(data_dir, fewshot=20))


def test_a_line_separator_inside_a_question_is_no_new_line(data_dir: Path) -> None:
    row = json.dumps({"question": "one\u2028two", "answer": "#### 1"}, ensure_ascii=False)
    (data_dir / "test.jsonl").write_text(row + "\n", encoding="utf-8")
    assert HarnessTask(config(data_dir, fewshot=0)).n == 1
