"""An image on this machine: there already, else pulled."""

import time
from collections.abc import Callable
from typing import Any

from docker import DockerClient
from docker.errors import ImageNotFound

from evals.engine import daemon
from evals.errors import BuildError
from evals.experiment import DockerEngine

NEWS_S = 30.0


def have(engine: DockerEngine, say: Callable[[str], None]) -> None:
    """See that the engine's image is here, whatever it takes; an image of several gigabytes tells how far it is.

    Raises:
        StartError: no Docker engine answers.
        BuildError: it is not here and can't be pulled.
    """
    with daemon.connected() as client:
        try:
            client.images.get(engine.image)
        except ImageNotFound:
            say(f"pulling {engine.image}")
            _pull(client, engine, say)
        except daemon.TROUBLE as e:
            raise BuildError(f"Docker can't tell whether {engine.image} is here: {daemon.words(e)}") from e


def _pull(client: DockerClient, engine: DockerEngine, say: Callable[[str], None]) -> None:
    done: dict[str, int] = {}
    whole: dict[str, int] = {}
    told = time.monotonic()
    try:
        for news in client.api.pull(engine.image, stream=True, decode=True):
            if "error" in news:
                raise _refused(engine, str(news["error"]))
            _count(news, done, whole)
            if whole and time.monotonic() - told >= NEWS_S:
                told = time.monotonic()
                say(f"pulling {engine.image}: {sum(done.values()) / 1e9:.1f} of {sum(whole.values()) / 1e9:.1f} GB")
    except daemon.TROUBLE as e:
        raise _refused(engine, daemon.words(e)) from e


def _count(news: dict[str, Any], done: dict[str, int], whole: dict[str, int]) -> None:
    """Bytes of each layer; unpacking has its own count, which is not theirs."""
    layer, progress = str(news.get("id", "")), news.get("progressDetail") or {}
    if news.get("status") == "Downloading" and "total" in progress:
        done[layer], whole[layer] = progress["current"], progress["total"]
    elif news.get("status") == "Download complete":
        done[layer] = whole.get(layer, 0)


def _refused(engine: DockerEngine, said: str) -> BuildError:
    said = " ".join(said.split())
    return BuildError(f"{engine.image} is not on this machine and can't be pulled: {said}; try `docker pull {engine.image}`")
