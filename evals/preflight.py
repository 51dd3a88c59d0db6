"""Is this arm worth measuring? One question under the arm's own request settings, before it is asked hundreds."""

import asyncio

from evals import sampling
from evals.client import Client, body
from evals.engine import CANARY, CANARY_TOKENS, Server
from evals.errors import CanaryError, ServerDied
from evals.experiment import Arm
from evals.records import Failure


def check(arm: Arm, server: Server) -> None:
    """Ask a server that is known to answer whether it takes this arm's settings.

    A level of effort that the model rejects, an unknown template argument: each would fail every sample, one by one.

    Raises:
        ServerDied: it answers nobody any more.
        CanaryError: the request failed; other arms on this server are not touched by it.
    """
    answer = asyncio.run(_ask(arm, server))
    if isinstance(answer, Failure) and not server.alive():
        raise ServerDied(f"the server ended at a first request: {server.cause() or answer.message}", server.log_tail())
    if isinstance(answer, Failure):
        raise CanaryError(f"the server rejects this arm's request settings: {answer.message}", server.log_tail())


async def _ask(arm: Arm, server: Server) -> object:
    settings = body(sampling.settings(arm), max_tokens=CANARY_TOKENS)
    async with Client(server.endpoint, timeout_s=arm.request.timeout_s, alive=server.alive, attempts=2) as client:
        return await client.chat(CANARY, settings)
