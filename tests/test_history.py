"""`bumpgate bless`, `bumpgate history` and `--baseline-run` over a few runs on the wire."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from stub_runs import N, asked, pupil, written
from stub_server import StubServer
from test_cli import main

from evals import report

Stubs = dict[str, StubServer]


@pytest.fixture
def stubs() -> Iterator[Stubs]:
    with StubServer(pupil()) as old, StubServer(pupil(wrong=1)) as new:
        yield {"old": old, "new": new}


@pytest.fixture
def file(tmp_path: Path, stubs: Stubs, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return written(tmp_path, stubs).name


def test_from_the_first_run_to_the_next_one_that_is_held_against_it(
    file: str, stubs: Stubs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(monkeypatch, "run", file, "--run-id", "one")
    capsys.readouterr()
    assert main(monkeypatch, "history") == 0
    assert "nothing is blessed yet: `bumpgate bless RUN --why TEXT`" in capsys.readouterr().out
    assert main(monkeypatch, "bless", "one", "--arm", "new", "--why", "it went out", "--by", "ann") == 0
    assert capsys.readouterr().out.startswith("blessed: new of one (")
    before = asked(stubs["old"])
    stubs["new"].answer = pupil(wrong=20)
    assert main(monkeypatch, "run", file, "--run-id", "two", "--baseline-run", "one") == 1
    assert asked(stubs["old"]) == before
    capsys.readouterr()

    assert main(monkeypatch, "history", "urls", "--task", "gsm8k", "--plot", "creep.png") == 0
    head, columns, *rows = capsys.readouterr().out.splitlines()
    assert head == "urls · gsm8k: percent correct; change in points, with its 90 % interval"
    assert columns.split()[:6] == ["date", "run", "arm", "vLLM", "verdict", "n"]
    assert [row.split()[1:3] for row in rows if row] == [["one", "old"], ["one", "new"], ["two", "old"], ["two", "new"]]
    assert rows[1].endswith("blessed")
    assert "stored baseline" in rows[2]
    assert f"REGRESSION       {N}  66.7   ▼ −31.7 [−42.2, −22.8]" in rows[3]
    assert (tmp_path / "creep.png").read_bytes().startswith(b"\x89PNG")

    assert main(monkeypatch, "history", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told[3]["since_first"]["n"] == N
    assert told[3]["since_first"]["value"] == pytest.approx(-100 * 19 / N)
    assert told[3]["since_first"] == told[3]["since_last"]


def test_the_samples_are_rows_that_pandas_reads_and_made_again_the_same(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(monkeypatch, "run", file, "--run-id", "one")
    path = tmp_path / "reports" / "one" / "samples.parquet"
    before, frame = path.read_bytes(), pd.read_parquet(path)
    assert len(frame) == 2 * N
    assert frame.groupby("arm")["outcome"].value_counts().to_dict() == {
        ("old", "correct"): N, ("new", "correct"): N - 1, ("new", "wrong"): 1,
    }  # fmt: skip
    assert set(frame["version"]) == {"0.29.0"}
    path.unlink()
    report.write(path.parent)
    assert path.read_bytes() == before


def test_a_run_that_cannot_be_read_is_left_out_aloud(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(monkeypatch, "run", file, "--run-id", "one")
    (tmp_path / "reports" / "begun").mkdir()
    (tmp_path / "reports" / "begun" / "journal.jsonl").touch()
    main(monkeypatch, "run", file, "--run-id", "spoilt")
    (tmp_path / "reports" / "spoilt" / "samples.parquet").write_bytes(b"PAR1")
    capsys.readouterr()
    assert main(monkeypatch, "history") == 0
    out, err = capsys.readouterr()
    assert out.count(" one ") == 2
    assert "left out: reports/begun has no verdict.json yet" in err
    assert "left out: reports/spoilt/samples.parquet can't be read; `bumpgate report spoilt` makes it again" in err


SHAPES = ["{}", "[]", "3", '{"experiment": "urls", "started_at": "2026", "arms": []}', "[" * 100_000, "not json", "\ud800"]


@pytest.mark.parametrize("text", SHAPES)
def test_a_verdict_of_another_shape_is_left_out_aloud(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    main(monkeypatch, "run", file, "--run-id", "one")
    shutil.copytree(tmp_path / "reports" / "one", tmp_path / "reports" / "spoilt")
    (tmp_path / "reports" / "spoilt" / "verdict.json").write_bytes(text.encode(errors="surrogatepass"))
    capsys.readouterr()
    assert main(monkeypatch, "history") == 0
    out, err = capsys.readouterr()
    assert out.count(" one ") == 2
    assert err == ("left out: reports/spoilt's verdict.json is none of this version; `bumpgate report spoilt` makes it again\n")


def test_samples_that_are_cut_or_lack_a_column_or_have_another_kind_of_value_are_left_out_aloud(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(monkeypatch, "run", file, "--run-id", "one")
    whole = tmp_path / "reports" / "one" / "samples.parquet"
    for name in ("column", "cut", "data", "kind"):
        shutil.copytree(whole.parent, tmp_path / "reports" / name)
    read, data = pd.read_parquet(whole), whole.read_bytes()
    read.drop(columns="outcome").to_parquet(tmp_path / "reports" / "column" / whole.name)
    read.assign(completion_tokens="many").to_parquet(tmp_path / "reports" / "kind" / whole.name)
    (tmp_path / "reports" / "cut" / whole.name).write_bytes(data[: len(data) // 2])
    (tmp_path / "reports" / "data" / whole.name).write_bytes(data[:4] + b"\xff" * 2000 + data[2004:])
    capsys.readouterr()
    assert main(monkeypatch, "history") == 0
    out, err = capsys.readouterr()
    assert out.count(" one ") == 2
    again = "; `bumpgate report {0}` makes it again from the journal"
    assert err.splitlines() == [
        f"left out: reports/{name}/samples.parquet {what}{again.format(name)}"
        for name, what in [
            ("column", "is none of this version"), ("cut", "can't be read"), ("data", "can't be read"),
            ("kind", "is none of this version"),
        ]
    ]  # fmt: skip


def test_a_blessed_run_that_is_gone_or_cannot_be_read_is_told(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two", "three"):
        main(monkeypatch, "run", file, "--new", "--run-id", name)
        main(monkeypatch, "bless", name, "--arm", "old", "--why", "x")
    main(monkeypatch, "run", file, "--new", "--run-id", "four")
    today = json.loads((tmp_path / "reports" / "blessed.jsonl").read_text().splitlines()[0])["at"][:10]
    shutil.rmtree(tmp_path / "reports" / "one")
    (tmp_path / "reports" / "two" / "samples.parquet").unlink()
    capsys.readouterr()
    assert main(monkeypatch, "history") == 0
    out, err = capsys.readouterr()
    assert err.splitlines()[1:] == [
        f"one was blessed on {today} and is not in reports: changes are counted from the other blessed runs",
        f"two was blessed on {today} and can't be read in reports: changes are counted from the other blessed runs",
    ]
    (tmp_path / "reports" / "three").rename(tmp_path / "reports" / "elsewhere")
    assert main(monkeypatch, "history", "urls") == 0
    out, err = capsys.readouterr()
    assert [line.rpartition(": ")[2] for line in err.splitlines()[1:]] == ["no change can be told"] * 3
    assert "nothing is blessed yet" not in out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("history",), "nothing in reports tells of correct; run it first"),
        (
            ("history", "--metric", "corect"),
            "--metric corect: is none; did you mean 'correct'?; use correct, no_answer, tokens",
        ),
        (("bless", "none", "--why", "x"), "there is no run 'none' in reports; name a run's id, or its folder"),
        (("bless", "", "--why", "x"), "RUN is empty; name a run's id, or its folder"),
        (("report", " "), "RUN is empty; name a run's id, or its folder"),
        (("bless", ".", "--why", " "), "--why is empty; write for whoever reads it later why"),
        (("run", "urls.yaml", "--baseline-run", "none"), "--baseline-run none: there is no such run in reports; "),
    ],
)
@pytest.mark.usefixtures("file")
def test_what_cannot_be_told_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], said: str
) -> None:
    assert main(monkeypatch, *args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith(f"bumpgate: {said}")
