"""What a run survives: a harness that is killed at any moment, and an engine that dies under it.

The engine is the stub server under a `command`, so that everything between the experiment file and the scorecard is real but
the model. It writes down every question that it has finished answering.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from tqdm import tqdm

from evals import config, run, store
from evals.engine import CANARY, process
from evals.evidence import from_contents
from evals.experiment import Experiment
from evals.judged import Evidence, Look
from evals.progress import Silent

pytestmark = pytest.mark.slow

Question = tuple[str, str]
"""Whose, and its text."""
STUB = Path(__file__).with_name("stub_server.py")
KILLS = 50
N = 24
EXPERIMENT = """\
name: x
baseline: old
launches: 2
restarts: {restarts}
arms:
  old:
    engine: {{command: [{python}, -S, {stub}, serve, '{{model}}', --port, '{{port}}']}}
    model: .
    env: {{STUB_ANSWERS: {answers}, STUB_NAME: old, STUB_FAULT: '{old}', STUB_SECONDS: 0.01}}
  new: {{extends: old, env: {{STUB_NAME: new, STUB_FAULT: '{new}'}}}}
tasks:
  - {{task: gsm8k, n: {n}, rounds: 2, concurrency: 4, data_dir: ., fewshot: 0}}
  - {{task: greedy, n: 6, concurrency: 2}}
gates: [{{task: gsm8k, margin: 15}}]
"""


@pytest.fixture(autouse=True)
def _no_lock_is_shared_with_a_fork() -> Iterator[None]:
    """tqdm's own is a semaphore of several processes: a fork that is killed holds it for ever. Two commands share none."""
    before = tqdm.get_lock()
    tqdm.set_lock(threading.RLock())
    yield
    tqdm.set_lock(before)


@pytest.fixture(autouse=True)
def _no_server_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(process, "STOP_GRACE_S", 2.0)
    yield
    assert [p.cmdline() for p in servers(tmp_path)] == []


def servers(folder: Path) -> list[psutil.Process]:
    """What runs the stub for a test, by the model's folder on its command line."""
    running = psutil.process_iter(["cmdline", "status"])
    return [p for p in running if str(folder) in (p.info["cmdline"] or []) and p.info["status"] != psutil.STATUS_ZOMBIE]


def experiment(folder: Path, *, old: str = "", new: str = "", restarts: int = 2) -> Experiment:
    rows = [json.dumps({"question": f"what is {i} + 1?", "answer": f"#### {i + 1}"}) + "\n" for i in range(N)]
    (folder / "test.jsonl").write_text("".join(rows))
    told = {"python": sys.executable, "stub": STUB, "answers": folder / "answers.txt", "n": N}
    (folder / "x.yaml").write_text(EXPERIMENT.format(old=old, new=new, restarts=restarts, **told))
    return config.load(folder / "x.yaml")


def answered(folder: Path) -> list[Question]:
    """Every question that a stub finished answering, but for what an arm is looked at with."""
    path = folder / "answers.txt"
    told = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [(name, text) for name, text in told if text != CANARY[0].content]


def planned(question: Question) -> int:
    """How often an undisturbed run asks it: gsm8k in two rounds, greedy once a launch."""
    name, text = question
    return 2 if "what is" in text or name == "old" else 1


def kept(folder: Path) -> Counter[Question]:
    """What the journal of a run holds the answers of."""
    if not (folder / store.JOURNAL).exists():
        return Counter()
    told = store.read(folder)
    texts = {(task, s.id): s.messages[-1].content for task, samples in told.samples.items() for s in samples}
    return Counter((p.arm, texts[p.task, sample_id]) for p, sample_id in told.answers)


def records(told: Evidence) -> dict[tuple[str, str, int, str], object]:
    """By place; without what differs between any two runs, which is time."""
    return {
        (r.arm, r.task, r.round, r.sample_id): (r.prompt_sha, r.response and (r.response.text, r.response.token_ids), r.score)
        for r in told.records
    }


def evidence(folder: Path) -> Evidence:
    return from_contents(store.read(folder))


def test_a_run_killed_at_any_moment_goes_on_to_the_same_records_and_asks_nothing_twice(tmp_path: Path) -> None:
    chosen, draw = experiment(tmp_path), random.Random(3)
    whole = run.run(chosen, tmp_path / "whole", Silent())
    expected = records(evidence(tmp_path / "whole"))
    assert whole.overall == "PASS"
    assert len(expected) == 2 * 2 * N + 3 * 6
    kills = number = 0
    while kills < KILLS:
        folder, number, ended = tmp_path / f"run-{number}", number + 1, False
        while not ended:
            held, before = kept(folder), len(answered(tmp_path))
            ended = _ended(_start(chosen, folder), draw.uniform(0, 1.2) if kills < KILLS else None)
            again = Counter(answered(tmp_path)[before:])
            assert {q: n for q, n in again.items() if n > planned(q) - held[q]} == {}
            kills += not ended
        assert records(evidence(folder)) == expected
        assert store.read(folder).finished
        assert not list((folder / "logs").glob("*.process"))


def test_planned_looks_survive_a_kill_at_any_moment(tmp_path: Path) -> None:
    """A pass of 24 questions comes at the third of three looks; whatever is killed, each look is as it would have been."""
    experiment(tmp_path)
    path, draw = tmp_path / "x.yaml", random.Random(5)
    text = path.read_text().replace(f"n: {N}", "n: 8").replace("margin: 15}", "margin: 15, looks: [8, 16, 24]}")
    path.write_text(text)
    chosen = config.load(path)
    assert run.run(chosen, tmp_path / "whole", Silent()).overall == "PASS"
    expected, looks = records(evidence(tmp_path / "whole")), taken(tmp_path / "whole")
    assert [look.n for look in looks] == [8, 16, 24]
    kills = number = 0
    while kills < KILLS // 4:
        folder, number, ended = tmp_path / f"run-{number}", number + 1, False
        while not ended:
            held, before = kept(folder), len(answered(tmp_path))
            ended = _ended(_start(chosen, folder), draw.uniform(0.2, 3) if kills < KILLS // 4 else None)
            again = Counter(answered(tmp_path)[before:])
            assert {q: n for q, n in again.items() if n > planned(q) - held[q]} == {}
            kills += not ended
        assert records(evidence(folder)) == expected
        assert taken(folder) == looks


def taken(folder: Path) -> list[Look]:
    """Every look, but for when it was."""
    return [replace(look, at="") for look in store.read(folder).looks_now()]


def _start(chosen: Experiment, folder: Path, *, heed: bool = False) -> int:
    """A harness of its own, forked so that it need not import everything again."""
    if child := os.fork():
        return child
    code = 1
    try:
        if heed:
            run.heed_signals()
        run.run(chosen, folder, Silent())
        code = 0
    except KeyboardInterrupt:
        code = 130
    finally:
        os._exit(code)


def _ended(child: int, limit_s: float | None) -> bool:
    """Whether it ended by itself; at the limit it is killed."""
    deadline = time.monotonic() + (limit_s if limit_s is not None else 60)
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 0
            return True
        time.sleep(0.002)
    assert limit_s is not None, "a run that nobody disturbs does not end"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def test_an_engine_that_dies_under_the_run_is_started_again_and_nothing_is_lost(tmp_path: Path) -> None:
    """Each start serves two canaries, twelve short answers and eighteen questions, of thirty and more that a launch asks."""
    verdict = run.run(experiment(tmp_path, old="mid-run:32", new="mid-run:32", restarts=9), tmp_path / "run", Silent())
    told = evidence(tmp_path / "run")
    assert verdict.overall == "PASS", [(g.reason, told.failures) for g in verdict.gates]
    assert len(records(told)) == 2 * 2 * N + 3 * 6
    assert all(r.response for r in told.records)
    assert told.failures == {}
    assert {why.launch for why in told.restarts["old"]} == {0, 1}
    assert 2 <= len(told.restarts["new"]) <= 9
    assert all(why.stage == "run" and "could not create a primitive" in why.reason for why in told.restarts["new"])
    said = {f.arm: f for f in verdict.findings if f.kind == "restarted"}
    assert said["new"].severity == "warning"
    assert f"was started again {len(told.restarts['new'])} times" in said["new"].text
    assert len(list((tmp_path / "run" / "logs").glob("new-launch1*.log"))) == len(told.restarts["new"]) + 1


def test_an_engine_that_goes_on_dying_ends_with_what_it_has_and_the_others_are_measured(tmp_path: Path) -> None:
    verdict = run.run(experiment(tmp_path, new="mid-run:17", restarts=1), tmp_path / "run", Silent())
    told = evidence(tmp_path / "run")
    assert verdict.overall == "INVALID"
    assert [(f.stage, f.launch) for f in told.failures["new"]] == [("run", 0)]
    assert len(told.restarts["new"]) == 1
    assert 0 < sum(bool(r.response) for r in told.records if r.arm == "new") <= 6
    assert sum(bool(r.response) for r in told.records if r.arm == "old") == 2 * N + 12
    assert store.read(tmp_path / "run").finished


def side_by_side(folder: Path, fault: str) -> Experiment:
    experiment(folder, old=fault, new=fault)
    text = (folder / "x.yaml").read_text()
    text = text.replace("launches: 2", "launches: 1\nparallel: true").replace("    model: .", "    model: .\n    devices: [0]")
    text = text.replace("new: {extends: old,", "new: {extends: old, devices: [1],")
    (folder / "x.yaml").write_text(text.replace("env: {STUB_ANSWERS", f"env: {{STUB_MEET: {folder}, STUB_ANSWERS"))
    return config.load(folder / "x.yaml")


def test_arms_on_disjoint_devices_run_side_by_side_with_the_same_records(tmp_path: Path) -> None:
    assert run.run(side_by_side(tmp_path, "meet"), tmp_path / "run", Silent()).overall == "PASS"
    told = evidence(tmp_path / "run")
    assert len(records(told)) == 2 * 2 * N + 2 * 6
    assert all(r.response for r in told.records)
    devices = {name: servers[0].argv for name, servers in told.servers.items()}
    assert devices.keys() == {"old", "new"}
    assert {h.filter: h.value for h in told.harness if h.arm == "new"} == {"strict-match": 1.0, "flexible-extract": 1.0}


def test_an_interrupt_ends_all_servers_that_run_side_by_side(tmp_path: Path) -> None:
    chosen = side_by_side(tmp_path, "meet")
    child = _start(chosen, tmp_path / "run", heed=True)
    deadline = time.monotonic() + 30
    while len(list(tmp_path.glob("*.here"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(child, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
    assert servers(tmp_path) == []
    assert evidence(tmp_path / "run").failures == {}
    assert run.run(chosen, tmp_path / "run", Silent()).overall == "PASS"


def test_restarts_can_be_switched_off(tmp_path: Path) -> None:
    run.run(experiment(tmp_path, new="mid-run:17", restarts=0), tmp_path / "run", Silent())
    assert evidence(tmp_path / "run").restarts["new"] == ()


def test_an_engine_that_is_killed_from_outside_is_told_as_that(tmp_path: Path) -> None:
    """As by the kernel, where memory ran out: its log says nothing."""
    verdict = run.run(experiment(tmp_path, new="killed:21", restarts=0), tmp_path / "run", Silent())
    assert verdict.overall == "INVALID"
    (failure,) = evidence(tmp_path / "run").failures["new"]
    assert failure.reason == "the server ended while it was asked: killed by SIGKILL"
