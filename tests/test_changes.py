"""In which kinds two arms differ, and which gates could see nothing of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_experiment import ARM
from test_plan import GSM8K, experiment

from evals import config
from evals.changes import blind_gate, changes, unseen
from evals.errors import ConfigError
from evals.experiment import RequestSettings, Thinking, VenvEngine
from evals.judged import GateSpec
from tasks import TASKS
from tasks.base import TaskInfo

BLIND = frozenset({"speculation", "prefix_cache", "thinking", "parsers", "sampling"})
"""What a task by log-likelihood is blind to."""
SPECULATIVE = {"method": "mtp", "num_speculative_tokens": 1}

CHANGES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "speculation": ({"args": {"dtype": "half", "speculative-config": SPECULATIVE}}, {"speculation"}),
    "prefix cache off": ({"args": {"dtype": "half", "enable-prefix-caching": False}}, {"prefix_cache"}),
    "prefix cache off, by its own flag": ({"args": {"dtype": "half", "no-enable-prefix-caching": True}}, {"prefix_cache"}),
    "effort": ({"request": RequestSettings(temperature=0.5, reasoning_effort="low")}, {"thinking"}),
    "thinking": ({"request": RequestSettings(temperature=0.5, chat_template_kwargs={"enable_thinking": False})}, {"thinking"}),
    "a declared effort": (
        {"thinking": Thinking(effort="low", switches=("enable_thinking",), levels=True, none=False, tokens=8192)}, {"thinking"},
    ),
    "budget": ({"request": RequestSettings(temperature=0.5, extra_body={"thinking_token_budget": 9})}, {"thinking"}),
    "default thinking": ({"args": {"dtype": "half", "default-chat-template-kwargs": {"enable_thinking": False}}}, {"thinking"}),
    "reasoning parser": ({"args": {"dtype": "half", "reasoning-parser": "qwen3"}}, {"parsers"}),
    "tool parser": (
        {"args": {"dtype": "half", "tool-call-parser": "hermes", "enable-auto-tool-choice": True}}, {"parsers"},
    ),
    "temperature": ({"request": RequestSettings(temperature=0.6)}, {"sampling"}),
    "sampling": ({"sampling": "model"}, {"sampling"}),
    "effort and sampling": (
        {"sampling": "model", "request": RequestSettings(temperature=0.5, reasoning_effort="low")}, {"thinking", "sampling"},
    ),
    "version": ({"engine": VenvEngine(package="vllm", version="0.25.0")}, {"other"}),
    "model": ({"model": "org/awq"}, {"other"}),
    "weights": ({"model_files": "[('w', 1, 2)]"}, {"other"}),
    "env": ({"env": {"X": "2"}}, {"other"}),
    "another flag": ({"args": {"dtype": "bfloat16"}}, {"other"}),
    "a flag taken away": ({"args": {}}, {"other"}),
    "an unknown field": ({"request": RequestSettings(temperature=0.5, extra_body={"ignore_eos": True})}, {"other"}),
    "speculation and version": (
        {"args": {"dtype": "half", "speculative-config": SPECULATIVE}, "engine": VenvEngine(package="vllm", version="0.25.0")},
        {"speculation", "other"},
    ),
    "nothing": ({}, set()),
    "place and patience": (
        {"devices": (1,), "start_timeout_s": 1.0, "request": RequestSettings(temperature=0.5, timeout_s=1.0)}, set(),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("over", "kinds"), CHANGES.values(), ids=CHANGES)
def test_every_difference_has_its_kind_in_either_direction(over: dict[str, Any], kinds: set[str]) -> None:
    other = replace(ARM, name="b", **over)
    assert changes(ARM, other) == changes(other, ARM) == kinds


@pytest.mark.parametrize(("over", "kinds"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_unseen_where_the_task_is_blind_to_all_of_it(over: dict[str, Any], kinds: set[str]) -> None:
    found = unseen(ARM, replace(ARM, name="b", **over), BLIND)
    assert found == (set() if "other" in kinds else kinds)
    assert not unseen(ARM, replace(ARM, name="b", **over), frozenset())


def test_two_spellings_of_one_speculation_are_no_change() -> None:
    arms = [replace(ARM, args={"speculative-config": SPECULATIVE | {"method": m}}) for m in ("mtp", "qwen3_next_mtp")]
    assert not changes(*arms)


@pytest.fixture
def likelihood(monkeypatch: pytest.MonkeyPatch) -> TaskInfo:
    """A task that generates nothing."""
    info = replace(TASKS["mmlu"], name="likelihood", blind_to=BLIND)
    monkeypatch.setitem(TASKS, info.name, info)
    return info


def test_a_gate_that_could_not_see_a_candidates_change_is_named_with_what_to_do(likelihood: TaskInfo) -> None:
    base = replace(ARM, name="base")
    mtp = replace(ARM, name="mtp", args=ARM.args | {"speculative-config": SPECULATIVE})
    awq = replace(ARM, name="awq", model="org/awq")
    blind = replace(GSM8K, name=likelihood.name)
    gates = (GateSpec(task="likelihood", margin=2.0),)
    said = blind_gate(replace(experiment(base, awq, mtp, tasks=(blind, GSM8K)), gates=gates))
    assert said == (
        "the gate on likelihood can't see what mtp changes (speculation), so that it would pass unseen; gate on gsm8k"
    )
    alone = blind_gate(replace(experiment(base, mtp, tasks=(blind,)), gates=gates))
    assert alone is not None
    assert alone.endswith("add a task that generates, such as gsm8k or mmlu, and gate on it")
    assert blind_gate(replace(experiment(base, awq, tasks=(blind,)), gates=gates)) is None
    assert (
        blind_gate(replace(experiment(base, replace(base, name="again", repeat_of="base"), tasks=(blind,)), gates=gates))
        is None
    )
    assert blind_gate(experiment(base, mtp, tasks=(blind, GSM8K))) is None  # asked, and gated by another


@pytest.mark.usefixtures("likelihood")
@pytest.mark.parametrize("gates", ["gates: [{task: likelihood, margin: 2}]\n", ""])
def test_an_experiment_with_such_a_gate_is_refused_in_one_line(tmp_path: Path, gates: str) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        "name: x\nbaseline: a\nmodel: org/m\narms:\n  a: {engine: {venv: vllm==0.29.0}}\n"
        "  b: {extends: a, request: {reasoning_effort: low}}\ntasks: [likelihood]\n" + gates
    )
    with pytest.raises(ConfigError, match=r"the gate on likelihood can't see what b changes \(thinking\)") as caught:
        config.load(file)
    assert "\n" not in str(caught.value)
    file.write_text(file.read_text().replace(gates, "") + "gates: []\n")
    assert config.load(file).candidates


def test_an_mtp_only_pair_under_log_likelihood_mmlu_is_refused_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        "name: x\nbaseline: plain\nmodel: org/m\narms:\n  plain: {engine: {venv: vllm==0.29.0}}\n"
        "  mtp: {extends: plain, args: {speculative-config: {method: mtp, num_speculative_tokens: 1}}}\n"
        "tasks: [mmlu_loglikelihood]\ngates: [{task: mmlu_loglikelihood, margin: 2}]\n"
    )
    with pytest.raises(ConfigError, match=r"the gate on mmlu_loglikelihood can't see what mtp changes \(speculation\)"):
        config.load(file)


def test_a_gate_is_blind_only_to_what_the_arms_that_it_judges_change(likelihood: TaskInfo) -> None:
    base, awq = replace(ARM, name="base"), replace(ARM, name="awq", model="org/awq")
    mtp = replace(ARM, name="mtp", args=ARM.args | {"speculative-config": SPECULATIVE})
    chosen = experiment(base, awq, mtp, tasks=(replace(GSM8K, name=likelihood.name), GSM8K))
    assert blind_gate(replace(chosen, gates=(GateSpec(task="likelihood", margin=2.0, arms=("awq",)),))) is None
