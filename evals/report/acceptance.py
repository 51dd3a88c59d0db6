"""The scorecard's section on speculation by context."""

from dataclasses import dataclass

from evals import acceptance
from evals.judged import Evidence
from evals.language import phrase
from evals.records import SampleRecord
from evals.report.text import table


@dataclass(frozen=True, kw_only=True)
class ContextRow:
    """How much was accepted on a task at one length of context."""

    task: str
    first: int
    """Tokens: from here on, up to twice that."""
    by_arm: dict[str, acceptance.Bucket | None]
    """Of the arms that speculate; None where an arm has no answer there."""

    @property
    def context(self) -> str:
        return (
            phrase("{first} to {last}", first=self.first, last=2 * self.first - 1)
            if self.first
            else phrase("below {first}", first=acceptance.FIRST_BUCKET)
        )


def section(evidence: Evidence) -> str:
    """Empty where no arm's drafts are known by answer, or all contexts of a task are about as long."""
    found = rows(evidence)
    if not found:
        return ""
    head = " | ".join([phrase("task"), phrase("context, tokens"), *found[0].by_arm])
    cells = [[row.task, row.context, *map(_cell, row.by_arm.values())] for row in found]
    note = phrase("Draft tokens accepted, in percent (and over how many answers), by the position of the middle of the answer.")
    return f"## {phrase('Speculation by context')}\n\n{table(head, cells)}\n\n{note}"


def rows(evidence: Evidence) -> list[ContextRow]:
    """By task, then by context."""
    out = []
    speculating = {r.arm for r in evidence.records if r.response and r.response.draft_tokens}
    arms = [arm.name for arm in evidence.arms if arm.name in speculating]
    for task in evidence.tasks:
        found = {
            arm: {b.first: b for b in acceptance.buckets(acceptance.points(_records(evidence, arm, task.name)))} for arm in arms
        }
        firsts = sorted({first for of_arm in found.values() for first in of_arm})
        if len(firsts) > 1:
            out += [
                ContextRow(task=task.name, first=first, by_arm={arm: found[arm].get(first) for arm in arms}) for first in firsts
            ]
    return out


def _records(evidence: Evidence, arm: str, task: str) -> list[SampleRecord]:
    return [r for r in evidence.records if (r.arm, r.task) == (arm, task)]


def _cell(bucket: acceptance.Bucket | None) -> str:
    return "–" if bucket is None else f"{100 * bucket.acceptance:.1f} ({bucket.n})"
