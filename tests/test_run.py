"""A whole run over two endpoints on the wire: going on with it, and an endpoint that was replaced meanwhile."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from stub_server import PREFLIGHT_TOKENS, Json, Reply, StubServer, chat, error

from evals import config, run, run_folder
from evals.errors import ConfigError, StoreError
from evals.experiment import Experiment
from evals.progress import Silent

N = 60


def pupil(request: Json) -> Reply:
    """Adds one, and says ready to whoever asks nothing of the kind."""
    question = str(request["messages"][-1]["content"])
    number = question.split("what is ")[1].split()[0] if "what is " in question else None
    return Reply(payload=chat(f"#### {int(number) + 1}" if number else "ready"))


def dunce(_: Json) -> Reply:
    return Reply(payload={**chat("#### 9999"), "system_fingerprint": "vllm-0.30.0-00000000"})


@pytest.fixture
def stubs() -> Iterator[tuple[StubServer, StubServer]]:
    with StubServer(pupil) as old, StubServer(pupil) as new:
        yield old, new


@pytest.fixture
def experiment(tmp_path: Path, stubs: tuple[StubServer, StubServer]) -> Experiment:
    rows = [json.dumps({"question": f"what is {i} + 1?", "answer": f"#### {i + 1}"}) + "\n" for i in range(N)]
    (tmp_path / "test.jsonl").write_text("".join(rows))
    arms = "".join(f"  {name}: {{engine: {{url: '{stub.url}'}}}}\n" for name, stub in zip(("old", "new"), stubs, strict=True))
    path = tmp_path / "x.yaml"
    path.write_text(
        f"name: x\nbaseline: old\nlaunches: 1\narms:\n{arms}"
        f"tasks: [{{task: gsm8k, n: {N}, data_dir: ., fewshot: 0}}]\ngates: [{{task: gsm8k, margin: 6}}]\n"
    )
    return config.load(path)


def test_a_run_gone_on_with_asks_nothing_twice_and_judges_alike(
    experiment: Experiment, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    first = run.run(experiment, tmp_path / "run", Silent())
    assert first.overall == "PASS"
    asked = [len(stub.requests) for stub in stubs]
    assert run.run(experiment, tmp_path / "run", Silent()) == first
    assert [len(stub.requests) - n for stub, n in zip(stubs, asked, strict=True)] == [1, 1]  # the look at who answers


def thinking(request: Json) -> Reply:
    """A thinking model with too small a max_tokens: content is null, all is in the reasoning, and it was cut."""
    if "what is " not in str(request["messages"][-1]["content"]):
        return pupil(request)
    thought = "Let me see. First I take the number, then I look at what is added, and then I come to the sum of"[:64]
    return Reply(payload=chat(None, reasoning=thought, finish_reason="length"))


def test_a_baseline_that_is_cut_in_its_thoughts_is_invalid_and_told_what_to_raise(
    experiment: Experiment, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    """lm-eval marks null content as wrong: two arms would then be equal, at 0 %."""
    stubs[0].answer = stubs[1].answer = thinking
    verdict = run.run(experiment, tmp_path / "run", Silent())
    assert verdict.overall == "INVALID"
    assert verdict.gates[0].reason == (
        f"the baseline mostly gives no answer: {N}/{N} ({N} truncated_in_thinking); "
        "raise max_tokens from 64 to 8192 or more, or lower the thinking effort"
    )


def test_a_candidate_alone_that_is_cut_in_its_thoughts_is_a_regression(
    experiment: Experiment, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    stubs[1].answer = thinking
    verdict = run.run(experiment, tmp_path / "run", Silent())
    assert verdict.overall == "REGRESSION"
    (shift,) = [f for f in verdict.findings if f.kind == "no_answer_shift"]
    assert shift.text == f"no answer in {N} of {N} ({N} truncated_in_thinking), in the baseline in 0 (none); p < 0.001"
    card = (tmp_path / "run" / "scorecard.md").read_text()
    assert f"| gsm8k | no answer: truncated in thinking | 0 | **100.0 ({N})**, p < 0.001 |" in card


def test_a_candidate_whose_content_is_empty_never_passes_by_what_it_says_elsewhere(
    experiment: Experiment, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    """A server that answers in the reasoning field: every answer there is right, and no client would see one."""

    def swallowed(request: Json) -> Reply:
        if request["max_tokens"] == PREFLIGHT_TOKENS:  # or it would not be asked at all
            return pupil(request)
        text = pupil(request).payload["choices"][0]["message"]["content"]
        return Reply(payload=chat(None, reasoning=text))

    stubs[1].answer = swallowed
    verdict = run.run(experiment, tmp_path / "run", Silent())
    assert verdict.overall == "INVALID"
    assert f"could not be measured: 0 of {N} requests ({N} answer_in_reasoning_field)" in verdict.gates[0].reason
    assert "check the arm's reasoning parser" in verdict.gates[0].reason


def test_an_endpoint_that_was_replaced_is_asked_afresh(
    experiment: Experiment, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    """Or a PASS would speak of a server that is gone."""
    assert run.run(experiment, tmp_path / "run", Silent()).overall == "PASS"
    stubs[1].answer = dunce
    assert run.run(experiment, tmp_path / "run", Silent()).overall == "REGRESSION"


@pytest.mark.usefixtures("experiment")
def test_an_arm_whose_settings_the_server_rejects_is_invalid_and_asked_nothing_more(
    stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    def strict(request: Json) -> Reply:
        return error(400, "unsupported reasoning effort") if request["temperature"] == 0.5 else pupil(request)

    stubs[1].answer = strict
    path, url = tmp_path / "x.yaml", f"url: '{stubs[1].url}'}}"
    path.write_text(path.read_text().replace(url, f"{url}, request: {{temperature: 0.5}}"))
    verdict = run.run(config.load(path), tmp_path / "run", Silent())
    assert verdict.overall == "INVALID"
    assert "unsupported reasoning effort" in verdict.gates[0].reason
    assert len(stubs[1].requests) == 2  # the canary that any server must answer, and the one with the arm's settings


@pytest.mark.parametrize("name", ["../out", "/tmp/out", ".", "..", "", "a/b", "a\nb", "ü" * 200])
def test_a_run_id_is_a_plain_name(experiment: Experiment, tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="--run-id"):
        run_folder.pick(tmp_path / "reports", experiment, name, False)


def test_a_run_of_another_experiment_is_not_gone_on_with(experiment: Experiment, tmp_path: Path) -> None:
    run.run(experiment, tmp_path / "reports" / "one", Silent())
    assert run_folder.pick(tmp_path / "reports", experiment, "one", False) == tmp_path / "reports" / "one"
    with pytest.raises(ConfigError, match="is a run of 'x', not of 'other'"):
        run_folder.pick(tmp_path / "reports", replace(experiment, name="other"), "one", False)


def test_a_run_that_could_not_measure_something_is_gone_on_with_by_the_same_command(
    experiment: Experiment, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    """A url that was down for a minute, a card that somebody held: the baseline's hours are not asked again."""
    stubs[1].close()
    folder = run_folder.pick(tmp_path / "reports", experiment, None, False)
    assert run.run(experiment, folder, Silent()).overall == "INVALID"
    assert run_folder.pick(tmp_path / "reports", experiment, None, False) == folder
    assert run_folder.pick(tmp_path / "reports", experiment, None, True) != folder
    (tmp_path / "reports" / "x-99990101-000000").mkdir()
    (tmp_path / "reports" / "x-99990101-000000" / "journal.jsonl").touch()  # begun on a full disk
    assert run_folder.pick(tmp_path / "reports", experiment, None, False) == folder


def test_what_was_decided_is_not_gone_on_with_for_an_answer_that_failed(
    experiment: Experiment, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    """The command of every night: a question that fails each time would have kept the first night's PASS for ever."""
    refused: set[str] = set()

    def picky(request: Json) -> Reply:
        text = request["messages"][-1]["content"]
        if not refused and "what is" in text:
            refused.add(text)
        return error(400, "not this one") if text in refused else pupil(request)

    stubs[1].answer = picky
    chosen = replace(experiment, gates=tuple(replace(gate, margin=40.0) for gate in experiment.gates))
    folder = run_folder.pick(tmp_path / "reports", chosen, None, False)
    verdict = run.run(chosen, folder, Silent())
    assert (verdict.overall, verdict.gates[0].delta and verdict.gates[0].delta.errors) == ("PASS", 1)
    assert run_folder.pick(tmp_path / "reports", chosen, None, False) != folder


def test_an_ended_run_over_urls_is_not_gone_on_with_the_next_night(
    experiment: Experiment, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    stubs[1].close()
    folder = run_folder.pick(tmp_path / "reports", experiment, None, False)
    assert run.run(experiment, folder, Silent()).overall == "INVALID"
    *before, last = (folder / "journal.jsonl").read_text().splitlines(keepends=True)
    ended = json.loads(last)
    assert ended["kind"] == "finished"
    hours_ago = datetime.fromisoformat(ended["at"]) - timedelta(hours=run_folder.FRESH_H + 1)
    (folder / "journal.jsonl").write_text("".join([*before, json.dumps(ended | {"at": hours_ago.isoformat()}) + "\n"]))
    assert run_folder.pick(tmp_path / "reports", experiment, None, False) != folder
    (folder / "journal.jsonl").write_text("".join(before))  # killed, and not ended
    assert run_folder.pick(tmp_path / "reports", experiment, None, False) == folder


def test_a_damaged_run_does_not_stop_a_new_one(experiment: Experiment, tmp_path: Path) -> None:
    folder = tmp_path / "reports" / "x-20260101-000000"
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_text('{"kind":\n{"kind": "finished"}\n')
    with pytest.raises(StoreError, match="begin anew with --new"):
        run_folder.pick(tmp_path / "reports", experiment, None, False)
    assert run_folder.pick(tmp_path / "reports", experiment, None, True) != folder


def test_answers_that_an_edit_makes_stale_are_told(experiment: Experiment, tmp_path: Path) -> None:
    said: list[str] = []

    class News(Silent):
        def say(self, text: str) -> None:
            said.append(text)

    run.run(experiment, tmp_path / "run", Silent())
    old, new = experiment.arms
    edited = replace(experiment, arms=(old, replace(new, request=replace(new.request, top_p=0.5))))
    run.run(edited, tmp_path / "run", News())
    assert f"new: its settings were changed since; {N} answers from before don't count" in said
