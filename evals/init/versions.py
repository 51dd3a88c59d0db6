"""Which version is today's, which one is next, and what an arm of it is called."""

import re
from dataclasses import dataclass

from packaging.version import Version

from evals import flags
from evals.engines import image_version
from evals.errors import ConfigError
from evals.init.serve_command import ServeCommand
from evals.vocabulary import parsed, vocabulary

_IN_TAG = re.compile(r"\d+\.\d+\.\d+(?:\.?(?:post|rc|dev)\d+)?")
_OFFICIAL = ("vllm/vllm-openai", "docker.io/vllm/vllm-openai")


@dataclass(frozen=True, kw_only=True)
class Pick:
    """Of an arm: a version, or an image; `why` where it is a guess or needs a look."""

    text: str | None
    why: str = ""


def target_of(to: str | None, command: ServeCommand) -> str:
    """Where to go. Raises ConfigError for what no package has as its version."""
    if to is None:
        return flags.NEWEST[command.package]
    version = parsed(to)
    if version is not None and re.fullmatch(r"v?\d[\w.+!-]*", to):
        return to.removeprefix("v")
    if command.docker is None or not re.fullmatch(r"[\w][\w.-]{0,127}", to):
        raise ConfigError(f"--to {to!r} is no version; write one such as {flags.NEWEST[command.package]}")
    return to


def of_command(command: ServeCommand, target: str, installed: str | None) -> Pick:
    if command.docker is not None:
        return image_of(command.docker.image)
    if command.version is not None and parsed(command.version):
        return Pick(text=command.version.partition("+")[0])
    if installed is not None:
        return Pick(text=installed, why="the version that is installed here, as the command names none")
    guess = _guessed(command, target)
    return Pick(text=guess, why="a guess: the command names no version; write the one that runs today")


def image_of(image: str) -> Pick:
    tag = image_version(image)
    if parsed(tag) and re.match(r"v?\d", tag or ""):
        return Pick(text=tag)
    if "@" in image:
        return Pick(text=None, why="which vLLM a digest holds can't be read from it, so its flags are not checked")
    return Pick(text=None, why="a tag that moves or says no version: pin what runs today, as IMAGE:vVERSION or by its digest")


def next_image(image: str, target: str) -> Pick:
    """The same image at the next version, where its tag shows how versions are written."""
    repository, tag = image.partition("@")[0].removesuffix(f":{image_version(image)}"), image_version(image) or ""
    wanted = f"v{target}" if parsed(target) else target
    official = repository in _OFFICIAL
    if parsed(target) and (found := _IN_TAG.search(tag)):
        text = f"{repository}:{tag[: found.start()]}{target}{tag[found.end() :]}"
        plain = official and tag == f"v{found[0]}"
        return Pick(text=text, why="" if plain else "a guess: the tag with the new version in it; see that this image exists")
    if official:
        return Pick(text=f"{repository}:{wanted}")
    return Pick(text=f"{_OFFICIAL[0]}:{wanted}", why=f"a guess: the official image, as {image} does not say its version")


def name_of(version: str | None) -> str | None:
    """0.29.0 → v029, 0.27.1 → v0271; None for what is no version."""
    if (found := parsed(version)) is None or not re.match(r"v?\d", version or ""):
        return re.sub(r"[^A-Za-z0-9]+", "-", version).strip("-")[:20] or None if version else None
    numbers = [str(n) for n in found.release]
    while len(numbers) > 2 and numbers[-1] == "0":
        numbers.pop()
    suffix = str(found.public).removeprefix(found.base_version).replace(".", "")
    return f"v{''.join(numbers)}{suffix}"


def _guessed(command: ServeCommand, target: str) -> str:
    """The newest version before the next one that has every flag of the command."""
    at = parsed(target)
    older = [v for v in vocabulary().versions if at is None or Version(v) < at] or [vocabulary().versions[0]]
    for version in reversed(older):
        if not any(i.severity == "refused" for i in flags.check(version, command.args, command.env)):
            return version
    return older[-1]
