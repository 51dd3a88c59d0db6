"""What a server is asked last, once its tasks are done: how likely it finds the baseline's own answers.

No verdict comes of it, so nothing here may spoil a run: a server that refuses, or dies of it, was not measured.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evals import forcing, plan, sensors
from evals.client import Client
from evals.contents import Answer, Contents
from evals.engine import Server
from evals.forcing import Given
from evals.plan import FORCED_TOKENS
from evals.records import Failure, Forced, Score
from evals.store import Journal

TIMEOUT_S = 120.0
"""One forward pass over a thousand tokens takes less, or hangs."""
ATTACHED_TOKENS = 512
"""Of prompt and answer together, on a server that was attached to: it is somebody's, and may have less memory to spare."""
FAILURES = 3
"""In a row: a server that can't do one of them may do another, and one that can't do three does none."""
Key = tuple[str, str]
"""Task and sample."""


@dataclass(frozen=True, kw_only=True)
class Target:
    task: str
    sample_id: str
    given: Given


def targets(contents: Contents, arm: str, launch: int) -> list[Target]:
    """Answers of the baseline that this launch of an arm is still to be asked about."""
    header = contents.header
    if header is None:
        return []
    ours = _answers(contents, header.baseline)
    wanted = list(_first(contents))
    if arm != header.baseline:
        theirs = _answers(contents, arm)
        if not theirs or sensors.other_tokens(_prompts(ours), _prompts(theirs), _tokenizers(contents, header.baseline, arm)):
            return []
        wanted += _flipped(contents, ours, theirs)
    elif launch:
        wanted += [(told.task, told.sample_id) for _, told in contents.forced.values()]
    attached = any(not info.argv for (name, _), (_, info) in contents.servers.items() if name == arm)
    room = ATTACHED_TOKENS if attached else FORCED_TOKENS
    out = []
    for task, sample_id in dict.fromkeys(wanted):
        answer = ours.get((task, sample_id))
        given = forcing.given(answer.response) if answer and answer.response else None
        if given is None or given.tokens > room:
            continue
        key, told = contents.forced.get((arm, launch, task, sample_id), ("", None))
        if told is None or (key, told.answer_sha) != (header.arm_keys[arm], given.sha):
            out.append(Target(task=task, sample_id=sample_id, given=given))
    return sorted(out, key=lambda target: target.given.tokens)  # what may be too much for a server comes last


def lacks(contents: Contents, arm: str, launch: int) -> bool:
    """Whether a launch was stopped before its first answers were asked about: for flips alone no server is started again."""
    first = set(_first(contents))
    return any((target.task, target.sample_id) in first for target in targets(contents, arm, launch))


def _first(contents: Contents) -> Iterator[Key]:
    for task in contents.header.tasks if contents.header else ():
        for sample in contents.samples.get(task.name, ())[: plan.FORCED]:
            yield task.name, sample.id


def _answers(contents: Contents, arm: str) -> dict[Key, Answer]:
    """Of the first round, under the present configuration."""
    h = contents.header
    return {
        (place.task, sample_id): answer
        for (place, sample_id), answer in contents.answers.items()
        if h is not None and place.round == 0 and place.arm == arm
        and (place.arm_key, place.task_key) == (h.arm_keys.get(arm), h.task_keys.get(place.task))
    }  # fmt: skip


def _prompts(answers: dict[Key, Answer]) -> dict[Key, str | None]:
    return {key: answer.response.prompt_ids_sha for key, answer in answers.items() if answer.response}


def _tokenizers(contents: Contents, *arms: str) -> list[str | None]:
    """Of each arm's last start."""
    out: list[str | None] = []
    for arm in arms:
        starts = [info.tokenizer_sha for (name, _), (_, info) in sorted(contents.servers.items()) if name == arm]
        out.append(starts[-1] if starts else None)
    return out


def _flipped(contents: Contents, ours: dict[Key, Answer], theirs: dict[Key, Answer]) -> list[Key]:
    """Samples that the first round marked otherwise, up to so many a task; those that were lost before those that were won."""
    lost: dict[str, list[Key]] = {}
    won: dict[str, list[Key]] = {}
    for key in (key for key in ours if key in theirs):
        before, after = (_correct(contents, answers[key]) for answers in (ours, theirs))
        if before is not None and after is not None and before != after:
            (lost if before else won).setdefault(key[0], []).append(key)
    return [key for task in lost | won for key in [*lost.get(task, ()), *won.get(task, ())][: plan.FORCED_FLIPS]]


def _correct(contents: Contents, answer: Answer) -> bool | None:
    said = contents.scores.get(answer.key)
    return said.outcome == "correct" if isinstance(said, Score) else None


def sense(arm: str, launch: int, server: Server, journal: Journal, say: Callable[[str], None]) -> None:
    """Ask what is still to be asked. Every figure, and what could not be measured, is in the journal as soon as it is known."""
    with journal.still() as contents:
        left = targets(contents, arm, launch)
    if left:
        start = time.monotonic()
        failed = asyncio.run(_ask(arm, launch, left, server, journal))
        not_measured = f", {failed} of them not measured" if failed else ""
        asked = f"{arm} · log-probabilities of the baseline's answers: {len(left)}{not_measured}"
        say(f"  {asked}, in {time.monotonic() - start:.0f} s")


async def _ask(arm: str, launch: int, left: list[Target], server: Server, journal: Journal) -> int:
    """How many could not be measured. One at a time, for what one takes of memory."""
    failed = in_a_row = 0
    gone: Failure | None = None
    async with Client(server.endpoint, timeout_s=TIMEOUT_S, alive=server.alive) as client:
        for target in left:
            told = gone or await forcing.ask(client, target.given)
            if isinstance(told, Failure):
                failed, in_a_row = failed + 1, in_a_row + 1
                if not server.alive():
                    told = Failure(kind="connection", message=f"the server ended of it: {server.cause() or told.message}")
                if not server.alive() or in_a_row == FAILURES or told.kind == "timeout":
                    gone = told
            else:
                in_a_row = 0
            _keep(arm, launch, target, told, journal)
    return failed


def give_up(arm: str, launch: int, why: str, journal: Journal) -> None:
    """Where no server was to be had: what was to be asked was not measured."""
    with journal.still() as contents:
        left = targets(contents, arm, launch)
    for target in left:
        _keep(arm, launch, target, Failure(kind="connection", message=why), journal)


def _keep(arm: str, launch: int, target: Target, told: forcing.Told | Failure, journal: Journal) -> None:
    failure = told if isinstance(told, Failure) else None
    journal.put_forced(Forced(
        arm=arm, launch=launch, task=target.task, sample_id=target.sample_id, answer_sha=target.given.sha,
        logprobs=told.logprobs if isinstance(told, forcing.Told) else (),
        top_two=told.top_two if isinstance(told, forcing.Told) else (), failure=failure,
    ))  # fmt: skip
