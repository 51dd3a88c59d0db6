"""In which kinds an arm differs from another, and whether a task could see any of them. Pure."""

from dataclasses import asdict
from typing import Any, Literal

from evals import flags
from evals.experiment import Arm, Experiment
from tasks.base import ChangeKind

Change = ChangeKind | Literal["other"]
"""`other`: another engine, model or flag, which every task can see."""

_FLAGS: dict[str, ChangeKind] = {
    "speculative-config": "speculation",
    "per-request-spec-decode-metrics": "speculation",
    "enable-prefix-caching": "prefix_cache",
    "no-enable-prefix-caching": "prefix_cache",
    "prefix-caching-hash-algo": "prefix_cache",
    "prefix-cache-retention-interval": "prefix_cache",
    "default-chat-template-kwargs": "thinking",
    "reasoning-config": "thinking",
    "reasoning-parser": "parsers",
    "reasoning-parser-plugin": "parsers",
    "enable-reasoning": "parsers",
    "tool-call-parser": "parsers",
    "tool-parser-plugin": "parsers",
    "enable-auto-tool-choice": "parsers",
}
_FIELDS: dict[str, ChangeKind] = {
    "reasoning_effort": "thinking",
    "chat_template_kwargs": "thinking",
    "thinking_token_budget": "thinking",
    "include_reasoning": "parsers",
    "tools": "parsers",
    "tool_choice": "parsers",
    **dict.fromkeys(
        ("max_tokens", "temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty", "repetition_penalty"),
        "sampling",
    ),
}
_WITHOUT_EFFECT = ("timeout_s", "extra_body")
"""How long an answer is waited for; and a section whose fields are looked at one by one."""


def changes(base: Arm, arm: Arm) -> frozenset[Change]:
    """Every kind in which two arms differ. Where a server runs is none: neither its devices nor the patience at its start."""
    out: set[Change] = {_FLAGS.get(name, "other") for name in _differing(flags.canonical(base.args), flags.canonical(arm.args))}
    out |= {_FIELDS.get(name, "other") for name in _differing(_fields(base), _fields(arm))}
    if (base.thinking and base.thinking.effort) != (arm.thinking and arm.thinking.effort):
        out.add("thinking")
    if base.sampling != arm.sampling:
        out.add("sampling")
    if any(getattr(base, name) != getattr(arm, name) for name in ("engine", "model", "model_files", "env")):
        out.add("other")
    return frozenset(out)


def _fields(arm: Arm) -> dict[str, Any]:
    """What is sent with a question, `extra_body` among it."""
    own = {name: value for name, value in asdict(arm.request).items() if name not in _WITHOUT_EFFECT}
    return own | arm.request.extra_body


def _differing(mine: dict[str, Any], theirs: dict[str, Any]) -> set[str]:
    return {name for name in mine | theirs if mine.get(name) != theirs.get(name)}


def unseen(base: Arm, arm: Arm, blind_to: frozenset[ChangeKind]) -> frozenset[Change]:
    """What the arms differ in, where a task that is blind to these kinds sees nothing of it; else empty.

    Arms that differ in nothing are an A/A check, which every task can make.
    """
    found = changes(base, arm)
    return found if found <= blind_to else frozenset()


def blind_gate(experiment: Experiment) -> str | None:
    """The first gate that could see nothing of what one of its candidates changes, and what to do; None where all can see."""
    base = experiment.arm(experiment.baseline)
    for gate in experiment.gates:
        blind_to = next(t.info.blind_to for t in experiment.tasks if t.name == gate.task)
        for arm in (a for a in experiment.candidates if gate.judges(a.name)):
            if found := unseen(base, arm, blind_to):
                kinds = ", ".join(sorted(found)).replace("_", " ")
                says = f"the gate on {gate.task} can't see what {arm.name} changes ({kinds}), so that it would pass unseen"
                return f"{says}; {_remedy(experiment, arm)}"
    return None


def _remedy(experiment: Experiment, arm: Arm) -> str:
    base = experiment.arm(experiment.baseline)
    marked = [t.info for t in experiment.tasks if t.info.marked]
    if able := [info.name for info in marked if not unseen(base, arm, info.blind_to)]:
        return f"gate on {' or '.join(able)}"
    return "add a task that generates, such as gsm8k or mmlu, and gate on it"
