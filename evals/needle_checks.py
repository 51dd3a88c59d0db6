"""What a reader should know of needles beside their recall: lengths off the wanted, a warm pass that was not warm. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from evals.compare import Ledger, is_scored
from evals.judged import ArmSpec, Evidence, Finding, Severity, TaskSpec
from evals.language import phrase, term
from evals.records import SampleRecord
from tasks.needle import Cell

TASK = "needle"
LEAST_HITS = 0.4
"""Of a warm pass's prompt tokens, which are half the prompts that fill the cache and half those that take from it."""


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """How the prompts' tokens, as the engine counted them when it answered, compare to what was wanted."""

    exact: int
    n: int
    untold: int
    """Answers beside those n to which the engine did not tell what their prompt took."""
    least: int
    most: int
    """Tokens more than wanted, of the prompts that were off: the fewest (below 0 is less than wanted) and the most."""

    def sentence(self) -> str:
        if not self.n:
            return phrase(
                "In {untold} answers the engine did not tell how many tokens a prompt took: its length is unchecked.",
                untold=self.untold,
            )
        untold = phrase("; to {untold} more the engine did not tell it", untold=self.untold) if self.untold else ""
        if self.exact == self.n:
            return phrase("All {n} prompts had exactly the wanted number of tokens{untold}.", n=self.n, untold=untold)
        least, most = (f"{off:+}".replace("-", "−") for off in (self.least, self.most))
        return phrase(
            "{exact} of {n} prompts had exactly the wanted number of tokens; the others were off by {off}{untold}.",
            exact=self.exact,
            n=self.n,
            off=least if least == most else phrase("{least} to {most}", least=least, most=most),
            untold=untold,
        )


def lengths(book: Ledger, arm: str, task: TaskSpec) -> Lengths:
    """Over all rounds of an arm, of what was answered."""
    answered = [r for r in _records(book, arm, task) if r.response]
    off = [
        r.response.prompt_tokens - Cell.read(r.sample_id).length
        for r in answered
        if r.response and r.response.prompt_tokens is not None
    ]
    wrong = [by for by in off if by]
    return Lengths(
        exact=off.count(0), n=len(off), untold=len(answered) - len(off), least=min(wrong, default=0), most=max(wrong, default=0)
    )


def checks(evidence: Evidence, book: Ledger, arm: ArmSpec, task: TaskSpec) -> Iterator[Finding]:
    """Of one arm."""
    yield from _length_checks(evidence, book, arm, task)
    if task.warm:
        yield from _warm_checks(evidence, book, arm, task)


def _length_checks(evidence: Evidence, book: Ledger, arm: ArmSpec, task: TaskSpec) -> Iterator[Finding]:
    seen = lengths(book, arm.name, task)
    if seen.untold or seen.exact < seen.n:
        severity: Severity = "warning" if arm.same_prompts else "note"  # another template makes another length
        yield _finding(severity, "needle_lengths", arm, seen.sentence())
    ours = {(r.round, r.sample_id): r.response.prompt_tokens for r in _records(book, evidence.baseline, task) if r.response}
    theirs = {(r.round, r.sample_id): r.response.prompt_tokens for r in _records(book, arm.name, task) if r.response}
    both = [(key[1], ours[key], theirs[key]) for key in theirs if ours.get(key) is not None and theirs[key] is not None]
    if arm.same_prompts and (differing := [told for told in both if told[1] != told[2]]):
        sample_id, baseline, candidate = differing[0]
        text = phrase(
            "the same text took another number of tokens than in the baseline in {differing} of {n} answers; "
            "first {sample}: {candidate} in place of {baseline}",
            differing=len(differing),
            n=len(both),
            sample=sample_id,
            candidate=candidate,
            baseline=baseline,
        )
        yield _finding("alarm", "needle_lengths", arm, text)


@dataclass(frozen=True, kw_only=True)
class Hits:
    """Prompt tokens of an arm's warm passes, the requests that fill the cache among them, and those that the cache had."""

    found: int
    asked: int

    def sentence(self) -> str:
        return phrase(
            "{found:,} of {asked:,} prompt tokens of the warm pass came from the prefix cache",
            found=self.found,
            asked=self.asked,
        )


def warm_hits(evidence: Evidence, arm: str, task: TaskSpec) -> Hits | None:
    """None where nothing was asked warm, or the engine does not tell."""
    windows = [w for w in evidence.windows if (w.arm, w.task) == (arm, task.name) and task.warm and w.round % 2 == 1]
    counts = [(w.prefix_cache_hits, w.prefix_cache_queries) for w in windows]
    told = [(found, asked) for found, asked in counts if found is not None and asked is not None]
    if not told or len(told) < len(counts):
        return None
    return Hits(found=sum(found for found, _ in told), asked=sum(asked for _, asked in told))


def _warm_checks(evidence: Evidence, book: Ledger, arm: ArmSpec, task: TaskSpec) -> Iterator[Finding]:
    if (hits := warm_hits(evidence, arm.name, task)) is None:
        if any(book.of(arm.name, task.name, k) for k in range(1, task.rounds, 2)):
            text = phrase("/metrics does not tell prefix-cache hits, so that nobody knows if the warm pass was warm")
            yield _finding("warning", "warm_unknown", arm, text)
    elif not hits.found:
        text = phrase("{said}: it is off, or holds no prompt; these answers are cold ones", said=hits.sentence())
        yield _finding("alarm", "warm_not_warm", arm, text)
    elif hits.found < LEAST_HITS * hits.asked:
        text = phrase(
            "{said}, and half or more do where it holds every prompt; a lower `concurrency` may help", said=hits.sentence()
        )
        yield _finding("warning", "warm_not_warm", arm, text)
    if differing := warm_differing(book, arm.name, task):
        lost = sum(cold.score is not None and cold.score.outcome == "correct" for cold, _ in differing)
        cold, warm = (term(_mark(record)).replace("_", " ") for record in differing[0])
        text = phrase(
            "{n} warm answers are marked otherwise than the cold ones to the same prompt ({lost} lost, {rest} not); "
            "first {sample}: {cold} and then {warm}",
            n=len(differing),
            lost=lost,
            rest=len(differing) - lost,
            sample=differing[0][0].sample_id,
            cold=cold,
            warm=warm,
        )
        yield _finding("warning", "warm_differs", arm, text)


def warm_differing(book: Ledger, arm: str, task: TaskSpec) -> list[tuple[SampleRecord, SampleRecord]]:
    """Cold and warm answers to the same prompt whose marks differ, in the order of rounds and samples."""
    pairs = [
        (cold, warm)
        for k in range(0, task.rounds, 2)
        for sample_id, cold in book.of(arm, task.name, k).items()
        if (warm := book.of(arm, task.name, k + 1).get(sample_id)) and is_scored(cold) and is_scored(warm)
    ]
    return [(cold, warm) for cold, warm in pairs if _mark(cold) != _mark(warm)]


def _mark(record: SampleRecord) -> str:
    score = record.score
    return score.reason or score.outcome if score else phrase("not marked")


def _records(book: Ledger, arm: str, task: TaskSpec) -> list[SampleRecord]:
    return [record for k in range(task.rounds) for record in book.of(arm, task.name, k).values()]


def _finding(severity: Severity, kind: str, arm: ArmSpec, text: str) -> Finding:
    return Finding(severity=severity, kind=kind, arm=arm.name, task=TASK, text=text)
