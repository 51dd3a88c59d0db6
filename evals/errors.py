"""One class per cause, one exit code per class. A message says what happened, where, and what to do next."""

from typing import Literal

StartStage = Literal["build", "start", "canary", "preflight", "run"]


class Judged(SystemExit):
    """The end of what was judged. The only way to leave with 1."""

    judged = True


class BumpgateError(Exception):
    """Ends the command with one line and `exit_code`."""

    exit_code = 3


class ConfigError(BumpgateError):
    """The experiment, an option or a data file can't be used as it is."""

    exit_code = 2


class StoreError(BumpgateError):
    """A run's folder can't be read or written."""


class NoSandbox(BumpgateError):
    """Programs can't be run: no Docker engine answers, or it has no image for them."""


class NoTokenCount(BumpgateError):
    """The server does not say how many tokens a prompt takes. Its samples could not be measured; other tasks go on."""


class EngineError(BumpgateError):
    """An arm's server can't be had. A result of that arm, not a crash of the gate.

    `log_tail` holds the last lines of the server's log or of the install's output.
    """

    stage: StartStage = "start"

    def __init__(self, reason: str, log_tail: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.log_tail = log_tail


class BuildError(EngineError):
    stage: StartStage = "build"


class StartError(EngineError):
    stage: StartStage = "start"


class CanaryError(EngineError):
    """Healthy, and yet not able to answer one request."""

    stage: StartStage = "canary"


class PreflightError(EngineError):
    """It answers, and yet is not what was meant to be measured, or is broken."""

    stage: StartStage = "preflight"


class ServerDied(EngineError):
    """The server stopped answering in the middle of a task."""

    stage: StartStage = "run"
