"""A safetensors file of bfloat16 tensors, read and changed with NumPy alone. Pure: bytes in, bytes out.

The format: 8 bytes with the header's length, a JSON header that names each tensor's shape and place, then their bytes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32]
_LENGTH_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class _Slot:
    """Where a tensor's bytes lie in the file."""

    shape: tuple[int, ...]
    begin: int
    end: int


def names(data: bytes) -> list[str]:
    """The tensors, in the header's order."""
    return list(_slots(data))


def values(data: bytes, name: str) -> Values:
    """A tensor as float32, which holds every bfloat16 exactly."""
    slot = _slots(data)[name]
    halves = np.frombuffer(data[slot.begin : slot.end], "<u2").astype(np.uint32)
    return (halves << np.uint32(16)).view(np.float32).reshape(slot.shape)


def replaced(data: bytes, changed: Mapping[str, Values]) -> bytes:
    """The file with other values in some of its tensors; every other byte stays. Shapes must be kept."""
    out, slots = bytearray(data), _slots(data)
    for name, new in changed.items():
        assert new.shape == slots[name].shape
        out[slots[name].begin : slots[name].end] = _bfloat16(new)
    return bytes(out)


def _bfloat16(new: Values) -> bytes:
    """Rounded to the nearest, ties to even."""
    bits = np.ascontiguousarray(new, np.float32).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    return ((bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)).astype("<u2").tobytes()


def _slots(data: bytes) -> dict[str, _Slot]:
    start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    header: dict[str, dict[str, Any]] = json.loads(data[_LENGTH_BYTES:start])
    header.pop("__metadata__", None)
    assert all(told["dtype"] == "BF16" for told in header.values())
    return {
        name: _Slot(shape=tuple(told["shape"]), begin=start + told["data_offsets"][0], end=start + told["data_offsets"][1])
        for name, told in header.items()
    }
