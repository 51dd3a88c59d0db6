"""Keys and tokens of a pasted command → `${NAME}`, read from the environment when a server starts. No value goes further."""

import json
import re
from typing import Any

from evals.engine import secrets

_NAME = re.compile(
    r"(?:^|[._-])(?:key|token|auth|bearer|secret|passw(?:or)?d|pass|pwd|psk|pat|credentials?|cookies?|dsn|webhook|connection[_-]?string)"
    r"(?:[_-](?:id|value|header|url|base64|b64|hex|prod(?:uction)?|dev|test|stag(?:e|ing)|live|read|write|admin|ro|rw|\d+))?$"
    r"|secret|passw(?:or)?d|apikey|(?:^|[_-])api[_-]key(?:s|[_-](?!path|file|name|header)\w+)?$|^(?:ak|sk)$",
    re.IGNORECASE,
)
_TEXT_TOKEN = re.compile(
    r"^(?:\w*_)?(?:bos|eos|pad|unk|mask|cls|sep|image|video|audio|think|boi|eoi)_?(?:start|end)?_?token(?:_id)?$"
    r"|^(?:max|min|num)[_-](?:\w+[_-])*token$"
)
"""Keys of a model's own tokenizer, as --hf-overrides has them, and counts of tokens."""
_VALUE = re.compile(
    r"hf_(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{8,}|\bsk-(?=[\w-]*\d)[\w-]{6,}|gh[pousr]_\w{8,}|github_pat_\w+|glpat-[\w-]+|AKIA[0-9A-Z]{8,}|xox[a-z]-[\w-]+|nvapi-[\w-]+"
    r"|eyJ[\w-]{8,}\.[\w-]+|(?i:bearer)(?:\s|%20)+\S+|(?i:basic)\s+[A-Za-z0-9+/=]{8,}|://(?:[^/\s]{1,400}|[^/\s:]{0,100}:\S{1,400})@"
    r"|(?:(?<![^\s=,'\"]))[^\s/@:=,'\"]{1,100}:[^\s/@]{1,400}@(?!sha\d+:)[\w.-]+"
    r"|hooks\.slack\.com/(?:services|workflows|triggers)/\S+|discord(?:app)?\.com/api/webhooks/\S+"
    r"|(?i:(?<![\w-])(?:[\w-]*key|sig|pwd|pass|psk|cookie|credential|auth)=)(?!\$\{)[^\s\"'&;,}]+"
    r"|(?i:--[\w-]*(?:token|api[_-]key|password|secret)\s+)\S+"
    r"|(?i:\b[\w-]*(?:token|api[_-]?key|password|passwd|secret|signature)[\"']?\s*[=:]\s*)[\"']?[^\s\"'&;,}]+"
)
_REFERENCE = re.compile(r"\$\{[A-Za-z_]\w*\}")
_SUBSTITUTION = re.compile(r"\$\((?!…\)).*", re.DOTALL)
_SET = re.compile(r"(?<![\w-])(?P<name>[A-Za-z_][\w-]*)=[\"']?(?P<value>[^\s\"'`;,&|$<>()]+)")
_LONG = 8
"""A shorter secret is often a word, as in `--api-key vllm`, and is not looked for in other values."""
_KNOWN = {"api-key": "VLLM_API_KEY", "hf-token": "HF_TOKEN"}


def is_secret_name(name: str) -> bool:
    return not _TEXT_TOKEN.match(name) and (secrets.masked_env({name: ""}) != {name: ""} or bool(_NAME.search(name)))


def unsubstituted(text: str) -> str:
    """What stands in a `$(…)` goes nowhere, as it may name a key."""
    return _SUBSTITUTION.sub("$(…)", text)


def looks_secret(text: str) -> bool:
    return bool(_VALUE.search(_REFERENCE.sub("", text)))


class Vault:
    """Remembers what it hid, so that nothing written later can hold it."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: set[str] = set()
        self._origins: dict[str, str] = {}
        """Value → the variable that the paste has it in."""

    def learn(self, text: str) -> None:
        """Every `NAME=value` of a paste whose name says that it is a secret, wherever it stands."""
        for found in _SET.finditer(text):
            if is_secret_name(found["name"]):
                self.keep_out(found["value"], found["name"])

    def hide(self, name: str, value: Any) -> Any:
        """A flag's or a variable's value with every secret in it, however deep, made a reference."""
        return self._hide(name, value, is_secret_name(name))

    def keep_out(self, text: str, name: str = "") -> None:
        """Of what is not carried over at all, and must not be quoted either; `name`: the variable that holds it."""
        if not text or _REFERENCE.fullmatch(text):
            return
        self._values.add(text)
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            self._origins.setdefault(text, name)

    def referenced(self, value: Any) -> Any:
        """What goes into the file, with every secret that is known by now made a reference, as in `foo-${TOKEN}`."""
        match value:
            case dict():
                return {self.referenced(k): self.referenced(v) for k, v in value.items()}
            case list():
                return [self.referenced(item) for item in value]
            case str() if known := sorted((v for v in self._values if len(v) >= _LONG), key=len, reverse=True):
                names = self._origins | {v: name for name, v in self._names.items()}
                found = re.compile(rf"{_REFERENCE.pattern}|{'|'.join(map(re.escape, known))}")
                kept = {v: f"${{{names[v]}}}" if v in names else secrets.MASK for v in known}
                return found.sub(lambda m: kept.get(m[0], m[0]), value)
            case _:
                return value

    def scrub(self, text: str) -> str:
        """For notes: what looks like a secret, or is one that was hidden, is masked."""
        for value in sorted(self._values, key=len, reverse=True):
            if len(value) >= _LONG:
                text = text.replace(value, secrets.MASK)
            else:
                text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", secrets.MASK, text)
        return _VALUE.sub(secrets.MASK, unsubstituted(text))

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(self._names)

    def _hide(self, name: str, value: Any, secret: bool) -> Any:
        match value:
            case bool() | None:
                return value
            case dict():
                return {
                    self.scrub(str(k)): self._hide(f"{name}_{k}", v, secret or is_secret_name(str(k))) for k, v in value.items()
                }
            case list():
                return [self._hide(name, item, secret) for item in value]
            case str() if not secret and value.lstrip().startswith(("{", "[")) and (inner := _json(value)) is not None:
                return json.dumps(hidden, ensure_ascii=False) if (hidden := self._hide(name, inner, False)) != inner else value
            case str() if _REFERENCE.fullmatch(value) or not value:
                return value
            case _ if secret or (isinstance(value, str) and looks_secret(value)):
                return self._reference(name, str(value))
            case str():
                return unsubstituted(value)
            case _:
                return value

    def _reference(self, name: str, value: str) -> str:
        self._values.add(value)
        base = _KNOWN.get(name) or re.sub(r"\W+", "_", name).strip("_").upper() or "SECRET"
        base = f"VLLM_{base}" if base[0].isdigit() else base
        free, number = base, 2
        while self._names.get(free, value) != value:
            free, number = f"{base}_{number}", number + 1
        self._names[free] = value
        return f"${{{free}}}"


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text.count("[") + text.count("{") < 200 else None
    except ValueError:
        return None
