"""The scorecard's section on needles: recall by length, language and depth, and what so many needles can rule out."""

from collections import Counter
from collections.abc import Iterator

from evals.compare import ledger
from evals.judged import Evidence, TaskSpec
from evals.language import phrase, term
from evals.needle_checks import TASK, lengths, warm_hits
from evals.records import SampleRecord
from evals.report.needle_rows import HeatRow, Recall, heat, total
from evals.report.text import counts, table


def section(evidence: Evidence) -> str:
    """Empty where no needle was hidden."""
    return "\n\n".join(_of(evidence, task) for task in evidence.tasks if task.name == TASK)


def picture(arm: str) -> str:
    """The name of the file beside the scorecard that holds an arm's heat map."""
    return f"needle-{arm}.png"


def _of(evidence: Evidence, task: TaskSpec) -> str:
    passes = task.rounds // 2 if task.warm else task.rounds
    note = (
        phrase(
            "Recall in percent of the needles that were measured, each a random identifier that the answer must "
            "contain exactly. Length: tokens of the whole prompt. Depth: percent "
            "of the text before the needle; told where one was missed."
        )
        + (phrase(" A needle counts as found where all of its {passes} rounds found it.", passes=passes) if passes > 1 else "")
        + (phrase(" Warm: the same prompt again, from a prefix cache that holds it.") if task.warm else "")
    )
    parts = [f"## {phrase('Needles, by length and depth')}", note]
    found = {arm.name: heat(evidence, arm.name, task) for arm in evidence.arms}
    parts.append("\n".join(line for arm, rows in found.items() for line in _arm(evidence, arm, task, rows)))
    measured = {arm: rows for arm, rows in found.items() if total([r.all for r in rows]).n}
    if measured:
        head = " | ".join([phrase("length"), phrase("language"), *measured])
        cells = [[rows[0].name, rows[0].language, *map(_cell, rows)] for rows in zip(*measured.values(), strict=True)]
        parts.append(table(head, cells))
        parts.append("\n".join(f"![{phrase('Heat map of {arm}', arm=arm)}]({picture(arm)})" for arm in measured))
    return "\n\n".join(parts)


def _arm(evidence: Evidence, arm: str, task: TaskSpec, rows: list[HeatRow]) -> Iterator[str]:
    said = phrase(" ").join(
        filter(None, [_not_found(evidence, arm), _lengths(evidence, arm, task), _hits(evidence, arm, task)])
    )
    # Warm and cold answers to one prompt are no two needles: what so many rule out is told of each pass by itself.
    for name, of in (("", [r for r in rows if not r.warm]), (phrase(", warm"), [r for r in rows if r.warm])):
        if of:
            found = sentence(total([r.all for r in of]))
            yield f"- **{arm}**{name}{phrase(': ')}" + phrase(" ").join(filter(None, [found, said]))
            said = ""


def _lengths(evidence: Evidence, arm: str, task: TaskSpec) -> str:
    seen = lengths(ledger(evidence), arm, task)
    return seen.sentence() if seen.n or seen.untold else ""


def _hits(evidence: Evidence, arm: str, task: TaskSpec) -> str:
    hits = warm_hits(evidence, arm, task)
    return phrase("{said}, and half or more do where it holds every prompt.", said=hits.sentence()) if hits else ""


def _cell(row: HeatRow) -> str:
    """Bold where something was missed, so that the eye finds it, and at which depths."""
    recall = row.all
    if recall.percent is None:
        return "–"
    near = phrase(", {near} near", near=recall.near) if recall.near else ""
    text = f"{recall.percent:.0f} ({recall.found}/{recall.n}{near})"
    if recall.found == recall.n:
        return text
    missed = (f"{depth}" for depth, of in row.by_depth.items() if of.found < of.n)
    return phrase("**{cell}** at {depths} %", cell=text, depths=", ".join(missed))


def sentence(recall: Recall) -> str:
    """`8/8 found, which excludes no miss rate below 31 %.`"""
    if not recall.n:
        return phrase("nothing was measured.")
    least, most = recall.miss_rates
    possible = phrase("excludes no miss rate below {most:.0f} %", most=most)
    if recall.found < recall.n:
        possible = phrase("leaves a miss rate of {least:.0f} to {most:.0f} % possible", least=least, most=most)
    return phrase(
        "{found}/{n} found, which {possible} (Clopper–Pearson, one-sided 95 %).",
        found=recall.found,
        n=recall.n,
        possible=possible,
    )


def _records(evidence: Evidence, arm: str) -> list[SampleRecord]:
    return [r for r in evidence.records if (r.arm, r.task) == (arm, TASK)]


def _not_found(evidence: Evidence, arm: str) -> str:
    """Why not, over all rounds."""
    records = _records(evidence, arm)
    scores = [r.score for r in records if r.score and not r.failure]
    why = Counter(term(s.reason or s.outcome).replace("_", " ") for s in scores if s.outcome != "correct")
    told = [counts(why)] if why else []
    failed = sum(r.failure is not None for r in records)
    told += [phrase("{failed} not measured", failed=failed)] if failed else []
    return phrase("Otherwise: {told}.", told=phrase(", ").join(told)) if told else ""
