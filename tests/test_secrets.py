import pytest

from evals.engine.secrets import masked_argv, masked_env


@pytest.mark.parametrize(
    "name", ["VLLM_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "db_password", "OPENAI_APIKEY"]
)
def test_the_value_of_a_secret_variable_is_masked(name: str) -> None:
    assert masked_env({name: "sk-123", "VLLM_NO_USAGE_STATS": "1"}) == {name: "***", "VLLM_NO_USAGE_STATS": "1"}


@pytest.mark.parametrize(
    "name", ["CUDA_VISIBLE_DEVICES", "VLLM_CACHE_ROOT", "VLLM_MAX_TOKENS", "TOKENIZERS_PARALLELISM", "SSL_KEYFILE"]
)
def test_other_variables_stay_as_they_are(name: str) -> None:
    assert masked_env({name: "0,1"}) == {name: "0,1"}


def test_every_value_of_a_secret_flag_is_masked_and_what_follows_is_not() -> None:
    argv = ["vllm", "serve", "m", "--api-key", "sk-1", "sk-2", "--port", "8000", "--hf-token", "hf_x"]
    assert masked_argv(argv) == ("vllm", "serve", "m", "--api-key", "***", "***", "--port", "8000", "--hf-token", "***")


def test_a_value_behind_an_equals_sign_is_masked_too() -> None:
    assert masked_argv(["--api-key=sk-1", "--port=8000", "x"]) == ("--api-key=***", "--port=8000", "x")


@pytest.mark.parametrize("flag", ["--max-num-batched-tokens", "--tokenizer", "--max-model-len", "--ssl-keyfile"])
def test_settings_that_only_sound_like_secrets_are_kept(flag: str) -> None:
    assert masked_argv([flag, "8192"]) == (flag, "8192")


@pytest.mark.parametrize("name", ["DB_PASS", "MY_PSK", "VLLM_API_KEY_PROD", "HF_TOKEN_READ", "SESSION_COOKIE", "TOKENS"])
def test_names_that_say_more_than_that_it_is_a_secret(name: str) -> None:
    assert masked_env({name: "x"}) == {name: "***"}
