"""`venv: vllm==0.29.0`: an environment of its own for each engine version, built once, then `vllm serve` inside it."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evals.engine.install import MARK, Install
from evals.errors import BuildError
from evals.experiment import VenvEngine

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


BUILDING = ".building"
"""Ends the name of a folder that is being built, or was when bumpgate was killed."""


def cache_root() -> Path:
    """Where engines and their caches live: BUMPGATE_CACHE, else `bumpgate` under XDG_CACHE_HOME or ~/.cache."""
    own = os.environ.get("BUMPGATE_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bumpgate"


def build(engine: VenvEngine, say: Callable[[str], None]) -> Environment:
    """The engine's environment, installed now if it is not there yet.

    It is built in a folder aside and renamed when complete, so that a killed install leaves nothing half-made; a lock makes
    a second process wait for the first.

    Raises:
        BuildError: the install failed, `log_tail` is what uv said; or the cache can't be read or written.
    """
    root = cache_root() / "engines" / _folder(engine)
    try:
        if not root.is_dir():
            root.parent.mkdir(parents=True, exist_ok=True)
            with locked(root, lambda: say(f"waiting for {engine}, which another process installs")) as lock:
                if not root.is_dir():
                    say(f"installing {engine.package} {engine.version} (once)")
                    _build_aside(engine, root, lock)
        mark = root / MARK
        version = str(json.loads(mark.read_text())["version"])
    except OSError as e:
        raise BuildError(f"{e.filename or root}: {e.strerror}; BUMPGATE_CACHE names another folder for engines") from e
    except (ValueError, KeyError, TypeError) as e:
        raise BuildError(f"{mark}: can't be read; remove {root} and run again") from e
    with contextlib.suppress(OSError):  # a cache that an administrator made is used all the same
        os.utime(mark)  # when it was last used, for `bumpgate clean`
    return Environment(root=root, version=version)


def _build_aside(engine: VenvEngine, root: Path, lock: int) -> None:
    aside = root.with_name(f"{root.name}{BUILDING}")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        Install(engine=engine, root=aside, log=root.with_name(f"{root.name}.log"), lock=lock).run()
        aside.rename(root)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextlib.contextmanager
def locked(root: Path, waiting: Callable[[], None] | None) -> Iterator[int]:
    """Hold the lock of an environment: the descriptor. With no `waiting` to call, one that is held is not waited for.

    Raises:
        BlockingIOError: it is held, and is not to be waited for.
    """
    path = root.with_name(f"{root.name}.lock")
    while True:
        with path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waiting is None:
                    raise
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_at(path, lock.fileno()):
                yield lock.fileno()
                return


def _is_at(path: Path, descriptor: int) -> bool:
    """`bumpgate clean` may have removed a lock's file while it was waited for; then it keeps nobody else out."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


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


CACHE_MARK = ".bumpgate"
"""Lies in a compile cache of ours: `clean` removes no folder without it."""


def engine_env(environment: Environment) -> dict[str, str]:
    """A compile cache for each version, made here: one that another version wrote has misled engines."""
    folder = cache_root() / "vllm" / environment.version
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CACHE_MARK).touch()
    return {"VLLM_CACHE_ROOT": str(folder)}
