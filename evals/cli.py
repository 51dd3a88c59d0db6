"""`bumpgate`: init, run, plan, report, demo. The only place that exits; results go to stdout, news to stderr."""

import contextlib
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown

from evals import config, shipped
from evals.errors import BumpgateError, ConfigError
from evals.progress import Display
from evals.records import Verdict, VerdictName

EXIT_CODES: dict[VerdictName, int] = {"PASS": 0, "REGRESSION": 1, "INVALID": 3, "INCONCLUSIVE": 4}
EXIT_INTERRUPTED = 130


class Judged(SystemExit):
    """The end of a run that was judged. The only way to leave with 1."""

    judged = True


app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    help="The gate before you change a self-hosted vLLM: is the model still as good?",
    epilog="Exit codes: 0 PASS, 1 REGRESSION, 2 bad configuration, 3 could not measure (INVALID), 4 INCONCLUSIVE.",
)  # fmt: skip

File = Annotated[
    str, typer.Argument(help="An experiment's YAML file, or the name of a shipped one (demo).", metavar="EXPERIMENT")
]
Reports = Annotated[Path, typer.Option("--reports", help="Where runs are kept.")]


@app.command()
def run(
    experiment: File,
    reports: Reports = Path("reports"),
    run_id: Annotated[str | None, typer.Option("--run-id", help="Run or go on in this folder of --reports.")] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Start afresh, also when an unfinished run of this experiment is there.")
    ] = False,
) -> None:
    """Serve every arm, ask every task, judge, and write the scorecard. Run it again and it goes on where it stopped."""
    _run(shipped.find(experiment), reports, run_id, new)


@app.command()
def demo(reports: Reports = Path("reports")) -> None:
    """The whole thing on a tiny model that is shipped, with a real vLLM on this machine's CPU."""
    path = shipped.experiment("demo")
    assert path is not None
    _run(path, reports, None, False)


@app.command(name="plan")
def show_plan(experiment: File) -> None:
    """What a run will start and ask, and what each gate will be able to exclude. Starts nothing."""
    from evals import arm_flags, plan  # scipy takes a second to import, which --help need not pay

    path = shipped.find(experiment)
    chosen = config.load(path)
    beforehand = arm_flags.check(path, chosen)
    out = Console(soft_wrap=True, highlight=False, markup=False)
    launches, total = plan.launches(chosen), plan.requests(chosen)
    servers = len({arm.server_key for arm in chosen.arms})
    asked = f"{total} requests" if total is not None else "every sample of its data sets"
    out.print(f"{chosen.name}: {len(chosen.arms)} arms, {servers} servers, {len(launches)} launches, {asked}")
    for number, launch in enumerate(launches, 1):
        out.print(f"launch {number}: {launch.arms[0].engine} · {launch.arms[0].model or 'the first model it lists'}")
        for stage in launch.stages:
            task, n = stage.task, stage.task.n if stage.task.n is not None else "all"
            out.print(f"  {stage.arm.name} · {task.name} · round {stage.round + 1}: {n} samples, {task.concurrency} at a time")
    for gate in plan.gates(chosen):
        can = (
            f"can exclude a drop of {gate.excluded_drop:.1f} points"
            if gate.excluded_drop is not None
            else "asks the whole data set"
        )
        out.print(f"gate {gate.arm} · {gate.task}: margin {gate.margin:g}, n {gate.n or 'all'}: {can} if nothing changed "
                  f"(at {100 * plan.ASSUMED_DISCORDANCE:.0f} % flips; a PASS is 80 % likely from n = {gate.n_needed})"
                  )  # fmt: skip
    for warning in (*beforehand, *plan.warnings(chosen)):
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
    name: Annotated[str | None, typer.Option("--name", help="The experiment's name.")] = None,
) -> None:
    """Turn a pasted `vllm serve …` or `docker run …` into an experiment file. Asks nothing; its guesses are comments."""
    from evals.init import make  # scipy, as above

    news = Console(file=sys.stderr, highlight=False, markup=False, soft_wrap=True)
    if output is not None and output.exists():
        raise ConfigError(f"{output} is there already, and is not overwritten; name another file with --output")
    made = make.make(_pasted(command or []), to, name, Path.cwd())
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
    run_folder: Annotated[str, typer.Argument(metavar="RUN", help="A run's id or folder.")], reports: Reports = Path("reports")
) -> None:
    """Make a run's scorecard and verdict.json again from its journal."""
    from evals import report  # scipy, as above

    folder = Path(run_folder) if Path(run_folder).is_dir() else reports / run_folder
    _finish(report.write(folder), folder)


def _run(path: Path, reports: Path, run_id: str | None, new: bool) -> None:
    experiment = config.load(path)
    news = Console(file=sys.stderr, highlight=False, markup=False, soft_wrap=True)
    try:
        from evals import arm_flags, plan  # lm-eval and scipy cost seconds to import, which --help need not pay
        from evals import run as runner

        beforehand = arm_flags.check(path, experiment)
        runner.heed_signals()
        folder = runner.pick_folder(reports, experiment, run_id, new)
        for warning in (*beforehand, *plan.warnings(experiment)):
            news.print(f"warning: {warning}")
        news.print(f"{'going on with' if folder.exists() else 'new'} run {folder}")
        with Display(news, plan.requests(experiment)) as display:
            verdict = runner.run(experiment, folder, display)
    except KeyboardInterrupt:  # left to typer it would end with 1, which says REGRESSION
        news.print("stopped; its servers were ended and every answer is kept: the same command goes on from here")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if verdict.overall == "INVALID":
        news.print(f"to ask again only what could not be measured: the same command with --run-id {folder.name}")
    _finish(verdict, folder)


def _finish(verdict: Verdict, folder: Path) -> None:
    code, text = EXIT_CODES[verdict.overall], (folder / "scorecard.md").read_text(encoding="utf-8")
    out = Console()
    with contextlib.suppress(OSError, UnicodeError, AttributeError):  # where nothing can be printed, the exit code still tells
        if out.is_terminal:
            out.print(Markdown(text))
        else:
            sys.stdout.write(text)
            sys.stdout.flush()
    with contextlib.suppress(OSError, UnicodeError):
        Console(file=sys.stderr, highlight=False, markup=False, soft_wrap=True).print(
            f"{verdict.overall} (exit code {code}): {folder / 'scorecard.md'}"
        )
    raise Judged(code)


def main() -> None:
    try:
        app(prog_name="bumpgate")
    except BumpgateError as e:
        Console(file=sys.stderr, highlight=False, markup=False, soft_wrap=True).print(f"bumpgate: {e}")
        sys.exit(e.exit_code)
