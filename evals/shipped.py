"""What travels with the package: experiments by name, and the demo's model and questions as `demo:NAME`."""

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PREFIX = "demo:"
_HERE = Path(__file__).parent


def experiments() -> Path:
    """The folder of shipped experiments: inside the installed package, or at the root of a clone."""
    installed = _HERE / "configs"
    return installed if installed.is_dir() else _HERE.parent / "configs"


def names() -> list[str]:
    return sorted(p.stem for p in experiments().glob("*.yaml"))


def experiment(name: str) -> Path | None:
    path = experiments() / f"{name}.yaml"
    return path if path.is_file() else None


def find(name: str) -> Path:
    """A file of that name, else the shipped experiment; where there is neither, the name as a path, to complain about."""
    path = Path(name)
    if path.exists() or path.name != name:
        return path
    return experiment(demo() if name == "demo" else name) or path


def demo() -> str:
    """The demo for this machine's CPU: vLLM serves 4-bit weights only on x86 with AVX-512 and on other architectures."""
    try:
        flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:  # not Linux
        return "demo"
    return "demo-avx2" if flags and "avx512f" not in flags[1].split() else "demo"


def resolve(reference: str) -> Path | None:
    """`demo:bf16` → the folder that holds it; None where nothing of that name is shipped."""
    folder = _HERE / "demo" / reference.removeprefix(PREFIX)
    return folder if reference in listing() and folder.is_dir() else None


def listing() -> list[str]:
    return sorted(PREFIX + p.name for p in (_HERE / "demo").iterdir() if p.is_dir() and not p.name.startswith("_"))


def own_version() -> str:
    try:
        return version("bumpgate")
    except PackageNotFoundError:  # a clone that was never installed
        return "unknown"
