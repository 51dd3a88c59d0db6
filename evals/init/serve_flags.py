"""The words after `vllm serve` → the model and its flags, as vLLM's own FlexibleArgumentParser would take them."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from evals.document import did_you_mean
from evals.init.shell import Word
from evals.init.vault import Vault, is_secret_name
from evals.vocabulary import Flag, vocabulary

_HUMAN = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])")
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,2})?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,79}")
_MAX_DIGITS, _MAX_BRACKETS = 18, 200
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}
_SWITCH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(kw_only=True)
class ServeFlags:
    """Filled in word by word."""

    models: list[str] = field(default_factory=list)
    args: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read(words: list[Word], vault: Vault) -> ServeFlags:
    return _Reader(words, vault).read()


def human(text: str) -> int | str:
    """32k → 32000, 1M → 1048576, as vLLM reads them; what is no such number stays text."""
    if len(text) > _MAX_DIGITS:
        return text
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    if (found := _HUMAN.fullmatch(text)) is None or (found[2].isupper() and "." in found[1]):
        return text
    base = 1024 if found[2].isupper() else 1000
    return int(float(found[1]) * base ** _POWERS[found[2].lower()])


class _Reader:
    def __init__(self, words: list[Word], vault: Vault) -> None:
        self.words, self.vault, self.at = words, vault, 0
        self.out = ServeFlags()
        self.nested: dict[str, dict[str, Any]] = {}

    def read(self) -> ServeFlags:
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            if word.text == "--":
                continue
            if _is_flag(word.text):
                self._option(word.text)
            elif not self.out.models:
                self.out.models.append(word.text)
            else:
                self.note(f"word {self.at} of what follows `vllm serve` or the image belongs to no flag and was left out")
        for name, value in self.nested.items():
            if name in self.out.args:
                self.note(f"--{name} is given whole and key by key; vLLM takes the keys alone, and so does this file")
            self.out.args[name] = self.vault.hide(name, value)
        return self.out

    def note(self, text: str) -> None:
        self.out.notes.append(self.vault.scrub(text))

    def _option(self, text: str) -> None:
        key, given, value = text.partition("=")
        inline = value if given else None
        base, *path = key.split(".")
        if base.startswith("-O") and base != "-O":
            base, inline = "-O", base[2:]
        name = self._long(base) if base.startswith("--") else self._short(base, bool(path))
        if name.startswith("="):  # a short form with its value attached, as -qawq
            name, inline = name[1:].split("=", 1)
        found, negated = self._resolve(name)
        if path:
            self._nested(found.name if found else name, path, inline)
        elif found is None:
            self._unknown(name, inline)
        else:
            self._known(found, negated, inline)

    def _long(self, base: str) -> str:
        return base[2:].replace("_", "-")

    def _short(self, base: str, dotted: bool) -> str:
        known = vocabulary().short
        if base == "-O":  # in newer versions a level alone; its dotted form became --compilation-config
            return "compilation-config" if dotted else "optimization-level"
        if base in known:
            return known[base]
        if base[:2] in known:
            return f"={known[base[:2]]}={base[2:]}"
        if (attached := re.fullmatch(r"(-[a-z]+)(\d+)", base)) and attached[1] in known:
            self.note(f"{base} was read as {attached[1]} {attached[2]}")
            return f"={known[attached[1]]}={attached[2]}"
        if (name := base[1:].replace("_", "-")) in vocabulary().flags:
            self.note(f"{base} was read as -{base}")
        return name

    def _resolve(self, name: str) -> tuple[Flag | None, bool]:
        """The flag and whether it stands in its --no- form; a unique beginning is enough for vLLM."""
        flags = vocabulary().flags
        if name in flags:
            return flags[name], False
        if name.startswith("no-") and name[3:] in flags:
            return flags[name[3:]], True
        begun = [f for f in flags if f.startswith(name)] if len(name) > 3 else []
        if len(begun) == 1:
            self.note(f"--{name} was read as --{begun[0]}")
            return flags[begun[0]], False
        return None, False

    def _known(self, flag: Flag, negated: bool, inline: str | None) -> None:
        if flag.kind in ("flag", "bool"):
            self._put(flag.name, self._switch(flag.name, inline) ^ negated)
            return
        values = [] if inline is None else [Word(text=inline, raw=inline)]
        if inline is None and flag.kind in ("list", "optional"):
            values = self._following(1 if flag.kind == "optional" else None, is_secret_name(flag.name))
        elif inline is None:
            values = self._json_words() if flag.kind == "json" else self._following(1, is_secret_name(flag.name))
        if not values:
            if flag.kind == "optional":
                self._put(flag.name, True)
            else:
                self.note(f"--{flag.name} has no value and was left out")
            return
        read = [self._value(flag, word) for word in values]
        self._put(flag.name, read if len(read) > 1 else read[0], joins=flag.kind == "append")

    def _switch(self, name: str, inline: str | None) -> bool:
        following = self.words[self.at].text if self.at < len(self.words) else ""
        said = inline if inline is not None else following
        if said.lower() not in _SWITCH or (inline is None and said in ("0", "1")):
            return True
        self.at += inline is None
        self.note(f"--{name} takes no value in today's vLLM; {said!r} was read as {'on' if _SWITCH[said.lower()] else 'off'}")
        return _SWITCH[said.lower()]

    def _following(self, count: int | None, secret: bool = False) -> list[Word]:
        """A secret may begin with a -, which is no reason to take it for a flag."""
        self.at += [w.text for w in self.words[self.at : self.at + 1]] == ["="]
        start = self.at
        if secret and self.at < len(self.words) and _is_flag(word := self.words[self.at].text) and not self._is_known(word):
            self.at += 1
        while self.at < len(self.words) and not _is_flag(self.words[self.at].text) and self.at - start != count:
            self.at += 1
        return self.words[start : self.at]

    def _is_known(self, text: str) -> bool:
        """Whether a word is a flag of vLLM's, and not only looks like one."""
        flags, short = vocabulary().flags, vocabulary().short
        key = text.partition("=")[0].partition(".")[0]
        if not key.startswith("--"):
            attached = re.fullmatch(r"(-[A-Za-z]+)\d+", key)
            return key in short or bool(attached and attached[1] in (*short, "-O")) or self._long("-" + key) in flags
        name = self._long(key)
        begun = [f for f in flags if f.startswith(name)] if len(name) > 3 else []
        return not name or name in flags or name.removeprefix("no-") in flags or len(begun) == 1

    def _json_words(self) -> list[Word]:
        """One value; where its quotes were lost, as many words as its braces span."""
        words = self._following(1)
        while words and words[0].raw.startswith("{") and _open(raw := words[0].raw) and self.at < len(self.words):
            more = self.words[self.at]
            self.at += 1
            words = [Word(text=f"{words[0].text} {more.text}", raw=f"{raw} {more.raw}")]
        return words

    def _value(self, flag: Flag, word: Word) -> Any:
        match flag.kind:
            case "int":
                return human(word.text) if word.text.lstrip("-").isdigit() else word.text
            case "human":
                return human(word.text)
            case "float":
                return float(word.text) if _NUMBER.fullmatch(word.text) else word.text
            case "json":
                return self._json(flag.name, word)
            case _:
                return int(word.text) if flag.name == "optimization-level" and word.text in "0123" else word.text

    def _json(self, name: str, word: Word) -> Any:
        lost = word.raw if word.raw[:1] not in "\"'" else word.text  # quotes that the shell took, as in {"method": "mtp"}
        for text in (word.text, word.text.replace("\\\n", ""), lost, word.text.replace("'", '"')):
            try:
                found = _loads(text)
            except ValueError:
                continue
            if text != word.text:
                self.note(f"the quotes of --{name}'s JSON were mended")
            return found
        if word.text.lstrip().startswith(("{", "[")):
            self.note(f"the value of --{name} is not valid JSON; vLLM will refuse it as it stands")
            if any(is_secret_name(w) for w in re.findall(r"\w+", word.text)):
                self.vault.keep_out(word.text)
                return f"${{{name.replace('-', '_').upper()}}}"
        return word.text

    def _nested(self, name: str, path: list[str], inline: str | None) -> None:
        secret = any(is_secret_name(key) for key in path)
        words = self._following(1, secret) if inline is None else [Word(text=inline, raw=inline)]
        if not words:
            self.note(f"--{name}.{'.'.join(path)} has no value and was left out")
            return
        text, adds = words[0].text, path[-1].endswith("+")
        value: Any = text.split(",") if adds else _plain(text)
        at = self.nested.setdefault(name, {})
        for key in path[:-1]:
            at = at[key] if isinstance(at.get(key), dict) else at.setdefault(key, {}) if key not in at else at
        last = path[-1].removesuffix("+")
        at[last] = [*at[last], *value] if adds and isinstance(at.get(last), list) else value

    def _unknown(self, name: str, inline: str | None) -> None:
        secret = is_secret_name(name) or is_secret_name(name.rstrip(":"))
        values = [inline] if inline is not None else [w.text for w in self._following(None if secret else 1, secret)]
        for value in values if secret else []:
            self.vault.keep_out(value)
        if not _NAME.fullmatch(name):
            self.note("a word that begins with a - but is no flag's name was left out")
            return
        self.note(f"no vLLM that bumpgate knows has --{name}{did_you_mean(name, vocabulary().flags)}; it is kept as pasted")
        self._put(name, True if not values else _plain(values[0]) if len(values) == 1 else values)

    def _put(self, name: str, value: Any, joins: bool = False) -> None:
        value = "null" if value is None else value
        if name in self.out.args and joins:
            before = self.out.args[name]
            value = [*(before if isinstance(before, list) else [before]), value]
        elif name in self.out.args:
            self.note(f"--{name} is given twice; vLLM takes the last, and so does this file")
        self.out.args[name] = self.vault.hide(name, value)


def _loads(text: str) -> Any:
    """JSON that a YAML file can hold: no NaN, no depth without end."""
    if text.count("[") + text.count("{") > _MAX_BRACKETS:
        raise ValueError("nested too deeply")
    return json.loads(text, parse_constant=_refuse)


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _is_flag(text: str) -> bool:
    return len(text) > 1 and text.startswith("-") and not _NUMBER.fullmatch(text)


def _open(text: str) -> bool:
    return text.count("{") > text.count("}")


def _plain(text: str) -> Any:
    """As vLLM reads the value of a dotted flag."""
    try:
        return _loads(text)
    except ValueError:
        return human(text)
