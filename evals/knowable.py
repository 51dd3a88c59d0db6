"""What a gate's samples can show at all, before anything is asked or after: in figures, and in a sentence. Pure."""

from collections.abc import Iterable, Sequence
from math import prod

from evals import looks, stats
from evals.judged import Knowable
from evals.language import later, phrase
from evals.power import Design, chances, flips_seen

MOST_DISCORDANCE = 0.5
"""Two arms that both answer by tossing coins."""
LEAST_DISCORDANCE = 0.01
"""Few samples without a flip do not show that there are none."""
LIKELY = 0.8
"""Below this chance of an overall PASS with nothing changed, the experiment is too small for its margins."""


def knowable(design: Design, discordance: float, available: int | None = None) -> Knowable:
    """`discordance` as it is seen over the rounds together; `available`: samples that there are, where that is known."""
    seen = min(max(discordance, LEAST_DISCORDANCE), MOST_DISCORDANCE * flips_seen(design.rounds))
    said = chances(design, seen / flips_seen(design.rounds))
    n, needed = design.sizes[-1], stats.samples_for_margin(design.margin, seen)
    last = looks.planned(design.sizes, design.gates)[-1].passing
    return Knowable(
        n=n, sizes=design.sizes, margin=design.margin, discordance=seen, n_needed=needed,
        excluded_drop=stats.excluded_drop(n, seen, last), excluded_then=stats.excluded_drop(needed, seen),
        passes=said.passes, mean_n=said.mean_n, seen=None if seen == discordance else discordance, available=available,
    )  # fmt: skip


def sentence(k: Knowable) -> str:
    """`with 200 questions this gate can't exclude a drop below 3.5 points; 1,263 would bring it to 1.3`."""
    with_n = phrase("with up to {n:,} questions", n=k.n) if len(k.sizes) > 1 else phrase("with {n:,} questions", n=k.n)
    if k.n_needed <= k.n:
        return phrase(
            "{with_n} this gate can exclude a drop of {drop:.1f} points; {needed:,} are enough for its margin of {margin:g}",
            with_n=with_n,
            drop=k.excluded_drop,
            needed=k.n_needed,
            margin=k.margin,
        )
    if k.exhausted:
        can = later("{with_n} this gate can exclude a drop of {drop:.1f} points where luck is even; {remedy}")
        cannot = later("{with_n} this gate can't exclude a drop below {drop:.1f} points; {remedy}")
        remedy = phrase(
            "all {available:,} that there are would not be enough without more `rounds:` or a wider margin",
            available=k.available,
        )
        return phrase(can if k.excluded_drop < k.margin else cannot, with_n=with_n, drop=k.excluded_drop, remedy=remedy)
    if k.excluded_drop < k.margin:
        return phrase(
            "{with_n} this gate can exclude a drop of {drop:.1f} points where luck is even; "
            "{needed:,} would leave its margin of {margin:g} room for bad luck",
            with_n=with_n,
            drop=k.excluded_drop,
            needed=k.n_needed,
            margin=k.margin,
        )
    return phrase(
        "{with_n} this gate can't exclude a drop below {drop:.1f} points; {needed:,} would bring it to {then:.1f}",
        with_n=with_n,
        drop=k.excluded_drop,
        needed=k.n_needed,
        then=k.excluded_then,
    )


def flips(k: Knowable) -> str:
    """`6.2 % of the answers flip`, and where another share is assumed, which."""
    if k.seen is None:
        return phrase("{flip:.1f} % of the answers flip", flip=100 * k.discordance)
    if not k.seen:
        return phrase("no answer flipped, {assumed:.1f} % assumed", assumed=100 * k.discordance)
    return phrase(
        "{flip:.1f} % of the answers flipped, {assumed:.1f} % assumed", flip=100 * k.seen, assumed=100 * k.discordance
    )


def odds(k: Knowable) -> str:
    """`a PASS is 23 % likely if nothing changed`, with looks also how many samples that takes."""
    said = phrase("a PASS is {passes:.0f} % likely if nothing changed", passes=100 * k.passes)
    if len(k.sizes) == 1:
        return said
    looks_at = ", ".join(f"{size:,}" for size in k.sizes)
    return phrase(
        "{said}, after {mean_n:,.0f} questions on average (looks at {looks_at})", said=said, mean_n=k.mean_n, looks_at=looks_at
    )


def warning(chance: float, known: Sequence[Knowable]) -> str:
    """Of an overall PASS that is not likely enough. `known`: of every gate."""
    gates = len(known)
    all_of_them = phrase(", for all {gates} gates must pass", gates=gates) if gates > 1 else ""
    more = any(k.available is None or (k.n < k.available and not k.exhausted) for k in known)
    remedy = (
        phrase("ask more, take a wider margin, or judge fewer arms")
        if more
        else phrase("set more `rounds:`, take a wider margin, or judge fewer arms")
    )
    return phrase(
        "an overall PASS is only {chance:.0f} % likely if nothing changed{all_of_them}: {remedy}",
        chance=100 * chance,
        all_of_them=all_of_them,
        remedy=remedy,
    )


def overall(of: Iterable[Knowable]) -> float:
    """How likely all gates PASS if nothing changed, at least.

    Gates on unlike tasks share no question. Those on one task share the baseline's answers, so that their luck goes together,
    and all of them pass more often than if they were independent (Slepian, Bell System Technical Journal 41 (1962) 463–501).
    """
    return prod(k.passes for k in of)
