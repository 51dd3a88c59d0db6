from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stub_server import Reply, StubServer, metrics

from evals import telemetry
from evals.telemetry import Counters, parse, read, since

MTP_ON = """\
vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 100.0
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 300.0
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="m"} 150.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="0"} 80.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="1"} 45.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="2"} 25.0
vllm:spec_decode_num_accepted_tokens_per_pos_created{engine="0",model_name="m",position="0"} 1.75e9
vllm:spec_decode_num_drafts_created{engine="0",model_name="m"} 1.75e9
"""
REAL = """\
# HELP vllm:prefix_cache_queries_total Prefix cache queries, in terms of number of queried tokens.
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="tiny"} 55.0
# HELP vllm:prefix_cache_queries_created Prefix cache queries, in terms of number of queried tokens.
# TYPE vllm:prefix_cache_queries_created gauge
vllm:prefix_cache_queries_created{engine="0",model_name="tiny"} 1.79600753991964e+09
vllm:external_prefix_cache_queries_total{engine="0",model_name="tiny"} 9.0
# HELP vllm:prefix_cache_hits_total Prefix cache hits, in terms of number of cached tokens.
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0",model_name="tiny"} 0.0
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="tiny"} 1.234567e+06
# TYPE vllm:request_generation_tokens histogram
vllm:request_generation_tokens_bucket{engine="0",le="1.0",model_name="tiny"} 3.0
vllm:request_generation_tokens_sum{engine="0",model_name="tiny"} 77.0
"""


def test_speculation_is_read_with_its_positions() -> None:
    got = parse(MTP_ON)
    assert (got.spec_decode_num_drafts, got.spec_decode_num_draft_tokens, got.spec_decode_num_accepted_tokens) == (
        100,
        300,
        150,
    )
    assert got.accepted_per_position == (80, 45, 25)


def test_with_speculation_off_there_is_no_figure_rather_than_zero() -> None:
    assert parse("vllm:num_requests_running 0\n") == Counters()


OLD = """\
vllm:spec_decode_draft_acceptance_rate 0.71
vllm:spec_decode_efficiency 0.8
vllm:gpu_cache_usage_perc 0.2
vllm:gpu_prefix_cache_queries_total 40
vllm:gpu_prefix_cache_hits_total 10
vllm:time_per_output_token_seconds_count 5
"""


def test_the_gauge_of_an_old_engine_is_kept_apart_from_its_counters() -> None:
    got = parse(OLD)
    assert got == Counters(prefix_cache_queries=40, prefix_cache_hits=10, acceptance_gauge=0.71)
    window = since(got, parse(OLD.replace("0.71", "0.64").replace("hits_total 10", "hits_total 15")))
    assert window == Counters(prefix_cache_queries=0, prefix_cache_hits=5, acceptance_gauge=0.64)


def test_a_gauge_before_its_first_draft_says_nothing() -> None:
    assert parse("vllm:spec_decode_draft_acceptance_rate NaN\n") == Counters()


def test_a_counter_under_two_names_counts_once() -> None:
    both = "vllm:prefix_cache_hits_total 10\nvllm:gpu_prefix_cache_hits_total 10\n"
    assert parse(both).prefix_cache_hits == 10


def test_a_counter_that_stands_at_zero_is_zero() -> None:
    got = parse(REAL)
    assert (got.prefix_cache_queries, got.prefix_cache_hits, got.generation_tokens) == (55, 0, 1_234_567)
    assert got.prompt_tokens is None


def test_data_parallel_engines_are_summed() -> None:
    got = parse(MTP_ON + MTP_ON.replace('engine="0"', 'engine="1"'))
    assert (got.spec_decode_num_drafts, got.spec_decode_num_accepted_tokens) == (200, 300)
    assert got.accepted_per_position == (160, 90, 50)
    assert [(e.engine, e.draft_tokens, e.accepted_tokens) for e in got.engines] == [("0", 300, 150), ("1", 300, 150)]
    assert parse(MTP_ON).engines == ()


def test_each_engine_has_its_own_window() -> None:
    before = parse(MTP_ON + MTP_ON.replace('engine="0"', 'engine="1"'))
    after = parse(MTP_ON.replace(" 150.0", " 160.0") + MTP_ON.replace('engine="0"', 'engine="1"'))
    assert [(e.engine, e.accepted_tokens, e.generation_tokens) for e in since(before, after).engines] == [
        ("0", 10, None),
        ("1", 0, None),
    ]
    assert [e.accepted_tokens for e in since(Counters(), after).engines] == [160, 150]
    assert since(before, parse(MTP_ON)).engines == ()


def test_positions_are_in_the_order_of_their_numbers() -> None:
    rows = [f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{position="{p}"}} {100 - p}' for p in (10, 2, 0, 1)]
    assert parse("\n".join([*rows, ""])).accepted_per_position == (100, 99, 98, 90)


def test_a_window_is_what_happened_in_between() -> None:
    before = Counters(generation_tokens=10, spec_decode_num_drafts=4, accepted_per_position=(3, 1))
    after = Counters(generation_tokens=25, spec_decode_num_drafts=9, accepted_per_position=(7, 2))
    assert since(before, after) == Counters(generation_tokens=15, spec_decode_num_drafts=5, accepted_per_position=(4, 1))


def test_a_counter_first_seen_inside_the_window_counts_from_zero() -> None:
    got = since(Counters(), Counters(spec_decode_num_drafts=9, accepted_per_position=(7, 2)))
    assert got == Counters(spec_decode_num_drafts=9, accepted_per_position=(7, 2))


def test_counters_that_shrank_were_reset_and_say_nothing() -> None:
    before = Counters(generation_tokens=10, prompt_tokens=5, accepted_per_position=(3, 1))
    after = Counters(generation_tokens=9, prompt_tokens=6, accepted_per_position=(4, 0))
    assert since(before, after) == Counters(prompt_tokens=1)


@pytest.mark.parametrize("gone", [(), (9,)])
def test_positions_that_are_gone_say_nothing(gone: tuple[int, ...]) -> None:
    before = Counters(accepted_per_position=(3, 1))
    assert since(before, Counters(accepted_per_position=gone)) == Counters()


_counters = st.builds(
    Counters,
    generation_tokens=st.none() | st.integers(0, 50),
    spec_decode_num_drafts=st.none() | st.integers(0, 50),
    accepted_per_position=st.lists(st.integers(0, 50), max_size=3).map(tuple),
)


@given(_counters, _counters)
def test_no_window_ever_tells_a_negative_number(before: Counters, after: Counters) -> None:
    got = since(before, after)
    told: list[Any] = [got.generation_tokens, got.spec_decode_num_drafts, *got.accepted_per_position]
    assert all(value is None or value >= 0 for value in told)


def test_a_server_is_read_over_http() -> None:
    with StubServer() as stub:
        stub.pages["/metrics"] = Reply(text=metrics(4))
        got = read(stub.url)
    assert (got.prompt_tokens, got.spec_decode_num_accepted_tokens, got.accepted_per_position) == (12, 4, (4,))


@pytest.mark.parametrize(
    "page", [Reply(status=404, payload={}), Reply(text="<html>\n<p>a gateway's page</p>"), Reply(payload={"detail": "no"})]
)
def test_a_server_without_metrics_tells_nothing(page: Reply) -> None:
    with StubServer() as stub:
        stub.pages["/metrics"] = page
        assert read(stub.url) == Counters()


def test_a_server_that_is_gone_tells_nothing() -> None:
    with StubServer() as stub:
        stub.close()
        assert telemetry.read(stub.url) == Counters()
