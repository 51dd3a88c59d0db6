"""/metrics before and after a window → what happened in between. A counter that the engine lacks is None, never 0."""

from collections import defaultdict
from dataclasses import dataclass, fields
from math import isfinite

import httpx
from prometheus_client.parser import text_string_to_metric_families

from evals.client import http_options
from evals.fields import METRICS
from evals.records import EngineCounts


@dataclass(frozen=True, kw_only=True)
class Counters:
    """One reading, summed over data-parallel engines; None where the engine has no such counter."""

    generation_tokens: int | None = None
    prompt_tokens: int | None = None
    prefix_cache_queries: int | None = None
    prefix_cache_hits: int | None = None
    spec_decode_num_drafts: int | None = None
    spec_decode_num_draft_tokens: int | None = None
    spec_decode_num_accepted_tokens: int | None = None
    accepted_per_position: tuple[int, ...] = ()
    acceptance_gauge: float | None = None
    """vLLM before 0.10: a running share, the mean over engines. No two readings of it make a figure of the time between."""
    engines: tuple[EngineCounts, ...] = ()
    """Each engine's own counts, where there are several."""


_TOTALS = {f.name for f in fields(Counters)} - {"accepted_per_position", "acceptance_gauge", "engines"}
_Read = dict[str, float]


def parse(text: str) -> Counters:
    """Prometheus text as vLLM since 0.8 exposes it."""
    by_engine: dict[str, _Read] = defaultdict(dict)
    gauges: list[float] = []
    positions: dict[int, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name = sample.name.removeprefix("vllm:").removesuffix("_total")
            read = by_engine[sample.labels.get("engine", "")]
            read[name] = read.get(name, 0.0) + sample.value
            if name in METRICS["acceptance_gauge"] and isfinite(sample.value):
                gauges.append(sample.value)
            elif name in METRICS["spec_decode_num_accepted_tokens_per_pos"]:
                position = int(sample.labels["position"])
                positions[position] = positions.get(position, 0.0) + sample.value
    return Counters(
        **{name: _sum([_count(read, name) for read in by_engine.values()]) for name in _TOTALS},
        accepted_per_position=tuple(int(positions[p]) for p in sorted(positions)),
        acceptance_gauge=sum(gauges) / len(gauges) if gauges else None,
        engines=_each(by_engine),
    )


def _count(read: _Read, name: str) -> int | None:
    """By its newest name: while both were there, they said the same."""
    return next((int(read[own]) for own in METRICS[name] if own in read), None)


def _sum(counts: list[int | None]) -> int | None:
    told = [count for count in counts if count is not None]
    return sum(told) if told else None


def _each(by_engine: dict[str, _Read]) -> tuple[EngineCounts, ...]:
    told = {engine: read for engine, read in by_engine.items() if any(_count(read, name) is not None for name in _TOTALS)}
    if len(told) < 2:
        return ()
    return tuple(
        EngineCounts(
            engine=engine, generation_tokens=_count(read, "generation_tokens"),
            draft_tokens=_count(read, "spec_decode_num_draft_tokens"),
            accepted_tokens=_count(read, "spec_decode_num_accepted_tokens"),
        )
        for engine, read in sorted(told.items())
    )  # fmt: skip


def read(url: str) -> Counters:
    """What the server at `url` counts now; all None where it has no /metrics."""
    try:
        response = httpx.get(f"{url}/metrics", timeout=10, **http_options(url))
        response.raise_for_status()
        return parse(response.text)
    except (httpx.HTTPError, ValueError):  # ValueError: a page that is no Prometheus text, as gateways send
        return Counters()


def since(before: Counters, after: Counters) -> Counters:
    """after − before, counter by counter; a gauge as it stands at the end."""
    whole = {name: _minus(getattr(after, name), getattr(before, name)) for name in _TOTALS}
    earlier = before.accepted_per_position or (0,) * len(after.accepted_per_position)
    per_position = tuple(a - b for a, b in zip(after.accepted_per_position, earlier, strict=False))
    told = len(after.accepted_per_position) == len(earlier) and min(per_position, default=0) >= 0
    return Counters(
        **whole, accepted_per_position=per_position if told else (), acceptance_gauge=after.acceptance_gauge,
        engines=_engines_since(before, after),
    )  # fmt: skip


def _engines_since(before: Counters, after: Counters) -> tuple[EngineCounts, ...]:
    began = {e.engine: e for e in before.engines}
    if began and began.keys() != {e.engine for e in after.engines}:
        return ()
    none = EngineCounts(engine="", generation_tokens=None, draft_tokens=None, accepted_tokens=None)
    return tuple(
        EngineCounts(
            engine=e.engine, generation_tokens=_minus(e.generation_tokens, b.generation_tokens),
            draft_tokens=_minus(e.draft_tokens, b.draft_tokens), accepted_tokens=_minus(e.accepted_tokens, b.accepted_tokens),
        )
        for e in after.engines
        for b in [began.get(e.engine, none)]
    )  # fmt: skip


def _minus(after: int | None, before: int | None) -> int | None:
    """A counter may be first exposed inside the window; one that shrank was reset by a restart and says nothing."""
    if after is None or (before is not None and before > after):
        return None
    return after - (before or 0)
