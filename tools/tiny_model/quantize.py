"""Other forms of the tiny checkpoint, written straight from its bf16 weights with NumPy.

    python quantize.py SRC OUT awq|unpacked|w4a16 [--group 32]

`awq`: uint4 with zero points (AutoAWQ's gemm layout). `unpacked`: the values that `awq` stands for, kept as bf16, for CPUs
on which vLLM has no 4-bit kernel. `w4a16`: symmetric int4 (compressed-tensors, pack-quantized). All by round-to-nearest in
groups along the input dimension. vLLM's CPU kernels want sizes in multiples of 32 and bfloat16 or float16. A fault to plant,
weights rounded to a few bits, is evals/selftest/faults.py's.
"""

import argparse
import json
import shutil
from pathlib import Path

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

Tensors = dict[str, NDArray]
_AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


def linear_names(tensors: Tensors) -> list[str]:
    """The decoder layers' projections; embeddings, head and norms stay as they are, and so does an MTP head."""
    return [k for k in tensors if k.endswith("_proj.weight") and k.startswith("model.layers.")]


def load(src: Path) -> Tensors:
    return {k: np.asarray(v) for k, v in load_file(src / "model.safetensors").items()}


def save(src: Path, out: Path, tensors: Tensors, **config: object) -> None:
    """Write `tensors` beside copies of the source's other files, with `config` laid over config.json."""
    out.mkdir(parents=True, exist_ok=True)
    for file in src.iterdir():
        if file.suffix != ".safetensors" and file.name != "config.json":
            shutil.copy(file, out)
    save_file({k: np.ascontiguousarray(v) for k, v in tensors.items()}, out / "model.safetensors", metadata={"format": "pt"})
    (out / "model.safetensors").chmod(0o644)
    merged = json.loads((src / "config.json").read_text()) | config
    (out / "config.json").write_text(json.dumps(merged, indent=1) + "\n")


def _pack(nibbles: NDArray) -> NDArray:
    """[rows, columns] of 0–15 → [rows, columns / 8] int32, the first nibble lowest."""
    rows, columns = nibbles.shape
    parts = nibbles.reshape(rows, columns // 8, 8).astype(np.uint32)
    shifted = parts << (4 * np.arange(8, dtype=np.uint32))
    return np.bitwise_or.reduce(shifted, axis=-1).view(np.int32)


def _pack_awq(nibbles: NDArray) -> NDArray:
    rows, columns = nibbles.shape
    return _pack(nibbles.reshape(rows, columns // 8, 8)[:, :, _AWQ_ORDER].reshape(rows, columns))


def _awq_grid(weight: NDArray, group: int) -> tuple[NDArray, NDArray, NDArray]:
    """[n, k] → steps of 0–15, zero points and scales, by group: [n, k / group, group or 1]."""
    n, k = weight.shape
    grouped = weight.reshape(n, k // group, group)
    high, low = grouped.max(-1, keepdims=True), grouped.min(-1, keepdims=True)
    scale = (np.maximum(high - low, 1e-6) / 15).astype(np.float16).astype(np.float32)
    zero = np.clip(np.round(-low / scale), 0, 15)
    return np.clip(np.round(grouped / scale) + zero, 0, 15), zero, scale


def unpacked(src: Path, out: Path, group: int) -> None:
    tensors = load(src)
    for name in linear_names(tensors):
        q, zero, scale = _awq_grid(tensors[name].astype(np.float32), group)
        tensors[name] = ((q - zero) * scale).reshape(tensors[name].shape).astype(ml_dtypes.bfloat16)
    save(src, out, tensors)


def awq(src: Path, out: Path, group: int) -> None:
    tensors = load(src)
    for name in linear_names(tensors):
        weight = tensors.pop(name).astype(np.float32)
        steps, zero, scale = _awq_grid(weight, group)
        q = steps.astype(np.uint32).reshape(weight.shape)
        base = name.removesuffix("weight")
        tensors[base + "qweight"] = _pack_awq(q.T)
        tensors[base + "qzeros"] = _pack_awq(zero.squeeze(-1).T.astype(np.uint32))
        tensors[base + "scales"] = scale.squeeze(-1).T.astype(np.float16)
    quantization = {
        "quant_method": "awq",
        "bits": 4,
        "group_size": group,
        "zero_point": True,
        "version": "gemm",
        "modules_to_not_convert": None,
    }
    save(src, out, tensors, quantization_config=quantization)


def w4a16(src: Path, out: Path, group: int) -> None:
    tensors = load(src)
    for name in linear_names(tensors):
        weight = tensors.pop(name).astype(np.float32)
        n, k = weight.shape
        grouped = weight.reshape(n, k // group, group)
        scale = (np.maximum(np.abs(grouped).max(-1, keepdims=True), 1e-6) / 7.5).astype(ml_dtypes.bfloat16).astype(np.float32)
        q = (np.clip(np.round(grouped / scale), -8, 7) + 8).astype(np.uint32).reshape(n, k)
        base = name.removesuffix("weight")
        tensors[base + "weight_packed"] = _pack(q)
        tensors[base + "weight_scale"] = scale.squeeze(-1).astype(ml_dtypes.bfloat16)
        tensors[base + "weight_shape"] = np.array([n, k], dtype=np.int64)
    weights = {
        "num_bits": 4,
        "type": "int",
        "symmetric": True,
        "strategy": "group",
        "group_size": group,
        "dynamic": False,
        "actorder": None,
        "block_structure": None,
        "observer": "minmax",
        "observer_kwargs": {},
    }
    scheme = {"targets": ["Linear"], "input_activations": None, "output_activations": None, "weights": weights}
    save(
        src,
        out,
        tensors,
        quantization_config={
            "quant_method": "compressed-tensors",
            "format": "pack-quantized",
            "quantization_status": "compressed",
            "kv_cache_scheme": None,
            "global_compression_ratio": None,
            "ignore": ["lm_head"],
            "config_groups": {"group_0": scheme},
        },
    )


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("src", type=Path)
    ap.add_argument("out", type=Path)
    ap.add_argument("form", choices=["awq", "unpacked", "w4a16"])
    ap.add_argument("--group", type=int, default=32)
    a = ap.parse_args()
    {"awq": awq, "unpacked": unpacked, "w4a16": w4a16}[a.form](a.src, a.out, a.group)


if __name__ == "__main__":
    main()
