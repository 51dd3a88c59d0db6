"""Request fields, response fields and metrics by version."""

from typing import Any

import pytest
from packaging.version import Version

from evals import fields
from evals.fields import INSTEAD, METRICS, NO_EFFORT, RESPONSE
from evals.vocabulary import Span, has, vocabulary

VERSIONS = ("0.8.5", "0.10.2", "0.12.0", "0.16.0", "0.20.0", "0.25.0", "0.29.0", "0.33.0")


def there(span: Span) -> str:
    """y and - for each of VERSIONS."""
    return "".join("y" if has(span, Version(v)) else "-" for v in VERSIONS)


REQUEST = {
    "reasoning_effort": "-yyyyyyy",
    "thinking_token_budget": "----yyyy",
    "return_token_ids": "-yyyyyyy",
    "guided_json": "yy------",
    "guided_regex": "yy------",
    "guided_choice": "yy------",
    "guided_grammar": "yy------",
    "structured_outputs": "--yyyyyy",
    "chat_template_kwargs": "yyyyyyyy",
}


@pytest.mark.parametrize(("name", "versions"), REQUEST.items())
def test_which_version_takes_a_request_field(name: str, versions: str) -> None:
    assert there(vocabulary().fields[name]) == versions
    for version, taken in zip(VERSIONS, versions, strict=True):
        assert [i.severity for i in fields.check(version, {name: {}})] == ["refused"] * (taken == "-")


def test_an_effort_of_none_switches_thinking_off_from_0_25_on() -> None:
    assert there(NO_EFFORT) == "-----yyy"


@pytest.mark.parametrize(
    ("name", "versions"),
    [
        ("choices.message.reasoning_content", "yyy-----"),
        ("choices.message.reasoning", "--yyyyyy"),
        ("choices.token_ids", "-yyyyyyy"),
        ("system_fingerprint", "-----yyy"),
        ("usage.completion_tokens_details.reasoning_tokens", "------yy"),
        ("usage.prompt_tokens_details.cached_tokens", "yyyyyyyy"),
        ("metrics.speculative_decoding", "------yy"),
    ],
)
def test_which_version_sends_a_response_field(name: str, versions: str) -> None:
    assert there(RESPONSE[name]) == versions


@pytest.mark.parametrize(
    ("tells", "name", "versions"),
    [
        ("kv_cache_usage", "gpu_cache_usage_perc", "yy------"),
        ("kv_cache_usage", "kv_cache_usage_perc", "-yyyyyyy"),
        ("time_per_output_token", "time_per_output_token_seconds", "yyy-----"),
        ("time_per_output_token", "request_time_per_output_token_seconds", "--yyyyyy"),
        ("prefix_cache_hits", "gpu_prefix_cache_hits", "yy------"),
        ("prefix_cache_hits", "prefix_cache_hits", "-yyyyyyy"),
        ("acceptance_gauge", "spec_decode_draft_acceptance_rate", "y-------"),
        ("spec_decode_num_drafts", "spec_decode_num_drafts", "-yyyyyyy"),
        ("spec_decode_num_draft_tokens", "spec_decode_num_draft_tokens", "-yyyyyyy"),
        ("spec_decode_num_accepted_tokens", "spec_decode_num_accepted_tokens", "-yyyyyyy"),
        ("spec_decode_num_accepted_tokens_per_pos", "spec_decode_num_accepted_tokens_per_pos", "-yyyyyyy"),
    ],
)
def test_which_version_counts_by_which_name(tells: str, name: str, versions: str) -> None:
    assert there(METRICS[tells][name]) == versions


def test_every_span_is_of_versions_that_were_read() -> None:
    spans = [NO_EFFORT, *RESPONSE.values(), *(span for names in METRICS.values() for span in names.values())]
    assert {v for s in spans for v in (s.first, s.last) if v} <= set(vocabulary().versions)
    assert INSTEAD.keys() <= vocabulary().fields.keys()


@pytest.mark.parametrize(
    ("version", "sent", "said"),
    [
        (
            "0.12.0",
            {"guided_json": {}},
            "vLLM 0.12.0 drops guided_json without a word (0.10.2 still took it); "
            "write `structured_outputs: {json: …}` in its place",
        ),
        (
            "0.10.2",
            {"structured_outputs": {}},
            "vLLM 0.10.2 drops structured_outputs without a word (0.12.0 takes it); "
            "write `guided_json (or guided_regex, guided_choice, guided_grammar)` in its place",
        ),
        (
            "0.16.0",
            {"thinking_token_budget": 9},
            "vLLM 0.16.0 drops thinking_token_budget without a word (0.20.0 takes it); write `max_tokens` in its place",
        ),
        (
            "0.20.0",
            {"reasoning_effort": "none"},
            "vLLM 0.20.0 does not switch thinking off for `reasoning_effort: none` (0.22.1 does); "
            "write `chat_template_kwargs: {enable_thinking: false}` in its place",
        ),
        (
            "0.29.0",
            {"thinking_token_buget": 9},
            "bumpgate knows no request field thinking_token_buget, and vLLM drops what it does not know; "
            "did you mean 'thinking_token_budget'?",
        ),
        (
            "0.18.0",
            {"thinking_token_budget": 9},
            "vLLM 0.18.0 may drop thinking_token_budget, which came or went between the versions that bumpgate knows",
        ),
    ],
)
def test_what_a_version_drops_is_said_with_what_to_write(version: str, sent: dict[str, Any], said: str) -> None:
    assert [issue.message for issue in fields.check(version, sent)] == [said]


@pytest.mark.parametrize(
    ("version", "sent"),
    [
        ("0.20.0", {"reasoning_effort": "low"}),
        ("0.25.0", {"reasoning_effort": "none"}),
        ("nightly", {"guided_json": {}}),
        (None, {"structured_outputs": {}}),
    ],
)
def test_what_a_version_takes_or_nobody_knows_is_no_issue(version: str | None, sent: dict[str, Any]) -> None:
    assert fields.check(version, sent) == ()


@pytest.mark.parametrize(
    ("version", "sent", "thinks"),
    [
        ("0.29.0", {}, None),
        ("0.29.0", {"chat_template_kwargs": {"enable_thinking": False}}, False),
        ("0.29.0", {"chat_template_kwargs": {"enable_thinking": True}}, True),
        ("0.29.0", {"chat_template_kwargs": {"thinking": True}}, True),
        ("0.29.0", {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "high"}, False),
        ("0.29.0", {"reasoning_effort": "none"}, False),
        ("0.20.0", {"reasoning_effort": "none"}, None),
        (None, {"reasoning_effort": "none"}, None),
        ("0.20.0", {"reasoning_effort": "low"}, True),
        ("0.29.0", {"thinking_token_budget": 100}, True),
    ],
)
def test_whether_a_request_asks_for_thinking(version: str | None, sent: dict[str, Any], thinks: bool | None) -> None:
    assert fields.asked_to_think(version, sent, {}) is thinks


def test_the_servers_defaults_say_it_where_the_request_does_not() -> None:
    defaults = {"enable_thinking": False}
    assert fields.asked_to_think("0.29.0", {}, defaults) is False
    assert fields.asked_to_think("0.29.0", {"chat_template_kwargs": {"enable_thinking": True}}, defaults) is True
