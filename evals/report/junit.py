"""junit.xml: a test case for each gate. REGRESSION and INCONCLUSIVE are failures, INVALID is an error. Pure."""

import re
import xml.etree.ElementTree as ET

from evals.judged import Evidence, GateResult, Verdict
from evals.report import flip_text
from evals.report.text import clean

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(evidence: Evidence, verdict: Verdict) -> str:
    """The document. Where there is nothing to judge it has one case, which is an error."""
    found = [_case(evidence, gate) for gate in verdict.gates]
    cases = found or [_nothing(evidence)]
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
    }
    suite = ET.Element("testsuite", {"name": "bumpgate", **counts, "timestamp": evidence.started_at})
    suite.append(_properties({
        "verdict": verdict.overall, "run_id": evidence.run_id, "experiment": evidence.name, "baseline": evidence.baseline,
        "bumpgate_version": evidence.bumpgate_version,
    }))  # fmt: skip
    suite.extend(cases)
    root = ET.Element("testsuites", counts)
    root.append(suite)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def properties(gate: GateResult) -> dict[str, str]:
    """What a machine may want to know of a gate, by name; in percentage points, unrounded."""
    out = {"verdict": gate.verdict, "arm": gate.arm, "task": gate.task, "margin": f"{gate.margin:g}"}
    if (delta := gate.delta) is not None:
        told = {
            "n": delta.n, "errors": delta.errors, "baseline": delta.baseline, "candidate": delta.candidate, "diff": delta.diff,
            "ci_low": delta.ci_low, "ci_high": delta.ci_high, "newly_wrong": delta.newly_wrong,
            "newly_right": delta.newly_right,
        }  # fmt: skip
        out |= {name: str(value) for name, value in told.items()}
    return out


def _case(evidence: Evidence, gate: GateResult) -> ET.Element:
    case = ET.Element("testcase", {"classname": evidence.name, "name": f"{gate.arm} · {gate.task}"})
    case.append(_properties(properties(gate)))
    if gate.verdict != "PASS":
        kind = "error" if gate.verdict == "INVALID" else "failure"
        reason = _xml(gate.reason)
        said = ET.SubElement(case, kind, {"type": gate.verdict, "message": " ".join(reason.split())})
        said.text = _xml("\n".join([reason, *flip_text.lines(evidence, gate)]))
    return case


def _nothing(evidence: Evidence) -> ET.Element:
    case = ET.Element("testcase", {"classname": evidence.name, "name": "gates"})
    ET.SubElement(case, "error", {"type": "INVALID", "message": "no candidate and gate to judge"})
    return case


def _properties(told: dict[str, str]) -> ET.Element:
    out = ET.Element("properties")
    for name, value in told.items():
        ET.SubElement(out, "property", {"name": name, "value": _xml(value)})
    return out


def _xml(text: str) -> str:
    return _NOT_XML.sub("�", clean(text))
