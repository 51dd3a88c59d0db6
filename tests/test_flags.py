"""What a vLLM version lacks, what took its place, and what changed without being asked."""

from typing import Any

import pytest
from packaging.version import Version

from evals import flags
from evals.flag_table import DEFAULTS, GONE_ENV, GONE_FLAGS, METHODS
from evals.vocabulary import Span, has, parsed, vocabulary


def said(version: str | None, args: dict[str, Any] | None = None, **env: str) -> list[str]:
    return [f"{issue.severity}: {issue.message}" for issue in flags.check(version, args or {}, env)]


FACTS = [
    # flag, the newest version that has it, the oldest that does not
    ("enable-reasoning", "0.8.5", "0.10.2"),
    ("task", "0.10.2", "0.16.0"),
    ("disable-log-requests", "0.16.0", "0.20.0"),
    ("swap-space", "0.16.0", "0.20.0"),
    ("calculate-kv-scales", "0.25.0", "0.29.0"),
    ("override-attention-dtype", "0.25.0", "0.29.0"),
    ("max-num-partial-prefills", "0.25.0", "0.29.0"),
    ("max-long-partial-prefills", "0.25.0", "0.29.0"),
]


@pytest.mark.parametrize(("flag", "last", "without"), FACTS)
def test_a_flag_that_went_is_refused_from_then_on(flag: str, last: str, without: str) -> None:
    assert said(last, {flag: True}) == []
    (issue,) = flags.check(without, {flag: True}, {})
    assert (issue.name, issue.about, issue.severity) == (flag, "flag", "refused")
    assert issue.message.startswith(f"vLLM {without} has no --{flag} (")


@pytest.mark.parametrize(
    ("flag", "before", "first"),
    [
        ("runner", "0.8.5", "0.10.2"),
        ("enable-log-requests", "0.8.5", "0.10.2"),
        ("attention-backend", "0.12.0", "0.16.0"),
        ("reasoning-config", "0.16.0", "0.20.0"),
        ("enable-per-request-metrics", "0.20.0", "0.25.0"),
        ("per-request-spec-decode-metrics", "0.25.0", "0.29.0"),
    ],
)
def test_a_flag_that_came_is_refused_before(flag: str, before: str, first: str) -> None:
    assert said(first, {flag: 1}) == []
    (refused,) = said(before, {flag: 1})
    assert refused.startswith(f"refused: vLLM {before} has no --{flag} yet (")


def test_what_took_its_place_is_named() -> None:
    assert said("0.29.0", {"cuda-graph-sizes": [1, 2]}) == [
        "refused: vLLM 0.29.0 has no --cuda-graph-sizes (0.12.0 still has it); write `cudagraph-capture-sizes` in its place"
    ]
    (kv,) = said("v0.29.0-cu129", {"calculate-kv-scales": True})
    assert kv.startswith("refused: vLLM 0.29.0 has no --calculate-kv-scales (0.27.1 still has it); remove it; an fp8 KV cache")


@pytest.mark.parametrize("version", ["0.28.0", "0.29.0rc1", "0.28.1.dev3+gabc"])
def test_between_two_versions_that_were_read_it_is_a_warning(version: str) -> None:
    (warning,) = said(version, {"calculate-kv-scales": True})
    assert warning.startswith("warning: vLLM 0.2")
    assert "may lack --calculate-kv-scales" in warning


@pytest.mark.parametrize("version", ["nightly", "latest", None, "sha256", "main-cu129"])
def test_of_a_version_that_is_none_nothing_is_refused(version: str | None) -> None:
    assert said(version, {"calculate-kv-scales": True, "runner": "generate"}, VLLM_USE_V1="1") == []
    assert flags.unreadable(version)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("v0.29.0", "0.29.0"),
        ("0.29.0-cu129", "0.29.0"),
        ("v0.29.0-x86_64", "0.29.0"),
        ("0.29.0+cpu", "0.29.0+cpu"),
        ("0.8.5.post1", "0.8.5.post1"),
        ("v0.11.1rc2", "0.11.1rc2"),
    ],
)
def test_a_version_is_read_as_people_write_it(written: str, meant: str) -> None:
    assert parsed(written) == Version(meant)


@pytest.mark.parametrize("version", ["0.29.0+cpu", "0.29.0.post1", "0.29.0"])
def test_a_build_of_a_version_is_that_version(version: str) -> None:
    assert [w[:7] for w in said(version, {"calculate-kv-scales": True})] == ["refused"]


def test_a_newer_version_than_all_that_were_read_lacks_what_the_newest_lacks() -> None:
    assert said("1.2.0", {"task": "embed", "max-model-len": 5}) == [
        "refused: vLLM 1.2.0 has no --task (0.12.0 still has it); write `runner` in its place"
    ]


@pytest.mark.parametrize(
    ("flag", "hint"),
    [
        ("max-modle-len", "; did you mean 'max-model-len'?"),
        ("tp", "; did you mean 'tensor-parallel-size'?"),
        ("zzz", ""),
    ],
)
def test_a_flag_that_no_version_has_is_a_warning(flag: str, hint: str) -> None:
    assert said("0.29.0", {flag: 1}) == [f"warning: bumpgate knows no flag --{flag}{hint}"]


@pytest.mark.parametrize("name", ["no-enable-prefix-caching", "speculative-config.method", "model", "headless"])
def test_forms_of_a_flag_are_the_flag(name: str) -> None:
    assert said("0.29.0", {name: True}) == []


def test_a_switch_without_an_off_form_is_named() -> None:
    assert said("0.29.0", {"headless": False}) == ["warning: there is no --no-headless; leave it out"]
    assert said("0.29.0", {"enforce-eager": False}) == []


def test_variables_only_warn_unless_vllm_is_told_to_be_strict() -> None:
    said_ = "vLLM 0.29.0 no longer reads VLLM_USE_V1; remove it; there is no other engine any more"
    assert said("0.29.0", VLLM_USE_V1="1", CUDA_HOME="/x") == [f"warning: {said_}"]
    assert said("0.29.0", {"fail-on-environ-validation": True}, VLLM_USE_V1="1") == [f"refused: {said_}"]
    assert said("0.12.0", VLLM_ATTENTION_BACKEND="FLASHINFER") == []
    (moved,) = said("0.16.0", VLLM_ATTENTION_BACKEND="FLASHINFER")
    assert moved.endswith("write `attention-backend` in its place")
    assert said("0.29.0", VLLM_USE_V2_MODEL_RUNER="1") == [
        "warning: bumpgate knows no vLLM that reads VLLM_USE_V2_MODEL_RUNER; did you mean 'VLLM_USE_V2_MODEL_RUNNER'?"
    ]
    assert said("0.10.2", VLLM_USE_V2_MODEL_RUNNER="1") == [
        "warning: vLLM 0.10.2 does not read VLLM_USE_V2_MODEL_RUNNER yet (0.12.0 does)"
    ]


def test_a_method_of_speculation_that_came_late() -> None:
    assert said("0.12.0", {"speculative-config": {"method": "mtp"}}) == []
    assert said("0.10.2", {"speculative-config": {"method": "qwen3_next_mtp"}}) == []
    (issue,) = flags.check("0.10.2", {"speculative-config": {"method": "mtp"}}, {})
    assert (issue.about, issue.severity) == ("value", "refused")


def test_two_spellings_of_one_method_are_one_configuration() -> None:
    old, new = ({"speculative-config": {"method": m, "num_speculative_tokens": 2}} for m in ("qwen3_next_mtp", "mtp"))
    assert flags.canonical(old) == flags.canonical(new) == new


def test_the_model_runner_changes_between_0_25_and_0_29() -> None:
    (said_,) = flags.changed_defaults("0.25.0", "0.29.0", {}, {})
    assert "if this model is a hybrid" in said_
    assert "VLLM_USE_V2_MODEL_RUNNER: 0" in said_
    assert flags.changed_defaults("0.25.0", "0.29.0", {}, {"VLLM_USE_V2_MODEL_RUNNER": "0"}) == ()
    for old, new in [("0.25.0", "0.27.1"), ("0.29.0", "0.33.0"), ("0.29.0", "0.25.0"), ("nightly", "0.29.0"), (None, None)]:
        assert flags.changed_defaults(old, new, {}, {}) == ()


def test_a_changed_default_is_told_where_it_matters() -> None:
    several = flags.changed_defaults("0.27.1", "0.29.0", {"tensor-parallel-size": 4}, {})
    assert len(several) == 2
    assert len(flags.changed_defaults("0.27.1", "0.29.0", {"tensor-parallel-size": 1}, {})) == 1
    assert any("thinking" in s for s in flags.changed_defaults("0.12.0", "0.20.0", {"reasoning-parser": "qwen3"}, {}))


def test_a_configuration_in_the_words_of_another_version() -> None:
    args = {
        "task": "embed", "guided-decoding-backend": "xgrammar", "disable-mm-preprocessor-cache": True, "swap-space": 4,
        "max-model-len": 5, "speculative-config": {"method": "qwen3_next_mtp"},
        "enable-multimodal-encoder-data-parallel": True,
    }  # fmt: skip
    found = flags.translated("0.29.0", args, {"VLLM_ATTENTION_BACKEND": "FLASHINFER", "VLLM_USE_V1": "1", "A": "b"})
    assert found.args == {
        "max-model-len": 5, "speculative-config": {"method": "qwen3_next_mtp"}, "runner": "pooling", "mm-processor-cache-gb": 0,
        "structured-outputs-config": {"backend": "xgrammar"}, "mm-encoder-tp-mode": "data", "attention-backend": "FLASHINFER",
    }  # fmt: skip
    assert found.env == {"A": "b"}
    kept = {"max-model-len", "speculative-config"}
    assert found.notes.keys() == (args.keys() | {"VLLM_ATTENTION_BACKEND", "VLLM_USE_V1"}) - kept
    assert [i for i in flags.check("0.29.0", found.args, found.env) if i.severity == "refused"] == []


def test_what_is_there_already_wins_over_what_is_renamed() -> None:
    found = flags.translated("0.29.0", {"task": "embed", "runner": "generate"}, {})
    assert found.args == {"runner": "generate"}


@pytest.mark.parametrize("row", [*GONE_FLAGS, *GONE_ENV], ids=lambda row: row.name)
def test_the_table_agrees_with_the_wheels(row: Any) -> None:
    known = vocabulary()
    span = known.env.get(row.name) or (known.flags[row.name].span if row.name in known.flags else None)
    assert span is None or span.last == row.last
    target = row.to.partition("=")[0].partition(".")[0]
    assert not target or target in known.flags
    if target and span:
        after = next(v for v in known.versions if Version(v) > Version(row.last))
        assert has(known.flags[target].span, Version(after)), "what takes its place must be there when it is gone"


def test_every_row_names_versions_that_were_read() -> None:
    read = set(vocabulary().versions)
    assert {v for s in METHODS.values() for v in (s.first, s.last) if v} <= read
    assert {v for row in DEFAULTS for v in (row.last, row.first)} <= read
    assert set(flags.NEWEST.values()) <= read
    assert vocabulary().versions[-1] == flags.NEWEST["vllm"]


def test_short_forms_lead_to_flags() -> None:
    known = vocabulary()
    assert known.short["-tp"] == "tensor-parallel-size"
    assert set(known.short.values()) <= known.flags.keys()


@pytest.mark.parametrize(
    ("at", "there"),
    [("0.8.5", False), ("0.11.0", None), ("0.12.0", True), ("0.20.0", True), ("0.22.0", None), ("0.22.1", False)],
)
def test_a_gap_between_two_versions_is_left_open(at: str, there: bool | None) -> None:
    assert has(Span(first="0.12.0", last="0.20.0"), Version(at)) is there
