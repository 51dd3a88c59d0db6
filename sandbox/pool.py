"""A few sandboxes started ahead, each used once. Whatever ends the pool, none of them is left; what a killed one left goes."""

import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Any, Self

from docker import APIClient

from sandbox import container, daemon, owner
from sandbox.container import OWNER_LABEL, Container
from sandbox.errors import SandboxDown, SandboxError
from sandbox.limits import Limits
from sandbox.turns import Turns

RUN_LABEL = "bumpgate.sandbox"
POOL_LABEL = "bumpgate.sandbox.pool"
FORGOTTEN_S = 3600.0
"""Age at which an ended container belongs to nobody, whichever machine or boot its owner is of."""


class Pool:
    """Sandboxes of an image, for so many `workers` that judge at once; a context manager.

    Raises, as a block is entered:
        SandboxDown: Docker does not answer, or refuses.
        ImageError: the image runs no program.
    """

    def __init__(self, image: str, label: str, workers: int = 2, limits: Limits | None = None) -> None:
        self.image, self.workers, self.limits = image, workers, limits or Limits()
        self.turns = Turns()
        """Programs are judged together; one that is judged again is judged alone."""
        self._token = secrets.token_hex(8)
        self._labels = {RUN_LABEL: label, POOL_LABEL: self._token}
        self._coming: deque[Future[Container]] = deque()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            client = daemon.connect(connections=4 * self.workers)
            undo.callback(client.close)
            self._client: APIClient = client.api
            _remove_leftovers(self._client)
            undo.callback(self._remove_all)
            # More starts at once than Docker's machine has cores take turns there, and all of them end later.
            at_once = min(self.workers, daemon.cores(self._client))
            self._starters = ThreadPoolExecutor(at_once, "sandbox-start")
            undo.callback(self._starters.shutdown, cancel_futures=True)
            self._removers = ThreadPoolExecutor(max(at_once // 2, 1), "sandbox-remove")  # half the work of a start
            undo.callback(self._removers.shutdown)
            for _ in range(self.workers + 1):
                self._start_one()
            self._coming[0].result()  # an image that can't run is told now, not by the first program
            self._undo = undo.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._undo.__exit__(kind, error, trace)

    @contextmanager
    def container(self) -> Iterator[Container]:
        """A sandbox that nobody has used, removed after the block, in the background.

        Raises:
            SandboxDown: there is none to be had.
        """
        taken = self._take()
        try:
            yield taken
        finally:
            self._removers.submit(taken.remove)

    def _take(self) -> Container:
        """The next that was started ahead; one started now, where Docker was away in the meantime."""
        for _ in range(len(self._coming)):
            with self._lock:
                coming = self._coming.popleft()
                self._start_one()
            with suppress(SandboxDown):
                ready = coming.result()
                if ready.fresh():
                    return ready
                self._removers.submit(ready.remove)
        return self._new()

    def _start_one(self) -> None:
        self._coming.append(self._starters.submit(self._new))

    def _new(self) -> Container:
        return container.start(self._client, self.image, self.limits, self._labels)

    def _remove_all(self) -> None:
        """What was started and not used, and what an interrupt kept from being handed over."""
        for coming in self._coming:
            if not coming.cancelled() and coming.exception() is None:
                coming.result().close()
        with suppress(SandboxError, *daemon.TROUBLE):  # then no results are lost with it: the next pool removes them
            found = self._client.containers(all=True, filters={"label": f"{POOL_LABEL}={self._token}"})
            with ThreadPoolExecutor(self.workers) as removers:
                for one in found:
                    removers.submit(container.remove, self._client, one["Id"])


def _remove_leftovers(client: APIClient) -> None:
    """Sandboxes of processes that have ended. Those of living ones, and containers that are no sandboxes, are not touched.

    Raises:
        SandboxDown: Docker can't tell.
    """
    try:
        found = client.containers(all=True, filters={"label": OWNER_LABEL})
    except daemon.TROUBLE as e:
        raise SandboxDown(f"Docker can't list its containers: {daemon.words(e)}; see `docker ps`") from e
    for one in found:
        if _is_left(one):
            container.remove(client, one["Id"])


def _is_left(listed: dict[str, Any]) -> bool:
    of = str(listed["Labels"][OWNER_LABEL])
    if owner.of_here(of):
        return owner.dead(of)
    # Of another boot or another machine that shares this Docker: a sandbox ends within minutes and is removed at once.
    return listed["State"] in ("exited", "dead") and time.time() - listed["Created"] > FORGOTTEN_S
