"""scorecard.md: the verdict first, then one table, then the evidence. Reads in a terminal, on a forge and in a chat.

Only here are figures rounded. Nothing is decided here.
"""

from collections.abc import Mapping

from evals.judged import GRAVEST_FIRST, Evidence, Finding, GateResult, Verdict, VerdictName
from evals.language import later, phrase, term
from evals.records import SampleRecord, Score
from evals.report import acceptance, arms, coding, greedy, known, needle, outcomes, preflight, sensors, subjects, thinking
from evals.report import scorecard as rows
from evals.report.short import short
from evals.report.text import block, code, inline, signed, table
from tasks import task_info

ANSWER_CHARS = 200
LINE_CHARS = 1000
"""Of a log's line."""
LONG_CHARS = 4000
_MEANING: dict[VerdictName, str] = {
    "PASS": later("No candidate lost more than its margin allows, and the samples were enough to know it."),
    "REGRESSION": later("A candidate got worse: the drop is real, and the samples don't rule out that it reaches the margin."),
    "INCONCLUSIVE": later("Nothing was shown to be worse, but the samples were too few to rule a drop of the margin out."),
    "INVALID": later("Something could not be measured or compared. This is not a pass."),
}
_SHOWN_ELSEWHERE = {"arm_failed", "greedy_excess", "greedy_no_excess", "sensor", "sensor_unmeasured"}
"""Findings with a section of their own."""


def scorecard(evidence: Evidence, verdict: Verdict) -> str:
    """The whole document, ending in a newline."""
    return document(sections(evidence, verdict))


def document(parts: Mapping[str, str]) -> str:
    """What scorecard.md has of the sections."""
    return "\n\n".join(short(parts).values()) + "\n"


def sections(evidence: Evidence, verdict: Verdict) -> dict[str, str]:
    """By name, in their order; empty where there is nothing to say."""
    return {
        "head": _head(evidence, verdict),
        "gates": _gates(evidence, verdict),
        "known": known.section(evidence, verdict),
        "changes": arms.changes(evidence),
        "findings": _findings(verdict.findings),
        "failures": _failures(evidence),
        "flips": _flips(evidence, verdict),
        "thinking": thinking.section(evidence),
        "subjects": subjects.section(evidence),
        "coding": coding.section(evidence),
        "needles": needle.section(evidence),
        "greedy": greedy.section(evidence, verdict.divergences),
        "sensors": sensors.section(evidence),
        "preflight": preflight.section(evidence),
        "arms": arms.arms(evidence),
        "outcomes": outcomes.section(evidence),
        "costs": _costs(evidence),
        "acceptance": acceptance.section(evidence),
        "harness": _harness(evidence),
        "method": _method(evidence),
    }


def _head(evidence: Evidence, verdict: Verdict) -> str:
    margins = phrase(", ").join(f"{g.task} {_num(g.margin)}" for g in evidence.gates) or phrase("none")
    judged = phrase(
        "Judged against **{baseline}**; margins, in percentage points: {margins}.", baseline=evidence.baseline, margins=margins
    )
    judged = phrase(" ").join(filter(None, [judged, thinking.asked(evidence)]))
    lines = [f"# {verdict.overall}: {evidence.name}", "", f"{phrase(_MEANING[verdict.overall])}{phrase(' ')}{judged}", ""]
    for arm, name in sorted(verdict.by_arm.items(), key=lambda said: GRAVEST_FIRST.index(said[1])):
        reasons = phrase("; ").join(f"{g.task}{phrase(': ')}{g.reason}" for g in verdict.gates if g.arm == arm)
        lines.append(f"- {phrase('**{arm}: {name}.** {reasons}', arm=arm, name=name, reasons=inline(reasons))}")
    if not evidence.finished:
        lines += ["", phrase("**The run is not finished**: the same `bumpgate run` goes on where it stopped.")]
    return "\n".join(lines)


def _gates(evidence: Evidence, verdict: Verdict) -> str:
    if not verdict.gates:
        return ""
    head = phrase(
        "verdict | candidate | task | samples | correct: {baseline} → candidate | change [90 % interval] | drop "
        "still possible | drop allowed | newly wrong / right",
        baseline=evidence.baseline,
    )
    note = phrase(
        "Both arms answered the same samples; figures are percent correct and percentage points. *Drop still "
        "possible*: the largest drop that the answers don't rule out at 95 %, with everything that could not be "
        "measured counted against the candidate. PASS: it is below the *drop allowed* (the margin). REGRESSION: "
        "it is not, and the drop is real."
    )
    gates = sorted(verdict.gates, key=lambda g: GRAVEST_FIRST.index(g.verdict))
    return f"{table(head, map(_gate_cells, gates))}\n\n{note}"


def _gate_cells(g: GateResult) -> list[str]:
    d = g.delta
    if d is None:
        return [f"**{g.verdict}**", g.arm, g.task, "0", "–", "–", "–", _num(g.margin), "–"]
    return [
        f"**{g.verdict}**", g.arm, g.task, f"{d.n}" + (phrase(' ({errors} not measured)', errors=d.errors) if d.errors else ""),
        f"{d.baseline:.1f} → {d.candidate:.1f}", f"{signed(d.diff)} [{signed(d.ci_low)}, {signed(d.ci_high)}]",
        f"{d.excluded_drop_worst:.1f}", _num(g.margin), f"{d.newly_wrong} / {d.newly_right}",
    ]  # fmt: skip


def _findings(findings: tuple[Finding, ...]) -> str:
    """In the order that they come: alarms first."""
    lines = [
        f"- {term(f.severity)}{phrase(': ')}{_where(f)}{inline(f.text)}" for f in findings if f.kind not in _SHOWN_ELSEWHERE
    ]
    return f"## {phrase('Warnings and notes')}\n\n" + "\n".join(lines) if lines else ""


def _where(finding: Finding) -> str:
    place = " · ".join(part for part in (finding.arm, finding.task) if part)
    return f"**{place}**{phrase(': ')}" if place else ""


def _failures(evidence: Evidence) -> str:
    parts = [
        phrase(
            "**{arm}**, launch {launch}, {stage}: {reason}",
            arm=arm,
            launch=f.launch + 1,
            stage=term(f.stage),
            reason=inline(f.reason),
        )
        + _log(f.log_tail)
        for arm, failures in evidence.failures.items()
        for f in failures
    ]
    return f"## {phrase('Servers that failed')}\n\n" + "\n\n".join(parts) if parts else ""


def _log(lines: tuple[str, ...]) -> str:
    """Folded where the reader's page can fold."""
    if not lines:
        return ""
    summary = f"<summary>{phrase('The last {n} lines of its log', n=len(lines))}</summary>"
    shown = "\n".join(line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]} …" for line in lines)
    return f"\n\n<details>{summary}\n\n{block(shown)}\n\n</details>"


def _flips(evidence: Evidence, verdict: Verdict) -> str:
    parts = []
    for gate in verdict.gates:
        flipped = rows.flip_rows(evidence, gate.task, gate.arm)
        if gate.delta is None or not flipped:
            continue
        shown, where = flipped[: rows.MAX_FLIPS], sensors.kinds(r.parting.kind if r.parting else None for r in flipped)
        head = " | ".join(
            [phrase("sample"), phrase("expected"), evidence.baseline, gate.arm, *([phrase("where they part")] if where else [])]
        )
        counts = phrase(
            "{newly_wrong} newly wrong, {newly_right} newly right",
            newly_wrong=gate.delta.newly_wrong,
            newly_right=gate.delta.newly_right,
        )
        parts.append(
            f"**{gate.arm} · {gate.task}**{phrase(': ')}{counts}"
            + (phrase("; they part {where}", where=where) if where else "")
            + (phrase("; {n} shown", n=len(shown)) if len(shown) == rows.MAX_FLIPS else "")
            + f"\n\n{table(head, [_flip_cells(row) + ([sensors.place(row.parting)] if where else []) for row in shown])}"
        )
    return f"## {phrase('Answers that changed sides')}\n\n" + "\n\n".join(parts) if parts else ""


def _flip_cells(row: rows.FlipRow) -> list[str]:
    asked = row.sample.messages[-1].content if row.sample.messages else ""
    # Of a text with a needle in it the end tells what was asked.
    question = code(asked, ANSWER_CHARS, keep_end=len(asked) > LONG_CHARS or bool(row.sample.choices)) if asked else ""
    share = phrase(
        " right in {baseline:.0f} → {candidate:.0f} % of rounds",
        baseline=100 * row.flip.baseline,
        candidate=100 * row.flip.candidate,
    )
    rounds = "" if {row.flip.baseline, row.flip.candidate} <= {0.0, 1.0} else share
    target = row.sample.target.split("\n", 1)[0]  # of a choice the letter; its options stand below it
    return [f"{row.sample.id}{rounds}{phrase(': ')}{question}", code(target, 40), _answer(row.baseline), _answer(row.candidate)]


def _answer(record: SampleRecord | None) -> str:
    """How it was marked, and its end, where the answer stands."""
    if record is None:
        return phrase("not asked")
    if record.failure or record.response is None:
        return (
            phrase("not measured: {message}", message=inline(record.failure.message, ANSWER_CHARS))
            if record.failure
            else phrase("not measured")
        )
    s, response = record.score, record.response
    mark = _mark(s)
    told = f" {code(s.answer, 40)}" if s and s.answer is not None else ""
    if s and task_info(record.task).sandboxed:  # what came of the program says more than its text
        return f"**{mark}**" + (
            f" {term(s.reason or s.outcome)}{phrase(': ')}{code(s.explanation, 300, keep_end=False)}" if s.explanation else ""
        )
    if response.likelihoods:
        return f"**{mark}**{told}{phrase(': ')}{', '.join(f'{one.logprob:.2f}' for one in response.likelihoods)}"
    said = code(response.text or "", ANSWER_CHARS)
    if not response.text and response.reasoning:
        said = phrase("(empty, after the reasoning) {reasoning}", reasoning=code(response.reasoning, ANSWER_CHARS))
    return f"**{mark}**{told}{phrase(': ')}{said}"


def _mark(score: Score | None) -> str:
    if score is None:
        return phrase("not marked")
    if score.outcome == "no_answer":
        return phrase("no answer, {reason}", reason=term(score.reason) if score.reason else phrase("no reason given"))
    return term(score.outcome)


def _costs(evidence: Evidence) -> str:
    costs = rows.costs(evidence)
    if not costs:
        return ""
    cells = []
    for c in costs:
        by_position = ", ".join(f"{100 * share:.0f}" for share in c.accepted_per_position)
        accepted = phrase("off") if c.tokens_per_sample is not None else "–"
        if c.acceptance is not None:
            accepted = f"{100 * c.acceptance:.1f} %" + (
                phrase(" (by position: {by_position})", by_position=by_position) if by_position else ""
            )
        elif c.acceptance_gauge is not None:
            accepted = phrase("{acceptance_gauge:.0f} % (gauge, since its start)", acceptance_gauge=100 * c.acceptance_gauge)
        hits = f"{100 * c.prefix_hits:.0f} %" if c.prefix_hits is not None else "–"
        tokens, speed = _opt(c.tokens_per_sample, ".0f"), _opt(c.tokens_per_second, ".0f")
        cells.append([c.arm, c.task, str(c.samples), f"{c.seconds_per_sample:.2f}", tokens, speed, accepted, hits])
    head = phrase(
        "arm | task | samples asked | s / sample | tokens / sample | tokens / s | draft tokens accepted | prefix-cache hits"
    )
    note = phrase("Wall time over samples, with several asked at once. A figure that the engine does not tell is –.")
    return f"## {phrase('Time, tokens, speculation')}\n\n{table(head, cells)}\n\n{note}"


def _harness(evidence: Evidence) -> str:
    cells = []
    for h in rows.harness(evidence):
        theirs = phrase(", ").join(
            f"{t.filter} {100 * t.value:.1f}" + (f" ± {100 * t.stderr:.1f}" if t.stderr is not None else "") for t in h.theirs
        )
        unlike = phrase(", ").join(f"{name} {100 * count / h.n:.1f} % ({count})" for name, count in h.unlike.items() if h.n)
        ours, nothing = _opt(h.ours, ".1f"), phrase("not measured")
        cells.append([h.arm, h.task, str(h.n), ours, theirs or nothing, unlike or "–", h.explanation or "–"])
    if not cells:
        return ""
    head = phrase("arm | task | samples | ours, % | lm-eval, % ± stderr | marked otherwise | where the two part")
    title = phrase("lm-eval's own numbers, round 1")
    return f"## {title}\n\n{table(head, cells)}"


def _method(evidence: Evidence) -> str:
    asked = phrase(", ").join(
        f"{t.name} {len(evidence.asked(evidence.baseline, t.name))}"
        + (phrase(" × {rounds} rounds", rounds=t.rounds) if t.rounds > 1 else "")
        for t in evidence.tasks
    )
    method = phrase(
        "bumpgate {bumpgate_version}, run `{run_id}`, started {started_at}. Samples: {asked}. Paired by sample. "
        "Intervals: Tango's (1998), its lower end at most Bonett and Price's (2012), 90 % two-sided, so that "
        "each end is a one-sided 95 % bound. A drop is real by McNemar's one-sided mid-p test (over several rounds: by the "
        "interval) at 5 % divided by the number of gates. `bumpgate report {run_id}` makes every figure again from the "
        "journal.",
        bumpgate_version=evidence.bumpgate_version,
        run_id=evidence.run_id,
        started_at=evidence.started_at,
        asked=asked,
    )
    return f"## {phrase('How it was measured')}\n\n{method}"


def _num(value: float) -> str:
    return f"{value:g}"


def _opt(value: float | None, spec: str) -> str:
    return format(value, spec) if value is not None else "–"
