"""The first flips of a gate in plain text, for junit.xml and for pytest. Pure."""

from evals.judged import Evidence, GateResult
from evals.records import SampleRecord
from evals.report import scorecard
from evals.report.text import clean, signed

SHOWN = 3
CHARACTERS = 60


def lines(evidence: Evidence, gate: GateResult) -> list[str]:
    """The change with its interval, then the first flips; empty where nothing could be compared."""
    delta = gate.delta
    if delta is None:
        return []
    told = [
        f"{evidence.baseline} {delta.baseline:.1f} % → {gate.arm} {delta.candidate:.1f} %: change {signed(delta.diff)} points "
        f"[{signed(delta.ci_low)}, {signed(delta.ci_high)}], n {delta.n}, margin {gate.margin:g}"
    ]
    shown = scorecard.flip_rows(evidence, gate.task, gate.arm)[:SHOWN]
    for row in shown:
        answers = f"{evidence.baseline} {_said(row.baseline)}, {gate.arm} {_said(row.candidate)}"
        told.append(f"  {clean(row.sample.id)}: {answers} (expected {_short(row.sample.target)})")
    if (more := delta.newly_wrong + delta.newly_right - len(shown)) > 0:
        told.append(f"  and {more} more that changed sides")
    return told


def _said(record: SampleRecord | None) -> str:
    if record is None or record.score is None:
        return "not measured"
    score = record.score
    mark = f"no answer ({score.reason})" if score.outcome == "no_answer" else score.outcome
    return mark if score.answer is None else f"{mark} {_short(score.answer)}"


def _short(text: str) -> str:
    line = " ".join(clean(text).split())
    return f"'{line if len(line) <= CHARACTERS else f'{line[:CHARACTERS]} …'}'"
