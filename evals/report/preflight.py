"""The scorecard's section on what was looked at before each arm was asked."""

from collections import Counter

from evals.judged import Evidence
from evals.language import later, phrase, term
from evals.records import Check
from evals.report.text import inline, table

_SHOWN = {
    "warned": later("{check} **odd**: {saw}"),
    "failed": later("{check} **failed**: {saw}"),
    "not_known": later("{check} not known: {saw}"),
}


def section(evidence: Evidence) -> str:
    """One row an arm that was looked at, and all that did not simply pass, in words."""
    seen = {arm.name: evidence.preflights.get(arm.name, ()) for arm in evidence.arms}
    checks = {arm: tuple(dict.fromkeys(c for one in launches for c in one.checks)) for arm, launches in seen.items()}
    rows = [[arm, *_cells(found)] for arm, found in checks.items() if found]
    if not rows:
        return ""
    return f"## {phrase('Before the tasks')}\n\n{table(phrase('arm | checks passed | what else was seen'), rows)}"


def _cells(found: tuple[Check, ...]) -> list[str]:
    passed = Counter(c.result for c in found)["passed"]
    others = [phrase(_SHOWN[c.result], check=term(c.name), saw=inline(c.saw)) for c in found if c.result != "passed"]
    return [phrase("{passed} of {n}", passed=passed, n=len(found)), phrase("; ").join(others) or "–"]
