"""Which of the pasted commands starts a vLLM, by what, and the words after `vllm serve`."""

import json
import re
import shlex
from pathlib import PurePath

from evals.engines import image_version
from evals.errors import ConfigError
from evals.init import docker_run, shell
from evals.init.docker_run import Container
from evals.init.shell import Command, Word
from evals.init.vault import Vault, is_secret_name, looks_secret

_MAX_CHARS = 200_000
_MAX_DEPTH = 3
DOCKERS = {"docker", "podman", "nerdctl", "nvidia-docker"}
_API_SERVERS = {"vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"}
_CLIS = {"vllm.entrypoints.cli.main", "vllm"}
_SPEC = re.compile(r"(?<![\w-])(?P<package>vllm(?:-cpu)?)(?:\[[^\]]*\])?(?:\s*===?\s*|@)v?(?P<version>\d[\w.+!-]*)")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PASSING_ON = {"sudo", "nohup", "exec", "env", "time", "setsid", "command", "stdbuf", "unbuffer", "eval"}
"""Programs that start the next one, and change nothing of what is served."""
_RUNNERS = {"uv", "uvx", "pipx", "conda", "mamba", "micromamba", "poetry", "pdm", "hatch", "rye", "pixi"}
_QUIET = _PASSING_ON | _RUNNERS | {"run", "tool", "bash", "sh", "zsh", "dash"}
_LIST = re.compile(r"\s*(?:CMD|ENTRYPOINT|command:|args:)?\s*(?P<list>\[\s*\"[^\[\]]*\"\s*\])\s*,?\s*", re.DOTALL)
_WRAPPERS = {
    "numactl", "taskset", "nice", "ionice", "chrt", "timeout", "srun", "sbatch", "mpirun", "mpiexec", "torchrun", "screen",
    "tmux", "ssh", "sshpass", "op", "doppler", "dotenv", "direnv", "aws-vault", "nsys", "ncu", "strace", "gdb", "perf", "ray",
    "py-spy", "accelerate", "systemd-run", "systemd-inhibit", "kubectl", "watch", "su", "gosu", "tini", "proxychains4",
}  # fmt: skip
_OTHERS = _WRAPPERS | {
    "curl", "wget", "echo", "printf", "cat", "sleep", "mkdir", "rm", "cp", "mv", "ln", "ls", "chmod", "chown", "git", "pip",
    "pip3", "uv", "uvx", "pipx", "conda", "python", "python3", "docker", "podman", "nerdctl", "vllm", "tail", "head", "jq",
    "grep", "kill", "pkill", "nvidia-smi", "huggingface-cli", "hf", "sudo", "apt", "apt-get", "module", "ulimit", "nohup",
    "disown", "wait", "bash", "sh", "systemctl", "journalctl", "login", "aws", "gcloud", "az", "deactivate", "unset", "exit",
}  # fmt: skip
"""Programs that may be named in a note; any other first word may be a secret that a line break cut off."""
_PROGRAM = re.compile(r"[a-z][\w.+-]*")
_MODEL = re.compile(r"[\w.-]+/[\w.-]+")


class Launch:
    """Filled in by reading; `words` is None where nothing serves."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.notes: list[str] = []
        self.env: dict[str, str] = {}
        self.container: Container | None = None
        self.tool = "vllm"
        self.package, self.version = "vllm", ""
        self.program: str | None = None

    def words(self, given: str | list[str]) -> list[Word] | None:
        self.vault.learn(given if isinstance(given, str) else "\n".join(given))
        return self._serving(given, 0)

    def _serving(self, given: str | list[str], depth: int) -> list[Word] | None:
        """The words after `vllm serve` of the first command that serves; None where there is none."""
        if isinstance(given, str) and (listed := _listed(given)) is not None:
            given = listed
        if isinstance(given, list):
            found = [shell.from_argv(given)]
        elif len(given) > _MAX_CHARS:
            raise ConfigError(f"the command has {len(given)} characters, which no serve command has; paste the command alone")
        else:
            found, notes = shell.commands(given, self.vault)
            self.notes += notes
        words: list[Word] | None = None
        for command in found:
            if words is not None:
                self._aside(command)
            elif (words := self._words(command, depth)) is None:
                self._before(command)
            elif command.outputs:
                self.notes.append(
                    "what follows the command (redirections, pipes, &) was left out: bumpgate keeps each server's log"
                )
        return words

    def _words(self, command: Command, depth: int) -> list[Word] | None:
        words = list(command.words)
        texts = command.texts
        if (at := _docker_run(texts)) is not None:
            return self._of_docker(command, at, depth)
        start = self._after_serve(texts)
        if start is not None:
            self.env |= dict(command.env)
            self._prefix(texts[: start - 1])
            return words[start:]
        for text in [*texts, *command.documents] if depth < _MAX_DEPTH else []:  # bash -c "…", ssh host "…", cat <<EOF
            inner = self._serving(text, depth + 1) if _is_script(text) else None
            if inner is not None:
                self.env = dict(command.env) | self.env
                self._prefix(texts[: texts.index(text)] if text in texts else [])
                return inner
        return None

    def _after_serve(self, texts: list[str]) -> int | None:
        """Where the words after `vllm serve` begin; the program is remembered."""
        for i, text in enumerate(texts):
            base, following = PurePath(text).name, texts[i + 1] if i + 1 < len(texts) else ""
            if (base == "vllm" or base.startswith("vllm@")) and following == "serve":
                self.program = text
                return i + 2
            if text == "-m" and (following in _API_SERVERS or (following in _CLIS and texts[i + 2 : i + 3] == ["serve"])):
                return i + (2 if following in _API_SERVERS else 3)
            if text.endswith(("/entrypoints/openai/api_server.py", "/entrypoints/api_server.py")):
                return i + 1
        return None

    def _prefix(self, texts: list[str]) -> None:
        """What stands before: variables, versions, and programs that change how it runs."""
        expects = True
        for before, text in zip(["", *texts], texts, strict=False):
            base = PurePath(text).name
            if found := _SPEC.search(text):
                self._spec(found)
            elif _ASSIGNMENT.match(text):
                name, _, value = text.partition("=")
                self.env[name] = value
            elif base in _QUIET or base.startswith(("vllm", "python")):
                self.tool = base if base in _RUNNERS and self.tool == "vllm" else self.tool
                expects = base in _PASSING_ON
            elif expects and _PROGRAM.fullmatch(base) and before not in ("-u", "-g", "--user"):
                said = f"{base}, which stands before vllm," if base in _WRAPPERS else "what stands before vllm"
                self.notes.append(f"{said} is not carried over")
                expects = False

    def _spec(self, found: re.Match[str]) -> None:
        self.package, self.version = found["package"], found["version"]

    def _of_docker(self, command: Command, at: int, depth: int) -> list[Word] | None:
        words = list(command.words)
        exported = self.env | dict(command.env)
        container = docker_run.read(words[at:], exported, self.vault, self.notes.append)
        if container is None:
            return None
        rest = self._of_container(container, depth)
        if "vllm" not in container.image and rest is None and not any(w.text.startswith("--model") for w in container.rest):
            return None
        self.container, self.program, self.env = container, None, dict(container.env)
        self.tool = next(PurePath(text).name for text in command.texts if PurePath(text).name in DOCKERS)
        version = image_version(container.image)
        self.version = version if version and version[0] in "v0123456789" else ""
        return rest if rest is not None else container.rest

    def _of_container(self, container: Container, depth: int) -> list[Word] | None:
        """What follows the image may begin with a program of its own; None where it is flags alone."""
        texts = [word.text for word in container.rest]
        entry = shlex.split(container.entrypoint) if container.entrypoint and container.entrypoint.count("'") % 2 == 0 else []
        if texts[:1] == ["serve"] and len(texts) > 1:
            return container.rest[1:]
        if (start := self._after_serve([*entry, *texts])) is not None:
            return container.rest[max(start - len(entry), 0) :]
        inner = next((t for t in texts if _is_script(t)), None)
        return self._serving(inner, depth + 1) if inner is not None and depth < _MAX_DEPTH else None

    def _before(self, command: Command) -> None:
        """A command before the one that serves: what it sets counts, what it installs tells the version."""
        texts = command.texts
        self.env |= {} if texts else dict(command.env)
        if "install" in texts:
            for text in texts:
                if found := _SPEC.search(text):
                    self._spec(found)
        elif texts and texts[0] == "cd":
            self.notes.append("the command changes its folder first: relative paths in it are not from here")
        elif texts and texts[0] not in ("source", ".", "set", "conda"):
            self._aside(command)

    def _aside(self, command: Command) -> None:
        for name, value in command.env:
            if is_secret_name(name):
                self.vault.keep_out(value)
        if (second := _second_server(command.texts)) is not None:
            named = f": {second}" if _MODEL.fullmatch(second) and not looks_secret(second) else ""
            self.notes.append(f"the paste starts a second server, which was left out{named}")
            return
        first = PurePath(command.texts[0]).name if command.words else ""
        if first and first != "tee":
            self.notes.append(f"another command in the paste was left out{f': {first} …' if first in _OTHERS else ''}")


def _second_server(texts: list[str]) -> str | None:
    """The model of a command that serves; empty where it can't be told."""
    if (at := _docker_run(texts)) is not None:
        at = next((i + 1 for i, text in enumerate(texts) if i >= at and "vllm" in text), None)
    elif "serve" in texts and PurePath(texts[texts.index("serve") - 1]).name == "vllm":
        at = texts.index("serve") + 1
    if at is None:
        return None
    rest = texts[at:]
    if "--model" in rest:
        return "".join(rest[rest.index("--model") + 1 :][:1])
    return "".join(rest[:1])


def flags_alone(given: str | list[str]) -> bool:
    """As in compose's `command: ["--model", "MODEL"]`, which the image's own program gets."""
    words = _listed(given) if isinstance(given, str) else given
    return words[0].startswith("-") if words else isinstance(given, str) and given.lstrip().startswith("--")


def _listed(text: str) -> list[str] | None:
    """`["vllm", "serve", "MODEL"]`, as a Dockerfile's CMD or a container's command: has it."""
    if (found := _LIST.fullmatch(text)) is None:
        return None
    try:
        words = json.loads(found["list"])
    except ValueError:
        return None
    return [str(word) for word in words] or None


def _is_script(text: str) -> bool:
    return "vllm" in text and any(c.isspace() for c in text)


def _docker_run(texts: list[str]) -> int | None:
    """Where the options of `docker run` begin; docker's own may stand before `run`."""
    for i, text in enumerate(texts):
        at = i + 1
        if PurePath(text).name not in DOCKERS:
            continue
        while at < len(texts) and (texts[at].startswith("-") or texts[at - 1] in ("-H", "--host", "-c", "--context", "-l")):
            at += 1
        at += texts[at : at + 1] == ["container"]
        if texts[at : at + 1] in (["run"], ["create"]):
            return at + 1
    return None
