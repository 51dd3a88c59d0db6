import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_logs import CAUSES

from evals.engine import process
from evals.engine.log import cause, read_tail
from evals.engine.process import Process, end_recorded, free_port
from evals.errors import StartError

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
PARENT_OF_STUBBORN = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", {STUBBORN!r}])
print("child", child.pid, flush=True)
time.sleep(60)
"""


def start(code: str, log: Path) -> Process:
    return Process([sys.executable, "-S", "-c", code], dict(os.environ), log)


def wait_for(text: str, log: Path) -> str:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if text in (said := log.read_text()):
            return said
        time.sleep(0.01)
    raise AssertionError(f"{text!r} is not in {log.read_text()!r}")


def gone(pid: int) -> bool:
    """Ended: no such process, or a zombie that nobody has collected yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def cause_of(text: str, tmp_path: Path) -> str | None:
    (tmp_path / "log").write_text(text)
    return cause(tmp_path / "log")


def test_a_cause_that_does_not_say_what_helps_is_told_with_it(tmp_path: Path) -> None:
    said = cause_of("ERROR RuntimeError: CPU Generator does not use offset\n", tmp_path)
    assert said is not None
    assert said.startswith("RuntimeError: CPU Generator does not use offset: vLLM 0.29 on a CPU can't sample where a prompt is")


# --- start and stop -------------------------------------------------------------------------------------------------------


def test_a_process_runs_for_the_length_of_the_block(tmp_path: Path) -> None:
    with start("import time; print('up', flush=True); time.sleep(60)", tmp_path / "logs" / "a.log") as running:
        wait_for("up", running.log)
        assert running.alive()
        assert os.getpgid(running.pid) == running.pid
    assert not running.alive()
    assert running.ending() == "killed by SIGTERM"


def test_a_process_is_stopped_when_the_block_raises(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), start("import time; time.sleep(60)", tmp_path / "log") as running:
        raise KeyboardInterrupt
    assert not running.alive()


def test_one_that_will_not_end_is_killed_after_the_grace_period(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "STOP_GRACE_S", 0.2)
    with start(STUBBORN, tmp_path / "log") as running:
        wait_for("up", running.log)
    assert running.ending() == "killed by SIGKILL"


def test_what_it_started_is_killed_too_when_that_will_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "STOP_GRACE_S", 0.2)
    with start(PARENT_OF_STUBBORN, tmp_path / "log") as running:
        child = int(wait_for("up", running.log).split()[1])
        assert not gone(child)
    assert running.ending() == "killed by SIGTERM"
    assert gone(child)


def test_children_of_a_process_that_ended_by_itself_are_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "STOP_GRACE_S", 0.2)
    code = PARENT_OF_STUBBORN.replace("time.sleep(60)\n", "time.sleep(0.1)\n")
    with start(code, tmp_path / "log") as running:
        child = int(wait_for("up", running.log).split()[1])
        assert running.ending() == "exit code 0"
        assert not gone(child)
    assert gone(child)


def test_a_second_interrupt_while_stopping_still_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    running = start(STUBBORN, tmp_path / "log")
    wait_for("up", running.log)
    monkeypatch.setattr("evals.engine.process.time.sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        running.stop()
    monkeypatch.undo()
    assert running.ending() == "killed by SIGKILL"


def test_stopping_twice_is_no_fault(tmp_path: Path) -> None:
    with start("", tmp_path / "log") as running:
        running.stop()
    assert not running.alive()


def test_a_command_that_cannot_be_run_is_a_failed_start(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"/nowhere/vllm can't be run: there is no such program"):
        Process(["/nowhere/vllm"], {}, tmp_path / "log")


@pytest.mark.parametrize(
    ("code", "said"), [("raise SystemExit(3)", "exit code 3"), ("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL")]
)
def test_how_it_ended_is_told(tmp_path: Path, code: str, said: str) -> None:
    with start(code, tmp_path / "log") as ended:
        assert ended.ending() == said


def test_a_child_cannot_be_hit_by_a_key_pressed_in_our_terminal(tmp_path: Path) -> None:
    with start("import os, time; print('session', os.getsid(0), flush=True); time.sleep(60)", tmp_path / "log") as running:
        assert int(wait_for("session", running.log).split()[1]) == running.pid != os.getsid(0)


def test_standard_input_is_closed_and_both_outputs_are_in_the_log(tmp_path: Path) -> None:
    code = "import sys; print('in', repr(sys.stdin.read())); sys.stdout.flush(); print('err', file=sys.stderr)"
    with start(code, tmp_path / "log") as running:
        assert "in ''" in wait_for("err", running.log)


def test_a_free_port_can_be_listened_on() -> None:
    with socket.socket() as s:
        s.bind(("127.0.0.1", free_port()))


def test_a_process_is_not_alive_once_it_was_killed_from_outside(tmp_path: Path) -> None:
    with start("import time; time.sleep(60)", tmp_path / "log") as running:
        os.kill(running.pid, signal.SIGKILL)
        assert running.ending() == "killed by SIGKILL"
        assert not running.alive()


# --- what a killed bumpgate left ------------------------------------------------------------------------------------------


def test_a_running_process_is_on_record_and_a_stopped_one_is_not(tmp_path: Path) -> None:
    with start("import time; print('up', flush=True); time.sleep(60)", tmp_path / "a.log") as running:
        wait_for("up", running.log)
        boot, pid, *_ = (tmp_path / "a.process").read_text().split()
        assert (boot, int(pid)) == (Path("/proc/sys/kernel/random/boot_id").read_text().strip(), running.pid)
    assert not (tmp_path / "a.process").exists()


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    """A process with a child of its own, as a killed bumpgate leaves them."""
    monkeypatch.setattr(process, "STOP_GRACE_S", 0.5)
    running = start(PARENT_OF_STUBBORN, tmp_path / "a.log")
    wait_for("up", running.log)
    yield running
    running.stop()


def child_of(running: Process) -> int:
    return int(running.log.read_text().split()[1])


def test_what_is_on_record_is_ended_with_all_that_it_started(left: Process) -> None:
    assert end_recorded(left.record) == left.pid
    assert gone(left.pid)
    assert gone(child_of(left))
    assert not left.record.exists()


def test_a_child_is_ended_when_its_parent_is_gone_already(left: Process) -> None:
    os.kill(left.pid, signal.SIGKILL)
    left.ending()  # collected, as init does with orphans
    assert end_recorded(left.record) == left.pid
    assert gone(child_of(left))


@pytest.mark.parametrize("field", [0, 22], ids=["another boot", "another start"])
def test_a_process_that_only_has_the_recorded_number_is_left_alone(left: Process, field: int) -> None:
    told = left.record.read_text().split(" ")
    told[field] = "1"
    left.record.write_text(" ".join(told))
    assert end_recorded(left.record) is None
    assert left.alive()
    assert not gone(child_of(left))


@pytest.mark.parametrize("text", ["", "x", "a b (c) d", "\0"])
def test_a_record_that_a_crash_left_half_written_ends_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.process").write_text(text)
    assert end_recorded(tmp_path / "a.process") is None
    assert not (tmp_path / "a.process").exists()


def test_a_record_of_what_ended_by_itself_ends_nothing(tmp_path: Path) -> None:
    with start("", tmp_path / "a.log") as running:
        running.ending()
        assert end_recorded(running.record) is None


# --- the log --------------------------------------------------------------------------------------------------------------


def test_a_tail_is_the_last_lines_without_colours_and_progress_bars(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"first\n\n\x1b[32mgreen\x1b[0m\nload 1%\rload 100%\n\xff\xe4\xb8\xad  \nlast")
    assert read_tail(log, 4) == ["load 1%", "load 100%", "\ufffd中", "last"]
    assert read_tail(log, 99)[:2] == ["first", "green"]


def test_the_tail_of_a_huge_log_is_read_from_its_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("x" * 99 + "\n" + "line\n" * 200_000 + "last\n")
    assert read_tail(log, 2) == ["line", "last"]


@pytest.mark.timeout(600)  # linear time takes no second; a pattern that backtracks takes hours
def test_no_log_line_takes_long_to_search(tmp_path: Path) -> None:
    assert cause_of("a" * 200_000 + "\n" + "b." * 100_000 + "\n", tmp_path) is None


@pytest.mark.parametrize(("text", "cause"), CAUSES.values(), ids=CAUSES.keys())
def test_the_cause_is_the_first_error_of_the_engines_own(tmp_path: Path, text: str, cause: str | None) -> None:
    assert cause_of(text, tmp_path) == cause
