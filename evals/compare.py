"""Pairs one task's records of a candidate with the baseline's, sample by sample. Pure.

A sample that one arm could not measure in every planned round is an error: it is never scored, only counted,
and in `excluded_drop_worst` it is counted against the candidate.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evals.judged import Delta, Evidence, Flip, TaskSpec
from evals.language import phrase
from evals.looks import Levels
from evals.records import SampleRecord, Score
from evals.stats import drop_is_real, excludes, mcnemar_mid_p, paired_interval


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """The records of a run's planned samples, found by arm, task and round."""

    pages: dict[tuple[str, str, int], dict[str, SampleRecord]]

    def of(self, arm: str, task: str, round: int) -> dict[str, SampleRecord]:
        """By sample id; empty where nothing was recorded."""
        return self.pages.get((arm, task, round), {})


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A planned sample: its share of rounds answered correctly, 0–1, on each arm; None where that arm has an error."""

    sample_id: str
    baseline: float | None
    candidate: float | None


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How one arm did on a task in one round."""

    n: int
    """Samples with a score."""
    correct: int
    no_answer: int
    reasons: Counter[str]
    """Why there was no answer."""
    longest_cut: int | None
    """Tokens of the longest response that was cut off before its answer: what max_tokens was; None where none was."""


@dataclass(frozen=True, kw_only=True)
class PromptCheck:
    """Whether two arms were asked the same."""

    n: int
    """Samples with a record on both arms."""
    n_without_ids: int
    """Samples that both answered, but an engine did not tell the rendered prompt's token ids."""
    differing: tuple[str, ...]
    """Ids of the samples whose messages or token ids differ."""


def ledger(evidence: Evidence) -> Ledger:
    planned = {
        (arm.name, task): {sample.id for sample in evidence.asked(arm.name, task)}
        for arm in evidence.arms
        for task in evidence.samples
    }
    pages: dict[tuple[str, str, int], dict[str, SampleRecord]] = {}
    for record in evidence.records:
        if record.sample_id in planned.get((record.arm, record.task), ()):
            pages.setdefault((record.arm, record.task, record.round), {})[record.sample_id] = record
    return Ledger(pages=pages)


def task_spec(evidence: Evidence, task: str) -> TaskSpec | None:
    return next((spec for spec in evidence.tasks if spec.name == task), None)


def is_scored(record: SampleRecord) -> bool:
    return record.failure is None and record.response is not None and record.score is not None


def pairs(evidence: Evidence, task: str, arm: str) -> tuple[Pair, ...]:
    """Every sample of the task that the candidate was to be asked, in its order."""
    spec = task_spec(evidence, task)
    if spec is None:
        return ()
    book = ledger(evidence)
    baseline = [book.of(evidence.baseline, task, k) for k in range(spec.rounds)]
    candidate = [book.of(arm, task, k) for k in range(spec.rounds)]
    return tuple(
        Pair(sample_id=sample.id, baseline=_value(baseline, sample.id), candidate=_value(candidate, sample.id))
        for sample in evidence.asked(arm, task)
    )


def _value(rounds: Sequence[dict[str, SampleRecord]], sample_id: str) -> float | None:
    correct = 0
    for page in rounds:
        record = page.get(sample_id)
        if record is None or record.score is None or not is_scored(record):
            return None
        correct += record.score.outcome == "correct"
    return correct / len(rounds)


def measured(paired: Sequence[Pair]) -> list[Flip]:
    return [
        Flip(sample_id=pair.sample_id, baseline=pair.baseline, candidate=pair.candidate)
        for pair in paired
        if pair.baseline is not None and pair.candidate is not None
    ]


def _filled(paired: Sequence[Pair], *, baseline: float, candidate: float) -> list[Flip]:
    """Every planned sample, with a value for what could not be measured."""
    return [
        Flip(
            sample_id=pair.sample_id,
            baseline=baseline if pair.baseline is None else pair.baseline,
            candidate=candidate if pair.candidate is None else pair.candidate,
        )
        for pair in paired
    ]


def samples_lost(samples: Sequence[Flip]) -> float:
    return sum(max(sample.baseline - sample.candidate, 0.0) for sample in samples)


def samples_won(samples: Sequence[Flip]) -> float:
    return sum(max(sample.candidate - sample.baseline, 0.0) for sample in samples)


def compare(evidence: Evidence, task: str, arm: str, levels: Levels, margin: float) -> Delta | None:
    """Candidate − baseline on one task; None where no sample was measured on both. `margin` in points."""
    spec = task_spec(evidence, task)
    paired = pairs(evidence, task, arm)
    both = measured(paired)
    if spec is None or not both:
        return None
    n, lost, won, confidence = len(both), samples_lost(both), samples_won(both), 1 - 2 * levels.passing
    drop = paired_interval(lost, won, n, confidence)
    worst, best = _filled(paired, baseline=1.0, candidate=0.0), _filled(paired, baseline=0.0, candidate=1.0)
    real = _is_real(both, spec.rounds, levels.regression)
    excluded = _is_excluded(both, margin, levels.passing)
    at_worst = paired_interval(samples_lost(worst), samples_won(worst), len(worst), confidence)
    return Delta(
        n=n,
        errors=len(paired) - n,
        baseline=100 * sum(sample.baseline for sample in both) / n,
        candidate=100 * sum(sample.candidate for sample in both) / n,
        diff=100 * (won - lost) / n,
        ci_low=-100 * drop.high,
        ci_high=-100 * drop.low,
        excluded_drop=100 * drop.high,
        # An error on a sample that the other arm's score makes a tie only adds to n: it must not make the bound better.
        excluded_drop_worst=100 * max(at_worst.high, drop.high),
        excluded=excluded,
        excluded_at_worst=excluded and _is_excluded(worst, margin, levels.passing),
        lost=lost,
        won=won,
        newly_wrong=_newly_wrong(both),
        newly_right=_newly_right(both),
        p_value=_p_value(both) if spec.rounds == 1 else None,
        drop_is_real=real,
        drop_is_real_at_best=real and _is_real(best, spec.rounds, levels.regression),
    )


def _is_real(samples: Sequence[Flip], rounds: int, alpha: float) -> bool:
    return bool(drop_is_real(samples_lost(samples), samples_won(samples), len(samples), rounds, alpha))


def _is_excluded(samples: Sequence[Flip], margin: float, alpha: float) -> bool:
    return bool(excludes(samples_lost(samples), samples_won(samples), len(samples), margin / 100, alpha))


def _p_value(samples: Sequence[Flip]) -> float:
    return mcnemar_mid_p(_newly_wrong(samples), _newly_right(samples))


def _newly_wrong(samples: Sequence[Flip]) -> int:
    return sum(sample.candidate < sample.baseline for sample in samples)


def _newly_right(samples: Sequence[Flip]) -> int:
    return sum(sample.candidate > sample.baseline for sample in samples)


def flips(evidence: Evidence, task: str, arm: str) -> tuple[Flip, ...]:
    """Samples whose score differs, the most telling first: the largest change, newly wrong before newly right."""
    flipped = [sample for sample in measured(pairs(evidence, task, arm)) if sample.baseline != sample.candidate]
    return tuple(sorted(flipped, key=lambda flip: (-abs(flip.baseline - flip.candidate), flip.candidate > flip.baseline)))


def fingerprints(book: Ledger, arm: str, spec: TaskSpec) -> list[str]:
    """What an arm's answers on a task call their server, where that is more than one; else empty."""
    records = (record for k in range(spec.rounds) for record in book.of(arm, spec.name, k).values())
    seen = {record.response.fingerprint for record in records if record.response and record.response.fingerprint}
    return sorted(seen) if len(seen) > 1 else []


def tally(book: Ledger, arm: str, task: str, round: int = 0) -> Tally:
    records = [record for record in book.of(arm, task, round).values() if is_scored(record)]
    scores = [record.score for record in records if record.score is not None]
    cut = [r.response.completion_tokens or 0 for r in records if r.score and r.response and _is_cut(r.score)]
    silent = [score for score in scores if score.outcome == "no_answer"]
    return Tally(
        n=len(scores),
        correct=sum(score.outcome == "correct" for score in scores),
        no_answer=len(silent),
        reasons=Counter(score.reason or phrase("no reason given") for score in silent),
        longest_cut=max(cut, default=None),
    )


def _is_cut(score: Score) -> bool:
    return score.reason in ("truncated", "truncated_in_thinking")


def check_prompts(evidence: Evidence, book: Ledger, task: str, arm: str) -> PromptCheck:
    """Compares messages and, where both engines told them, rendered token ids, round by round."""
    spec = task_spec(evidence, task)
    asked: set[str] = set()
    without_ids: set[str] = set()
    differing: set[str] = set()
    for k in range(spec.rounds if spec else 0):
        candidate = book.of(arm, task, k)
        for sample_id, ours in book.of(evidence.baseline, task, k).items():
            if (theirs := candidate.get(sample_id)) is None:
                continue
            asked.add(sample_id)
            if ours.prompt_sha != theirs.prompt_sha:
                differing.add(sample_id)
            if ours.response is None or theirs.response is None:
                continue
            if ours.response.prompt_ids_sha is None or theirs.response.prompt_ids_sha is None:
                without_ids.add(sample_id)
                lengths = {ours.response.prompt_tokens, theirs.response.prompt_tokens} - {None}
                differing |= {sample_id} if len(lengths) > 1 else set()
            elif ours.response.prompt_ids_sha != theirs.response.prompt_ids_sha:
                differing.add(sample_id)
    order = tuple(sample.id for sample in evidence.samples.get(task, ()) if sample.id in differing)
    return PromptCheck(n=len(asked), n_without_ids=len(without_ids), differing=order)
