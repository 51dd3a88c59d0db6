"""What a server really is, told by its model's files and its own log."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from engine_logs import ENGINE_CONFIG
from test_command_line import arm

from evals.engine.attest import effective_settings, model_files
from evals.experiment import Arm, DockerEngine


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "generation_config.json", "tokenizer.json", "chat_template.jinja", "x.md"):
        (folder / name).write_text(name)
    return folder


def serving(folder: Path, **over: object) -> Arm:
    return replace(arm(model=str(folder)), **over)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "weights", "tokenizer"),
    [
        ("config.json", True, False),
        ("model.safetensors", True, False),
        ("generation_config.json", True, False),
        ("tokenizer.json", False, True),
        ("chat_template.jinja", False, True),
        ("x.md", False, False),
    ],
)
def test_an_edited_file_is_seen_where_it_belongs(model: Path, name: str, weights: bool, tokenizer: bool) -> None:
    before = model_files(serving(model))
    stamp = (model / name).stat()
    (model / name).write_text(name[:-1] + "X")
    os.utime(model / name, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # a copy tool may keep the time, and size is equal
    after = model_files(serving(model))
    assert (before.weights_sha != after.weights_sha, before.tokenizer_sha != after.tokenizer_sha) == (weights, tokenizer)


@pytest.mark.parametrize("where", [0, 100_000_000, 199_999_999], ids=["first", "middle", "last"])
def test_of_a_huge_file_the_ends_and_pieces_between_are_read(model: Path, where: int) -> None:
    weights = model / "model.safetensors"
    os.truncate(weights, 200_000_000)
    before = model_files(serving(model)).weights_sha
    with weights.open("r+b") as f:
        f.seek((200_000_000 - (1 << 20)) * 7 // 15 + 5 if where == 100_000_000 else where)
        f.write(b"!")
    assert model_files(serving(model)).weights_sha != before


def test_a_copy_elsewhere_is_the_same_model(model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for file in model.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    assert model_files(serving(model)) == model_files(serving(other))


def test_a_model_of_the_hub_is_read_from_the_cache_that_the_server_reads(model: Path, tmp_path: Path) -> None:
    repo = tmp_path / "home" / "hub" / "models--org--name"
    snapshot = repo / "snapshots" / "c0ffee"
    snapshot.mkdir(parents=True)
    (repo / "blobs").mkdir()
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text("c0ffee")
    for file in model.iterdir():
        (repo / "blobs" / file.name).write_bytes(file.read_bytes())
        (snapshot / file.name).symlink_to(repo / "blobs" / file.name)
    found = model_files(replace(arm(model="org/name"), env={"HF_HOME": str(tmp_path / "home")}))
    assert found == model_files(serving(model))
    env = {"HF_TRUE": "", "HF_HOME": str(tmp_path / "home")}
    assert model_files(replace(arm(model="org/name", args={"revision": "c0ffee"}), env=env)) == found
    assert model_files(replace(arm(model="org/name", args={"revision": "0ther"}), env=env)).weights_sha is None
    assert model_files(replace(arm(model="org/name", args={"download-dir": "/d"}), env=env)).weights_sha is None
    assert model_files(replace(arm(model="org/other"), env={"HF_HOME": str(tmp_path / "home")})).weights_sha is None


def test_a_model_inside_a_container_is_read_through_its_volume(model: Path) -> None:
    engine = DockerEngine(
        image="i:v1", gpus=None, ipc=None, shm_size=None, volumes=(f"{model.parent}:/m:ro",), entrypoint=("vllm", "serve")
    )
    assert model_files(replace(arm(model="/m/model"), engine=engine)) == model_files(serving(model))
    assert model_files(replace(arm(model="org/name"), engine=engine)).weights_sha is None


def test_a_model_that_cannot_be_seen_has_no_hash(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert model_files(serving(tmp_path / "empty")).weights_sha is None
    assert model_files(serving(tmp_path / "none")).weights_sha is None


def test_the_settings_in_effect_are_read_from_the_engines_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(ENGINE_CONFIG)
    found = effective_settings(tmp_path / "log")
    assert found["dtype"] == "torch.bfloat16"
    assert found["speculative_config.num_spec_tokens"] == "1"
    assert found["compilation_config.custom_ops"] == "['all', 'none']"
    assert found["compilation_config.pass_config.enable_sp"] == "False"
    assert found["structured_outputs_config.reasoning_parser"] == ""
    assert found["kv_cache_tokens"] == "1048576"


@pytest.mark.parametrize("text", ["", "no such line\n", "Initializing a V1 LLM engine (v1) with config: (((', {\n"])
def test_a_log_that_does_not_tell_is_no_fault(tmp_path: Path, text: str) -> None:
    (tmp_path / "log").write_text(text)
    assert all(isinstance(v, str) for v in effective_settings(tmp_path / "log").values())


def test_what_a_training_left_beside_the_weights_is_no_part_of_the_model(model: Path) -> None:
    before = model_files(serving(model))
    for name in ("training_args.bin", "optimizer.pt", "rng_state_0.pt"):
        (model / name).write_text("x")
    assert model_files(serving(model)) == before


def test_another_tokenizer_by_flag_leaves_the_models_own_out_of_it(model: Path) -> None:
    assert model_files(serving(model, args={"tokenizer": "org/t"})).tokenizer_sha is None
