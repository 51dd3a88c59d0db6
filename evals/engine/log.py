"""A server's log: its last lines, and the error that explains an ending."""

import re
from pathlib import Path

LOG_TAIL_LINES = 40
_QUIET = re.compile(r"\b(?:DEBUG|INFO|WARNING) \d\d-\d\d ")
_PREFIX = re.compile(r"^(?:\([^()]*pid=\d+\) )*(?:ERROR \d\d-\d\d [\d:]+ \[[^\]]*\])?\s*")
_DYING = re.compile(r"EngineCore (?:encountered a fatal error|failed to start)|WorkerProc (?:hit an exception|failed)")
_CAUSE = re.compile(r"\b[\w.]*(?:Error|Exception): .+|\berror: .+|.*\bdied unexpectedly\b.*")
_ADVICE = {
    "CPU Generator does not use offset": (
        "vLLM 0.29 on a CPU can't sample where a prompt is computed in pieces; set max-num-batched-tokens to what the prompts "
        "of a batch take (8192), or `sampling: greedy`"
    ),
    "No common block size": "on a CPU block-size is a multiple of 32",
}
"""What helps, by words of the error, where its own words don't say."""
_CONSEQUENCE = re.compile(r"EngineDeadError|root cause|stack trace|HTTPException|died unexpectedly")


def read_tail(path: Path, lines: int) -> list[str]:
    """The last lines of a log, without colours and carriage returns; at most its last 256 KiB are read."""
    with path.open("rb") as f:
        f.seek(max(0, path.stat().st_size - 256 * 1024))
        text = f.read().decode("utf-8", "replace")
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\r", "\n")
    return [line.rstrip() for line in text.splitlines() if line.strip()][-lines:]


def cause(path: Path) -> str | None:
    """The first error that the log names and that is not merely the consequence of another, in one line.

    Where the engine says that it is dying, what was logged before that (a request turned away, a warning) is passed over.
    """
    lines = [_PREFIX.sub("", line[:2000]) for line in read_tail(path, 2000) if not _QUIET.search(line)]
    start = next((i for i, line in enumerate(lines) if _DYING.search(line)), 0)
    found = [_whole(m[0], lines[i + 1 :]) for i, line in enumerate(lines) if i >= start and (m := _CAUSE.search(line))]
    own = [text for text in found if not _CONSEQUENCE.search(text)]
    first = next(iter(own or found), None)
    advice = next((advice for words, advice in _ADVICE.items() if first and words in first), "")
    return f"{first}: {advice}" if advice else first


def _whole(error: str, following: list[str]) -> str:
    """pydantic names the field and the fault in the lines after its error's first."""
    if re.search(r"\d+ validation errors? for ", error):
        end = next((i for i, line in enumerate(following[:4]) if "[type=" in line), -1)
        error = ": ".join([error, *(line.split(" [type=")[0].strip() for line in following[: end + 1])])
    return error.strip()
