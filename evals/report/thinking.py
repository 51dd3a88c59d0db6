"""The scorecard on thinking: under which effort each arm was judged, and the efforts of one server side by side."""

import re

from evals import levels
from evals.judged import Evidence
from evals.language import later, phrase, term
from evals.levels import Level, LevelPair, Spread
from evals.report.text import inline, signed, table


def asked(evidence: Evidence) -> str:
    """One sentence; empty where it was not written down."""
    by_words: dict[str, list[str]] = {}
    for arm in evidence.arms:
        by_words.setdefault(arm.asked, []).append(arm.name)
    by_words.pop("", None)
    if len(by_words) == 1:
        return phrase("Every arm was asked with {asked}.", asked=_words(next(iter(by_words))))
    told = [
        phrase("{arms} with {asked}", arms=inline(", ".join(names)), asked=_words(words)) for words, names in by_words.items()
    ]
    return phrase("Asked: {told}.", told=phrase("; ").join(told)) if told else ""


_ASKED = re.compile(r"thinking (?P<effort>.+), (?:greedy|sampled at temperature (?P<temperature>\S+))")


def _words(asked: str) -> str:
    """What the journal has in English."""
    found = _ASKED.fullmatch(asked)
    if not found:
        return inline(asked)
    effort, temperature = inline(term(found["effort"])), found["temperature"]
    if temperature is None:
        return phrase("thinking {effort}, greedy", effort=effort)
    return phrase("thinking {effort}, sampled at temperature {temperature}", effort=effort, temperature=inline(temperature))


def section(evidence: Evidence) -> str:
    """Empty where no server was asked under two efforts."""
    found = levels.levels(evidence)
    if not found:
        return ""
    head = phrase(
        "task | effort | arm | samples | correct, % [90 % interval] | reasoning tokens, median (mean) | "
        "completion tokens, median (mean) | cut off | s / sample, median"
    )
    parts = [f"## {phrase('Thinking efforts, side by side')}", table(head, [_cells(row) for row in found]), _note(found)]
    if pairs := levels.pairs(evidence):
        parts.append("\n".join(f"- {_sentence(pair, found)}" for pair in pairs))
        parts.append(
            phrase(
                "Differences are paired by sample, the larger effort less the smaller one, with a gate's interval: 90 %, "
                "and wider where a task has several pairs (Bonferroni). *Equal* means inside the noise of so many "
                "samples, and no more."
            )
        )
    return "\n\n".join(parts)


def _cells(row: Level) -> list[str]:
    samples = f"{row.n}" if row.n == row.asked else phrase("{n} of {asked}", n=row.n, asked=row.asked)
    correct = "–" if row.correct is None else f"{row.correct:.1f} [{row.ci_low:.1f}, {row.ci_high:.1f}]"
    cut = f"{100 * row.truncated / row.responses:.1f} % ({row.truncated})" if row.responses else "–"
    reasoning = _spread(row.reasoning_tokens, row.responses)
    if row.reasoning_tokens is None and row.reasoning_characters is not None:
        reasoning = phrase("not told; {spread} characters", spread=_spread(row.reasoning_characters, row.responses))
    latency = "–" if row.latency_s is None else f"{row.latency_s.median:.2f}"
    completion = _spread(row.completion_tokens, row.responses)
    return [row.task, row.effort, inline(row.arm), samples, correct, reasoning, completion, cut, latency]


def _spread(of: Spread | None, responses: int) -> str:
    if of is None:
        return "–"
    return f"{of.median:.0f} ({of.mean:.0f})" + (
        phrase(", told by {n} of {responses}", n=of.n, responses=responses) if of.n != responses else ""
    )


def _note(found: tuple[Level, ...]) -> str:
    unknown = any(row.reasoning_tokens is None for row in found)
    said = (
        phrase("Reasoning tokens are the engine's own count (vLLM 0.29 and later), – where it tells none. ") if unknown else ""
    )
    return phrase(
        "{said}Seconds are those of one answer, with several asked at once. Intervals of a share: Wilson (1927).", said=said
    )


def _sentence(pair: LevelPair, found: tuple[Level, ...]) -> str:
    less, more = (_label(arm, [row for row in found if row.task == pair.task]) for arm in (pair.less, pair.more))
    figures = phrase(
        "{diff} points [{ci_low}, {ci_high}] with {n} samples",
        diff=signed(pair.diff),
        ci_low=signed(pair.ci_low),
        ci_high=signed(pair.ci_high),
        n=pair.n,
    )
    if pair.equal:
        gain, loss = f"{max(pair.ci_high, 0):.1f}", f"{max(-pair.ci_low, 0):.1f}"
        excluded = phrase(
            "Excluded: that {more} is better by more than {gain} points, or worse by more than {loss}.",
            more=more,
            gain=gain,
            loss=loss,
        )
        words = later("{task}: **{less} and {more} are equal** within the noise: {figures}. {excluded}")
        return phrase(words, task=pair.task, less=less, more=more, figures=figures, excluded=excluded)
    if pair.open:
        unknown = later(
            "{task}: {less} and {more} cannot be told apart, and not called equal: {figures}; taking {less} as the baseline: "
            "{reason}."
        )
        return phrase(unknown, task=pair.task, less=less, more=more, figures=figures, reason=inline(pair.incomparable or ""))
    better = later("{task}: **{more} is better than {less}**: {figures}.")
    worse = later("{task}: **{more} is worse than {less}**: {figures}.")
    return phrase(better if pair.diff > 0 else worse, task=pair.task, less=less, more=more, figures=figures)


def _label(arm: str, rows: list[Level]) -> str:
    """Its effort, or its name where another arm has that effort as well."""
    effort = next(row.effort for row in rows if row.arm == arm)
    return effort if sum(row.effort == effort for row in rows) == 1 else inline(arm)
