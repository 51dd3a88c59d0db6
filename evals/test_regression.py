"""The gates of one experiment as tests: REGRESSION and INCONCLUSIVE fail, INVALID is an error."""

import pytest

from evals import options
from evals.conftest import Judged
from evals.judged import GateResult


@pytest.mark.regression
def test_gate(gate: GateResult, judged: Judged, request: pytest.FixtureRequest) -> None:
    lenient = gate.verdict == "INCONCLUSIVE" and options.inconclusive(request.config) == "warn"
    if gate.verdict != "PASS" and not lenient:
        more = judged.flips[gate.arm, gate.task]
        pytest.fail("\n".join([f"{gate.verdict}: {gate.reason}", *more]), pytrace=False)
