"""A server that speaks vLLM 0.29's wire shapes. It fakes the wire, never our own functions.

In a test: `with StubServer(answer) as stub:` on a free loopback port. As a child process, standing for the `vllm` command:
`python tests/stub_server.py serve MODEL --port P …`, where STUB_FAULT names what goes wrong. Standard library only, so that
a child is up in a tenth of a second.
"""

import contextlib
import json
import os
import re
import signal
import socket
import struct
import sys
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal, Self

from engine_logs import ENGINE_TRACEBACK, START_TRACEBACK

if __name__ != "__main__":
    import httpcore  # noqa: F401  # httpx does so late; in-process runs of pytester would drop it and leave httpx a stale copy

Json = dict[str, Any]
FINGERPRINT = "vllm-0.29.0-57ab57ab"
VERSION = "0.29.0"
HANG_S = 20.0
RIVALS = (-1.5, -2.5)
"""Log-probabilities of two other tokens at every place of a prompt."""
PREFLIGHT_TOKENS = 64
"""Of the answers that an arm is looked at with before its tasks."""
RENDERED: list[int] = []
"""Stands in an answer for the ids of the prompt as the stub renders it."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One scripted behaviour."""

    payload: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    """A body that is no JSON, in the payload's place."""
    fault: Literal["hang", "reset"] | None = None


Answer = Callable[[Json], Reply]


def chat(text: str | None, **over: Any) -> Json:
    """A chat completion as vLLM 0.29 sends it with return_token_ids; `over` replaces fields of message, choice or the whole."""
    ids = [ord(c) for c in (text or over.get("reasoning") or "")]
    usage = {"prompt_tokens": 3, "total_tokens": 3 + len(ids), "completion_tokens": len(ids), "completion_tokens_details": None}
    message: Json = {"role": "assistant", "content": text, "refusal": None, "function_call": None, "reasoning": None}
    choice: Json = {"index": 0, "logprobs": None, "finish_reason": "stop", "stop_reason": None, "token_ids": ids}
    whole: Json = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1796008419, "model": "stub",
        "system_fingerprint": FINGERPRINT, "prompt_token_ids": RENDERED, "prompt_logprobs": None,
        "usage": usage,
    }  # fmt: skip
    for part in (choice, whole):
        part.update({name: value for name, value in over.items() if name in part})
    message.update({name: value for name, value in over.items() if name not in choice and name not in whole})
    return whole | {"choices": [choice | {"message": message}]}


def logprobs(*pairs: tuple[float, ...]) -> Json:
    """`logprobs` of a choice: per token, the log-probabilities under top_logprobs."""
    tops = [[{"token": str(i), "logprob": p, "bytes": None} for i, p in enumerate(pair)] for pair in pairs]
    return {"content": [{"token": "0", "logprob": top[0]["logprob"] if top else 0.0, "top_logprobs": top} for top in tops]}


def error(status: int, message: str, **headers: str) -> Reply:
    kind = {400: "BadRequestError", 404: "NotFoundError", 500: "InternalServerError"}.get(status, "Error")
    payload = {"error": {"message": message, "type": kind, "param": None, "code": status}}
    return Reply(status=status, payload=payload, headers={k.replace("_", "-"): v for k, v in headers.items()})


def echo(request: Json) -> Reply:
    """Answers with the last message's text."""
    text = str(request["messages"][-1]["content"])
    return Reply(payload=chat(text, logprobs=logprobs(*[(-1.0, -2.0)] * len(text)) if request.get("logprobs") else None))


def script(*replies: Reply) -> Answer:
    """The replies in turn, the last one for ever after."""
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # the client gave up, as some tests want it
            super().handle_error(request, client_address)


class StubServer:
    """Serves until the block ends. `requests` holds every chat body that came, `headers` what came with each."""

    def __init__(self, answer: Answer = echo, *, models: tuple[str, ...] = ("stub",), port: int = 0) -> None:
        self.answer, self.models = answer, models
        self.requests: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.posts: list[str] = []
        self.pages: dict[str, Reply] = {}
        """Other paths, or other replies on the usual ones."""
        self.sent: Callable[[Json], None] = lambda _: None
        """Called with each chat body whose answer has been sent."""
        self.tokenized: list[Json] = []
        """Every body that came to /tokenize."""
        self.max_model_len = 131072
        self.completed: list[Json] = []
        """Every body that came to /v1/completions."""
        self.likes: Callable[[str, str], float] = lambda before, token: -1.0 - len(before + token) % 97 / 100
        """The log-probability of a token after a text."""
        self.forced: list[Json] = []
        """Every body that came to /v1/completions with `prompt_logprobs`."""
        self.forces: Callable[[list[int], int], float] = lambda before, token: -0.1 - (7 * len(before) + token) % 89 / 1000
        """The log-probability of a token id after others; the likeliest rival has RIVALS[0]."""
        self._vocabulary: list[str] = []
        self.seconds = 0.0
        """What an answer takes."""
        self.in_flight = self.most_in_flight = 0
        self.ended = threading.Event()
        self.lock = threading.Lock()
        self._http = _Http(("127.0.0.1", port), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening and answering: later connections are refused, those that are open are dropped."""
        if not self.ended.is_set():
            self.ended.set()
            self._http.shutdown()
            self._http.server_close()

    def page(self, path: str) -> Reply:
        if path in self.pages:
            return self.pages[path]
        match path:
            case "/health":
                return Reply(text="")
            case "/version":
                return Reply(payload={"version": VERSION})
            case "/v1/models":
                return Reply(
                    payload={"object": "list", "data": [{"id": m, "object": "model", "owned_by": "vllm"} for m in self.models]}
                )
            case "/metrics":
                return Reply(text=metrics(len(self.requests)))
            case "/reset_prefix_cache":
                return Reply(payload={"success": True})
            case _:
                return Reply(status=404, payload={"detail": "Not Found"})

    def tokenize(self, body: Json) -> Reply:
        """As vLLM answers it for messages and for a text."""
        with self.lock:
            self.tokenized.append(body)
        if body["model"] not in self.models:
            return error(404, f"The model `{body['model']}` does not exist.")
        with self.lock:
            tokens = [self._id(p) for p in pieces(body["prompt"] if "prompt" in body else render(body))]
        payload = {"count": len(tokens), "max_model_len": self.max_model_len, "tokens": tokens, "token_strs": None}
        return Reply(payload=payload)

    def _id(self, piece: str) -> int:
        if piece not in self._vocabulary:
            self._vocabulary.append(piece)
        return self._vocabulary.index(piece)

    def force(self, body: Json) -> Reply:
        """As vLLM answers token ids with `prompt_logprobs: 2`: nothing is told of the first, for it follows nothing."""
        ids = body["prompt"]
        with self.lock:
            self.forced.append(body)
        places: list[Json | None] = [None]
        for i in range(1, len(ids)):
            told = {900_001: RIVALS[0], 900_002: RIVALS[1]} | {ids[i]: self.forces(ids[:i], ids[i])}
            ranks = {token: sum(other >= p for other in told.values()) for token, p in told.items()}
            kept = [token for token in told if token == ids[i] or ranks[token] <= body["prompt_logprobs"]]
            places.append({str(t): {"logprob": told[t], "rank": ranks[t], "decoded_token": "?"} for t in kept})
        choice = {"index": 0, "text": " and", "logprobs": None, "finish_reason": "length", "prompt_logprobs": places}
        return Reply(payload={"id": "cmpl-1", "object": "text_completion", "model": "stub", "choices": [choice]})

    def complete(self, body: Json) -> Reply:
        """As vLLM answers token ids with `echo` and `logprobs: 1`: one token follows each prompt."""
        if "prompt_logprobs" in body:
            return self.force(body)
        with self.lock:
            self.completed.append(body)
        if (longest := max(map(len, body["prompt"]))) >= self.max_model_len:
            limit = f"This model's maximum context length is {self.max_model_len} tokens."
            return error(400, f"{limit} However, your request has {longest} input tokens. Please reduce the length.")
        choices = []
        for index, prompt in enumerate(body["prompt"]):
            tokens = [*(self._vocabulary[i] for i in prompt), " and"]
            own = [None, *(self.likes("".join(tokens[:i]), tokens[i]) for i in range(1, len(tokens)))]
            tops = [None if p is None else {token: p, "the": -1.2} for token, p in zip(tokens, own, strict=True)]
            told = {"text_offset": [], "token_logprobs": own, "tokens": tokens, "top_logprobs": tops}
            choices.append({"index": index, "text": "".join(tokens), "logprobs": told, "finish_reason": "length"})
        total = sum(len(p) for p in body["prompt"])
        usage = {"prompt_tokens": total, "total_tokens": total + len(choices), "completion_tokens": len(choices)}
        whole = {"id": "cmpl-1", "object": "text_completion", "model": "stub", "system_fingerprint": FINGERPRINT}
        return Reply(payload=whole | {"choices": choices, "usage": usage})

    def chat(self, body: Json) -> Reply:
        with self.lock:
            self.requests.append(body)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if body["model"] not in self.models:
                return error(404, f"The model `{body['model']}` does not exist.")
            reply = self.answer(body)
            if isinstance(reply.payload, dict) and reply.payload.get("prompt_token_ids") is RENDERED:
                return replace(reply, payload=reply.payload | {"prompt_token_ids": prompt_ids(body)})
            return reply
        finally:
            with self.lock:
                self.in_flight -= 1


def render(body: Json) -> str:
    """A chat template like Qwen's."""
    turns = [f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in body["messages"]]
    thinking = (body.get("chat_template_kwargs") or {}).get("enable_thinking", True)
    return "".join(turns) + "<|im_start|>assistant\n" + ("" if thinking else "<think>\n\n</think>\n\n")


def prompt_ids(body: Json) -> list[int]:
    return [1, *(zlib.crc32(piece.encode()) % 50_000 for piece in pieces(render(body)))]


def pieces(text: str) -> list[str]:
    """Something like a byte-pair encoding."""
    return re.findall(r"<\|\w+\|>|</?think>| ?[A-Za-z]{1,6}|\d|[一-鿿]{1,2}|\s+|.", text)


def metrics(asked: int) -> str:
    """Speculation on, one draft token a request, all accepted."""
    labels = 'engine="0",model_name="stub"'
    rows = {"prompt_tokens": 3, "generation_tokens": 5, "prefix_cache_queries": 3, "prefix_cache_hits": 0,
            "spec_decode_num_drafts": 1, "spec_decode_num_draft_tokens": 1, "spec_decode_num_accepted_tokens": 1}  # fmt: skip
    lines = []
    for name, each in rows.items():
        lines += [
            f"# HELP vllm:{name}_total .",
            f"# TYPE vllm:{name}_total counter",
            f"vllm:{name}_total{{{labels}}} {each * asked}.0",
        ]
    per_position = f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{labels},position="0"}} {asked}.0'
    return "\n".join([*lines, per_position, ""])


def _handler(stub: StubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._send(stub.page(self.path))

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length", 0)))
            if self.path == "/v1/chat/completions":
                stub.headers.append({k.lower(): v for k, v in self.headers.items()})
                request = json.loads(sent)
                time.sleep(stub.seconds)
                self._send(stub.chat(request))
                stub.sent(request)
            elif self.path == "/tokenize" and self.path not in stub.pages:
                self._send(stub.tokenize(json.loads(sent)))
            elif self.path == "/v1/completions" and self.path not in stub.pages:
                self._send(stub.complete(json.loads(sent)))
            else:
                stub.posts.append(self.path)
                self._send(stub.page(self.path))

        def _send(self, reply: Reply) -> None:
            if reply.fault == "hang":
                stub.ended.wait(HANG_S)
            if reply.fault or stub.ended.is_set():
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closed with a reset
                self.close_connection = True
                return
            body = (reply.text if reply.text is not None else json.dumps(reply.payload)).encode()
            with contextlib.suppress(ConnectionError):  # the client may have given up
                self.send_response(reply.status)
                for name, value in {
                    "content-type": "application/json",
                    "content-length": str(len(body)),
                    **reply.headers,
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    return Handler


def _option(argv: list[str], name: str, default: str) -> str:
    return argv[argv.index(name) + 1] if name in argv else default


def _die(words: str) -> None:
    sys.stderr.write(words)
    sys.stderr.flush()
    os._exit(1)


def _dying_after(requests: int, die: Callable[[], None] = lambda: _die(ENGINE_TRACEBACK)) -> Answer:
    left = [requests]

    def answer(request: Json) -> Reply:
        left[0] -= 1
        if left[0] < 0:
            die()
        return pupil(request)

    return answer


def _dying_slowly(_: Json) -> Reply:
    threading.Timer(0.5, _die, [ENGINE_TRACEBACK]).start()
    return error(500, "EngineCore encountered an issue. See stack trace (above) for the root cause.")


def _spawn_stubborn_grandchild() -> None:
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with open(os.environ["STUB_PIDFILE"], "w") as f:
            f.write(str(os.getpid()))
        time.sleep(60)
        os._exit(0)


def pupil(request: Json) -> Reply:
    """Adds one where it is asked to, and answers with the question elsewhere."""
    question = str(request["messages"][-1]["content"])
    return (
        Reply(payload=chat(f"#### {int(question.split('what is ')[1].split()[0]) + 1}"))
        if "what is " in question
        else echo(request)
    )


def thinker(request: Json) -> Reply:
    """Answers as the pupil does, and thinks unless it is told not to."""
    payload = pupil(request).payload
    payload["usage"] |= {"completion_tokens_details": {"reasoning_tokens": 0}}
    if (request.get("chat_template_kwargs") or {}).get("enable_thinking", True):
        payload["choices"][0]["message"]["reasoning"] = "One more than it is."
        payload["usage"] |= {"completion_tokens": 40, "completion_tokens_details": {"reasoning_tokens": 30}}
    return Reply(payload=payload)


def _meeting(request: Json) -> Reply:
    """Answers once two stubs have been asked something: never, where one runs after the other."""
    folder = Path(os.environ["STUB_MEET"])
    (folder / f"{os.environ['STUB_NAME']}.here").touch()
    deadline = time.monotonic() + HANG_S
    while len(list(folder.glob("*.here"))) < 2:
        if time.monotonic() > deadline:
            return error(500, "nobody came")
        time.sleep(0.01)
    return pupil(request)


def _write_down(request: Json) -> None:
    """One line for an answer that was sent, in one write, so that lines of several threads don't mix."""
    if request["max_tokens"] == PREFLIGHT_TOKENS:
        return
    line = json.dumps([os.environ["STUB_NAME"], request["messages"][-1]["content"]]) + "\n"
    file = os.open(os.environ["STUB_ANSWERS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)


def _child(argv: list[str]) -> None:
    """`vllm serve`: flags that it does not know are ignored. The file STUB_ANSWERS gets a line for each answer sent."""
    fault, _, amount = os.environ.get("STUB_FAULT", "").partition(":")
    sys.stderr.write(f"(APIServer pid=6) INFO 11-30 03:00:00 [api_utils.py:286] non-default args: {argv}\n")
    answer: Answer = pupil
    match fault:
        case "start":
            sys.stderr.write("".join(f"noise {i}\n" for i in range(100)))
            _die(START_TRACEBACK)
        case "first-request":
            answer = _dying_after(0)
        case "slow-death":
            answer = _dying_slowly
        case "mid-run":
            answer = _dying_after(int(amount))
        case "killed":
            answer = _dying_after(int(amount), lambda: os.kill(os.getpid(), signal.SIGKILL))
        case "meet":
            answer = _meeting
        case "thinks":
            answer = thinker
        case "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        case "grandchild":
            _spawn_stubborn_grandchild()
    stub = StubServer(
        answer, models=(_option(argv, "--served-model-name", argv[1]),), port=int(_option(argv, "--port", "8000"))
    )
    if "STUB_ANSWERS" in os.environ:
        stub.sent = _write_down
        stub.seconds = float(os.environ["STUB_SECONDS"])
    if fault == "never-healthy":
        stub.pages["/health"] = Reply(status=503, text="")
    with stub:
        sys.stderr.write("(APIServer pid=6) INFO:     Application startup complete.\n")
        sys.stderr.flush()
        while True:
            time.sleep(60)


if __name__ == "__main__":
    _child(sys.argv[1:])
