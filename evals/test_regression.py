"""The gates of one experiment as tests: REGRESSION and INCONCLUSIVE fail, INVALID is an error."""

import pytest

from evals.judged import GateResult


@pytest.mark.regression
def test_gate(gate: GateResult) -> None:
    if gate.verdict != "PASS":
        pytest.fail(f"{gate.verdict}: {gate.reason}", pytrace=False)
