"""`pytest evals/ -m regression`: computes one experiment, then each test reads its gate.

Installed: `pytest --pyargs evals -m regression`.
"""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from evals import config, console, options, shipped
from evals.errors import BumpgateError, ConfigError
from evals.experiment import Experiment
from evals.judged import GateResult, Verdict
from evals.options import pytest_addoption as pytest_addoption
from evals.progress import Display


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A run that was judged in this session, and what of it was selected."""

    folder: Path
    verdict: Verdict
    flips: dict[tuple[str, str], list[str]]
    """By arm and task of the gates that are no PASS: the change and the first flips, a line each."""
    selected: tuple[tuple[str, str], ...]

    def gates(self) -> list[GateResult]:
        return [gate for gate in self.verdict.gates if (gate.arm, gate.task) in self.selected]


JUDGED = pytest.StashKey[Judged]()
EXIT_CODE = pytest.StashKey[int]()
"""Where nothing could be run."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "regression: serves the experiment's arms and judges them (minutes to hours)")
    options.pytest_configure(config)  # a clone that is not installed has no entry point


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
    pairs = _pairs(chosen)
    if not pairs:
        raise pytest.Collector.CollectError(f"{chosen.name}: no candidate and gate to judge; an empty selection is not a pass")
    metafunc.parametrize("gate", pairs, ids=[f"{arm}:{task}" for arm, task in pairs], indirect=True)


def _pairs(chosen: Experiment) -> list[tuple[str, str]]:
    return [(arm.name, gate.task) for arm in chosen.candidates for gate in chosen.gates if gate.judges(arm.name)]


def _experiment(settings: pytest.Config) -> Experiment:
    return config.load(_path(settings))


def _path(settings: pytest.Config) -> Path:
    return shipped.find(options.experiment(settings))


@pytest.fixture(scope="session")
def judged(request: pytest.FixtureRequest) -> Judged:
    """Runs, or goes on with, the experiment: servers one after another, without candidates that no selected test asks for."""
    if hasattr(request.config, "workerinput"):
        pytest.fail(options.ONE_PROCESS, pytrace=False)
    items = [i for i in request.session.items if isinstance(i, pytest.Function) and "judged" in i.fixturenames]
    selected = tuple(cast("tuple[str, str]", item.callspec.params["gate"]) for item in items)
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():  # none with -p no:capture
        try:
            found = _measured(request.config, selected)
        except BumpgateError as e:
            request.config.stash[EXIT_CODE] = e.exit_code
            pytest.fail(f"bumpgate: {e}", pytrace=False)  # an error of every gate, which junit has too
    request.config.stash[JUDGED] = found
    return found


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    session.exitstatus = session.config.stash.get(EXIT_CODE, session.exitstatus)


def _measured(settings: pytest.Config, selected: tuple[tuple[str, str], ...]) -> Judged:
    from evals import arm_flags, evidence, plan, run, run_folder, selection, store, stored  # lm-eval is slow to import
    from evals.report import flip_text

    chosen, reports, blessed = _experiment(settings), options.reports(settings), options.baseline_run(settings)
    everything = set(_pairs(chosen)) <= set(selected)  # arms that no gate judges, too
    asked = selection.Selection(
        candidates=None if everything else frozenset(arm for arm, _ in selected),
        stored=stored.find(reports, blessed) if blessed is not None else None,
    )
    news = console.news()
    for warning in arm_flags.check(_path(settings), chosen):
        news.print(f"\nwarning: {warning}")
    run.heed_signals()
    folder = run_folder.pick(reports, chosen, None, options.new_run(settings), asked.candidates)
    news.print(f"\nrun {folder}")
    with Display(news, plan.total(chosen) if asked == selection.EVERYTHING else None) as display:
        verdict = run.run(chosen, folder, display, selection=asked)
    open_gates = [g for g in verdict.gates if (g.arm, g.task) in selected and g.verdict != "PASS"]
    seen = evidence.from_contents(store.read(folder)) if open_gates else None
    flips = {(g.arm, g.task): flip_text.lines(seen, g) for g in open_gates if seen is not None}
    return Judged(folder=folder, verdict=verdict, flips=flips, selected=selected)


@pytest.fixture
def gate(request: pytest.FixtureRequest, judged: Judged) -> GateResult:
    """The result of one gate. INVALID is an error of the test, not a failure: nothing could be judged."""
    from evals.report import junit

    result = next(g for g in judged.verdict.gates if (g.arm, g.task) == request.param)
    request.node.user_properties += junit.properties(result).items()
    request.node.user_properties.append(("scorecard", str(judged.folder / "scorecard.md")))
    if result.verdict == "INVALID":
        pytest.fail(f"INVALID: {result.reason}", pytrace=False)
    return result


def pytest_report_teststatus(
    report: pytest.CollectReport | pytest.TestReport, config: pytest.Config
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """With --inconclusive=warn: neither a pass nor a failure, and counted by its name."""
    if not isinstance(report, pytest.TestReport) or report.when != "call" or not report.passed:
        return None
    if options.inconclusive(config) == "warn" and ("verdict", "INCONCLUSIVE") in report.user_properties:
        return "inconclusive", "I", ("INCONCLUSIVE", {"yellow": True})
    return None


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Every selected gate, also those that -x left unreported; and GitHub's annotations."""
    found = config.stash.get(JUDGED, None)
    if found is None:
        return
    from evals import github
    from evals.report import gate_table

    terminalreporter.section("gates")
    for line in gate_table.lines(found.gates()):
        terminalreporter.write_line(line)
    terminalreporter.write_line(f"scorecard: {found.folder / 'scorecard.md'}")
    lenient, above = options.inconclusive(config) == "warn", ""
    if len(found.gates()) < len(found.verdict.gates):
        table = "\n".join(gate_table.lines(found.gates()))
        above = f"What was selected; the rest is INVALID below, since it was not asked:\n\n```text\n{table}\n```\n\n"
    github.tell(replace(found.verdict, gates=tuple(found.gates())), found.folder / "scorecard.md", lenient, above)
