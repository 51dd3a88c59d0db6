"""Request fields, response fields and metrics by vLLM version, as its wheels have them: the neighbour of flags.py. Pure."""

from collections.abc import Mapping
from typing import Any

from packaging.version import Version

from evals.document import did_you_mean
from evals.flags import FlagIssue
from evals.vocabulary import Span, has, parsed, vocabulary

_ANY = Span(first=None, last=None)


INSTEAD = {
    "reasoning_effort": "chat_template_kwargs: {enable_thinking: …}",
    "thinking_token_budget": "max_tokens",
    "structured_outputs": "guided_json (or guided_regex, guided_choice, guided_grammar)",
    "guided_json": "structured_outputs: {json: …}",
    "guided_regex": "structured_outputs: {regex: …}",
    "guided_choice": "structured_outputs: {choice: …}",
    "guided_grammar": "structured_outputs: {grammar: …}",
    "guided_whitespace_pattern": "structured_outputs: {whitespace_pattern: …}",
    "structural_tag": "structured_outputs: {structural_tag: …}",
}
"""Of request fields: what to write where a version lacks one."""

NO_EFFORT = Span(first="0.22.1", last=None)
"""Where `reasoning_effort: none` switches thinking off; 0.20 takes it and thinks on."""

RESPONSE = {
    "choices.message.reasoning_content": Span(first=None, last="0.12.0"),
    "choices.message.reasoning": Span(first="0.12.0", last=None),
    "choices.token_ids": Span(first="0.10.2", last=None),
    "prompt_token_ids": Span(first="0.10.2", last=None),
    "system_fingerprint": Span(first="0.25.0", last=None),
    "usage.prompt_tokens_details.cached_tokens": _ANY,
    "usage.completion_tokens_details.reasoning_tokens": Span(first="0.29.0", last=None),
    "metrics.speculative_decoding": Span(first="0.29.0", last=None),
}
"""By path, of a chat completion."""

THINKING_VARIABLES = ("enable_thinking", "thinking")
"""The variables by which chat templates switch thinking."""

REASONING = ("reasoning", "reasoning_content")
"""Of a message, what the chain of thought is called, the newest name first: 0.12 sends both."""

METRICS: dict[str, dict[str, Span]] = {
    "generation_tokens": {"generation_tokens": _ANY},
    "prompt_tokens": {"prompt_tokens": _ANY},
    "prefix_cache_queries": {
        "prefix_cache_queries": Span(first="0.10.2", last=None),
        "gpu_prefix_cache_queries": Span(first=None, last="0.10.2"),
    },
    "prefix_cache_hits": {
        "prefix_cache_hits": Span(first="0.10.2", last=None),
        "gpu_prefix_cache_hits": Span(first=None, last="0.10.2"),
    },
    "spec_decode_num_drafts": {"spec_decode_num_drafts": Span(first="0.10.2", last=None)},
    "spec_decode_num_draft_tokens": {"spec_decode_num_draft_tokens": Span(first="0.10.2", last=None)},
    "spec_decode_num_accepted_tokens": {"spec_decode_num_accepted_tokens": Span(first="0.10.2", last=None)},
    "spec_decode_num_accepted_tokens_per_pos": {"spec_decode_num_accepted_tokens_per_pos": Span(first="0.10.2", last=None)},
    "acceptance_gauge": {"spec_decode_draft_acceptance_rate": Span(first=None, last="0.8.5")},
    "kv_cache_usage": {
        "kv_cache_usage_perc": Span(first="0.10.2", last=None),
        "gpu_cache_usage_perc": Span(first=None, last="0.10.2"),
    },
    "time_per_output_token": {
        "request_time_per_output_token_seconds": Span(first="0.12.0", last=None),
        "time_per_output_token_seconds": Span(first=None, last="0.12.0"),
    },
}
"""By what it tells: its names without `vllm:` and `_total`, the newest first. Where a version has two, they say the same."""


def check(version: str | None, sent: Mapping[str, Any]) -> tuple[FlagIssue, ...]:
    """What of a request's body a version drops: it answers 200 and tells nobody."""
    at = parsed(version)
    return tuple(issue for name, value in sent.items() if (issue := _issue(name, value, at)))


def _issue(name: str, value: Any, at: Version | None) -> FlagIssue | None:
    known = vocabulary().fields
    if name not in known:
        return _warning(
            name, f"bumpgate knows no request field {name}, and vLLM drops what it does not know{did_you_mean(name, known)}"
        )
    if at is None:
        return None
    there = has(known[name], at)
    if there is False:
        span = known[name]
        when = f"{span.last} still took it" if span.last and at > Version(span.last) else f"{span.first} takes it"
        place = f"write `{INSTEAD[name]}` in its place" if name in INSTEAD else "remove it"
        said = f"vLLM {at} drops {name} without a word ({when}); {place}"
        return FlagIssue(name=name, about="field", severity="refused", message=said)
    if there is None:
        return _warning(name, f"vLLM {at} may drop {name}, which came or went between the versions that bumpgate knows")
    if (name, value) == ("reasoning_effort", "none") and not has(NO_EFFORT, at):
        said = f"vLLM {at} does not switch thinking off for `reasoning_effort: none` ({NO_EFFORT.first} does)"
        place = "write `chat_template_kwargs: {enable_thinking: false}` in its place"
        return FlagIssue(name=name, about="field", severity="refused", message=f"{said}; {place}")
    return None


def _warning(name: str, message: str) -> FlagIssue:
    return FlagIssue(name=name, about="field", severity="warning", message=message)


def asked_to_think(version: str | None, sent: Mapping[str, Any], defaults: Mapping[str, Any]) -> bool | None:
    """Whether a request switches thinking on or off; None where it says neither, so that the model's default holds.

    `defaults`: of the server's --default-chat-template-kwargs.
    """
    told = {**defaults, **(sent.get("chat_template_kwargs") or {})}
    for name in THINKING_VARIABLES:
        if isinstance(told.get(name), bool):
            return bool(told[name])
    effort, at = sent.get("reasoning_effort"), parsed(version)
    if effort == "none":
        return False if at and has(NO_EFFORT, at) else None
    return True if effort is not None or sent.get("thinking_token_budget") else None
