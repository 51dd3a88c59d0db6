"""The answers that scorecard.html shows side by side: the most telling first, each within bounds, as JSON. Pure."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from evals.divergence import GREEDY
from evals.judged import Divergence, Evidence, PromptDivergence, Verdict
from evals.language import later, phrase, term, translation
from evals.parting import Parting
from evals.records import Response, Sample, SampleRecord
from evals.report import scorecard as rows
from evals.report import sensors
from evals.report.text import clean
from tasks import task_info

TEXT_CHARS = 4000
"""Of an answer or a reasoning: half of it where the two part, half of it at the end."""
QUESTION_CHARS = 1500
SHORT_CHARS = 300
LONG_QUESTION_CHARS = 4000
"""Of a text with a needle in it the end tells what was asked."""


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """What the page's script reads, and how much of all there is."""

    json: str
    """Safe inside a `<script>` element."""
    shown: int
    total: int
    left_out: dict[str, int]
    """By `arm · task`."""

    @property
    def lacks(self) -> str:
        return phrase(", ").join(f"{what} {n:,}" for what, n in self.left_out.items())


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """Two records of one sample that differ."""

    arm: str
    task: str
    what: str
    """newly wrong, newly right or differs."""
    sample: Sample
    baseline: SampleRecord | None
    candidate: SampleRecord | None
    shares: tuple[float, float] | None = None
    """Rounds answered correctly on the two arms, 0–1; None where there was one round."""
    parting: Parting | None
    """Where the two part; None where it is not known by token."""


def explorer(evidence: Evidence, verdict: Verdict, room_bytes: int) -> Explorer:
    """As many as fit: the most telling of each candidate and task, in turns."""
    groups = [found for found in (*_flips(evidence), *_greedy(evidence, verdict)) if found]
    entries, left_out, used = list[str](), Counter[str](), 0
    for pair in filter(None, chain.from_iterable(zip_longest(*groups))):
        text = "" if left_out else safe_json(_entry(pair))
        used += len(text.encode()) + 1
        if left_out or used > room_bytes:
            left_out[f"{pair.arm} · {pair.task}"] += 1
        else:
            entries.append(text)
    told = f'{{"baseline":{safe_json(evidence.baseline)},"words":{safe_json(_words())},"flips":[{",".join(entries)}]}}'
    return Explorer(json=told, shown=len(entries), total=len(entries) + left_out.total(), left_out=dict(left_out))


_SCRIPT = (
    later("here the two part"), later("⏹ ends here"), later("{n} tokens"), later("finish: {reason}"), later(", "), later(": "),
    later(" "), later("Reasoning"), later("(no text)"), later("The word at which they part is framed."),
    later("They part at {place} (tokens counted from 0). The word there is framed."), later("Right in {shares} % of rounds."),
    later("Expected: "), later("Candidate"), later("Task"), later("Change"), later("Outcome"), later("newly wrong"),
    later("newly right"), later("differs"), later("{n} answers"), later("{n} of {all} answers"),
    later("Show {n} more of {all}"), later("all"), later("Id or question"),
)  # fmt: skip
"""What scorecard.js says."""


def _words() -> dict[str, str]:
    """The script's words in another language than English, which it has itself."""
    return {words: translation(words) for words in _SCRIPT if translation(words) != words}


def safe_json(value: Any) -> str:
    """JSON that ends no element, opens no comment, and breaks no line of a script."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def _flips(evidence: Evidence) -> Iterator[list[_Pair]]:
    for arm in (a.name for a in evidence.arms if a.name != evidence.baseline):
        for task in (t for t in evidence.tasks if t.marked):
            yield [
                _Pair(
                    arm=arm, task=task.name,
                    what=later("newly wrong") if row.flip.candidate < row.flip.baseline else later("newly right"),
                    sample=row.sample, baseline=row.baseline, candidate=row.candidate, parting=row.parting,
                    shares=(row.flip.baseline, row.flip.candidate) if task.rounds > 1 else None,
                )
                for row in rows.flip_rows(evidence, task.name, arm)
            ]  # fmt: skip


def _greedy(evidence: Evidence, verdict: Verdict) -> Iterator[list[_Pair]]:
    """Outputs that are not marked, the widest gap first."""
    samples = {s.id: s for s in evidence.samples.get(GREEDY, ())}
    first = {(r.arm, r.sample_id): r for r in evidence.records if r.task == GREEDY and r.round == 0}
    for d in verdict.divergences:
        yield [
            _Pair(
                arm=d.arm, task=GREEDY, what="differs", sample=samples[p.sample_id], parting=_parting(d, p),
                baseline=first.get((evidence.baseline, p.sample_id)), candidate=first.get((d.arm, p.sample_id)),
            )
            for p in sorted((p for p in d.prompts if p.first is not None), key=_widest_first)
        ]  # fmt: skip


def _parting(d: Divergence, prompt: PromptDivergence) -> Parting | None:
    if d.by_text or prompt.first is None:
        return None
    return Parting(first=prompt.first, gap=prompt.margin, against=None, kind=prompt.kind)


def _widest_first(prompt: PromptDivergence) -> float:
    return -(prompt.margin or 0)


def _entry(pair: _Pair) -> dict[str, Any]:
    """What is not known is left out."""
    ours, theirs = (r.response if r else None for r in (pair.baseline, pair.candidate))
    asked = pair.sample.messages[-1].content if pair.sample.messages else ""
    told = {
        "arm": pair.arm, "task": pair.task, "what": pair.what, "id": clean(pair.sample.id),
        "question": _question(asked), "target": _cut(pair.sample.target, SHORT_CHARS), "shares": pair.shares,
        "parting": sensors.place(pair.parting) if pair.parting else None,
        "baseline": _side(pair.baseline, theirs), "candidate": _side(pair.candidate, ours),
    }  # fmt: skip
    return {k: v for k, v in told.items() if v is not None and v != ""}


def _question(asked: str) -> str:
    keep_end = len(asked) > LONG_QUESTION_CHARS
    return _around(asked, len(asked) if keep_end else 0, QUESTION_CHARS)


def _side(record: SampleRecord | None, other: Response | None) -> dict[str, Any]:
    if record is None:
        return {"mark": phrase("not asked")}
    if record.failure or record.response is None:
        return {"mark": phrase("not measured"), "why": _cut(record.failure.message, SHORT_CHARS) if record.failure else ""}
    s, r = record.score, record.response
    mark = (
        phrase("not marked")
        if s is None
        else term(s.outcome).replace("_", " ") + (phrase(": ") + term(s.reason).replace("_", " ") if s.reason else "")
    )
    text, reasoning = r.text or "", r.reasoning or ""
    if r.likelihoods:
        text = ", ".join(f"{one.logprob:.2f}" for one in r.likelihoods)
    told = {
        "mark": mark,
        "answer": _cut(s.answer, SHORT_CHARS) if s and s.answer is not None and not task_info(record.task).sandboxed else None,
        "why": _cut(s.explanation, SHORT_CHARS) if s and s.explanation else None,
        "text": _around(text, common(text, (other.text if other else None) or ""), TEXT_CHARS),
        "reasoning": _around(reasoning, common(reasoning, (other.reasoning if other else None) or ""), TEXT_CHARS),
        "tokens": r.completion_tokens, "seconds": round(r.latency_s, 2), "finish": r.finish_reason,
    }  # fmt: skip
    return {k: v for k, v in told.items() if v is not None and v != ""}


def common(one: str, other: str) -> int:
    """Characters that two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _cut(text: str, limit: int) -> str:
    return clean(text if len(text) <= limit else f"{text[:limit]} …")


def _around(text: str, at: int, limit: int) -> str:
    """Of a long text what stands around a place, and its end; what is left out is told."""
    if len(text) <= limit:
        return clean(text)
    half = limit // 2
    start = max(0, min(at - half // 4, len(text) - limit))
    before, between = start, len(text) - limit - start
    kept = [_gap(before), text[start : start + half], _gap(between), text[start + half :][-half:]]
    return clean("".join(kept))


def _gap(characters: int) -> str:
    return phrase("\n[… {characters:,} characters left out …]\n", characters=characters) if characters > 0 else ""
