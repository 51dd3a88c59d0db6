"""What all tests share. `engine` marks those that start a real vLLM, `docker` those that run containers.

`--update-golden` rewrites tests/golden/.
"""

import pytest

pytest_plugins = ["pytester", "docker_engine"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Rewrite the golden files from what is rendered now.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "engine: starts a real vLLM (minutes; needs its wheels)")
