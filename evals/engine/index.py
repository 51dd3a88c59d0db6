"""Where packages come from: uv's own settings, and those of pip that uv does not read."""

import ast
import os
import subprocess
import sys

_OUR_PYTHON = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME")
_UV_KNOWS = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_CONFIG_FILE", "UV_OFFLINE")
PIP_TIMEOUT_S = 10.0


def uv_env() -> dict[str, str]:
    """The environment for uv and for what it builds: ours without our own Python, and pip's index where uv is given none.

    By environment and not by argument, since an index's address may hold a password.
    """
    env = {k: v for k, v in os.environ.items() if k not in _OUR_PYTHON}
    if not any(os.environ.get(name) for name in _UV_KNOWS) and (url := pip_setting("index-url")):
        env["UV_DEFAULT_INDEX"] = url
    return env


def find_links() -> list[str]:
    """pip's own find-links, as uv takes them: where they are set, a +cpu torch may lie there."""
    return [word for link in (pip_setting("find-links") or "").split() for word in ("--find-links", link)]


def pip_setting(name: str) -> str | None:
    """A setting of pip's, from its variable or its files; None where it is not set, or where there is no pip."""
    if given := os.environ.get(f"PIP_{name.upper().replace('-', '_')}"):
        return given
    argv = [sys.executable, "-m", "pip", "config", "list"]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PIP_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    told = dict(line.split("=", 1) for line in done.stdout.splitlines() if line.startswith("global.") and "=" in line)
    try:
        return str(ast.literal_eval(told[f"global.{name}"]))
    except (KeyError, ValueError, SyntaxError):
        return None
