"""A journal's contents → the `Evidence` that judging and rendering read. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evals import forcing, ties
from evals.errors import StoreError
from evals.judged import Evidence
from evals.records import Failure, Forced, Sample, SampleRecord, Score
from evals.store import Answer, Contents, Header, Place
from tasks import task_info


def from_contents(contents: Contents) -> Evidence:
    """What judging reads: only what belongs to the configuration that the last header names.

    Raises:
        StoreError: the journal has no header.
    """
    h = contents.header
    if h is None:
        raise StoreError("the journal has no header: nothing was ever run in this folder; start it with `bumpgate run`")
    current = {t.name: {s.id: s for s in contents.samples.get(t.name, ())} for t in h.tasks}
    order = {task: {sample_id: i for i, sample_id in enumerate(samples)} for task, samples in current.items()}

    def belongs(place: Place) -> bool:
        return h.arm_keys.get(place.arm) == place.arm_key and h.task_keys.get(place.task) == place.task_key

    def asked(place: Place, sample_id: str) -> bool:
        ask = contents.asks.get((place.arm, place.task))
        return sample_id in order[place.task] and (ask is None or order[place.task][sample_id] < ask.n)

    answers = (a for (place, sample_id), a in contents.answers.items() if belongs(place) and asked(place, sample_id))
    return Evidence(
        run_id=h.run_id, name=h.name, bumpgate_version=h.bumpgate_version, started_at=h.started_at, finished=contents.finished,
        baseline=h.baseline, arms=h.arms, gates=h.gates,
        tasks=tuple(replace(t, chance=t.chance or _chance(contents.samples.get(t.name, ()))) for t in h.tasks),
        samples={t.name: contents.samples.get(t.name, ()) for t in h.tasks},
        records=ties.unmeasured(
            [_record(a, contents.scores.get(a.key), current[a.place.task][a.sample_id].target) for a in answers]
        ),
        servers=_by_arm(h, contents.servers), failures=_by_arm(h, contents.failures),
        preflights=_by_arm(h, contents.preflights),
        starts=_of_each(h, contents.starts), restarts=_of_each(h, contents.restarts),
        given_up=contents.given_up, sandbox=contents.sandbox, sensors=h.sensors, forced=_forced(h, contents),
        windows=tuple(w for place, w in contents.windows if belongs(place)),
        harness=tuple(r for (place, _), r in contents.harness.items() if belongs(place)),
        asks=contents.asks, looks=contents.looks_now(),
        stored=h.stored, left_out=contents.left_out,
    )  # fmt: skip


def _forced(header: Header, contents: Contents) -> tuple[Forced, ...]:
    """What was asked about the answers that the baseline has now."""
    now = {
        (place.task, sample_id): given.sha
        for (place, sample_id), a in contents.answers.items()
        if (place.arm, place.arm_key, place.round) == (header.baseline, header.arm_keys[header.baseline], 0)
        and header.task_keys.get(place.task) == place.task_key
        and a.response and (given := forcing.given(a.response))
    }  # fmt: skip
    told = (f for (arm, *_), (key, f) in contents.forced.items() if header.sensors and header.arm_keys.get(arm) == key)
    return tuple(f for f in told if now.get((f.task, f.sample_id)) == f.answer_sha)


def _chance(samples: Sequence[Sample]) -> float:
    """Percent that guessing among each sample's choices gets right; 0 where there is none to guess among."""
    shares = [1 / len(s.choices) for s in samples if len(s.choices) > 1]
    return 100 * sum(shares) / len(samples) if shares else 0.0


def _record(answer: Answer, said: Score | Failure | None, target: str) -> SampleRecord:
    mark = task_info(answer.place.task).score
    if said is None and answer.response is not None and mark is not None:  # a kill came between the answer and its mark
        said = mark(answer.response, target, ())
    if said is None and answer.response is not None and task_info(answer.place.task).sandboxed:
        said = Failure(kind="sandbox", message="its program was not run yet: the same `bumpgate run` does that")
    harness = said if isinstance(said, Failure) else None
    return SampleRecord(
        arm=answer.place.arm, task=answer.place.task, round=answer.place.round,
        sample_id=answer.sample_id, prompt_sha=answer.prompt_sha,
        response=answer.response, failure=answer.failure or harness, score=said if isinstance(said, Score) else None,
    )  # fmt: skip


def _by_arm(header: Header, launches: dict[tuple[str, int], tuple[str, Any]]) -> dict[str, tuple[Any, ...]]:
    out: dict[str, tuple[Any, ...]] = {}
    for name, key in header.arm_keys.items():
        rows = [
            value
            for (arm, _), (arm_key, value) in sorted(launches.items(), key=lambda item: item[0])
            if arm == name and arm_key == key
        ]
        if rows:
            out[name] = tuple(rows)
    return out


def _of_each(header: Header, rows: list[tuple[str, str, Any]]) -> dict[str, tuple[Any, ...]]:
    """(arm, its key, value) → the values of each arm's present configuration."""
    return {
        name: tuple(value for arm, arm_key, value in rows if (arm, arm_key) == (name, key))
        for name, key in header.arm_keys.items()
    }
