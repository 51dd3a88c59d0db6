"""Sensors in a whole run over endpoints on the wire: what is asked, what a refusal costs (nothing), and going on with it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from stub_server import PREFLIGHT_TOKENS, Json, Reply, StubServer, chat, echo, error, prompt_ids

from evals import client, config, run, sensing, store
from evals.evidence import from_contents
from evals.experiment import Experiment
from evals.judged import Evidence, Verdict
from evals.plan import FORCED
from evals.progress import Silent
from evals.sensors import readings, unmeasured
from evals.store import JOURNAL

pytestmark = pytest.mark.slow

N = 60
GREEDY = 4
Stubs = tuple[StubServer, StubServer]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT_S", 0.001)


def pupil(request: Json, wrong: Callable[[int], bool] = lambda _: False) -> Reply:
    """Adds one, and one more where it is told to be wrong; repeats what is no sum."""
    question = str(request["messages"][-1]["content"])
    if "what is " not in question:
        return echo(request)
    number = int(question.split("what is ")[1].split()[0])
    return Reply(payload=chat(f"#### {number + 1 + wrong(number)}"))


@pytest.fixture
def stubs() -> Iterator[Stubs]:
    with StubServer(pupil) as old, StubServer(pupil) as new:
        yield old, new


def experiment(folder: Path, stubs: Stubs, more: str = "sensors: true\n") -> Experiment:
    rows = [json.dumps({"question": f"what is {i} + 1?", "answer": f"#### {i + 1}"}) + "\n" for i in range(N)]
    if not (folder / "data").exists():  # what is written again would be another data set
        (folder / "data").mkdir()
        (folder / "data" / "test.jsonl").write_text("".join(rows))
    arms = "".join(f"  {name}: {{engine: {{url: '{stub.url}'}}}}\n" for name, stub in zip(("old", "new"), stubs, strict=True))
    (folder / "x.yaml").write_text(
        f"name: x\nbaseline: old\nlaunches: 2\n{more}arms:\n{arms}"
        f"tasks: [{{task: gsm8k, n: {N}, data_dir: data, fewshot: 0}}, {{task: greedy, n: {GREEDY}}}]\n"
        "gates: [{task: gsm8k, margin: 6}]\n"
    )
    return config.load(folder / "x.yaml")


def judged(folder: Path, stubs: Stubs, more: str = "sensors: true\n") -> tuple[Verdict, Evidence]:
    verdict = run.run(experiment(folder, stubs, more), folder / "run", Silent())
    return verdict, from_contents(store.read(folder / "run"))


def test_every_server_reads_the_baselines_answers_as_it_was_asked_and_as_it_gave_them(tmp_path: Path, stubs: Stubs) -> None:
    verdict, evidence = judged(tmp_path, stubs)
    old, new = stubs
    assert verdict.overall == "PASS"
    assert len(new.forced) == FORCED + GREEDY
    assert len(old.forced) == 2 * (FORCED + GREEDY)
    said = {s.id: s.messages[-1].content for s in evidence.samples["gsm8k"]}
    number = int(next(iter(said.values())).split("what is ")[1].split()[0])
    asked = next(body for body in old.requests if f"what is {number} " in str(body["messages"]))
    assert [*prompt_ids(asked), *map(ord, f"#### {number + 1}")] in [body["prompt"] for body in new.forced]
    found = {r.task: r for r in readings(evidence)}
    assert {task: r.figures.size.n for task, r in found.items()} == {"gsm8k": FORCED, "greedy": GREEDY}
    assert all(r.figures.size.mean == 0.0 and r.figures.agreement.mean == 1.0 and not r.is_beyond for r in found.values())


def test_a_server_that_finds_them_less_likely_is_seen_and_passes_all_the_same(tmp_path: Path, stubs: Stubs) -> None:
    stubs[1].forces = lambda before, token: -1.6 if len(before) % 3 == 0 else -0.2 - (7 * len(before) + token) % 89 / 1000
    verdict, evidence = judged(tmp_path, stubs)
    assert verdict.overall == "PASS"
    found = next(r for r in readings(evidence) if r.task == "greedy")
    assert found.is_beyond
    assert found.figures.agreement.mean == pytest.approx(2 / 3, abs=0.05)
    assert f"| new | greedy | {GREEDY} (" in (tmp_path / "run" / "scorecard.md").read_text()


def test_a_further_look_asks_about_the_answers_that_it_adds_and_about_none_again(tmp_path: Path, stubs: Stubs) -> None:
    experiment(tmp_path, stubs)
    path = tmp_path / "x.yaml"
    path.write_text(path.read_text().replace(f"n: {N}, ", "").replace("margin: 6", "margin: 10, looks: [20, 40, 60]"))
    verdict = run.run(config.load(path), tmp_path / "run", Silent())
    assert verdict.overall == "PASS"
    evidence = from_contents(store.read(tmp_path / "run"))
    assert [look.n for look in evidence.looks] == [20, 40]
    asked = [tuple(body["prompt"]) for body in stubs[1].forced]
    assert 20 < FORCED < 40
    assert len(asked) == len(set(asked)) == FORCED + GREEDY
    assert {r.task: r.figures.size.n for r in readings(evidence)} == {"gsm8k": FORCED, "greedy": GREEDY}


def test_what_changed_sides_is_asked_about_on_the_candidate_and_on_the_baselines_next_launch(
    tmp_path: Path, stubs: Stubs
) -> None:
    evidence = judged(tmp_path, stubs)[1]
    late = {int(s.messages[-1].content.split("what is ")[1].split()[0]) for s in evidence.samples["gsm8k"][FORCED:]}
    (tmp_path / "other").mkdir()
    with StubServer(lambda request: pupil(request, lambda number: number in late)) as other:
        evidence = judged(tmp_path / "other", (stubs[0], other))[1]
    wanted = min(len(late), 16)
    extra = [f for f in evidence.forced if f.sample_id in {s.id for s in evidence.samples["gsm8k"][FORCED:]}]
    assert [(f.arm, f.launch) for f in extra] == [("new", 0)] * wanted + [("old", 1)] * wanted
    card = (tmp_path / "other" / "run" / "scorecard.md").read_text()
    assert f"they part {wanted} at a changed opinion" in card
    assert "| token " in card


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (error(400, "prompt_logprobs is off here"), "HTTP 400: prompt_logprobs is off here"),
        (error(404, "Not Found"), "HTTP 404: Not Found"),
        (Reply(payload={"choices": [{"text": " and"}]}), "no completion: {"),
        (Reply(payload={"choices": [{"prompt_logprobs": None}]}), "no_logprobs: the server answered without the prompt's"),
        (Reply(text="<html>"), "no completion: null"),
        (Reply(fault="reset"), "Server disconnected"),
    ],
)  # fmt: skip
def test_a_server_that_tells_nothing_is_not_measured_and_judged_as_without_sensors(
    reply: Reply, why: str, tmp_path: Path, stubs: Stubs
) -> None:
    (tmp_path / "off").mkdir()
    without = judged(tmp_path / "off", stubs, "sensors: false\n")[0]
    stubs[1].pages["/v1/completions"] = reply
    verdict, evidence = judged(tmp_path, stubs)
    assert (verdict.overall, verdict.by_arm, verdict.gates) == (without.overall, without.by_arm, without.gates)
    assert readings(evidence) == ()
    assert why in unmeasured(evidence)["new"]
    assert len([p for p in stubs[1].posts if p == "/v1/completions"]) == sensing.FAILURES * (
        client.ATTEMPTS if reply.fault else 1
    )
    assert {f.severity for f in verdict.findings if f.kind == "sensor_unmeasured"} == {"note"}
    assert "arm_failed" not in {f.kind for f in verdict.findings}
    before = len(stubs[1].posts)
    assert run.run(experiment(tmp_path, stubs), tmp_path / "run", Silent()) == verdict
    assert len(stubs[1].posts) == before  # it was told once, and is not asked for ever


def test_an_answer_that_one_server_has_no_room_for_costs_that_one_alone(tmp_path: Path, stubs: Stubs) -> None:
    told = stubs[1].force
    longest = 80
    stubs[1].force = lambda body: error(400, "too long") if len(body["prompt"]) > longest else told(body)  # type: ignore[method-assign]
    evidence = judged(tmp_path, stubs)[1]
    lost = [f for f in evidence.forced if f.arm == "new" and f.failure]
    assert 0 < len(lost) < FORCED
    assert {r.task for r in readings(evidence)} == {"gsm8k", "greedy"} or len(lost) == GREEDY


def test_sensors_that_are_off_ask_nothing_and_keep_no_prompts(tmp_path: Path, stubs: Stubs) -> None:
    evidence = judged(tmp_path, stubs, "sensors: false\n")[1]
    assert [stub.forced for stub in stubs] == [[], []]
    assert all(r.response and r.response.prompt_ids is None for r in evidence.records)
    assert unmeasured(evidence) == {}


def test_only_the_baselines_first_answers_keep_their_prompts(tmp_path: Path, stubs: Stubs) -> None:
    records = judged(tmp_path, stubs)[1].records
    kept = {(r.arm, r.task, r.round) for r in records if r.response and r.response.prompt_ids}
    assert kept == {("old", "gsm8k", 0), ("old", "greedy", 0)}


def test_another_tokenizers_server_is_not_asked_for_its_ids_mean_something_else(tmp_path: Path, stubs: Stubs) -> None:
    def other(request: Json) -> Reply:
        return Reply(payload=pupil(request).payload | {"prompt_token_ids": [7, *prompt_ids(request)]})

    url = f"url: '{stubs[1].url}'}}"
    text = experiment(tmp_path, stubs).source.replace(url, f"{url}, request: {{chat_template_kwargs: {{brief: true}}}}")
    (tmp_path / "x.yaml").write_text(text)  # a setting that may change prompts, so that other ones are no fault
    stubs[1].answer = other
    run.run(config.load(tmp_path / "x.yaml"), tmp_path / "run", Silent())
    evidence = from_contents(store.read(tmp_path / "run"))
    assert stubs[1].forced == []
    assert unmeasured(evidence) == {
        "new": "its prompts have other token ids, and nothing shows that its tokenizer is the baseline's"
    }


def forced(stubs: Stubs) -> list[Json]:
    return [body for stub in stubs for body in stub.forced]


def sums(stubs: Stubs) -> list[Json]:
    """What was asked of the task, and not to look at an arm."""
    asked = (body for stub in stubs for body in stub.requests if body["max_tokens"] != PREFLIGHT_TOKENS)
    return [body for body in asked if "what is " in str(body["messages"])]


def cut(folder: Path, keep: int) -> int:
    """As a kill leaves it: the journal up to the `keep`th line on log-probabilities; how many of these there were."""
    lines = (folder / JOURNAL).read_text().splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if json.loads(line)["kind"] == "forced"]
    (folder / JOURNAL).write_text("".join(lines[: at[keep]]))
    return len(at)


@pytest.mark.parametrize("keep", [5, FORCED + GREEDY + 3, 2 * (FORCED + GREEDY) + 7])
def test_a_run_killed_in_a_sensor_goes_on_where_it_was(keep: int, tmp_path: Path, stubs: Stubs) -> None:
    """In that of the baseline, of the candidate, and of the baseline's second launch."""
    verdict, evidence = judged(tmp_path, stubs)
    whole = cut(tmp_path / "run", keep)
    before = [len(forced(stubs)), len(sums(stubs))]
    again = judged(tmp_path, stubs)
    assert again[0] == verdict
    assert len(forced(stubs)) - before[0] == whole - keep
    assert len(sums(stubs)) - before[1] == (N if keep < FORCED + GREEDY else 0)  # the candidate had been asked nothing yet
    assert sorted(again[1].forced, key=repr) == sorted(evidence.forced, key=repr)


def test_a_server_that_is_gone_when_only_sensors_are_left_is_no_failed_arm(tmp_path: Path, stubs: Stubs) -> None:
    verdict = judged(tmp_path, stubs)[0]
    cut(tmp_path / "run", FORCED + GREEDY)
    stubs[1].close()
    again, evidence = judged(tmp_path, stubs)
    assert (again.overall, again.gates) == (verdict.overall, verdict.gates)
    assert "arm_failed" not in {f.kind for f in again.findings}
    assert list(unmeasured(evidence)) == ["new"]
    assert store.read(tmp_path / "run").complete()


def test_what_was_asked_about_another_answer_does_not_count(tmp_path: Path, stubs: Stubs) -> None:
    judged(tmp_path, stubs)
    contents = store.read(tmp_path / "run")
    contents.forced = {
        k: (key, replace(told, answer_sha="another") if told.task == "greedy" else told)
        for k, (key, told) in contents.forced.items()
    }
    assert {r.task for r in readings(from_contents(contents))} == {"gsm8k"}
    assert {t.task for t in sensing.targets(contents, "new", 0)} == {"greedy"}


def test_a_server_that_was_attached_to_is_asked_about_short_answers_only(tmp_path: Path, stubs: Stubs) -> None:
    long = "a " * 300  # a token a character
    stubs[0].answer = lambda request: (
        Reply(payload=chat(long)) if "what is " not in str(request["messages"]) else pupil(request)
    )
    evidence = judged(tmp_path, stubs)[1]
    assert {f.task for f in evidence.forced} == {"gsm8k"}
    assert max(len(body["prompt"]) for stub in stubs for body in stub.forced) <= sensing.ATTACHED_TOKENS


def test_figures_of_a_run_whose_sensors_were_switched_off_since_are_shown_no_more(tmp_path: Path, stubs: Stubs) -> None:
    assert readings(judged(tmp_path, stubs)[1])
    assert "## Sensors" in (tmp_path / "run" / "scorecard.md").read_text()
    assert not readings(judged(tmp_path, stubs, "sensors: false\n")[1])
    assert "## Sensors" not in (tmp_path / "run" / "scorecard.md").read_text()


def test_endpoints_are_asked_only_where_the_experiment_says_so(tmp_path: Path, stubs: Stubs) -> None:
    """A server that somebody uses may have no memory to spare for it."""
    evidence = judged(tmp_path, stubs, "")[1]
    assert not any(stub.forced for stub in stubs)
    assert not readings(evidence)
    assert not unmeasured(evidence)
