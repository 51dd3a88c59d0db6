"""Needles on a real vLLM, with a tiny model that finds them in short texts: a planted RoPE fault shows, and so does a floor.

Two servers: a healthy one that all of these tests ask, and one with the fault.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_experiments import ENGINE, ENV

from evals import config, run, store
from evals.compare import ledger
from evals.engine import serve
from evals.evidence import from_contents
from evals.judged import Evidence, Verdict
from evals.needle_checks import TASK, lengths
from evals.progress import Silent
from evals.report.needle_rows import heat, total
from tasks.needle import Cell

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]

COPIER = Path(__file__).parent / "copier"
REQUEST = "request: {chat_template_kwargs: {enable_thinking: false}, timeout_s: 1800}"
SERVED = f"""
    engine: {{venv: {ENGINE}}}
    model: {COPIER}
    env: {{{ENV}}}
    {REQUEST}
    args: {{dtype: bfloat16, max-model-len: 131072, enforce-eager: true"""
STRETCHED = "hf-overrides: {rope_parameters: {rope_type: linear, factor: 4.0, rope_theta: 10000.0}}"
"""Every position divided by four, as where a checkpoint's scaling is applied that was not trained."""


def judged(folder: Path, name: str, arms: str, task: str, margin: int) -> tuple[Verdict, Evidence]:
    path = folder / f"{name}.yaml"
    gates = f"gates: [{{task: needle, margin: {margin}}}]"
    path.write_text(f"name: {name}\nbaseline: healthy\nlaunches: 1\narms:{arms}\ntasks: [{{task: needle, {task}}}]\n{gates}\n")
    where = folder / "reports" / name
    verdict = run.run(config.load(path), where, Silent())
    return verdict, from_contents(store.read(where))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("needle")


@pytest.fixture(scope="module")
def healthy(folder: Path) -> Iterator[str]:
    """The arm's settings: a server that already runs."""
    path = folder / "copier.yaml"
    path.write_text(f"name: copier\nbaseline: copier\narms:\n  copier:{SERVED}}}\ntasks: [greedy]\ngates: []\n")
    arm = config.load(path).arms[0]
    with serve(arm, 0, folder / "copier.log", lambda _: None) as server:
        yield f"\n  healthy: {{engine: {{url: '{server.endpoint.url}/v1'}}, {REQUEST}}}"


@pytest.fixture(scope="module")
def short(folder: Path, healthy: str) -> tuple[Verdict, Evidence]:
    task = "lengths: [256, 400], depths: [10, 50, 90], languages: [en, zh], repeats: 4, max_tokens: 64, warm: true"
    return judged(folder, "short", f"{healthy}\n  stretched:{SERVED}, {STRETCHED}}}", task, 20)


@pytest.fixture(scope="module")
def long(folder: Path, healthy: str) -> tuple[Verdict, Evidence]:
    task = "lengths: [100000], depths: [50], languages: [en, zh], max_tokens: 64, concurrency: 1"
    return judged(folder, "long", f"{healthy}\n  again: {{repeat_of: healthy}}", task, 20)


def exact(evidence: Evidence) -> bool:
    seen = [lengths(ledger(evidence), arm.name, evidence.tasks[0]) for arm in evidence.arms]
    return all(
        told.n == told.exact == evidence.tasks[0].rounds * len(evidence.samples[TASK]) and not told.untold for told in seen
    )


def test_a_healthy_arm_finds_needles_in_short_texts(short: tuple[Verdict, Evidence]) -> None:
    evidence = short[1]
    rows = heat(evidence, "healthy", evidence.tasks[0])
    by_language = {name: total([row.all for row in rows if row.language == name]).percent or 0 for name in ("en", "zh")}
    assert min(by_language.values()) >= 75, by_language


def test_a_stretched_rope_is_a_regression(short: tuple[Verdict, Evidence]) -> None:
    (gate,) = short[0].gates
    assert gate.verdict == "REGRESSION", gate.reason


def test_every_prompt_has_the_tokens_that_were_wanted_and_both_arms_get_the_same(short: tuple[Verdict, Evidence]) -> None:
    verdict, evidence = short
    assert exact(evidence)
    assert not [f for f in verdict.findings if f.kind in ("needle_lengths", "prompts_differ", "prompts_unchecked")]


def test_the_engines_counters_prove_the_warm_pass(short: tuple[Verdict, Evidence]) -> None:
    verdict, evidence = short
    assert not [f for f in verdict.findings if f.kind in ("warm_not_warm", "warm_unknown")]
    cold, warm = ([w for w in evidence.windows if w.arm == "healthy" and w.round == k] for k in (0, 1))
    assert sum(w.prefix_cache_hits or 0 for w in cold) < 0.1 * sum(w.prefix_cache_queries or 0 for w in cold)
    assert sum(w.prefix_cache_hits or 0 for w in warm) > 0.4 * sum(w.prefix_cache_queries or 0 for w in warm) > 0


def test_100k_tokens_are_asked_exactly_and_a_floor_is_called_a_floor(long: tuple[Verdict, Evidence]) -> None:
    """The tiny model was never trained on so long a text."""
    verdict, evidence = long
    assert {Cell.read(s.id).length for s in evidence.samples[TASK]} == {100_000}
    assert exact(evidence)
    assert verdict.overall == "INVALID"
    assert "the baseline is at the floor: 0/2 correct" in verdict.gates[0].reason
    assert [f.severity for f in verdict.findings if f.kind == "floor"] == ["alarm", "alarm"]
