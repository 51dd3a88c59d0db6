"""`evals` is also the import name of another project: when that one is found instead, one line says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bumpgate

ROOT = Path(__file__).parent.parent


def run(code: str, *path: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-P", "-c", code], env=env, capture_output=True, text=True, timeout=300, check=False)


MAIN = "import bumpgate; bumpgate.main()"


@pytest.mark.parametrize("name", ["evals", "tasks", "sandbox"])
def test_a_foreign_package_is_one_line_and_exit_code_2(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("print('imported'); raise SystemExit(77)")
    done = run(MAIN, tmp_path, ROOT)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"bumpgate: `import {name}` finds {tmp_path / name} and not bumpgate's own package")
    assert line.endswith("install bumpgate into an environment of its own")


@pytest.mark.parametrize("what", ["module", "namespace"])
def test_a_foreign_module_or_namespace_is_seen_too(tmp_path: Path, what: str) -> None:
    if what == "module":
        (tmp_path / "evals.py").write_text("")
    (tmp_path / "bumpgate.py").write_text((ROOT / "bumpgate.py").read_text())
    (tmp_path / "evals").mkdir(exist_ok=True)
    done = run(MAIN, tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "bumpgate: `import evals` finds" in done.stderr


def test_our_own_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    assert bumpgate.shadowed() is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scipy", "typer"])
def test_a_broken_environment_never_ends_with_the_code_of_a_regression(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("raise ImportError('broken')")
    code = "import sys; sys.argv = ['bumpgate', 'plan', 'demo']; import bumpgate; bumpgate.main()"
    done = run(code, tmp_path, ROOT)
    assert done.returncode == 3
    assert "broken" in done.stderr


@pytest.mark.slow
def test_a_closed_pipe_never_ends_with_the_code_of_a_regression() -> None:
    argv = f"{sys.executable} -m bumpgate plan demo | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", argv], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 3)
