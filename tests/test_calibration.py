"""What the gate promises, where the truth is known: exactly, by going through every outcome."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evals.gate_settings import even
from evals.power import Chances, Design, chances

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "calibration.py"
MARGINS = {50: 10.0, 200: 5.0, 1319: 2.0}


def said(n: int, discordance: float, *, rounds: int, looks: int, drop: float, gates: int = 1) -> Chances:
    sizes = even(round(n / looks), n, looks) if looks > 1 else (n,)
    return chances(Design(sizes=sizes, margin=MARGINS[n], rounds=rounds, gates=gates), discordance, drop / 100)


@pytest.mark.parametrize("looks", [1, 4])
@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("discordance", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("n", MARGINS)
def test_a_gate_errs_as_seldom_as_it_says(n: int, discordance: float, rounds: int, looks: int) -> None:
    equal = said(n, discordance, rounds=rounds, looks=looks, drop=0)
    assert equal.regression <= 0.05
    assert equal.coverage >= 0.945
    worse = said(n, discordance, rounds=rounds, looks=looks, drop=MARGINS[n])
    assert worse.passes <= 0.055
    assert worse.coverage >= 0.945


@pytest.mark.parametrize("gates", [2, 6])
def test_several_gates_together_cry_wolf_no_more_often_than_one(gates: int) -> None:
    assert gates * said(1319, 0.05, rounds=1, looks=1, drop=0, gates=gates).regression <= 0.05
    assert gates * said(1319, 0.05, rounds=1, looks=3, drop=0, gates=gates).regression <= 0.05


@pytest.mark.parametrize("drop", [1, 2, 3, 5])
@pytest.mark.parametrize("looks", [1, 3])
def test_the_bound_covers_every_true_drop(drop: float, looks: int) -> None:
    assert said(1319, 0.05, rounds=1, looks=looks, drop=drop).coverage >= 0.945


def test_a_drop_far_beyond_the_margin_is_found_and_early() -> None:
    worse = said(1319, 0.05, rounds=1, looks=3, drop=5)
    assert worse.regression > 0.999
    assert worse.mean_n < 0.5 * 1319


@pytest.fixture(scope="module")
def cells() -> list[dict[str, Any]]:
    done = subprocess.run([sys.executable, BENCHMARK, "--quick", "--json"], capture_output=True, text=True, check=True)
    told: list[dict[str, Any]] = json.loads(done.stdout)
    return told


@pytest.mark.slow
def test_the_quick_grid_holds_the_bounds_and_names_what_a_reader_looks_for(cells: list[dict[str, Any]]) -> None:
    for cell in cells:
        assert cell["regression_rate"] + cell["pass_rate"] + cell["inconclusive_rate"] == pytest.approx(1)
        assert cell["coverage"] >= 0.945
        assert cell["mean_items"] <= cell["n"] + 1e-6
        if cell["true_drop"] == 0:
            assert cell["regression_rate"] <= 0.05
        if cell["true_drop"] == cell["margin"]:
            assert cell["pass_rate"] <= 0.055


@pytest.mark.slow
def test_looks_save_more_than_a_quarter_of_the_samples(cells: list[dict[str, Any]]) -> None:
    saved = [cell for cell in cells if cell["fixed_items"] and cell["true_drop"] == 0]
    assert saved
    for cell in saved:
        assert cell["pass_rate"] >= 0.9
        assert cell["mean_items"] <= 0.72 * cell["fixed_items"]
