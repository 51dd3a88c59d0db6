"""A Docker engine for the tests, and an image for them that no registry is asked for."""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest
from docker.errors import DockerException

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "tools" / "docker" / "engine.sh"
IMAGE = "bumpgate-test:stub"
LABEL = "bumpgate.test"
# An empty house: what lives there is this machine's own, at its own paths and read-only, so that nothing is copied, neither
# a Python nor an engine of two gigabytes, and an environment's absolute links hold inside as they do outside.
_LIBRARIES = ("/usr", "/lib", "/lib64", sys.base_prefix)
VOLUMES = [f"{path}:{path}:ro" for path in dict.fromkeys(_LIBRARIES) if Path(path).exists()]
_STUB = f"""#!/usr/bin/sh
exec "{sys.base_prefix}/bin/python3" -S /stub/stub_server.py "$@"
"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "docker: runs containers (needs a Docker engine, or root on Debian to start one)")


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[None]:
    """The machine's own engine where one answers, else one of our own, which is gone when the tests end.

    Without either the tests are skipped aloud, and fail where BUMPGATE_REQUIRE names `docker`.
    """
    if answers():
        make_image(IMAGE)
        yield
        remove_images()
        return
    # A short path, for a socket's has 107 characters at most.
    folder = Path(tempfile.mkdtemp(prefix="bumpgate-docker-", dir="/tmp"))
    with pytest.MonkeyPatch.context() as patch:
        try:
            done = script("start", folder)
            if done.returncode:
                missing(done.stderr.strip())
            patch.setenv("DOCKER_HOST", address(done.stdout))
            make_image(IMAGE)
            yield
        finally:
            script("purge", folder)
            if folder.exists():
                folder.rmdir()


@pytest.fixture
def own_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an engine that a test may stop or break, and which DOCKER_HOST then names."""
    if os.geteuid() != 0:
        missing("only root can start one of a test's own")
    folder = Path(tempfile.mkdtemp(prefix="bumpgate-docker-", dir="/tmp"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{folder}/docker.sock")  # an engine that answers elsewhere is not taken for it
    try:
        done = script("start", folder)
        if done.returncode:
            missing(done.stderr.strip())
        yield folder
    finally:
        script("purge", folder)
        if folder.exists():
            folder.rmdir()


def answers() -> bool:
    try:
        with closing(docker.from_env(timeout=5)):
            return True
    except DockerException:
        return False


def missing(why: str) -> None:
    why = f"no Docker engine for the tests: {why}"
    if "docker" in os.environ.get("BUMPGATE_REQUIRE", ""):
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


def script(verb: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, verb, folder], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def address(said: str) -> str:
    return said.strip().partition("=")[2]


def make_image(tag: str, note: str = "") -> str:
    """An image whose `vllm` is the stub server; the libraries come in by VOLUMES. Another note makes another image: its id."""
    with closing(docker.from_env()) as client:
        name, _, version = tag.partition(":")
        changes = ["ENV PATH=/stub:/usr/bin", 'CMD ["vllm"]', f"LABEL {LABEL}=1"]
        client.api.import_image_from_data(_skeleton(note), repository=name, tag=version, changes=changes)
        return image_id(tag)


def image_id(tag: str) -> str:
    with closing(docker.from_env()) as client:
        return str(client.images.get(tag).id)


def containers(logs: Path) -> list[str]:
    """Names of the containers, running or not, that carry the label of a folder of logs."""
    with closing(docker.from_env()) as client:
        found = client.containers.list(all=True, filters={"label": f"bumpgate.run={logs.resolve()}"})
        return [str(c.name) for c in found]


def sandboxes() -> list[str]:
    """Names of the containers that run programs, or wait for one."""
    with closing(docker.from_env()) as client:
        return [str(c.name) for c in client.containers.list(all=True, filters={"label": "bumpgate.sandbox.owner"})]


def remove_images() -> None:
    with closing(docker.from_env()) as client:
        for image in client.images.list(all=True, filters={"label": LABEL}):
            client.images.remove(str(image.id), force=True)


def _skeleton(note: str) -> bytes:
    """The folders of a machine, /etc/passwd, and the stub as a tar archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for folder, mode in {"usr": 0o755, "sbin": 0o755, "etc": 0o755, "root": 0o700, "stub": 0o755, "tmp": 0o1777}.items():
            info = tarfile.TarInfo(folder)
            info.type, info.mode = tarfile.DIRTYPE, mode
            tar.addfile(info)
        link = tarfile.TarInfo("bin")
        link.type, link.linkname = tarfile.SYMTYPE, "usr/bin"
        tar.addfile(link)
        passwd = b"root:x:0:0:root:/root:/bin/sh\n"
        stub = {name: (ROOT / "tests" / name).read_bytes() for name in ("stub_server.py", "engine_logs.py")}
        files = {f"stub/{name}": data for name, data in stub.items()}
        files |= {"etc/passwd": passwd, "etc/note": note.encode(), "stub/vllm": _STUB.encode()}
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o755
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()
