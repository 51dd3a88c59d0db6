"""Pulling an image, with news of how far it is."""

import time
from collections.abc import Callable
from typing import Any

from docker import DockerClient

from sandbox import daemon
from sandbox.errors import ImageError

NEWS_S = 30.0


def pull(client: DockerClient, image: str, say: Callable[[str], None]) -> None:
    """Pull an image; one of several gigabytes tells how far it is. The client's timeout is the longest silence.

    Raises:
        ImageError: it can't be pulled; with Docker's words alone.
    """
    done: dict[str, int] = {}
    whole: dict[str, int] = {}
    told = time.monotonic()
    try:
        for news in client.api.pull(image, stream=True, decode=True):
            if "error" in news:
                raise ImageError(" ".join(str(news["error"]).split()))
            _count(news, done, whole)
            if whole and time.monotonic() - told >= NEWS_S:
                told = time.monotonic()
                say(f"pulling {image}: {sum(done.values()) / 1e9:.1f} of {sum(whole.values()) / 1e9:.1f} GB")
    except daemon.TROUBLE as e:
        raise ImageError(daemon.words(e)) from e


def _count(news: dict[str, Any], done: dict[str, int], whole: dict[str, int]) -> None:
    """Bytes of each layer; unpacking has its own count, which is not theirs."""
    layer, progress = str(news.get("id", "")), news.get("progressDetail") or {}
    if news.get("status") == "Downloading" and "total" in progress:
        done[layer], whole[layer] = progress["current"], progress["total"]
    elif news.get("status") == "Download complete":
        done[layer] = whole.get(layer, 0)
