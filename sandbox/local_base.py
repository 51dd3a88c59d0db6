"""A base image without a registry: the CPython that runs this, its standard library and the shared libraries that they need.

It is laid out as python:3.x-slim is (/usr/local/bin/python3, /usr/local/lib/python3.x) and holds no shell. The same Python
makes the same archive.
"""

import compileall
import os
import platform
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.errors import ImageError

LIBRARIES = "usr/local/lib"
CHANGES = ["ENV PATH=/usr/local/bin", f"ENV LD_LIBRARY_PATH=/{LIBRARIES}", "ENV LANG=C.UTF-8"]
"""What the image has to be imported with."""
_FOLDERS = ("dev", "etc", "proc", "sys", "tmp", "sandbox", "usr/local/bin", LIBRARIES)
_LEFT_OUT = {
    "test", "tests", "idlelib", "tkinter", "turtledemo", "turtle.py", "lib2to3", "ensurepip", "__pycache__", "__phello__",
    "site-packages", "dist-packages",
}  # fmt: skip
_LDD = re.compile(r"\s*(?:(\S+) => )?(/\S+) \(0x")


def source() -> str:
    """Which Python it is."""
    return f"local CPython {platform.python_version()} {_executable()}"


@contextmanager
def archive() -> Iterator[Path]:
    """A tar archive of the image's files, for the length of a block.

    Raises:
        ImageError: this Python can't be taken into a container.
    """
    if sys.platform != "linux" or platform.python_implementation() != "CPython":
        raise ImageError(f"{platform.python_implementation()} on {sys.platform} can't be taken into a container")
    with tempfile.TemporaryDirectory(prefix="bumpgate-base-") as folder:
        root, out = Path(folder, "root"), Path(folder, "base.tar")
        try:
            _fill(root)
            with tarfile.open(out, "w") as tar:
                for path in sorted(root.rglob("*")):
                    tar.add(path, path.relative_to(root).as_posix(), recursive=False, filter=_plain)
        except (OSError, subprocess.SubprocessError, shutil.Error) as e:
            raise ImageError(f"{_executable()} can't be taken into a container: {e}") from e
        yield out


def _executable() -> Path:
    """Of a virtual environment the Python that it was made from."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _fill(root: Path) -> None:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for folder in _FOLDERS:
        (root / folder).mkdir(parents=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/:/bin/false\nnobody:x:65534:65534:nobody:/tmp:/bin/false\n")
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    program = root / "usr/local/bin" / version
    shutil.copyfile(_executable(), program)
    program.chmod(0o755)
    for name in ("python3", "python"):
        program.with_name(name).symlink_to(version)
    library = root / "usr/local" / sys.platlibdir / version
    shutil.copytree(sysconfig.get_path("stdlib"), library, ignore=_ignored)
    extensions = library / "lib-dynload"
    shutil.copytree(sysconfig.get_config_var("DESTSHARED"), extensions, ignore=_ignored, dirs_exist_ok=True)
    for name, path in _needed([_executable(), *sorted(extensions.glob("*.so"))]).items():
        # The loader is found by its path, all else by LD_LIBRARY_PATH.
        target = root / path.relative_to("/") if name.startswith("ld-") else root / LIBRARIES / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path.resolve(), target)
    # Byte-code that no time of a file makes stale, for the container can't write it anew.
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(library, quiet=2, stripdir=root, prependdir="/", invalidation_mode=unchecked)


def _ignored(_: str, names: list[str]) -> list[str]:
    return [n for n in names if n in _LEFT_OUT or n.startswith(("config-", "_tkinter")) or n.endswith(".a")]


def _needed(files: list[Path]) -> dict[str, Path]:
    """The shared libraries that these files need, by the names they look for."""
    out: dict[str, Path] = {}
    for file in files:
        said = subprocess.run(["ldd", file], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
        for found in map(_LDD.match, said.stdout.splitlines()):
            if found is not None:
                name = os.path.basename(found[1] or found[2])
                out[name] = Path(found[2])
    return out


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without whatever differs from one time to the next."""
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    info.mode = 0o1777 if info.name == "tmp" else 0o755 if info.isdir() or info.mode & 0o100 else 0o644
    return info
