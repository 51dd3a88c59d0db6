"""How many tokens an answer may take on an arm, and a needle's prompt on every arm: max-model-len, less the answer. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from evals.document import Place
from evals.experiment import Arm, TaskConfig
from tasks.needle import LEAST_TOKENS

TEMPLATE_TOKENS = 64
"""What another arm's chat template may add to the prompt that fits the first one's, as for another thinking effort."""


@dataclass(frozen=True, kw_only=True)
class Room:
    arm: str
    limit: int
    """Its max-model-len."""
    answer: int
    """Tokens that are kept for the answer."""
    template: int = 0
    """Tokens that are kept for an arm that renders the prompt in another way."""

    @property
    def tokens(self) -> int:
        return self.limit - self.answer - self.template

    def refusal(self, length: int) -> str:
        other = f" and {self.template} for arms with another template" if self.template else ""
        said = f"{length} tokens and {self.answer} for the answer{other} are more than the {self.limit} of {self.arm}"
        return f"{said}; name shorter `lengths:`, write `max`, or raise max-model-len"


def answer_tokens(arm: Arm, task: TaskConfig) -> int:
    """What an answer may take. A model that thinks has room for that beside the task's own, where answers are marked: as far
    as the prompt leaves any, or half of the context where a prompt's length is not known."""
    if arm.request.max_tokens is not None:
        return arm.request.max_tokens
    thinking = arm.thinking.tokens if arm.thinking and task.info.marked else 0
    if not thinking or (limit := arm.max_model_len) is None:
        return task.max_tokens + thinking
    longest = max(task.grid.all_lengths()) if task.grid and not task.grid.is_open else limit // 2
    return max(task.max_tokens, min(task.max_tokens + thinking, limit - longest))


def of(arm: Arm, task: TaskConfig, limit: int, arms: Sequence[Arm]) -> Room:
    """`arms`: all that are asked the same prompts."""
    alike = all(arm.shapes_prompt_like(other) for other in arms)
    return Room(arm=arm.name, limit=limit, answer=answer_tokens(arm, task), template=0 if alike else TEMPLATE_TOKENS)


def least(arms: Sequence[Arm], task: TaskConfig) -> Room | None:
    """As the arms' flags tell; None where none does."""
    told = [of(arm, task, limit, arms) for arm in arms if (limit := arm.max_model_len)]
    return min(told, key=lambda room: room.tokens, default=None)


def fitted(
    tasks: tuple[TaskConfig, ...], arms: Sequence[Arm], fail: Callable[[Place, str], NoReturn]
) -> tuple[TaskConfig, ...]:
    """The needle task with its lengths as they will be asked, where every arm's flags tell what it takes.

    An answer that no prompt leaves room for is refused, as a server would, after its start.
    """
    for i, task in enumerate(tasks):
        for arm in (a for a in arms if a.max_model_len and "sampling" not in task.info.blind_to):
            if (answer := answer_tokens(arm, task)) >= (arm.max_model_len or 0):
                place: Place = ("arms", arm.name) if arm.request.max_tokens is not None else ("tasks", i)
                told = f"{answer} tokens of an answer are not less than the {arm.max_model_len} of {arm.name}, prompt included"
                fail(place, f"{told}; lower max_tokens, or raise max-model-len")
    return tuple(_fitted(task, ("tasks", i, "lengths"), arms, fail) for i, task in enumerate(tasks))


def _fitted(task: TaskConfig, place: Place, arms: Sequence[Arm], fail: Callable[[Place, str], NoReturn]) -> TaskConfig:
    room = least(arms, task)
    if task.grid is None or room is None:
        return task
    if beyond := task.grid.beyond(room.tokens):
        fail(place, room.refusal(beyond[0]))
    if not task.grid.is_open or any(least([arm], task) is None for arm in arms):
        return task
    grid = task.grid.within(room.tokens)
    if not grid.size:
        fail(place, room.refusal(LEAST_TOKENS))
    return replace(task, grid=grid, size=grid.size)
