"""An installed vLLM's own word on its flags: asked once, in its environment, and kept there."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from evals.engine import venv
from evals.experiment import VenvEngine

ASK_TIMEOUT_S = 180.0
NOT_INSTALLED = "not installed yet"
_ANSWER = "bumpgate-flags.json"
_MODULES = ("vllm.utils.argparse_utils", "vllm.utils")
_MAKERS = ("vllm.entrypoints.common.cli_args", "vllm.entrypoints.launchers.cli_args", "vllm.entrypoints.openai.cli_args")
_SCRIPT = f"""
import importlib, json, sys
def find(modules, name):
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            pass
    sys.exit("no " + name)
parser = find({_MAKERS!r}, "make_arg_parser")(find({_MODULES!r}, "FlexibleArgumentParser")())
options = sorted(option[2:] for action in parser._actions for option in action.option_strings if option[:2] == "--")
print("\\n" + json.dumps({{"options": options}}))
"""
"""vLLM's modules moved between versions; its log may come before the last line."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Every long option that `vllm serve` takes, without dashes, its --no- forms among them."""

    options: tuple[str, ...]


_OPTIONS = TypeAdapter(Options)


def ask(engine: VenvEngine, say: Callable[[str], None] = lambda _: None) -> Options | str:
    """What the installed version takes, or why it can't say. Costs some 10 to 30 seconds, once."""
    environment = venv.installed(engine)
    if environment is None:
        return NOT_INSTALLED
    kept = environment.root / _ANSWER
    try:
        return _OPTIONS.validate_json(kept.read_bytes())
    except (OSError, ValidationError):
        say(f"asking {engine} which flags it has (once)")  # never asked, or cut off while it was written
    env = {k: v for k, v in os.environ.items() if not k.startswith("VLLM_")} | {"VLLM_NO_USAGE_STATS": "1", "PYTHONPATH": ""}
    argv = [str(environment.root / "bin" / "python"), "-c", _SCRIPT]
    try:
        done = subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ASK_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        return f"its environment does not answer ({type(e).__name__})"
    try:
        found = _OPTIONS.validate_json(done.stdout.strip().rpartition("\n")[2])
    except ValidationError:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return f"its environment does not answer ({said[-1][:120]})"
    _keep(kept, json.dumps({"options": found.options}))
    return found


def _keep(path: os.PathLike[str], text: str) -> None:
    aside = f"{os.fspath(path)}.{os.getpid()}"
    try:
        with open(aside, "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(aside, path)
    except OSError:
        pass  # an environment that can't be written to is asked again
