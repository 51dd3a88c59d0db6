import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stub_server import FINGERPRINT, Reply, StubServer, chat, error, script
from stub_uv import stand_in

from evals.engine import Server, process, serve
from evals.engine.log import LOG_TAIL_LINES
from evals.engine.process import Process
from evals.errors import BuildError, CanaryError, ConfigError, EngineError, StartError
from evals.experiment import Arm, CommandEngine, RequestSettings, UrlEngine, VenvEngine

pytestmark = pytest.mark.usefixtures("short_waits")


@pytest.fixture(scope="module", autouse=True)
def _engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        stand_in(tmp_path_factory.mktemp("uv"), patch)
        yield


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "engine.log"


def venv_arm(fault: str = "", **over: Any) -> Arm:
    told: dict[str, Any] = {
        "name": "v029", "engine": VenvEngine(package="vllm", version="0.29.0"), "model": "/models/qwen", "model_files": "",
        "args": {}, "env": {"STUB_FAULT": fault}, "devices": (), "request": RequestSettings(timeout_s=10.0),
        "sampling": "greedy", "repeat_of": None, "start_timeout_s": 20.0,
    }  # fmt: skip
    return Arm(**(told | over))


def url_arm(url: str, model: str | None = None, api_key_env: str | None = None) -> Arm:
    return venv_arm(engine=UrlEngine(url=url, api_key_env=api_key_env), model=model, env={})


def quiet(_: str) -> None: ...


def refusal(kind: type[EngineError], arm: Arm, log: Path) -> EngineError:
    with pytest.raises(kind) as refused, serve(arm, 0, log, quiet):
        raise AssertionError("the block must not be entered")
    assert "\n" not in refused.value.reason
    return refused.value


def pid_of(running: Server) -> int:
    assert isinstance(running.running, Process)
    return running.running.pid


# --- a server that we start -----------------------------------------------------------------------------------------------


def test_a_server_runs_for_the_length_of_the_block(log: Path) -> None:
    news: list[str] = []
    with serve(venv_arm(args={"dtype": "bfloat16", "api-key": "sk-1"}), 1, log, news.append) as running:
        assert running.alive()
        info = running.info
        assert (info.launch, info.engine, info.version, info.fingerprint, info.model) == (
            1,
            "venv vllm==0.29.0",
            "0.29.0",
            FINGERPRINT,
            "qwen",
        )
        assert info.argv[1:3] == ("serve", "/models/qwen")
        assert info.argv[info.argv.index("--api-key") + 1] == "***"
        assert info.env["VLLM_NO_USAGE_STATS"] == "1"
        assert 0 < info.ready_s < 20
        assert running.endpoint.api_key == "sk-1"
        assert running.reset_prefix_cache() is True
        assert running.cause() is None
    assert not running.alive()
    assert news[-1] == "starting venv vllm==0.29.0 for v029"
    assert "startup complete" in log.read_text()


@pytest.mark.parametrize("given", [{"args": {"api-key": ["sk-1", "sk-2"]}}, {"env": {"VLLM_API_KEY": "sk-1"}}])
def test_a_server_is_asked_with_the_key_that_it_was_given(log: Path, given: dict[str, Any]) -> None:
    with serve(venv_arm(**given), 0, log, quiet) as running:
        assert running.endpoint.api_key == "sk-1"


def test_a_server_is_stopped_when_the_block_raises(log: Path) -> None:
    with pytest.raises(KeyboardInterrupt), serve(venv_arm(), 0, log, quiet) as running:
        raise KeyboardInterrupt
    assert not running.alive()


def test_all_that_a_server_started_is_stopped_with_it(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "STOP_GRACE_S", 0.3)
    pidfile = tmp_path / "pid"
    with serve(venv_arm(env={"STUB_FAULT": "grandchild", "STUB_PIDFILE": str(pidfile)}), 0, log, quiet) as running:
        grandchild = Path("/proc") / pidfile.read_text() / "stat"
        assert grandchild.exists()
    assert not running.alive()
    assert not grandchild.exists() or grandchild.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_server_that_ignores_its_end_is_killed(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "STOP_GRACE_S", 0.3)
    with serve(venv_arm("stubborn"), 0, log, quiet) as running:
        assert running.running is not None
    assert running.running.ending() == "killed by SIGKILL"


def test_two_launches_are_two_processes(tmp_path: Path) -> None:
    with serve(venv_arm(), 0, tmp_path / "a.log", quiet) as first, serve(venv_arm(), 1, tmp_path / "b.log", quiet) as second:
        assert pid_of(first) != pid_of(second)
        assert first.endpoint.url != second.endpoint.url


def test_a_failed_start_is_told_in_the_engines_own_words(log: Path) -> None:
    refused = refusal(StartError, venv_arm("start"), log)
    assert refused.reason == "the server ended before it was ready: ValueError: No available memory for the cache blocks."
    assert refused.stage == "start"
    assert len(refused.log_tail) == LOG_TAIL_LINES == 40
    assert refused.log_tail[-1].endswith("Failed core proc(s): {}")


def test_a_server_that_is_never_healthy_is_given_up_at_the_deadline_and_stopped(log: Path) -> None:
    start = time.monotonic()
    refused = refusal(StartError, venv_arm("never-healthy", start_timeout_s=0.8), log)
    assert refused.reason == "not healthy after 1 s; raise start_timeout_s or see the log"
    assert 0.8 <= time.monotonic() - start < 10
    assert any("startup complete" in line for line in refused.log_tail)


@pytest.mark.parametrize("fault", ["first-request", "slow-death"])
def test_a_healthy_server_that_dies_at_its_first_request_fails_its_canary(log: Path, fault: str) -> None:
    refused = refusal(CanaryError, venv_arm(fault), log)
    assert refused.reason == "healthy, but the first request failed: RuntimeError: could not create a primitive for float32"
    assert refused.stage == "canary"
    assert any("EngineDeadError" in line for line in refused.log_tail)


def test_a_build_that_fails_is_told_before_anything_is_started(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_UV", "fail")
    refused = refusal(BuildError, venv_arm(engine=VenvEngine(package="vllm", version="0.30.0")), log)
    assert refused.stage == "build"
    assert not log.exists()


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
def test_a_proxy_in_the_environment_stands_in_no_servers_way(log: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serve(venv_arm(), 0, log, quiet) as running:
        assert running.reset_prefix_cache()


# --- a command of the user's own ------------------------------------------------------------------------------------------

STUB = f"exec {sys.executable} -S {Path(__file__).with_name('stub_server.py')} serve m --port {{port}}"


def command_arm(script: str, url: str = "http://127.0.0.1:{port}") -> Arm:
    engine = CommandEngine(command=("sh", "-c", script), url=url, version=None, api_key_env=None)
    return venv_arm(engine=engine, model=None)


def test_a_command_serves_for_the_length_of_the_block(log: Path) -> None:
    with serve(command_arm(STUB), 0, log, quiet) as running:
        assert (running.info.model, running.info.engine) == ("m", f"command sh -c {STUB}"[:68])
        assert "{port}" not in " ".join(running.info.argv)
    assert not running.alive()


def test_a_command_is_not_started_where_something_answers_already(log: Path) -> None:
    """Or an old server would be measured in the new one's place."""
    with StubServer() as stub:
        reason = refusal(StartError, command_arm(STUB, stub.url), log).reason
        assert reason.startswith(f"something answers at {stub.url} already")


def test_a_command_that_goes_into_the_background_is_told_to_stay(log: Path) -> None:
    reason = refusal(StartError, command_arm("exit 0"), log).reason
    assert reason.endswith("exit code 0: a command that goes into the background must stay in the foreground here")


def test_a_server_that_its_command_lets_loose_is_told(log: Path, tmp_path: Path) -> None:
    script = f"setsid sh -c 'echo $$ > {tmp_path / 'pid'}; {STUB}' & sleep 60"
    try:
        with pytest.raises(StartError, match="a server is left at"), serve(command_arm(script), 0, log, quiet) as running:
            assert running.alive()
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


# --- an endpoint that we attach to ----------------------------------------------------------------------------------------


def test_an_endpoint_is_attached_to_and_left_running(log: Path) -> None:
    with StubServer(models=("first", "second")) as stub:
        with serve(url_arm(stub.url), 0, log, quiet) as running:
            assert (running.info.model, running.info.version, running.info.fingerprint) == ("first", "0.29.0", FINGERPRINT)
            assert (running.info.engine, running.info.argv, running.running) == (f"url {stub.url}", (), None)
            assert running.alive()
        assert stub.page("/health").status == 200
        assert not stub.ended.is_set()
    assert not log.exists()


def test_the_prefix_cache_of_an_endpoint_is_left_alone(log: Path) -> None:
    with StubServer() as stub, serve(url_arm(stub.url), 0, log, quiet) as running:
        assert running.reset_prefix_cache() is False
        assert stub.posts == []


def test_an_endpoint_is_asked_for_the_model_that_the_arm_names_with_its_key(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-9")
    with StubServer(models=("first", "second")) as stub, serve(url_arm(stub.url, "second", "MY_KEY"), 0, log, quiet) as running:
        assert (running.endpoint.model, running.endpoint.api_key) == ("second", "sk-9")
        assert stub.headers[0]["authorization"] == "Bearer sk-9"
        assert stub.requests[0]["model"] == "second"


def test_a_key_that_is_not_in_the_environment_is_named(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(ConfigError, match="MY_KEY"), serve(url_arm("http://127.0.0.1:9", None, "MY_KEY"), 0, log, quiet):
        pass


def test_a_wrong_model_name_is_one_clear_error(log: Path) -> None:
    with StubServer(models=("first", "second")) as stub:
        refused = refusal(CanaryError, url_arm(stub.url, "third"), log)
        assert refused.reason == f"{stub.url} does not serve 'third'; it serves: first, second"
        assert stub.requests == []


def test_an_endpoint_without_a_model_is_one_clear_error(log: Path) -> None:
    with StubServer(models=()) as stub:
        assert refusal(CanaryError, url_arm(stub.url), log).reason == f"{stub.url} serves no model"


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (Reply(text="<html>a web page</html>"), "is this an OpenAI-compatible server?"),
        (Reply(payload={"models": []}), "is this an OpenAI-compatible server?"),
        (Reply(payload=["a"]), "is this an OpenAI-compatible server?"),
        (error(401, "Unauthorized"), "401 Unauthorized"),
        (error(404, "Not Found"), "404 Not Found"),
    ],
)
def test_an_endpoint_that_lists_no_models_is_one_clear_error(log: Path, models: Reply, said: str) -> None:
    with StubServer() as stub:
        stub.pages["/v1/models"] = models
        reason = refusal(CanaryError, url_arm(stub.url), log).reason
    assert stub.url in reason
    assert said in reason


def test_an_endpoint_that_is_not_there_is_one_clear_error(log: Path) -> None:
    with StubServer() as stub:
        stub.close()
        assert stub.url in refusal(CanaryError, url_arm(stub.url), log).reason


def test_an_address_that_is_none_is_one_clear_error(log: Path) -> None:
    assert "http://[::1" in refusal(CanaryError, url_arm("http://[::1"), log).reason


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            error(500, "template raised: unsupported reasoning effort"),
            "HTTP 500: template raised: unsupported reasoning effort",
        ),
        (Reply(payload=chat("", usage=None)), "an empty answer"),
        (Reply(payload={"object": "error", "message": "no"}), "no choices in the answer"),
    ],
)
def test_a_canary_that_is_not_answered_is_told_in_the_endpoints_words(log: Path, reply: Reply, said: str) -> None:
    with StubServer(script(reply)) as stub:
        reason = refusal(CanaryError, url_arm(stub.url), log).reason
    assert reason.startswith(f"{stub.url} did not answer a first request: ")
    assert said in reason


@pytest.mark.parametrize(
    "payload", [chat("", reasoning="hm", usage=None), chat("", usage={"completion_tokens": 1}), chat("ready", usage=None)]
)
def test_any_token_at_all_answers_the_canary(log: Path, payload: dict[str, Any]) -> None:
    with StubServer(script(Reply(payload=payload))) as stub, serve(url_arm(stub.url), 0, log, quiet) as running:
        assert isinstance(running, Server)


def test_an_endpoint_that_tells_no_version_has_none(log: Path) -> None:
    with StubServer() as stub:
        stub.pages["/version"] = Reply(status=404, payload={"detail": "Not Found"})
        with serve(url_arm(stub.url), 0, log, quiet) as running:
            assert running.info.version is None


def test_the_canary_asks_little(log: Path) -> None:
    with StubServer() as stub, serve(url_arm(stub.url), 0, log, quiet):
        assert len(stub.requests) == 1
        assert stub.requests[0]["max_tokens"] <= 16
