"""Published artefacts of engines, harnesses and parsers, each through the functions that meet it.

A file of them, one JSON object a line, is read from BUMPGATE_ENGINE_CASES, else from ../shared/fixtures beside the checkout.
What of them this project thought of itself stands in the tests of each room.
"""

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from test_experiment import ARM

from evals import checks, efforts, fields, flags, likelihood, sampling
from evals.acceptance import Point, collapse
from evals.client import parse_chat
from evals.experiment import NEUTRAL
from evals.records import Preflight
from evals.telemetry import Counters, parse
from evals.vocabulary import vocabulary
from tasks import gsm8k, needle_score
from tasks.base import Failure, Response, Score
from tasks.extract import final_number
from tasks.needle import Hidden, Target

Case = dict[str, Any]
FILE = Path(os.environ.get("BUMPGATE_ENGINE_CASES") or Path(__file__).parents[2] / "shared" / "fixtures" / "engine_cases.jsonl")


def cases() -> list[Case]:
    if not FILE.is_file():
        return []
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines() if line.strip()]


def scored(payload: Any) -> tuple[Response, Score | Failure]:
    response = parse_chat(payload, 0.1)
    assert isinstance(response, Response)
    return response, gsm8k.score(response, "#### 18", ())


def chat(case: Case) -> None:
    kind, _, what = case["expect"].partition(":")
    response, said = scored(case["payload"])
    match kind:
        case "HARNESS":
            assert isinstance(said, Failure)
            assert said.kind == what
        case "NO_ANSWER":
            assert isinstance(said, Score)
            assert (said.outcome, said.reason) == ("no_answer", what)
        case "QUALITY":
            assert isinstance(said, Score)
            assert (said.outcome, said.reason) == ("no_answer", "degenerate")
        case "OK" | "WARN":
            assert isinstance(said, Score)
            assert said.answer == re.search(r"answer=(\d+)", what)[1]  # type: ignore[index]
            assert said.warnings == ((what.partition(";")[0],) if kind == "WARN" else ())
            assert bool(response.reasoning) >= ("reasoning_len>0" in what)
        case _:
            raise AssertionError(case["expect"])


def text(case: Case) -> None:
    assert final_number(case["payload"]["text"]) == Decimal(case["expect"].removeprefix("NUM:"))


def echo(case: Case) -> None:
    want, got = case["payload"]["want"], case["payload"]["got"]
    assert "identifier_corruption" in case["expect"]
    target = Target(wanted=(Hidden(key="it", identifier=want),), distractors=()).text()
    response = scored({"choices": [{"message": {"content": got}, "finish_reason": "stop"}]})[0]
    said = needle_score.score(response, target, ())
    assert isinstance(said, Score)
    assert (said.outcome, said.reason, said.answer) == ("wrong", "near_miss", got)


def request(case: Case) -> None:
    since = re.search(r"on >=([\d.]+) only", case["expect"])
    assert since is not None
    for version in vocabulary().versions:
        if version in ("0.22.1",):
            continue  # between the versions that the case speaks of
        new = tuple(map(int, version.split(".")[:2])) >= tuple(map(int, since[1].split(".")))
        assert fields.asked_to_think(version, case["payload"], {}) is (False if new else None)
        assert bool(fields.check(version, case["payload"])) is not new


def prom(case: Case) -> None:
    got, expect = parse(case["payload"]), case["expect"].removeprefix("ACCEPT:")
    if expect.startswith("None"):
        assert got == Counters()
    elif expect.startswith("gauge"):
        assert got.acceptance_gauge == float(expect.removeprefix("gauge "))
        assert got.spec_decode_num_accepted_tokens is None
    else:
        rate, length = (float(re.search(rf"{name}=([\d.]+)", expect)[1]) for name in ("rate", "len"))  # type: ignore[index]
        drafts, drafted, accepted = (
            got.spec_decode_num_drafts or 0, got.spec_decode_num_draft_tokens or 0, got.spec_decode_num_accepted_tokens or 0,
        )  # fmt: skip
        assert (accepted / drafted, 1 + accepted / drafts) == (rate, length)
        assert [n / drafts for n in got.accepted_per_position] == json.loads(
            re.sub(r"(?<=[\[,])\.", "0.", expect.split("pos=")[1])
        )


def series(case: Case) -> None:
    told = zip(case["payload"]["ctx"], case["payload"]["acc"], strict=True)
    found = collapse([Point(position=at, drafted=1000, accepted=round(1000 * share)) for at, share in told])
    assert found is not None
    assert case["expect"] == f"SPEC:collapse@{found.first}"


def log(case: Case) -> None:
    """What a line of vLLM's log warns of needs no reading, since it can't come to pass."""
    match case["id"]:
        case "mtp-alias":
            old, new = re.findall(r"`?(\w*mtp)\b", case["payload"])
            assert flags.canonical(_speculating(old)) == flags.canonical(_speculating(new))
        case "gencfg":
            assert sampling.settings(ARM).keys() >= NEUTRAL.keys()
        case _:
            raise AssertionError(case["id"])


def http(case: Case) -> None:
    """What a server answers to an arm's first requests, and what preflight makes of it."""
    payload, expect = case["payload"], case["expect"]
    match expect.partition(":")[0]:
        case "CONFIG":
            message = f"HTTP {payload['status']}: {payload['body']['error']['message']}"
            effort = re.findall(r"'(\w+)'", message)[0]
            said = efforts.failure(replace(ARM, request=replace(ARM.request, reasoning_effort=effort)), message)
            assert said is not None
            assert said.startswith(f"{expect.partition(':')[2]}: ")
        case "CANARY_FAIL":
            response = scored(payload["body"])[0]
            check = checks.structure(payload["sent"], {"0": response})
            assert check is not None
            assert check.result == "failed"
            assert check.saw.startswith(f"{expect.partition(':')[2]}: ")
        case _:
            raise AssertionError(expect)


def tokens(case: Case) -> None:
    what = case["expect"].partition(":")[2]
    twice = _prompted(case["payload"]["prompt_token_ids"])
    ids = case["payload"]["prompt_token_ids"]
    once = checks.double_bos({"0": _prompted(ids[1:])}, None)
    before = Preflight(launch=0, checks=(once,))
    assert once.result == "passed"
    for baseline, result in ((before, "failed"), (None, "warned")):
        check = checks.double_bos({"0": twice}, baseline)
        assert (check.result, check.saw.partition(":")[0]) == (result, what)


def tokens_pair(case: Case) -> None:
    base, cand = ({"0": _prompted(case["payload"][name])} for name in ("base", "cand"))
    check = checks.prompts(True, cand, Preflight(launch=0, checks=(), asked=("0",), prompts=checks.hashes(base)))
    assert check is not None
    assert (check.result, check.saw.partition(":")[0]) == ("failed", case["expect"].partition(":")[2])


def _prompted(ids: list[int]) -> Response:
    return scored({"choices": [{"message": {"content": "18"}, "finish_reason": "stop"}], "prompt_token_ids": ids})[0]


def completion(case: Case) -> None:
    said = likelihood.parse(case["payload"], 0.1, [likelihood.Prompt(ids=[1, 2, 3], start=2)])
    assert isinstance(said, Failure)
    assert f"HARNESS:{said.kind}" == case["expect"]


def _speculating(method: str) -> dict[str, Any]:
    return {"speculative-config": {"method": method, "num_speculative_tokens": 2}}


KINDS: dict[str, Callable[[Case], None]] = {
    "chat": chat, "text": text, "echo": echo, "request": request, "prom": prom, "series": series, "log": log, "http": http,
    "tokens": tokens, "tokens_pair": tokens_pair, "completion": completion,
}  # fmt: skip


def test_the_file_of_engine_cases_is_there() -> None:
    if not FILE.is_file():
        pytest.skip(f"no {FILE}: name the file of engine cases in BUMPGATE_ENGINE_CASES")
    assert len(cases()) > 20


@pytest.mark.parametrize("case", cases(), ids=lambda c: str(c["id"]))
def test_an_engine_case_is_handled_as_expected(case: Case) -> None:
    KINDS[case["kind"]](case)
