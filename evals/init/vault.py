"""Keys and tokens of a pasted command → `${NAME}`, read from the environment when a server starts. No value goes further."""

import json
import re
from typing import Any

from evals.engine import secrets

_NAME = re.compile(
    r"(?:^|[_-])(?:key|token|auth|secret|passw(?:or)?d|pwd|pat|credentials?)(?:[_-](?:id|value|base64|b64|hex|\d+))?$"
    r"|secret|passw(?:or)?d|apikey",
    re.IGNORECASE,
)
_TEXT_TOKEN = re.compile(r"^(?:bos|eos|pad|unk|mask|cls|sep|image|video|audio|think|boi|eoi)_?(?:start|end)?_?token$")
"""Keys of a model's own tokenizer, as --hf-overrides has them."""
_VALUE = re.compile(
    r"hf_(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{8,}|\bsk-(?=[\w-]*\d)[\w-]{6,}|gh[pousr]_\w{8,}|github_pat_\w+|glpat-[\w-]+|AKIA[0-9A-Z]{8,}|xox[a-z]-[\w-]+|nvapi-[\w-]+"
    r"|eyJ[\w-]{8,}\.[\w-]+|(?i:bearer)(?:\s|%20)+\S+|(?i:basic)\s+[A-Za-z0-9+/=]{8,}|://[^/\s@]*:[^/\s@]+@"
    r"|(?i:--[\w-]*(?:token|api[_-]key|password|secret)\s+)\S+"
    r"|(?i:\b[\w-]*(?:token|api[_-]?key|password|passwd|secret|signature)[\"']?\s*[=:]\s*)[\"']?[^\s\"'&;,}]+"
)
_REFERENCE = re.compile(r"\$\{[A-Za-z_]\w*\}")
_KNOWN = {"api-key": "VLLM_API_KEY", "hf-token": "HF_TOKEN"}


def is_secret_name(name: str) -> bool:
    return secrets.masked_env({name: ""}) != {name: ""} or bool(_NAME.search(name))


def looks_secret(text: str) -> bool:
    return bool(_VALUE.search(_REFERENCE.sub("", text)))


class Vault:
    """Remembers what it hid, so that nothing written later can hold it."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: set[str] = set()

    def hide(self, name: str, value: Any) -> Any:
        """A flag's or a variable's value with every secret in it, however deep, made a reference."""
        return self._hide(name, value, is_secret_name(name))

    def keep_out(self, text: str) -> None:
        """Of what is not carried over at all, and must not be quoted either."""
        self._values |= {text} if text else set()

    def scrub(self, text: str) -> str:
        """For notes: what looks like a secret, or is one that was hidden, is masked."""
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, secrets.MASK)
        return _VALUE.sub(secrets.MASK, text)

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(self._names)

    def _hide(self, name: str, value: Any, secret: bool) -> Any:
        match value:
            case bool() | None:
                return value
            case dict():
                return {
                    self.scrub(str(k)): self._hide(f"{name}_{k}", v, secret or self._secret_key(str(k)))
                    for k, v in value.items()
                }
            case list():
                return [self._hide(name, item, secret) for item in value]
            case str() if not secret and value.lstrip().startswith(("{", "[")) and (inner := _json(value)) is not None:
                return json.dumps(hidden, ensure_ascii=False) if (hidden := self._hide(name, inner, False)) != inner else value
            case str() if _REFERENCE.fullmatch(value) or not value:
                return value
            case _ if secret or (isinstance(value, str) and looks_secret(value)):
                return self._reference(name, str(value))
            case _:
                return value

    def _secret_key(self, key: str) -> bool:
        return is_secret_name(key) and not _TEXT_TOKEN.match(key)

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
