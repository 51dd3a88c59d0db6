"""The front-ends' check of every arm's flags: by the table, and by the installed version's own parser where there is one."""

import json
from pathlib import Path

import pytest
from stub_uv import stand_in
from test_config import BASE, arm_b, changed

from evals import arm_flags, config
from evals.arm_flags import Ask
from evals.engine import parser, venv
from evals.errors import ConfigError
from evals.experiment import VenvEngine

OLD_FLAG = "args: {dtype: half, max-model-len: 4096}"


def check(folder: Path, text: str, answer: parser.Options | str = parser.NOT_INSTALLED) -> tuple[str, ...]:
    path = folder / "x.yaml"
    path.write_text(text)
    ask: Ask = lambda engine: answer  # noqa: ARG005, E731
    return arm_flags.check(path, config.load(path), ask)


def refusal(folder: Path, text: str, answer: parser.Options | str = parser.NOT_INSTALLED) -> str:
    with pytest.raises(ConfigError) as caught:
        check(folder, text, answer)
    said = str(caught.value)
    assert "\n" not in said
    return said.removeprefix(f"{folder / 'x.yaml'}:")


def test_an_arm_whose_flag_its_version_lacks_is_refused_where_it_stands(tmp_path: Path) -> None:
    own = arm_b("engine: {venv: vllm==0.29.0}", "args: {calculate-kv-scales: true}")
    assert refusal(tmp_path, own).startswith("11: arms.b.args.calculate-kv-scales: vLLM 0.29.0 has no --calculate-kv-scales")
    inherited = changed("max-model-len: 4096", "calculate-kv-scales: true")
    assert refusal(tmp_path, inherited).startswith("7: arms.b.args.calculate-kv-scales: vLLM 0.29.0 has no")


def test_a_variable_is_refused_under_env(tmp_path: Path) -> None:
    text = arm_b("engine: {venv: vllm==0.29.0}", "args: {fail-on-environ-validation: true}", "env: {VLLM_USE_V1: 1}")
    assert refusal(tmp_path, text).startswith("12: arms.b.env.VLLM_USE_V1: vLLM 0.29.0 no longer reads VLLM_USE_V1")


@pytest.mark.parametrize(
    ("request_", "place", "said"),
    [
        ("{extra_body: {guided_json: {}}}", "extra_body.guided_json", "write `structured_outputs: {json: …}` in its place"),
        ("{reasoning_effort: none}", "reasoning_effort", "write `chat_template_kwargs: {enable_thinking: false}`"),
    ],
)
def test_a_request_field_that_a_version_drops_is_refused_where_it_stands(
    tmp_path: Path, request_: str, place: str, said: str
) -> None:
    found = refusal(tmp_path, arm_b("engine: {venv: vllm==0.20.0}", f"request: {request_}"))
    assert found.startswith(f"11: arms.b.request.{place}: vLLM 0.20.0 ")
    assert said in found


def test_a_request_field_of_the_arm_it_extends_is_refused_there(tmp_path: Path) -> None:
    own = changed("args: {dtype: half, max-model-len: 4096}", "request: {extra_body: {guided_json: {}}}")
    assert refusal(tmp_path, own.replace("vllm==0.25.0", "vllm==0.8.5")).startswith(
        "7: arms.b.request.extra_body.guided_json: "
    )


def test_a_misspelt_request_field_is_said_for_any_engine(tmp_path: Path) -> None:
    for engine in ("{url: 'http://h'}", "{docker: 'vllm/vllm-openai:nightly'}", "{venv: vllm==0.29.0}"):
        text = changed("args: {dtype: half, max-model-len: 4096}", "env: {}")
        text = text.replace("{venv: vllm==0.29.0}", f"{engine}\n    request: {{extra_body: {{thinking_token_buget: 9}}}}")
        assert any("b: bumpgate knows no request field thinking_token_buget" in line for line in check(tmp_path, text))


@pytest.mark.parametrize(
    ("engine", "refused"),
    [
        ("{docker: 'vllm/vllm-openai:v0.29.0'}", True),
        ("{docker: 'reg.local:5000/x/vllm:v0.29.0-cu129'}", True),
        ("{docker: 'vllm/vllm-openai:nightly'}", False),
        ("{docker: 'reg.local:5000/vllm'}", False),
        ("{docker: 'vllm/vllm-openai@sha256:abcd'}", False),
        ("{command: 'serve {port} {args}', version: 0.29.0}", True),
        ("{command: 'serve {port} {args}'}", False),
    ],
)
def test_the_version_of_each_engine(tmp_path: Path, engine: str, refused: bool) -> None:
    text = arm_b(f"engine: {engine}", "args: {calculate-kv-scales: true}")
    if refused:
        assert "has no --calculate-kv-scales" in refusal(tmp_path, text)
    else:
        assert any("its flags were not checked" in line for line in check(tmp_path, text))


def test_what_changes_between_baseline_and_candidate_is_told(tmp_path: Path) -> None:
    (line,) = check(tmp_path, BASE)
    assert line.startswith("b: from vLLM 0.25.0 to 0.29.0: model runner V2 serves every model")
    assert check(tmp_path, BASE.replace("0.29.0", "0.27.1")) == ()


def test_arms_that_share_a_warning_share_a_line(tmp_path: Path) -> None:
    text = BASE.replace("0.29.0", "0.27.1").replace("dtype: half", "dtpye: half")
    assert check(tmp_path, text) == ("a, b: bumpgate knows no flag --dtpye; did you mean 'dtype'?",)


def test_an_installed_version_wins_over_the_table(tmp_path: Path) -> None:
    text = BASE.replace("0.29.0", "0.27.1").replace("dtype: half", "dtpye: half")
    assert check(tmp_path, text, parser.Options(options=("dtpye", "max-model-len"))) == ()
    said = refusal(tmp_path, text, parser.Options(options=("dtype", "max-model-len")))
    assert said == "7: arms.a.args.dtpye: the installed vllm 0.25.0 has no --dtpye; did you mean 'dtype'?"
    gone = changed("max-model-len: 4096", "calculate-kv-scales: true")
    assert len(check(tmp_path, gone, parser.Options(options=("dtype", "calculate-kv-scales", "max-model-len")))) == 1
    assert "has no --calculate-kv-scales" in refusal(tmp_path, gone, parser.Options(options=("dtype",)))


def test_an_environment_that_does_not_answer_leaves_it_to_the_table(tmp_path: Path) -> None:
    text = BASE.replace("0.29.0", "0.27.1").replace("dtype: half", "dtpye: half")
    said = check(tmp_path, text, "its environment does not answer (boom)")
    assert said[0].startswith("a, b: bumpgate knows no flag --dtpye")
    assert said[1] == (
        "a: venv vllm==0.25.0: its environment does not answer (boom); its flags were checked by bumpgate's table"
    )


def test_a_beginning_that_the_installed_version_takes_for_a_flag_is_accepted(tmp_path: Path) -> None:
    text = BASE.replace("0.29.0", "0.27.1").replace("dtype: half", "dtyp: half")
    assert check(tmp_path, text, parser.Options(options=("dtype", "max-model-len"))) == ()


def test_a_flag_that_only_the_installed_version_knows_to_be_gone_is_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, BASE, parser.Options(options=("max-model-len",)))
    assert said.startswith("7: arms.a.args.dtype: the installed vllm 0.25.0 has no --dtype")


@pytest.mark.parametrize("engine", ["docker: 'vllm/vllm-openai:v0.29.0'", "command: 'serve {args} -p {port}', version: 0.29.0"])
def test_only_what_bumpgate_installs_is_asked(tmp_path: Path, engine: str) -> None:
    def ask(engine: VenvEngine) -> parser.Options:
        raise AssertionError(engine)

    path = tmp_path / "x.yaml"
    path.write_text(BASE.replace("venv: vllm==0.25.0", engine).replace("venv: vllm==0.29.0}", engine + "}\n    env: {A: 1}"))
    assert arm_flags.check(path, config.load(path), ask) == ()


ENGINE = VenvEngine(package="vllm", version="0.29.0")


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> venv.Environment:
    stand_in(tmp_path, monkeypatch)
    return venv.build(ENGINE, lambda _: None)


def answering(environment: venv.Environment, script: str) -> None:
    """A python of the environment's own."""
    python = environment.root / "bin" / "python"
    python.unlink()
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)


def test_an_environment_that_is_not_there_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch)
    assert parser.ask(ENGINE) == parser.NOT_INSTALLED


def test_an_environment_is_asked_once(environment: venv.Environment) -> None:
    calls = environment.root / "calls"
    answering(
        environment, f"echo x >> {calls}; echo INFO a log line; echo; echo '{json.dumps({'options': ['dtype', 'seed']})}'"
    )
    for _ in range(3):
        assert parser.ask(ENGINE) == parser.Options(options=("dtype", "seed"))
    assert calls.read_text() == "x\n"


def test_an_answer_that_was_cut_off_is_asked_again(environment: venv.Environment) -> None:
    (environment.root / "bumpgate-flags.json").write_text('{"options": ["dt')
    answering(environment, "echo '{\"options\": []}'")
    assert parser.ask(ENGINE) == parser.Options(options=())


def test_an_environment_that_is_broken_says_why(environment: venv.Environment) -> None:
    answering(environment, "echo 'ImportError: no libtorch' >&2; exit 1")
    assert parser.ask(ENGINE) == "its environment does not answer (ImportError: no libtorch)"
    (environment.root / "bin" / "python").unlink()
    assert parser.ask(ENGINE) == "its environment does not answer (FileNotFoundError)"


def test_the_stub_environment_has_no_vllm_to_ask(environment: venv.Environment) -> None:
    assert environment.version == "0.29.0"
    assert parser.ask(ENGINE) == "its environment does not answer (no make_arg_parser)"


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("venv: vllm==0.29.0", "0.29.0"),
        ("docker: 'vllm/vllm-openai:v0.29.0-cu129'", "0.29.0"),
        ("docker: 'docker.io/vllm/vllm-openai:v0.29.0rc1'", "0.29.0rc1"),
        ("docker: 'mine/vllm:v2'", None),
        ("docker: 'vllm/vllm-openai:nightly'", None),
        ("command: 'serve {model} {args} {port}', version: 0.27.1", "0.27.1"),
        ("command: 'serve {model} {args} {port}'", None),
    ],
)
def test_what_an_arm_promises_to_run(tmp_path: Path, engine: str, said: str | None) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(BASE.replace("{venv: vllm==0.29.0}", f"{{{engine}}}"))
    assert arm_flags.declared(config.load(path).arm("b")) == said
