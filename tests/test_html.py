"""scorecard.html: the words and figures of scorecard.md, whole within its bounds, and harmless whatever a model said."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from evidence import two_arms
from full_run import full_run, thinking_run
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from test_needle_report import needles
from test_report import HOSTILE, spoken_run

from evals.compare import flips
from evals.judged import Evidence, Verdict
from evals.report import html, html_flips, html_words, markdown
from evals.verdict import judge

VOID = {"meta", "br", "hr", "input", "link", "img", "line", "rect", "circle"}
MAY_BE_THERE = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "nav", "main", "section", "h1", "h2", "p", "ul", "li",
    "strong", "em", "code", "pre", "details", "summary", "div", "table", "thead", "tbody", "tr", "th", "td", "caption",
    "figure", "figcaption", "span", "svg", "line", "circle", "rect", "text", "form", "ol", "button", "script",
}  # fmt: skip


class Page(HTMLParser):
    """Every element that is opened, every attribute, what each script holds, and the text outside of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.scripts, self.text = list[str](), list[tuple[str, str, str]](), list[str](), ""
        self.open = list[str]()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] != "style":
            self.text += data

    @property
    def answers(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.scripts[0])
        return found


def made(evidence: Evidence, verdict: Verdict | None = None) -> str:
    verdict = verdict or judge(evidence)
    return html.page(evidence, verdict, markdown.sections(evidence, verdict))


@pytest.fixture(scope="module")
def run() -> Evidence:
    return full_run()


@pytest.fixture(scope="module")
def text(run: Evidence) -> str:
    return made(run)


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def cells(card: str) -> Iterator[str]:
    """What stands in the tables of a markdown document, as a reader sees it."""
    for token in MarkdownIt("commonmark").enable("table").parse(card):
        if token.type == "inline" and token.children:
            said = (child.content for child in token.children if child.type in ("text", "code_inline"))
            yield "".join(said)


def whole(evidence: Evidence) -> str:
    """The sections of scorecard.md, uncut."""
    return "\n\n".join(markdown.sections(evidence, judge(evidence)).values())


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("evidence", [full_run(), thinking_run()], ids=["versions", "efforts"])
def test_every_word_and_figure_of_the_markdown_is_there(evidence: Evidence) -> None:
    seen = squeezed(Page(made(evidence)).text)
    told = [squeezed(said) for said in cells(whole(evidence)) if said.strip()]
    assert len(told) > 80
    assert [said for said in told if said not in seen] == []


@pytest.mark.parametrize("evidence", [full_run(), thinking_run()], ids=["versions", "efforts"])
def test_every_figure_beside_a_drawing_is_one_of_the_markdown(evidence: Evidence) -> None:
    card = whole(evidence)
    figures = [f for f in re.findall(r"<figure.*?</figure>", made(evidence), re.S) if "first token that differs" not in f]
    drawn = [said for figure in figures for said in re.findall(r'<span class="figures">([^<]+)</span>', figure)]
    assert len(drawn) >= 8
    assert [said for said in drawn if said.removesuffix(" s").split(" %")[0] not in card] == []


def test_the_bins_of_a_histogram_hold_every_output_that_parts(text: str) -> None:
    figure = re.search(r"<figcaption>awq: first token that differs, 12 of 30 outputs</figcaption>(.*?)</figure>", text, re.S)
    assert figure is not None
    bins = re.findall(r'label">([^<]+)</span>.*?figures">(\d+)<', figure[1], re.S)
    # awq parts at tokens 5, 7, … 27 (test_report.greedy_record).
    assert bins == [("0", "0"), ("1", "0"), ("2–3", "0"), ("4–7", "2"), ("8–15", "4"), ("16–31", "6")]


def test_a_gate_is_drawn_with_its_interval_its_margin_and_what_is_still_possible() -> None:
    run = two_arms("c" * 200, "c" * 180 + "w" * 20)
    d = judge(run).gates[0].delta
    assert d is not None
    drawn = re.search(r'<figure class="intervals">.*?</figure>', made(run), re.S)
    assert drawn is not None
    place = {name: float(x) for name, x in re.findall(r'class="(zero|margin|span \w+)" x1="([\d.]+)%', drawn[0])}
    middle = float(re.findall(r'cx="([\d.]+)%', drawn[0])[0])
    a_point = (place["zero"] - place["margin"]) / 2.0  # the margin is 2 points
    assert (middle - place["zero"]) / a_point == pytest.approx(d.diff, abs=0.1)
    assert (place["span regression"] - place["zero"]) / a_point == pytest.approx(d.ci_low, abs=0.1)


def test_every_flip_is_in_the_explorer_and_none_twice(run: Evidence, page: Page) -> None:
    told = [(f["arm"], f["task"], f["id"]) for f in page.answers["flips"]]
    assert len(told) == len(set(told))
    for arm in ("awq", "mtp"):
        for task in ("gsm8k", "needle"):
            assert {i for a, t, i in told if (a, t) == (arm, task)} == {f.sample_id for f in flips(run, task, arm)}
    greedy = [f for f in page.answers["flips"] if f["task"] == "greedy" and f["arm"] == "awq"]
    assert {f["id"]: f["parting"].split(";")[0] for f in greedy} == {f"zh-{i:02}": f"token {5 + 2 * i}" for i in range(12)}
    assert "All 58 answers that differ are here" in page.text or f"All {len(told)} answers that differ are here" in page.text


def test_what_a_flip_was_is_told(page: Page) -> None:
    by_id = {(f["arm"], f["id"]): f for f in page.answers["flips"]}
    cut = by_id["awq", "test-3"]
    assert (cut["what"], cut["baseline"]["mark"], cut["candidate"]["mark"]) == (
        "newly wrong",
        "correct",
        "no answer: truncated",
    )
    assert by_id["awq", "test-309"]["what"] == "newly right"
    assert by_id["awq", "test-0"]["target"] == "18"
    assert by_id["awq", "test-0"]["baseline"]["answer"] == "18"
    assert by_id["awq", "test-0"]["baseline"]["text"].startswith("Janet 每天卖")
    needle = by_id["awq", "en-100000-d90-1"]
    assert needle["question"].endswith("What is the secret word of the amber fox?")
    assert len(needle["question"]) < 2 * html_flips.QUESTION_CHARS


def test_a_heat_map_has_every_cell_and_the_change_beside_it(text: str) -> None:
    assert text.count('<figure class="heat">') == 5  # three arms, two of them with a change
    change = text.split("<caption>awq: change against bf16, points</caption>")[1].split("</table>")[0]
    row = re.search(r'<th scope="row">100000 zh</th>(.*?)</tr>', change)
    assert row is not None
    # Of two needles a cell, the baseline misses one at 50 %, awq both at 70 and 90 %.
    assert re.findall(r'<td class="(\w+)">([^<]+)</td>', row[1]) == [
        ("d0", "0"), ("d0", "0"), ("u5", "+50"), ("d10", "−100"), ("d10", "−100")
    ]  # fmt: skip


def test_what_was_not_measured_is_no_colour_of_a_heat_map() -> None:
    text = made(needles("c" * 16, "c" * 13 + "nwe"))
    assert '<td class="m0">2/2</td>' in text
    assert '<td class="m5">1/2, 1 near</td><td class="m10">0/1</td>' in text
    assert '<td class="">–</td>' in made(needles("c" * 16, "cc"))


def test_the_efforts_are_drawn_side_by_side() -> None:
    text = made(thinking_run())
    assert "<figcaption>gsm8k: correct, %</figcaption>" in text
    assert "<figcaption>gsm8k: completion tokens, median</figcaption>" in text
    assert re.findall(r'label">(\w+) \(a-', text) == ["off", "low", "xhigh"] * 2


def test_it_is_the_same_each_time(run: Evidence, text: str) -> None:
    assert made(run) == text


def test_its_policy_lets_in_its_own_style_and_script_and_nothing_else(text: str, page: Page) -> None:
    policy = next(
        value for tag, name, value in page.attributes if (tag, name) == ("meta", "content") and "default-src" in value
    )
    style = re.search(r"<style>(.*?)</style>", text, re.S)
    assert style is not None

    def digest(said: str) -> str:
        return base64.b64encode(hashlib.sha256(said.encode()).digest()).decode()

    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest(style[1])}'; script-src 'sha256-{digest(page.scripts[1])}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert len(page.scripts) == 2


def refers_to_nothing_else(page: Page) -> None:
    assert set(page.tags) <= MAY_BE_THERE
    names = {name for _, name, _ in page.attributes}
    assert not {"src", "style", "srcset", "action", "background", "data", "poster", "formaction"} & names
    assert not [name for name in names if name.startswith("on")]
    assert all(value.startswith("#") for _, name, value in page.attributes if name in ("href", "xlink:href"))


def test_it_refers_to_nothing_outside_of_it(page: Page, text: str) -> None:
    refers_to_nothing_else(page)
    assert "@import" not in text
    assert "url(" not in text


@cache
def spoken_page() -> Page:
    return Page(made(spoken_run(full_run(), "y")))


@pytest.mark.parametrize(
    "words", [*HOSTILE, "</script><script>alert(1)</script><!--<script>", "\u2067\u05d0\u2069 \x9b31m]8;;x\x07"]
)
def test_foreign_words_are_words(words: str) -> None:
    plain, foreign = spoken_page(), Page(text := made(spoken_run(full_run(), words)))
    refers_to_nothing_else(foreign)
    # An underscore slants a word; that's all.
    assert [tag for tag in foreign.tags if tag != "em"] == [tag for tag in plain.tags if tag != "em"]
    assert foreign.scripts[1] == plain.scripts[1]
    assert foreign.answers["flips"][0]["candidate"]["text"].startswith("x")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069]", text)
    text.encode()


def test_a_sample_of_a_long_answer_keeps_where_it_parts_and_its_end() -> None:
    long = "word " * 40_000
    run = two_arms("c" * 200, "w" + "c" * 199)
    run = replace(run, records=tuple(
        replace(r, response=replace(r.response, text=long + ("same HERE" if r.arm == "v029" else "same THERE") + long + r.arm))
        if r.sample_id == "s0" and r.response else r
        for r in run.records
    ))  # fmt: skip
    flip = Page(made(run)).answers["flips"][0]
    assert "same THERE" in flip["baseline"]["text"]
    assert "same HERE" in flip["candidate"]["text"]
    assert flip["candidate"]["text"].endswith("v029")
    assert "characters left out" in flip["candidate"]["text"]
    assert len(flip["candidate"]["text"]) < 1.1 * html_flips.TEXT_CHARS


def test_ten_thousand_samples_stay_below_three_megabytes_and_what_is_left_out_is_said() -> None:
    run = two_arms("c" * 10_000, "w" * 9_000 + "c" * 1_000)
    run = replace(run, records=tuple(
        replace(r, response=replace(r.response, text="<&>" + "a step of a long way round, 答案 " * 200)) if r.response else r
        for r in run.records
    ))  # fmt: skip
    text = made(run)
    assert 1_000_000 < len(text.encode()) < html.MAX_BYTES
    page = Page(text)
    shown = len(page.answers["flips"])
    assert f"{shown:,} of 9,000 answers that differ are in this file" in squeezed(page.text)
    assert f"Left out: v029 · gsm8k {9_000 - shown:,};" in squeezed(page.text)


def test_candidates_and_tasks_have_equal_turns_where_not_all_fit(run: Evidence) -> None:
    verdict = judge(run)
    told = json.loads(html_flips.explorer(run, verdict, 6_000).json)["flips"]
    first = {(f["arm"], f["task"]) for f in told[:5]}
    assert first == {("awq", "gsm8k"), ("awq", "needle"), ("mtp", "gsm8k"), ("mtp", "needle"), ("awq", "greedy")}


def test_nothing_measured_is_still_a_page() -> None:
    run = full_run()
    bare = replace(run, records=(), servers={}, failures={}, windows=(), harness=(), finished=False)
    page = Page(made(bare))
    assert page.text.strip().startswith("INVALID: upgrade")
    assert page.answers["flips"] == []
    assert "explorer" not in [value for _, name, value in page.attributes if name == "id"]
    nothing = replace(bare, arms=bare.arms[:1], gates=(), samples={}, tasks=())
    assert Page(made(nothing)).open == []


@settings(max_examples=80)
@given(st.text(st.sampled_from("`|\\<>[]()*_~#-=&;!: \n\t1ax\ud800\x1b$\"'/") | st.characters(), max_size=24))
def test_no_markdown_is_more_than_words(words: str) -> None:
    said = markdown.inline(words)
    page = Page(html_words.html(f"- {said}\n\n| a |\n|---|\n| {markdown.code(words, 40)} |\n\n{markdown.block(words)}\n"))
    assert set(page.tags) <= {
        "ul",
        "li",
        "em",
        "strong",
        "code",
        "pre",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "p",
    } | {"h1", "h2", "h3", "hr", "ol", "blockquote", "br"}
    assert {(tag, name) for tag, name, _ in page.attributes} <= {
        ("div", "class"),
        ("div", "tabindex"),
        ("strong", "class"),
        ("ol", "start"),
    }


@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_is_safe_inside_a_script_and_means_the_same(value: Any) -> None:
    text = html_flips.safe_json(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


@given(st.text("ab", max_size=40), st.text("ab", max_size=40))
def test_the_common_beginning_is_the_longest(one: str, other: str) -> None:
    n = html_flips.common(one, other)
    assert one[:n] == other[:n]
    assert n == min(len(one), len(other)) or one[n] != other[n]


def test_its_files_travel_with_the_package() -> None:
    folder = Path(html.__file__).parent / "templates"
    assert {path.name for path in folder.iterdir()} == {"scorecard.html.j2", "plots.html.j2", "scorecard.css", "scorecard.js"}
