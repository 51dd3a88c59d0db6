"""`bumpgate problems` and `bumpgate judge`: for whoever reads or writes coding problems."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from evals import console
from evals.document import did_you_mean
from evals.errors import ConfigError, Judged
from tasks import problem_set
from tasks.problem_set import Posed

Folder = Annotated[
    Path | None, typer.Option("--data-dir", help="A folder of problems of your own, instead of those that are shipped.")
]


def problems(
    folder: Folder = None, as_json: Annotated[bool, typer.Option("--json", help="A list for a machine.")] = False
) -> None:
    """List the coding problems."""
    rows = [
        {
            "id": p.problem.id, "category": p.problem.category, "level": p.problem.level, "entry": p.problem.entry,
            "checks": len(p.wanted), "wrong_solutions": len(p.problem.wrong), "large": p.problem.large,
        }
        for p in _read(folder).values()
    ]  # fmt: skip
    out = console.out()
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return
    width = max(len(str(row["id"])) for row in rows)
    for row in rows:
        told = f"{row['checks']} checks, {row['wrong_solutions']} wrong solutions{', a large input' if row['large'] else ''}"
        out.print(f"{row['id']:{width}}  {row['category']}, {row['level']}: {row['entry']}, {told}")
    out.print(f"{len(rows)} problems; `bumpgate judge PROBLEM FILE.py` judges a solution of one")


def judge(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="A problem's id, as `bumpgate problems` lists them.")],
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="The program to judge.")],
    folder: Folder = None,
    image: Annotated[str | None, typer.Option("--image", help="The image to run it on, instead of the default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The mark for a machine.")] = False,
) -> None:
    """Run a program in the sandbox against one problem. Ends with 0 if it is right and with 1 if it is not."""
    from evals import judging

    posed = _read(folder)
    if problem not in posed:
        raise ConfigError(f"there is no problem {problem!r}{did_you_mean(problem, posed)}; `bumpgate problems` lists them")
    try:
        code = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"{file}: cannot be read ({e}); name a Python file") from e
    news = console.news()
    score = judging.once(posed[problem], code, image, news.print)
    out = console.out(quiet=as_json)
    if as_json:
        told = {"problem": problem, "outcome": score.outcome, "reason": score.reason, "explanation": score.explanation}
        sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=2) + "\n")
    if score.outcome == "correct":
        out.print(f"correct: {len(posed[problem].wanted)} of {len(posed[problem].wanted)} checks")
        return
    out.print(f"{score.outcome}, {score.reason}: {score.explanation}")
    raise Judged(1)


def _read(folder: Path | None) -> dict[str, Posed]:
    try:
        return problem_set.read(folder) if folder else problem_set.read()
    except problem_set.ProblemError as e:
        raise ConfigError(str(e)) from e
