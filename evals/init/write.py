"""A `Draft` → the text of an experiment file, its reasons as comments."""

from typing import Any

import yaml

from evals.init.draft import ArmDraft, Draft, Line, TaskDraft

_WIDTH = 118


def text(draft: Draft) -> str:
    out = [line for paragraph in draft.about for line in _comment(paragraph)]
    out += [f"name: {_value(draft.name)}", *_keyed("model", Line(value=draft.model, why=draft.model_why), "")]
    out += [
        f"baseline: {_value(draft.baseline)}",
        "launches: 2 # the baseline is started twice: a restart alone changes answers",
    ]
    out += ["", "arms:"]
    for arm in draft.arms:
        lines = _arm(arm)
        out += ["", *([f"  # {line.removeprefix('  ')}".rstrip() for line in lines] if arm.suggested else lines)]
    out += ["", "tasks:", *(line for task in draft.tasks for line in _task(task))]
    judged = ", ".join(_value(arm.name) for arm in draft.arms if arm.name != draft.baseline and not arm.tells)
    arms = f", arms: [{judged}]" if any(arm.tells and not arm.suggested for arm in draft.arms) else ""
    out += ["", "gates:", f"  - {{task: gsm8k, margin: {draft.margin}{arms}}} # {_plain(draft.margin_why)}"]
    return "\n".join(out).replace("arms:\n\n", "arms:\n") + "\n"


def _arm(arm: ArmDraft) -> list[str]:
    out = [line for why in arm.why for line in _comment(why, "  ")]
    out.append(f"  {_value(arm.name)}:")
    for key, line in arm.top.items():
        out += _keyed(key, line, "    ")
    for section, lines in (("args", arm.args), ("env", arm.env), ("request", arm.request)):
        if lines:
            out.append(f"    {section}:")
            for key, line in lines.items():
                out += _keyed(key, line, "      ")
    return out


def _task(task: TaskDraft) -> list[str]:
    if len(task.settings) == 1:
        return [f"  - {_value(task.settings['task'])} # {_plain(task.why)}"]
    return [*_comment(task.why, "  "), f"  - {_value(task.settings)}"]


def _keyed(key: str, line: Line, indent: str) -> list[str]:
    """A reason stands behind a short line, else above it."""
    written = f"{indent}{_value(key)}: {'null' if line.value is None else _value(line.value)}"
    if not line.why:
        return [written]
    behind = f"{written} # {_plain(line.why)}"
    return [behind] if len(behind) <= _WIDTH else [*_comment(line.why, indent), written]


def _comment(paragraph: str, indent: str = "") -> list[str]:
    """Wrapped, with what follows the first line set in a little."""
    out, line = [], ""
    for word in _plain(paragraph).split(" "):
        if line and len(indent) + len(line) + len(word) > _WIDTH - 3:
            out.append(line)
            line = " "
        line = f"{line} {word}" if line else word
    return [f"{indent}# {part}".rstrip() for part in [*out, line]]


def _plain(text: str) -> str:
    """What may stand in a comment: one line, printable."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _value(value: Any) -> str:
    written = yaml.safe_dump(value, default_flow_style=True, width=10**9, allow_unicode=False, sort_keys=False)
    return written.removesuffix("\n").removesuffix("\n...").rstrip("\n")
