"""How a thinking effort reaches a model: what is sent, what is refused, what must differ if it works."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_experiment import ARM
from test_plan import GREEDY, GSM8K

from evals import efforts, plan, sampling
from evals.errors import ConfigError
from evals.experiment import (
    NEUTRAL,
    Arm,
    CommandEngine,
    DockerEngine,
    Effort,
    Engine,
    RequestSettings,
    TaskConfig,
    UrlEngine,
    VenvEngine,
)
from tasks.needle import Grid

QWEN3 = "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}"
QWEN38 = (
    "{%- if enable_thinking is true and reasoning_effort not in ('xhigh', 'medium', 'low') %}{{- raise_exception('') }}"
    "{%- endif %}"
)
DEEPSEEK = "{% if not thinking is defined %}{% set thinking = false %}{% endif %}"
GPT_OSS = '{{- "Reasoning: " + reasoning_effort }}'
PLAIN = "{%- for message in messages %}enable_thinking {{ message.thinking + ' reasoning_effort' }}{% endfor %}"


def venv(version: str) -> VenvEngine:
    return VenvEngine(package="vllm", version=version)


def arm(effort: Effort | None = None, engine: Engine | None = None, **over: Any) -> Arm:
    plain = replace(ARM, args={}, request=RequestSettings(temperature=0.6), engine=engine or venv("0.29.0"))
    plain = replace(plain, **over)
    return plain if effort is None else replace(plain, thinking=efforts.thinking(plain, effort))


def model(folder: Path, template: str) -> str:
    (folder / "chat_template.jinja").write_text(template)
    return str(folder)


def sent(asked: Arm) -> dict[str, Any]:
    return {k: v for k, v in sampling.settings(asked).items() if k not in NEUTRAL}


BOTH_ON, BOTH_OFF = {"enable_thinking": True, "thinking": True}, {"enable_thinking": False, "thinking": False}
BY_VERSION: list[tuple[str, Effort, dict[str, Any]]] = [
    ("0.8.5", "off", {"chat_template_kwargs": BOTH_OFF}),
    ("0.10.2", "low", {"chat_template_kwargs": BOTH_ON, "reasoning_effort": "low"}),
    ("0.16.0", "high", {"chat_template_kwargs": BOTH_ON, "reasoning_effort": "high"}),
    ("0.20.0", "off", {"chat_template_kwargs": BOTH_OFF}),  # it takes `none`, hides the reasoning, and thinks on
    ("0.22.1", "off", {"chat_template_kwargs": BOTH_OFF, "reasoning_effort": "none"}),
    ("0.29.0", "off", {"chat_template_kwargs": BOTH_OFF, "reasoning_effort": "none"}),
    ("0.22.1", "xhigh", {"chat_template_kwargs": BOTH_ON, "reasoning_effort": "xhigh"}),
    ("0.33.0", "medium", {"chat_template_kwargs": BOTH_ON, "reasoning_effort": "medium"}),
    ("nightly", "xhigh", {"chat_template_kwargs": BOTH_ON, "reasoning_effort": "xhigh"}),
    ("nightly", "off", {"chat_template_kwargs": BOTH_OFF}),  # an old one would answer `none` with HTTP 400
]


@pytest.mark.parametrize(("version", "effort", "fields"), BY_VERSION)
def test_of_a_model_that_is_not_here_all_is_sent_that_the_version_takes(
    version: str, effort: Effort, fields: dict[str, Any]
) -> None:
    assert sent(arm(effort, venv(version))) == fields


@pytest.mark.parametrize(
    ("parser", "kwargs"),
    [("qwen3", {"enable_thinking": True}), ("granite", {"thinking": True}), ("mistral", None), ("deepseek_r1", BOTH_ON)],
)
def test_the_reasoning_parser_tells_the_templates_variable(parser: str, kwargs: dict[str, bool] | None) -> None:
    assert sent(arm("high", args={"reasoning-parser": parser})).get("chat_template_kwargs") == kwargs


BY_TEMPLATE: list[tuple[str, Effort, dict[str, Any]]] = [
    (QWEN3, "off", {"chat_template_kwargs": {"enable_thinking": False}}),
    (QWEN3, "high", {"chat_template_kwargs": {"enable_thinking": True}}),
    (QWEN38, "off", {"chat_template_kwargs": {"enable_thinking": False}}),
    (QWEN38, "xhigh", {"chat_template_kwargs": {"enable_thinking": True}, "reasoning_effort": "xhigh"}),
    (DEEPSEEK, "low", {"chat_template_kwargs": {"thinking": True}}),
    (GPT_OSS, "low", {"reasoning_effort": "low"}),
    (GPT_OSS, "off", {"reasoning_effort": "none"}),
]


@pytest.mark.parametrize(("template", "effort", "fields"), BY_TEMPLATE)
def test_what_a_models_own_template_names_is_sent_and_no_more(
    tmp_path: Path, template: str, effort: Effort, fields: dict[str, Any]
) -> None:
    assert sent(arm(effort, model=model(tmp_path, template))) == fields


@pytest.mark.parametrize("given", [QWEN3, [{"name": "default", "template": QWEN3}, {"name": "tool_use", "template": ""}]])
def test_an_older_models_template_stands_in_its_tokenizers_configuration(tmp_path: Path, given: object) -> None:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": given}))
    assert sent(arm("off", model=str(tmp_path))) == {"chat_template_kwargs": {"enable_thinking": False}}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"chat_template": 5}', "{}"])
def test_a_model_without_a_template_that_can_be_read_is_one_that_is_not_here(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokenizer_config.json").write_text(text)
    assert sent(arm("off", model=str(tmp_path)))["chat_template_kwargs"] == BOTH_OFF


def test_a_template_that_the_server_is_given_counts_and_not_the_models(tmp_path: Path) -> None:
    folder = model(tmp_path, PLAIN)
    (tmp_path / "other.jinja").write_text(DEEPSEEK)
    told = sent(arm("off", model=folder, args={"chat-template": str(tmp_path / "other.jinja")}))
    assert told == {"chat_template_kwargs": {"thinking": False}}


def test_a_containers_model_is_looked_at_where_its_volume_lies(tmp_path: Path) -> None:
    model(tmp_path, DEEPSEEK)
    docker = DockerEngine(
        image="vllm/vllm-openai:v0.29.0", gpus=None, ipc=None, shm_size=None, volumes=(f"{tmp_path}:/m",), entrypoint=()
    )
    assert sent(arm("off", docker, model="/m")) == {"chat_template_kwargs": {"thinking": False}}


@pytest.mark.parametrize(
    "engine",
    [
        UrlEngine(url="http://h", api_key_env=None),
        CommandEngine(command=("x",), url="http://h", version=None, api_key_env=None),
    ],
)
def test_of_a_server_whose_version_is_not_known_nothing_is_refused(engine: Engine) -> None:
    assert sent(arm("xhigh", engine, model=None))["reasoning_effort"] == "xhigh"


REFUSED: list[tuple[Effort, dict[str, Any], str]] = [
    ("low", {"engine": venv("0.8.5")}, "vLLM 0.8.5 does not take reasoning_effort: low yet (0.10.2 does), only: off; name"),
    ("xhigh", {"engine": venv("0.20.0")}, "(0.22.1 does), only: off, low, medium, high; name one of these, or a newer version"),
    ("off", {"model": "openai/gpt-oss-20b"}, "gpt-oss takes low, medium, high and not off; name one of these"),
    ("xhigh", {"args": {"reasoning-parser": "openai_gptoss"}}, "gpt-oss takes low, medium, high and not xhigh"),
    (
        "low",
        {"request": RequestSettings(chat_template_kwargs={"enable_thinking": False})},
        "low and request.chat_template_kwargs.enable_thinking say the opposite; take one of them out",
    ),
    ("off", {"request": RequestSettings(chat_template_kwargs={"thinking": True})}, "off and request.chat_template_kwargs"),
    ("low", {"request": RequestSettings(reasoning_effort="none")}, "low and request.reasoning_effort say the opposite"),
    ("off", {"request": RequestSettings(reasoning_effort="low")}, "off and request.reasoning_effort say the opposite"),
]


@pytest.mark.parametrize(("effort", "over", "said"), REFUSED)
def test_what_is_known_not_to_work_is_refused(effort: Effort, over: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        arm(effort, **over)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_template_with_no_switch_is_refused(tmp_path: Path) -> None:
    """Its text and its strings may speak of thinking all they want."""
    with pytest.raises(ConfigError, match="names none of enable_thinking, thinking and reasoning_effort"):
        arm("off", model=model(tmp_path, PLAIN))


def test_a_template_that_only_none_switches_off_needs_a_version_that_heeds_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none alone, and vLLM 0\.16\.0 does not heed it yet"):
        arm("off", venv("0.16.0"), model=model(tmp_path, GPT_OSS))


def test_a_level_that_a_model_is_known_to_reject_is_told(tmp_path: Path) -> None:
    told = arm("high", model="Qwen/Qwen3.8-27B-AWQ").thinking
    assert told is not None
    assert told.doubt == "Qwen3.8 takes off, low, medium, xhigh as it comes, and answers high with HTTP 500"
    (tmp_path / "Qwen3.8").mkdir()
    patched = arm("high", model=model(tmp_path / "Qwen3.8", QWEN38.replace("'low'", "'low', 'high'"))).thinking
    assert patched is not None
    assert patched.doubt == ""


def test_fields_of_ones_own_win() -> None:
    own = RequestSettings(temperature=0.6, reasoning_effort="max", chat_template_kwargs={"thinking": True, "low_effort": True})
    assert sent(arm("xhigh", request=own)) == {
        "reasoning_effort": "max",
        "chat_template_kwargs": {"enable_thinking": True, "thinking": True, "low_effort": True},
    }


NEEDLE = TaskConfig(
    name="needle", n=None, rounds=1, concurrency=1, data_dir=None, fewshot=None, max_tokens=256, seed=0,
    grid=Grid(lengths=(100_000,), boundaries=(), depths=(50,), languages=("en",), repeats=1, needles=1, distractors=0),
)  # fmt: skip


@pytest.mark.parametrize(
    ("effort", "task", "context", "tokens"),
    [
        ("off", GSM8K, None, 1024),
        ("low", GSM8K, None, 1024 + 8192),
        ("xhigh", GSM8K, None, 1024 + 32_768),
        ("medium", GSM8K, "auto", 1024 + 16_384),
        ("medium", GSM8K, 65_536, 1024 + 16_384),
        ("medium", GSM8K, 8192, 4096),
        ("low", GSM8K, 1500, 1024),
        ("low", GREEDY, None, GREEDY.max_tokens),  # only compared
        ("low", NEEDLE, 131_072, 256 + 8192),
        ("xhigh", NEEDLE, 131_072, 31_072),
    ],
)
def test_thinking_has_room_as_far_as_the_context_goes(effort: Effort, task: TaskConfig, context: object, tokens: int) -> None:
    assert plan.answer_tokens(arm(effort, args={} if context is None else {"max-model-len": context}), task) == tokens


def contrasts(*arms: Arm) -> list[Effort | None]:
    return [a.thinking.contrast for a in efforts.with_contrasts(arms) if a.thinking]


def test_the_contrast_is_another_level_beside_it_else_on_or_off() -> None:
    assert contrasts(arm("off")) == ["low"]
    assert contrasts(arm("medium")) == ["off"]
    assert contrasts(arm("off"), arm("medium"), arm("xhigh")) == ["medium", "xhigh", "medium"]
    assert contrasts(arm("medium"), arm("high", engine=venv("0.25.0"))) == ["off", "off"]  # of another server
    assert contrasts(arm("low", model="openai/gpt-oss-20b")) == ["medium"]  # which is never off


def test_of_a_template_without_levels_the_contrast_is_on_and_off(tmp_path: Path) -> None:
    folder = model(tmp_path, QWEN3)
    assert contrasts(arm("off", model=folder), arm("high", model=folder)) == ["high", "off"]


@pytest.mark.parametrize("effort", efforts.EFFORTS)
def test_the_contrast_differs_in_the_effort_alone(effort: Effort) -> None:
    own = RequestSettings(temperature=0.6, top_k=5, chat_template_kwargs={"documents": []}, extra_body={"x": 1})
    (asked,) = efforts.with_contrasts((arm(effort, request=own),))
    other = efforts.contrast(asked)
    assert other is not None
    mine = sampling.settings(asked)
    assert other != mine
    effort_fields = {"chat_template_kwargs", "reasoning_effort"}
    assert {k: v for k, v in mine.items() if k not in effort_fields} == {
        k: v for k, v in other.items() if k not in effort_fields
    }
    assert other["chat_template_kwargs"] == {**(BOTH_ON if effort == "off" else BOTH_OFF), "documents": []}
    assert other["reasoning_effort"] == ("low" if effort == "off" else "none")


def test_the_contrast_overrides_fields_of_ones_own() -> None:
    own = RequestSettings(temperature=0.6, reasoning_effort="max", extra_body={"reasoning_effort": "max"})
    (asked,) = efforts.with_contrasts((arm("xhigh", request=own),))
    assert (efforts.contrast(asked) or {})["reasoning_effort"] == "none"


def test_an_arm_that_names_no_effort_has_no_contrast() -> None:
    assert efforts.contrast(arm()) is None


def test_a_rejected_effort_is_told_with_the_levels_that_work() -> None:
    """QwenLM/Qwen3.8 issue 217."""
    message = "HTTP 500: template raised: unsupported reasoning effort 'high'"
    assert efforts.failure(arm("high", model="Qwen/Qwen3.8-27B"), message) == (
        f"unsupported_effort: the model does not take high ({message}); levels known to work here: off, low, medium, xhigh"
    )
    own = "HTTP 500: Unexpected reasoning effort high. Supported types are xhigh (default), medium, and low."
    assert str(efforts.failure(arm("high"), own)).endswith("levels known to work here: low, medium, xhigh")
    unknown = efforts.failure(arm("high"), message)
    assert str(unknown).endswith("levels known to work here: not known; try another, or `thinking: off`")
    by_hand = arm(request=RequestSettings(reasoning_effort="high"))
    assert str(efforts.failure(by_hand, message)).startswith("unsupported_effort: the model does not take high")


@pytest.mark.parametrize(
    "message",
    [
        "HTTP 500: CUDA out of memory",
        "HTTP 404: unsupported reasoning effort",
        "HTTP 400: thinking_token_budget is set but reasoning_config is not configured",
        "no answer in 60 s",
    ],
)
def test_another_failure_says_nothing_of_the_effort(message: str) -> None:
    assert efforts.failure(arm("high"), message) is None


def test_a_rejection_of_an_arm_without_an_effort_is_another_failure() -> None:
    assert efforts.failure(arm(), "HTTP 500: unsupported reasoning effort") is None


ASKED: list[tuple[dict[str, Any], str]] = [
    ({"effort": "off", "request": RequestSettings()}, "thinking off, greedy"),
    ({"effort": "medium"}, "thinking medium, sampled at temperature 0.6"),
    ({"request": RequestSettings()}, "thinking as its template has it, greedy"),
    ({"request": RequestSettings(chat_template_kwargs={"enable_thinking": False})}, "thinking off, greedy"),
    ({"request": RequestSettings(chat_template_kwargs={"thinking": True})}, "thinking on, greedy"),
    ({"request": RequestSettings(reasoning_effort="low")}, "thinking low, greedy"),
    ({"request": RequestSettings(reasoning_effort="none")}, "thinking off, greedy"),
    ({"request": RequestSettings(), "args": {"default-chat-template-kwargs": {"thinking": False}}}, "thinking off, greedy"),
]


@pytest.mark.parametrize(("over", "words"), ASKED)
def test_under_what_an_arm_is_asked_in_words(over: dict[str, Any], words: str) -> None:
    assert efforts.asked(arm(**over)) == words
