"""A blessed run in the place of a baseline that is served: paired by sample, refused where anything but the engine differs."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from stub_runs import N, asked, pupil, written
from stub_server import Reply, StubServer

from evals import blessing, config, report, run, store, stored
from evals.errors import ConfigError
from evals.experiment import Experiment
from evals.judged import Verdict
from evals.progress import Silent
from evals.selection import Selection

pytestmark = pytest.mark.slow

Stubs = dict[str, StubServer]


@pytest.fixture
def stubs() -> Iterator[Stubs]:
    with StubServer(pupil(wrong=2)) as old, StubServer(pupil(wrong=2)) as new:
        yield {"old": old, "new": new}


@pytest.fixture
def experiment(tmp_path: Path, stubs: Stubs) -> Experiment:
    return config.load(written(tmp_path, stubs))


@pytest.fixture
def first(experiment: Experiment, tmp_path: Path) -> Path:
    """A run whose `new` is blessed."""
    folder = tmp_path / "reports" / "first"
    assert run.run(experiment, folder, Silent()).overall == "PASS"
    blessing.bless(folder, None, "me", "it went out")
    return folder


def against(first: Path, experiment: Experiment, folder: Path) -> Verdict:
    return run.run(experiment, folder, Silent(), selection=Selection(stored=stored.find(first.parent, first.name)))


def edited(tmp_path: Path, old: str, new: str) -> Experiment:
    path = tmp_path / "urls.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return config.load(path)


def test_the_baseline_is_not_served_again_and_its_answers_are_paired(first: Path, tmp_path: Path, stubs: Stubs) -> None:
    stubs["old"].close()
    stubs["new"].answer = pupil(wrong=20)
    verdict = against(first, config.load(tmp_path / "urls.yaml"), tmp_path / "reports" / "second")
    assert verdict.overall == "REGRESSION"
    delta = verdict.gates[0].delta
    assert delta is not None
    assert (delta.n, delta.newly_wrong, delta.newly_right) == (N, 18, 0)  # `new` of the first run had 2 wrong
    note = next(f for f in verdict.findings if f.kind == "stored_baseline")
    assert note.text.startswith("not served: its answers are those of new in the run first of ")


def test_its_report_is_made_again_from_its_own_journal(first: Path, tmp_path: Path, experiment: Experiment) -> None:
    second = tmp_path / "reports" / "second"
    against(first, experiment, second)
    card = (second / "scorecard.md").read_bytes()
    for file in sorted(first.iterdir()):
        if file.is_file():
            file.unlink()
    report.write(second)
    assert (second / "scorecard.md").read_bytes() == card


def test_another_version_is_what_is_being_tested(first: Path, tmp_path: Path, experiment: Experiment, stubs: Stubs) -> None:
    stubs["new"].pages["/version"] = Reply(payload={"version": "0.30.0"})
    assert against(first, experiment, tmp_path / "reports" / "second").overall == "PASS"
    rows = (tmp_path / "reports" / "second" / "scorecard.md").read_text(encoding="utf-8")
    assert "0.29.0" in rows
    assert "0.30.0" in rows


UNLIKE = [
    ("fewshot: 0", "fewshot: 0, max_tokens: 77", "gsm8k: max_tokens was 1024 for new, and is 77 for the baseline here"),
    ("fewshot: 0", "fewshot: 0, concurrency: 3", "gsm8k: concurrency was 16 for new, and is 3 for the baseline here"),
    ("fewshot: 0", "fewshot: 0, rounds: 2", "gsm8k: asked in 1 rounds there, and in 2 here"),
    ("tasks: [", "tasks: [greedy, ", "greedy: not asked there; its tasks are gsm8k"),
    ("  old: {", "  old: {request: {top_p: 0.5}, ", "gsm8k: top_p was 1.0 for new, and is 0.5 for the baseline here"),
]


def test_other_settings_are_refused_before_anything_is_asked(first: Path, tmp_path: Path, stubs: Stubs) -> None:
    before, text = len(stubs["new"].requests), (tmp_path / "urls.yaml").read_text()
    for old, new, said in UNLIKE:
        told = f"--baseline-run first: {said}; ask the same, or let the baseline be served again"
        with pytest.raises(ConfigError, match=f"^{re.escape(told)}$"):
            against(first, edited(tmp_path, old, new), tmp_path / "reports" / "second")
        (tmp_path / "urls.yaml").write_text(text)
    assert len(stubs["new"].requests) == before


def test_other_samples_are_refused(first: Path, tmp_path: Path) -> None:
    questions = tmp_path / "data" / "test.jsonl"
    whole = questions.read_text()
    questions.write_text(whole.replace("what is 3 + 1?", "and what is 3 + 1?"))
    with pytest.raises(ConfigError, match=f"gsm8k: 1 of {N} samples have another prompt or answer there, first "):
        against(first, config.load(tmp_path / "urls.yaml"), tmp_path / "reports" / "second")
    questions.write_text(whole + '{"question": "what is 99 + 1?", "answer": "#### 100"}\n')
    more = edited(tmp_path, f"n: {N}", f"n: {N + 1}")
    with pytest.raises(ConfigError, match=f"1 of {N + 1} samples were not asked there, first "):
        against(first, more, tmp_path / "reports" / "second")


def test_fewer_samples_of_the_same_are_asked(first: Path, tmp_path: Path) -> None:
    fewer = edited(tmp_path, f"n: {N}", f"n: {N // 2}")
    delta = against(first, fewer, tmp_path / "reports" / "second").gates[0].delta
    assert delta is not None
    assert (delta.n, delta.errors) == (N // 2, 0)


def test_without_it_the_baseline_is_asked_after_all(first: Path, tmp_path: Path, experiment: Experiment, stubs: Stubs) -> None:
    """What another server answered never stands for one that the file names."""
    second, before = tmp_path / "reports" / "second", asked(stubs["old"])
    against(first, experiment, second)
    assert asked(stubs["old"]) == before
    verdict = run.run(experiment, second, Silent())
    assert asked(stubs["old"]) == before + N
    assert not [f for f in verdict.findings if f.kind == "stored_baseline"]


def test_a_kill_while_it_is_taken_over_leaves_nothing_twice(first: Path, tmp_path: Path, experiment: Experiment) -> None:
    whole, torn = tmp_path / "reports" / "whole", tmp_path / "reports" / "torn"
    against(first, experiment, whole)
    lines = (whole / store.JOURNAL).read_bytes().splitlines(keepends=True)
    torn.mkdir()
    (torn / store.JOURNAL).write_bytes(b"".join(lines[:20]))
    against(first, experiment, torn)
    kept = [store.read(folder) for folder in (whole, torn)]
    assert [len(k.windows) for k in kept] == [2, 2]
    assert [len(k.answers) for k in kept] == [2 * N, 2 * N]
    against(first, experiment, torn)
    assert len(store.read(torn).windows) == 2


def test_a_run_that_is_not_there_or_not_blessed_is_refused(first: Path, tmp_path: Path, experiment: Experiment) -> None:
    run.run(experiment, tmp_path / "reports" / "other", Silent())
    with pytest.raises(ConfigError, match="--baseline-run none: there is no such run in "):
        stored.find(first.parent, "none")
    with pytest.raises(ConfigError, match="--baseline-run other: it is not blessed; `bumpgate bless other --why TEXT`"):
        stored.find(first.parent, "other")
