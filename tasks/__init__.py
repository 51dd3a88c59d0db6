"""What is asked, and how an answer is marked."""

from tasks import gsm8k, mmlu, needle_score
from tasks.base import GENERATES_NOTHING, TaskInfo
from tasks.foreign import Foreign

TASKS: dict[str, TaskInfo] = {
    "gsm8k": TaskInfo(
        name="gsm8k",
        marked=True,
        chance=0.0,
        # It generates, so speculation, the prefix cache, thinking and parsers all show.
        blind_to=frozenset(),
        default_n=200,
        default_margin=2.0,
        default_max_tokens=1024,
        hub_n=1319,
        score=gsm8k.score,
    ),
    "mmlu": TaskInfo(
        name="mmlu",
        marked=True,
        chance=25.0,
        # Over chat it generates, as gsm8k does.
        blind_to=frozenset(),
        default_n=200,
        default_margin=2.0,
        default_max_tokens=1024,
        hub_n=14042,
        score=mmlu.score,
    ),
    "mmlu_loglikelihood": TaskInfo(
        name="mmlu_loglikelihood",
        marked=True,
        chance=25.0,
        blind_to=GENERATES_NOTHING,
        default_n=200,
        # It gates only where a gate names it: of most changes it sees nothing.
        default_margin=None,
        default_max_tokens=1,
        hub_n=14042,
        score=mmlu.score_likelihoods,
    ),
    "coding": TaskInfo(
        name="coding",
        marked=True,
        chance=0.0,
        blind_to=frozenset(),
        default_n=None,
        # With 50 samples it can exclude a collapse, and no less.
        default_margin=10.0,
        default_max_tokens=2048,
        hub_n=None,
        score=None,
        sandboxed=True,
    ),
    "needle": TaskInfo(
        name="needle",
        marked=True,
        chance=0.0,
        blind_to=frozenset(),
        default_n=None,
        default_margin=2.0,
        default_max_tokens=512,
        hub_n=None,
        score=needle_score.score,
    ),
    "greedy": TaskInfo(
        name="greedy",
        marked=False,
        chance=0.0,
        blind_to=frozenset(),
        default_n=None,
        default_margin=None,
        default_max_tokens=256,
        hub_n=None,
        score=None,
    ),
}
"""The one registry, by task name."""


def task_info(name: str) -> TaskInfo:
    """What a journal's reader must know of a task: whatever is none of ours is one that lm-eval marks."""
    return TASKS.get(name) or Foreign(name=name, likelihood=False, metric="", folders=()).info
