"""One running vLLM: started or attached to, seen healthy, and asked one question before it counts as running."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx

from evals.client import Client, Endpoint, body, http_options
from evals.engine import attest, command_line, image, secrets, venv
from evals.engine.container import Container
from evals.engine.gpus import reserved
from evals.engine.process import Process, free_port
from evals.errors import CanaryError, StartError
from evals.experiment import Arm, CommandEngine, DockerEngine, UrlEngine, VenvEngine
from evals.records import Failure, Message, Response, ServerInfo

CANARY = (Message(role="user", content="Reply with the word ready."),)
CANARY_TOKENS = 16
SETTLE_S = 10.0  # vLLM's own watchdog looks every 5 s


class Running(Protocol):
    """What was started: a process or a container."""

    def alive(self) -> bool: ...
    def ending(self) -> str: ...
    def cause(self) -> str | None: ...
    def log_tail(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server that has answered its canary."""

    endpoint: Endpoint
    info: ServerInfo
    running: Running | None
    """None for a server that we did not start."""

    def alive(self) -> bool:
        return self.running is None or self.running.alive()

    def log_tail(self) -> tuple[str, ...]:
        return self.running.log_tail() if self.running else ()

    def cause(self) -> str | None:
        """Of an end: the error that its log names, else how it ended, such as `killed by SIGKILL`."""
        if self.running is None:
            return None
        return self.running.cause() or (None if self.running.alive() else self.running.ending())

    def reset_prefix_cache(self) -> bool:
        """Empty the prefix cache, so that a round starts cold. False where the server does not offer it.

        A server that we did not start is left alone: others may be using it.
        """
        if self.running is None:
            return False
        try:
            url = self.endpoint.url
            return httpx.post(f"{url}/reset_prefix_cache", timeout=30, **http_options(url)).status_code == 200
        except httpx.HTTPError:
            return False


@contextmanager
def serve(arm: Arm, launch: int, log: Path, say: Callable[[str], None]) -> Iterator[Server]:
    """Run the arm's server for the length of the block.

    Raises:
        BuildError, StartError, CanaryError: it can't be had; what was started has been stopped.
    """
    if isinstance(arm.engine, UrlEngine):
        yield _attach(arm, arm.engine, launch)
        return
    key = server_key(arm)
    with reserved(arm, say) as names, _started(arm, log, say) as (running, url, argv), _told_of_a_stop(arm, say):
        start = time.monotonic()
        _wait_healthy(running, url, arm.start_timeout_s)
        model, fingerprint = _canary(arm, url, key, running)
        files = attest.model_files(arm)
        info = ServerInfo(
            launch=launch, engine=str(arm.engine), version=_version(url), fingerprint=fingerprint, model=model,
            argv=secrets.masked_argv(argv), env=secrets.masked_env(command_line.serve_env(arm)), gpus=names,
            ready_s=time.monotonic() - start, weights_sha=files.weights_sha, tokenizer_sha=files.tokenizer_sha,
            effective=secrets.masked_env(attest.effective_settings(log)),
            image_id=running.image_id if isinstance(running, Container) else None,
            image_digest=running.image_digest if isinstance(running, Container) else None,
        )  # fmt: skip
        yield Server(endpoint=Endpoint(url=url, model=model, api_key=key), info=info, running=running)


@contextmanager
def _told_of_a_stop(arm: Arm, say: Callable[[str], None]) -> Iterator[None]:
    """A server may take its time to end, and a key was pressed."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopping the server of {arm.name}…")
        raise


@contextmanager
def _started(arm: Arm, log: Path, say: Callable[[str], None]) -> Iterator[tuple[Running, str, list[str]]]:
    """The arm's engine started: what runs, where it will answer, and its command line as the experiment writes it."""
    port = free_port()
    url, real = f"http://127.0.0.1:{port}", command_line.resolved(arm)
    match arm.engine:
        case VenvEngine() as engine:
            environment = venv.build(engine, say)
            say(f"starting {engine} for {arm.name}")
            env = command_line.inherited_env(environment.root / "bin") | venv.engine_env(environment)
            env |= command_line.device_env(arm) | command_line.serve_env(real)
            program = [environment.vllm, "serve"]
            with Process([*program, *command_line.serve_args(real, port)], env, log) as process:
                yield process, url, [*program, *command_line.serve_args(arm, port)]
        case DockerEngine() as engine:
            image.have(engine, say)
            say(f"starting {engine} for {arm.name}")
            with Container(real, engine, port, log) as container:
                yield container, url, [*engine.entrypoint, *command_line.serve_args(arm, port)]
        case CommandEngine() as engine:
            url = engine.url.replace("{port}", str(port))
            _see_nobody_answers(url)
            say(f"starting {engine} for {arm.name}")
            env = dict(os.environ) | command_line.device_env(arm) | command_line.serve_env(real)
            with Process(command_line.filled(engine, real, port), env, log) as process:
                yield process, url, command_line.filled(engine, arm, port)
            if _answers(url):
                stay = "its command must stay in the foreground, so that it can be stopped"
                raise StartError(f"a server is left at {url}: {stay}")
        case UrlEngine():
            raise AssertionError("a url is attached to, never started")


def _see_nobody_answers(url: str) -> None:
    """Or an old server on the same port would be measured in place of the new one."""
    if _answers(url):
        raise StartError(f"something answers at {url} already; stop it, or write {{port}} in the command and its url")


def _answers(url: str) -> bool:
    try:
        httpx.get(f"{url}/health", timeout=5, **http_options(url))
    except httpx.TransportError:
        return False
    return True


def server_key(arm: Arm) -> str:
    """The key that the arm's server asks for; vLLM takes several by flag, else one from the environment.

    Raises:
        ConfigError: an environment variable that the experiment names is not set.
    """
    if isinstance(arm.engine, UrlEngine | CommandEngine) and arm.engine.api_key_env is not None:
        return command_line.variable(arm.name, arm.engine.api_key_env)
    if isinstance(arm.engine, UrlEngine):
        return "none"
    real = command_line.resolved(arm)
    inherited = os.environ.get("VLLM_API_KEY", "none") if isinstance(arm.engine, CommandEngine) else "none"
    given = real.args.get("api-key", real.env.get("VLLM_API_KEY", inherited))
    return str(given[0] if isinstance(given, list) else given)


def _attach(arm: Arm, engine: UrlEngine, launch: int) -> Server:
    key = server_key(arm)
    model, fingerprint = _canary(arm, engine.url, key, None)
    info = ServerInfo(
        launch=launch, engine=str(engine), version=_version(engine.url), fingerprint=fingerprint, model=model,
        argv=(), env={}, ready_s=0.0,
    )  # fmt: skip
    return Server(endpoint=Endpoint(url=engine.url, model=model, api_key=key), info=info, running=None)


def _wait_healthy(process: Running, url: str, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if not process.alive():
            reason = process.cause() or _ended_silently(process.ending())
            raise StartError(f"the server ended before it was ready: {reason}", process.log_tail())
        try:
            if httpx.get(f"{url}/health", timeout=5, **http_options(url)).status_code == 200:
                return
        except httpx.HTTPError:
            pass  # not listening yet; the deadline bounds this
        time.sleep(0.25)
    raise StartError(f"not healthy after {timeout_s:.0f} s; raise start_timeout_s or see the log", process.log_tail())


def _ended_silently(how: str) -> str:
    if how == "exit code 0":
        return "exit code 0: a command that goes into the background must stay in the foreground here"
    return f"{how}, see the log"


def _canary(arm: Arm, url: str, key: str, process: Running | None) -> tuple[str, str | None]:
    """Ask one question: (served model, fingerprint). Health alone proves little: some engines die at the first request."""
    alive = process.alive if process else lambda: True
    answer: Response | Failure
    try:
        model = _served_model(arm, url, key)
        answer = asyncio.run(_ask_canary(Endpoint(url=url, model=model, api_key=key), arm, alive))
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as e:  # ValueError: urllib's word for an address that is none
        model, answer = "", Failure(kind="connection", message=f"{e}".split("\n")[0] or type(e).__name__)
    if isinstance(answer, Response) and (answer.completion_tokens or answer.text or answer.reasoning):
        return model, answer.fingerprint
    said = answer.message if isinstance(answer, Failure) else "an empty answer"
    if process is None:
        raise CanaryError(f"{url} did not answer a first request: {said}")
    _settle(process)
    cause = process.cause() if not process.alive() else None
    raise CanaryError(f"healthy, but the first request failed: {cause or said}", process.log_tail())


def _settle(process: Running) -> None:
    """Give an engine that is dying the time to write why."""
    deadline = time.monotonic() + SETTLE_S
    while process.alive() and time.monotonic() < deadline:
        time.sleep(0.1)


async def _ask_canary(endpoint: Endpoint, arm: Arm, alive: Callable[[], bool]) -> Response | Failure:
    async with Client(endpoint, timeout_s=arm.request.timeout_s, alive=alive, attempts=2) as client:
        return await client.chat(CANARY, body({"temperature": 0.0}, max_tokens=CANARY_TOKENS))


def _served_model(arm: Arm, url: str, key: str) -> str:
    headers = {"Authorization": f"Bearer {key}"}
    response = httpx.get(f"{url}/v1/models", timeout=30, headers=headers, **http_options(url))
    response.raise_for_status()
    try:
        names = [str(m["id"]) for m in response.json()["data"]]
    except (ValueError, KeyError, TypeError) as e:
        raise CanaryError(f"{url}/v1/models does not list models: is this an OpenAI-compatible server?") from e
    if not names:
        raise CanaryError(f"{url} serves no model")
    if isinstance(arm.engine, UrlEngine) and arm.model:
        if arm.model not in names:
            raise CanaryError(f"{url} does not serve {arm.model!r}; it serves: {', '.join(names)}")
        return arm.model
    return names[0]


def _version(url: str) -> str | None:
    try:
        version = httpx.get(f"{url}/version", timeout=10, **http_options(url)).json()["version"]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return None
    return str(version)
