"""Transcripts as they are read from what a container says, which may say anything."""

import json
from typing import Any

import pytest

from sandbox.transcript import Observation, Reader, Transcript, read


def lines(*told: Any) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in told)


def returned(i: int, value: Any = None) -> dict[str, Any]:
    return {"i": i, "returned": value}


RAISED = {"i": 0, "raised": ["KeyError", "LookupError"], "said": "no", "type": "Own"}


def test_what_was_said_in_order_to_the_end_is_finished() -> None:
    seen = read(lines(returned(0, 7), returned(1, ["list", [1, None, "a"]]), {"end": 2}), 2)
    assert seen == Transcript(
        observations=(Observation(returned=7), Observation(returned=["list", [1, None, "a"]])), end="finished", detail=""
    )


def test_the_python_that_is_ready_is_no_observation() -> None:
    assert read(lines({"ready": "3.12.4"}, returned(0), {"end": 1}), 1).end == "finished"
    assert read(lines(returned(0), {"ready": "3.12.4"}), 2).end == "garbled"


def test_an_exception_is_told_by_its_builtin_classes() -> None:
    (seen,) = read(lines(RAISED, {"end": 1}), 1).observations
    assert (seen.raised, seen.said, seen.returned) == (("KeyError", "LookupError"), "Own: no", None)


def test_calls_and_arguments_are_kept() -> None:
    told = returned(0) | {"args": ["list", [1]], "calls": {"fetch": [[["tuple", [1]], ["dict", []]]]}}
    (seen,) = read(lines(told), 1).observations
    assert seen.args == ["list", [1]]
    assert seen.calls == {"fetch": [[["tuple", [1]], ["dict", []]]]}


def test_a_program_that_does_not_load_says_why() -> None:
    told = {"load": {"raised": ["SyntaxError"], "said": "invalid syntax", "type": "SyntaxError"}}
    assert read(lines(told), 3) == Transcript(observations=(), end="load_failed", detail="SyntaxError: invalid syntax")
    assert read(lines(returned(0), told), 3).end == "garbled", "it loaded"


def test_without_an_end_the_caller_knows_why() -> None:
    seen = read(lines(returned(0)), 2)
    assert (len(seen.observations), seen.end) == (1, "crashed")
    reader = Reader(2)
    reader.feed(lines(returned(0)))
    assert reader.transcript("timeout", "no end").end == "timeout"


def test_a_line_that_was_cut_off_does_not_count() -> None:
    assert read(lines(returned(0)) + b'{"i": 1, "returned": 5}', 2).observations == (Observation(returned=None),)


def test_the_end_has_the_last_word() -> None:
    seen = read(lines(returned(0, 1), {"end": 1}, returned(0, 2), {"end": 1}) + b"garbage\n", 1)
    assert (seen.observations, seen.end) == ((Observation(returned=1),), "finished")


def test_pieces_of_any_size_make_the_same_transcript() -> None:
    said = lines({"ready": "3"}, returned(0, "x" * 50), RAISED | {"i": 1}, {"end": 2})
    for size in range(1, len(said) + 1):
        reader = Reader(2)
        for at in range(0, len(said), size):
            assert not reader.done
            reader.feed(said[at : at + size])
        assert reader.done
        assert reader.size == len(said)
        assert reader.transcript() == read(said, 2)


@pytest.mark.parametrize(
    "forged",
    [
        lines({"end": 1}),
        lines({"end": 0}),
        lines(returned(1)),
        lines(returned(0), returned(0)),
        lines(returned(0), {"end": 2}),
        lines(returned(0), returned(1)),
        lines({"i": 0}),
        lines({"returned": None}),
        lines(None),
        lines([]),
        lines("text"),
        lines(5),
        lines({"load": None}),
        lines({"load": {}}),
        lines(RAISED | {"raised": []}),
        lines(RAISED | {"raised": [1]}),
        lines(RAISED | {"raised": 5}),
        lines(RAISED | {"said": 5}),
        lines(RAISED | {"type": None}),
        lines(returned(0) | {"calls": [1]}),
        lines(returned(0) | {"calls": {"fetch": 5}}),
        lines(returned(0) | {"calls": {"fetch": [[1]]}}),
        lines(returned(0) | {"calls": {"fetch": [[1, {}]]}}),
        lines(returned(0) | {"args": {}}),
        b"\n",
        b"\xff\xfe\n",
        b"ALL TESTS PASSED\n",
        b'{"i": 0, "returned": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        b'{"i": 0, "returned": ' + b"9" * 10_000 + b"}\n",
    ],
)  # fmt: skip
def test_what_the_protocol_does_not_know_is_garbled(forged: bytes) -> None:
    seen = read(forged, 1)
    assert seen.end == "garbled"
    assert seen.detail.startswith("it wrote what is no observation: ")
    assert "\n" not in seen.detail
    seen.detail.encode()


def nested(depth: int) -> Any:
    told: Any = 1
    for _ in range(depth):
        told = ["list", [told]]
    return told


@pytest.mark.parametrize(
    "value",
    [
        {}, 1.5, [], ["list"], ["list", 5], ["list", "text"], ["list", [1], 2], ["float", 1.0], ["float", "text"], ["int", 5],
        ["int", "text"], ["complex", ["0x1p+0"]], ["complex", [1, 2]], ["bytes", "0"], ["bytes", None], ["dict", [[1]]],
        ["dict", {"a": 1}], ["dict", ["ab"]], ["other", 5], ["set", [["list", [[]]]]], ["cell", "now"], [["list"], []],
        [None, None], nested(100), float("nan"),
    ],
    ids=lambda v: str(v)[:40],
)  # fmt: skip
def test_only_values_that_the_encoder_makes_are_taken(value: Any) -> None:
    """Who compares them recurses and decodes, and must not meet anything else."""
    assert read(lines(returned(0, value)), 1).end == "garbled"
    assert read(lines(returned(0) | {"args": value}), 1).end == "garbled"


def test_a_value_as_deep_as_the_encoder_goes_is_taken() -> None:
    assert read(lines(returned(0, nested(60)), {"end": 1}), 1).end == "finished"


def test_text_that_is_no_unicode_is_told_in_text_that_is() -> None:
    (seen,) = read(lines(RAISED | {"said": "\udc80", "type": "\ud800"}), 1).observations
    assert seen.said == "\\ud800: \\udc80"


def test_what_overflows_is_garbled() -> None:
    assert read(b'{"i": 0, "returned": ["float", "0x1p99999"]}\n', 1).end == "garbled"


def test_what_an_exception_says_is_one_short_line() -> None:
    told = {"i": 0, "raised": ["ValueError"], "type": "E" * 5_000, "said": "\x1b[2Jcorrect\r\n" + "x" * 5_000}
    (seen,) = read(json.dumps(told).encode() + b"\n", 1).observations
    assert len(seen.said) < 700
    assert seen.said.isprintable()
