"""Tasks that lm-eval knows by name: found in its files, refused where no gate could use them, posed and marked by lm-eval."""

import json
import sys
from pathlib import Path
from subprocess import run as run_process

import pytest
from evidence import response
from stub_server import Json, Reply, StubServer, chat
from test_lmeval import says

from evals import config, foreign, run, store
from evals.errors import ConfigError
from evals.evidence import from_contents
from evals.experiment import TaskConfig
from evals.lmeval import HarnessTask
from evals.progress import Silent
from evals.records import Failure, Likelihood, Marks, Response, Sample, Score
from evals.relay import shown
from tasks.foreign import Foreign, score

CHOOSE = """
output_type: multiple_choice
dataset_path: json
dataset_kwargs: {data_files: {test: ROWS, train: ROWS}}
test_split: test
training_split: train
doc_to_text: "Q: {{question}}\\nA:"
doc_to_target: "{{answer}}"
doc_to_choice: "{{choices}}"
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
"""
WRITE = """
output_type: generate_until
dataset_path: json
dataset_kwargs: {data_files: {validation: ROWS}}
validation_split: validation
doc_to_text: "{{question}}"
doc_to_target: "{{choices[answer]}}"
generation_kwargs: {until: ["\\n\\n"]}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
filter_list:
  - {name: strict, filter: [{function: take_first}]}
  - {name: last-word, filter: [{function: regex, regex_pattern: '(\\w+)\\W*$'}, {function: take_first}]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tasks as lm-eval writes them: `pets` and `cities` choose, `both` is their group, `spoken` generates."""
    (tmp_path / "tasks").mkdir()

    def write(name: str, text: str, count: int, key: str = "task", rows: str | None = None) -> None:
        options = [["cat", "dog", "cow"], ["Rome", "Oslo"]][name == "cities"]
        data = [{"question": f"{name} {i}", "choices": options, "answer": i % len(options)} for i in range(count)]
        path = tmp_path / f"{rows or name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in data))
        (tmp_path / "tasks" / f"{name}.yaml").write_text(f"{key}: {name}\n" + text.replace("ROWS", f"'{path}'"))

    write("pets", "tag: [animals, all_of_it]\n" + CHOOSE, 12)
    write("cities", 'tag: all_of_it\n"target_delimiter": " "\n' + CHOOSE, 4)
    write("spoken", WRITE, 6)
    (tmp_path / "tasks" / "_both.yaml").write_text(
        "group: both\ntask:\n  - group: inner\n    task: [cities]\n  - {task: pets, num_fewshot: 1}\n"
        "aggregate_metric_list: [{metric: acc}]\n"
    )
    return tmp_path / "tasks"


def load(folder: Path, name: str, n: int | None = 6, fewshot: int | None = None) -> HarnessTask:
    return HarnessTask(TaskConfig(
        name=name, n=n, rounds=1, concurrency=2, data_dir=None, fewshot=fewshot, max_tokens=8, seed=0,
        foreign=foreign.find(name, folder),
    ))  # fmt: skip


def nothing(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
    return {s.id: Failure(kind="timeout", message="none") for s in samples}


def told(*logprobs: float) -> Response:
    return response(text=None, finish_reason=None, likelihoods=tuple(Likelihood(logprob=p, greedy=False) for p in logprobs))


# --- found ----------------------------------------------------------------------------------------------------------------


def test_lm_evals_own_tasks_groups_and_tags_are_found_without_lm_eval() -> None:
    """Its index of 14,000 files would take twenty seconds, and its import one."""
    code = (
        "import sys; from evals import foreign\n"
        "for name in ('arc_challenge', 'mmlu', 'ai2_arc', 'ifeval', 'hellaswag'):\n"
        "    f = foreign.find(name); print(f.name, f.likelihood, f.metric, len(f.folders))\n"
        "assert 'lm_eval' not in sys.modules and 'datasets' not in sys.modules"
    )
    found = run_process([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert found == [
        "arc_challenge True acc 1", "mmlu True acc 1", "ai2_arc True acc 1", "ifeval False prompt_level_strict_acc 1",
        "hellaswag True acc 1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("arc_chalenge", r"lm-eval has no task 'arc_chalenge'; did you mean 'arc_challenge'\?"),
        ("wikitext", "wikitext: measures loglikelihood_rolling, and no right or wrong"),
        ("wmt16-ro-en", "wmt16-ro-en: is marked by bleu, ter, chrf, and a gate needs a mark of 0 or 1"),
        ("humaneval", "humaneval: runs what the model writes, outside any sandbox; `- coding` does that"),
        ("squadv2", "squadv2: is a program of lm-eval's own"),
        ("leaderboard", "its parts are marked by acc and acc_norm and exact_match.*name them one by one: leaderboard_"),
    ],
)
def test_what_no_gate_could_use_is_one_clear_line(name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        foreign.find(name)
    assert "\n" not in str(caught.value)


def test_a_group_within_a_group_a_tag_and_what_a_file_includes_are_followed(folder: Path) -> None:
    folders = (str(folder),)
    choosing = [Foreign(name=name, likelihood=True, metric="acc", folders=folders) for name in ("pets", "both", "all_of_it")]
    assert [foreign.find(f.name, folder) for f in choosing] == choosing
    (folder / "more").mkdir()
    (folder / "more" / "spoken_zh.yaml").write_text("include: ../spoken.yaml\ntask: spoken_zh\n")
    foreign._index.cache_clear()
    assert foreign.find("spoken_zh", folder).metric == "exact_match"
    (folder / "all.yaml").write_text("group: all\ntask: [both, spoken]\n")
    foreign._index.cache_clear()
    with pytest.raises(
        ConfigError, match="all: its parts are marked by acc and exact_match; name them one by one: cities, pets"
    ):
        foreign.find("all", folder)


# --- posed and marked -----------------------------------------------------------------------------------------------------


def test_a_group_is_spread_over_its_parts_in_proportion_and_a_longer_run_extends_a_shorter_one(folder: Path) -> None:
    short, whole = load(folder, "both", n=4).samples(), load(folder, "both", n=None).samples()
    assert [s.group for s in short].count("cities") == 1
    assert len(whole) == 16
    assert whole[:4] == short
    pets = next(s for s in whole if s.group == "pets")
    assert pets.messages[0].content.startswith("Q: pets ")  # the group gives it one worked example
    assert pets.messages[0].content.count("\nA:") == 2
    assert [c.text for c in pets.choices] == [" cat", " dog", " cow"]


def test_fewshot_is_taken_from_the_experiment(folder: Path) -> None:
    assert [load(folder, "pets", fewshot=k).samples()[0].messages[0].content.count("\nA:") for k in (0, 3)] == [1, 4]
    with pytest.raises(ConfigError, match="99 worked examples are asked for and the rows for them are 12"):
        load(folder, "pets", fewshot=99)


def test_a_choice_is_marked_by_lm_eval_and_its_number_left_out_where_something_failed(folder: Path) -> None:
    task = load(folder, "pets", n=12)

    def dog(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
        return {s.id: told(-3.0, -1.0, -2.0) for s in samples}

    marked = task.run(dog)
    scores = {s.id: score(told(-3.0, -1.0, -2.0), s.target, marked.marks[s.id]) for s in marked.samples}
    assert {i for i, s in scores.items() if isinstance(s, Score) and s.outcome == "correct"} == {
        s.id for s in marked.samples if s.target == "1"
    }
    assert [(a.metric, a.value) for a in marked.aggregates] == [("acc", pytest.approx(4 / 12))]
    assert task.run(nothing).aggregates == ()


def test_a_written_answer_is_marked_under_the_last_filter_and_by_what_a_reader_sees(folder: Path) -> None:
    task = load(folder, "spoken")

    def says_cat(samples: tuple[Sample, ...]) -> dict[str, Response | Failure]:
        return {s.id: says("<think>a dog</think>It is a cat.\n\nNext: dog") for s in samples}

    marked = task.run(says_cat)
    for s in marked.samples:
        assert [(m.filter, m.correct) for m in marked.marks[s.id]] == [("strict", False), ("last-word", s.target == "cat")]
        said = score(says("<think>a dog</think>It is a cat."), s.target, marked.marks[s.id])
        assert isinstance(said, Score)
        assert said.outcome == ("correct" if s.target == "cat" else "wrong")
        assert said.warnings == ("think_tag_in_content",)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (says("cat\n\ndog"), "cat"),
        (says("<think>dog</think>cat"), "cat"),
        (says("cat and then", finish="length"), ""),  # cut before it ended
        (says("cat\n\nQuestion: and", finish="length"), "cat"),  # ended by its stop string before it was cut
        (says("<think>maybe cat", finish="length"), ""),
        (says(None), ""),
        (Failure(kind="timeout", message="none"), ""),
    ],
)
def test_lm_eval_sees_a_finished_answer_alone(answer: Response | Failure, text: str) -> None:
    assert shown(answer, ["\n\n"]) == shown(answer, "\n\n") == text


CORRECT, WRONG = Marks(filter="f", correct=True), Marks(filter="f", correct=False)


@pytest.mark.parametrize(
    ("answer", "marks", "outcome", "reason"),
    [
        (says("cat"), (WRONG, CORRECT), "correct", None),
        (says("cat"), (CORRECT, WRONG), "wrong", None),
        (says("cat", finish="length"), (WRONG,), "no_answer", "truncated"),
        (says("<think>cat", finish="length"), (CORRECT,), "no_answer", "truncated_in_thinking"),
        (says(""), (CORRECT,), "no_answer", "empty"),
        (says("ha " * 400), (CORRECT,), "no_answer", "degenerate"),
        (told(-1.0, -2.0), (CORRECT,), "correct", None),
    ],
)
def test_what_holds_no_answer_is_told_apart_before_lm_evals_mark_counts(
    answer: Response, marks: tuple[Marks, ...], outcome: str, reason: str | None
) -> None:
    said = score(answer, "cat", marks)
    assert isinstance(said, Score)
    assert (said.outcome, said.reason, said.harness) == (outcome, reason, marks)


def test_an_answer_in_another_field_or_one_that_lm_eval_did_not_mark_is_a_failure() -> None:
    hidden = response(text=None, reasoning="It is a cat.", finish_reason="stop")
    found = [score(hidden, "cat", (WRONG,)), score(says("cat"), "cat", ())]
    assert all(isinstance(f, Failure) and f.kind == "harness" for f in found)


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ('process_results: !function "half.half"\n', "odd: lm-eval marks a sample by acc, and here not by 0 or 1"),
        ('process_results: !function "half.fails"\n', r"odd: lm-eval can't pose or mark it \(KeyError\): 'gold'; leave it out"),
        ('doc_to_text: ""\n', "asks for log-probabilities with nothing before them"),
        ("dataset_kwargs: {data_files: {test: nowhere.jsonl}}\n", "odd: its data set on the hub can't be loaded"),
        ('process_docs: !function "absent_package.fix"\n', "odd: its data set on the hub can't be loaded.*absent_package"),
    ],
)
def test_what_shows_only_when_it_is_loaded_is_one_clear_line_as_well(folder: Path, over: str, said: str) -> None:
    (folder / "half.py").write_text(
        "def half(doc, results):\n    return {'acc': 0.5}\ndef fails(doc, results):\n    return doc['gold']\n"
    )
    (folder / "odd.yaml").write_text("include: pets.yaml\ntask: odd\n" + over)
    foreign._index.cache_clear()
    with pytest.raises(ConfigError, match=said) as caught:
        load(folder, "odd")
    assert "\n" not in str(caught.value)


# --- in an experiment -----------------------------------------------------------------------------------------------------


def write(folder: Path, stub: StubServer, tasks: str, more: str = "") -> Path:
    path = folder.parent / "x.yaml"
    arms = (
        f"  old: {{engine: {{url: '{stub.url}'}}}}\n  new: {{engine: {{url: '{stub.url}'}}, request: {{temperature: 0.5}}}}\n"
    )
    path.write_text(f"name: x\nbaseline: old\nlaunches: 1\narms:\n{arms}tasks: {tasks}\n{more}")
    return path


def test_a_whole_run_over_both_kinds_is_judged_and_reported_again_without_lm_eval(folder: Path, tmp_path: Path) -> None:
    def pupil(_: Json) -> Reply:
        return Reply(payload=chat("It is a cat."))

    with StubServer(pupil) as stub:
        stub.likes = lambda before, token: -0.5 if token == " dog" else -1.0 - len(before) % 89 / 100
        tasks = "[{lm_eval: spoken, include_path: tasks, n: all}, {lm_eval: pets, include_path: tasks, n: 9}]"
        path = write(folder, stub, tasks)
        verdict = run.run(config.load(path), tmp_path / "run", Silent())
        asked = [body for body in stub.requests if body["max_tokens"] == 1024], stub.completed[:]
        assert [len(bodies) for bodies in asked] == [12, 18]
        assert run.run(config.load(path), tmp_path / "run", Silent()) == verdict
        assert ([body for body in stub.requests if body["max_tokens"] == 1024], stub.completed) == asked
    assert [(g.task, g.margin) for g in verdict.gates] == [("spoken", 2.0)]  # what generates nothing gates only by name
    evidence = from_contents(store.read(tmp_path / "run"))
    assert {t.name: round(t.chance, 1) for t in evidence.tasks} == {"spoken": 0.0, "pets": 33.3}
    assert all(r.score and r.score.outcome in ("correct", "wrong") for r in evidence.records)
    code = (
        "import sys; from pathlib import Path; from evals import report, store\n"
        f"report.write(Path({str(tmp_path / 'run')!r}), store.read(Path({str(tmp_path / 'run')!r})))\n"
        "assert 'lm_eval' not in sys.modules"
    )
    before = (tmp_path / "run" / "scorecard.md").read_text()
    run_process([sys.executable, "-c", code], check=True)
    assert (tmp_path / "run" / "scorecard.md").read_text() == before
    assert "| old | pets | 9 |" in before


@pytest.mark.parametrize(
    ("tasks", "more", "said"),
    [
        ("[{lm_eval: gsm8k}]", "", "x.yaml:7: tasks.0.lm_eval: gsm8k is a task of bumpgate's own: write `task: gsm8k`"),
        ("[{lm_eval: pets, task: gsm8k}]", "", "tasks.0.task: names a task of bumpgate's own, and `lm_eval: pets` another"),
        ("[{n: 5}]", "", "tasks.0.task: is required; `lm_eval: NAME` names one of lm-eval's"),
        ("[{lm_eval: pest, include_path: tasks}]", "", "has no task 'pest'; did you mean 'pets'?"),
        ("[{lm_eval: pets, include_path: nowhere}]", "", "there is no file or folder 'nowhere'"),
        ("[{lm_eval: pets, include_path: tasks, data_dir: .}]", "", "tasks.0.data_dir: a task of lm-eval's has its rows from"),
        ("[{lm_eval: pets, include_path: tasks, max_tokens: 5}]", "", "tasks.0.max_tokens: pets is asked by log-probability"),
        ("[{lm_eval: pets, include_path: tasks, language: zh}]", "", "tasks.0.language: belongs to the task coding"),
        ("[{task: greedy, include_path: tasks}]", "", "tasks.0.include_path: belongs to `lm_eval:`"),
        ("[{lm_eval: pets, include_path: tasks}]", "gates: [{task: pets, margin: 2}]", "can't see what new changes (sampling)"),
    ],
)
def test_what_is_wrong_with_such_a_task_is_told_with_its_place(folder: Path, tasks: str, more: str, said: str) -> None:
    with StubServer() as stub, pytest.raises(ConfigError) as caught:
        config.load(write(folder, stub, tasks, more))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
