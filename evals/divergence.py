"""Greedy outputs, token by token: where a candidate leaves the baseline, and whether more often than the baseline itself. Pure.

On the greedy task `round` is the launch: the baseline has A1 (round 0) and A2 (round 1), a candidate has B (round 0).
A2 tells how much a mere restart changes; only what goes beyond that is the candidate's doing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.compare import ledger
from evals.judged import Divergence, Evidence, PromptDivergence
from evals.language import phrase
from evals.parting import Partings, first_difference, partings
from evals.records import Response, SampleRecord
from evals.stats import mcnemar_exact, p_words

GREEDY = "greedy"
"""The name of the task."""
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class _Passes:
    """One prompt, answered in all three passes."""

    sample_id: str
    first: Response
    again: Response
    candidate: Response


def diverge(evidence: Evidence, arm: str) -> Divergence | None:
    """None where no prompt was measured in all three passes, as when the baseline was launched only once."""
    passes = _passes(evidence, arm)
    if not passes:
        return None
    by_text = any(r.token_ids is None for p in passes for r in (p.first, p.again, p.candidate))
    told = partings(evidence)
    prompts = tuple(_prompt(p, arm, by_text, told) for p in passes)
    beyond = sum(p.first is not None and not p.noise_differs for p in prompts)
    within = sum(p.first is None and p.noise_differs for p in prompts)
    p_value = mcnemar_exact(beyond, within)
    return Divergence(
        arm=arm,
        n=len(prompts),
        differs=sum(p.first is not None for p in prompts),
        noise_differs=sum(p.noise_differs for p in prompts),
        p_value=p_value,
        excess=p_value <= ALPHA,
        by_text=by_text,
        prompts=prompts,
    )


def sentence(divergence: Divergence) -> str:
    ending = phrase("more than the noise floor") if divergence.excess else phrase("no excess")
    return phrase(
        "differs in {differs}/{n}; the baseline differs from itself in {noise}/{n}; {ending} ({p})",
        differs=divergence.differs,
        n=divergence.n,
        noise=divergence.noise_differs,
        ending=ending,
        p=p_words(divergence.p_value),
    )


def _passes(evidence: Evidence, arm: str) -> list[_Passes]:
    book = ledger(evidence)
    firsts, agains = (book.of(evidence.baseline, GREEDY, k) for k in (0, 1))
    candidates = book.of(arm, GREEDY, 0)
    found = []
    for sample in evidence.samples.get(GREEDY, ()):
        first, again, candidate = (_response(page.get(sample.id)) for page in (firsts, agains, candidates))
        if first and again and candidate:
            found.append(_Passes(sample_id=sample.id, first=first, again=again, candidate=candidate))
    return found


def _response(record: SampleRecord | None) -> Response | None:
    return None if record is None or record.failure is not None else record.response


def _prompt(passes: _Passes, arm: str, by_text: bool, told: Partings) -> PromptDivergence:
    ours, again, theirs = (_output(r, by_text) for r in (passes.first, passes.again, passes.candidate))
    first = first_difference(ours, theirs)
    longest = max(len(ours), len(theirs))
    parting = None if by_text else told.of(GREEDY, arm, passes.sample_id, 0)
    return PromptDivergence(
        sample_id=passes.sample_id,
        first=first,
        common_prefix_share=1.0 if first is None else first / longest,
        margin=parting.gap if parting else None,
        kind=parting.kind if parting else None,
        noise_differs=first_difference(ours, again) is not None,
    )


def _output(response: Response, by_text: bool) -> Sequence[int] | str:
    if by_text or response.token_ids is None:
        return (response.reasoning or "") + (response.text or "")
    return response.token_ids
