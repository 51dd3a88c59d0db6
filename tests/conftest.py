"""What all tests share. `engine` marks those that start a real vLLM; `--update-golden` rewrites tests/golden/."""

from collections.abc import Iterator

import pytest

pytest_plugins = ["pytester"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Rewrite the golden files from what is rendered now.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "engine: starts a real vLLM (minutes; needs its wheels)")


@pytest.fixture(autouse=True, scope="session")
def _no_gpu_of_this_machine() -> Iterator[None]:
    """A stand-in for a server takes none, so one that is held keeps no test from starting."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        yield
