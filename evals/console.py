"""Where text is printed: as it is, for it may be what a program, a server or a model said."""

from rich.console import Console


def out(quiet: bool = False) -> Console:
    """For stdout."""
    return Console(soft_wrap=True, highlight=False, markup=False, emoji=False, quiet=quiet)


def news() -> Console:
    """For stderr."""
    return Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)
