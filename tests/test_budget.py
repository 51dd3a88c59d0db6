"""What a run will take, how many samples fit into a time, and what earlier runs on this machine taught."""

from dataclasses import replace
from pathlib import Path

import pytest
from test_plan import BASELINE, GREEDY, GSM8K, QUANTIZED, experiment
from test_survival import N, answered, evidence
from test_survival import experiment as served

from evals import budget, rates, run, store
from evals.budget import Rate, Rates
from evals.engine import venv
from evals.errors import ConfigError
from evals.progress import Silent

pytestmark = pytest.mark.slow

TASK = replace(GSM8K, n=None, size=1319)
RATES = Rates(
    samples={("base", "gsm8k"): Rate(seconds_per_sample=2.0, tokens_per_sample=100), ("base", "greedy"): Rate(
        seconds_per_sample=1.0, tokens_per_sample=50
    )},
    ready_s={"base": 60.0},
)  # fmt: skip
SIZES = {"gsm8k": 1319, "greedy": 30}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("3h", 10800), ("90m", 5400), ("1h30m", 5400), ("45s", 45), ("1.5 h", 5400), ("2d", 172800), ("3H", 10800)],
)
def test_times_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert budget.duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "3", "h", "3h!", "-3h", "0h", "three hours", "3 weeks"])
def test_what_is_no_time_is_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^--budget '.*': write a time such as 3h, 90m or 1h30m$"):
        budget.duration_s(text)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(3, "3 s"), (89, "89 s"), (90, "2 min"), (5340, "89 min"), (5400, "1 h 30 min"), (10920, "3 h 02 min")],
)
def test_times_are_told_in_few_words(seconds: float, said: str) -> None:
    assert budget.words(seconds) == said


def test_a_run_costs_its_starts_and_its_samples() -> None:
    """Base and candidate ask gsm8k once; base is started twice for greedy, the candidate once."""
    found = budget.cost(experiment(BASELINE, QUANTIZED, tasks=(TASK, GREEDY)), RATES)
    assert found is not None
    assert (found.starts_s, found.asking_s, found.tokens) == (3 * 60, 2 * 1319 * 2 + 3 * 30, 2 * 131900 + 3 * 1500)
    assert budget.sentence(found).startswith("time: about 1 h 32 min (3 min of it starts), 268,300 tokens")


def test_what_was_never_measured_has_no_cost() -> None:
    assert budget.cost(experiment(BASELINE, QUANTIZED), Rates(samples={}, ready_s={})) is None


def test_a_long_budget_asks_everything() -> None:
    found = budget.allot(experiment(BASELINE, QUANTIZED, tasks=(TASK, GREEDY)), RATES, 3 * 3600, SIZES)
    assert found.n == SIZES
    assert found.told == ("gsm8k: all 1319 samples fit",)


def test_a_short_budget_cuts_the_gated_task_and_says_what_is_given_up() -> None:
    """(3600 · 0.9 − 180 starts − 90 greedy) / 4 s a pair."""
    found = budget.allot(experiment(BASELINE, QUANTIZED, tasks=(TASK, GREEDY)), RATES, 3600, SIZES)
    assert found.n == {"gsm8k": 742, "greedy": 30}
    (line,) = found.told
    assert line.startswith(
        "gsm8k: 742 of 1319 samples fit, which can exclude a drop of 1.7 points, where the margin 2 asks for"
    )


def test_a_budget_that_is_too_short_for_anything_says_what_would_do() -> None:
    """Starts 180 s, greedy 90 s, ten pairs 40 s, against 54 s."""
    found = budget.allot(experiment(BASELINE, QUANTIZED, tasks=(TASK, GREEDY)), RATES, 60, SIZES)
    assert found.missing_s == 180 + 90 + 40 - 54
    assert budget.allot(experiment(BASELINE, QUANTIZED, tasks=(TASK, GREEDY)), RATES, 3600, SIZES).missing_s == 0


def test_a_slower_candidate_is_counted_at_its_own_rate() -> None:
    slow = replace(RATES, samples=RATES.samples | {("awq", "gsm8k"): Rate(seconds_per_sample=6.0, tokens_per_sample=None)})
    arms = experiment(BASELINE, QUANTIZED, tasks=(TASK, GREEDY))
    assert budget.allot(arms, slow, 3600, SIZES).n["gsm8k"] == 742 // 2


def test_a_budget_is_kept_over_a_stop_and_answers_of_the_probe_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "PROBE_S", 0.1)
    slow = Rates(samples={("old", "gsm8k"): Rate(seconds_per_sample=10.0, tokens_per_sample=None)}, ready_s={"old": 1.0})
    monkeypatch.setattr(rates, "measured", lambda *_: slow)
    chosen = served(tmp_path)
    run.run(chosen, tmp_path / "run", Silent(), budget_s=800.0)  # 40 s a sample: two arms, two rounds
    told = evidence(tmp_path / "run")
    assert budget.LEAST_N <= len(told.asked("new", "gsm8k")) == 17 < N
    assert sum(r.task == "gsm8k" and r.arm == "new" for r in told.records) == 2 * 17
    assert told.given_up[0].startswith(f"gsm8k: 17 of {N} samples fit")
    asked = len(answered(tmp_path))
    run.run(chosen, tmp_path / "run", Silent(), budget_s=800.0)
    assert len(answered(tmp_path)) == asked
    run.run(chosen, tmp_path / "run", Silent(), budget_s=600.0)  # a smaller one takes nothing back that is answered
    assert len(answered(tmp_path)) == asked
    assert len(evidence(tmp_path / "run").asked("new", "gsm8k")) == 17
    longer = run.run(chosen, tmp_path / "run", Silent())  # without a budget the rest is asked, which nobody planned
    assert len(evidence(tmp_path / "run").asked("new", "gsm8k")) == N
    assert (longer.overall, [gate.exploratory for gate in longer.gates]) == ("INCONCLUSIVE", [True])


def test_a_budget_that_is_too_little_is_told_before_hours_are_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "PROBE_S", 0.1)
    with pytest.raises(ConfigError, match=r"^--budget 1 s is too little: 10 samples a gate take about"):
        run.run(served(tmp_path), tmp_path / "run", Silent(), budget_s=1.0)


def test_rates_of_earlier_runs_tell_the_time_of_the_next(tmp_path: Path) -> None:
    chosen = served(tmp_path)
    assert budget.cost(chosen, rates.known(chosen)) is None
    run.run(chosen, tmp_path / "run", Silent())
    known = rates.known(chosen)
    assert known == rates.measured(chosen, store.read(tmp_path / "run"))
    found = budget.cost(chosen, known)
    assert found is not None
    assert found.asking_s > 0
    assert found.tokens
    other = replace(chosen, arms=tuple(replace(a, args={"seed": 1}) for a in chosen.arms))
    assert rates.known(other).samples.keys() == known.samples.keys()  # another flag of one model is about as fast


def test_a_spoilt_file_of_rates_is_no_fault(tmp_path: Path) -> None:
    chosen = served(tmp_path)
    venv.cache_root().mkdir(parents=True, exist_ok=True)
    rate = '{"seconds_per_sample": -5, "tokens_per_sample": null}'
    for spoilt in ("{]", '{"ready x": NaN}', f'{{"ready x": -1, "y": 1e300, "z": {rate}}}'):
        (venv.cache_root() / "rates.json").write_text(spoilt)
        assert rates.known(chosen) == Rates(samples={}, ready_s={})
        assert rates._read() == {}


def test_what_sensors_ask_is_told_with_the_most_that_it_takes() -> None:
    """Twice 36 answers and three times 30 prompts, 16 flips on two servers; an answer of gsm8k took 2 s."""
    chosen = experiment(BASELINE, QUANTIZED, tasks=(TASK, GREEDY))
    told = "sensors: up to 230 requests more of one forward pass each"
    assert budget.sensors(chosen, RATES) == f"{told}, 8 min at the most"
    assert budget.sensors(chosen, Rates(samples={}, ready_s={})) == told
    assert budget.sensors(experiment(BASELINE), RATES) == ""
