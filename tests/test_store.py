import json
import os
import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evidence import response, samples

from evals import store
from evals.errors import StoreError
from evals.evidence import from_contents as evidence
from evals.judged import ArmSpec, Ask, GateSpec, TaskSpec
from evals.records import Failure, HarnessResult, LaunchFailure, Marks, Response, Score, ServerInfo, TopTwo, Window
from evals.store import Answer, Header, Journal, Place, read

PLACE = Place(arm="base", arm_key="ak", task="gsm8k", task_key="tk", round=0)
TIMEOUT = Failure(kind="timeout", message="no answer in 60 s")
RIGHT = Score(
    outcome="correct", answer="18", harness=(Marks(filter="strict-match", correct=False),), warnings=("think_tag_in_content",)
)
HEADER = Header(
    run_id="r", name="upgrade", bumpgate_version="0.1.0", started_at="2026-01-01T00:00:00+00:00", baseline="base",
    arms=(ArmSpec(name="base", same_prompts=True),), tasks=(TaskSpec(name="gsm8k", rounds=1, chance=0.0, marked=True),),
    gates=(GateSpec(task="gsm8k", margin=2.0),), arm_keys={"base": "ak"}, task_keys={"gsm8k": "tk"},
)  # fmt: skip
SERVER = ServerInfo(
    launch=0, engine="venv vllm==0.29.0", version="0.29.0", fingerprint=None, model="m", argv=("vllm", "serve"),
    env={"VLLM_NO_USAGE_STATS": "1"}, ready_s=21.5,
)  # fmt: skip
DIED = LaunchFailure(launch=0, engine="venv vllm==0.29.0", stage="start", reason="ValueError: 没有", log_tail=("a", "b"))
WINDOW = Window(
    arm="base", task="gsm8k", round=0, wall_s=1.5, samples=2, generation_tokens=9, prompt_tokens=None, prefix_cache_queries=0,
    prefix_cache_hits=0, drafts=3, draft_tokens=3, accepted_tokens=2, accepted_per_position=(2,), cold=None,
)  # fmt: skip
HARNESS = HarnessResult(
    arm="base", task="gsm8k", round=0, filter="strict-match", metric="exact_match", value=0.5, stderr=None, n=2
)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path) as opened:
        opened.begin(HEADER)
        opened.put_samples("gsm8k", samples(3))
        yield opened


def answer(sample_id: str = "s0", said: Response | Failure = TIMEOUT, place: Place = PLACE, **fields: Any) -> Answer:
    given = (said, None) if isinstance(said, Response) else (None, said)
    told = Answer(place=place, sample_id=sample_id, prompt_sha="p", key=f"k-{sample_id}", response=given[0], failure=given[1])
    return replace(told, **fields)


def test_every_kind_of_line_is_read_back_as_it_was_written(journal: Journal) -> None:
    full = response(
        text="答案是18。\n\u2028#### 18", reasoning="9*2", top_two=(TopTwo(first=-0.1, second=-2.0),), token_ids=(1, 2)
    )
    journal.put_answer(answer("s0", full))
    journal.put_answer(answer("s1", TIMEOUT))
    journal.put_score("k-s0", RIGHT)
    journal.put_score("k-s1", Failure(kind="answer_in_reasoning_field", message="content is empty"))
    journal.put_server("base", "ak", SERVER)
    journal.put_launch_failure("base", "ak", replace(DIED, launch=1))
    journal.put_window(PLACE, WINDOW)
    journal.put_harness(PLACE, HARNESS)
    journal.stage_done(PLACE, 3)
    journal.finish()
    told = read(journal.folder)
    assert told == journal.contents
    assert told.answers[(PLACE, "s0")].response == full
    run = evidence(told)
    assert (run.run_id, run.baseline, run.finished, run.gates) == ("r", "base", True, HEADER.gates)
    assert run.samples == {"gsm8k": samples(3)}
    assert [(r.sample_id, r.response, r.failure, r.score) for r in run.records] == [
        ("s0", full, None, RIGHT),
        ("s1", None, TIMEOUT, None),
    ]
    assert (run.servers, run.failures) == ({"base": (SERVER,)}, {"base": (replace(DIED, launch=1),)})
    assert (run.windows, run.harness) == ((WINDOW,), (HARNESS,))


def test_an_answer_that_a_kill_left_without_its_mark_is_marked_when_it_is_read(journal: Journal) -> None:
    journal.put_answer(answer("s0", response(text="#### 7")))
    journal.put_answer(answer("s1", response(text="#### 8")))
    assert [r.score.outcome for r in evidence(read(journal.folder)).records if r.score] == ["correct", "wrong"]


def test_a_full_disk_is_one_line_and_keeps_what_was_written(tmp_path: Path) -> None:
    before, path = resource.getrlimit(resource.RLIMIT_FSIZE), tmp_path / store.JOURNAL
    try:
        with Journal(tmp_path) as journal:
            journal.begin(HEADER)
            journal.put_samples("gsm8k", samples(1))
            journal.put_answer(answer("s0"))
            whole = path.read_bytes()
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 9, before[1]))
            with pytest.raises(StoreError, match=r"journal.jsonl: cannot be written: File too large; .* the same command"):
                journal.put_answer(answer("s1", response(text="x" * 20_000)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes() == whole  # no half line, which the next one would follow
    with Journal(tmp_path) as journal:
        assert list(journal.contents.answers) == [(PLACE, "s0")]


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written: Is a directory"):
        store.write_text(tmp_path, "x")


def test_what_is_written_is_on_disk_before_the_journal_is_closed(journal: Journal) -> None:
    journal.put_answer(answer())
    assert (PLACE, "s0") in read(journal.folder).answers


def test_a_line_torn_by_a_kill_is_set_aside_and_the_run_goes_on(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.begin(HEADER)
        journal.put_samples("gsm8k", samples(2))
        journal.put_answer(answer("s0"))
    with (tmp_path / store.JOURNAL).open("ab") as f:
        f.write('{"kind":"answer","answer":{"text":"答'.encode()[:-1])
    assert list(read(tmp_path).answers) == [(PLACE, "s0")]
    with Journal(tmp_path) as journal:
        journal.put_answer(answer("s1"))
    assert [sample_id for _, sample_id in read(tmp_path).answers] == ["s0", "s1"]
    assert b'{"kind":"answer"' in (tmp_path / "torn.txt").read_bytes()


def test_a_journal_of_nothing_but_a_torn_line_starts_afresh(tmp_path: Path) -> None:
    (tmp_path / store.JOURNAL).write_text('{"kind":"run","hea')
    with Journal(tmp_path) as journal:
        assert journal.contents.header is None
        journal.begin(HEADER)
    assert read(tmp_path).header == HEADER


@pytest.mark.parametrize(
    "broken", ["{", "", "null", "[]", "5", '{"kind":"answer"}', '{"kind":"moon"}', '{"kind":"answer","answer":{"key":1}}']
)
def test_a_broken_line_in_the_middle_is_named_by_its_number(tmp_path: Path, broken: str) -> None:
    with Journal(tmp_path) as journal:
        journal.begin(HEADER)
        journal.put_answer(answer())
    path = tmp_path / store.JOURNAL
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], broken, lines[1], ""]))
    with pytest.raises(StoreError, match=rf"{store.JOURNAL}:2: "):
        read(tmp_path)
    with pytest.raises(StoreError, match=rf"{store.JOURNAL}:2: "):
        Journal(tmp_path)


def test_a_folder_without_a_journal_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="nothing-here"):
        read(tmp_path / "nothing-here")


def test_evidence_needs_a_header(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal, pytest.raises(StoreError, match="no header"):
        evidence(journal.contents)


@pytest.mark.parametrize(("field", "value"), [("arm_key", "old"), ("task_key", "old"), ("arm", "gone"), ("task", "gone")])
def test_answers_given_under_another_configuration_are_no_evidence(journal: Journal, field: str, value: str) -> None:
    other = replace(PLACE, **{field: value})
    journal.put_answer(answer("s0", response(), other))
    journal.put_window(other, WINDOW)
    journal.put_harness(other, HARNESS)
    run = evidence(read(journal.folder))
    assert (run.records, run.windows, run.harness) == ((), (), ())


def test_servers_and_failures_of_another_configuration_are_no_evidence(journal: Journal) -> None:
    journal.put_server("base", "old", SERVER)
    journal.put_launch_failure("base", "old", replace(DIED, launch=1))
    run = evidence(read(journal.folder))
    assert (run.servers, run.failures) == ({}, {})


def test_answers_to_samples_that_are_no_longer_asked_are_no_evidence(journal: Journal) -> None:
    journal.put_answer(answer("s2", response()))
    journal.put_samples("gsm8k", samples(2))  # the first of those that are there: they stay, and fewer are asked
    assert len(evidence(read(journal.folder)).records) == 1
    journal.put_asks({("base", "gsm8k"): Ask(arm="base", task="gsm8k", n=2)})
    assert evidence(read(journal.folder)).records == ()
    journal.put_samples("gsm8k", samples(3)[::-1])
    assert len(evidence(read(journal.folder)).records) == 1  # s2 is the first now


def test_the_last_record_of_a_sample_counts(journal: Journal) -> None:
    journal.put_answer(answer("s0", response(text="first")))
    journal.put_answer(answer("s0", response(text="second")))
    (record,) = evidence(read(journal.folder)).records
    assert record.response is not None
    assert record.response.text == "second"


def test_a_failure_is_replaced_by_a_later_response(journal: Journal) -> None:
    journal.put_answer(answer("s0", TIMEOUT))
    journal.put_answer(answer("s0", response()))
    (record,) = evidence(read(journal.folder)).records
    assert (record.failure, record.response) == (None, response())


def test_rounds_are_told_apart(journal: Journal) -> None:
    journal.put_answer(answer("s0", response(text="r0")))
    journal.put_answer(answer("s0", response(text="r1"), replace(PLACE, round=1)))
    assert [(r.round, r.response and r.response.text) for r in evidence(read(journal.folder)).records] == [(0, "r0"), (1, "r1")]


def test_a_scorer_that_could_not_measure_makes_a_failure_and_keeps_the_response(journal: Journal) -> None:
    unmeasured = Failure(kind="answer_in_reasoning_field", message="content is empty")
    journal.put_answer(answer("s0", response()))
    journal.put_score("k-s0", unmeasured)
    (record,) = evidence(read(journal.folder)).records
    assert (record.failure, record.score, record.response) == (unmeasured, None, response())


def test_a_launch_that_failed_is_forgotten_once_it_succeeds(journal: Journal) -> None:
    journal.put_launch_failure("base", "ak", DIED)
    journal.put_launch_failure("base", "ak", replace(DIED, launch=1))
    journal.put_server("base", "ak", SERVER)
    run = evidence(read(journal.folder))
    assert [f.launch for f in run.failures["base"]] == [1]
    assert run.servers == {"base": (SERVER,)}


def test_every_start_of_a_launch_is_remembered_for_its_own_configuration(journal: Journal) -> None:
    for image in ("sha256:a", "sha256:b"):
        journal.put_server("base", "ak", replace(SERVER, image_id=image))
    run = evidence(read(journal.folder))
    assert [s.image_id for s in run.servers["base"]] == ["sha256:b"]
    assert [s.image_id for s in run.starts["base"]] == ["sha256:a", "sha256:b"]
    journal.put_server("base", "new", replace(SERVER, image_id="sha256:c"))
    assert len(evidence(read(journal.folder)).starts["base"]) == 2
    journal.forget("base")
    assert evidence(read(journal.folder)).starts["base"] == ()


def test_a_journal_of_an_older_bumpgate_is_read(journal: Journal) -> None:
    journal.put_server("base", "ak", SERVER)
    path = journal.folder / "journal.jsonl"
    written = path.read_text()
    told = ',"weights_sha":null,"tokenizer_sha":null,"effective":{},"image_id":null,"image_digest":null'
    assert told in written
    path.write_text(written.replace(told, ""))
    assert evidence(read(journal.folder)).servers == {"base": (SERVER,)}


def test_a_server_that_died_after_its_start_keeps_its_failure(journal: Journal) -> None:
    journal.put_server("base", "ak", SERVER)
    journal.put_launch_failure("base", "ak", replace(DIED, stage="run"))
    run = evidence(read(journal.folder))
    assert [f.stage for f in run.failures["base"]] == ["run"]
    assert run.servers == {"base": (SERVER,)}


def test_a_run_taken_up_again_is_not_finished_until_it_says_so(journal: Journal) -> None:
    journal.finish()
    journal.begin(replace(HEADER, name="again"))
    told = read(journal.folder)
    assert (told.finished, told.header and told.header.name) == (False, "again")


def test_what_is_already_told_is_not_written_twice(journal: Journal) -> None:
    for _ in range(2):
        journal.put_samples("gsm8k", samples(3))
        journal.put_score("k", RIGHT)
        journal.put_harness(PLACE, HARNESS)
    kinds = [json.loads(line)["kind"] for line in (journal.folder / store.JOURNAL).read_text().splitlines()]
    assert kinds == ["run", "samples", "score", "harness"]


@pytest.mark.parametrize(
    ("asked", "wanted", "done"),
    [(9, 9, True), (9, 5, True), (9, 10, False), (9, None, False), (None, 9, True), (None, None, True)],
)
def test_a_stage_is_done_for_as_many_samples_as_it_asked(
    journal: Journal, asked: int | None, wanted: int | None, done: bool
) -> None:
    assert not journal.has_stage(PLACE, wanted)
    journal.stage_done(PLACE, asked)
    assert journal.has_stage(PLACE, wanted) is done
    assert not journal.has_stage(replace(PLACE, round=1), wanted)
    assert not journal.has_stage(replace(PLACE, arm_key="edited"), wanted)


def test_a_stage_with_a_failure_is_asked_again_until_the_failure_is_gone(journal: Journal) -> None:
    journal.put_answer(answer("s0", TIMEOUT))
    journal.stage_done(PLACE, 3)
    assert not journal.has_stage(PLACE, 3)
    journal.put_answer(answer("s0", response()))
    assert journal.has_stage(PLACE, 3)


def test_a_failure_elsewhere_leaves_a_stage_done(journal: Journal) -> None:
    journal.put_answer(answer("s0", TIMEOUT, replace(PLACE, arm_key="old")))
    journal.stage_done(PLACE, 3)
    assert journal.has_stage(PLACE, 3)


def test_the_runs_of_an_experiment_are_found_in_order_of_their_start(tmp_path: Path) -> None:
    for name in ("up-20260102-000000", "up-20260101-000000", "up-mtp-20260103-000000", "other-20260101-000000"):
        Journal(tmp_path / name).__exit__(None, None, None)
    (tmp_path / "up-no-journal").mkdir()
    assert [p.name for p in store.runs(tmp_path, "up")] == ["up-20260101-000000", "up-20260102-000000"]
    assert list(store.runs(tmp_path / "none", "up")) == []


def test_a_second_writer_of_one_run_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(StoreError, match=rf"is being written by process {os.getpid()}"):
        Journal(tmp_path)
    with Journal(tmp_path):
        pass  # let go of


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        Journal(tmp_path / "file" / "run")
