"""`bumpgate init`: a pasted serve command → an experiment file, and what to say about it."""

from dataclasses import dataclass, replace
from pathlib import Path

from evals.errors import ConfigError
from evals.init import guess, serve_command, write
from evals.vocabulary import parsed

EXAMPLE = (
    "bumpgate init 'vllm serve MODEL …', bumpgate init -- vllm serve MODEL …, or bumpgate init - with the command on stdin"
)


@dataclass(frozen=True, kw_only=True)
class Made:
    text: str
    """The experiment, as YAML with comments."""
    notes: tuple[str, ...]
    """For whoever ran the command."""


def make(given: str | list[str], to: str | None, name: str | None, folder: Path, since: str | None = None) -> Made:
    """Relative paths of the command are from `folder`. `since`: the version that runs today, where the command names none.

    Raises:
        ConfigError: no vLLM to serve was found in it, or an option can't be used.
    """
    if not given or (isinstance(given, str) and not given.strip()) or (isinstance(given, list) and not any(given)):
        raise ConfigError(f"nothing was pasted; write {EXAMPLE}")
    command = serve_command.read(given, folder)
    if since is not None:
        if command.docker is not None:
            raise ConfigError(f"--from {since}: the image says which version runs today; name another image in the command")
        if parsed(since) is None:
            raise ConfigError(f"--from {since!r} is no version; write one such as 0.25.0")
        command = replace(command, version=since.removeprefix("v"))
    draft = guess.draft(command, to, name, folder)
    return Made(text=write.text(draft), notes=draft.notes)


def save(text: str, path: Path) -> None:
    """Raises ConfigError where the file is there already, or can't be written."""
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as e:
        raise ConfigError(f"{path} is there already, and is not overwritten; name another file with --output") from e
    except OSError as e:
        raise ConfigError(f"{path}: cannot be written ({e.strerror}); name another file with --output") from e
