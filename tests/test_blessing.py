"""Which runs can be made a baseline, what is written of it, and that they stay as they are."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from stub_runs import N, asked, pupil, written
from stub_server import StubServer

from evals import blessing, config, run, run_folder
from evals.errors import ConfigError, StoreError
from evals.experiment import Experiment
from evals.progress import Silent
from evals.selection import Selection

pytestmark = pytest.mark.slow

Stubs = dict[str, StubServer]


@pytest.fixture
def stubs() -> Iterator[Stubs]:
    with StubServer(pupil()) as old, StubServer(pupil()) as new, StubServer(pupil()) as other:
        yield {"old": old, "new": new, "other": other}


def two(tmp_path: Path, stubs: Stubs) -> Experiment:
    return config.load(written(tmp_path, {name: stubs[name] for name in ("old", "new")}))


def test_a_run_that_passed_is_blessed_for_its_candidate(tmp_path: Path, stubs: Stubs) -> None:
    folder = tmp_path / "reports" / "one"
    run.run(two(tmp_path, stubs), folder, Silent())
    made = blessing.bless(folder, None, "ann", "version 0.29 went out")
    assert blessing.blessings(folder.parent) == (made,)
    (line,) = (tmp_path / "reports" / "blessed.jsonl").read_text(encoding="utf-8").splitlines()
    told = json.loads(line)
    assert (told["run_id"], told["arm"], told["experiment"], told["verdict"]) == ("one", "new", "urls", "PASS")
    assert (told["by"], told["why"]) == ("ann", "version 0.29 went out")
    assert told["at"].startswith("20")


def test_where_it_is_not_clear_which_arm_goes_out_it_must_be_named(tmp_path: Path, stubs: Stubs) -> None:
    folder = tmp_path / "reports" / "one"
    run.run(config.load(written(tmp_path, stubs)), folder, Silent())
    with pytest.raises(ConfigError, match=r"Name it with --arm \(old: the baseline, new: PASS, other: PASS\)"):
        blessing.bless(folder, None, "ann", "why")
    with pytest.raises(ConfigError, match="one has no arm 'nwe'; its arms are old, new, other"):
        blessing.bless(folder, "nwe", "ann", "why")
    assert blessing.bless(folder, "other", "ann", "why").arm == "other"


def test_the_verdict_is_that_of_the_arm_and_not_of_the_run(tmp_path: Path, stubs: Stubs) -> None:
    stubs["new"].answer = pupil(wrong=20)
    folder = tmp_path / "reports" / "one"
    assert run.run(config.load(written(tmp_path, stubs)), folder, Silent()).overall == "REGRESSION"
    assert blessing.bless(folder, "other", "ann", "why").verdict == "PASS"


def test_a_regression_is_only_blessed_by_name(tmp_path: Path, stubs: Stubs) -> None:
    stubs["new"].answer = pupil(wrong=20)
    folder = tmp_path / "reports" / "one"
    run.run(two(tmp_path, stubs), folder, Silent())
    with pytest.raises(ConfigError, match="new: REGRESSION"):
        blessing.bless(folder, None, "ann", "why")
    assert blessing.bless(folder, "old", "ann", "it stays").verdict == "REGRESSION"  # of the run; a baseline has none


def test_an_invalid_run_is_refused_with_its_reason(tmp_path: Path, stubs: Stubs) -> None:
    folder, experiment = tmp_path / "reports" / "one", config.load(written(tmp_path, stubs))
    run.run(experiment, folder, Silent(), selection=Selection(candidates=frozenset({"new"})))
    with pytest.raises(ConfigError, match=r"one can't be a baseline: it is INVALID \(other · gsm8k: it was not selected, "):
        blessing.bless(folder, "new", "ann", "why")
    assert not (tmp_path / "reports" / "blessed.jsonl").exists()


def test_a_run_that_is_not_finished_is_refused(tmp_path: Path, stubs: Stubs) -> None:
    folder = tmp_path / "reports" / "one"
    run.run(two(tmp_path, stubs), folder, Silent())
    journal = folder / "journal.jsonl"
    journal.write_text("".join(line for line in journal.read_text().splitlines(True) if '"kind":"finished"' not in line))
    with pytest.raises(ConfigError, match="it is not finished; the same `bumpgate run` goes on with it"):
        blessing.bless(folder, "new", "ann", "why")


def test_an_exploratory_run_is_refused(tmp_path: Path, stubs: Stubs) -> None:
    """Made longer after it was looked at: nothing that it says was planned."""
    folder = tmp_path / "reports" / "one"
    file = written(tmp_path, {name: stubs[name] for name in ("old", "new")})
    text = file.read_text()
    file.write_text(text.replace(f"n: {N}", f"n: {N // 2}"))
    run.run(config.load(file), folder, Silent())
    file.write_text(text)
    run.run(config.load(file), folder, Silent())
    with pytest.raises(ConfigError, match=r"one can't be a baseline: it is exploratory \(new · gsm8k: exploratory, "):
        blessing.bless(folder, "new", "ann", "why")


def test_a_blessed_run_is_not_written_into_any_more(tmp_path: Path, stubs: Stubs) -> None:
    experiment, reports = two(tmp_path, stubs), tmp_path / "reports"
    folder = run_folder.pick(reports, experiment, None, False)
    run.run(experiment, folder, Silent())
    blessing.bless(folder, None, "ann", "why")
    longer = two(tmp_path, stubs)
    assert run_folder.pick(reports, longer, None, False) != folder
    with pytest.raises(ConfigError, match=f"--run-id {folder.name}: is blessed, and stays as it is"):
        run_folder.pick(reports, longer, folder.name, False)
    assert asked(stubs["old"]) == asked(stubs["new"])


def test_a_line_that_is_no_blessing_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "blessed.jsonl").write_text('{"run_id": 3}\n')
    with pytest.raises(StoreError, match=r"blessed.jsonl:1: not a blessing; mend or remove the line"):
        blessing.blessings(tmp_path)


def line_of(run_id: str) -> str:
    told = {
        "run_id": run_id,
        "arm": "new",
        "experiment": "urls",
        "verdict": "PASS",
        "at": "2026-01-01",
        "by": "ann",
        "why": "x",
    }
    return json.dumps(told)


def test_a_broken_line_before_the_last_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "blessed.jsonl").write_text(f"{line_of('one')}\n{line_of('two')[:30]}\n{line_of('three')}\n")
    with pytest.raises(StoreError, match=r"blessed.jsonl:2: not a blessing; mend or remove the line"):
        blessing.blessings(tmp_path)


@pytest.mark.parametrize(
    ("after", "read", "torn"),
    [
        ("\n\n  \n", ["one"], None),
        (f"\n{line_of('two')[:30]}", ["one"], line_of("two")[:30] + "\n"),
        (f"\n{line_of('two')}", ["one", "two"], None),
    ],
)
def test_blank_lines_and_a_last_one_that_is_cut_off_stop_nothing(
    tmp_path: Path, stubs: Stubs, after: str, read: list[str], torn: str | None
) -> None:
    path = tmp_path / "reports" / "blessed.jsonl"
    run.run(two(tmp_path, stubs), path.parent / "three", Silent())
    path.write_text(line_of("one") + after)
    assert [b.run_id for b in blessing.blessings(path.parent)] == read
    blessing.bless(path.parent / "three", None, "ann", "why")
    assert [b.run_id for b in blessing.blessings(path.parent)] == [*read, "three"]
    aside = path.with_name("blessed.torn.txt")
    assert (aside.read_text() if aside.exists() else None) == torn


def test_a_whole_last_line_that_is_no_blessing_is_told_though_no_newline_ends_it(tmp_path: Path) -> None:
    (tmp_path / "blessed.jsonl").write_text(f'{line_of("one")}\n{{"run_id": 3}}')
    with pytest.raises(StoreError, match=r"blessed.jsonl:2: not a blessing"):
        blessing.blessings(tmp_path)
