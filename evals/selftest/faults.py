"""What can be wrong with a checkpoint's files: each fault changes what it names and nothing else. Pure.

The demo's checkpoint: three layers of four heads of 32, tensors named as Qwen2's are.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from evals.selftest import weights
from evals.selftest.weights import Values

Files = dict[str, bytes]
"""A checkpoint: its files by name."""
Edit = Callable[[Files], Files]

MODEL, CONFIG, GENERATION = "model.safetensors", "config.json", "generation_config.json"
TOKENIZER, TOKENIZER_CONFIG, TEMPLATE = "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"
SYSTEM_TURN = b"{{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}\n"
"""Before every chat, as Qwen2.5's template has it. The model has seen it in a tenth of its training."""


def linear_names(data: bytes) -> list[str]:
    """The decoder layers' projections; embeddings, head and norms are none, nor is an MTP head's."""
    return [name for name in weights.names(data) if name.endswith("_proj.weight") and name.startswith("model.layers.")]


def with_system_turn(files: Files) -> Files:
    """What the selftest's own baseline has and the shipped model lacks: no fault, but what one takes away."""
    return files | {TEMPLATE: SYSTEM_TURN + files[TEMPLATE]}


def without_system_turn(files: Files) -> Files:
    return files | {TEMPLATE: files[TEMPLATE].removeprefix(SYSTEM_TURN)}


def rounded(files: Files, bits: int, group: int = 32) -> Files:
    """Every projection rounded to so many bits by groups along the input, each with the scale of its largest weight."""
    top = 2 ** (bits - 1) - 1

    def coarse(weight: Values) -> Values:
        grouped = weight.reshape(weight.shape[0], -1, group)
        scale = np.maximum(np.abs(grouped).max(-1, keepdims=True), np.float32(1e-6)) / np.float32(top)
        out: Values = np.clip(np.round(grouped / scale), -top - 1, top) * scale
        return out.reshape(weight.shape)

    data = files[MODEL]
    return files | {MODEL: weights.replaced(data, {name: coarse(weights.values(data, name)) for name in linear_names(data)})}


def scaled(files: Files, name: str, factor: float) -> Files:
    """One tensor times a factor, as a wrong scale of a quantised layer would have it."""
    data = files[MODEL]
    return files | {MODEL: weights.replaced(data, {name: weights.values(data, name) * np.float32(factor)})}


def head_zeroed(files: Files, layer: int, head: int) -> Files:
    """What an attention head found is thrown away: its columns of the output projection are 0."""
    config, name = _read(files, CONFIG), f"model.layers.{layer}.self_attn.o_proj.weight"
    size = config["hidden_size"] // config["num_attention_heads"]
    weight = weights.values(files[MODEL], name).copy()
    weight[:, head * size : (head + 1) * size] = 0
    return files | {MODEL: weights.replaced(files[MODEL], {name: weight})}


def norms_swapped(files: Files, layer: int) -> Files:
    """A layer's two norms change places, as by a loader that mixes up their names."""
    data = files[MODEL]
    before, after = (f"model.layers.{layer}.{which}_layernorm.weight" for which in ("input", "post_attention"))
    swapped = {before: weights.values(data, after), after: weights.values(data, before)}
    return files | {MODEL: weights.replaced(data, swapped)}


def rope_theta(files: Files, theta: float) -> Files:
    config = _read(files, CONFIG)
    return files | {CONFIG: _text(config | {"rope_parameters": config["rope_parameters"] | {"rope_theta": theta}})}


def merges_lost(files: Files, every: int) -> Files:
    """The tokenizer lacks every so many-th merge, so that it cuts some words otherwise."""
    tokenizer = _read(files, TOKENIZER)
    model = tokenizer["model"]
    kept = [merge for i, merge in enumerate(model["merges"], 1) if i % every]
    return files | {TOKENIZER: _text(tokenizer | {"model": model | {"merges": kept}})}


def never_ending(files: Files) -> Files:
    """Another token is said to end an answer, in each of the three files that say so: what the model writes ends nothing."""
    padding = _read(files, TOKENIZER_CONFIG)["pad_token"]
    config, generation = _read(files, CONFIG), _read(files, GENERATION)
    return files | {
        CONFIG: _text(config | {"eos_token_id": config["pad_token_id"]}),
        GENERATION: _text(generation | {"eos_token_id": config["pad_token_id"]}),
        TOKENIZER_CONFIG: _text(_read(files, TOKENIZER_CONFIG) | {"eos_token": padding}),
    }


def recommending(files: Files, temperature: float) -> Files:
    return files | {GENERATION: _text(_read(files, GENERATION) | {"temperature": temperature})}


def _read(files: Files, name: str) -> dict[str, Any]:
    out: dict[str, Any] = json.loads(files[name])
    return out


def _text(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
