"""Which flags, VLLM_* variables and request fields each vLLM version has, as read from its wheels (tools/flags.py)."""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from packaging.version import InvalidVersion, Version

Kind = Literal["flag", "bool", "optional", "list", "append", "int", "human", "float", "json", "text"]
"""What follows the flag. `bool` has a --no- form and `flag` has none; `optional` may stand bare; `human` takes 32k and 1M."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """The versions that have a name, from the oldest to the newest that was read; None is open-ended."""

    first: str | None
    last: str | None


@dataclass(frozen=True, kw_only=True)
class Flag:
    name: str
    """Without dashes, as `max-model-len`."""
    kind: Kind
    span: Span


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    versions: tuple[str, ...]
    """Those whose wheels were read, the oldest first."""
    flags: dict[str, Flag]
    short: dict[str, str]
    """`-tp` → `tensor-parallel-size`."""
    env: dict[str, Span]
    fields: dict[str, Span]
    """Of a chat completion's request."""


@cache
def vocabulary() -> Vocabulary:
    raw = json.loads(resources.files("evals").joinpath("flags_known.json").read_text(encoding="utf-8"))
    versions = raw["versions"]

    def span(first: int, last: int) -> Span:
        return Span(first=versions[first] if first else None, last=versions[last] if last < len(versions) - 1 else None)

    return Vocabulary(
        versions=tuple(versions),
        flags={name: Flag(name=name, kind=kind, span=span(a, b)) for name, (kind, a, b) in raw["flags"].items()},
        short=raw["short"],
        env={name: span(a, b) for name, (a, b) in raw["env"].items()},
        fields={name: span(a, b) for name, (a, b) in raw["fields"].items()},
    )


def parsed(version: str | None) -> Version | None:
    """`v0.29.0`, `0.29.0-cu129`, `0.29.1.dev3+g12ab` → a version; `nightly`, `latest` and what else is none → None."""
    text = (version or "").removeprefix("v").strip()
    for candidate in (text, text.partition("-")[0], text.partition("+")[0]):
        try:
            return Version(candidate)
        except InvalidVersion:
            continue
    return None


def has(span: Span, version: Version) -> bool | None:
    """Whether a version has what the span speaks of; None in a gap between versions that were read, where it came or went."""
    known = [Version(v) for v in vocabulary().versions]
    at = Version(version.base_version) if not (version.is_prerelease or version.is_devrelease) else version
    first = Version(span.first) if span.first else None
    last = Version(span.last) if span.last else None
    if first and at < first:
        return None if at > max((v for v in known if v < first), default=at) else False
    if last and at > last:
        return None if at < min((v for v in known if v > last), default=at) else False
    return True
