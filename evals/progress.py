"""What a run tells while it goes: a live line in a terminal, plain lines elsewhere."""

import threading
import time
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

PLAIN_EVERY_S = 10.0


class Row(Protocol):
    """One stage on its way."""

    def advance(self, tokens: int) -> None: ...
    def end(self) -> None: ...


class Reporter(Protocol):
    """Where the run's news go, from any thread."""

    def say(self, text: str) -> None: ...

    def stage(self, title: str, size: int, done: int) -> Row:
        """A stage of `size` samples, of which `done` were answered by an earlier process of the run."""
        ...

    def answered(self, samples: int) -> None:
        """Samples of stages that need not be asked again."""
        ...


class Silent:
    def say(self, text: str) -> None: ...
    def stage(self, title: str, size: int, done: int) -> "Silent":  # noqa: ARG002
        return self

    def answered(self, samples: int) -> None: ...
    def advance(self, tokens: int) -> None: ...
    def end(self) -> None: ...


class Display:
    """A context manager; `console` decides whether there is a terminal. Figures shown: done/total, tokens/s, ETA."""

    def __init__(self, console: Console, total: int | None) -> None:
        self.console, self.total, self.done = console, total, 0
        self.live = Progress(
            SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}", markup=False), TimeElapsedColumn(), TextColumn("ETA"), TimeRemainingColumn(),
            console=console, transient=True,
        )  # fmt: skip
        self.lock = threading.Lock()

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.live.stop()

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def answered(self, samples: int) -> None:
        with self.lock:
            self.done += samples

    def stage(self, title: str, size: int, done: int) -> "_Stage":
        self.answered(done)
        return _Stage(self, title, size, done)


class _Stage:
    def __init__(self, display: Display, title: str, size: int, done: int) -> None:
        self._display, self._title, self._size, self._before = display, title, size, done
        self._asked, self._tokens = 0, 0
        self._start = self._said = time.monotonic()
        self._row: TaskID | None = None
        if display.console.is_terminal:
            self._row = display.live.add_task(title, total=size, completed=done, speed="")

    def advance(self, tokens: int) -> None:
        self._asked, self._tokens = self._asked + 1, self._tokens + tokens
        self._display.answered(1)
        speed = f"{self._tokens / max(time.monotonic() - self._start, 1e-3):.0f} tok/s"
        if self._row is not None:
            self._display.live.update(self._row, advance=1, speed=speed)
        elif time.monotonic() - self._said > PLAIN_EVERY_S:
            self._said = time.monotonic()
            self._display.say(f"  {self._title}  {self._before + self._asked}/{self._size}  {speed}  {self._eta()}")

    def end(self) -> None:
        if self._row is not None:
            self._display.live.remove_task(self._row)
        spent = time.monotonic() - self._start
        total, done = self._display.total, self._display.done
        of = f" of {total}" if total else ""
        kept = f" ({self._before} answered before)" if self._before else ""
        said = f"{self._asked} asked in {spent:.0f} s, {self._tokens} tokens{kept}; {done}{of} in all"
        self._display.say(f"  {self._title}: {said}")

    def _eta(self) -> str:
        per_sample = (time.monotonic() - self._start) / max(self._asked, 1)
        return f"ETA {per_sample * (self._size - self._before - self._asked):.0f} s"
