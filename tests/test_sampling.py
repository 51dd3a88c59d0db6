"""What is sent with a question so that a token is chosen one way and not another."""

from dataclasses import replace
from pathlib import Path

import pytest
from test_experiment import ARM

from evals import sampling
from evals.errors import ConfigError
from evals.experiment import GREEDY, NEUTRAL, RequestSettings

PLAIN = replace(ARM, request=RequestSettings())


def checkpoint(folder: Path, text: str = '{"temperature": 0.6, "top_p": 0.95, "top_k": 20, "eos_token_id": 2}') -> str:
    (folder / "generation_config.json").write_text(text)
    return str(folder)


def test_greedy_leaves_nothing_to_the_servers_own_defaults() -> None:
    """Which may be the model's generation_config.json: a repetition penalty shapes greedy answers as well (vllm PR 15281)."""
    read_by_vllm = {
        "repetition_penalty", "presence_penalty", "frequency_penalty", "temperature", "top_k", "top_p", "min_p",
    }  # fmt: skip
    sent = sampling.settings(PLAIN)
    assert sent == GREEDY
    assert sent.keys() == read_by_vllm
    assert (sent["temperature"], sent["repetition_penalty"]) == (0.0, 1.0)


def test_a_changed_default_asks_again() -> None:
    """What is sent is part of an arm's key, also where the experiment file does not name it."""
    with pytest.MonkeyPatch.context() as patch:
        before = PLAIN.key
        patch.setitem(NEUTRAL, "repetition_penalty", 1.1)
        assert PLAIN.key != before


def test_what_the_arm_sets_wins(tmp_path: Path) -> None:
    arm = replace(PLAIN, request=RequestSettings(temperature=0.7, top_k=5))
    assert sampling.settings(arm) == GREEDY | {"temperature": 0.7, "top_k": 5}
    arm = replace(arm, sampling="model", model=checkpoint(tmp_path))
    assert sampling.settings(arm) == NEUTRAL | {"temperature": 0.7, "top_p": 0.95, "top_k": 5}


def test_model_sends_what_the_checkpoint_recommends_and_nothing_else_of_it(tmp_path: Path) -> None:
    arm = replace(PLAIN, sampling="model", model=checkpoint(tmp_path))
    assert sampling.settings(arm) == NEUTRAL | {"temperature": 0.6, "top_p": 0.95, "top_k": 20}


def test_model_without_a_recommended_temperature_sends_1(tmp_path: Path) -> None:
    arm = replace(PLAIN, sampling="model", model=checkpoint(tmp_path, '{"top_k": null}'))
    assert sampling.settings(arm) == NEUTRAL


@pytest.mark.parametrize("model", ["org/name", None, "/none"])
def test_model_without_the_file_asks_for_numbers(model: str | None) -> None:
    arm = replace(PLAIN, sampling="model", model=model)
    with pytest.raises(ConfigError, match=r"generation_config.json.*write temperature, top_p and top_k under `request:`"):
        sampling.settings(arm)
    own = replace(arm, request=RequestSettings(temperature=0.6, top_p=0.9))
    assert sampling.settings(own) == NEUTRAL | {"temperature": 0.6, "top_p": 0.9}


@pytest.mark.parametrize("text", ["{", "[1]", "\xff"])
def test_a_broken_file_is_a_config_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "generation_config.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"generation_config.json"):
        sampling.settings(replace(PLAIN, sampling="model", model=str(tmp_path)))


def test_template_settings_and_extra_fields_are_sent() -> None:
    request = RequestSettings(
        reasoning_effort="low",
        chat_template_kwargs={"enable_thinking": False},
        extra_body={"thinking_token_budget": 9, "temperature": 0.1},
    )
    assert sampling.settings(replace(PLAIN, request=request)) == GREEDY | {
        "temperature": 0.1,
        "thinking_token_budget": 9,
        "chat_template_kwargs": {"enable_thinking": False},
        "reasoning_effort": "low",
    }


def test_what_is_not_a_sampling_field_is_not_sent() -> None:
    assert sampling.settings(replace(PLAIN, request=RequestSettings(max_tokens=5, timeout_s=1.0))) == GREEDY


def test_a_seed_belongs_to_a_sample_and_a_round() -> None:
    seeds = {(s, r): sampling.seed(s, r) for s in ("test-1", "test-11", "test-2") for r in (0, 1, 11)}
    assert len(set(seeds.values())) == 9
    assert all(0 <= seed < 2**31 for seed in seeds.values())
    assert sampling.seed("test-1", 0) == 1879470434  # stored answers depend on it
