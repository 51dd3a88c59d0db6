"""The version of a vLLM that is installed here, read from its metadata: starting it would cost ten seconds."""

import re
import shutil
from pathlib import Path

_INFO = re.compile(r"vllm-(?P<version>\d[^-]*)\.dist-info", re.IGNORECASE)


def version(program: str | None) -> str | None:
    """Of `vllm`, or of the path that a command names; None where there is none to be found."""
    found = shutil.which(str(Path(program).expanduser()) if program else "vllm")
    if found is None:
        return None
    roots = [Path(found).resolve().parent.parent]
    try:
        with open(found, "rb") as script:
            first = script.readline(500).decode(errors="replace")
        if first.startswith("#!"):
            roots.append(Path(first[2:].split()[0]).parent.parent)
        names = [p.name for root in roots for p in root.glob("lib*/python3*/*-packages/vllm-*.dist-info")]
    except (OSError, IndexError, RuntimeError):
        return None
    versions = [match["version"].partition("+")[0] for name in names if (match := _INFO.fullmatch(name))]
    return versions[0] if versions else None
