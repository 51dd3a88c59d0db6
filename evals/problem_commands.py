"""`bumpgate problems` and `bumpgate judge`: for whoever reads or writes coding problems."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from evals import console, shipped
from evals.document import did_you_mean
from evals.errors import ConfigError, Judged
from sandbox.limits import Limits
from tasks import coding, problem_set
from tasks.base import Language
from tasks.problem import shown
from tasks.problem_set import Posed

CHECK_CHARS = 160
"""Of a check that is shown."""
Folder = Annotated[
    str | None,
    typer.Option("--data-dir", help="A folder of problems of your own, or demo:coding, instead of those that are shipped."),
]


def problems(
    name: Annotated[
        str | None, typer.Argument(metavar="[PROBLEM]", help="One to be read in full; all are listed else.", show_default=False)
    ] = None,
    folder: Folder = None,
    as_json: Annotated[bool, typer.Option("--json", help="For a machine, with the prompts.")] = False,
) -> None:
    """List the coding problems, or show one: its prompt in both languages, its checks and limits."""
    posed = _read(folder)
    chosen = _named(name, posed) if name is not None else None
    rows = [_row(p) for p in posed.values()]
    out = console.out()
    if as_json:
        document = rows if chosen is None else _row(chosen) | {"steps": _steps(chosen), "limits": asdict(Limits())}
        sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        return
    if chosen is not None:
        out.print(_whole(chosen))
        return
    width = max(len(str(row["id"])) for row in rows)
    for row in rows:
        told = f"{row['checks']} checks, {row['wrong_solutions']} wrong solutions{', a large input' if row['large'] else ''}"
        out.print(f"{row['id']:{width}}  {row['category']}, {row['level']}: {row['entry']}, {told}")
    out.print(f"{len(rows)} problems; `bumpgate problems PROBLEM` shows one, `bumpgate judge PROBLEM FILE.py` judges a program")


def _row(posed: Posed) -> dict[str, Any]:
    of = posed.problem
    return {
        "id": of.id, "category": of.category, "level": of.level, "entry": of.entry, "checks": len(posed.wanted),
        "wrong_solutions": len(of.wrong), "large": of.large, "signature": of.signature.strip(),
        "prompts": {language: coding.prompt(of, language) for language in get_args(Language)},
    }  # fmt: skip


def _steps(posed: Posed) -> list[str]:
    """What each check does, long ones cut."""
    of = posed.problem
    told = ("; ".join(shown(of, step) for step in check) for check in of.checks())
    return [one if len(one) <= CHECK_CHARS else f"{one[:CHECK_CHARS]} …" for one in told]


def _whole(posed: Posed) -> str:
    """All that a solver may know: never the reference."""
    of, limits = posed.problem, Limits()
    return "\n\n".join(
        [
            f"{of.id}: {of.category}, {of.level}; defines {of.entry}",
            *(coding.prompt(of, language) for language in get_args(Language)),
            "\n".join([f"{len(posed.wanted)} checks:", *(f"  {n}: {one}" for n, one in enumerate(_steps(posed), 1))]),
            f"limits of a program: {limits.wall_s:g} s, {limits.memory_mib} MiB, {limits.cpus:g} CPU, {limits.pids} processes "
            f"and threads, {limits.output_mib} MiB of output, {limits.tmp_mib} MiB in /tmp, no network",
        ]
    )


def _named(name: str, posed: dict[str, Posed]) -> Posed:
    if name not in posed:
        raise ConfigError(f"there is no problem {name!r}{did_you_mean(name, posed)}; `bumpgate problems` lists them")
    return posed[name]


def judge(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="A problem's id, as `bumpgate problems` lists them.")],
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="The program to judge.")],
    folder: Folder = None,
    image: Annotated[str | None, typer.Option("--image", help="The image to run it on, instead of the default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The mark for a machine.")] = False,
) -> None:
    """Run a program in the sandbox against one problem. Ends with 0 if it is right, with 1 if it is not, with 2 where a name or
    a file is wrong, and with 3 where Docker can't be reached: then nothing was judged."""
    from evals import judging

    posed = _named(problem, _read(folder))
    try:
        code = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"{file}: cannot be read ({e}); name a Python file") from e
    news = console.news()
    score = judging.once(posed, code, image, news.print)
    out = console.out(quiet=as_json)
    if as_json:
        told = {"problem": problem, "outcome": score.outcome, "reason": score.reason, "explanation": score.explanation}
        sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=2) + "\n")
    if score.outcome == "correct":
        out.print(f"correct: {len(posed.wanted)} of {len(posed.wanted)} checks")
        return
    out.print(f"{score.outcome}, {score.reason}: {score.explanation}")
    raise Judged(1)


def _read(given: str | None) -> dict[str, Posed]:
    try:
        return problem_set.read(_folder(given)) if given is not None else problem_set.read()
    except problem_set.ProblemError as e:
        raise ConfigError(str(e)) from e


def _folder(given: str) -> Path:
    if given.startswith(shipped.PREFIX):
        if (found := shipped.resolve(given)) is None:
            raise ConfigError(f"--data-dir {given}: is not shipped; shipped are: {', '.join(shipped.listing())}")
        return found
    if not Path(given).is_dir():
        raise ConfigError(f"--data-dir {given}: there is no such folder; name one with problems, or demo:coding")
    return Path(given)
