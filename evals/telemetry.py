"""/metrics before and after a window → what happened in between. A counter that the engine lacks is None, never 0."""

from dataclasses import dataclass, fields

import httpx
from prometheus_client.parser import text_string_to_metric_families

from evals.client import http_options


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


_NAMES = {f.name for f in fields(Counters)} - {"accepted_per_position"}


def parse(text: str) -> Counters:
    """Prometheus text as vLLM since 0.10 exposes it (prefix `vllm:`, suffix `_total`)."""
    totals: dict[str, float] = {}
    positions: dict[int, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name = sample.name.removeprefix("vllm:").removesuffix("_total")
            if name in _NAMES:
                totals[name] = totals.get(name, 0.0) + sample.value
            elif name == "spec_decode_num_accepted_tokens_per_pos":
                position = int(sample.labels["position"])
                positions[position] = positions.get(position, 0.0) + sample.value
    whole = {name: int(value) for name, value in totals.items()}
    return Counters(**whole, accepted_per_position=tuple(int(positions[p]) for p in sorted(positions)))


def read(url: str) -> Counters:
    """What the server at `url` counts now; all None where it has no /metrics."""
    try:
        response = httpx.get(f"{url}/metrics", timeout=10, **http_options(url))
        response.raise_for_status()
        return parse(response.text)
    except (httpx.HTTPError, ValueError):  # ValueError: a page that is no Prometheus text, as gateways send
        return Counters()


def since(before: Counters, after: Counters) -> Counters:
    """after − before, counter by counter."""
    whole = {name: _minus(getattr(after, name), getattr(before, name)) for name in _NAMES}
    earlier = before.accepted_per_position or (0,) * len(after.accepted_per_position)
    per_position = tuple(a - b for a, b in zip(after.accepted_per_position, earlier, strict=False))
    told = len(after.accepted_per_position) == len(earlier) and min(per_position, default=0) >= 0
    return Counters(**whole, accepted_per_position=per_position if told else ())


def _minus(after: int | None, before: int | None) -> int | None:
    """A counter may be first exposed inside the window; one that shrank was reset by a restart and says nothing."""
    if after is None or (before is not None and before > after):
        return None
    return after - (before or 0)
