"""The needle task's prompts: made once, with the tokenizer of the first server that is asked, and the same for every arm."""

import threading
from collections.abc import Callable
from pathlib import Path

from evals.client import Endpoint
from evals.errors import ConfigError
from evals.experiment import TaskConfig
from evals.plan import Stage, answer_tokens
from evals.records import JsonDict, Message, Sample
from evals.store import Journal
from evals.tokens import TokenCounter
from tasks import haystack, needle, prose
from tasks.base import Language
from tasks.haystack import Haystack, HaystackError
from tasks.needle import Cell

TASK = "needle"
_CHARACTERS_PER_TOKEN: dict[Language, int] = {"en": 7, "zh": 3}
"""More than any tokenizer makes of prose, so that a generated text is long enough."""


class Needles:
    """Cells of a grid, and their prompts once a tokenizer was there to measure them."""

    def __init__(self, task: TaskConfig) -> None:
        """Raises ConfigError where a text that the user names can't be used."""
        assert task.grid is not None  # as every needle task has
        self.task, self.grid = task, task.grid
        self.cells = self.grid.cells(task.seed)[: task.n]
        self._made: dict[str, Sample] = {}
        self._lock = threading.Lock()  # arms side by side are asked the same
        try:
            self._haystacks = {name: haystack.read(Path(path), name) for name, path in task.haystacks.items()}
        except HaystackError as e:
            raise ConfigError(f"needle: {e}") from e

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
            if missing := [cell for cell in self.cells if cell.id not in self._made]:
                count = TokenCounter(endpoint, settings)
                count((Message(role="user", content="?"),))
                self._see_room(missing, stage, count.max_model_len)
                say(f"needle: making {len(missing)} prompts with the tokenizer of {stage.arm.name}")
                self._made |= {cell.id: self._sample(cell, count) for cell in missing}
            journal.put_samples(TASK, self.samples(), made_for=self.task.key)

    def _of(self, journal: Journal) -> dict[str, Sample]:
        """Those of an earlier process, once something was answered to them; before that, another tokenizer may have come."""
        contents = journal.contents
        if contents.made_for.get(TASK) != self.task.key or not contents.answered(TASK):
            return {}
        return {sample.id: sample for sample in contents.samples.get(TASK, ()) if sample.messages}

    def _see_room(self, missing: list[Cell], stage: Stage, limit: int | None) -> None:
        answer = answer_tokens(stage.arm, self.task)
        longest = max(cell.length for cell in missing)
        if limit is not None and longest + answer > limit:
            raise ConfigError(
                f"needle: {longest} tokens and {answer} for the answer are more than the {limit} of {stage.arm.name}; "
                "name shorter `lengths:`, or raise max-model-len"
            )

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
