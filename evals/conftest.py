"""`pytest evals/ -m regression`: computes one experiment, then each test reads its gate.

Installed: `pytest --pyargs evals -m regression`.
"""

from pathlib import Path

import pytest
from rich.console import Console

from evals import config, options, shipped
from evals.errors import BumpgateError, ConfigError
from evals.experiment import Experiment
from evals.judged import GateResult, Verdict
from evals.options import pytest_addoption as pytest_addoption
from evals.progress import Display


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "regression: serves the experiment's arms and judges them (minutes to hours)")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per candidate × gate."""
    if "gate" not in metafunc.fixturenames:
        return
    try:
        chosen = _experiment(metafunc.config)
    except ConfigError as e:
        raise pytest.Collector.CollectError(
            str(e)
        ) from e  # shown as one line, where a UsageError shows pages of pytest's frames
    pairs = [(arm.name, gate.task) for arm in chosen.candidates for gate in chosen.gates if gate.judges(arm.name)]
    if not pairs:
        raise pytest.Collector.CollectError(f"{chosen.name}: no candidate and gate to judge; an empty selection is not a pass")
    metafunc.parametrize("gate", pairs, ids=[f"{arm}:{task}" for arm, task in pairs], indirect=True)


def _experiment(settings: pytest.Config) -> Experiment:
    return config.load(_path(settings))


def _path(settings: pytest.Config) -> Path:
    return shipped.find(options.experiment(settings))


@pytest.fixture(scope="session")
def verdict(request: pytest.FixtureRequest) -> Verdict:
    """Runs, or goes on with, the whole experiment: servers one after another."""
    from evals import arm_flags, plan, run, run_folder  # lm-eval is slow to import, and collecting needs none of it

    chosen = _experiment(request.config)
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        news = Console(highlight=False, stderr=True)
        try:
            for warning in arm_flags.check(_path(request.config), chosen):
                news.print(f"\nwarning: {warning}", markup=False, soft_wrap=True)
            run.heed_signals()
            folder = run_folder.pick(Path(options.reports(request.config)), chosen, None, False)
            news.print(f"\nrun {folder}", markup=False, soft_wrap=True)
            with Display(news, plan.total(chosen)) as display:
                found = run.run(chosen, folder, display)
        except BumpgateError as e:
            pytest.exit(f"bumpgate: {e}", returncode=e.exit_code)
        news.print(f"{found.overall}: {folder / 'scorecard.md'}", markup=False, soft_wrap=True)
    return found


@pytest.fixture
def gate(request: pytest.FixtureRequest, verdict: Verdict) -> GateResult:
    """The result of one gate. INVALID is an error of the test, not a failure: nothing could be judged."""
    arm, task = request.param
    result = next(g for g in verdict.gates if (g.arm, g.task) == (arm, task))
    if result.verdict == "INVALID":
        pytest.fail(f"INVALID: {result.reason}", pytrace=False)
    return result
