"""verdict.json: what a machine reads of a run. Figures are unrounded; a field that was not measured is null."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from evals import lengths, levels, sensors
from evals.compare import ledger
from evals.judged import Evidence, GateResult, TaskSpec, Verdict
from evals.needle_checks import TASK
from evals.parting import tie
from evals.report import outcomes, scorecard
from evals.report.needle_rows import heat

SCHEMA_VERSION = 1


def verdict_json(evidence: Evidence, verdict: Verdict) -> str:
    """The document; arms by name, gates and findings as lists in the experiment's order."""
    candidates = [arm.name for arm in evidence.arms if arm.name != evidence.baseline]
    document = {
        "schema_version": SCHEMA_VERSION,
        "verdict": verdict.overall,
        "passes_if_equal": verdict.passes_if_equal,
        "run_id": evidence.run_id,
        "experiment": evidence.name,
        "bumpgate_version": evidence.bumpgate_version,
        "started_at": evidence.started_at,
        "finished": evidence.finished,
        "baseline": evidence.baseline,
        "baseline_run": asdict(evidence.stored) if evidence.stored else None,
        "left_out": list(evidence.left_out),
        "sandbox": asdict(evidence.sandbox) if evidence.sandbox else None,
        "arms": {
            arm.name: {"asked": arm.asked or None, "thinking": arm.thinking} | _arm(evidence, verdict, arm.name)
            for arm in evidence.arms
        },
        "needles": _needles(evidence),
        "gates": [_gate(g) for g in verdict.gates],
        "looks": [asdict(look) for look in evidence.looks],
        "thinking": {
            "levels": [asdict(level) for level in levels.levels(evidence)],
            "pairs": [asdict(pair) | {"equal": pair.equal} for pair in levels.pairs(evidence)],
        },
        "divergences": [
            {
                "arm": d.arm,
                "n": d.n,
                "differs": d.differs,
                "noise_differs": d.noise_differs,
                "p_value": d.p_value,
                "excess": d.excess,
                "prompts": [
                    {"id": p.sample_id, "first": p.first, "gap": p.margin, "kind": p.kind}
                    for p in d.prompts
                    if p.first is not None
                ],
            }
            for d in verdict.divergences
        ],
        "outcomes": [row for task in evidence.tasks if task.marked for row in _outcomes(evidence, task)],
        "sensors": {
            "readings": [asdict(reading) | {"is_beyond": reading.is_beyond} for reading in sensors.readings(evidence)],
            "not_measured": sensors.unmeasured(evidence),
            "tie": tie(evidence),
        },
        "flips": [row for g in verdict.gates if g.delta for row in _flips(evidence, g)],
        "lengths": [row for arm in candidates for task in evidence.tasks for row in _lengths(evidence, arm, task)],
        "harness": [
            {"arm": h.arm, "task": h.task, "n": h.n, "filter": name, "marked_otherwise": count if h.n else None}
            for h in scorecard.harness(evidence)
            for name, count in (h.unlike.items() or ((None, None),))
        ],
        "findings": [
            {"severity": f.severity, "kind": f.kind, "arm": f.arm, "task": f.task, "text": f.text} for f in verdict.findings
        ],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _arm(evidence: Evidence, verdict: Verdict, name: str) -> dict[str, Any]:
    servers, failures = evidence.servers.get(name, ()), evidence.failures.get(name, ())
    measured = any(r.arm == name and r.response for r in evidence.records)
    last = servers[-1] if servers else None
    return {
        "status": ("partial" if failures else "measured") if measured else "failed",
        "verdict": verdict.by_arm.get(name),
        "engine": last.engine if last else (failures[-1].engine if failures else None),
        "version": last.version if last else None,
        "fingerprint": last.fingerprint if last else None,
        "image_id": last.image_id if last else None,
        "image_digest": last.image_digest if last else None,
        "model": last.model if last else None,
        "args": list(last.argv) if last else None,
        "gpus": list(last.gpus) if last else [],
        "launches": len(servers),
        "weights_sha": last.weights_sha if last else None,
        "tokenizer_sha": last.tokenizer_sha if last else None,
        "restarts": len(evidence.restarts.get(name, ())),
        "changes": [
            {"what": c.what, "baseline": c.baseline, "candidate": c.candidate}
            for c in scorecard.changes(evidence, name)
            if name != evidence.baseline
        ],
        "reason": failures[-1].reason if failures else None,
        "log_tail": list(failures[-1].log_tail) if failures else [],
    }


def _outcomes(evidence: Evidence, task: TaskSpec) -> Iterator[dict[str, Any]]:
    for row in outcomes.rows(evidence, ledger(evidence), task):
        for arm, count in row.counts.items():
            yield {
                "arm": arm, "task": task.name, "kind": row.outcome.kind, "reason": row.outcome.reason or None,
                "count": count, "n": row.n[arm], "p_value": row.p_value.get(arm),
            }  # fmt: skip


def _lengths(evidence: Evidence, arm: str, task: TaskSpec) -> Iterator[dict[str, Any]]:
    for shift in lengths.shifts(evidence, ledger(evidence), arm, task):
        yield {"arm": arm, "task": task.name, **asdict(shift)}


def _flips(evidence: Evidence, gate: GateResult) -> Iterator[dict[str, Any]]:
    for row in scorecard.flip_rows(evidence, gate.task, gate.arm):
        yield {
            "arm": gate.arm, "task": gate.task, "sample": row.sample.id, "baseline": row.flip.baseline,
            "candidate": row.flip.candidate, "parting": asdict(row.parting) if row.parting else None,
        }  # fmt: skip


def _needles(evidence: Evidence) -> list[dict[str, Any]]:
    """One entry a cell of each arm's grid."""
    return [
        {
            "arm": arm.name,
            "length": row.length,
            "language": row.language,
            "warm": row.warm,
            "depth": depth,
            "n": recall.n,
            "found": recall.found,
            "near_misses": recall.near,
        }
        for task in evidence.tasks
        if task.name == TASK
        for arm in evidence.arms
        for row in heat(evidence, arm.name, task)
        for depth, recall in row.by_depth.items()
    ]


def _gate(g: GateResult) -> dict[str, Any]:
    d = g.delta
    return {
        "arm": g.arm,
        "task": g.task,
        "verdict": g.verdict,
        "n": d.n if d else 0,
        "errors": d.errors if d else None,
        "baseline": d.baseline if d else None,
        "candidate": d.candidate if d else None,
        "diff": d.diff if d else None,
        "ci_low": d.ci_low if d else None,
        "ci_high": d.ci_high if d else None,
        "excluded_drop": d.excluded_drop_worst if d else None,
        "margin": g.margin,
        "newly_wrong": d.newly_wrong if d else None,
        "newly_right": d.newly_right if d else None,
        "p_value": d.p_value if d else None,
        "n_needed": g.knowable.n_needed if g.knowable else None,
        "knowable": asdict(g.knowable) if g.knowable else None,
        "exploratory": g.exploratory,
        "reason": g.reason,
    }
