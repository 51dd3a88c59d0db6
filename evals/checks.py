"""What a server's first answers say of an arm, before it is asked hundreds: each check with what it saw. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from evals import switches
from evals.experiment import Arm, UrlEngine
from evals.identity import mistaken
from evals.judged import Evidence, Finding
from evals.language import phrase, term
from evals.records import Check, CheckResult, Failure, JsonDict, Preflight, Response
from evals.stats import mcnemar_exact, p_words, surely_above
from evals.switches import Switch
from tasks.degenerate import is_degenerate
from tasks.extract import Artefact, NoAnswer, visible

BROKEN_ALPHA = 0.01
"""At which more broken answers than the baseline's are no chance."""
MOST = 0.5
SHORT_TOKENS = 64
"""Of an answer that is only looked at."""
_SAYS_NO = ("HTTP 400", "HTTP 404", "HTTP 413", "HTTP 422", "HTTP 500")
"""500 is what a chat template that raises comes to."""


def version(declared: str | None, told: str | None, fingerprint: str | None) -> Check:
    """Whether the server is of the version that its engine was declared to run."""
    if wrong := mistaken(declared, told):
        return Check(name="version", result="failed", saw=wrong)
    saw = f"vLLM {told or 'of unknown version'}" + (f", fingerprint {fingerprint}" if fingerprint else "")
    return Check(name="version", result="passed" if told else "not_known", saw=saw)


def models(arm: Arm, asked: str, listed: Sequence[JsonDict]) -> Check | None:
    """Whether it is plain which model of an endpoint is meant; None where it is. Several names of one model are plain."""
    behind = {str(row.get("root") or row.get("id")) for row in listed}
    if not isinstance(arm.engine, UrlEngine) or arm.model is not None or len(behind) < 2:
        return None
    names = ", ".join(str(row.get("id")) for row in listed[:10])
    words = f"the endpoint lists {len(behind)} models ({names}) and the arm names none: {asked} is asked; write `model:`"
    return Check(name="model", result="warned", saw=words)


def fields(arm: Arm, known: frozenset[str] | None) -> Check | None:
    """Whether the server's own description of its requests has every field that is sent; None where none is set."""
    asked = switches.sent(arm)
    if not asked:
        return None
    if known is None:
        return Check(name="fields", result="not_known", saw="the server does not describe its requests (/openapi.json)")
    if missing := sorted(asked - known):
        words = f"{_are(missing, 'request field')} not known to this server, and is dropped without a word"
        return Check(name="fields", result="failed", saw=f"param_had_no_effect: {words}: {', '.join(missing)}")
    return Check(name="fields", result="passed", saw=f"{_are(sorted(asked), 'request field')} known to the server")


def _are(names: Sequence[str], what: str) -> str:
    return f"{len(names)} {what} is" if len(names) == 1 else f"{len(names)} {what}s are"


def rejected(failure: Failure) -> bool:
    """Whether the server took the request and said no: not that it was busy, away or slow."""
    return failure.kind == "http" and failure.message.startswith(_SAYS_NO)


def alike(one: Response | Failure, other: Response | Failure) -> bool:
    """Whether two questions were answered and their prompts are not told apart, so that the answers must tell."""
    return isinstance(one, Response) and isinstance(other, Response) and one.prompt_ids_sha == other.prompt_ids_sha


def switch(
    asked: Switch, with_it: Response | Failure, with_other: Response | Failure, again: Response | Failure | None = None
) -> Check:
    """Whether a setting changes the prompt or the answer. All were asked at temperature 0; `again`: as `with_it`."""
    name, pair = f"switch {asked.name}", f"{asked.value} and {asked.other}"
    if isinstance(with_it, Failure):
        if not rejected(with_it):
            return Check(name=name, result="not_known", saw=f"{asked.value} could not be asked: {with_it.message}")
        return Check(name=name, result="failed", saw=f"the server rejects {asked.value}: {with_it.message}")
    if isinstance(with_other, Failure):
        if not rejected(with_other):
            return Check(name=name, result="not_known", saw=f"{asked.other} could not be asked: {with_other.message}")
        # A level that the model does not take is none that it ignores.
        return Check(name=name, result="passed", saw=f"{asked.value} is taken, {asked.other} rejected")
    a, b = with_it.prompt_ids_sha, with_other.prompt_ids_sha
    if a and b and a != b:
        return Check(name=name, result="passed", saw=f"{pair} render different prompts")
    if _said(with_it) != _said(with_other):
        if isinstance(again, Response) and _said(again) != _said(with_it):
            words = f"{asked.value} is answered differently each time, which proves nothing, and the prompts are the same"
            return Check(name=name, result="warned", saw=words)
        return Check(name=name, result="passed", saw=f"{pair} are answered differently")
    if not (a and b) and "length" in (with_it.finish_reason, with_other.finish_reason):
        words = f"{pair} begin alike, and the engine tells no token ids of its prompts"
        return Check(name=name, result="warned", saw=words)
    same = "the prompt's token ids and the answer are" if a and b else "the answer is"
    words = f"{same} the same with {pair}: the server or its chat template ignores it; take it out or correct its name"
    return Check(name=name, result="failed", saw=f"param_had_no_effect: {words}")


def _said(response: Response) -> list[object]:
    """What a switch may change of an answer, its counts among it."""
    return [response.text, response.reasoning, response.prompt_tokens, response.completion_tokens, response.reasoning_tokens]


def structure(settings: JsonDict, answers: Mapping[str, Response]) -> Check | None:
    """Whether answers keep to the form that was asked for; None where none was."""
    judged = [r for r in answers.values() if r.finish_reason == "stop"]
    broken = Counter(name for r in judged if (name := switches.disobeyed(settings, r)))
    if broken:
        name, count = broken.most_common(1)[0]
        words = f"{name} was sent, and {count} of {len(judged)} finished answers do not keep to it"
        return Check(name="structure", result="failed", saw=f"param_had_no_effect: {words}")
    return None


def hashes(answers: Mapping[str, Response]) -> dict[str, str]:
    """By sample: the hash of its rendered prompt, where the engine tells the token ids."""
    return {key: r.prompt_ids_sha for key, r in answers.items() if r.prompt_ids_sha}


def counts(answers: Mapping[str, Response]) -> dict[str, int]:
    """By sample: the tokens of its rendered prompt, where the engine tells them."""
    return {key: r.prompt_tokens for key, r in answers.items() if r.prompt_tokens is not None}


def prompts(arm_like_baseline: bool, answers: Mapping[str, Response], baseline: Preflight | None) -> Check | None:
    """Whether the rendered prompts are the baseline's, or differ where they are meant to."""
    if baseline is None:
        return None
    mine, lengths = hashes(answers), counts(answers)
    shared = sorted(mine.keys() & baseline.prompts.keys())
    differing = [key for key in shared if mine[key] != baseline.prompts[key]]
    if not shared:  # a prompt that was cut, or rendered otherwise, mostly has another length
        other = [key for key in sorted(lengths.keys() & baseline.lengths.keys()) if lengths[key] != baseline.lengths[key]]
        if arm_like_baseline and other:
            key = other[0]
            off = f"{len(other)} rendered prompts have other lengths than the baseline's, first {key}: {lengths[key]} tokens "
            saw = f"prompt_ids_differ: {off}in place of {baseline.lengths[key]}, though they were declared equal"
            return Check(name="prompts", result="failed", saw=saw)
    said = f"{len(differing)} of {len(shared)} rendered prompts differ from the baseline's"
    if not shared:
        return Check(name="prompts", result="not_known", saw="an engine does not tell its prompts' token ids")
    if arm_like_baseline and differing:
        saw = f"prompt_ids_differ: {said}, first {differing[0]}, though the settings that shape them were declared equal"
        return Check(name="prompts", result="failed", saw=saw)
    if not arm_like_baseline and not differing:
        saw = f"all {len(shared)} rendered prompts are the baseline's, though they were declared to differ"
        return Check(name="prompts", result="warned", saw=saw)
    return Check(name="prompts", result="passed", saw=f"{said}{'' if arm_like_baseline else ', as declared'}")


def double_bos(answers: Mapping[str, Response], baseline: Preflight | None) -> Check:
    """Whether every prompt begins with one token twice: a template that writes BOS, and a tokenizer that adds it again.

    A candidate that shares it with the baseline can be compared all the same.
    """
    starts = [r.prompt_start for r in answers.values() if r.prompt_start]
    if not starts:
        return Check(name="bos", result="not_known", saw="the engine does not tell its prompts' token ids")
    doubled = [s for s in starts if len(s) > 1 and s[0] == s[1]]
    if not doubled:
        return Check(name="bos", result="passed", saw=f"{len(starts)} prompts begin with one token once")
    if len(doubled) < len(starts):
        words = f"double_bos: {len(doubled)} of {len(starts)} prompts begin with token {doubled[0][0]} twice, the others do not"
        return Check(name="bos", result="warned", saw=words)
    saw = (
        f"double_bos: all {len(starts)} prompts begin with token {doubled[0][0]} twice: the chat template writes it and the "
        "tokenizer adds it again"
    )
    shared = baseline is None or _result(baseline, "bos") in ("warned", "not_known")
    return Check(name="bos", result="warned" if shared else "failed", saw=saw)


def _result(preflight: Preflight, name: str) -> CheckResult | None:
    return next((c.result for c in preflight.checks if c.name == name), None)


def degenerate(answers: Mapping[str, Response], broken: frozenset[str], baseline: Preflight | None) -> Check:
    """Whether short answers are loops, word salad or silence; for a candidate, more often than the baseline's."""
    counts = f"{len(broken)} of {len(answers)} short answers are loops, word salad or empty"
    example = f"; the first: {_example(answers[min(broken)])}" if broken else ""
    if baseline is None:
        failed = surely_above(len(broken), len(answers), MOST) if answers else False
    else:
        shared = answers.keys() & frozenset(baseline.asked)
        lost = len((broken - frozenset(baseline.broken)) & shared)
        won = len((frozenset(baseline.broken) - broken) & shared)
        p_value = mcnemar_exact(lost, won)
        failed = p_value <= BROKEN_ALPHA and len(broken) > MOST * len(answers)
        counts += f", the baseline's {len(baseline.broken)} of {len(baseline.asked)} ({p_words(p_value)})"
    if failed:
        return Check(name="degenerate", result="failed", saw=f"{counts}{example}")
    return Check(name="degenerate", result="warned" if broken else "passed", saw=f"{counts}{example}")


def _example(response: Response) -> str:
    shown = " ".join((response.text or response.reasoning or "").split())
    return repr(shown[:80]) if shown else f"nothing, finish_reason {response.finish_reason}"


def broken(answers: Mapping[str, Response]) -> frozenset[str]:
    """The samples whose short answer is a loop, word salad or nothing."""
    return frozenset(key for key, response in answers.items() if _is_broken(response))


def _is_broken(response: Response) -> bool:
    cut = response.finish_reason == "length" or (response.completion_tokens or 0) >= SHORT_TOKENS
    if response.reasoning and is_degenerate(response.reasoning, cut=cut):
        return True
    view = visible(response)
    if not isinstance(view, NoAnswer):
        return False
    # What was cut with nothing to see may be a thought that the server does not show.
    return view.reason == "degenerate" or (view.reason == "empty" and not cut and not response.reasoning)


def places(answers: Mapping[str, Response]) -> Check:
    """Whether answers lie where a client looks for them."""
    seen = [(visible(r), r) for r in answers.values()]
    lost = [view for view, _ in seen if isinstance(view, Artefact)]
    leaks = sum("think_tag_in_content" in view.warnings for view, _ in seen if not isinstance(view, Artefact))
    if lost:
        sure = surely_above(len(lost), len(answers), MOST)
        words = f"{lost[0].name}: in {len(lost)} of {len(answers)} short answers; {lost[0].message}"
        return Check(name="places", result="failed" if sure else "warned", saw=words)
    if leaks:
        words = f"think_tag_in_content: in {leaks} of {len(answers)} short answers; see the arm's reasoning parser"
        return Check(name="places", result="warned", saw=words)
    return Check(name="places", result="passed", saw=f"{len(answers)} short answers, none in another field, no leaked tag")


def unanswered(asked: Mapping[str, Response | Failure]) -> Check | None:
    """The questions that could not be asked; None where all could."""
    lost = [a for a in asked.values() if isinstance(a, Failure)]
    if not lost:
        return None
    words = f"{len(lost)} of {len(asked)} questions could not be asked; the first: {lost[0].message}"
    return Check(name="asked", result="warned", saw=words)


def context(promised: int | None, told: int | None, accepted: bool | str | None) -> Check:
    """Whether the server takes prompts as long as it was told to. `accepted`: or the server's own words; None: not tried."""
    if told is None:
        return Check(name="context", result="not_known", saw="the server does not tell its max_model_len")
    if promised is not None and told < promised:
        saw = f"max-model-len {promised} was asked for, and the server says {told}"
        return Check(name="context", result="failed", saw=saw)
    match accepted:
        case None:
            return Check(name="context", result="not_known", saw=f"max_model_len {told}; no prompt of that length was tried")
        case True:
            return Check(name="context", result="passed", saw=f"a prompt that fills max_model_len, {told}, is taken")
        case _:
            return Check(
                name="context", result="failed", saw=f"a prompt of {told - 1} of {told} tokens is rejected: {accepted}"
            )


def failed(preflight: Preflight) -> Iterator[Check]:
    return (c for c in preflight.checks if c.result == "failed")


def findings(evidence: Evidence, arm: str) -> Iterator[Finding]:
    """What was odd and kept nobody from going on, once for all launches that saw the same."""
    seen = dict.fromkeys(c for one in evidence.preflights.get(arm, ()) for c in one.checks if c.result == "warned")
    for c in seen:
        yield Finding(
            severity="warning",
            kind="preflight",
            arm=arm,
            task=None,
            text=phrase("preflight, {check}: {saw}", check=term(c.name), saw=c.saw),
        )
