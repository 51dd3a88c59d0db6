"""Pictures of a run's scorecards in a real Chromium, as the docs show them: light, dark with an answer open, narrow, on paper, and
as a terminal shows it.

    python tools/screenshots.py RUN FOLDER    # RUN/scorecard.html → FOLDER/scorecard-light.png and so on

Needs Playwright (the `dev` extra) and a Chromium: the machine's own (`tools/browser/install.sh`) or Playwright's.
"""

import io
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.markdown import Markdown

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chromium-headless-shell")


@contextmanager
def browser() -> Iterator[Browser]:
    """Headless. Raises FileNotFoundError where the machine has none."""
    with sync_playwright() as playwright:
        own = next((path for name in NAMES if (path := shutil.which(name))), playwright.chromium.executable_path)
        if not Path(own).exists():
            raise FileNotFoundError("no Chromium: run tools/browser/install.sh as root, or `playwright install chromium`")
        chromium = playwright.chromium.launch(executable_path=own)
        try:
            yield chromium
        finally:
            chromium.close()


def opened(chromium: Browser, run: Path, *, width: int = 1200, height: int = 900, dark: bool = False) -> Page:
    """A run's scorecard in a window of its own."""
    page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light")
    page.goto((run / "scorecard.html").resolve().as_uri())
    return page


def take(run: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with browser() as chromium:
        light = opened(chromium, run, height=1000)
        light.screenshot(path=folder / "scorecard-light.png")
        dark = opened(chromium, run, dark=True)
        if dark.locator("#explorer").count():
            dark.locator("#flips").scroll_into_view_if_needed()
            dark.locator(".flip").first.click()
            dark.locator("#flips").evaluate("section => section.scrollIntoView()")
        dark.screenshot(path=folder / "scorecard-dark.png")
        narrow = opened(chromium, run, width=400, height=860)
        narrow.screenshot(path=folder / "scorecard-narrow.png")
        paper = opened(chromium, run, width=794, height=1123)  # A4 at 96 dots an inch
        paper.emulate_media(media="print")
        paper.screenshot(path=folder / "scorecard-paper.png")
        terminal = chromium.new_page(viewport={"width": 1480, "height": 1000})
        terminal.set_content(f"<body style='margin: 0'>{_in_a_terminal(run)}")
        terminal.screenshot(path=folder / "terminal.png")


def _in_a_terminal(run: Path) -> str:
    """The scorecard as `bumpgate report` prints it into 120 columns, as an SVG drawing."""
    screen = Console(record=True, width=120, emoji=False, file=io.StringIO(), force_terminal=True)
    screen.print(Markdown((run / "scorecard.md").read_text(encoding="utf-8")))
    return screen.export_svg(title=f"bumpgate report {run.name}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    take(Path(sys.argv[1]), Path(sys.argv[2]))
