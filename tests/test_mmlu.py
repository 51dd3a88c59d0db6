"""MMLU through lm-eval itself, on a data set of this test's own; the model's side is a plain function."""

import csv
import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from test_lmeval import says

from evals.errors import ConfigError
from evals.experiment import TaskConfig
from evals.lmeval import HarnessTask
from evals.recipes import mmlu as mmlu_recipe
from evals.recipes import mmlu_files
from evals.recipes.mmlu import order
from evals.records import Failure, Response, Sample, Score
from tasks import TASKS, mmlu
from tasks.mmlu_subjects import GROUPS

SIZES = {"anatomy": 12, "astronomy": 4, "world_religions": 8}


def write(path: Path, rows: list[list[str]], header: bool = True) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["question", "choice0", "choice1", "choice2", "choice3", "answer"]] * header + rows)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    for subject, size in SIZES.items():
        for split, count in (("test", size), ("dev", 5)):
            rows = [[f"{split} {subject} {i}?", "one", "two, too", 'th"ree', "four\nfive", str(i % 4)] for i in range(count)]
            write(tmp_path / split / f"{subject}_{split}.csv", rows)
    return tmp_path


def config(folder: Path | None, n: int | None = 6, fewshot: int | None = None, seed: int = 0) -> TaskConfig:
    return TaskConfig(
        name="mmlu", n=n, rounds=1, concurrency=2, data_dir=str(folder) if folder else None, fewshot=fewshot, max_tokens=64,
        seed=seed,
    )  # fmt: skip


REAL = Path(os.environ.get("BUMPGATE_MMLU", Path(__file__).parents[2] / "shared" / "data" / "mmlu"))
"""The whole data set as CSV files, which belongs to the machine and not to the project."""


def right(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
    return {s.id: says(s.target[0]) for s in samples}


# --- what is asked --------------------------------------------------------------------------------------------------------


def test_a_question_is_posed_as_lm_eval_does_after_five_worked_examples_of_its_subject(data_dir: Path) -> None:
    sample = next(s for s in HarnessTask(config(data_dir)).samples() if s.group == "world_religions")
    assert [m.role for m in sample.messages] == ["system"] + ["user", "assistant"] * 5 + ["user"]
    assert sample.messages[0].content.startswith(
        "The following are multiple choice questions (with answers) about world religions."
    )
    assert [m.content.split("?")[0] for m in sample.messages[1:-1:2]] == [f"dev world_religions {i}" for i in range(5)]
    assert [m.content.strip() for m in sample.messages[2:-1:2]] == ["A", "B", "C", "D", "A"]
    number = int(sample.id.removeprefix("world_religions-"))
    assert sample.messages[-1].content == (
        f'test world_religions {number}?\nA. one\nB. two, too\nC. th"ree\nD. four\nfive\nAnswer:'
    )
    assert sample.target == f'{"ABCD"[number % 4]}\nA. one\nB. two, too\nC. th"ree\nD. four five'


@pytest.mark.parametrize(("fewshot", "turns"), [(0, 2), (2, 6)])
def test_fewshot_is_taken_from_the_experiment(data_dir: Path, fewshot: int, turns: int) -> None:
    assert len(HarnessTask(config(data_dir, fewshot=fewshot)).samples()[0].messages) == turns


def test_a_longer_run_extends_a_shorter_one(data_dir: Path) -> None:
    short, long, whole = (HarnessTask(config(data_dir, n=n)).samples() for n in (5, 11, None))
    assert long[:5] == short
    assert whole[:11] == long
    assert len({s.id for s in whole}) == len(whole) == sum(SIZES.values())


def test_every_part_of_a_run_is_a_fair_share_of_the_subjects(data_dir: Path) -> None:
    groups = [s.group for s in HarnessTask(config(data_dir, n=None)).samples()]
    assert Counter(groups[:3]) == dict.fromkeys(SIZES, 1)
    assert Counter(groups[:12]) == {"anatomy": 6, "astronomy": 2, "world_religions": 4}
    assert Counter(groups) == SIZES


def test_two_passes_ask_the_same_and_another_seed_asks_others(data_dir: Path) -> None:
    task = HarnessTask(config(data_dir))
    assert task.run(right).samples == task.run(right).samples
    assert {s.id for s in task.samples()} != {s.id for s in HarnessTask(config(data_dir, seed=1)).samples()}


def test_at_the_hubs_sizes_every_subject_is_among_200_and_none_is_far_from_its_share() -> None:
    sizes = {subject: 100 + 27 * i for i, subject in enumerate(GROUPS)}
    places = order(sizes, seed=7)
    for n in (57, 200, 1000):
        counts = Counter(p.part for p in places[:n])
        assert counts.keys() == GROUPS.keys()
        if n > 57:
            assert max(abs(counts[s] - max(1, n * size / sum(sizes.values()))) for s, size in sizes.items()) < 1
    assert len({(p.part, p.row) for p in places}) == sum(sizes.values())


# --- how it is marked -----------------------------------------------------------------------------------------------------


def test_the_sample_that_a_mark_belongs_to_is_the_one_that_was_asked(data_dir: Path) -> None:
    """lm-eval asks subject by subject and counts each from 0; a mark must not land on its neighbour."""
    asked = HarnessTask(config(data_dir, n=None)).samples()
    chosen = {asked[0].id, asked[5].id, asked[-1].id}

    def three_right(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
        return {s.id: says(s.target[0] if s.id in chosen else "E") for s in samples}

    marked = HarnessTask(config(data_dir, n=None)).run(three_right)
    assert {i for i, marks in marked.marks.items() if all(m.correct for m in marks)} == chosen
    assert {len(marks) for marks in marked.marks.values()} == {1}
    (aggregate,) = marked.aggregates
    assert (aggregate.filter, aggregate.metric) == ("get_response", "exact_match")
    assert aggregate.value == pytest.approx(3 / 24)
    assert aggregate.stderr is not None


def test_subjects_with_one_question_each_have_a_number_without_a_stderr(data_dir: Path) -> None:
    (aggregate,) = HarnessTask(config(data_dir, n=3)).run(right).aggregates
    assert (aggregate.value, aggregate.stderr) == (1.0, None)


def test_what_could_not_be_measured_is_empty_to_lm_eval_and_a_failure_to_us(data_dir: Path) -> None:
    marked = HarnessTask(config(data_dir)).run(lambda ss: {s.id: Failure(kind="timeout", message="none") for s in ss})
    assert all(isinstance(a, Failure) for a in marked.answers.values())
    assert marked.aggregates == ()


# --- the files ------------------------------------------------------------------------------------------------------------


def test_the_originals_layout_without_a_header_and_with_letters_is_read(tmp_path: Path) -> None:
    write(tmp_path / "test" / "anatomy_test.csv", [["what?", "1", "2", "3", "4", "C"]], header=False)
    found = mmlu_files.read(tmp_path)
    assert found["anatomy"].test == (mmlu_files.Question(question="what?", choices=("1", "2", "3", "4"), answer=2),)
    assert HarnessTask(config(tmp_path, fewshot=0)).samples()[0].group == "anatomy"


def test_a_folder_without_the_files_is_one_clear_line(tmp_path: Path, data_dir: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(ConfigError, match=r"has no test/\*_test\.csv; the layout is"):
        HarnessTask(config(tmp_path / "none"))
    write(data_dir / "dev" / "anatomy_dev.csv", [["what?", "1", "2", "3", "4", "C"]])
    with pytest.raises(ConfigError, match=r"mmlu_anatomy_generative: 5 worked examples.*for them are 1; set `fewshot:`"):
        HarnessTask(config(data_dir))
    write(data_dir / "dev" / "alchemy_dev.csv", [["what?", "1", "2", "3", "4", "C"]])
    write(data_dir / "test" / "alchemy_test.csv", [["what?", "1", "2", "3", "4", "C"]])
    with pytest.raises(ConfigError, match=r"alchemy_test\.csv, which is none of MMLU's subjects"):
        HarnessTask(config(data_dir))


@pytest.mark.parametrize("name", ["mmlu", "mmlu_loglikelihood"])
@pytest.mark.parametrize("n", [1, None])  # whether its questions are drawn or not
def test_a_subject_with_one_of_its_two_files_is_one_clear_line(data_dir: Path, name: str, n: int | None) -> None:
    asked = replace(config(data_dir, n=n), name=name)
    for subject in SIZES:
        kept = (data_dir / "dev" / f"{subject}_dev.csv").rename(data_dir / "kept.csv")
        with pytest.raises(ConfigError, match=rf"and no dev/{subject}_dev\.csv.*; add it, .*or set `fewshot: 0`"):
            HarnessTask(asked)
        assert HarnessTask(replace(asked, fewshot=0)).size == sum(SIZES.values())
        kept.rename(data_dir / "dev" / f"{subject}_dev.csv")
        test = data_dir / "test" / f"{subject}_test.csv"
        test.rename(data_dir / "kept.csv")
        for fewshot in (0, None):
            with pytest.raises(ConfigError, match=rf"and no test/{subject}_test\.csv; add it, or take the other away"):
                HarnessTask(replace(asked, fewshot=fewshot))
        (data_dir / "kept.csv").rename(test)


def test_a_folder_with_some_whole_subjects_is_allowed(data_dir: Path) -> None:
    (data_dir / "dev" / "anatomy_dev.csv").unlink()
    (data_dir / "test" / "anatomy_test.csv").unlink()
    assert HarnessTask(config(data_dir)).size == sum(SIZES.values()) - SIZES["anatomy"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("what?,1,2,3,4,E\n", "anatomy_test.csv:1: not a question"),
        ("what?,1,2,3,4,0\nwhat?,1,2,3,0\n", "anatomy_test.csv:2: not a question"),
        ('what?,1,2,3,"4,0\n', "can't be read as CSV"),
        ("", "has no question"),
    ],
)
def test_a_broken_file_is_one_clear_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "anatomy_test.csv").write_text(text)
    with pytest.raises(ConfigError) as caught:
        HarnessTask(config(tmp_path, fewshot=0))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match=re.escape(said)):
        mmlu_recipe.count(tmp_path, 0)


def test_without_a_folder_the_hub_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}

    def load_dataset(path: str, name: str, **kwargs: object) -> None:
        asked.update(path=path, name=name, **kwargs)
        raise ConnectionError("no network in this test")

    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    with pytest.raises(ConfigError, match=r"cais/mmlu on the hub.*data_dir.*SUBJECT_test\.csv"):
        HarnessTask(config(None))
    assert (asked["path"], asked["name"]) == ("cais/mmlu", "abstract_algebra")


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no MMLU in {REAL}; BUMPGATE_MMLU names another folder")
def test_the_whole_data_set_is_read_and_every_subject_is_among_200() -> None:
    assert mmlu_recipe.count(REAL, None) == TASKS["mmlu"].hub_n
    marked = HarnessTask(config(REAL, n=200)).run(right)
    assert {s.group for s in marked.samples} == GROUPS.keys()
    assert all(len(s.messages) == 12 for s in marked.samples)
    assert [a.value for a in marked.aggregates] == [1.0]
    scores = [mmlu.score(a, s.target, ()) for s in marked.samples if isinstance(a := marked.answers[s.id], Response)]
    assert {s.outcome for s in scores if isinstance(s, Score)} == {"correct"}


def test_guessing_gets_a_quarter_and_nothing_is_hidden_from_it() -> None:
    assert (TASKS["mmlu"].chance, TASKS["mmlu"].default_n, TASKS["mmlu"].default_margin) == (25.0, 200, 2.0)
    assert not TASKS["mmlu"].blind_to
