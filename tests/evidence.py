"""Builders of small runs for the judging rooms' tests.

A pass of an arm over a task is a string, one letter a sample: c correct, w wrong, t truncated (no answer),
m empty (no answer), e a request that failed, u a response without a score, - no record.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evals.judged import ArmSpec, Evidence, GateSpec, TaskSpec
from evals.records import Failure, LaunchFailure, Message, Response, Sample, SampleRecord, Score

BASELINE = "v025"
CANDIDATE = "v029"
SCORES = {
    "c": Score(outcome="correct", answer="7"),
    "w": Score(outcome="wrong", answer="8"),
    "t": Score(outcome="no_answer", reason="truncated"),
    "m": Score(outcome="no_answer", reason="empty"),
}


def response(**fields: Any) -> Response:
    told: dict[str, Any] = {
        "text": "#### 7",
        "reasoning": None,
        "finish_reason": "stop",
        "token_ids": (1, 2, 3),
        "prompt_ids_sha": "p",
        "top_two": None,
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "reasoning_tokens": None,
        "latency_s": 0.1,
        "fingerprint": None,
    }
    return Response(**(told | fields))


def record(arm: str, sample_id: str, letter: str = "c", *, task: str = "gsm8k", round: int = 0, **fields: Any) -> SampleRecord:
    failed = letter == "e"
    return SampleRecord(
        arm=arm,
        task=task,
        round=round,
        sample_id=sample_id,
        prompt_sha="m",
        response=None if failed else response(**fields),
        failure=Failure(kind="timeout", message="no answer in 60 s") if failed else None,
        score=SCORES.get(letter),
    )


def passes(arm: str, rounds: tuple[str, ...], *, task: str = "gsm8k", **fields: Any) -> tuple[SampleRecord, ...]:
    return tuple(
        record(arm, f"s{i}", letter, task=task, round=k, **fields)
        for k, letters in enumerate(rounds)
        for i, letter in enumerate(letters)
        if letter != "-"
    )


def samples(n: int) -> tuple[Sample, ...]:
    return tuple(Sample(id=f"s{i}", messages=(Message(role="user", content="?"),), target="7") for i in range(n))


def evidence(baseline: str | tuple[str, ...], candidates: Mapping[str, str | tuple[str, ...]], **fields: Any) -> Evidence:
    """One marked task, gsm8k, with one gate of 2 points; `fields` override the run's own."""
    arms = {
        arm: rounds if isinstance(rounds, tuple) else (rounds,) for arm, rounds in {BASELINE: baseline, **candidates}.items()
    }
    told: dict[str, Any] = {
        "run_id": "r",
        "name": "upgrade",
        "bumpgate_version": "0.1.0",
        "started_at": "2026-01-01T00:00:00Z",
        "finished": True,
        "baseline": BASELINE,
        "arms": tuple(ArmSpec(name=arm, same_prompts=True) for arm in arms),
        "tasks": (TaskSpec(name="gsm8k", rounds=len(arms[BASELINE]), chance=0.0, marked=True),),
        "gates": (GateSpec(task="gsm8k", margin=2.0),),
        "samples": {"gsm8k": samples(len(arms[BASELINE][0]))},
        "records": tuple(row for arm, rounds in arms.items() for row in passes(arm, rounds)),
        "servers": {},
        "failures": {},
        "starts": {},
        "restarts": {},
        "given_up": (),
        "windows": (),
        "harness": (),
    }
    return Evidence(**(told | fields))


def two_arms(baseline: str | tuple[str, ...], candidate: str | tuple[str, ...], **fields: Any) -> Evidence:
    return evidence(baseline, {CANDIDATE: candidate}, **fields)


def margin(run: Evidence, points: float) -> Evidence:
    return replace(run, gates=tuple(replace(gate, margin=points) for gate in run.gates))


def change(run: Evidence, arm: str, sample_ids: set[str], **fields: Any) -> Evidence:
    """Other fields in the responses of these samples."""
    return replace(
        run,
        records=tuple(
            replace(row, response=replace(row.response, **fields))
            if row.arm == arm and row.sample_id in sample_ids and row.response is not None
            else row
            for row in run.records
        ),
    )


def launch_failure(reason: str, stage: Any = "start") -> LaunchFailure:
    return LaunchFailure(launch=0, engine="venv vllm==0.29.0", stage=stage, reason=reason, log_tail=("last line",))
