"""A base image made of the Python that runs the tests; whether programs run in it is tested in test_sandbox.py."""

import hashlib
import subprocess
import sys
import tarfile

import pytest

from sandbox import local_base
from sandbox.errors import ImageError

VERSION = f"python3.{sys.version_info.minor}"


@pytest.mark.slow
def test_the_same_python_makes_the_same_archive() -> None:
    digests = set()
    for _ in range(2):
        with local_base.archive() as path:
            digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
            with tarfile.open(path) as tar:
                members = {m.name: m for m in tar}
        assert not path.exists()
    assert len(digests) == 1
    library = f"usr/local/{sys.platlibdir}/{VERSION}"
    assert {"etc/passwd", f"usr/local/bin/{VERSION}", f"{library}/json/decoder.py", "sandbox"} <= members.keys()
    assert f"{library}/json/__pycache__/decoder.{sys.implementation.cache_tag}.pyc" in members
    assert not [name for name in members if "site-packages" in name or name.endswith("/sh")]
    assert {(m.uid, m.gid, m.mtime) for m in members.values()} == {(0, 0, 0)}
    assert members["tmp"].mode == 0o1777
    assert members[f"usr/local/bin/{VERSION}"].mode == 0o755


def test_it_says_which_python_it_is() -> None:
    version = subprocess.run([sys.executable, "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    assert local_base.source().startswith(f"local CPython {version} /")


def test_a_python_of_another_system_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ImageError, match="CPython on darwin can't be taken into a container"), local_base.archive():
        raise AssertionError("the block must not be entered")


def test_a_python_without_its_library_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_base.sysconfig, "get_path", lambda _: "/nowhere")
    with pytest.raises(ImageError, match=r"can't be taken into a container: .*/nowhere"), local_base.archive():
        raise AssertionError("the block must not be entered")
