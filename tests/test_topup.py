"""Planned looks over the wire: who is asked further, what is written of each look, and what a run made longer may say."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from stub_server import Json, Reply, StubServer, chat

from evals import config, plan, report, run, run_folder, store
from evals.errors import ConfigError
from evals.experiment import Experiment
from evals.judged import Look, Verdict
from evals.progress import Silent

pytestmark = pytest.mark.slow
LOOKS = (40, 80, 160)
"""With no flip at all a drop of 6 points is first excluded at the second look."""


def number(request: Json) -> int | None:
    question = str(request["messages"][-1]["content"])
    return int(question.split("what is ")[1].split()[0]) if "what is " in question else None


def pupil(*, wrong: Callable[[int], bool] = lambda _: False) -> Callable[[Json], Reply]:
    def answer(request: Json) -> Reply:
        i = number(request)
        return Reply(payload=chat("ready" if i is None else "#### 9999" if wrong(i) else f"#### {i + 1}"))

    return answer


@pytest.fixture
def stubs() -> Iterator[dict[str, StubServer]]:
    with StubServer(pupil()) as old, StubServer(pupil()) as new, StubServer(pupil()) as other:
        yield {"old": old, "new": new, "other": other}


@pytest.fixture
def write(tmp_path: Path, stubs: dict[str, StubServer]) -> Callable[..., Experiment]:
    rows = [json.dumps({"question": f"what is {i} + 1?", "answer": f"#### {i + 1}"}) + "\n" for i in range(LOOKS[-1])]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "test.jsonl").write_text("".join(rows))

    def experiment(gate: str = f"looks: {list(LOOKS)}", task: str = "", arms: tuple[str, ...] = ("old", "new")) -> Experiment:
        urls = "".join(f"  {name}: {{engine: {{url: '{stubs[name].url}'}}}}\n" for name in arms)
        (tmp_path / "x.yaml").write_text(
            f"name: x\nbaseline: old\nlaunches: 1\narms:\n{urls}"
            f"tasks: [{{task: gsm8k, data_dir: data, fewshot: 0{task}}}]\n"
            f"gates: [{{task: gsm8k, margin: 6{', ' if gate else ''}{gate}}}]\n"
        )
        return config.load(tmp_path / "x.yaml")

    return experiment


def questions(stub: StubServer) -> list[int]:
    """That a stub was asked as a task has them; how an arm is looked at first is another max_tokens."""
    return [i for request in stub.requests if request["max_tokens"] > 64 and (i := number(request)) is not None]


def looks(folder: Path) -> tuple[Look, ...]:
    return store.read(folder).looks_now()


def test_a_gate_is_asked_further_until_it_is_decided_and_no_question_twice(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path
) -> None:
    verdict = run.run(write(), tmp_path / "run", Silent())
    assert verdict.overall == "PASS"
    assert [(look.n, look.verdict) for look in looks(tmp_path / "run")] == [(40, "INCONCLUSIVE"), (80, "PASS")]
    assert {look.sizes for look in looks(tmp_path / "run")} == {LOOKS}
    for name in ("old", "new"):
        assert len(questions(stubs[name])) == len(set(questions(stubs[name]))) == 80
    assert verdict.gates[0].delta is not None
    assert verdict.gates[0].delta.n == 80


def test_a_look_is_at_the_level_that_was_planned_for_it(write: Callable[..., Experiment], tmp_path: Path) -> None:
    run.run(write(), tmp_path / "run", Silent())
    first, second = looks(tmp_path / "run")
    assert first.passing < second.passing < 0.05
    assert first.regression < second.regression < 0.05
    card = (tmp_path / "run" / "scorecard.md").read_text()
    assert f"| new | gsm8k | 2 of 3 | 80 | {100 * second.passing:.2f} % |" in card
    told = json.loads((tmp_path / "run" / "verdict.json").read_text())
    assert [look["n"] for look in told["looks"]] == [40, 80]


def test_a_regression_stops_at_the_look_that_finds_it(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path
) -> None:
    stubs["new"].answer = pupil(wrong=lambda i: i % 2 == 0)
    assert run.run(write(), tmp_path / "run", Silent()).overall == "REGRESSION"
    assert [look.n for look in looks(tmp_path / "run")] == [40]
    assert len(questions(stubs["new"])) == 40


def test_an_arm_that_is_decided_is_not_served_again_and_the_other_goes_on(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path
) -> None:
    stubs["new"].answer = pupil(wrong=lambda i: i % 2 == 0)
    verdict = run.run(write(arms=("old", "new", "other")), tmp_path / "run", Silent())
    assert verdict.by_arm == {"new": "REGRESSION", "other": "PASS"}
    assert [len(questions(stubs[name])) for name in ("old", "new", "other")] == [80, 40, 80]
    assert [g.delta.n for g in verdict.gates if g.delta] == [40, 80]
    assert not [f for f in verdict.findings if f.kind == "errors"]


def test_a_gate_that_names_its_arms_leaves_the_others_at_the_first_look_and_unjudged(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path
) -> None:
    stubs["other"].answer = pupil(wrong=lambda i: i % 2 == 0)
    chosen = write(gate=f"looks: {list(LOOKS)}, arms: [new]", arms=("old", "new", "other"))
    verdict = run.run(chosen, tmp_path / "run", Silent())
    assert (verdict.overall, verdict.by_arm) == ("PASS", {"new": "PASS"})
    assert len(questions(stubs["other"])) == 40
    assert [f.text for f in verdict.findings if f.kind == "not_judged"] == [
        "no gate judges it: its figures are there to be read"
    ]


def test_the_same_command_asks_nothing_more_and_the_report_is_made_again_byte_for_byte(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path
) -> None:
    first = run.run(write(), tmp_path / "run", Silent())
    asked = [len(questions(stub)) for stub in stubs.values()]
    files = {name: (tmp_path / "run" / name).read_bytes() for name in ("scorecard.md", "verdict.json")}
    assert report.write(tmp_path / "run") == first
    assert {name: (tmp_path / "run" / name).read_bytes() for name in files} == files
    assert run.run(write(), tmp_path / "run", Silent()) == first
    assert [len(questions(stub)) for stub in stubs.values()] == asked
    assert len(looks(tmp_path / "run")) == 2


def test_looks_go_on_where_a_run_was_stopped(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path
) -> None:
    """Stopped between two looks, as a kill does it: without `finished`, and with the first look written."""

    class Stopped(Exception):
        pass

    class Stopper(Silent):
        def say(self, text: str) -> None:
            if text.startswith("look 1 of 3"):
                raise Stopped

    with pytest.raises(Stopped):
        run.run(write(), tmp_path / "run", Stopper())
    assert [look.n for look in looks(tmp_path / "run")] == [40]
    assert report.write(tmp_path / "run").overall == "INCONCLUSIVE"
    assert run.run(write(), tmp_path / "run", Silent()).overall == "PASS"
    assert [look.n for look in looks(tmp_path / "run")] == [40, 80]
    assert sorted(questions(stubs["new"])) == sorted(set(questions(stubs["new"])))


def longer(write: Callable[..., Experiment], folder: Path, first: str = "n: 40", then: str = "n: 160") -> Verdict:
    """A run that ended, and was then given more questions."""
    assert run.run(write(gate="", task=f", {first}"), folder, Silent()).overall != "PASS"
    return run.run(write(gate="", task=f", {then}"), folder, Silent())


def test_a_run_made_longer_without_a_plan_is_exploratory_and_cannot_pass(
    write: Callable[..., Experiment], tmp_path: Path
) -> None:
    verdict = longer(write, tmp_path / "run")
    assert (verdict.overall, verdict.gates[0].exploratory) == ("INCONCLUSIVE", True)
    assert verdict.gates[0].reason.startswith(
        "exploratory, and so undecided: it was first looked at with 40 samples, and 160 were not planned then; a drop of 1.7"
    )
    assert [f.severity for f in verdict.findings if f.kind == "exploratory"] == ["alarm"]
    assert report.write(tmp_path / "run") == verdict


@pytest.mark.parametrize("more", [", n: 160", ""], ids=["n", "all"])
def test_the_same_command_with_more_questions_makes_the_run_longer_and_no_second_one_beside_it(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path, more: str
) -> None:
    """A new run would ask the same first questions, and be judged as if nobody had looked at their answers before."""
    news: list[str] = []

    class Listener(Silent):
        def say(self, text: str) -> None:
            news.append(text)

    reports = tmp_path / "reports"
    folder = run_folder.pick(reports, write(gate="", task=", n: 40"), None, False)
    assert run.run(write(gate="", task=", n: 40"), folder, Listener()).overall == "INCONCLUSIVE"
    assert not any("not planned then" in line for line in news)
    assert run_folder.pick(reports, write(gate="", task=", n: 40"), None, False) != folder
    assert run_folder.pick(reports, write(gate="", task=", n: 30"), None, False) != folder
    assert run_folder.pick(reports, write(gate="", task=more, arms=("old", "other")), None, False) != folder
    assert run_folder.pick(reports, write(gate="", task=more), None, True) != folder
    assert run_folder.pick(reports, write(gate="", task=more), None, False) == folder
    assert run.run(write(gate="", task=more), folder, Listener()).overall == "INCONCLUSIVE"
    assert "gsm8k was looked at with 40 samples, and 160 were not planned then" in "".join(news)
    assert sorted(questions(stubs["new"])) == list(range(160))
    assert run_folder.pick(reports, write(gate="", task=more), None, False) != folder


def test_a_run_that_passed_is_not_made_longer(write: Callable[..., Experiment], tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    assert run.run(write(gate="", task=", n: 120"), reports / "x-20260101-000000", Silent()).overall == "PASS"
    assert run_folder.pick(reports, write(gate="", task=", n: 160"), None, False) != reports / "x-20260101-000000"


def test_a_run_made_longer_without_a_plan_calls_no_regression(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path
) -> None:
    stubs["new"].answer = pupil(wrong=lambda i: i % 20 == 0)
    verdict = longer(write, tmp_path / "run")
    assert verdict.overall == "INCONCLUSIVE"
    assert "not planned then; a drop of 5.0 points" in verdict.gates[0].reason


def test_a_regression_is_not_taken_back_by_asking_more(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path
) -> None:
    first = questions_of(write, tmp_path)
    stubs["new"].answer = pupil(wrong=lambda i: i in first[:8])
    verdict = longer(write, tmp_path / "run")
    assert verdict.overall == "REGRESSION"
    assert verdict.gates[0].reason.startswith("found at the planned look with 40 samples, which no more of them takes back")


def questions_of(write: Callable[..., Experiment], folder: Path) -> list[int]:
    """The task's rows in the order in which they are asked."""
    run.run(write(gate="", task=", n: 160"), folder / "aside", Silent())
    samples = store.read(folder / "aside").samples["gsm8k"]
    return [int(s.messages[-1].content.split("what is ")[1].split()[0]) for s in samples]


def test_fewer_questions_than_were_looked_at_decide_nothing_either(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path
) -> None:
    first = questions_of(write, tmp_path)
    stubs["new"].answer = pupil(wrong=lambda i: i in first[100:108])
    assert longer(write, tmp_path / "run", "n: 160", "n: 80").gates[0].exploratory


def test_a_margin_that_was_widened_after_a_look_decides_nothing(write: Callable[..., Experiment], tmp_path: Path) -> None:
    run.run(write(gate="", task=", n: 40"), tmp_path / "run", Silent())
    path = tmp_path / "x.yaml"
    path.write_text(path.read_text().replace("margin: 6", "margin: 20"))
    verdict = run.run(config.load(path), tmp_path / "run", Silent())
    assert verdict.overall == "INCONCLUSIVE"
    assert "its margin was 6 when it was first looked at" in verdict.gates[0].reason


def test_a_margin_that_was_widened_after_a_regression_decides_nothing(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path
) -> None:
    """Its look under the new margin must not take the first one's place, neither then nor the next time."""
    stubs["new"].answer = pupil(wrong=lambda i: i % 8 == 0)
    experiment = write(gate="", task=", n: 80")
    assert run.run(experiment, tmp_path / "run", Silent()).overall == "REGRESSION"
    wider = replace(experiment, gates=tuple(replace(g, margin=40.0) for g in experiment.gates))
    for _ in range(2):
        verdict = run.run(wider, tmp_path / "run", Silent())
        assert (verdict.overall, verdict.gates[0].exploratory) == ("INCONCLUSIVE", True)
    assert run.run(experiment, tmp_path / "run", Silent()).overall == "REGRESSION"


def test_a_larger_run_asks_what_a_smaller_one_did_and_more(write: Callable[..., Experiment], tmp_path: Path) -> None:
    for n in (40, 160):
        run.run(write(gate="", task=f", n: {n}"), tmp_path / str(n), Silent())
    few, many = (store.read(tmp_path / n).samples["gsm8k"] for n in ("40", "160"))
    assert many[:40] == few


def test_looks_beyond_the_data_set_end_with_it(write: Callable[..., Experiment], tmp_path: Path) -> None:
    run.run(write(gate="looks: [20, 30, 5000]"), tmp_path / "run", Silent())
    assert looks(tmp_path / "run")[0].sizes == (20, 30, 160)


@pytest.mark.parametrize(
    ("task", "gate", "sizes"),
    [
        (", n: 40", "max_n: 160, looks: 3", (40, 100, 160)),
        (", n: 40", "max_n: 160", (40, 80, 120, 160)),
        (", n: 40", "max_n: 160, looks: 2", (40, 160)),
        ("", "looks: [30, 90]", (30, 90)),
        (", n: 30", "max_n: 90, looks: [30, 90]", (30, 90)),
        (", n: 40", "", ()),
    ],
)
def test_looks_are_a_number_or_a_list(write: Callable[..., Experiment], task: str, gate: str, sizes: tuple[int, ...]) -> None:
    chosen = write(task=task, gate=gate)
    assert chosen.gates[0].looks == sizes
    assert chosen.tasks[0].n == (sizes[0] if sizes else 40)


@pytest.mark.parametrize(
    ("task", "gate", "said"),
    [
        (", n: 40", "looks: 3", "gates.0.looks: add max_n"),
        (", n: 40", "max_n: 40", "gsm8k asks n: 40 from the start"),
        (", n: all", "max_n: 90", "gsm8k asks all samples from the start"),
        (", n: 40", "max_n: 90, looks: 1", "should be how many looks there are, 2 to 20, or the samples at each"),
        ("", "looks: [30, 30]", "each look has more samples than the one before"),
        (", n: 20", "looks: [30, 90]", "is 20, and its gate's first look is at 30"),
        ("", "max_n: 80, looks: [30, 90]", "is 80, and the last look is at 90"),
        ("", "arms: [newer]", "there is no arm 'newer'; did you mean 'new'?"),
        ("", "arms: [old]", "'old' is the baseline"),
        ("", "arms: [new, new]", "'new' is named twice"),
        ("", "arms: []", "none is there; name one"),
    ],
)
def test_what_looks_and_arms_can_not_be_is_one_line(write: Callable[..., Experiment], task: str, gate: str, said: str) -> None:
    with pytest.raises(ConfigError) as told:
        write(task=task, gate=gate)
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_plan_tells_what_looks_will_cost(write: Callable[..., Experiment]) -> None:
    (gate,) = plan.gates(write())
    assert gate.knowable is not None
    assert gate.knowable.sizes == LOOKS
    assert 40 < gate.knowable.mean_n <= 160
    assert "questions on average (looks at 40, 80, 160)" in plan.sentence(gate)
    assert plan.total(write()) is None
    assert any("looked at with 40, 80, 160 samples" in note for note in plan.notes(write()))


def test_a_gate_on_fewer_arms_has_more_alpha_for_each(write: Callable[..., Experiment], tmp_path: Path) -> None:
    """A diagnostic arm must not make a real drop harder to call."""
    three = ("old", "new", "other")
    run.run(write(arms=three), tmp_path / "all", Silent())
    run.run(write(gate=f"looks: {list(LOOKS)}, arms: [new]", arms=three), tmp_path / "one", Silent())
    assert looks(tmp_path / "all")[-1].regression < looks(tmp_path / "one")[-1].regression


@pytest.mark.usefixtures("short_waits")
def test_a_sample_that_failed_is_asked_again_at_the_same_look(
    write: Callable[..., Experiment], stubs: dict[str, StubServer], tmp_path: Path
) -> None:
    """Errors are no new look: the same n is judged again."""
    down = True

    def flaky(request: Json) -> Reply:
        if down and (i := number(request)) is not None and i % 2 and request["max_tokens"] > 64:
            return Reply(payload={"error": {"message": "no"}}, status=400)
        return pupil()(request)

    stubs["new"].answer = flaky
    assert run.run(write(), tmp_path / "run", Silent()).overall in ("INVALID", "INCONCLUSIVE")
    down = False
    assert run.run(write(), tmp_path / "run", Silent()).overall == "PASS"
    assert not any(g.exploratory for g in run.run(write(), tmp_path / "run", Silent()).gates)


def test_without_looks_there_is_one_with_all_of_alpha(write: Callable[..., Experiment], tmp_path: Path) -> None:
    chosen = write(gate="", task=", n: 160")
    verdict = run.run(chosen, tmp_path / "run", Silent())
    assert verdict.overall == "PASS"
    (look,) = looks(tmp_path / "run")
    assert (look.sizes, look.passing, look.regression) == ((160,), 0.05, 0.05)
