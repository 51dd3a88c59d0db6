"""`bumpgate init`: a pasted serve command → an experiment file, and what to say about it."""

from dataclasses import dataclass
from pathlib import Path

from evals.errors import ConfigError
from evals.init import guess, serve_command, write

EXAMPLE = (
    "bumpgate init 'vllm serve MODEL …', bumpgate init -- vllm serve MODEL …, or bumpgate init - with the command on stdin"
)


@dataclass(frozen=True, kw_only=True)
class Made:
    text: str
    """The experiment, as YAML with comments."""
    notes: tuple[str, ...]
    """For whoever ran the command."""


def make(given: str | list[str], to: str | None, name: str | None, folder: Path) -> Made:
    """Relative paths of the command are from `folder`.

    Raises:
        ConfigError: no vLLM to serve was found in it, or an option can't be used.
    """
    if not given or (isinstance(given, str) and not given.strip()) or (isinstance(given, list) and not any(given)):
        raise ConfigError(f"nothing was pasted; write {EXAMPLE}")
    draft = guess.draft(serve_command.read(given, folder), to, name, folder)
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
