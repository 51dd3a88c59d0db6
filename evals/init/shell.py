"""Pasted shell text → simple commands: words, the assignments before them, and what was sent elsewhere.

Lenient where a paste is worse than a shell's input: prompts, fences, CRLF, curly quotes, blanks or comments after a `\\`, and
lines that begin with a flag although the `\\` before them was lost.
"""

import re
from dataclasses import dataclass, replace

from evals.errors import ConfigError
from evals.init.vault import Vault, is_secret_name, looks_secret

_PROMPT = re.compile(
    r"^[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+[:\s][^\s#$%]*[#$%]|[$%❯➜])[ \t]+"
    r"|^[ \t]*(?:PS )?[A-Z]:\\[^>\n]*>[ \t]*"
    r"|^[ \t]*(?:>|#)[ \t]+(?=(?:-|sudo |docker |vllm ))"
)
"""`$ `, `(venv) user@host:~$ `, the shell's `> ` on a continued line, and root's `# ` before a program that serves."""
_NOISE = re.compile(r"^\s*(```.*|~~~.*)$")
_UNIT = re.compile(r"^\s*(?:ExecStart=[-+@:!]*|Environment=)")
"""A systemd unit's own words before the command."""
_CURLY = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " ", "\u2003": " ", "\u3000": " "})
_INVISIBLE = re.compile(r"[\u200b-\u200d\u2060\ufeff\ud800-\udfff\x00-\x08\x0b-\x1f\x7f]")
"""What a web page hides between letters, and what no YAML file can hold."""
_DASH = re.compile(r"(?<!\S)[—–](?=[A-Za-z])")
_OPERATORS = ("&&", "||", "|&", ";", "&", "|", "\n", "(", ")")
_REDIRECTION = re.compile(r"(?:\d*|&)(?:>>|>\||>&|>|<<<|<<|<&|<)(?:&?\d+-?(?=[\s;|&)]|$))?")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_WORD_END = set(" \t\n;|&()<>")


@dataclass(frozen=True, kw_only=True)
class Word:
    text: str
    """As the program would see it; `$NAME` that the paste does not set is left as `${NAME}`."""
    raw: str
    """As it was pasted."""


@dataclass(frozen=True, kw_only=True)
class Command:
    env: tuple[tuple[str, str], ...]
    """The assignments right before it."""
    words: tuple[Word, ...]
    outputs: int
    """Redirections and pipes after it, which are of no use to bumpgate."""
    documents: tuple[str, ...] = ()
    """What it gets as `<<EOF`."""

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words]


def commands(text: str, vault: Vault) -> tuple[list[Command], list[str]]:
    """Every simple command in order, and notes on what the reading took for granted.

    Raises:
        ConfigError: a quote is never closed.
    """
    cleaned, notes = _cleaned(text)
    return _Scanner(cleaned, vault).commands(), notes


def from_argv(argv: list[str]) -> Command:
    """Words that a shell has split already."""
    argv = [_INVISIBLE.sub("", word) for word in argv]
    at = 0
    while at < len(argv) and _ASSIGNMENT.match(argv[at]):
        at += 1
    env = tuple((name, value) for name, _, value in (word.partition("=") for word in argv[:at]))
    return Command(env=env, words=tuple(Word(text=word, raw=word) for word in argv[at:]), outputs=0)


def _cleaned(text: str) -> tuple[str, list[str]]:
    notes = []
    plain = _INVISIBLE.sub("", text)
    if (straight := plain.translate(_CURLY)) != plain and any(c in plain for c in "“”‘’"):
        notes.append("curly quotes were read as plain ones")
    if (dashed := _DASH.sub("--", straight)) != straight:
        notes.append("long dashes were read as --")
    lines = [_UNIT.sub("", _PROMPT.sub("", line)) for line in dashed.split("\n") if not _NOISE.match(line)]
    return "\n".join(_continued(lines, notes)), notes


def _continued(lines: list[str], notes: list[str]) -> list[str]:
    """Each command on one line again."""
    out: list[str] = []
    going = False
    for line in lines:
        stripped = line.strip()
        if going and (not stripped or stripped.startswith("#")):
            continue
        more = re.search(r"(?<!\\)\\(?:[ \t]+#.*|[ \t]*)$|\^[ \t]*$", line)
        more = more or (re.search(r"`[ \t]*$", line) if line.count("`") % 2 else None)  # cmd's ^, PowerShell's `
        body = line[: more.start()] if more else line
        if going:
            out[-1] += " " + body
        elif out and out[-1].strip() and re.match(r"\s*--?[A-Za-z]", line):
            out[-1] += " " + body
            notes.append("a line that begins with a flag was read as going on with the line before it")
        else:
            out.append(body)
        going = more is not None
    return out


class _Scanner:
    def __init__(self, text: str, vault: Vault) -> None:
        self.text, self.at, self.vault = text, 0, vault
        self.ends: list[str] = []
        """What the <<EOF of this line end with."""
        self.variables: dict[str, str] = {}
        self.used: set[str] = set()
        self.exported: set[str] = set()

    def commands(self) -> list[Command]:
        out: list[Command] = []
        words: list[Word] = []
        outputs = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t":
                self.at += 1
            elif char == "#":
                self._skip_line()
            elif found := _REDIRECTION.match(self.text, self.at):
                self.at = found.end()
                outputs += 1
                if not re.search(r"\d-?$", found[0]):
                    target = self._target()
                    self.ends += [target.removeprefix("-")] if found[0].lstrip("0123456789") == "<<" else []
            elif operator := next((o for o in _OPERATORS if self.text.startswith(o, self.at)), None):
                self.at += len(operator)
                self._end(out, words, outputs + (operator in ("|", "|&", "&")))
                words, outputs = [], 0
                if operator == "\n" and self.ends:
                    self._documents(out)
            else:
                words.append(self._word())
        self._end(out, words, outputs)
        local = self.used - self.exported  # the shell's own, which the server never sees
        return [replace(c, env=tuple(p for p in c.env if c.words or p[0] not in local)) for c in out]

    def _end(self, out: list[Command], words: list[Word], outputs: int) -> None:
        if not words:
            return
        texts = [word.text for word in words]
        start = 1 if texts[0] in ("export", "declare", "typeset") else 0
        at = start
        while at < len(texts) and (_ASSIGNMENT.match(texts[at]) or (start and texts[at].startswith("-"))):
            at += 1
        pairs = tuple((n, v) for n, eq, v in (t.partition("=") for t in texts[start:at]) if eq)
        if at == len(texts):
            self.variables |= dict(pairs)
            self.exported |= {name for name, _ in pairs} if start else set()
        out.append(Command(env=pairs, words=tuple(words[at:]), outputs=outputs))

    def _skip_line(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _documents(self, out: list[Command]) -> None:
        """Behind the line of a <<EOF. One that never ends is read as commands."""
        for end in self.ends:
            found = re.compile(rf"^[ \t]*{re.escape(end)}[ \t]*$", re.MULTILINE).search(self.text, self.at)
            if found and out:
                out[-1] = replace(out[-1], documents=(*out[-1].documents, self.text[self.at : found.start()]))
                self.at = found.end()
        self.ends = []

    def _target(self) -> str:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        return self._word().text if self.at < len(self.text) and self.text[self.at] not in _WORD_END else ""

    def _word(self) -> Word:
        start, parts = self.at, []
        while self.at < len(self.text) and self.text[self.at] not in _WORD_END:
            char = self.text[self.at]
            match char:
                case "'":
                    parts.append(self._quoted("'"))
                case '"':
                    parts.append(self._expanded(self._quoted('"')))
                case "\\":
                    parts.append(self.text[self.at + 1 : self.at + 2])
                    self.at += 2
                case "$" if self.text.startswith("$(", self.at):
                    parts.append(self._substitution())
                case "`" if (end := self.text.find("`", self.at + 1)) > 0:
                    parts.append("$(…)")
                    self.at = end + 1
                case "$" if self.text.startswith("$'", self.at):
                    self.at += 1
                    parts.append(self._quoted("'"))
                case "$":
                    found = _VARIABLE.match(self.text, self.at)
                    parts.append(self._expanded(found[0]) if found else "$")
                    self.at = found.end() if found else self.at + 1
                case _:
                    parts.append(char)
                    self.at += 1
        return Word(text="".join(parts), raw=self.text[start : self.at])

    def _quoted(self, quote: str) -> str:
        """What stands between quotes; the place moves behind them."""
        start = self.at = self.at + 1
        out: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == quote:
                self.at += 1
                return "".join(out)
            if char == "\\" and quote == '"' and self.text[self.at + 1 : self.at + 2] in ('"', "\\", "`", "$"):
                kept = self.text[self.at + 1]
                out.append("\\$" if kept == "$" else kept)
                self.at += 2
            elif quote == '"' and self.text.startswith("$(", self.at):
                out.append(self._substitution())
            elif quote == '"' and char == "`" and (end := self.text.find("`", self.at + 1)) > 0:
                out.append("$(…)")
                self.at = end + 1
            else:
                out.append(char)
                self.at += 1
        line = self.text.count("\n", 0, start) + 1
        raise ConfigError(f"the command can't be read: a {quote} on line {line} is never closed; close it, and paste again")

    def _substitution(self) -> str:
        depth, start = 0, self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            depth += {"(": 1, ")": -1}.get(char, 0)
            closed = self.text.find(char, self.at + 1) if char in "'\"" else -1
            self.at = closed + 1 if closed > 0 else self.at + 1
            if depth == 0 and self.text[self.at - 1] == ")":
                break
        inside = self.text[start + 2 : self.at - 1].strip()
        return "${PWD}" if inside == "pwd" else "$(…)"  # what is inside may name a key

    def _expanded(self, text: str) -> str:
        """`$NAME` as the paste set it, else left as `${NAME}`; `${NAME:-default}` with its default."""
        return _VARIABLE.sub(self._value, text).replace("\\$", "$")

    def _value(self, found: re.Match[str]) -> str:
        name = found["plain"] or found["braced"]
        self.used.add(name)
        value = self.variables[name] if name in self.variables else found["default"] or f"${{{name}}}"
        if is_secret_name(name) or looks_secret(value):
            self.vault.keep_out(value, name)
            return f"${{{name}}}"
        return value


_VARIABLE = re.compile(r"(?<!\\)\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)(?::?-(?P<default>[^}]*))?\})")
