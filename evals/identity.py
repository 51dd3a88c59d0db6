"""What an arm's server was: one configuration from its first answer to its last, and another than the baseline's? Pure."""

import itertools
from collections import Counter
from collections.abc import Iterator

from evals.compare import Ledger, fingerprints
from evals.judged import ArmSpec, Evidence, Finding, TaskSpec
from evals.language import counted, later, phrase
from evals.records import ServerInfo
from evals.vocabulary import parsed


def mixture(evidence: Evidence, book: Ledger, arm: str, spec: TaskSpec) -> str | None:
    """What of an arm changed while a task was asked; None where nothing did, as far as it was told."""
    if mixed := fingerprints(book, arm, spec):
        return phrase("its answers carry {n} fingerprints ({mixed})", n=len(mixed), mixed=", ".join(mixed))
    other = _other_version(evidence, next(a for a in evidence.arms if a.name == arm))
    return other or next(start_changes(evidence.starts.get(arm, ())), None)


def _other_version(evidence: Evidence, arm: ArmSpec) -> str | None:
    """A server that tells another version than the arm's engine was declared to run is not what was meant to be measured."""
    return next((said for start in evidence.starts.get(arm.name, ()) if (said := mistaken(arm.version, start.version))), None)


def mistaken(declared: str | None, told: str | None) -> str | None:
    """In words, where a server is of another release than was declared; None where not, or where either is unknown."""
    if declared and told and parsed(told) and _release(declared) != _release(told):
        return phrase("it was declared to run vLLM {declared}, and its server says {told}", declared=declared, told=told)
    return None


def _release(version: str) -> str | None:
    found = parsed(version)
    return found.public if found else None


def start_changes(starts: tuple[ServerInfo, ...]) -> Iterator[str]:
    """In what an arm's starts differ: a tag may be moved and a file edited between two launches, or while a run is stopped."""
    told = {
        later("its starts had {n} versions ({seen})"): [s.version for s in starts],
        later("its starts had {n} images ({seen})"): [s.image_id and s.image_id[:19] for s in starts],
        later("its starts had {n} sets of model files ({seen})"): [s.weights_sha for s in starts],
        later("its starts had {n} tokenizers ({seen})"): [s.tokenizer_sha for s in starts],
    }
    for words, values in told.items():
        seen = sorted({value for value in values if value is not None})
        if len(seen) > 1:
            yield phrase(words, n=len(seen), seen=", ".join(seen))


def findings(evidence: Evidence, arm: ArmSpec) -> Iterator[Finding]:
    yield from _fingerprints(evidence, arm.name)
    yield from _launches(evidence, arm.name)
    if other := _other_version(evidence, arm):
        yield Finding(severity="alarm", kind="other_version", arm=arm.name, task=None, text=other)
    yield from _unknown(evidence, arm.name)
    yield from _speculation(evidence, arm.name)
    if arm.name != evidence.baseline:
        yield from _same_server(evidence, arm.name)
        yield from _tokenizer(evidence, arm)


def _fingerprints(evidence: Evidence, arm: str) -> Iterator[Finding]:
    seen = Counter(
        record.response.fingerprint
        for record in evidence.records
        if record.arm == arm and record.response is not None and record.response.fingerprint is not None
    )
    if len(seen) > 1:
        text = phrase(
            "{n} fingerprints in {responses} responses over {launches} launches, so the arm was not one configuration: {names}",
            n=len(seen),
            responses=seen.total(),
            launches=len(evidence.servers.get(arm, ())),
            names=counted(seen.most_common()),
        )
        yield Finding(severity="warning", kind="fingerprint_changed", arm=arm, task=None, text=text)


def _launches(evidence: Evidence, arm: str) -> Iterator[Finding]:
    for change in start_changes(evidence.starts.get(arm, ())):
        text = phrase("the arm was not one configuration: {change}", change=change)
        yield Finding(severity="alarm", kind="launches_differ", arm=arm, task=None, text=text)


def _unknown(evidence: Evidence, arm: str) -> Iterator[Finding]:
    """An endpoint that tells nothing of itself may be replaced under the run, and nobody would see it."""
    told = any(r.response and r.response.fingerprint for r in evidence.records if r.arm == arm)
    servers = evidence.servers.get(arm, ())
    if servers and servers[0].engine.startswith("url ") and not told and not any(s.fingerprint for s in servers):
        text = phrase(
            "its endpoint tells no fingerprint (vLLM 0.25 and later do), so that a change of the server would go unseen"
        )
        yield Finding(severity="warning", kind="identity_unknown", arm=arm, task=None, text=text)


def _speculation(evidence: Evidence, arm: str) -> Iterator[Finding]:
    """A feature that was asked for and never worked measures nothing of what it was asked for."""
    asked = any(word.startswith("--speculative-") for server in evidence.servers.get(arm, ()) for word in server.argv)
    windows = [w for w in evidence.windows if w.arm == arm]
    responses = [r.response for r in evidence.records if r.arm == arm and r.response]
    answered = sum(response.likelihoods is None for response in responses)  # a log-probability of a prompt drafts nothing
    if asked and windows and answered and not any(w.drafts or w.draft_tokens or w.acceptance_gauge for w in windows):
        text = phrase("speculation was asked for, and no draft was counted over {n} samples", n=answered)
        yield Finding(severity="alarm", kind="speculation_off", arm=arm, task=None, text=text)


def _same_server(evidence: Evidence, arm: str) -> Iterator[Finding]:
    """Two urls may lead to one server, and then nothing was compared."""
    pairs = itertools.product(evidence.servers.get(evidence.baseline, ()), evidence.servers.get(arm, ()))
    for a, b in pairs:
        known = a.fingerprint is not None and a.engine.startswith("url ") and b.engine.startswith("url ")
        if known and a.engine != b.engine and (a.fingerprint, a.version, a.model) == (b.fingerprint, b.version, b.model):
            text = phrase(
                "{theirs} shows the version, served model and fingerprint of the baseline's {ours} ({version}, "
                "{model}, {fingerprint}): are these two servers, and is one of them changed?",
                theirs=b.engine,
                ours=a.engine,
                version=b.version,
                model=b.model,
                fingerprint=b.fingerprint,
            )
            yield Finding(severity="warning", kind="same_server", arm=arm, task=None, text=text)
            return


def _tokenizer(evidence: Evidence, arm: ArmSpec) -> Iterator[Finding]:
    ours, theirs = (next(iter(evidence.servers.get(name, ())), None) for name in (evidence.baseline, arm.name))
    if arm.same_prompts and ours and theirs and ours.tokenizer_sha and theirs.tokenizer_sha:
        if ours.tokenizer_sha == theirs.tokenizer_sha:
            return
        text = phrase(
            "its tokenizer files or chat template differ from the baseline's ({ours}, {theirs}); "
            "whether a prompt changed is told by the prompts' token ids",
            ours=ours.tokenizer_sha,
            theirs=theirs.tokenizer_sha,
        )
        yield Finding(severity="note", kind="tokenizer_differs", arm=arm.name, task=None, text=text)
