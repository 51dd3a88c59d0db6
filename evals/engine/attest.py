"""What a server really is: the settings that its engine says it runs with, and what its model's files hold."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import constants, scan_cache_dir
from huggingface_hub.errors import CacheNotFound

from evals import engines
from evals.experiment import Arm, DockerEngine

_ENGINE_LINE = re.compile(r"Initializing a V1 LLM engine \(v[^)]*\) with config: (.*)")
_KV_CACHE = re.compile(r"KV cache size: ([\d,]+) tokens")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_TOKENIZER = re.compile(r"(tokenizer|vocab|merges|special_tokens|added_tokens|chat_template).*|.*\.(model|tiktoken)")
_WEIGHTS = re.compile(r".*\.(safetensors|bin|pt|gguf|py)|.*config\.json|.*\.index\.json")
_TRAINING = re.compile(r"(training_args|optimizer|scheduler|rng_state).*")
"""What a training leaves beside the weights, and no server reads."""
_PIECE = 1 << 20
_PIECES = 16


@dataclass(frozen=True, kw_only=True)
class ModelFiles:
    """Sixteen hex digits each; None where the files can't be seen from here."""

    weights_sha: str | None
    """Over weights and configurations. Of a file beyond 16 MiB its size and sixteen pieces of 1 MiB are read, not all of it."""
    tokenizer_sha: str | None
    """Over the tokenizer's files and the chat template."""


def model_files(arm: Arm) -> ModelFiles:
    folder = _folder(arm)
    if folder is None:
        return ModelFiles(weights_sha=None, tokenizer_sha=None)
    elsewhere = arm.args.keys() & {"tokenizer", "tokenizer-revision", "chat-template"}
    return ModelFiles(
        weights_sha=_sha(folder, _WEIGHTS, but=_TOKENIZER), tokenizer_sha=None if elsewhere else _sha(folder, _TOKENIZER)
    )


def _folder(arm: Arm) -> Path | None:
    """Where the model's files lie on this machine: a folder, what a volume brings, or the hub's cache."""
    model = str(arm.model)
    inside = engines.mounted(arm.engine, model) if isinstance(arm.engine, DockerEngine) else None
    folder = inside or Path(model)
    if folder.is_dir():
        return folder
    if isinstance(arm.engine, DockerEngine) or "download-dir" in arm.args:
        return None
    return _snapshot(model, str(arm.args.get("revision", "main")), arm.env)


def _snapshot(model: str, revision: str, env: Mapping[str, str]) -> Path | None:
    """The hub's snapshot of a model in the cache that the server reads."""
    home = env.get("HF_HOME")
    cache = Path(env.get("HF_HUB_CACHE") or (f"{home}/hub" if home else constants.HF_HUB_CACHE)).expanduser()
    try:
        repos = [repo for repo in scan_cache_dir(cache).repos if repo.repo_id == model]
    except (CacheNotFound, OSError, ValueError):
        return None
    found = [r for repo in repos for r in repo.revisions if revision in r.refs or r.commit_hash.startswith(revision)]
    return found[0].snapshot_path if found else None


def _sha(folder: Path, names: re.Pattern[str], but: re.Pattern[str] | None = None) -> str | None:
    try:
        files = [p for p in sorted(folder.iterdir()) if p.is_file() and names.fullmatch(p.name)]
        whole = hashlib.sha256()
        for path in (p for p in files if not _TRAINING.fullmatch(p.name) and (but is None or not but.fullmatch(p.name))):
            whole.update(f"{path.name} {path.stat().st_size} ".encode())
            for piece in _pieces(path):
                whole.update(piece)
    except OSError:
        return None
    return whole.hexdigest()[:16] if files else None


def _pieces(path: Path) -> Iterator[bytes]:
    size = path.stat().st_size
    starts = (
        range(0, size, _PIECE) if size <= _PIECES * _PIECE else [(size - _PIECE) * i // (_PIECES - 1) for i in range(_PIECES)]
    )
    with path.open("rb") as f:
        for start in starts:
            f.seek(start)
            yield f.read(_PIECE)


def effective_settings(log: Path) -> dict[str, str]:
    """The engine's configuration as its log tells it at the start, one entry a leaf: `compilation_config.mode` → `NONE`.

    Empty where the log has no such line. Its form is vLLM's own since 0.8 and not promised, so nothing is judged by it.
    """
    with log.open(encoding="utf-8", errors="replace") as lines:
        text = "\n".join(line for line in lines if "LLM engine" in line or "KV cache size" in line)
    told = _ENGINE_LINE.findall(text)
    out = dict(_leaves("", told[-1])) if told else {}
    if sizes := _KV_CACHE.findall(text):
        out["kv_cache_tokens"] = sizes[-1].replace(",", "")
    return out


def _leaves(name: str, value: str) -> Iterator[tuple[str, str]]:
    """`a=1, b=C(x=2)` → (a, 1), (b.x, 2); a value that is no mapping is a leaf."""
    for part in _split(value):
        key, _, inner = part.partition("=") if re.match(r"\w+=", part) else part.partition(": ")
        key, inner = f"{name}{key.strip().strip(chr(39))}", inner.strip()
        if body := re.fullmatch(r"(?:\w+\(|\{)(.+)[)}]", inner, re.DOTALL):
            yield from _leaves(f"{key}.", body[1])
        else:
            yield key, inner.strip("'")


def _split(text: str) -> Iterator[str]:
    """At the commas outside of brackets and quotes."""
    start, closing, quote = 0, [], ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in _BRACKETS:
            closing.append(_BRACKETS[c])
        elif closing and c == closing[-1]:
            closing.pop()
        elif c == "," and not closing:
            yield text[start:i].strip()
            start = i + 1
    yield text[start:].strip()
