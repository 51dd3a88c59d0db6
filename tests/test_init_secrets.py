"""Where a key or a token stands in a paste: none of it reaches the file, the notes or an error."""

from pathlib import Path
from typing import Any

import pytest

from evals.errors import ConfigError
from evals.init import make, serve_command
from evals.init.serve_command import ServeCommand

SECRET = "hunter2Xq9zz"
IMAGE = "vllm/vllm-openai:v0.25.0"
SERVE = "vllm serve org/m"


def said(text: str | list[str]) -> str:
    """All that `bumpgate init` would write or print."""
    try:
        made = make.make(text, None, None, Path("/nowhere"))
    except ConfigError as e:
        return str(e)
    return "\n".join([made.text, *made.notes])


def read(text: str) -> ServeCommand:
    return serve_command.read(text, Path("/nowhere"))


USED_ELSEWHERE = [
    f"export HF_TOKEN=@@; MYVAR=$HF_TOKEN {SERVE}",
    f"export HF_TOKEN=@@\ndocker run -e FOO=$HF_TOKEN -v /x/$HF_TOKEN:/y {IMAGE} --model org/m",
    f"export TOKEN=@@; {SERVE} --served-model-name foo-$TOKEN",
    f"{SERVE} --api-key @@ --served-model-name foo-@@",
    f"# HF_TOKEN=@@\n{SERVE} --chat-template /x/@@",
    f"{SERVE} --served-model-name ${{TOKEN:-@@}}",
    "vllm serve ${TOKEN:-@@}",
]
URLS = [
    f"HF_ENDPOINT=https://@@@hub.corp {SERVE}",
    f"PROXY=http://u:pa/@@@proxy:8 {SERVE}",
    f"http_proxy=http://u:p@{SECRET}@proxy:8 {SERVE}",
    f"HTTP_PROXY=u:@@@proxy:8 {SERVE}",
    f"SLACK=https://hooks.slack.com/services/T00/B00/@@ {SERVE}",
]
INSIDE_A_VALUE = [
    f'docker run -e AZ="AccountName=x;AccountKey=@@==" {IMAGE} --model org/m',
    f'{SERVE} --chat-template "https://h/?sv=1&sig=@@"',
    f'{SERVE} --otlp-traces-endpoint "https://h/?key=@@"',
    f'OTEL_EXPORTER_OTLP_HEADERS="signoz-ingestion-key=@@" {SERVE}',
]
NAMED = [f"{name}=@@ {SERVE}" for name in (
    "DB_PASS", "MY_PSK", "TOKENS", "VLLM_API_KEY_PROD", "HF_TOKEN_READ", "COOKIE", "SESSION_COOKIE", "SENTRY_DSN",
)] + [
    f"""{SERVE} --hf-overrides '{{"auth_header": "@@", "x": {{"bearer": "@@"}}}}'""",
    f"""{SERVE} --kv-transfer-config '{{"a": {{"ak": "@@", "sk": "@@"}}}}'""",
]  # fmt: skip
STRAY = [
    f"{SERVE} --api-key\n@@",
    f"cat > .env <<EOF\n@@\nEOF\n{SERVE}",
    f"cat > .env <<-'EOF'\nX=@@\nEOF\n{SERVE}",
    f"cat <<EOF\n@@\n{SERVE}",
    f"docker run -e HF_TOKEN = @@ {IMAGE} --model org/m",
    f"docker run -e @@-x {IMAGE} --model org/m",
    f"docker run --security-opt @@ --annotation k=@@ --device @@ --mount @@ {IMAGE} --model org/m",
    "vllm serve --model org/m @@",
    f"{SERVE} @@",
    f"sudo -p @@ {SERVE}",
    f"sudo -p {SECRET.lower()} {SERVE}",
    f"{SERVE}; @@ x",
]
LIKE_A_FLAG = [
    f"{SERVE} {flag} {dashes}@@" for flag in ("--api-key", "--hf-token", "--my-token") for dashes in ("-", "--", "-q")
]
SUBSTITUTED = [
    f'{SERVE} --chat-template "$(echo @@ | base64)"',
    f"{SERVE} --chat-template $(echo ')' @@)",
    f"{SERVE} --chat-template '$(echo (x) @@)'",
    f"{SERVE} --chat-template `echo @@`",
    f'{SERVE} --chat-template "`echo @@`"',
    'vllm serve $(curl -H "X-Auth: @@" http://x)',
    'vllm serve "$(curl -H "X-Auth: @@" http://x)"',
]
IMAGES = ["docker run u:@@@registry.io/vllm:v0.25.0 --model org/m", "docker run u:p/@@@registry.io/vllm:v0.25.0 --model org/m"]


@pytest.mark.parametrize("text", [*USED_ELSEWHERE, *URLS, *INSIDE_A_VALUE, *NAMED, *STRAY, *LIKE_A_FLAG, *SUBSTITUTED, *IMAGES])
def test_a_secret_stays_in_the_paste(text: str) -> None:
    assert SECRET.lower() not in said(text.replace("@@", SECRET)).lower()


def test_words_that_a_shell_has_split_hold_none_either() -> None:
    assert SECRET not in said(["vllm", "serve", "org/m", "--chat-template", f"$(echo {SECRET})", "--api-key", f"-{SECRET}"])


def test_a_secret_that_is_used_elsewhere_is_a_reference_there() -> None:
    found = read(f"export HF_TOKEN={SECRET}\ndocker run -e FOO=$HF_TOKEN -v /x/{SECRET}:/y {IMAGE} --model org/m")
    assert found.env == {"FOO": "${HF_TOKEN}"}
    assert found.docker is not None
    assert found.docker.volumes == ("/x/${HF_TOKEN}:/y",)
    assert read(f"{SERVE} --api-key {SECRET} --served-model-name a-{SECRET}").args["served-model-name"] == "a-${VLLM_API_KEY}"


def test_an_image_is_kept_without_its_login() -> None:
    found = read(f"docker run u:{SECRET}@registry.io/vllm:v0.25.0 --model org/m").docker
    assert found is not None
    assert found.image == "registry.io/vllm:v0.25.0"
    digest = read(f"docker run registry.io:5000/vllm:v1@sha256:{'a' * 64} --model org/m").docker
    assert digest is not None
    assert digest.image.endswith("@sha256:" + "a" * 64)


def test_a_secret_flag_without_a_value_takes_no_flag_of_vllms() -> None:
    assert read(f"{SERVE} --hf-token --seed 1 -tp 2").args == {"hf-token": True, "seed": 1, "tensor-parallel-size": 2}
    assert read(f"{SERVE} --hf-token -tp2 --no-enable-prefix-caching").args.keys() > {"hf-token", "enable-prefix-caching"}
    assert read(f"{SERVE} --api-key -{SECRET} --seed 1").args == {"api-key": "${VLLM_API_KEY}", "seed": 1}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--max-num-batched-tokens 8192", {"max-num-batched-tokens": 8192}),
        ("--long-prefill-token-threshold 64", {"long-prefill-token-threshold": 64}),
        ("--tokenizer org/t --tokenizer-mode auto", {"tokenizer": "org/t", "tokenizer-mode": "auto"}),
        ("--tool-call-parser hermes", {"tool-call-parser": "hermes"}),
        ("--download-dir /data/keys/tokens", {"download-dir": "/data/keys/tokens"}),
        ("--otlp-traces-endpoint http://h:4317/v1", {"otlp-traces-endpoint": "http://h:4317/v1"}),
        ("--hf-overrides '{\"eos_token_id\": 5}'", {"hf-overrides": {"eos_token_id": 5}}),
        ("--api-key vllm --served-model-name vllm-m", {"api-key": "${VLLM_API_KEY}", "served-model-name": "vllm-m"}),
        ("--revision main@1", {"revision": "main@1"}),
        ("--chat-template s3://b/t@2.jinja", {"chat-template": "s3://b/t@2.jinja"}),
    ],
)
def test_ordinary_values_stay_readable(flags: str, expected: dict[str, Any]) -> None:
    assert read(f"{SERVE} {flags}").args == expected


def test_a_short_key_leaves_the_notes_readable() -> None:
    assert "no vLLM that bumpgate knows has --foo; it is kept as pasted" in read(f"{SERVE} --api-key a --foo").notes


@pytest.mark.parametrize("end", [" ^\r\n", "^\n", " `\r\n", " `\n"])
def test_the_continuations_of_windows(end: str) -> None:
    text = end.join(["docker run", f" -e HF_TOKEN={SECRET}", f" {IMAGE}", " --model org/m --seed", " 1"])
    found = read(text)
    assert (found.model, found.args, found.env) == ("org/m", {"seed": 1}, {"HF_TOKEN": "${HF_TOKEN}"})


@pytest.mark.parametrize("prompt", ["PS C:\\Users\\me> ", "C:\\>"])
def test_the_prompts_of_windows(prompt: str) -> None:
    assert read(f"{prompt}{SERVE} --seed 1").args == {"seed": 1}


@pytest.mark.parametrize(
    "text", ['command: ["--model", "org/m"]', '["--model", "org/m"]', "--model org/m", ["--model", "org/m"]]
)
def test_flags_alone_say_what_is_missing(text: str | list[str]) -> None:
    assert said(text) == "these are flags alone; add the image (`docker run IMAGE …`) or `vllm serve` before them"


def test_a_script_that_a_heredoc_writes_is_read() -> None:
    assert read(f"cat > run.sh <<'EOF'\n#!/bin/bash\n{SERVE} --seed 1\nEOF\nbash run.sh").args == {"seed": 1}


@pytest.mark.parametrize(
    ("second", "named"),
    [
        ("vllm serve org/n", ": org/n"),
        ("vllm serve --seed 1 --model org/n", ": org/n"),
        (f"docker run --gpus all {IMAGE} --model org/n", ": org/n"),
        ("vllm serve $MODEL", ""),
        (f"vllm serve {SECRET}", ""),
    ],
)
def test_a_second_server_is_named_as_one(second: str, named: str) -> None:
    assert f"the paste starts a second server, which was left out{named}" in read(f"{SERVE}\n{second}").notes
