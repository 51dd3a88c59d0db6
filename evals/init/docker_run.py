"""The words after `docker run` → the image, what bumpgate's docker engine takes over, and what follows the image."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from evals.init.shell import Word
from evals.init.vault import Vault, is_secret_name, looks_secret

_SWITCHES = {
    "detach", "interactive", "tty", "rm", "init", "privileged", "read-only", "publish-all", "no-healthcheck",
    "oom-kill-disable", "disable-content-trust", "sig-proxy", "quiet", "replace", "rmi", "no-hosts", "http-proxy",
    "use-api-socket", "tls-verify",
}  # fmt: skip
"""Options that take no value; every other one takes one."""
_SHORT = {
    "d": "detach", "i": "interactive", "t": "tty", "P": "publish-all", "q": "quiet", "e": "env", "v": "volume", "p": "publish",
    "h": "hostname", "l": "label", "m": "memory", "u": "user", "w": "workdir", "a": "attach", "c": "cpu-shares",
}  # fmt: skip
_SHOWN = {
    "ulimit", "cpus", "cpuset-cpus", "cpuset-mems", "memory", "memory-swap", "memory-reservation", "group-add", "cap-add",
    "cap-drop", "pids-limit", "workdir", "oom-score-adj", "userns", "pid", "cgroupns", "cpu-shares",
}  # fmt: skip
"""Options whose values can be no secret, and are named."""
_LOGIN = re.compile(r"^(?P<login>.*)@(?!sha\d+:)")
OURS = {
    "detach", "interactive", "tty", "rm", "name", "publish", "publish-all", "expose", "network", "net", "restart", "pull",
    "quiet", "init", "label", "label-file", "hostname", "log-driver", "log-opt", "sig-proxy", "cidfile", "replace", "attach",
    "network-alias", "no-healthcheck", "health-cmd", "health-interval", "health-retries", "health-timeout",
    "health-start-period", "stop-timeout", "stop-signal", "domainname", "platform", "runtime",
}  # fmt: skip
"""What bumpgate decides for its own containers, or what has no part in how they answer."""


@dataclass(kw_only=True)
class Container:
    """What a `docker:` engine is written from."""

    image: str = ""
    gpus: str | None = None
    ipc: str | None = None
    shm_size: str | None = None
    volumes: list[str] = field(default_factory=list)
    entrypoint: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    devices: list[int] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    """Options that bumpgate decides itself."""
    rest: list[Word] = field(default_factory=list)
    """What follows the image."""


def read(words: list[Word], exported: dict[str, str], vault: Vault, note: Callable[[str], None]) -> Container | None:
    """None where no image follows; `exported` is what the paste itself sets."""
    out = Container()
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        at += 1
        for name, value in _options(words[at - 1].text):
            if value is None and name not in _SWITCHES:
                if at == len(words):
                    return None
                value, at = words[at].text, at + 1
                if name == "env" and "=" not in value and [w.text for w in words[at : at + 1]] == ["="] and at + 1 < len(words):
                    value, at = f"{value}={words[at + 1].text}", at + 2  # -e NAME = VALUE
            _option(out, name, value or "", exported, vault, note)
    if at == len(words):
        return None
    out.image, out.rest = _image(words[at].text, vault, note), words[at + 1 :]
    return out


def _image(text: str, vault: Vault, note: Callable[[str], None]) -> str:
    if (found := _LOGIN.match(text)) is None:
        return text
    for part in (found["login"], found["login"].partition(":")[2]):
        vault.keep_out(part)
    note("the image is named with a login before its registry, which was left out: `docker login` keeps it")
    return text[found.end() :]


def _options(text: str) -> list[tuple[str, str | None]]:
    """`-itd`, `-p8000:8000`, `--gpus=all` → names and the values that are attached to them."""
    if text.startswith("--"):
        name, given, value = text[2:].partition("=")
        return [(name, value if given else None)]
    out: list[tuple[str, str | None]] = []
    for i, letter in enumerate(text[1:], 1):
        name = _SHORT.get(letter, letter)
        if name not in _SWITCHES:
            return [*out, (name, text[i + 1 :].removeprefix("=") or None)]
        out.append((name, None))
    return out


def _option(out: Container, name: str, value: str, exported: dict[str, str], vault: Vault, note: Callable[[str], None]) -> None:
    match name:
        case "gpus":
            _gpus(out, value, note)
        case "device":
            _device(out, value, note)
        case "ipc":
            out.ipc = value
        case "shm-size":
            out.shm_size = value
        case "volume":
            _volume(out, value, note)
        case "mount":
            _mount(out, value, note)
        case "env":
            key, given, said = value.partition("=")
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
                vault.keep_out(said)
                note("a variable of the container was left out, as what stands before its = is no variable's name")
                return
            out.env[key] = said if given else exported.get(key, f"${{{key}}}")
        case "env-file":
            note(f"the variables of --env-file {value} are not read: write those that matter under env")
        case "entrypoint":
            out.entrypoint = value
        case "runtime" if value == "nvidia":
            out.gpus = out.gpus or "all"
        case _ if name in OURS:
            out.dropped.append(f"--{name}")
        case _:
            shown = f" {value}" if name in _SHOWN and not looks_secret(value) else ""
            if is_secret_name(name):
                vault.keep_out(value)
            note(f"docker's --{name}{shown} is not carried over: bumpgate's containers have no such option")


def _gpus(out: Container, value: str, note: Callable[[str], None]) -> None:
    said = value.strip("\"' ")
    if found := re.search(r"device=([^\"']*)", said):
        ids = [part.strip() for part in found[1].split(",") if part.strip()]
        if all(i.isdigit() for i in ids) and ids:
            out.devices = [int(i) for i in ids]
            return
        note("--gpus names cards that are no numbers: write their numbers under devices, or all are used")
        out.gpus = "all"
    elif (count := said.removeprefix("count=").partition(",")[0]).isdigit() and int(count) > 0:
        out.gpus = count
    else:
        out.gpus = "all"
        if count not in ("all", "-1"):
            note("the value of --gpus was read as all")


def _device(out: Container, value: str, note: Callable[[str], None]) -> None:
    """CDI names, as podman has them."""
    kind, given, which = value.partition("=")
    if kind == "nvidia.com/gpu" and given and which.isdigit():
        out.devices.append(int(which))
    elif kind == "nvidia.com/gpu" and which == "all":
        out.gpus = "all"
    else:
        shown = f" {value}" if re.fullmatch(r"/dev/[\w/:.-]+", value) else ""
        note(f"docker's --device{shown} is not carried over: bumpgate's containers have no such option")


def _volume(out: Container, value: str, note: Callable[[str], None]) -> None:
    source, target, *options = [*value.split(":"), ""][: value.count(":") + 1] if ":" in value else (value, "")
    if not target.startswith("/") or not source or len(options) > 1:
        note(f"the volume {value} has no target that could be kept; write it under volumes if the server needs it")
        return
    out.volumes.append(":".join([source, target, *(o for o in options if o)]))


def _mount(out: Container, value: str, note: Callable[[str], None]) -> None:
    fields = dict(part.partition("=")[::2] for part in value.split(","))
    source = fields.get("source") or fields.get("src")
    target = fields.get("target") or fields.get("dst") or fields.get("destination")
    if source and target and fields.get("type", "volume") in ("bind", "volume"):
        only = fields.get("readonly", fields.get("ro"))
        _volume(out, f"{source}:{target}" + (":ro" if only in ("", "true", "1") else ""), note)
    else:
        note("a --mount that is neither a folder nor a volume is not carried over")
