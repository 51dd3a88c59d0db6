"""Why nothing can be judged. A program's own faults are no errors: they are in its transcript.

A message says what happened, where, and what to do next, in one line.
"""

from sandbox.transcript import Transcript


class SandboxError(Exception):
    """Untrusted code can't be run here."""


class SandboxDown(SandboxError):
    """Docker does not answer, or refuses, or has lost a container."""


class ContainerLost(SandboxDown):
    """A container ended as a program's own fault does not end one: killed from outside, or removed."""

    def __init__(self, reason: str, seen: Transcript | None = None) -> None:
        super().__init__(reason)
        self.seen = seen
        """What counts where it ends so again and again: a program can pretend to have been killed, not to be removed."""


class ImageError(SandboxError):
    """The image that programs run in can't be had."""
