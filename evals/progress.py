"""What a run tells while it goes: a live line in a terminal, plain lines elsewhere."""

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


class Reporter(Protocol):
    """Where the run's news go."""

    def say(self, text: str) -> None: ...
    def begin(self, title: str, total: int) -> None: ...
    def advance(self, tokens: int) -> None: ...
    def end(self) -> None: ...


class Silent:
    def say(self, text: str) -> None: ...
    def begin(self, title: str, total: int) -> None: ...
    def advance(self, tokens: int) -> None: ...
    def end(self) -> None: ...


class Display:
    """A context manager; `console` decides whether there is a terminal. Figures shown: done/total, tokens/s, ETA."""

    def __init__(self, console: Console, total: int | None) -> None:
        self.console, self.total, self.done = console, total, 0
        self._live = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"), TimeElapsedColumn(), TextColumn("ETA"), TimeRemainingColumn(),
            console=console, transient=True,
        )  # fmt: skip
        self._row: TaskID | None = None
        self._title, self._count, self._size, self._tokens = "", 0, 0, 0
        self._start = self._said = self._run_start = time.monotonic()

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def begin(self, title: str, total: int) -> None:
        self._title, self._count, self._size, self._tokens = title, 0, total, 0
        self._start = self._said = time.monotonic()
        if self.console.is_terminal:
            self._row = self._live.add_task(title, total=total, speed="")

    def advance(self, tokens: int) -> None:
        self._count, self._tokens, self.done = self._count + 1, self._tokens + tokens, self.done + 1
        speed = f"{self._tokens / max(time.monotonic() - self._start, 1e-3):.0f} tok/s"
        if self._row is not None:
            self._live.update(self._row, advance=1, speed=speed)
        elif time.monotonic() - self._said > PLAIN_EVERY_S:
            self._said = time.monotonic()
            self.say(f"  {self._title}  {self._count}/{self._size}  {speed}  {self._eta()}")

    def end(self) -> None:
        if self._row is not None:
            self._live.remove_task(self._row)
            self._row = None
        spent = time.monotonic() - self._start
        of = f" of {self.total}" if self.total else ""
        self.say(f"  {self._title}: {self._count} asked in {spent:.0f} s, {self._tokens} tokens; {self.done}{of} in all")

    def _eta(self) -> str:
        per_sample = (time.monotonic() - self._start) / max(self._count, 1)
        return f"ETA {per_sample * (self._size - self._count):.0f} s"
