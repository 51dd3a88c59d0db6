"""A made-up run in which everything that scorecard.html draws is to be seen, and one of several thinking efforts."""

from dataclasses import replace

from evidence import record
from test_levels import run as run_of_efforts
from test_report import run as run_of_versions

from evals.judged import Evidence, TaskSpec
from evals.records import Message, Sample, SampleRecord

LENGTHS = (8192, 32768, 100000)
DEPTHS = (10, 30, 50, 70, 90)
NEEDLES = tuple(
    f"{language}-{length}-d{depth}-{i}" for language in ("en", "zh") for length in LENGTHS for depth in DEPTHS for i in (1, 2)
)
SLOT = (Message(role="user", content="A long text. " * 1000 + "What is the secret word of the amber fox?"),)


def needle_record(arm: str, sample_id: str) -> SampleRecord:
    """The baseline misses one, awq what lies deep in long texts; mtp's drafts are hardly accepted in the longest."""
    _, length, depth, i = sample_id.split("-")
    missed = (arm == "bf16" and sample_id == "zh-100000-d50-1") or (
        arm == "awq" and int(length) >= 32768 and depth in ("d70", "d90") and (i == "1" or length == "100000")
    )
    drafts = {"draft_tokens": 40, "accepted_tokens": 2 if length == "100000" else 31} if arm == "mtp" else {}
    said = "I don't know." if missed else "k3m9xw4tzq7h"
    return record(arm, sample_id, "w" if missed else "c", task="needle", prompt_tokens=int(length), text=said, **drafts)


def full_run() -> Evidence:
    """bf16 against awq, which got worse, and mtp."""
    plain = run_of_versions()
    needles = tuple(Sample(id=i, messages=SLOT, target="the amber fox=k3m9xw4tzq7h") for i in NEEDLES)
    return replace(
        plain,
        tasks=(*plain.tasks, TaskSpec(name="needle", rounds=1, chance=0.0, marked=True)),
        samples={**plain.samples, "needle": needles},
        records=(*plain.records, *(needle_record(arm, i) for arm in ("bf16", "awq", "mtp") for i in NEEDLES)),
    )


def thinking_run() -> Evidence:
    """off, low and xhigh on one server: each is right oftener, and takes longer."""
    plain = run_of_efforts(("c" * 80 + "w" * 120,), ("c" * 120 + "w" * 80,), ("c" * 160 + "w" * 40,))
    tokens = {"a-off": 40, "a-low": 300, "a-xhigh": 2400}

    def thought(r: SampleRecord) -> SampleRecord:
        assert r.response is not None
        n = tokens[r.arm]
        thinking = {"reasoning": "Let me think. " * (n // 4), "reasoning_tokens": n} if r.arm != "a-off" else {}
        return replace(r, response=replace(r.response, completion_tokens=n + 20, latency_s=n / 50, **thinking))

    return replace(plain, records=tuple(map(thought, plain.records)))
