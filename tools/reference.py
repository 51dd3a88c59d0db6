#!/usr/bin/env python3
"""Write docs/experiment.md from the pydantic models of an experiment file (evals/schema.py).

Usage: python tools/reference.py
"""

import sys
from pathlib import Path
from typing import Any, get_args

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from evals import schema  # noqa: E402

PAGE = ROOT / "docs" / "experiment.md"
SECTIONS: tuple[tuple[str, str, type[schema.Strict]], ...] = (
    ("The file", "", schema.ExperimentYaml),
    ("An arm", "Under `arms:`, by a name of your own: 1 to 64 letters, digits and `. _ + -`.", schema.ArmYaml),
    ("Its engine", "Under an arm's `engine:`.", schema.EngineYaml),
    ("Its requests", "Under an arm's `request:`.", schema.RequestYaml),
    ("A task", "In the list `tasks:`.", schema.TaskYaml),
    ("Its texts", "Under `haystack:` of needle.", schema.HaystackYaml),
    ("A gate", "In the list `gates:`.", schema.GateYaml),
)
TOP = """# The experiment file

Made by `python tools/reference.py` from evals/schema.py. Do not edit it: a test fails where the two differ.

One YAML file says what is served, what is asked and what is judged. [configs/](../configs) has whole ones.

```yaml
name: upgrade
model: Qwen/Qwen3-8B
baseline: v025
arms:
  v025: {engine: {venv: vllm==0.25.0}, args: {max-model-len: 32768}}
  v029: {extends: v025, engine: {venv: vllm==0.29.0}}
tasks: [gsm8k, greedy]
gates: [{task: gsm8k, margin: 2}]
```

- What is wrong with it is one line: file, line, place, what to do. An unknown key is refused.
- `extends` adds to `args`, `env`, `request` and to the mappings in it; everything else is replaced whole, and `null` takes a key away.
- Paths are taken from the folder of the file. `off` and `no` in the place of a name mean what they say.
"""


def kind(of: dict[str, Any], named: dict[str, str]) -> str:
    """A JSON Schema in words: `whole number, 1 to 100`."""
    if "$ref" in of:
        return named[of["$ref"].rpartition("/")[2]]
    if "anyOf" in of and len(of["anyOf"]) == len(get_args(schema.Json)):
        return "any value"
    if "anyOf" in of:
        return " or ".join(dict.fromkeys(kind(one, named) for one in of["anyOf"] if one.get("type") != "null"))
    if "const" in of or "enum" in of:
        return " or ".join(f"`{value}`" for value in of.get("enum", [of.get("const")]))
    match of.get("type"):
        case "array":
            size = " to ".join(str(of[end]) for end in ("minItems", "maxItems") if end in of)
            least = f", {size}{'' if 'maxItems' in of else ' or more'}" if size else ""
            return f"list{least}: {kind(of['items'], named)}"
        case "object":
            value = of.get("additionalProperties")
            return f"mapping: {kind(value, named)}" if isinstance(value, dict) and value else "mapping"
        case "integer" | "number" as number:
            return ("whole number" if number == "integer" else "number") + _limits(of)
        case "boolean":
            return "`true` or `false`"
        case "string":
            return f"text like `{of['pattern']}`" if "pattern" in of else "text"
    return "any value"


def _limits(of: dict[str, Any]) -> str:
    above, below, low, high = (of.get(k) for k in ("exclusiveMinimum", "exclusiveMaximum", "minimum", "maximum"))
    least = f"above {above:g}" if above is not None else f"from {low:,}" if low is not None else ""
    most = f"below {below:g}" if below is not None else f"to {high:,}" if high is not None else ""
    return "".join(f", {end}" if i == 0 else f" {end}" for i, end in enumerate(filter(None, [least, most])))


def section(title: str, place: str, model: type[schema.Strict], named: dict[str, str]) -> str:
    told = model.model_json_schema()
    rows = []
    for key, of in told["properties"].items():
        field = model.model_fields[key]
        default = "required" if field.is_required() else _value(field.default)
        example = _value({key: (field.examples or [])[0]})
        cells = (f"`{key}`", _linked(str(field.description)), kind(of, named), default, example)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    head = ["| key | means | value | default | example |", "|---|---|---|---|---|"]
    return "\n".join([f"## {title}", "", *([place, ""] if place else []), *head, *rows]) + "\n"


def _linked(text: str) -> str:
    """`docs/needle.md` as a link."""
    words = [
        f"[{word.rstrip('.')}]({word.rstrip('.').removeprefix('docs/')})" + "." * word.endswith(".")
        if word.startswith("docs/") else word
        for word in text.split()
    ]  # fmt: skip
    return " ".join(words)


def _value(value: Any) -> str:
    """As YAML on one line; nothing of what is empty or a section of its own."""
    if value in (None, {}, []) or isinstance(value, schema.Strict):
        return "–"
    text = yaml.safe_dump(value, default_flow_style=True, width=10**9, allow_unicode=True, sort_keys=False).strip()
    return f"`{text[1:-1] if isinstance(value, dict) else text.split()[0]}`"


def page() -> str:
    named = {model.__name__: f"[{title.lower()}](#{title.lower().replace(' ', '-')})" for title, _, model in SECTIONS}
    return "\n".join([TOP, *(section(title, place, model, named) for title, place, model in SECTIONS)])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
