"""The scorecard's section on sensors, and what they say of places where answers part."""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from evals import sensors
from evals.judged import Evidence, PartingKind
from evals.language import later, phrase
from evals.parting import Parting
from evals.report.text import inline, table
from evals.sensors import Bucket, Figures, Reading
from evals.stats import Mean

_KINDS: dict[PartingKind, str] = {
    "tie": later("{n} at a tie"), "change": later("{n} at a changed opinion"),
    "sampled": later("{n} at a token that was drawn"),
}  # fmt: skip
_PLACES: dict[PartingKind, str] = {
    "tie": later("{place}: a tie"), "change": later("{place}: a changed opinion"),
    "sampled": later("{place}: a token that was drawn"),
}  # fmt: skip


def section(evidence: Evidence) -> str:
    """Empty where nothing was to be measured, or no candidate answered."""
    found, missing = sensors.readings(evidence), sensors.unmeasured(evidence)
    if not found and not missing:
        return ""
    title = phrase("Sensors: the baseline's own answers, read by each arm")
    parts = [f"## {title}"]
    if found:
        parts += [phrase(_NOTE, baseline=evidence.baseline), _table(evidence.baseline, found), _by_position(found)]
    parts += [phrase("**{arm}** was not measured: {why}", arm=arm, why=inline(why)) for arm, why in missing.items()]
    return "\n\n".join(part for part in parts if part)


_NOTE = later(
    "They rank and explain, and no verdict comes of them; the largest change is first. Every server is given prompt and answer "
    "of **{baseline}**, and tells how likely it finds each token. *Its likeliest*: tokens of the answer that it would have "
    "chosen itself. *Change*: of a token's log-probability, in nats, with its sign and without it. In brackets: 95 %, by "
    "Student's t over answers. *Again*: {baseline}'s own second launch. *Beyond a restart*: the size above that."
)


def _table(baseline: str, found: Sequence[Reading]) -> str:
    head = phrase(
        "candidate | task | answers (tokens) | its likeliest, % | {baseline} again, % | change | its size | "
        "{baseline} again | beyond a restart",
        baseline=baseline,
    )
    return table(head, [_row(r) for r in found])


def _row(r: Reading) -> list[str]:
    f, floor = r.figures, r.floor
    known = f"**{phrase('yes')}**" if r.is_beyond else phrase("no")
    beyond = phrase("not known") if r.beyond is None else f"{known}, {_nats(r.beyond)}"
    return [
        r.arm, r.task, f"{f.size.n} ({r.tokens})", _percent(f.agreement), _percent(floor.agreement) if floor else "–",
        _nats(f.change), _nats(f.size), _nats(floor.size) if floor else "–", beyond,
    ]  # fmt: skip


def _by_position(found: Sequence[Reading]) -> str:
    firsts = sorted({b.first for r in found for b in r.buckets})
    if len(firsts) < 2:
        return ""
    ends = [first * 4 if first else sensors.FIRST_BUCKET for first in firsts]
    head = " | ".join(
        [
            phrase("candidate"),
            phrase("task"),
            *(phrase("{first} to {last}", first=first, last=end - 1) for first, end in zip(firsts, ends, strict=True)),
        ]
    )
    cells = [[r.arm, r.task, *(_place({b.first: b for b in r.buckets}.get(first)) for first in firsts)] for r in found]
    note = phrase("By the token's place in the answer: its likeliest in percent, and the change.")
    return f"{note}\n\n{table(head, cells)}"


def _place(bucket: Bucket | None) -> str:
    if bucket is None:
        return "–"
    of: Figures = bucket.figures
    return f"{100 * of.agreement.mean:.1f}; {_nats(of.change)}"


def _percent(mean: Mean) -> str:
    """Where all answers agree alike, so few can't tell how far from that others are: there is no interval to show."""
    if mean.low is None or mean.high is None or mean.low == mean.high:
        return f"{100 * mean.mean:.1f}"
    return f"{100 * mean.mean:.1f} [{100 * mean.low:.1f}, {100 * min(mean.high, 1.0):.1f}]"


def _nats(mean: Mean) -> str:
    if mean.low is None or mean.high is None or mean.low == mean.high:
        return _signed(mean.mean)
    return f"{_signed(mean.mean)} [{_signed(mean.low)}, {_signed(mean.high)}]"


def _signed(nats: float) -> str:
    """0 is exactly that: what three places would round to it has one digit that is not 0."""
    text = f"{nats:.3f}" if abs(nats) >= 0.0005 else f"{nats:.1g}"
    return text.replace("-", "−", 1) if nats else "0"


def kinds(of: Iterable[PartingKind | None]) -> str:
    """`3 at a tie, 21 at a changed opinion`; empty where none is known."""
    counted = Counter(of)
    return phrase(", ").join(phrase(words, n=counted[kind]) for kind, words in _KINDS.items() if counted[kind])


def place(parting: Parting | None) -> str:
    """A cell of the table of flips."""
    if parting is None:
        return "–"
    gaps = [f"{gap:.2f}" for gap in (parting.gap, parting.against) if gap is not None]
    said = phrase("; {gaps} nats", gaps=phrase(" and ").join(gaps)) if gaps else ""
    place = phrase("token {first}{gaps}", first=parting.first, gaps=said)
    return phrase(_PLACES[parting.kind], place=place) if parting.kind else place


def positions(first: Sequence[int]) -> str:
    """Where outputs part: `at token 3 to 201, half of them by 41 (5 of 12 within the first 16)`."""
    least, most = min(first), max(first)
    where = (
        phrase("at token {least} to {most}, half of them by {half:.0f}", least=least, most=most, half=median(first))
        if least < most
        else phrase("at token {least}", least=least)
    )
    early = sum(at < sensors.FIRST_BUCKET for at in first)
    return phrase(
        "{where} ({early} of {n} within the first {early_end})",
        where=where,
        early=early,
        n=len(first),
        early_end=sensors.FIRST_BUCKET,
    )
