"""Pulling an image, against a stand-in for Docker's own API: no registry is asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from evals.engine import image
from evals.errors import BuildError
from evals.experiment import DockerEngine
from sandbox import pull

NAME = "vllm/vllm-openai:v0.29.0"
ENGINE = DockerEngine(image=NAME, gpus=None, ipc=None, shm_size=None, volumes=(), entrypoint=("vllm", "serve"))


@contextmanager
def docker_with(patch: pytest.MonkeyPatch, images: list[str], news: list[dict[str, Any]]) -> Iterator[list[str]]:
    """DOCKER_HOST points at an engine that has these images, and whose pull says `news`; yields what is asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            name = self.path.partition("/images/")[2].removesuffix("/json")
            if self.path.endswith("/version"):
                self._send(200, {"ApiVersion": "1.41"})
            elif name in images:
                self._send(200, {"Id": "sha256:a", "RepoTags": [name]})
            else:
                self._send(404, {"message": f"No such image: {name}"})

        def do_POST(self) -> None:
            asked.append(self.path.partition("/images/")[2])
            self.send_response(200)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for document in news:
                line = json.dumps(document).encode() + b"\r\n"
                self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")

        def _send(self, status: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        for proxy in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            patch.delenv(proxy, raising=False)
        patch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_address[1]}")
        yield asked
    finally:
        server.shutdown()
        server.server_close()


def layer(status: str, current: int = 0, name: str = "ab12") -> dict[str, Any]:
    return {"status": status, "id": name, "progressDetail": {"current": current, "total": 2_000_000_000} if current else {}}


def test_an_image_that_is_here_is_not_pulled(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    with docker_with(monkeypatch, [NAME], []) as asked:
        image.have(ENGINE, said.append)
    assert (asked, said) == ([], [])


def test_a_pull_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pull, "NEWS_S", 0.0)
    news = [
        {"status": "Pulling from vllm/vllm-openai", "id": "v0.29.0"},
        layer("Downloading", 500_000_000),
        layer("Downloading", 100_000_000, "cd34"),
        layer("Download complete"),
        layer("Extracting", 1_000),
        {"status": f"Status: Downloaded newer image for {NAME}"},
    ]
    said: list[str] = []
    with docker_with(monkeypatch, [], news) as asked:
        image.have(ENGINE, said.append)
    assert asked == ["create?tag=v0.29.0&fromImage=vllm%2Fvllm-openai"]
    assert said[:4] == [
        f"pulling {NAME}",
        *(f"pulling {NAME}: {gb}" for gb in ("0.5 of 2.0 GB", "0.6 of 4.0 GB", "2.1 of 4.0 GB")),
    ]
    assert set(said[4:]) == {f"pulling {NAME}: 2.1 of 4.0 GB"}


def test_a_pull_that_breaks_off_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    news = [layer("Downloading", 500_000_000), {"error": "toomanyrequests:\nYou have reached your pull rate limit"}]
    with docker_with(monkeypatch, [], news), pytest.raises(BuildError) as refused:
        image.have(ENGINE, lambda _: None)
    said = "toomanyrequests: You have reached your pull rate limit"
    assert refused.value.reason == f"{NAME} is not on this machine and can't be pulled: {said}; try `docker pull {NAME}`"


def test_a_digest_is_pulled_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned = DockerEngine(
        image=f"vllm/vllm-openai@sha256:{'a' * 64}", gpus=None, ipc=None, shm_size=None, volumes=(), entrypoint=()
    )  # fmt: skip
    with docker_with(monkeypatch, [], []) as asked:
        image.have(pinned, lambda _: None)
    assert asked == [f"create?tag=sha256%3A{'a' * 64}&fromImage=vllm%2Fvllm-openai"]
