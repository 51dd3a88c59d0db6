"""Where speculation stops working: accepted draft tokens by context, and engines that differ. Pure.

A mean over a run hides a collapse past one position (vllm 36872, 52873): 61 % and 0.9 % are "about 40 %".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

from scipy.stats import chi2_contingency, t

from evals.judged import Evidence, Finding, TaskSpec
from evals.language import phrase
from evals.records import EngineCounts, SampleRecord
from evals.stats import p_words

COLLAPSED = 0.5
"""Of the acceptance at shorter contexts: less than this share of it is a collapse."""
ALPHA = 0.01
UNLIKE = 0.1
"""Of acceptance, as a share: engines that differ by less are alike."""
IDLE = 0.5
"""Of an equal share of the tokens: an engine below it was left out."""
FIRST_BUCKET = 1024
"""Tokens: shorter contexts are one bucket."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """What speculation did for one answer, or in one window."""

    position: float
    """Tokens of context, where it was in the middle of its answer."""
    drafted: int
    accepted: int


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """Every answer whose position is from `first` on, up to twice that."""

    first: int
    """A power of two; 0 for the shortest contexts."""
    n: int
    acceptance: float
    """Accepted over drafted tokens, 0–1."""


@dataclass(frozen=True, kw_only=True)
class Collapse:
    """The first bucket from which on drafts are hardly accepted any more."""

    first: int
    n: int
    acceptance: float
    n_shorter: int
    acceptance_shorter: float
    p_value: float


def points(records: Iterable[SampleRecord]) -> list[Point]:
    """Of the answers whose engine told drafts by request."""
    told = (r.response for r in records if r.response is not None)
    return [
        Point(
            position=r.prompt_tokens + (r.completion_tokens or 0) / 2, drafted=r.draft_tokens, accepted=r.accepted_tokens
        )
        for r in told
        if r.prompt_tokens is not None and r.draft_tokens and r.accepted_tokens is not None
    ]  # fmt: skip


def buckets(found: Sequence[Point]) -> list[Bucket]:
    """From short contexts to long; those that hold nothing are left out."""
    firsts = sorted({_first(p.position) for p in found})
    return [_bucket(first, [p for p in found if _first(p.position) == first]) for first in firsts]


def collapse(found: Sequence[Point]) -> Collapse | None:
    """The first context at which acceptance falls to less than half of that at shorter ones, and not by chance."""
    firsts = sorted({_first(p.position) for p in found})[1:]
    for first in firsts:
        short = [p for p in found if _first(p.position) < first]
        here = [p for p in found if _first(p.position) == first]
        a, b = _bucket(0, short), _bucket(first, here)
        if b.acceptance < COLLAPSED * a.acceptance and (p_value := fell(short, here)) <= ALPHA / len(firsts):
            return Collapse(
                first=first, n=b.n, acceptance=b.acceptance, n_shorter=a.n, acceptance_shorter=a.acceptance, p_value=p_value
            )
    return None


def fell(short: Sequence[Point], long: Sequence[Point]) -> float:
    """One-sided p-value for less acceptance in `long`: two weighted means, the weights being the drafts.

    Tokens of one answer hang together, so that the variance is taken from answer to answer, and never below the binomial
    one (McCullagh, Nelder, Generalized Linear Models, 1989, section 4.5). 1.0 with fewer than three answers in all.
    """
    n = len(short) + len(long)
    if not short or not long or n < 3:
        return 1.0
    drafted = [sum(p.drafted for p in group) for group in (short, long)]
    means = [sum(p.accepted for p in group) / d for group, d in zip((short, long), drafted, strict=True)]
    around = sum(
        p.drafted * (p.accepted / p.drafted - mean) ** 2
        for group, mean in zip((short, long), means, strict=True)
        for p in group
    )
    pooled = sum(p.accepted for p in [*short, *long]) / sum(drafted)
    variance = max(around / (n - 2), pooled * (1 - pooled)) * (1 / drafted[0] + 1 / drafted[1])
    return float(t.sf((means[0] - means[1]) / sqrt(variance), n - 2)) if variance else 1.0  # all were accepted, or none


def _first(position: float) -> int:
    return 0 if position < FIRST_BUCKET else 1 << (int(position).bit_length() - 1)


def _bucket(first: int, found: Sequence[Point]) -> Bucket:
    return Bucket(first=first, n=len(found), acceptance=sum(p.accepted for p in found) / sum(p.drafted for p in found))


def findings(evidence: Evidence, arm: str, task: TaskSpec) -> Iterator[Finding]:
    mine = [r for r in evidence.records if (r.arm, r.task) == (arm, task.name)]
    if seen := collapse(points(mine)):
        text = phrase(
            "accepted draft tokens collapse from position {first} on: {acceptance:.1f} % in {n} answers, "
            "{acceptance_shorter:.1f} % in {n_shorter} shorter ones ({p})",
            first=seen.first,
            acceptance=100 * seen.acceptance,
            n=seen.n,
            acceptance_shorter=100 * seen.acceptance_shorter,
            n_shorter=seen.n_shorter,
            p=p_words(seen.p_value),
        )
        yield Finding(severity="alarm", kind="acceptance_collapse", arm=arm, task=task.name, text=text)
    engines = [w.engines for w in evidence.windows if (w.arm, w.task) == (arm, task.name) and w.engines]
    samples = sum(w.samples for w in evidence.windows if (w.arm, w.task) == (arm, task.name))
    if text := _unlike([e for window in engines for e in window], samples):
        yield Finding(severity="warning", kind="engines_differ", arm=arm, task=task.name, text=text)


def _unlike(counts: Sequence[EngineCounts], samples: int) -> str:
    """In what data-parallel engines differ much; empty where they don't, or did too little to tell."""
    names = sorted({c.engine for c in counts})
    tokens = {n: sum(c.generation_tokens or 0 for c in counts if c.engine == n) for n in names}
    least = min(names, key=lambda n: tokens[n], default="")
    if sum(tokens.values()) and tokens[least] < IDLE * sum(tokens.values()) / len(names) and samples >= 10 * len(names):
        share = 100 * tokens[least] / sum(tokens.values())
        return phrase(
            "of {n} data-parallel engines, {least} wrote {share:.0f} % of the tokens over {samples} samples",
            n=len(names),
            least=least,
            share=share,
            samples=samples,
        )
    drafts = {n: [(c.draft_tokens or 0, c.accepted_tokens or 0) for c in counts if c.engine == n] for n in names}
    rows = {n: (sum(a for _, a in told), sum(d - a for d, a in told)) for n, told in drafts.items() if any(d for d, _ in told)}
    rates = {n: accepted / (accepted + rejected) for n, (accepted, rejected) in rows.items()}
    if len(rates) < 2 or max(rates.values()) - min(rates.values()) < UNLIKE:
        return ""
    if chi2_contingency(list(rows.values())).pvalue > ALPHA:
        return ""
    words = ", ".join(f"{n}: {100 * rate:.1f} %" for n, rate in rates.items())
    return phrase("data-parallel engines accept draft tokens unlike one another ({words})", words=words)
