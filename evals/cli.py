"""`bumpgate`: init, run, plan, report, demo, selftest, and other rooms' commands. The only place that exits."""

import contextlib
import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from evals import config, console, history_commands, language, machine_commands, problem_commands, shipped
from evals.contents import Contents
from evals.errors import BumpgateError, ConfigError, Judged, StoreError
from evals.judged import Verdict, VerdictName
from evals.progress import Display
from evals.selftest import command as selftesting

EXIT_CODES: dict[VerdictName, int] = {"PASS": 0, "REGRESSION": 1, "INVALID": 3, "INCONCLUSIVE": 4}
EXIT_INTERRUPTED = 130


app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    help="The gate before you change a self-hosted vLLM: is the model still as good?",
    epilog="Exit codes: 0 PASS, 1 REGRESSION, 2 bad configuration, 3 could not measure (INVALID), 4 INCONCLUSIVE.",
)  # fmt: skip


def _show_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"bumpgate {shipped.own_version()}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None: ...


File = Annotated[
    str, typer.Argument(help="An experiment's YAML file, or the name of a shipped one (demo).", metavar="EXPERIMENT")
]
Reports = history_commands.Reports
AsJson = Annotated[bool, typer.Option("--json", help="For a machine.")]
Lang = Annotated[
    str,
    typer.Option("--lang", envvar="BUMPGATE_LANG", metavar="|".join(language.LANGUAGES), help="The language of the scorecard."),
]


@app.command()
def run(
    experiment: File,
    reports: Reports = Path("reports"),
    run_id: Annotated[str | None, typer.Option("--run-id", help="Run or go on in this folder of --reports.")] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Start afresh, also when an unfinished run of this experiment is there.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="TIME", help="Ask only what fits into this time, such as 3h or 90m.")
    ] = None,
    baseline_run: Annotated[
        str | None, typer.Option("--baseline-run", metavar="RUN", help="A blessed run that stands for the baseline.")
    ] = None,
    lang: Lang = language.ENGLISH,
    as_json: AsJson = False,
) -> None:
    """Serve every arm, ask every task, judge, and write the scorecard. Run it again and it goes on where it stopped."""
    language.catalogue(lang)  # an unknown one is told before anything starts
    _finish(*_measured(shipped.find(experiment), reports, run_id, new, budget, baseline_run, lang), as_json)


@app.command()
def demo(reports: Reports = Path("reports"), lang: Lang = language.ENGLISH, as_json: AsJson = False) -> None:
    """The whole thing on a tiny model that is shipped, with a real vLLM on this machine's CPU."""
    path = shipped.experiment(shipped.demo())
    assert path is not None
    if path.stem == "demo-avx2":
        typer.echo("this CPU lacks AVX-512: the AWQ checkpoint's weights are served unpacked to bf16", err=True)
    language.catalogue(lang)
    _finish(*_measured(path, reports, None, False, None, lang=lang), as_json)


@app.command(name="plan")
def show_plan(experiment: File, as_json: AsJson = False) -> None:
    """What a run will start and ask, and what each gate will be able to exclude. Starts nothing."""
    # scipy takes a second to import, which --help need not pay
    from evals import arm_flags, budget, judging, plan, planned, rates
    from evals.engine import command_line, parser

    path = shipped.find(experiment)
    chosen = config.load(path)
    news = console.news()
    beforehand = arm_flags.check(path, chosen, partial(parser.ask, say=news.print))
    out = console.out(quiet=as_json)
    launches, total = plan.launches(chosen), plan.requests(chosen)
    servers = len({arm.server_key for arm in chosen.arms})
    asked = f"{total} requests" if total is not None else "every sample of its data sets"
    out.print(f"{chosen.name}: {len(chosen.arms)} arms, {servers} servers, {len(launches)} launches, {asked}")
    for number, launch in enumerate(launches, 1):
        first = launch.arms[0]
        told = [f"--{k} {json.dumps(v)}" if v is not None else f"no --{k}" for k, v in plan.own_flags(chosen, first).items()]
        out.print(" · ".join([f"launch {number}: {first.engine}", first.model or "the first model it lists", *told]))
        for stage in launch.stages:
            n = stage.task.planned_n or "all"
            out.print(f"  {stage.title}: {n} samples, {stage.task.concurrency} at a time")
    if said := budget.sensors(chosen, rates.known(chosen)):
        out.print(said)
    for gate in plan.gates(chosen):
        out.print(f"gate {plan.sentence(gate)}")
    if (chance := plan.passes_if_equal(chosen)) is not None:
        out.print(f"overall: a PASS is at least {100 * chance:.0f} % likely if nothing changed")
    out.print(budget.sentence(budget.cost(chosen, rates.known(chosen))))
    unset = {name: arm.name for arm in reversed(chosen.arms) for name in command_line.unset(arm)}
    unset_now = [f"{arm}: the environment has no variable {name}; export it before the run" for name, arm in unset.items()]
    down = judging.unreachable(chosen)
    left_out = " (the task is optional: it would be left out)" if any(t.optional for t in chosen.tasks) else ""
    sandbox = [f"programs can't be run as things are{left_out}: {down}"] if down else []
    warnings = [*unset_now, *plan.warnings(chosen), *beforehand, *sandbox]
    if as_json:
        sys.stdout.write(planned.document(chosen, budget.cost(chosen, rates.known(chosen)), warnings))
    for note in plan.notes(chosen):
        out.print(f"note: {note}")
    for warning in warnings:
        out.print(f"warning: {warning}")


@app.command()
def init(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND | -]", help="A serve command: quoted, or after --, or on stdin.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write; stdout else. Never overwritten.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="VERSION", help="The vLLM to go to; else the newest known.")] = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="VERSION", help="The vLLM that runs today, where the command names none.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="The experiment's name.")] = None,
) -> None:
    """Turn a pasted `vllm serve …` or `docker run …` into an experiment file. Asks nothing; its guesses are comments."""
    from evals.init import make  # scipy, as above

    news = console.news()
    if output is not None and output.exists():
        raise ConfigError(f"{output} is there already, and is not overwritten; name another file with --output")
    made = make.make(_pasted(command or []), to, name, Path.cwd(), since)
    if output is not None:
        make.save(made.text, output)
    else:
        sys.stdout.write(made.text)
    for note in made.notes:
        news.print(f"note: {note}")
    file = output or "FILE"
    news.print(
        f"next: bumpgate plan {file}, then bumpgate run {file}" + ("" if output else " (save this as FILE, or --output it)")
    )


def _pasted(command: list[str]) -> str | list[str]:
    """The words, or the text on stdin."""
    if command not in ([], ["-"]):
        return command
    if not command and sys.stdin.isatty():
        return ""
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as e:
        raise ConfigError("what came on stdin is not UTF-8; save it as UTF-8, and paste again") from e


@app.command(name="report")
def make_report(
    run_folder: Annotated[str, typer.Argument(metavar="RUN", help="A run's id or folder.")],
    reports: Reports = Path("reports"),
    lang: Lang = language.ENGLISH,
    as_json: AsJson = False,
) -> None:
    """Make a run's reports again from its journal: scorecards, verdict.json, junit.xml, samples.parquet."""
    from evals import report  # scipy, as above

    folder = history_commands.folder_of(run_folder, reports)
    _finish(report.write(folder, lang=lang), folder, as_json)


@app.command()
def selftest(
    engine: selftesting.Engine = selftesting.ENGINE,
    only: selftesting.Only = None,
    n: selftesting.Samples = selftesting.N,
    reports: Reports = Path("reports"),
    listed: selftesting.Listed = False,
    as_json: AsJson = False,
) -> None:
    """Plant faults and harmless changes in the shipped model, run them as any experiment, and see what the gate says."""
    if listed:
        return selftesting.tell()
    verdict, folder = _measured(selftesting.prepare(reports, engine, only, n), reports, None, False, None)
    raise Judged(selftesting.finish(verdict, folder, as_json))


def _measured(
    path: Path,
    reports: Path,
    run_id: str | None,
    new: bool,
    budget: str | None,
    baseline_run: str | None = None,
    lang: str = language.ENGLISH,
) -> tuple[Verdict, Path]:
    """Run or go on with an experiment: its verdict, and its folder."""
    experiment = config.load(path)
    news = console.news()
    try:
        # lm-eval and scipy cost seconds to import, which --help need not pay
        from evals import arm_flags, plan, run_folder, selection, store, stored
        from evals import budget as times
        from evals import run as runner
        from evals.engine import parser

        budget_s = times.duration_s(budget) if budget is not None else None
        beforehand = arm_flags.check(path, experiment, partial(parser.ask, say=news.print))
        chosen = selection.Selection(stored=stored.find(reports, baseline_run) if baseline_run is not None else None)
        runner.heed_signals()
        folder = run_folder.pick(reports, experiment, run_id, new)
        for warning in (*beforehand, *plan.warnings(experiment)):
            news.print(f"warning: {warning}")
        news.print(f"{'going on with' if folder.exists() else 'new'} run {folder}")
        with Display(news, plan.total(experiment)) as display:
            verdict = runner.run(experiment, folder, display, budget_s, chosen, lang)
    except KeyboardInterrupt:  # left to typer it would end with 1, which says REGRESSION
        news.print("stopped; its servers were ended and every answer is kept: the same command goes on from here")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if left := _left(store.read(folder)):
        news.print(left)
    return verdict, folder


def _left(contents: Contents) -> str | None:
    """What the same command does next; None where nothing is left."""
    if contents.complete():
        return None
    does = ["asks again what could not be measured"] if contents.unanswered() else []
    if contents.unjudged():
        does.append("runs the programs that could not be run, without asking for them again")
    return f"the same command {' and '.join(does)}; --new starts afresh" if does else None


def _finish(verdict: Verdict, folder: Path, as_json: bool) -> None:
    from evals import github  # scipy, as above

    code = EXIT_CODES[verdict.overall]
    text = (folder / ("verdict.json" if as_json else "scorecard.md")).read_text(encoding="utf-8")
    out = console.out()
    with contextlib.suppress(OSError, UnicodeError, AttributeError):  # where nothing can be printed, the exit code still tells
        if out.is_terminal and not as_json:
            out.print(Markdown(text), soft_wrap=False)
        else:
            sys.stdout.write(text if as_json else github.guarded(text))
            sys.stdout.flush()
    github.tell(verdict, folder / "scorecard.md")
    with contextlib.suppress(OSError, UnicodeError):
        console.news().print(
            f"{verdict.overall} (exit code {code}): {folder / 'scorecard.md'}, and scorecard.html for a browser"
        )
    raise Judged(code)


doctor = app.command()(machine_commands.doctor)
clean = app.command()(machine_commands.clean)
bless = app.command()(history_commands.bless)
history = app.command()(history_commands.history)
list_problems = app.command()(problem_commands.problems)
judge_file = app.command()(problem_commands.judge)


def main() -> None:
    console.print_anything()
    try:
        app(prog_name="bumpgate")
    except BumpgateError as e:
        console.news().print(f"bumpgate: {e}")
        sys.exit(e.exit_code)
    except (SystemExit, OSError) as e:
        unprinted = console.unprinted(e)
        if unprinted is None or isinstance(e, Judged):  # an exit code tells the verdict also where nothing can be printed
            raise
        console.news().print(f"bumpgate: stdout cannot be written: {unprinted}; free some space, or print to somewhere else")
        sys.exit(StoreError.exit_code)
