import io
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from stub_server import FINGERPRINT, Json, Reply, StubServer, chat, echo, error
from stub_uv import stand_in

from evals import client
from evals.asker import Asker, place
from evals.client import Endpoint
from evals.engine import Server, process, serve
from evals.errors import ServerDied
from evals.experiment import Arm, RequestSettings, TaskConfig, UrlEngine, VenvEngine
from evals.lmeval import HarnessTask
from evals.plan import Stage
from evals.progress import Display, Silent
from evals.records import Failure, Message, Response, Sample, Score, ServerInfo
from evals.run import heed_signals
from evals.store import Answer, Journal, read
from evals.suite import Data, run_stage
from tasks import greedy

N = 6
NO_DATA = Data()
PROMPTS = [s.messages[0].content for s in greedy.prompts()[:N]]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(process, "STOP_GRACE_S", 2.0)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "run") as opened:
        yield opened


def stage(
    *,
    n: int | None = N,
    concurrency: int = 2,
    round: int = 0,
    task: str = "greedy",
    data_dir: str | None = None,
    fewshot: int | None = None,
    **over: Any,
) -> Stage:
    told: dict[str, Any] = {
        "name": "base", "engine": UrlEngine(url="http://127.0.0.1:1", api_key_env=None), "model": None, "model_files": "",
        "args": {}, "env": {}, "devices": (), "request": RequestSettings(timeout_s=10.0), "sampling": "greedy",
        "repeat_of": None, "start_timeout_s": 20.0,
    }  # fmt: skip
    config = TaskConfig(
        name=task, n=n, rounds=1, concurrency=concurrency, data_dir=data_dir, fewshot=fewshot, max_tokens=32, seed=0
    )
    return Stage(arm=Arm(**(told | over)), task=config, round=round)


def attached(stub: StubServer) -> Server:
    info = ServerInfo(launch=0, engine="url", version=None, fingerprint=None, model="stub", argv=(), env={}, ready_s=0.0)
    return Server(endpoint=Endpoint(url=stub.url, model="stub", api_key="none"), info=info, running=None)


def run(what: Stage, stub: StubServer, journal: Journal) -> None:
    run_stage(what, attached(stub), NO_DATA, journal, Silent())


def asked(stub: StubServer) -> list[str]:
    return [r["messages"][0]["content"] for r in stub.requests]


def answers(journal: Journal, what: Stage) -> dict[str, Answer]:
    """As the journal on disk tells them."""
    return {sample_id: a for (where, sample_id), a in read(journal.folder).answers.items() if where == place(what)}


class Nth:
    """Echoes, but for the requests whose number is given: these get `reply`, or `act` is called first."""

    def __init__(self, *numbers: int, reply: Reply | None = None, act: Any = None) -> None:
        self.numbers, self.reply, self.act, self.count, self.lock = numbers, reply, act, 0, threading.Lock()

    def __call__(self, request: Json) -> Reply:
        with self.lock:
            self.count += 1
            hit = self.count in self.numbers
        if hit and self.act:
            self.act()
        return self.reply if hit and self.reply else echo(request)


def script_then(rest: Any, first: Reply) -> Any:
    nth = Nth(1, reply=first)
    return lambda request: first if nth(request) is first else rest(request)


def judged(what: Stage, stub: StubServer, journal: Journal, folder: Path) -> list[Score | Failure]:
    """Marks of a stage of gsm8k, in the order of its questions."""
    rows = [json.dumps({"question": f"q{i}", "answer": f"#### {i}"}) + "\n" for i in range(3)]
    (folder / "test.jsonl").write_text("".join(rows))
    data = Data(harness={"gsm8k": HarnessTask(what.task)})
    run_stage(what, attached(stub), data, journal, Silent())
    by_id = {sample_id: journal.contents.scores[a.key] for sample_id, a in answers(journal, what).items()}
    return [by_id[f"test-{i}"] for i in range(3)]


def thinker(request: Json) -> Reply:
    """Answers as a thinking model does, but for the last question, after which it thinks and says no more."""
    question = request["messages"][-1]["content"]
    number = int(question.partition("q")[2].split()[0])
    return Reply(payload=chat(None if number == 2 else f"#### {number}", reasoning="let me see"))


def swallowed(request: Json) -> Reply:
    return Reply(payload=chat(None, reasoning="#### " + request["messages"][-1]["content"].partition("q")[2].split()[0]))


def test_a_model_that_is_seen_to_think_and_says_nothing_gave_no_answer(journal: Journal, tmp_path: Path) -> None:
    what = stage(task="gsm8k", n=None, data_dir=str(tmp_path), fewshot=0)
    with StubServer(thinker) as stub:
        one, two, none = judged(what, stub, journal, tmp_path)
    assert isinstance(one, Score)
    assert isinstance(two, Score)
    assert (one.outcome, two.outcome) == ("correct", "correct")
    assert isinstance(none, Score)
    assert (none.outcome, none.reason) == ("no_answer", "empty_after_thinking")


@pytest.mark.parametrize(("thinks", "kind"), [(None, "error"), (False, "error"), (True, "no_answer")])
def test_an_answer_in_the_reasoning_field_is_never_wrong_and_never_right(
    journal: Journal, tmp_path: Path, thinks: bool | None, kind: str
) -> None:
    """Right it would be in the field that no client reads."""
    kwargs = {} if thinks is None else {"enable_thinking": thinks}
    request = RequestSettings(timeout_s=10.0, chat_template_kwargs=kwargs)
    what = stage(task="gsm8k", n=None, data_dir=str(tmp_path), fewshot=0, request=request)
    with StubServer(swallowed) as stub:
        found = judged(what, stub, journal, tmp_path)
    for said in found:
        if kind == "error":
            assert isinstance(said, Failure)
            assert said.kind == "answer_in_reasoning_field"
        else:
            assert isinstance(said, Score)
            assert (said.outcome, said.reason) == ("no_answer", "empty_after_thinking")


# --- a stage --------------------------------------------------------------------------------------------------------------


def test_a_stage_asks_every_sample_once_and_tells_what_came_back(journal: Journal) -> None:
    with StubServer() as stub:
        run(stage(), stub, journal)
        assert sorted(asked(stub)) == sorted(PROMPTS)
        assert stub.most_in_flight <= 2
    found = answers(journal, stage())
    assert len(found) == N
    assert all(a.failure is None for a in found.values())
    first = found[greedy.prompts()[0].id].response
    assert first is not None
    assert (first.text, first.fingerprint) == (PROMPTS[0], FINGERPRINT)
    assert first.top_two is not None
    assert first.token_ids is not None
    assert len(first.top_two) == len(first.token_ids)
    assert journal.has_stage(place(stage()), N)


def test_greedy_asks_for_log_probabilities_at_temperature_zero_whatever_the_arm_samples_with(journal: Journal) -> None:
    with StubServer() as stub:
        run(stage(n=1, request=RequestSettings(temperature=0.7, max_tokens=9)), stub, journal)
    (sent,) = stub.requests
    assert (sent["temperature"], sent["logprobs"], sent["top_logprobs"], sent["max_tokens"]) == (0.0, True, 2, 9)
    assert "seed" not in sent


def test_a_window_tells_what_the_engine_counted_meanwhile(journal: Journal) -> None:
    with StubServer() as stub:
        run(stage(), stub, journal)
    ((where, window),) = read(journal.folder).windows
    assert where == place(stage())
    assert (window.samples, window.prompt_tokens, window.generation_tokens) == (N, 3 * N, 5 * N)
    assert (window.drafts, window.accepted_tokens, window.accepted_per_position) == (N, N, (N,))
    assert window.cold is None
    assert window.wall_s > 0


def test_an_engine_that_counts_nothing_leaves_the_window_empty_rather_than_zero(journal: Journal) -> None:
    with StubServer() as stub:
        stub.pages["/metrics"] = Reply(status=404, payload={})
        run(stage(), stub, journal)
    ((_, window),) = read(journal.folder).windows
    assert (window.samples, window.generation_tokens, window.drafts, window.accepted_per_position) == (N, None, None, ())


def test_gsm8k_is_asked_through_lm_eval_marked_and_taken_up_again(journal: Journal, tmp_path: Path) -> None:
    rows = [{"question": f"what is {i} + 1?", "answer": f"{i} + 1\n#### {i + 1}"} for i in range(4)]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    what = stage(task="gsm8k", n=4, concurrency=1, data_dir=str(tmp_path), fewshot=0, sampling="model",
                 request=RequestSettings(timeout_s=10.0, temperature=0.6))  # fmt: skip
    data = Data(harness={"gsm8k": HarnessTask(what.task)})

    def pupil(request: Json) -> Reply:
        """Adds well, but for 0 + 1."""
        number = int(str(request["messages"][0]["content"]).split("what is ")[1].split()[0])
        return Reply(payload=chat(f"#### {number + 1 if number else 7}"))

    news = io.StringIO()
    with StubServer(pupil) as stub, Display(Console(file=news), None) as display:
        stub.answer = script_then(pupil, error(400, "too long"))
        run_stage(what, attached(stub), data, journal, display)
        assert not journal.has_stage(place(what), 4)
        run_stage(what, attached(stub), data, journal, display)
        assert len(stub.requests) == 5
    assert {r["temperature"] for r in stub.requests} == {0.6}
    assert len({r["seed"] for r in stub.requests}) == 4
    told = read(journal.folder)
    scores = {i: told.scores[a.key] for i, a in answers(journal, what).items()}
    assert {i: s.outcome for i, s in scores.items() if isinstance(s, Score)} == {
        "test-0": "wrong", "test-1": "correct", "test-2": "correct", "test-3": "correct",
    }  # fmt: skip
    assert {h.filter: (h.value, h.n) for h in told.harness.values()} == {
        "strict-match": (0.75, 4),
        "flexible-extract": (0.75, 4),
    }
    # lm-eval's own output is thrown away; ours is not, although it is written meanwhile
    assert news.getvalue().splitlines()[0].startswith("  base · gsm8k · round 1: 4 asked")


def test_mmlu_is_asked_in_its_own_order_and_each_answer_marked_by_its_options(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    for subject, count in (("anatomy", 3), ("virology", 2)):
        rows = "".join(f"{subject} {i}?,one,two,three,four,{i}\n" for i in range(count))
        (tmp_path / "test" / f"{subject}_test.csv").write_text(rows)
    what = stage(task="mmlu", n=4, concurrency=1, data_dir=str(tmp_path), fewshot=0)
    task = HarnessTask(what.task)

    def pupil(request: Json) -> Reply:
        """Always right on anatomy, and by an option's text; on virology always A."""
        about, number = str(request["messages"][-1]["content"]).split("?")[0].split()
        return Reply(payload=chat(("one", "two", "three")[int(number)].title() + "." if about == "anatomy" else "**A**"))

    with StubServer(pupil) as stub:
        run_stage(what, attached(stub), Data(harness={"mmlu": task}), journal, Silent())
        assert [r["messages"][-1]["content"] for r in stub.requests] == [s.messages[-1].content for s in task.samples()]
    told = read(journal.folder)
    scores = {i: told.scores[a.key] for i, a in answers(journal, what).items()}
    right = {i for i, s in scores.items() if isinstance(s, Score) and s.outcome == "correct"}
    assert right == {i for i in scores if i.startswith("anatomy") or i == "virology-0"}
    (harness,) = told.harness.values()
    assert (harness.filter, harness.n) == ("get_response", 4)
    assert harness.value < len(right) / 4  # lm-eval takes no option's text


# --- going on with a run --------------------------------------------------------------------------------------------------


def test_a_stage_taken_up_again_asks_nothing_twice(journal: Journal) -> None:
    with StubServer() as stub:
        run(stage(n=4), stub, journal)
        run(stage(n=6), stub, journal)
        run(stage(n=6), stub, journal)
        assert sorted(asked(stub)) == sorted(PROMPTS)
    assert len(answers(journal, stage())) == N
    assert [w.samples for _, w in read(journal.folder).windows] == [4, 2]


def test_a_journal_opened_again_is_gone_on_with(tmp_path: Path) -> None:
    with StubServer() as stub:
        for n in (4, 6):
            with Journal(tmp_path) as journal:
                run(stage(n=n), stub, journal)
        assert len(stub.requests) == N


@pytest.mark.parametrize(
    "edited",
    [
        {"request": RequestSettings(timeout_s=10.0, max_tokens=9)}, {"model_files": "new weights"},
        {"args": {"dtype": "float16"}}, {"name": "other"}, {"round": 1}, {"concurrency": 3},
    ],
)  # fmt: skip
def test_an_edited_configuration_is_asked_again(journal: Journal, edited: dict[str, Any]) -> None:
    with StubServer() as stub:
        run(stage(n=2), stub, journal)
        run(stage(n=2, **edited), stub, journal)
        assert len(stub.requests) == 4


def test_a_question_that_was_reworded_in_the_data_is_asked_again(journal: Journal) -> None:
    with StubServer() as stub:
        for text in ("what is 1 + 1?", "what is 1 + 1?", "what is 2 + 1?"):
            sample = Sample(id="test-0", messages=(Message(role="user", content=text),), target="2")
            (answer,) = Asker(stage(), attached(stub), journal, Silent()).ask((sample,)).values()
            assert isinstance(answer, Response)
            assert answer.text == text
        assert len(stub.requests) == 2


def test_a_failure_is_told_and_asked_again_when_the_run_goes_on(journal: Journal) -> None:
    with StubServer(Nth(2, reply=error(400, "too long"))) as stub:
        run(stage(), stub, journal)
        failures = [a.failure for a in answers(journal, stage()).values() if a.failure]
        assert [f.message for f in failures] == ["HTTP 400: too long"]
        assert not journal.has_stage(place(stage()), N)
        run(stage(), stub, journal)
        assert len(stub.requests) == N + 1
    assert all(a.failure is None for a in answers(journal, stage()).values())
    assert journal.has_stage(place(stage()), N)


# --- a server that ends ---------------------------------------------------------------------------------------------------


def test_a_server_that_dies_ends_the_stage_and_keeps_what_was_answered(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch)
    what = stage(
        concurrency=1,
        engine=VenvEngine(package="vllm", version="0.29.0"),
        model="/models/stub",
        env={"STUB_FAULT": "mid-run:4"},
    )  # one for the canary, three of the stage
    with pytest.raises(ServerDied) as died, serve(what.arm, 0, tmp_path / "log", lambda _: None) as server:
        run_stage(what, server, NO_DATA, journal, Silent())
    assert died.value.reason == "the server ended while it was asked: RuntimeError: could not create a primitive for float32"
    assert died.value.stage == "run"
    assert any("EngineDeadError" in line for line in died.value.log_tail)
    kept = answers(journal, what)
    assert list(kept) == [s.id for s in greedy.prompts()[:3]]
    assert all(a.failure is None for a in kept.values())
    assert not journal.has_stage(place(what), N)
    ((_, window),) = read(journal.folder).windows
    assert (window.samples, window.drafts, window.accepted_per_position) == (3, None, ())
    with StubServer() as stub:
        run_stage(what, attached(stub), NO_DATA, journal, Silent())
        assert asked(stub) == PROMPTS[3:]


def test_what_was_answered_before_a_server_died_is_scored(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch)
    (tmp_path / "test.jsonl").write_text("".join(json.dumps({"question": "q", "answer": f"#### {i}"}) + "\n" for i in range(6)))
    what = stage(
        task="gsm8k", n=6, concurrency=1, data_dir=str(tmp_path), fewshot=0, model="/models/stub",
        engine=VenvEngine(package="vllm", version="0.29.0"), env={"STUB_FAULT": "mid-run:4"},
    )  # fmt: skip
    with pytest.raises(ServerDied), serve(what.arm, 0, tmp_path / "log", lambda _: None) as server:
        run_stage(what, server, Data(harness={"gsm8k": HarnessTask(what.task)}), journal, Silent())
    told = read(journal.folder)
    assert [a.key in told.scores for a in answers(journal, what).values()] == [True] * 3


def test_many_failures_at_the_moment_of_death_are_one_error(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch)
    what = stage(
        concurrency=6,
        engine=VenvEngine(package="vllm", version="0.29.0"),
        model="/models/stub",
        env={"STUB_FAULT": "mid-run:1"},
    )
    with pytest.raises(ServerDied, match="primitive"), serve(what.arm, 0, tmp_path / "log", lambda _: None) as server:
        run_stage(what, server, NO_DATA, journal, Silent())


def test_many_refused_connections_in_a_row_end_the_stage(journal: Journal) -> None:
    with (
        StubServer(Nth(3, act=lambda: stub.close())) as stub,
        pytest.raises(ServerDied, match=r"^no answer 2 times in a row: .+"),
    ):
        run(stage(concurrency=1), stub, journal)
    kept = answers(journal, stage(concurrency=1))
    assert ["ok" if a.response else "lost" for a in kept.values()] == ["ok", "ok", "lost"]


def test_a_lost_connection_now_and_then_does_not_end_the_stage(journal: Journal) -> None:
    lost = Nth(*range(1, 5), *range(6, 10), *range(11, 15), reply=Reply(fault="reset"))  # four attempts each
    with StubServer(lost) as stub:
        run(stage(concurrency=1), stub, journal)
    found = answers(journal, stage(concurrency=1))
    assert [a.failure.kind if a.failure else "ok" for a in found.values()] == ["connection", "ok"] * 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_stage_and_keeps_what_was_answered(journal: Journal, number: signal.Signals) -> None:
    """Also where SIGINT was ignored when we came, as it is in a script's background job."""
    before = {s: signal.signal(s, signal.SIG_IGN) for s in (signal.SIGINT, signal.SIGTERM)}
    heed_signals()
    try:
        with StubServer(Nth(4, act=lambda: os.kill(os.getpid(), number), reply=Reply(fault="hang"))) as stub:
            with pytest.raises(KeyboardInterrupt):
                run(stage(concurrency=1), stub, journal)
            stub.answer = echo
            stub.requests.clear()
            run(stage(concurrency=1), stub, journal)
            assert asked(stub) == PROMPTS[3:]
    finally:
        for s, handler in before.items():
            signal.signal(s, handler)
    assert len(answers(journal, stage(concurrency=1))) == N


def test_a_journal_that_cannot_be_written_is_told_as_itself(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Answer) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal, "put_answer", full)
    with StubServer() as stub, pytest.raises(OSError, match="No space left"):
        run(stage(), stub, journal)
