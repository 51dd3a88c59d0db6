"""Where nothing, or not everything, can be printed: run as a command, since it is the interpreter's own streams."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def bumpgate(argv: str, **redirected: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bumpgate", *argv.split()]
    return subprocess.run(command, text=True, timeout=120, check=False, **redirected)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("argv", ["--version", "problems", "problems --json"], ids=["little", "much", "at once"])
def test_a_full_disk_behind_stdout_is_one_line(argv: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = bumpgate(argv, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3
    assert done.stderr.replace("\n", " ").startswith("bumpgate: stdout cannot be written: No space left on device; ")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_closed_stdout_is_no_fault() -> None:
    done = bumpgate("--version", stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_narrow_terminal_cannot_show_is_a_question_mark() -> None:
    done = bumpgate("problems two_sum_indices", stdout=subprocess.PIPE, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "?" in done.stdout
