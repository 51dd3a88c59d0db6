"""What a server is started with: its words, its variables, and what of our own environment it is given."""

import os
from pathlib import Path
from typing import Any

import pytest

from evals.engine import command_line
from evals.errors import ConfigError
from evals.experiment import Arm, CommandEngine, RequestSettings, VenvEngine


def arm(**over: Any) -> Arm:
    told: dict[str, Any] = {
        "name": "v029", "engine": VenvEngine(package="vllm", version="0.29.0"), "model": "/models/qwen", "model_files": "",
        "args": {}, "env": {}, "devices": (), "request": RequestSettings(), "sampling": "greedy", "repeat_of": None,
        "start_timeout_s": 10.0,
    }  # fmt: skip
    return Arm(**(told | over))


def command(*words: str) -> CommandEngine:
    return CommandEngine(command=words, url="http://127.0.0.1:{port}", version=None, api_key_env=None)


def test_flags_are_written_as_vllm_reads_them() -> None:
    args = {"tensor-parallel-size": 4, "enforce-eager": True, "enable-prefix-caching": False, "rope": None, "gpu": 0.9,
            "speculative-config": {"method": "mtp", "num_speculative_tokens": 1}, "served-model-name": ["a", "b"]}  # fmt: skip
    assert command_line.flags(args) == [
        "--tensor-parallel-size", "4", "--enforce-eager", "--no-enable-prefix-caching", "--rope", "--gpu", "0.9",
        "--speculative-config", '{"method": "mtp", "num_speculative_tokens": 1}', "--served-model-name", "a", "b",
    ]  # fmt: skip


def test_what_bumpgate_adds_gives_way_to_the_arm_but_for_the_address() -> None:
    args = command_line.serve_args(arm(args={"seed": 7, "host": "0.0.0.0", "port": 80, "dtype": "bfloat16"}), 8123)
    assert args[0] == "/models/qwen"
    told = {"seed": "7", "host": "127.0.0.1", "port": "8123", "dtype": "bfloat16"}
    ours = {"generation-config": "vllm", "served-model-name": "qwen"}
    assert {name: args[args.index(f"--{name}") + 1] for name in told | ours} == told | ours


def test_a_server_tells_nobody_of_its_use(tmp_path: Path) -> None:
    env = command_line.serve_env(arm(model=str(tmp_path), env={"DO_NOT_TRACK": "0"}))
    assert (env["VLLM_NO_USAGE_STATS"], env["DO_NOT_TRACK"], env["HF_HUB_OFFLINE"]) == ("1", "0", "1")
    assert "HF_HUB_OFFLINE" not in command_line.serve_env(arm(model="org/name"))


def test_devices_are_those_that_cuda_shows() -> None:
    assert command_line.device_env(arm(devices=(1, 3))) == {"CUDA_VISIBLE_DEVICES": "1,3"}
    assert command_line.device_env(arm()) == {}


def test_our_own_python_does_not_leak_into_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "VLLM_API_KEY"):
        monkeypatch.setenv(name, "/ours")
    env = command_line.inherited_env(tmp_path)
    assert not {"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "VLLM_API_KEY"} & set(env)
    assert env["PATH"].split(os.pathsep)[0] == str(tmp_path)


def test_a_command_of_the_users_own_is_filled_in() -> None:
    engine = command("serve.sh", "{model}", "--port={port}", "{args}", "--last")
    assert command_line.filled(engine, arm(args={"dtype": "half", "enforce-eager": True}), 81) == [
        "serve.sh", "/models/qwen", "--port=81", "--dtype", "half", "--enforce-eager", "--last",
    ]  # fmt: skip


def test_a_variable_is_read_from_the_environment_only_for_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "sk-1")
    asked = arm(args={"api-key": ["${KEY}"], "hf-overrides": {"a": "x${KEY}"}, "n": 1}, env={"HF_TOKEN": "${KEY}"})
    real = command_line.resolved(asked)
    assert (real.args, real.env) == ({"api-key": ["sk-1"], "hf-overrides": {"a": "xsk-1"}, "n": 1}, {"HF_TOKEN": "sk-1"})
    assert "sk-1" not in repr(asked)
    assert asked.key == arm(args=asked.args, env=asked.env).key


def test_variables_that_are_not_set_are_known_before_a_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "sk-1")
    monkeypatch.delenv("LATE", raising=False)
    asked = arm(args={"api-key": ["${KEY}", "${LATE}"]}, env={"HF_TOKEN": "${LATE}"})
    assert command_line.unset(asked) == ("LATE",)


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEY", raising=False)
    with pytest.raises(ConfigError, match=r"arm v029: the environment has no variable KEY; export it"):
        command_line.resolved(arm(env={"HF_TOKEN": "${KEY}"}))
