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
            _option(out, name, value or "", exported, vault, note)
    if at == len(words):
        return None
    out.image, out.rest = words[at].text, words[at + 1 :]
    return out


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
                note(f"{key!r} is no variable's name and was left out")
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
            shown = "" if name in _SWITCHES or is_secret_name(name) or looks_secret(value) else f" {value}"
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
        note(f"--gpus names cards that are no numbers ({found[1]}): write their numbers under devices, or all are used")
        out.gpus = "all"
    elif (count := said.removeprefix("count=").partition(",")[0]).isdigit() and int(count) > 0:
        out.gpus = count
    else:
        out.gpus = "all"
        if count not in ("all", "-1"):
            note(f"--gpus {said} was read as all")


def _device(out: Container, value: str, note: Callable[[str], None]) -> None:
    """CDI names, as podman has them."""
    kind, given, which = value.partition("=")
    if kind == "nvidia.com/gpu" and given and which.isdigit():
        out.devices.append(int(which))
    elif kind == "nvidia.com/gpu" and which == "all":
        out.gpus = "all"
    else:
        note(f"docker's --device {value} is not carried over: bumpgate's containers have no such option")


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
        note(f"--mount {value} is not carried over")
