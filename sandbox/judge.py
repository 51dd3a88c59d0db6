"""What one program does, asked in a sandbox of its own. The host compares; nothing the program says is believed."""

import json
from collections.abc import Callable, Sequence

from sandbox.errors import ContainerLost
from sandbox.pool import Pool
from sandbox.steps import Step, job
from sandbox.transcript import Transcript

TRIES = 3
"""Containers that are lost one after another before it is taken for the program's doing, or for Docker's."""


def always(_: Transcript) -> bool:
    return True


def never(_: Transcript) -> bool:
    return False


def judge(
    pool: Pool,
    program: str,
    entry: str,
    steps: Sequence[Step],
    keeps: bool = False,
    again: Callable[[Transcript], bool] = always,
) -> Transcript:
    """What came of each step, and how it ended. For several threads at once.

    A program that took too long or crashed may have had bad company: where `again` says so of what was seen, it is tried once
    more while this pool judges no other, and that counts. `keeps`: the arguments are observed after each call.

    Raises:
        SandboxDown: Docker does not answer, refuses, or loses containers. Never the program's fault.
        TypeError: a step holds what can't be sent.
    """
    line = json.dumps(job(program, entry, steps, keeps)).encode() + b"\n"
    with pool.turns.together():
        seen = _ask(pool, line, len(steps))
    if seen.end in ("timeout", "crashed") and again(seen):
        with pool.turns.alone():
            seen = _ask(pool, line, len(steps))
    return seen


def _ask(pool: Pool, line: bytes, steps: int) -> Transcript:
    lost: ContainerLost | None = None
    for _ in range(TRIES):
        with pool.container() as container:
            try:
                return container.ask(line, steps)
            except ContainerLost as e:
                lost = e
    assert lost is not None
    if lost.seen is None:
        raise lost
    return lost.seen
