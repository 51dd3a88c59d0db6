"""What all tests share. `engine` marks those that start a real vLLM, `docker` those that run containers.

`--update-golden` rewrites tests/golden/.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadFileScheduling

from evals import client
from evals.engine import process, server

SECOND_TO_THE_ENGINE = {"test_engine_survival", "test_engine_lmeval", "test_engine_needle"}
"""Together they take as long as test_engine, so each of two workers has half of what needs a real vLLM."""
hypothesis.settings.register_profile("bumpgate", deadline=None)  # nothing here depends on how fast a machine is
hypothesis.settings.load_profile("bumpgate")
pytest_plugins = ["pytester", "docker_engine", "engine_experiments"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Rewrite the golden files from what is rendered now.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "engine: starts a real vLLM (minutes; needs its wheels)")
    config.addinivalue_line("markers", "slow: seconds each, and left out of `make check`")


class _OneServerEach(LoadFileScheduling):
    """A file's tests run in one worker; those with a real vLLM in two, each of which has a core (engine_experiments.CORE)."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        return "engine" if Path(file).stem in SECOND_TO_THE_ENGINE else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return _OneServerEach(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first: `make test` shares files out to two workers in this order."""
    items.sort(key=lambda item: item.get_closest_marker("engine") is None)


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a stub there is nothing to wait for."""
    monkeypatch.setattr(client, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(server, "SETTLE_S", 5.0)
    monkeypatch.setattr(process, "STOP_GRACE_S", 2.0)


@pytest.fixture(autouse=True)
def _own_cache(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What unit tests keep (rates, installs) is not the user's; a real engine is taken from where it was installed once."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):  # these tests' runs are none of the job's that tests us
        monkeypatch.delenv(name, raising=False)
    if request.node.get_closest_marker("engine") is None and request.node.get_closest_marker("docker") is None:
        monkeypatch.setenv("BUMPGATE_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(autouse=True, scope="session")
def _no_gpu_of_this_machine() -> Iterator[None]:
    """A stand-in for a server takes none, so one that is held keeps no test from starting."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        yield
