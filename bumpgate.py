"""The `bumpgate` command: makes sure that it is ours that will be imported, then hands over to evals.cli.

`evals` is also the import name of OpenAI's evals package; whichever was installed last, or comes first on the path, wins.
"""

import contextlib
import sys
import traceback
from importlib.util import find_spec
from pathlib import Path


def shadowed() -> str | None:
    """One line when `evals`, `tasks` or `sandbox` is somebody else's; None when all three are ours."""
    ours = Path(__file__).resolve().parent
    for name in ("evals", "tasks", "sandbox"):
        spec = find_spec(name)
        where = Path(spec.origin).resolve().parent if spec and spec.origin else None
        if where != ours / name or (name == "evals" and not (where / "verdict.py").is_file()):
            return (
                f"bumpgate: `import {name}` finds {where or 'nothing'} and not bumpgate's own package; another package of that "
                "name (OpenAI's evals?) shadows it: install bumpgate into an environment of its own"
            )
    return None


def main() -> None:
    """Run the command. 1 says REGRESSION and nothing else may say it: no crash, no closed pipe, no broken environment."""
    message = shadowed()
    if message:
        print(message, file=sys.stderr)
        sys.exit(2)
    try:
        from evals.cli import main as cli  # only now is it known to be ours

        cli()
    except SystemExit as e:
        if e.code == 1 and not getattr(e, "judged", False):
            sys.exit(3)
        raise
    except Exception:
        with contextlib.suppress(OSError):  # stderr may be what is broken
            traceback.print_exc()
            print(
                "bumpgate: a fault of bumpgate or its environment; what was answered is kept in the run's journal",
                file=sys.stderr,
            )
        sys.exit(3)


if __name__ == "__main__":
    main()
