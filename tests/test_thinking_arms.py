"""`thinking:` in a file: one arm for each effort on one server, what comes with it, and every way to write it wrong."""

from pathlib import Path

import pytest
from test_config import complaint, read

from evals import arm_flags, efforts, plan
from evals.errors import ConfigError
from evals.experiment import Arm, Experiment

FILE = """\
name: think
baseline: a-off
model: Qwen/Qwen3.8-27B
arms:
  a:
    engine: {{venv: vllm==0.29.0}}
    args: {{max-model-len: 65536}}
    request: {{temperature: 1.0}}
    thinking: {efforts}
{more}tasks:
  - {{task: gsm8k, n: 200}}
  - greedy
"""


def file(efforts: str = "[off, low, xhigh]", *more: str) -> str:
    return FILE.format(efforts=efforts, more="".join(f"  {line}\n" for line in more))


def one(effort: str) -> str:
    return file(effort).replace("baseline: a-off", "baseline: a")


def named(found: Experiment) -> dict[str, str | None]:
    return {arm.name: arm.thinking.effort if arm.thinking else None for arm in found.arms}


def settings(arm: Arm) -> tuple[str, float]:
    return arm.sampling, arm.request.timeout_s


def test_several_efforts_make_an_arm_each_on_one_server(tmp_path: Path) -> None:
    found = read(tmp_path, file())
    assert named(found) == {"a-off": "off", "a-low": "low", "a-xhigh": "xhigh"}
    assert len({arm.server_key for arm in found.arms}) == 1
    assert len({arm.key for arm in found.arms}) == 3
    assert [arm.name for arm in found.candidates] == ["a-low", "a-xhigh"]
    assert [[arm.name for arm in launch.arms] for launch in plan.launches(found)] == [["a-off", "a-low", "a-xhigh"], ["a-off"]]
    assert [arm.thinking.contrast for arm in found.arms if arm.thinking] == ["low", "xhigh", "low"]


@pytest.mark.parametrize("word", ["off", "'off'", "none", "false", "Off", "OFF", "no # means nothing"])
def test_one_effort_leaves_the_name(tmp_path: Path, word: str) -> None:
    text = one(word)
    if word.startswith("no "):
        assert "there is no effort 'no'" in complaint(tmp_path, text)
    else:
        assert named(read(tmp_path, text)) == {"a": "off"}


def test_a_list_of_one_is_named_after_it(tmp_path: Path) -> None:
    assert named(read(tmp_path, file("[none]"))) == {"a-off": "off"}


def test_efforts_are_inherited_replaced_and_taken_away(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        file(
            "[off, low]",
            "b: {extends: a, engine: {venv: vllm==0.30.0}}",
            "c: {extends: a, engine: {venv: vllm==0.30.0}, thinking: high}",
            "d: {extends: a, engine: {venv: vllm==0.30.0}, thinking: null}",
            "e: {extends: a-low, engine: {venv: vllm==0.31.0}}",
        ),
    )
    expected = {"a-off": "off", "a-low": "low", "b-off": "off", "b-low": "low", "c": "high", "d": None, "e": "low"}
    assert named(found) == expected


def test_a_repeat_of_one_effort_and_of_all(tmp_path: Path) -> None:
    found = read(tmp_path, file("[off, low]", "again: {repeat_of: a-low}", "all: {repeat_of: a}"))
    assert {arm.name: arm.repeat_of for arm in found.arms if arm.repeat_of} == {
        "again": "a-low", "all-off": "a-off", "all-low": "a-low",
    }  # fmt: skip
    assert found.arm("again").settings == found.arm("a-low").settings
    assert found.arm("again").server_key != found.arm("a-low").server_key


def test_what_thinks_is_sampled_in_two_rounds_with_room_and_time(tmp_path: Path) -> None:
    found = read(tmp_path, file("[off, low]"))
    gsm8k, greedy = found.tasks
    assert [settings(arm) for arm in found.arms] == [("greedy", 600.0), ("model", 3600.0)]
    assert (gsm8k.rounds, greedy.rounds) == (2, 1)
    assert [plan.answer_tokens(arm, gsm8k) for arm in found.arms] == [1024, 1024 + 8192]
    assert [plan.answer_tokens(arm, greedy) for arm in found.arms] == [256, 256]
    assert plan.notes(found) == (
        "a-low thinks (low): sampling model; gsm8k in 2 rounds of up to 9216 tokens an answer (`sampling`, a task's `rounds` "
        "and `request: {max_tokens: …}` say otherwise)",
    )


def test_the_longest_needle_leaves_room_for_another_efforts_template(tmp_path: Path) -> None:
    """`low` may add to the prompt that fits `off`, and what is one token too long is HTTP 400."""
    needles = "- {task: needle, lengths: [max], languages: [en], depths: [50]}"
    several, alone = (read(tmp_path, file(efforts).replace("- greedy", needles)) for efforts in ("[off, low]", "[off]"))
    lengths = [next(t for t in found.tasks if t.grid).grid.all_lengths() for found in (several, alone)]  # type: ignore[union-attr]
    assert lengths == [(65536 - 8192 - 512 - 64,), (65536 - 512,)]


@pytest.mark.parametrize(("old", "new"), [("n: 200", "n: 200, max_tokens: 65536"), ("temperature: 1.0", "max_tokens: 70000")])
def test_an_answer_that_leaves_no_prompt_room_is_refused(tmp_path: Path, old: str, new: str) -> None:
    said = complaint(tmp_path, file("[off]").replace(old, new))
    assert "tokens of an answer are not less than the 65536 of a-off, prompt included; lower max_tokens, or raise" in said


def test_what_the_file_says_itself_wins(tmp_path: Path) -> None:
    text = file("low", "b: {extends: a, thinking: medium}").replace("baseline: a-off", "baseline: b")
    text = text.replace("request: {", "sampling: greedy\n    request: {max_tokens: 500, timeout_s: 9, ")
    found = read(tmp_path, text.replace("n: 200", "n: 200, rounds: 1"))
    assert [settings(arm) for arm in found.arms] == [("greedy", 9.0)] * 2
    assert found.tasks[0].rounds == 1
    assert plan.answer_tokens(found.arms[0], found.tasks[0]) == 500


def test_without_thinking_nothing_changes(tmp_path: Path) -> None:
    found = read(tmp_path, one("off"))
    assert found.tasks[0].rounds == 1
    assert plan.notes(found) == ()


def test_versions_with_one_effort_were_declared_to_have_the_same_prompts(tmp_path: Path) -> None:
    """Though 0.16 is told by its template's switch alone, and 0.29 by `reasoning_effort` as well."""
    old = "b: {extends: a, engine: {venv: vllm==0.16.0}, args: {max-model-len: 32768}, thinking: %s}"
    found = read(tmp_path, file("[off, low]", old % "[off, low]"))
    assert found.arm("b-off").shapes_prompt_like(found.arm("a-off"))
    assert not found.arm("b-low").shapes_prompt_like(found.arm("a-off"))
    assert not found.arm("a-low").shapes_prompt_like(found.arm("a-off"))


def test_a_level_that_a_model_may_reject_is_a_warning_of_the_plan(tmp_path: Path) -> None:
    said = plan.warnings(read(tmp_path, file("[off, high]")))
    assert "a-high: Qwen3.8 takes off, low, medium, xhigh as it comes, and answers high with HTTP 500" in said


MISTAKES = {
    "unknown": (file("[off, midium]"), "9: arms.a.thinking.1: there is no effort 'midium'; did you mean 'medium'?; known: "),
    "one unknown": (one("hihg"), "9: arms.a.thinking: there is no effort 'hihg'; did you mean 'high'?"),
    "a models own": (one("max"), "known: off, low, medium, high, xhigh; another of the model's own goes under `request: {rea"),
    "on": (one("on"), "9: arms.a.thinking: 'on' does not say how much; write one of: low, medium, high, xhigh"),
    "a number": (one("5"), "9: arms.a.thinking: there is no effort '5'"),
    "none at all": (file("[]"), "9: arms.a.thinking: name at least one of: off, low, medium, high, xhigh"),
    "twice": (file("[off, none]"), "9: arms.a.thinking.1: off is given twice; keep one"),
    "a mapping": (file("{effort: low}"), "9: arms.a.thinking: should be a valid string"),
    "lists in a list": (file("[[off]]"), "9: arms.a.thinking: should be a valid string"),
    "the baseline has several": (
        file().replace("baseline: a-off", "baseline: a"),
        "2: baseline: 'a' is an arm for each of its efforts; name one: a-off, a-low, a-xhigh",
    ),
    "the baseline has another": (
        file().replace("baseline: a-off", "baseline: a-high"),
        "2: baseline: there is no arm 'a-high'; did you mean 'a-xhigh'?",
    ),
    "extends another": (
        file("[off, low]", "b: {extends: a-high}"),
        "10: arms.b.extends: there is no arm 'a-high'; a is: a-off, a-low",
    ),
    "extends itself": (file("[off, low]", "b: {extends: b-low}"), "10: arms.b: extends in a circle: b → b; break it"),
    "a name that is taken": (
        file("[off, low]", "a-low: {extends: a, thinking: xhigh}"),
        "9: arms.a.thinking: makes an arm a-low, and there is one already; rename one",
    ),
    "a version without it": (
        file().replace("0.29.0", "0.16.0"),
        "9: arms.a-xhigh.thinking: vLLM 0.16.0 does not take reasoning_effort: xhigh yet (0.22.1 does)",
    ),
    "no settings to sample with": (
        file().replace("    request: {temperature: 1.0}\n", ""),
        "arms.a-low.sampling: what thinks is sampled unless it says `sampling: greedy`, and `model` needs the checkpoint's",
    ),
    "the opposite": (
        file().replace("temperature: 1.0", "temperature: 1.0, chat_template_kwargs: {enable_thinking: false}"),
        "9: arms.a-low.thinking: low and request.chat_template_kwargs.enable_thinking say the opposite; take one of them out",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    assert said in complaint(tmp_path, text)


def test_levels_that_a_template_does_not_tell_apart_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_text("{% if enable_thinking %}{{ '<think>' }}{% endif %}")
    text = file("[off, low, high]").replace("Qwen/Qwen3.8-27B", "./")
    said = (
        "11: arms.a-high: is the same as 'a-low'; the model's chat template names no reasoning_effort, so that all efforts but"
    )
    assert said.partition(": ")[2] in complaint(tmp_path, text)


def test_a_flag_that_is_gone_is_told_at_its_own_line_also_of_an_arm_that_was_made(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    text = file("[off, low]", "b: {extends: a-low, engine: {venv: vllm==0.30.0}}")
    found = read(tmp_path, text.replace("max-model-len: 65536", "swap-space: 4"))
    with pytest.raises(ConfigError, match=r"x\.yaml:7: arms\.a-off\.args\.swap-space: vLLM 0\.29\.0 has no --swap-space"):
        arm_flags.check(path, found)


def test_efforts_are_named_in_their_order() -> None:
    assert efforts.EFFORTS == ("off", "low", "medium", "high", "xhigh")
