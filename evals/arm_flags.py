"""Whether each arm's version has the arm's flags, before any time is spent: the front-ends ask here."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evals import fields, flags, inheritance
from evals.document import Document, did_you_mean
from evals.engine import parser
from evals.engines import version
from evals.experiment import Arm, DockerEngine, Experiment, VenvEngine
from evals.flags import FlagIssue
from evals.vocabulary import parsed

_OFFICIAL = re.compile(r"(^|/)vllm/vllm-openai:v?\d")
Ask = Callable[[VenvEngine], parser.Options | str]


def check(path: Path, experiment: Experiment, ask: Ask = parser.ask) -> tuple[str, ...]:
    """What a reader should know, one line each.

    Raises:
        ConfigError: an arm has a flag that its version lacks; one line with the place and what to write.
    """
    issues = {arm.name: _issues(arm, ask) for arm in experiment.arms}
    for name, found in issues.items():
        for issue in found:
            if issue.severity == "refused":
                _refuse(path, experiment, name, issue)
    own = _once({name: [issue.message for issue in found] for name, found in issues.items()})
    base = experiment.arm(experiment.baseline)
    pairs = {
        arm.name: [
            f"from vLLM {parsed(version(base.engine))} to {parsed(version(arm.engine))}: {said}"
            for said in flags.changed_defaults(version(base.engine), version(arm.engine), arm.args, arm.env)
        ]
        for arm in experiment.candidates
    }
    return (*own, *_once(pairs))


def declared(arm: Arm) -> str | None:
    """The version that the server must tell, or the arm is not what it says; None where nothing was promised."""
    if isinstance(arm.engine, DockerEngine) and not _OFFICIAL.search(arm.engine.image):
        return None  # another maker's tag may number the image, and not the vLLM in it
    found = parsed(version(arm.engine))
    return found.public if found else None


def _issues(arm: Arm, ask: Ask) -> tuple[FlagIssue, ...]:
    """By the table; where the version is installed, its flags by that version's own word."""
    at = version(arm.engine)
    found = (*flags.check(at, arm.args, arm.env), *fields.check(at, _sent(arm)))
    if arm.args and flags.unreadable(at):
        found = (*found, _of_arm(f"{arm.engine}: which vLLM it has is not known, so its flags were not checked"))
    if not arm.args or not isinstance(arm.engine, VenvEngine):
        return found
    answer = ask(arm.engine)
    if isinstance(answer, str):
        by_table = _of_arm(f"{arm.engine}: {answer}; its flags were checked by bumpgate's table")
        return found if answer == parser.NOT_INSTALLED else (*found, by_table)
    of_table = {issue.name: issue for issue in found if issue.about == "flag"}
    sure = [_by_parser(name, of_table.get(name), arm, arm.engine, answer) for name in arm.args]
    return (*(issue for issue in sure if issue), *(issue for issue in found if issue.about != "flag"))


def _of_arm(message: str) -> FlagIssue:
    return FlagIssue(name="", about="arm", severity="warning", message=message)


def _by_parser(flag: str, of_table: FlagIssue | None, arm: Arm, engine: VenvEngine, answer: parser.Options) -> FlagIssue | None:
    name = ("no-" if arm.args[flag] is False else "") + flag.partition(".")[0]
    if name in answer.options or len([o for o in answer.options if o.startswith(name)]) == 1:
        return None
    if of_table and of_table.severity == "refused":
        return of_table
    said = f"the installed {engine.package} {engine.version} has no --{name}{did_you_mean(name, answer.options)}"
    return FlagIssue(name=flag, about="flag", severity="refused", message=said)


def _sent(arm: Arm) -> dict[str, Any]:
    """What the experiment file has sent with a question; what bumpgate adds of its own, old engines may ignore."""
    effort = arm.request.reasoning_effort
    return ({"reasoning_effort": effort} if effort is not None else {}) | arm.request.extra_body


def _once(said: dict[str, list[str]]) -> tuple[str, ...]:
    """Arms that share a message share a line."""
    arms: dict[str, list[str]] = {}
    for arm, messages in said.items():
        for message in messages:
            arms.setdefault(message, []).append(arm)
    return tuple(f"{', '.join(dict.fromkeys(names))}: {message}" for message, names in arms.items())


def _refuse(path: Path, experiment: Experiment, arm: str, issue: FlagIssue) -> None:
    document = Document(path, experiment.source)
    sections: tuple[str, ...] = {"variable": ("env",), "field": ("request",)}.get(issue.about, ("args",))
    if issue.about == "field" and issue.name in experiment.arm(arm).request.extra_body:
        sections = ("request", "extra_body")
    written = document.data["arms"] if isinstance(document.data, dict) else {}
    place, holder, seen = (*sections, issue.name), inheritance.written_as(arm, written), {arm}
    while ("arms", holder, *place) not in document.lines:
        parent = written[holder].get("extends") or written[holder].get("repeat_of")
        if not isinstance(parent, str) or parent in seen:
            holder = arm
            break
        seen.add(parent)
        holder = inheritance.written_as(parent, written)
    document.fail(("arms", arm, *place), issue.message, document.lines.get(("arms", holder, *place)))
