"""How a vLLM comes to run. `serve` gives a running `Server`, whatever the engine, and ends what it started."""

from evals.engine.server import CANARY as CANARY
from evals.engine.server import CANARY_TOKENS as CANARY_TOKENS
from evals.engine.server import Server as Server
from evals.engine.server import serve as serve
from evals.engine.server import server_key as server_key
