"""Endpoints behind which another server stands than when a run was stopped."""

from collections.abc import Callable, Iterable
from pathlib import Path

from evals.engine import serve
from evals.errors import EngineError
from evals.experiment import Arm, UrlEngine
from evals.store import Journal


def forget(arms: Iterable[Arm], journal: Journal, logs: Path, say: Callable[[str], None]) -> None:
    """What a server that was replaced answered is stale."""
    for arm in (a for a in arms if isinstance(a.engine, UrlEngine)):
        before = [info for (name, _), (_, info) in journal.contents.servers.items() if name == arm.name]
        if not before:
            continue
        try:
            with serve(arm, 0, logs / arm.name, say) as server:
                now = server.info
        except EngineError:
            continue  # told when its turn comes
        answers = (a.response for (p, _), a in journal.contents.answers.items() if p.arm == arm.name)
        # Several servers behind one url are one arm, as long as each was seen before.
        seen = {r.fingerprint for r in answers if r} | {info.fingerprint for info in before}
        if now.fingerprint not in seen or (now.version, now.model) not in {(i.version, i.model) for i in before}:
            say(f"{arm.name}: another server stands behind its url since this run stopped; it is asked afresh")
            journal.forget(arm.name)
