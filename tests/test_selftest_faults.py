"""Each planted fault changes what it says and nothing else."""

import json
from collections.abc import Callable
from functools import cache
from tempfile import NamedTemporaryFile

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import load_file

from evals import shipped
from evals.selftest import faults, weights
from evals.selftest.faults import CONFIG, GENERATION, MODEL, TEMPLATE, TOKENIZER, TOKENIZER_CONFIG, Files
from evals.selftest.planted import PLANTED

DOWN = "model.layers.1.mlp.down_proj.weight"
O_PROJ = "model.layers.1.self_attn.o_proj.weight"


@cache
def base() -> Files:
    source = shipped.resolve("demo:bf16")
    assert source is not None
    return faults.with_system_turn({p.name: p.read_bytes() for p in source.iterdir()})


def loaded(data: bytes) -> dict[str, np.ndarray]:
    """By safetensors' own reader, which reads bfloat16 from files alone."""
    with NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return load_file(file.name)


def tensors(files: Files) -> dict[str, np.ndarray]:
    return {name: value.astype(np.float32) for name, value in loaded(files[MODEL]).items()}


def changed_files(edit: Callable[[Files], Files]) -> set[str]:
    after = edit(base())
    assert after.keys() == base().keys()
    return {name for name in after if after[name] != base()[name]}


def changed_tensors(files: Files) -> set[str]:
    before, after = tensors(base()), tensors(files)
    assert before.keys() == after.keys()
    assert all(before[name].shape == after[name].shape for name in before)
    return {name for name in before if not np.array_equal(before[name], after[name])}


def changed_keys(files: Files, name: str) -> dict[str, object]:
    before, after = json.loads(base()[name]), json.loads(files[name])
    assert before.keys() <= after.keys()
    return {key: value for key, value in after.items() if before.get(key) != value}


FILES = {
    "bits-2": {MODEL}, "bits-3": {MODEL}, "scale-20": {MODEL}, "scale-5": {MODEL}, "head": {MODEL}, "norms": {MODEL},
    "rope": {CONFIG}, "merges": {TOKENIZER}, "template": {TEMPLATE}, "eos": {CONFIG, GENERATION, TOKENIZER_CONFIG},
    "temperature": {GENERATION},
}  # fmt: skip


def test_each_planted_checkpoint_differs_in_the_files_of_its_fault() -> None:
    assert {p.name: changed_files(p.edit) for p in PLANTED if p.edit is not None} == FILES


def test_a_tensor_is_read_as_safetensors_reads_it() -> None:
    read = tensors(base())
    assert weights.names(base()[MODEL]) == sorted(read)
    for name, value in read.items():
        assert np.array_equal(weights.values(base()[MODEL], name), value)


def test_what_is_written_is_rounded_to_bfloat16_as_ml_dtypes_rounds() -> None:
    drawn = np.random.default_rng(0).normal(size=(128, 256)).astype(np.float32)
    drawn[0, :4] = [1 + 2**-8, 1 + 3 * 2**-8, -0.0, 3e38]  # two ties, of which one goes down and one up
    written = weights.replaced(base()[MODEL], {DOWN: drawn})
    assert loaded(written)[DOWN].tobytes() == drawn.astype(ml_dtypes.bfloat16).tobytes()
    assert changed_tensors(base() | {MODEL: written}) == {DOWN}


@pytest.mark.parametrize(("bits", "levels"), [(2, 4), (3, 8)])
def test_rounding_leaves_few_values_a_group_in_the_layers_projections_alone(bits: int, levels: int) -> None:
    coarse = faults.rounded(base(), bits)
    names = set(faults.linear_names(base()[MODEL]))
    assert len(names) == 3 * 7
    assert changed_tensors(coarse) == names
    for name in names:
        after, before = tensors(coarse)[name].reshape(-1, 32), tensors(base())[name].reshape(-1, 32)
        assert max(len(np.unique(group)) for group in after) <= levels
        top = np.abs(before).max(-1)
        assert (np.abs(after).max(-1) >= top * (1 - 2**-8)).all()  # the largest weight stays, but for bf16's own rounding
        assert (np.abs(after - before).max(-1) <= top * (0.5 / (2 ** (bits - 1) - 1) + 2**-7)).all()


@pytest.mark.parametrize("factor", [1.05, 1.2])
def test_a_scale_is_off_by_its_factor(factor: float) -> None:
    off = faults.scaled(base(), DOWN, factor)
    assert changed_tensors(off) == {DOWN}
    before, after = tensors(base())[DOWN], tensors(off)[DOWN]
    assert np.allclose(after, factor * before, rtol=2**-8, atol=0)
    assert after.sum() / before.sum() == pytest.approx(factor, abs=0.002)


def test_a_head_is_zeroed_where_its_findings_enter() -> None:
    without = faults.head_zeroed(base(), layer=1, head=2)
    assert changed_tensors(without) == {O_PROJ}
    after = tensors(without)[O_PROJ]
    assert not after[:, 64:96].any()
    kept = np.delete(np.arange(128), np.arange(64, 96))
    assert np.array_equal(after[:, kept], tensors(base())[O_PROJ][:, kept])


def test_two_norms_change_places() -> None:
    swapped = faults.norms_swapped(base(), layer=1)
    one, other = (f"model.layers.1.{which}_layernorm.weight" for which in ("input", "post_attention"))
    assert changed_tensors(swapped) == {one, other}
    assert np.array_equal(tensors(swapped)[one], tensors(base())[other])
    assert np.array_equal(tensors(swapped)[other], tensors(base())[one])


def test_rope_theta_is_all_that_changes_of_the_config() -> None:
    assert changed_keys(faults.rope_theta(base(), 1e6), CONFIG) == {
        "rope_parameters": {"rope_theta": 1e6, "rope_type": "default"}
    }


def test_merges_are_lost_and_the_vocabulary_stays() -> None:
    (key,) = changed_keys(lost := faults.merges_lost(base(), 5), TOKENIZER)
    assert key == "model"
    before, after = (json.loads(files[TOKENIZER])["model"] for files in (base(), lost))
    assert len(after["merges"]) == len(before["merges"]) - len(before["merges"]) // 5
    assert [m for m in before["merges"] if m in after["merges"]] == after["merges"]
    assert {k: v for k, v in before.items() if k != "merges"} == {k: v for k, v in after.items() if k != "merges"}


def test_an_answer_is_ended_by_another_token_wherever_that_is_said() -> None:
    endless = faults.never_ending(base())
    assert changed_keys(endless, CONFIG) == {"eos_token_id": 0}
    assert changed_keys(endless, GENERATION) == {"eos_token_id": 0}
    assert changed_keys(endless, TOKENIZER_CONFIG) == {"eos_token": "<|endoftext|>"}


def test_a_temperature_is_recommended_where_none_was() -> None:
    assert changed_keys(faults.recommending(base(), 0.7), GENERATION) == {"temperature": 0.7}


def test_the_template_without_the_system_turn_is_the_shipped_one() -> None:
    source = shipped.resolve("demo:bf16")
    assert source is not None
    assert b"system" in base()[TEMPLATE].splitlines()[0]
    assert faults.without_system_turn(base())[TEMPLATE] == (source / TEMPLATE).read_bytes()
