"""The image that programs run in: built before, else built on a pulled Python, else on this machine's own."""

import hashlib
import io
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

from docker import DockerClient
from docker.errors import BuildError, ImageNotFound

from sandbox import container, daemon, local_base
from sandbox.errors import ImageError, SandboxDown
from sandbox.limits import Limits
from sandbox.pull import pull

BASE = "python:3.12-slim"
NAME = "bumpgate-sandbox"
SOURCE_LABEL = "bumpgate.source"
SILENCE_S = 30
"""A registry that says nothing for so long is not reachable."""
_FILES = ("Dockerfile", "inside.py")
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Image:
    """What programs run in, for the record."""

    id: str
    """sha256:…"""
    python: str
    """3.12.4, as its Python says itself."""
    source: str
    """What it was built on: NAME@sha256:… as a registry knows it, or `local CPython 3.12.4 /usr/bin/python3.12`."""


def have(say: Say, base: str | None = None) -> Image:
    """An image that has been seen to run. A named `base` is taken or nothing is; else one that this machine can have.

    Raises:
        SandboxDown: Docker does not answer, or refuses.
        ImageError: the base is not to be had, or nothing runs in it.
    """
    with daemon.connected() as client:
        try:
            image = _built(client, base or BASE) or (None if base else _built(client, local_base.source()))
            image = image or _build(client, base, say)
            source = client.images.get(image).labels.get(SOURCE_LABEL, "")
        except BuildError as e:
            raise ImageError(f"the sandbox's image can't be built on {base or BASE}: {daemon.words(e)}") from e
        except daemon.TROUBLE as e:
            raise SandboxDown(f"Docker can't make the sandbox's image: {daemon.words(e)}; see `docker info`") from e
        trial = container.start(client.api, image, Limits(), {})
        trial.remove()
        return Image(id=image, python=trial.python, source=source)


def _build(client: DockerClient, base: str | None, say: Say) -> str:
    """Raises ImageError where there is nothing to build on."""
    try:
        found, source = _base(client, base or BASE, say)
        return _built_on(client, base or BASE, found, source)
    except ImageError as e:
        if base is not None:
            raise ImageError(f"{base} is not on this machine and can't be pulled: {e}; try `docker pull {base}`") from e
        say(f"{BASE} can't be pulled ({e}): making the sandbox's image of {local_base.source()}")
    return _built_on(client, local_base.source(), _imported(client), local_base.source())


def _base(client: DockerClient, base: str, say: Say) -> tuple[str, str]:
    """What to build on, and where it is from: as a registry knows it, which pins it, or the id of one that was made here."""
    try:
        found = client.images.get(base)
    except ImageNotFound:
        say(f"pulling {base}")
        with daemon.connected(SILENCE_S) as hasty:
            pull(hasty, base, say)
        found = client.images.get(base)
    digests = found.attrs.get("RepoDigests") or [found.id]
    return str(found.id), str(digests[0])


def _imported(client: DockerClient) -> str:
    name, tag = f"{NAME}-base", _key(local_base.source())
    with local_base.archive() as archive:
        client.api.import_image_from_file(str(archive), repository=name, tag=tag, changes=local_base.CHANGES)
    return str(client.images.get(f"{name}:{tag}").id)


def _built(client: DockerClient, base: str) -> str | None:
    """The id of an image that was built before of the same files on the same base."""
    try:
        return str(client.images.get(f"{NAME}:{_key(base)}").id)
    except ImageNotFound:
        return None


def _built_on(client: DockerClient, base: str, found: str, source: str) -> str:
    built, _ = client.images.build(
        fileobj=_context(), custom_context=True, tag=f"{NAME}:{_key(base)}", rm=True, forcerm=True,
        buildargs={"BASE_IMAGE": found}, labels={SOURCE_LABEL: source},
    )  # fmt: skip
    return str(built.id)


def _key(base: str) -> str:
    digest = hashlib.sha256(base.encode())
    for name in _FILES:
        digest.update(files("sandbox").joinpath(name).read_bytes())
    return digest.hexdigest()[:16]


def _context() -> io.BytesIO:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in _FILES:
            data = files("sandbox").joinpath(name).read_bytes()
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
    out.seek(0)
    return out
