"""What one program may take."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Of one container, that is of one program with all its processes."""

    wall_s: float = 20.0
    """From the moment the job is sent."""
    memory_mib: int = 256
    """Swap and /tmp included."""
    pids: int = 64
    """Processes and threads."""
    cpus: float = 1.0
    output_mib: int = 4
    """Of what it tells; above it is cut off."""
    tmp_mib: int = 64
    """Of /tmp, the only place it can write to."""
