"""The scorecard's section on speculation by context."""

from evals import acceptance
from evals.judged import Evidence
from evals.records import SampleRecord
from evals.report.text import table


def section(evidence: Evidence) -> str:
    """Empty where no arm's drafts are known by answer, or all contexts of a task are about as long."""
    cells = []
    speculating = {r.arm for r in evidence.records if r.response and r.response.draft_tokens}
    arms = [arm.name for arm in evidence.arms if arm.name in speculating]
    for task in evidence.tasks:
        found = {
            arm: {b.first: b for b in acceptance.buckets(acceptance.points(_records(evidence, arm, task.name)))} for arm in arms
        }
        firsts = sorted({first for of_arm in found.values() for first in of_arm})
        if len(firsts) > 1:
            cells += [[task.name, _range(first), *(_cell(found[arm].get(first)) for arm in arms)] for first in firsts]
    if not cells:
        return ""
    head = " | ".join(["task", "context, tokens", *arms])
    note = "Draft tokens accepted, in percent (and over how many answers), by the position of the middle of the answer."
    return f"## Speculation by context\n\n{table(head, cells)}\n\n{note}"


def _records(evidence: Evidence, arm: str, task: str) -> list[SampleRecord]:
    return [r for r in evidence.records if (r.arm, r.task) == (arm, task)]


def _range(first: int) -> str:
    return f"{first} to {2 * first - 1}" if first else f"below {acceptance.FIRST_BUCKET}"


def _cell(bucket: acceptance.Bucket | None) -> str:
    return "–" if bucket is None else f"{100 * bucket.acceptance:.1f} ({bucket.n})"
