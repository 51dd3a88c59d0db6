"""The scorecard's section on programs: pass@k by category, why programs failed, and each problem's cost."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from evals.compare import is_scored, ledger
from evals.judged import Evidence, TaskSpec
from evals.language import phrase, term
from evals.records import SampleRecord
from evals.report.text import code, counts, table
from evals.stats import pass_at_k
from tasks import task_info

MARKS = {"correct": "✓", "wrong": "✗", "no_answer": "–"}


@dataclass(frozen=True, kw_only=True)
class CategoryRow:
    """One arm's programs of one category, or of all of them."""

    arm: str
    category: str
    """Empty: all."""
    problems: int
    """Those that were measured in every round."""
    pass_at: tuple[float, ...]
    """pass@1 to pass@rounds, percent, over those problems; empty where there are none."""


@dataclass(frozen=True, kw_only=True)
class ProblemCell:
    """One arm's programs for one problem, over its rounds."""

    marks: str
    """One a round, in their order; `!` could not be measured."""
    seconds: float | None
    """Mean latency of its answers."""
    tokens: float | None
    """Mean completion tokens."""
    acceptance: float | None
    """Accepted over drafted tokens, 0–1; None where the engine does not tell it by request."""


def section(evidence: Evidence) -> str:
    """Empty where no program was asked for."""
    return "\n\n".join(_of(evidence, task) for task in evidence.tasks if task_info(task.name).sandboxed)


def _of(evidence: Evidence, task: TaskSpec) -> str:
    rows = list(categories(evidence, task))
    ks = range(1, task.rounds + 1)
    shown = {(r.arm, r.category): r for r in rows}
    names = sorted(dict.fromkeys(r.category for r in rows))  # all of them first
    head = " | ".join([phrase("category"), *(f"{arm.name}: {', '.join(f'pass@{k}' for k in ks)}" for arm in evidence.arms)])
    body = [
        [name or f"**{phrase('all')}**", *(_passes(shown.get((arm.name, name))) for arm in evidence.arms)] for name in names
    ]
    parts = [
        f"## {phrase('Programs, run in the sandbox')}",
        table(head, body),
        *_reasons(evidence, task),
        _note(evidence, task),
        _problems(evidence, task),
    ]
    return "\n\n".join(part for part in parts if part)


def _passes(row: CategoryRow | None) -> str:
    if row is None or not row.problems:
        return phrase("not measured")
    return phrase("{listed} % of {problems}", listed=", ".join(f"{p:.1f}" for p in row.pass_at), problems=row.problems)


def categories(evidence: Evidence, task: TaskSpec) -> Iterator[CategoryRow]:
    """By arm, each category and then all; a problem that could not be measured in some round is left out."""
    samples = evidence.samples.get(task.name, ())
    groups = [*dict.fromkeys(s.group for s in sorted(samples, key=lambda s: s.group)), ""]
    for arm in evidence.arms:
        book = _rounds(evidence, arm.name, task)
        for group in groups:
            rights = [
                sum(r.score is not None and r.score.outcome == "correct" for r in book[s.id].values())
                for s in samples
                if group in ("", s.group) and _measured(book.get(s.id, {}), task)
            ]
            passes = tuple(
                100 * sum(pass_at_k(task.rounds, c, k) for c in rights) / len(rights)
                for k in range(1, task.rounds + 1)
                if rights
            )
            yield CategoryRow(arm=arm.name, category=group, problems=len(rights), pass_at=passes)


def _rounds(evidence: Evidence, arm: str, task: TaskSpec) -> dict[str, dict[int, SampleRecord]]:
    """By sample and round."""
    book, out = ledger(evidence), dict[str, dict[int, SampleRecord]]()
    for k in range(task.rounds):
        for sample_id, record in book.of(arm, task.name, k).items():
            out.setdefault(sample_id, {})[k] = record
    return out


def _measured(rounds: dict[int, SampleRecord], task: TaskSpec) -> bool:
    return len(rounds) == task.rounds and all(map(is_scored, rounds.values()))


def _reasons(evidence: Evidence, task: TaskSpec) -> Iterator[str]:
    """Why programs were not right, arm by arm."""
    lines = []
    for arm in evidence.arms:
        scores = [r.score for r in evidence.records if (r.arm, r.task) == (arm.name, task.name) and r.score]
        why = Counter(term(s.reason or s.outcome).replace("_", " ") for s in scores if s.outcome != "correct")
        if why:
            lines.append(f"- {arm.name}{phrase(': ')}{counts(why)}")
    if lines:
        yield phrase("Not right, by reason:") + "\n\n" + "\n".join(lines)


def _note(evidence: Evidence, task: TaskSpec) -> str:
    """Empty where no program ran."""
    s, scores = evidence.sandbox, [r.score for r in evidence.records if r.task == task.name and r.score]
    if s is None or all(score.outcome == "no_answer" for score in scores):
        return ""
    limits = ", ".join(f"{name} {value:g}" for name, value in s.limits.items())
    return phrase(
        "Each program ran in a container of its own (Python {python}, image {image_id}, {source}; {limits}), and "
        "what it returned was compared outside of it. pass@k over several rounds: the unbiased estimate (Chen et "
        "al. 2021).",
        python=s.python,
        image_id=code(s.image_id, 80),
        source=s.source,
        limits=limits,
    )


def _problems(evidence: Evidence, task: TaskSpec) -> str:
    """Folded: a row a problem."""
    books = {arm.name: _rounds(evidence, arm.name, task) for arm in evidence.arms}
    samples = sorted(evidence.samples.get(task.name, ()), key=lambda s: (s.group, s.id))
    body = [[s.id, *(_cell(problem_cell(books[arm.name].get(s.id, {}))) for arm in evidence.arms)] for s in samples]
    if not body:
        return ""
    head = " | ".join([phrase("problem"), *(arm.name for arm in evidence.arms)])
    told = phrase("✓ right, ✗ wrong, – no answer, ! not measured, one a round; mean seconds and tokens of the answers")
    return f"<details><summary>{phrase('Every problem: {told}', told=told)}</summary>\n\n{table(head, body)}\n\n</details>"


def problem_cell(rounds: dict[int, SampleRecord]) -> ProblemCell:
    records = [rounds[k] for k in sorted(rounds)]
    responses = [r.response for r in records if r.response]
    drafted = sum(r.draft_tokens or 0 for r in responses)
    return ProblemCell(
        marks="".join(MARKS[r.score.outcome] if r.score and not r.failure else "!" for r in records),
        seconds=sum(r.latency_s for r in responses) / len(responses) if responses else None,
        tokens=_mean([r.completion_tokens for r in responses]),
        acceptance=sum(r.accepted_tokens or 0 for r in responses) / drafted if drafted else None,
    )


def _mean(values: list[int | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None


def _cell(cell: ProblemCell) -> str:
    parts = [cell.marks or phrase("not asked")]
    parts += [f"{cell.seconds:.1f} s"] if cell.seconds is not None else []
    parts += [phrase("{tokens:.0f} tokens", tokens=cell.tokens)] if cell.tokens is not None else []
    parts += [phrase("{acceptance:.0f} % accepted", acceptance=100 * cell.acceptance)] if cell.acceptance is not None else []
    return phrase(", ").join(parts)
