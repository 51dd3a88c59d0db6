"""The scorecard's sections on what the arms were, and in what the candidates' servers differ from the baseline's."""

import shlex
from collections import Counter

from evals.judged import Evidence
from evals.language import phrase
from evals.report import scorecard as rows
from evals.report.text import block, code, inline, table

MAX_CHANGES = 15


def changes(evidence: Evidence) -> str:
    """The most that can be told of what was changed, on purpose or not."""
    parts = []
    for arm in (a.name for a in evidence.arms if a.name != evidence.baseline):
        found = rows.changes(evidence, arm)
        if not found:
            continue
        cells = [[inline(r.what, 80), _value(r.baseline), _value(r.candidate)] for r in found[:MAX_CHANGES]]
        more = (
            f"\n\n{phrase('and {left} more, in verdict.json', left=len(found) - MAX_CHANGES)}"
            if len(found) > MAX_CHANGES
            else ""
        )
        parts.append(
            f"{table(phrase('{arm} differs in | {baseline} | {arm}', arm=arm, baseline=evidence.baseline), cells)}{more}"
        )
    return f"## {phrase('What changed')}\n\n" + "\n\n".join(parts) if parts else ""


def _value(value: str | None) -> str:
    return "–" if value is None else code(value, 60, keep_end=False)


def _command(argv: tuple[str, ...]) -> str:
    """Without the folder of a program that bumpgate installed."""
    return shlex.join(["vllm", *argv[1:]] if argv[0].endswith("/vllm") else argv)


def arms(evidence: Evidence) -> str:
    """A row an arm, and the command line of each server that we started."""
    cells, commands = [], []
    for arm in evidence.arms:
        servers, failures = evidence.servers.get(arm.name, ()), evidence.failures.get(arm.name, ())
        name = phrase("{name} (baseline)", name=arm.name) if arm.name == evidence.baseline else arm.name
        failed = phrase("{n} failed", n=len(failures)) if failures else ""
        if servers:
            s = servers[0]
            launches = f"{len(servers)}" + (f", {failed}" if failed else "")
            cells.append(
                [
                    name,
                    inline(s.engine + _on(s.gpus)),
                    inline(s.version or "–", 40),
                    code(s.model, 60),
                    inline(s.fingerprint or "–", 60),
                    launches,
                    f"{s.ready_s:.0f} s",
                ]
            )
            if s.argv:
                image = phrase(", in {image_digest}", image_digest=s.image_digest or s.image_id) if s.image_id else ""
                commands.append(f"# {arm.name}{image}\n{_command(s.argv)}")
        else:
            cells.append([name, inline(failures[-1].engine) if failures else "–", "–", "–", "–", failed or phrase("none"), "–"])
    overview = table(phrase("arm | engine | version | served model | fingerprint | launches | ready in"), cells)
    return f"## {phrase('Arms')}\n\n{overview}" + (f"\n\n{block(chr(10).join(commands))}" if commands else "")


def _on(gpus: tuple[str, ...]) -> str:
    """` on 4 × NVIDIA L4`; empty where no GPU is known."""
    return phrase(" on {listed}", listed=", ".join((f"{n} × {name}" for name, n in Counter(gpus).items()))) if gpus else ""
