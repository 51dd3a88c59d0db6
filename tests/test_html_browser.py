"""scorecard.html as a reader has it: opened from a file in a real Chromium, filtered, an answer opened by keyboard, printed."""

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from full_run import full_run
from test_html import made
from test_report import HOSTILE, spoken_run

from evals.language import using
from evals.report.markdown import scorecard
from evals.verdict import judge

ROOT = Path(__file__).parent.parent
REQUIRED = "browser" in os.environ.get("BUMPGATE_REQUIRE", "")
sys.path.append(str(ROOT / "tools"))
screenshots = (importlib.import_module if REQUIRED else pytest.importorskip)("screenshots")
Browser = Any
"""Playwright's."""
PATIENCE_MS = 300_000
"""For a machine that does much else."""
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The machine's own; where one is required (BUMPGATE_REQUIRE names `browser`), it is installed."""
    if REQUIRED:
        done = subprocess.run([ROOT / "tools" / "browser" / "install.sh"], capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stderr
    with ExitStack() as stack:
        try:
            found = stack.enter_context(screenshots.browser())
        except FileNotFoundError as e:
            (pytest.fail if REQUIRED else pytest.skip)(str(e))
        yield found


@cache
def full_page() -> str:
    return made(full_run())


class Reader:
    """One window on a page, and all that it complained of or asked for."""

    def __init__(self, chromium: Browser, text: str, folder: Path, **window: object) -> None:
        (folder / "scorecard.html").write_text(text, encoding="utf-8")
        self.page = chromium.new_page(**window)
        self.page.set_default_timeout(PATIENCE_MS)
        self.complaints, self.requests = list[str](), list[str]()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message) or dialog.dismiss())
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto((folder / "scorecard.html").as_uri())

    def flips(self) -> list[str]:
        return self.page.locator("#list .where").all_inner_texts()

    def is_quiet(self) -> bool:
        return self.complaints == [] and self.requests == [self.page.url.partition("#")[0]]


@pytest.fixture
def reader(chromium: Browser, tmp_path: Path) -> Iterator[Reader]:
    found = Reader(chromium, full_page(), tmp_path)
    yield found
    assert found.is_quiet(), (found.complaints, found.requests)
    found.page.close()


def test_it_says_the_verdict_and_asks_nothing_of_anybody(reader: Reader) -> None:
    assert reader.page.locator("h1").inner_text() == "REGRESSION: upgrade"
    assert reader.page.title() == "REGRESSION: upgrade"
    assert reader.page.evaluate("location.protocol") == "file:"
    assert reader.page.locator("#flips h2:visible").count() == 1


def test_a_chinese_page_is_filtered_and_opened_in_chinese(chromium: Browser, tmp_path: Path) -> None:
    with using("zh"):
        found = Reader(chromium, made(full_run()), tmp_path)
    found.page.get_by_label("候选").select_option("mtp")
    found.page.get_by_label("变化").select_option("newly right")
    assert found.page.locator("#count").inner_text() == "4 / 59 个答案"
    found.page.locator("#list .flip").first.press("Enter")
    assert "预期答案：" in found.page.locator(".panel").inner_text()
    assert found.page.locator(".tag").first.inner_text() == "由错变对"
    assert found.is_quiet(), (found.complaints, found.requests)
    found.page.close()


def test_answers_are_filtered_by_candidate_task_change_and_words(reader: Reader) -> None:
    everything = reader.page.locator("#count").inner_text()
    reader.page.get_by_label("Candidate").select_option("mtp")
    reader.page.get_by_label("Task").select_option("gsm8k")
    assert sorted(reader.flips()) == [f"mtp · gsm8k · test-{i}" for i in (200, 201, 202, 209, 219, 229)]
    reader.page.get_by_label("Change").select_option("newly right")
    assert reader.page.locator("#count").inner_text().startswith("3 of ")
    reader.page.get_by_label("Id or question").fill("test-219")
    assert reader.flips() == ["mtp · gsm8k · test-219"]
    reader.page.get_by_label("Id or question").fill("")
    for name in ("Candidate", "Task", "Change"):
        reader.page.get_by_label(name).select_option("")
    assert reader.page.locator("#count").inner_text() == everything
    reader.page.get_by_label("Outcome").select_option("correct → no answer: degenerate")
    assert reader.flips() == ["awq · gsm8k · test-5"]


def test_an_answer_is_opened_read_and_closed_by_keyboard_alone(reader: Reader) -> None:
    page = reader.page
    page.get_by_label("Id or question").focus()
    page.keyboard.type("test-0")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "flip"
    page.keyboard.press("Enter")
    panel = page.locator(".panel")
    assert "Expected: 18" in panel.inner_text()
    # The two leave each other where one computes 16 − 3 − 4 and the other stops at 16 − 3.
    assert panel.locator("mark").all_inner_texts()[0] == "−"
    assert panel.locator("del").all_inner_texts()[0] == "−"
    assert "26" in "".join(panel.locator("ins").all_inner_texts())
    page.keyboard.press("Escape")
    assert panel.count() == 0
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"


def test_arrows_go_from_answer_to_answer(reader: Reader) -> None:
    reader.page.locator(".flip").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        reader.page.keyboard.press(key)
    assert reader.page.evaluate("[...document.querySelectorAll('.flip')].indexOf(document.activeElement)") == 1


def test_more_than_a_page_of_answers_is_shown_by_and_by(reader: Reader) -> None:
    assert len(reader.flips()) == 20
    reader.page.locator("#more").click()
    assert len(reader.flips()) == 40
    reader.page.locator("#more").click()
    assert 40 < len(reader.flips()) < 60
    assert reader.page.locator("#more").is_hidden()


def test_where_one_answer_is_the_beginning_of_the_other_its_end_is_marked(chromium: Browser, tmp_path: Path) -> None:
    run = full_run()
    run = replace(run, records=tuple(
        replace(r, response=replace(r.response, text="one two" if r.arm == "awq" else "one two three"))
        if r.sample_id == "test-0" and r.response else r
        for r in run.records
    ))  # fmt: skip
    reader = Reader(chromium, made(run), tmp_path)
    reader.page.get_by_label("Id or question").fill("test-0")
    reader.page.locator(".flip").first.click()
    assert reader.page.locator(".panel mark").all_inner_texts() == [" ", "⏹ ends here"]
    assert reader.is_quiet()


@pytest.mark.parametrize("words", [*HOSTILE, "</script><script>alert(1)</script><img src=http://x/y onerror=alert(2)>"])
def test_a_hostile_answer_is_shown_and_does_nothing(chromium: Browser, tmp_path: Path, words: str) -> None:
    reader = Reader(chromium, made(spoken_run(full_run(), words)), tmp_path)
    reader.page.locator(".flip").first.click()
    assert reader.page.locator(".panel .sides pre").first.inner_text().startswith("x")
    assert reader.page.locator("a:not([href^='#']), img, iframe").count() == 0
    assert reader.is_quiet(), (reader.complaints, reader.requests)
    reader.page.close()


def test_200_kilobytes_in_one_answer_are_opened_at_once(chromium: Browser, tmp_path: Path) -> None:
    run = full_run()
    run = replace(run, records=tuple(
        replace(r, response=replace(r.response, text="\u202e答" + f"{r.arm} word " * 25_000))
        if r.sample_id == "test-0" and r.response else r
        for r in run.records
    ))  # fmt: skip
    reader = Reader(chromium, made(run), tmp_path)
    reader.page.get_by_label("Id or question").fill("test-0")
    reader.page.locator(".flip").first.click()
    assert "characters left out" in reader.page.locator(".panel").inner_text()
    assert reader.is_quiet()


@pytest.mark.parametrize("width", [320, 400, 1200])
def test_no_window_has_to_be_scrolled_sideways(chromium: Browser, tmp_path: Path, width: int) -> None:
    reader = Reader(chromium, full_page(), tmp_path, viewport={"width": width, "height": 800})
    reader.page.locator(".flip").first.click()
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= width
    assert reader.is_quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_paper_in_light_and_dark(chromium: Browser, tmp_path: Path, scheme: str) -> None:
    """Contrast as WCAG 2.2 computes it; 4.5 is its AA for text."""
    reader = Reader(chromium, full_page(), tmp_path, color_scheme=scheme)
    reader.page.locator(".flip").first.click()
    low = reader.page.evaluate(CONTRASTS)
    assert low == []
    assert reader.is_quiet()


CONTRASTS = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = (element) => { for (let e = element; e; e = e.parentElement) {
    const found = rgba(getComputedStyle(e).backgroundColor); if (found[3] === 255) return found; } return [255, 255, 255]; };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility() || element.closest("script")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(rgba(element.closest("svg") ? style.fill : style.color)), light(paper(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) low.push(`${node.data.trim().slice(0, 30)}: ${contrast.toFixed(2)}`);
  }
  return low;
}"""


def test_on_paper_the_flips_of_the_scorecard_stand_and_nothing_is_folded(reader: Reader) -> None:
    reader.page.emulate_media(media="print")
    reader.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert reader.page.locator("#flips .static table").first.is_visible()
    assert not reader.page.locator("#filters").is_visible()
    assert not reader.page.locator("nav").is_visible()
    assert reader.page.locator("details:not([open])").count() == 0
    reader.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert reader.page.locator("details:not([open])").count() > 0


def test_without_its_script_the_page_still_says_everything_of_the_scorecard(chromium: Browser, tmp_path: Path) -> None:
    reader = Reader(chromium, full_page(), tmp_path, java_script_enabled=False)
    assert reader.page.locator("#flips .static table").first.is_visible()
    assert reader.page.locator("#explorer").is_hidden()


@pytest.mark.usefixtures("chromium")
def test_the_docs_pictures_are_made_by_a_command(tmp_path: Path) -> None:
    (tmp_path / "scorecard.html").write_text(full_page(), encoding="utf-8")
    (tmp_path / "scorecard.md").write_text(scorecard(full_run(), judge(full_run())), encoding="utf-8")
    command = [sys.executable, ROOT / "tools" / "screenshots.py", tmp_path, tmp_path / "shots"]
    subprocess.run(command, check=True, timeout=600)
    pictures = sorted((tmp_path / "shots").glob("*.png"))
    assert [p.stem for p in pictures] == [*(f"scorecard-{name}" for name in ("dark", "light", "narrow", "paper")), "terminal"]
    assert all(p.read_bytes().startswith(b"\x89PNG") for p in pictures)
