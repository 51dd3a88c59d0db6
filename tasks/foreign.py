"""Tasks that lm-eval alone knows, by name (`arc_challenge`): it marks a response, once that is known to hold an answer.

What lm-eval must not mark is told apart first: a chain of thought that was cut, a loop, an answer in another field.
"""

from dataclasses import dataclass
from typing import assert_never

from tasks.base import GENERATES_NOTHING, Failure, Marks, Outcome, Response, Score, TaskInfo
from tasks.extract import Artefact, NoAnswer, Visible, visible


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """What lm-eval's own files tell of a task or a group of tasks."""

    name: str
    likelihood: bool
    """Whether it is asked by log-probability over /v1/completions; else it generates, over chat."""
    metric: str
    """lm-eval's, 0 or 1 for a sample: the mark."""
    folders: tuple[str, ...]
    """Where the files of it and of all its parts lie."""

    @property
    def info(self) -> TaskInfo:
        """Chance is known once the samples are: it depends on how many choices each has."""
        return TaskInfo(
            name=self.name,
            marked=True,
            chance=0.0,
            blind_to=GENERATES_NOTHING if self.likelihood else frozenset(),
            default_n=200,
            default_margin=None if self.likelihood else 2.0,
            default_max_tokens=1 if self.likelihood else 1024,
            hub_n=None,
            score=score,
        )


def score(response: Response, target: str, harness: tuple[Marks, ...]) -> Score | Failure:  # noqa: ARG001
    """lm-eval's mark under the last of the task's filters: where there are several, the strict one stands first."""
    warnings: tuple[str, ...] = ()
    if response.likelihoods is None:
        view = visible(response)
        match view:
            case Artefact(name=name, message=message):
                return Failure(kind="harness", message=f"{name}: {message}")
            case NoAnswer(reason=reason, warnings=warnings):
                return Score(outcome="no_answer", reason=reason, harness=harness, warnings=warnings)
            case Visible(warnings=warnings):
                pass
            case _:
                assert_never(view)
    if not harness:
        return Failure(
            kind="harness", message="lm-eval has not marked it with 0 or 1; after a run that was cut short, `bumpgate run` does"
        )
    outcome: Outcome = "correct" if harness[-1].correct else "wrong"
    if outcome == "wrong" and response.finish_reason == "length":
        return Score(outcome="no_answer", reason="truncated", harness=harness, warnings=warnings)
    return Score(outcome=outcome, answer=_likeliest(response), harness=harness, warnings=warnings)


def _likeliest(response: Response) -> str | None:
    """The choice with the highest log-probability, counted from 0."""
    told = [choice.logprob for choice in response.likelihoods or ()]
    return str(told.index(max(told))) if len(told) > 1 else None
