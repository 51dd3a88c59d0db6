"""The needle task's prompts: made once, with the tokenizer of the first server that is asked, and the same for every arm."""

import threading
from collections.abc import Callable
from pathlib import Path

from evals import prompt_room
from evals.client import Endpoint
from evals.errors import ConfigError, NoTokenCount
from evals.experiment import Arm, TaskConfig
from evals.plan import Stage
from evals.records import JsonDict, Message, Sample
from evals.store import Journal
from evals.tokens import TokenCounter
from tasks import haystack, needle, prose
from tasks.base import Language
from tasks.haystack import Haystack, HaystackError
from tasks.needle import Cell, Grid

TASK = "needle"
_CHARACTERS_PER_TOKEN: dict[Language, int] = {"en": 7, "zh": 3}
"""More than any tokenizer makes of prose, so that a generated text is long enough."""


class Needles:
    """Cells of a grid, and their prompts once a tokenizer was there to measure them."""

    def __init__(self, task: TaskConfig, arms: tuple[Arm, ...]) -> None:
        """Raises ConfigError where a text that the user names can't be used."""
        assert task.grid is not None  # as every needle task has
        self.task, self.arms = task, arms
        self.room: int | None = None
        """Tokens that an open grid's prompts may take, once that is known."""
        self._use(task.grid)
        self._made: dict[str, Sample] = {}
        self._lock = threading.Lock()  # arms side by side are asked the same
        try:
            self._haystacks = {name: haystack.read(Path(path), name) for name, path in task.haystacks.items()}
        except HaystackError as e:
            raise ConfigError(f"needle: {e}") from e

    def _use(self, grid: Grid) -> None:
        self.grid, self.cells = grid, grid.cells(self.task.seed)[: self.task.n]

    def samples(self) -> tuple[Sample, ...]:
        """In their order; those that are not made yet without a prompt."""
        return tuple(self._made.get(cell.id) or needle.outline(cell) for cell in self.cells)

    def make(self, stage: Stage, endpoint: Endpoint, settings: JsonDict, journal: Journal, say: Callable[[str], None]) -> None:
        """Have every prompt: from this process, else from the journal, else made. `settings`: the body of the arm's requests.

        Raises:
            NoTokenCount: the server does not count tokens.
            ConfigError: a haystack is too short, or a length beyond what the server takes.
        """
        with self._lock:
            self._made = self._made or self._of(journal)
            if self.grid.is_open or any(cell.id not in self._made for cell in self.cells[: stage.task.n]):
                count = TokenCounter(endpoint, settings)
                count((Message(role="user", content="?"),))
                self._see_room(stage, count.max_model_len, say)
                missing = [cell for cell in self.cells[: stage.task.n] if cell.id not in self._made]
                say(f"needle: making {len(missing)} prompts with the tokenizer of {stage.arm.name}")
                self._made |= {cell.id: self._sample(cell, count) for cell in missing}
            journal.put_samples(TASK, self.samples()[: stage.task.n], made_for=f"{self.task.key} {self.room or ''}".strip())

    def _of(self, journal: Journal) -> dict[str, Sample]:
        """Those of an earlier process, once something was answered to them; before that, another tokenizer may have come."""
        contents = journal.contents
        key, _, room = contents.made_for.get(TASK, "").partition(" ")
        if key != self.task.key or not contents.answered(TASK):
            return {}
        if room:
            self._close(int(room))
        return {sample.id: sample for sample in contents.samples.get(TASK, ()) if sample.messages}

    def _close(self, room: int) -> None:
        self.room = room
        self._use(self.grid.within(room))

    def _see_room(self, stage: Stage, limit: int | None, say: Callable[[str], None]) -> None:
        """Close an open grid, by what this server and the arms' flags tell; refuse lengths that don't fit."""
        told = [prompt_room.of(stage.arm, self.task, limit, self.arms)] if limit is not None else []
        told += [room] if (room := prompt_room.least(self.arms, self.task)) else []
        room = min(told, key=lambda room: room.tokens, default=None)
        if room is None and self.grid.longest and not self.grid.usual:
            raise NoTokenCount(
                f"needle: {stage.arm.name} does not tell its max-model-len, so that `max` is not known; name it in `lengths:`"
            )
        if room is None and self.grid.usual:
            say(f"needle: nothing just under max-model-len is asked, for {stage.arm.name} does not tell it")
        tokens = room.tokens if room else max(self.grid.all_lengths())
        if room and (beyond := self.grid.beyond(tokens)):
            raise ConfigError(f"needle: {room.refusal(beyond[0])}")
        if self.grid.is_open:
            self._close(tokens)
            if room and not self.cells:
                raise ConfigError(f"needle: {room.refusal(needle.LEAST_TOKENS)}")
        if self.grid.left_out and room:
            lengths = ", ".join(map(str, self.grid.left_out))
            say(f"needle: {lengths} tokens are left out: {room.arm} takes {room.limit}, {room.answer} of them for the answer")

    def _sample(self, cell: Cell, count: TokenCounter) -> Sample:
        try:
            return needle.sample(cell, self.grid, self._haystack(cell.language), self.task.seed, count)
        except HaystackError as e:
            raise ConfigError(f"needle: {e}") from e

    def _haystack(self, language: Language) -> Haystack:
        if language not in self._haystacks:
            characters = max(self.grid.all_lengths()) * _CHARACTERS_PER_TOKEN[language]
            self._haystacks[language] = prose.haystack(language, characters, self.task.seed)
        return self._haystacks[language]
