"""Which process something belongs to, so that it can be told later whether that one still lives.

A pid is used again sooner or later: the boot and the time of the start make it unique. Where there is no /proc nothing can be
told of a process, and it counts as alive.
"""

import os
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")


def boot() -> str:
    """The id of this boot of the machine; empty where it has none."""
    try:
        return _BOOT.read_text().strip()
    except FileNotFoundError:
        return ""


def me() -> str:
    """This process, in one word: where its pid counts, the pid, when it started."""
    return f"{_here()}:{os.getpid()}:{started(os.getpid())}"


def of_here(owner: str) -> bool:
    """Whether `dead` can tell anything of it: a process of this boot, whose pid means the same to it and to us."""
    return bool(boot()) and owner.startswith(f"{_here()}:")


def dead(owner: str) -> bool:
    """Whether that process has ended."""
    if not of_here(owner):
        return False
    _, pid, start = owner.rsplit(":", 2)
    fields = stat_fields(_stat(pid))
    return not fields or fields[21] != start or fields[2] in "ZX"  # a zombie only waits to be collected


def started(pid: int) -> int | None:
    """Clock ticks since boot; None for a process that is gone."""
    fields = stat_fields(_stat(str(pid)))
    return int(fields[21]) if fields else None


def _stat(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def stat_fields(stat: str) -> list[str]:
    """pid, name, state, … as in /proc/PID/stat, whose second field may hold anything; empty where it was not written whole."""
    head, _, rest = stat.rpartition(")")
    fields = [*head.partition(" (")[::2], *rest.split()]
    return fields if len(fields) > 21 else []


def _here() -> str:
    """In another namespace of pids, as that of a container, the same number is another process."""
    namespace = os.readlink(_NAMESPACE) if _NAMESPACE.is_symlink() else ""
    return f"{boot()}:{namespace}"
