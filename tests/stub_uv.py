"""A stand-in for the `uv` program: it makes a small environment whose `vllm` command is the stub server.

`STUB_UV=fail` lets `uv pip install` fail as a resolver does.
"""

import sys
from pathlib import Path

import pytest
import uv

STUB_SERVER = Path(__file__).with_name("stub_server.py")
_BASE = Path(sys.base_prefix) / "bin"
_SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
_SCRIPT = f"""#!/bin/sh
echo "$@" >> "$(dirname "$0")/uv-calls.txt"
for last; do :; done
if [ "$1" = venv ]; then
    mkdir -p "$last/bin" "$last/{_SITE}"
    ln -s "{_BASE}/python3" "$last/bin/python"
    echo "home = {_BASE}" > "$last/pyvenv.cfg"
    exit 0
fi
if [ "$STUB_UV" = fail ]; then
    echo "Using Python 3.11 environment"
    echo "  x No solution found when resolving dependencies:"
    echo "  because there is no version of torch==2.11.0+cpu your requirements are unsatisfiable"
    exit 1
fi
for word; do
    case "$previous" in --python) python="$word";; esac
    case "$word" in *==*) package="${{word%%==*}}"; version="${{word##*==}}";; esac
    previous="$word"
done
root="$(dirname "$(dirname "$python")")"
info="$root/{_SITE}/$(echo "$package" | tr - _)-$version.dist-info"
mkdir "$info"
printf 'Metadata-Version: 2.1\\nName: %s\\nVersion: %s\\n' "$package" "$version" > "$info/METADATA"
printf '#!/bin/sh\\nexec "{_BASE}/python3" -S "{STUB_SERVER}" "$@"\\n' > "$root/bin/vllm"
chmod +x "$root/bin/vllm"
"""


def stand_in(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Put the stand-in in uv's place and engines under `folder`; the file that is returned gets one line a call."""
    program = folder / "uv"
    program.write_text(_SCRIPT)
    program.chmod(0o755)
    patch.setattr(uv, "find_uv_bin", lambda: str(program))
    patch.setenv("BUMPGATE_CACHE", str(folder / "cache"))
    patch.setenv("PIP_FIND_LINKS", "https://links.example/cpu")
    return folder / "uv-calls.txt"
