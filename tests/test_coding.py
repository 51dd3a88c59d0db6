"""From an answer to its program, from a transcript to its mark, and the problems that are shipped."""

import re
from dataclasses import replace

import pytest
from evidence import BASELINE, evidence, passes, response, samples

from evals import judging
from evals.judged import TaskSpec
from evals.records import SandboxInfo
from evals.report import coding as report
from sandbox.transcript import Observation, Transcript
from tasks import coding, problem_set
from tasks.base import Failure, Sample, Score
from tasks.coding import Program
from tasks.problem_set import Posed

POSED = problem_set.read()
MIN_STACK = POSED["min_stack"]
PROGRAM = Program(code="x", warnings=())


def test_a_prompt_holds_text_signature_and_what_to_answer_with() -> None:
    by_id = {s.id: s for s in coding.samples(POSED, "en", 0)}
    (message,) = by_id["min_stack"].messages
    assert message.role == "user"
    assert "a stack of integers" in message.content
    assert "def get_min(self) -> int: ..." in message.content
    assert message.content.endswith("in one Python code block.")
    assert by_id["min_stack"].group == "data structures"
    (chinese,) = {s.id: s for s in coding.samples(POSED, "zh", 0)}["min_stack"].messages
    assert "一个整数栈" in chinese.content


def test_the_order_is_seeded_and_a_shorter_run_is_the_beginning_of_a_longer_one() -> None:
    order = [s.id for s in coding.samples(POSED, "en", 1)]
    assert order == [s.id for s in coding.samples(POSED, "zh", 1)]
    assert sorted(order) == sorted(POSED)
    assert order != [s.id for s in coding.samples(POSED, "en", 2)]


FENCED = "```python\nclass MinStack: pass\n```"


@pytest.mark.parametrize(
    ("text", "finish", "said"),
    [
        (FENCED, "stop", Program(code="class MinStack: pass", warnings=())),
        (FENCED, "length", Program(code="class MinStack: pass", warnings=())),
        (f"<think>```python\nclass MinStack: 1\n```</think>{FENCED}", "stop",
         Program(code="class MinStack: pass", warnings=("think_tag_in_content",))),
        (FENCED[:-3], "stop", Program(code="class MinStack: pass\n", warnings=())),
        (FENCED[:-3], "length", Score(outcome="no_answer", reason="truncated")),
        ("class MinStack: pass", "length", Score(outcome="no_answer", reason="truncated")),
        ("I can't.", "stop", Score(outcome="no_answer", reason="nothing_to_extract")),
        ("", "stop", Score(outcome="no_answer", reason="empty")),
    ],
)  # fmt: skip
def test_the_program_of_an_answer(text: str, finish: str, said: object) -> None:
    assert coding.program(replace(response(text=text), finish_reason=finish), MIN_STACK.problem) == said


def test_an_answer_in_the_reasoning_field_is_a_fault_of_the_harness() -> None:
    assert isinstance(coding.program(replace(response(text=""), reasoning=FENCED), MIN_STACK.problem), Failure)


def observed(posed: Posed, checks: int) -> Transcript:
    """What a right program gives, as far as so many checks."""
    flat = [want for right in posed.wanted[:checks] for want in right]
    told = tuple(
        Observation(returned=None, raised=(w["raised"],), said="x") if "raised" in w else Observation(returned=w["returned"])
        for w in flat
    )
    return Transcript(observations=told, end="finished", detail="")


def small(posed: Posed) -> Posed:
    """Without its large check, whose values are kept as hashes only."""
    checks = posed.problem.checks()[:-1]
    return replace(posed, problem=replace(posed.problem, checks=lambda: checks), wanted=posed.wanted[:-1])


def test_a_right_program_is_correct() -> None:
    posed = small(MIN_STACK)
    score = coding.score(posed, PROGRAM, observed(posed, 99))
    assert (score.outcome, score.reason, score.answer) == ("correct", None, "x")


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ("timeout", "timed_out"), ("crashed", "crashed"), ("memory", "out_of_memory"), ("flooded", "too_much_output"),
        ("garbled", "garbled"), ("load_failed", "does_not_load"),
    ],
)  # fmt: skip
def test_what_did_not_finish_is_wrong_for_its_reason(end: str, reason: str) -> None:
    posed = small(MIN_STACK)
    seen = replace(observed(posed, 3), end=end, detail="told")  # type: ignore[arg-type]
    score = coding.score(posed, PROGRAM, seen)
    assert (score.outcome, score.reason) == ("wrong", reason)
    assert "told" in str(score.explanation)
    assert ("check 4" in str(score.explanation)) is (end != "load_failed")
    assert not coding.settled(posed, seen)


def test_even_with_all_right_a_program_that_did_not_finish_is_wrong() -> None:
    posed = small(MIN_STACK)
    assert coding.score(posed, PROGRAM, replace(observed(posed, 99), end="crashed")).outcome == "wrong"


def test_a_second_try_is_told() -> None:
    said: list[str] = []
    seen = replace(observed(small(MIN_STACK), 3), end="timeout", detail="no end after 20 s")
    assert judging.tried_again(small(MIN_STACK), seen, said.append)
    assert said == ["the program did not finish (no end after 20 s); it is tried once more, alone"]


def test_a_wrong_value_before_a_timeout_settles_it() -> None:
    posed = small(MIN_STACK)
    seen = observed(posed, 3)
    spoilt = replace(seen, observations=(*seen.observations[:-1], replace(seen.observations[-1], raised=(), returned=7)))
    assert coding.settled(posed, replace(spoilt, end="timeout"))
    score = coding.score(posed, PROGRAM, replace(spoilt, end="timeout"))
    assert (score.reason, score.explanation) == ("failed_check", "check 3: .get_min(): got 7, wanted IndexError")


@pytest.mark.parametrize("posed", POSED.values(), ids=POSED)
def test_a_shipped_problem_is_whole(posed: Posed) -> None:
    """That its reference passes and its wrong solutions fail is seen in test_coding_sandbox.py, in containers."""
    of = posed.problem
    assert len(posed.wanted) >= 12
    assert len(of.wrong) >= 3
    space: dict[str, object] = {}
    exec(of.signature, space)  # what is shown can be copied
    assert of.entry in space
    assert of.en.strip()
    assert of.zh.strip()
    assert any("\u4e00" <= c <= "\u9fff" for c in of.zh)
    for program in (of.reference, *of.wrong.values()):
        compile(program, of.id, "exec")
        assert of.entry in program


@pytest.mark.parametrize("sample", coding.samples(POSED, "zh", 0), ids=lambda s: s.id)
def test_a_chinese_prompt_has_chinese_punctuation(sample: Sample) -> None:
    """But for code, quoted text, the thousands of a number, and calls: O(1)."""
    text = re.sub(r"```.*?```|`[^`]*`|\"[^\"\n]*\"", "`", sample.messages[-1].content, flags=re.DOTALL)
    text = re.sub(r"\b[A-Za-z]+\([a-z0-9 ]+\)|(?<=\d),(?=\d{3}\b)", "", text)
    assert not re.findall(r".{,10}[,:;?!()].{,10}", text)


def test_there_are_fifty_by_category_and_their_levels_differ() -> None:
    problems = [p.problem for p in POSED.values()]
    counts = {category: sum(p.category == category for p in problems) for category in {p.category for p in problems}}
    assert counts == {"algorithms": 12, "strings": 10, "data structures": 10, "mathematics": 8, "engineering": 10}
    assert all({p.level for p in problems if p.category == c} == {"easy", "medium", "hard"} for c in counts)
    assert sum(p.large for p in problems) >= 10


@pytest.mark.parametrize("posed", POSED.values(), ids=POSED)
def test_a_program_in_an_answer_is_taken_as_it_is(posed: Posed) -> None:
    """Code repeats itself more than prose does, and is no loop of a broken model for that."""
    for code in (posed.problem.reference, *posed.problem.wrong.values()):
        found = coding.program(response(text=f"Here it is:\n\n```python{code}```\n\nIt works."), posed.problem)
        assert isinstance(found, Program), found
        assert found.code.strip() == code.strip()


@pytest.mark.parametrize(("letters", "said"), [("mt", False), ("ee", False), ("mw", True)])
def test_a_container_is_told_of_only_where_a_program_ran(letters: str, said: bool) -> None:
    room = SandboxInfo(image_id="sha256:1", python="3.12", source="pulled", limits={})
    run = evidence("cc", {}, sandbox=room, tasks=(TaskSpec(name="coding", rounds=1, chance=0.0, marked=True),))
    run = replace(run, samples={"coding": samples(2)}, records=passes(BASELINE, (letters,), task="coding"))
    assert ("Each program ran in a container of its own" in report.section(run)) == said
