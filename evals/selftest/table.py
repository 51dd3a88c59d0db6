"""What the gate said of each planted change, against what it should have said. Pure."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from evals import sensors
from evals.judged import Divergence, Evidence, GateResult, Verdict, VerdictName
from evals.report.outcomes import SameTokens, same_tokens
from evals.report.text import inline, signed, table
from evals.selftest.planted import PLANTED, Planted
from evals.sensors import Reading

TASK = "gsm8k"
REASON_LIMIT = 200
_HEAD = (
    "planted | what it is | should be | the gate said | n | correct: base → planted | change [90 % interval] "
    "| same tokens: gsm8k | same tokens: greedy | the baseline's words | as it should"
)
_NOTE = (
    "*Same tokens*: answers that are the baseline's to the last token. *The baseline's words*: of the tokens of its answers to "
    "the gate's questions, the share that the arm would have chosen itself, how much a token's log-probability changes, and "
    "whether that is more than a restart changes."
)


@dataclass(frozen=True, kw_only=True)
class Row:
    planted: Planted
    gate: GateResult
    same: SameTokens
    """Answers to the gate's task that have the baseline's tokens."""
    greedy: Divergence | None
    reading: Reading | None
    """How likely it finds the baseline's answers to the gate's task."""

    @property
    def as_expected(self) -> bool:
        match self.planted.expects:
            case "INVALID":
                return self.gate.verdict == "INVALID" and self.planted.words in self.gate.reason
            case "small":
                return self.gate.verdict != "INVALID"
            case verdict:
                return self.gate.verdict == verdict


def rows(evidence: Evidence, verdict: Verdict) -> tuple[Row, ...]:
    """One for each change that is an arm of the run."""
    gates = {gate.arm: gate for gate in verdict.gates if gate.task == TASK}
    greedy = {one.arm: one for one in verdict.divergences}
    read = {one.arm: one for one in sensors.readings(evidence) if one.task == TASK}
    return tuple(
        Row(
            planted=p, gate=gates[p.name], same=same_tokens(evidence, p.name, TASK), greedy=greedy.get(p.name),
            reading=read.get(p.name),
        )
        for p in PLANTED
        if p.name in gates
    )  # fmt: skip


def exit_code(found: Sequence[Row]) -> int:
    """0 where all is as it should be; 3 where no more is known than that something could not be measured; else 1."""
    unlike = {row.gate.verdict for row in found if not row.as_expected}
    unknown: set[VerdictName] = {"INVALID"}
    return 0 if not unlike else 3 if unlike == unknown else 1


def markdown(evidence: Evidence, found: Sequence[Row]) -> str:
    good = sum(row.as_expected for row in found)
    gate = evidence.gates[0]
    n, engine = len(evidence.samples.get(TASK, ())), _engine(evidence)
    return "\n".join([
        f"# selftest: {good} of {len(found)} as they should be",
        "",
        f"{_counted([r for r in found if r.planted.fault], 'faults')}; "
        f"{_counted([r for r in found if not r.planted.fault], 'harmless changes')}.",
        "",
        f"The shipped tiny model, served by {engine}: {n} questions of {TASK}'s format, margin {gate.margin:g} points; "
        f"a drop is real at 5 % over {len(found)} gates.",
        "",
        table(_HEAD, map(_cells, found)),
        "",
        _NOTE,
        "",
    ])  # fmt: skip


def document(found: Sequence[Row]) -> str:
    """The rows for a machine: as verdict.json has a gate, with what was planted and what should have been said of it."""
    told = [
        {
            "name": row.planted.name, "says": row.planted.says, "fault": row.planted.fault, "expects": row.planted.expects,
            "words": row.planted.words, "as_expected": row.as_expected, "gate": asdict(row.gate),
            "same_tokens": asdict(row.same), "greedy": asdict(row.greedy) if row.greedy else None,
        }
        for row in found
    ]  # fmt: skip
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"


def _engine(evidence: Evidence) -> str:
    return next((server.engine for server in evidence.servers.get(evidence.baseline, ())), "no engine that answered")


def _counted(found: Sequence[Row], what: str) -> str:
    """`14 faults: 8 REGRESSION, 4 INVALID, 2 PASS`."""
    seen = Counter(row.gate.verdict for row in found)
    kind = what if len(found) != 1 else what.removesuffix("s")
    return f"{len(found)} {kind}: {', '.join(f'{k} {name}' for name, k in seen.most_common())}" if found else f"no {what}"


def _cells(row: Row) -> list[str]:
    delta = row.gate.delta
    measured = ["–", "–", "–"] if delta is None else [
        str(delta.n), f"{delta.baseline:.1f} → {delta.candidate:.1f}",
        f"{signed(delta.diff)} [{signed(delta.ci_low)}, {signed(delta.ci_high)}]",
    ]  # fmt: skip
    same = f"{row.same.same} of {row.same.comparable}" if row.same.comparable else "–"
    greedy = f"{row.greedy.n - row.greedy.differs} of {row.greedy.n}" if row.greedy else "–"
    should = {"small": "too small to see", "INVALID": f"INVALID: `{row.planted.words}`"}
    return [
        row.planted.name, row.planted.says, should.get(row.planted.expects, row.planted.expects), _said(row), *measured,
        same, greedy, _words(row.reading), "yes" if row.as_expected else "**NO**",
    ]  # fmt: skip


def _said(row: Row) -> str:
    if row.gate.delta is None or row.gate.verdict == "INVALID":
        return f"**{row.gate.verdict}**: {inline(row.gate.reason, REASON_LIMIT)}"
    small = ": too small to see" if row.planted.fault and row.gate.verdict in ("PASS", "INCONCLUSIVE") else ""
    return f"**{row.gate.verdict}**{small}"


def _words(reading: Reading | None) -> str:
    if reading is None:
        return "–"
    figures = reading.figures
    told = f"{100 * figures.agreement.mean:.1f} %, {figures.size.mean:.3f} nats"
    return f"{told}, more than a restart" if reading.is_beyond else told
