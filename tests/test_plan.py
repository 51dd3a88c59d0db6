"""Which server runs when and what it is asked, before anything is started."""

from dataclasses import replace

import pytest
from test_experiment import ARM

from evals import plan
from evals.experiment import Arm, Experiment, RequestSettings, TaskConfig, UrlEngine
from evals.judged import GateSpec

GSM8K = TaskConfig(name="gsm8k", n=200, rounds=1, concurrency=16, data_dir=None, fewshot=None, max_tokens=1024, seed=0)
GREEDY = replace(GSM8K, name="greedy", n=30)
BASELINE = replace(ARM, name="base")
QUANTIZED = replace(ARM, name="awq", model="org/awq")
THINKING = replace(ARM, name="think", request=RequestSettings(reasoning_effort="low"))


def experiment(
    *arms: Arm, tasks: tuple[TaskConfig, ...] = (GSM8K, GREEDY), launches: int = 2, margin: float = 2.0
) -> Experiment:
    gates = tuple(GateSpec(task=t.name, margin=margin) for t in tasks if t.name == "gsm8k")
    return Experiment(name="x", arms=arms, baseline="base", launches=launches, tasks=tasks, gates=gates, source="")


def stages(chosen: Experiment) -> list[list[str]]:
    return [[f"{s.arm.name} {s.task.name} {s.round}" for s in launch.stages] for launch in plan.launches(chosen)]


def test_the_baseline_is_first_and_its_other_launches_are_last() -> None:
    found = plan.launches(experiment(QUANTIZED, BASELINE))
    assert stages(experiment(QUANTIZED, BASELINE)) == [
        ["base gsm8k 0", "base greedy 0"],
        ["awq gsm8k 0", "awq greedy 0"],
        ["base greedy 1"],
    ]
    assert [launch.index for launch in found] == [0, 0, 1]


def test_arms_that_differ_only_in_their_requests_share_a_launch() -> None:
    found = plan.launches(experiment(BASELINE, QUANTIZED, THINKING, tasks=(GREEDY,)))
    assert [[arm.name for arm in launch.arms] for launch in found] == [["base", "think"], ["awq"], ["base"]]


def test_a_repeat_has_a_launch_of_its_own() -> None:
    again = replace(BASELINE, name="again", repeat_of="base")
    assert stages(experiment(BASELINE, again, tasks=(GREEDY,))) == [["base greedy 0"], ["again greedy 0"], ["base greedy 1"]]


def test_rounds_are_spread_over_the_launches_of_the_baseline_only() -> None:
    found = stages(experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, rounds=3),)))
    assert found == [
        ["base gsm8k 0", "base gsm8k 2"],
        ["awq gsm8k 0", "awq gsm8k 1", "awq gsm8k 2"],
        ["base gsm8k 1"],
    ]


@pytest.mark.parametrize("launches", [1, 2, 3, 5])
def test_every_round_is_asked_once_whatever_the_launches(launches: int) -> None:
    found = [
        s
        for launch in stages(experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, rounds=4),), launches=launches))
        for s in launch
    ]
    assert sorted(found) == [f"{arm} gsm8k {k}" for arm in ("awq", "base") for k in range(4)]


def test_greedy_is_asked_once_a_launch() -> None:
    assert [launch[-1] for launch in stages(experiment(BASELINE, launches=3))] == [
        "base greedy 0",
        "base greedy 1",
        "base greedy 2",
    ]


def test_a_launch_with_nothing_to_ask_is_not_started() -> None:
    assert stages(experiment(BASELINE, QUANTIZED, tasks=(GSM8K,), launches=4)) == [["base gsm8k 0"], ["awq gsm8k 0"]]


def test_requests_are_counted() -> None:
    assert plan.requests(experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, rounds=2), GREEDY))) == 2 * 2 * 200 + 3 * 30
    assert plan.requests(experiment(BASELINE, tasks=(replace(GSM8K, n=None),))) is None


@pytest.mark.parametrize(("n", "excluded"), [(50, 8.1), (200, 3.5), (1319, 1.3), (14042, 0.4)])
def test_what_a_gate_can_exclude(n: int, excluded: float) -> None:
    (gate,) = plan.gates(experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, n=n),)))
    assert gate.knowable is not None
    assert (gate.arm, gate.task, gate.margin, gate.knowable.n) == ("awq", "gsm8k", 2.0, n)
    assert gate.knowable.excluded_drop == pytest.approx(excluded, abs=0.05)


def test_there_is_a_gate_for_every_candidate() -> None:
    assert [(g.arm, g.task) for g in plan.gates(experiment(BASELINE, QUANTIZED, THINKING))] == [
        ("awq", "gsm8k"),
        ("think", "gsm8k"),
    ]
    (gate,) = plan.gates(experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, n=None),)))
    assert gate.knowable is None


def test_a_gate_that_cannot_pass_is_warned_of_once() -> None:
    said = plan.warnings(experiment(BASELINE, QUANTIZED, THINKING))
    assert said[0] == (
        "gsm8k: with 200 questions this gate can't exclude a drop below 3.5 points; 1,263 would bring it to 1.3, "
        "and the margin is 2"
    )
    assert len(said) == 2
    assert plan.warnings(experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, n=1400), GREEDY))) == ()


def test_a_pass_that_is_not_likely_enough_is_warned_of() -> None:
    """568 samples exclude the margin when the draw is even, which it seldom is."""
    (said,) = plan.warnings(experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, n=568), GREEDY)))
    assert said == (
        "an overall PASS is only 50 % likely if nothing changed: ask more, take a wider margin, or judge fewer arms"
    )
    chosen = experiment(BASELINE, QUANTIZED, THINKING, tasks=(replace(GSM8K, n=1400), GREEDY))
    one = plan.passes_if_equal(experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, n=1400), GREEDY)))
    assert plan.passes_if_equal(chosen) == pytest.approx((one or 0) ** 2, abs=0.01)


def test_more_samples_than_there_are_is_no_advice() -> None:
    fifty = replace(GSM8K, n=50, size=50)
    assert plan.warnings(experiment(BASELINE, QUANTIZED, tasks=(fifty, GREEDY))) == (
        "gsm8k: with 50 questions this gate can't exclude a drop below 8.1 points; all 50 that there are would not be enough "
        "without more `rounds:` or a wider margin, and the margin is 2",
        "an overall PASS is only 6 % likely if nothing changed: set more `rounds:`, take a wider margin, or judge fewer arms",
    )
    said = plan.warnings(experiment(BASELINE, QUANTIZED, tasks=(fifty, GREEDY), margin=10))
    assert said[0].endswith("set more `rounds:`, take a wider margin, or judge fewer arms")
    assert "66" not in str(said)
    (gate,) = plan.gates(experiment(BASELINE, QUANTIZED, tasks=(fifty, GREEDY), margin=10))
    assert "where luck is even; all 50 that there are would not be enough without more `rounds:`" in plan.sentence(gate)
    (gate,) = plan.gates(experiment(BASELINE, QUANTIZED, tasks=(replace(fifty, size=1319), GREEDY)))
    assert "1,263 would bring it to 1.3" in plan.sentence(gate)


def test_a_gate_is_told_in_words() -> None:
    (gate,) = plan.gates(experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, n=1319),)))
    assert plan.sentence(gate).startswith(
        "awq · gsm8k: margin 2, at 8 % flips: with 1,319 questions this gate can exclude a drop of 1.3 points; "
        "1,263 are enough for its margin of 2; a PASS is 8"
    )
    (gate,) = plan.gates(experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, n=None),)))
    assert "asks the whole data set; a PASS is 80 % likely if nothing changed from n = 1,263" in plan.sentence(gate)


def test_a_gate_judges_the_arms_that_it_names() -> None:
    chosen = experiment(BASELINE, QUANTIZED, THINKING)
    chosen = replace(chosen, gates=(replace(chosen.gates[0], arms=("think",)),))
    assert [gate.arm for gate in plan.gates(chosen)] == ["think"]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (experiment(BASELINE, QUANTIZED, launches=1, margin=6), "launches: 1 gives no noise floor"),
        (
            experiment(replace(BASELINE, engine=UrlEngine(url="http://h", api_key_env=None)), QUANTIZED, margin=6),
            "the baseline is a url",
        ),
        (replace(experiment(BASELINE, QUANTIZED), gates=()), "no gate: nothing can PASS"),
        (experiment(BASELINE, margin=6), "no candidate: one arm alone can't be judged"),
    ],
)
def test_what_a_reader_should_know_before(chosen: Experiment, said: str) -> None:
    (warning,) = plan.warnings(chosen)
    assert warning.startswith(said)


def test_a_data_set_that_is_smaller_than_n_is_planned_as_it_is_and_said() -> None:
    chosen = experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, n=500, size=100),))
    assert plan.requests(chosen) == 200
    assert [g.knowable.n for g in plan.gates(chosen) if g.knowable] == [100]
    assert "gsm8k: 500 samples are asked for and the data set has 100" in plan.warnings(chosen)


def test_a_whole_data_set_of_known_size_is_counted() -> None:
    chosen = experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, n=None, size=1319),))
    assert plan.requests(chosen) == 2638
    (known,) = [g.knowable for g in plan.gates(chosen)]
    assert known is not None
    assert round(known.excluded_drop, 1) == 1.3


def test_a_margin_that_looks_like_a_share_is_said() -> None:
    said = [w for w in plan.warnings(experiment(BASELINE, QUANTIZED, margin=0.02)) if "percentage points" in w]
    assert said == ["gsm8k: margins are in percentage points, and 0.02 is less than a tenth of one; for 2 % write 2"]


def test_a_plan_tells_in_which_flags_an_arm_differs_from_the_baseline() -> None:
    base, other = replace(BASELINE, args={"a": 1, "b": 2}), replace(QUANTIZED, args={"a": 1, "c": {"d": 3}})
    assert plan.own_flags(experiment(base, other), other) == {"b": None, "c": {"d": 3}}


def test_arms_on_disjoint_devices_run_together_only_when_told() -> None:
    arms = [replace(a, devices=d) for a, d in ((BASELINE, (0, 1)), (QUANTIZED, (2, 3)), (replace(QUANTIZED, name="b"), (3,)))]
    chosen = experiment(*arms)
    assert [len(batch) for batch in plan.batches(chosen)] == [1, 1, 1, 1]
    together = [[launch.arms[0].name for launch in batch] for batch in plan.batches(replace(chosen, parallel=True))]
    assert together == [["base", "awq"], ["b", "base"]]


@pytest.mark.parametrize("devices", [(), (0,)])
def test_arms_that_share_devices_or_name_none_run_one_after_another_and_that_is_said(devices: tuple[int, ...]) -> None:
    chosen = replace(experiment(replace(BASELINE, devices=(0,)), replace(QUANTIZED, devices=devices)), parallel=True)
    assert [len(batch) for batch in plan.batches(chosen)] == [1, 1, 1]
    assert any(w.startswith("parallel: no two arms") for w in plan.warnings(chosen))


@pytest.mark.parametrize(("sizes", "said"), [((2, 1, 1), True), ((2, 1, 2), True), ((1, 1, 1), False), (("two", 1, 1), False)])
def test_fewer_devices_than_the_flags_ask_for_are_said(sizes: tuple[object, ...], said: bool) -> None:
    args = dict(zip((f"{kind}-parallel-size" for kind in ("tensor", "pipeline", "data")), sizes, strict=True))
    chosen = experiment(BASELINE, replace(QUANTIZED, args=args, devices=(0,)))
    assert any("devices and `devices` names 1" in w for w in plan.warnings(chosen)) == said


def test_every_server_but_one_that_arms_share_is_asked_for_log_probabilities_once_and_the_baselines_twice() -> None:
    found = plan.launches(experiment(BASELINE, QUANTIZED, THINKING, launches=3))
    assert [launch.sensed and launch.sensed.name for launch in found] == ["base", "awq", "base", None]
    # 36 answers of gsm8k and 30 prompts a server; up to 16 flips on the candidate, and on the baseline's second launch
    assert plan.forced_requests(experiment(BASELINE, QUANTIZED, THINKING, launches=3)) == 3 * (36 + 30) + 2 * 16
    assert plan.forced_requests(experiment(BASELINE, QUANTIZED, launches=1)) == 2 * (36 + 30) + 16


def test_the_baselines_first_answers_to_what_is_generated_keep_their_prompts() -> None:
    mmlu = replace(GSM8K, name="mmlu_loglikelihood")
    found = plan.launches(experiment(BASELINE, QUANTIZED, tasks=(replace(GSM8K, rounds=2), mmlu, GREEDY)))
    kept = [f"{s.arm.name} {s.task.name} {s.round}" for launch in found for s in launch.stages if s.keeps_prompts]
    assert kept == ["base gsm8k 0", "base greedy 0"]


def test_without_another_server_or_with_sensors_off_nothing_is_asked() -> None:
    for chosen in (experiment(BASELINE, THINKING), replace(experiment(BASELINE, QUANTIZED), sensors=False)):
        assert plan.forced_requests(chosen) == 0
        assert not any(launch.sensed for launch in plan.launches(chosen))
        assert not any(s.keeps_prompts for launch in plan.launches(chosen) for s in launch.stages)


def test_a_sensor_starts_no_server_of_its_own() -> None:
    assert len(plan.launches(experiment(BASELINE, QUANTIZED, tasks=(GSM8K,), launches=2))) == 2
