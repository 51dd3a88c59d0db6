"""What GitHub Actions reads of a run: annotations, and text that can't be taken for one. Pure.

Workflow commands: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from evals.judged import Verdict, VerdictName

_LEVEL: dict[VerdictName, str] = {"PASS": "notice", "REGRESSION": "error", "INCONCLUSIVE": "error", "INVALID": "error"}
SUMMARY_BYTES = 1 << 20
"""More than that in a step's summary, and GitHub shows nothing of it."""


def annotations(verdict: Verdict, lenient: bool = False) -> list[str]:
    """A line for each gate, errors for all that is not a PASS, and a warning for each alarm.

    `lenient`: an INCONCLUSIVE gate is a warning.
    """
    out = []
    for gate in verdict.gates:
        level = "warning" if lenient and gate.verdict == "INCONCLUSIVE" else _LEVEL[gate.verdict]
        out.append(_command(level, f"{gate.verdict}: {gate.arm} · {gate.task}", gate.reason))
    if not verdict.gates:
        out.append(_command("error", verdict.overall, "no candidate and gate to judge"))
    for finding in verdict.findings:
        if finding.severity == "alarm":
            where = " · ".join(part for part in (finding.arm, finding.task) if part)
            out.append(_command("warning", where or "bumpgate", finding.text))
    return out


def _command(level: str, title: str, message: str) -> str:
    return f"::{level} title={_escaped(title).replace(':', '%3A').replace(',', '%2C')}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def guarded(text: str, token: str) -> str:
    """The text, in which GitHub shall look for no command: a model may have said `::add-mask::`. Nobody must know `token`."""
    return f"::stop-commands::{token}\n{text}\n::{token}::\n"


def summary(card: str, room: int = SUMMARY_BYTES) -> str:
    """The scorecard, as far as a summary takes it."""
    data = card.encode(errors="replace")
    if len(data) <= room:
        return card
    cut = "\n\n(cut here: the whole of it is in the run's scorecard.md)\n"
    return data[: room - len(cut)].decode(errors="ignore") + cut if room > len(cut) else ""
