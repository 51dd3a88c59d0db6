"""Log-probabilities from the wire to the mark: /tokenize and /v1/completions as vLLM answers them, and what can't be true."""

import asyncio
import csv
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from evidence import BASELINE, evidence, record
from stub_server import Json, Reply, StubServer, error, pieces
from test_suite import answers, attached, stage

from evals import config, likelihood, run
from evals.asker import place
from evals.client import Client, Endpoint
from evals.lmeval import HarnessTask
from evals.plan import Stage
from evals.progress import Silent
from evals.records import Choice, Failure, Likelihood, Message, Response, Sample, Score
from evals.store import Journal, read
from evals.suite import Data, run_stage
from evals.ties import unmeasured
from tasks import TASKS, mmlu

CONTEXT = "Question: which of these is a gas?\nAnswer:"
LETTERS = (" A", " B", " C", " D")


def sample(*choices: str, context: str = CONTEXT) -> Sample:
    asked = tuple(Choice(after=0, text=text) for text in choices)
    return Sample(id="q", messages=(Message(role="user", content=context),), target="B", choices=asked)


def asked(stub: StubServer, what: Sample) -> Response | Failure:
    async def ask() -> Response | Failure:
        endpoint = Endpoint(url=stub.url, model="stub", api_key="none")
        async with Client(endpoint, timeout_s=10, alive=lambda: True, attempts=1) as client:
            return await likelihood.ask(client, what)

    return asyncio.run(ask())


def failure(stub: StubServer, what: Sample | None = None) -> Failure:
    found = asked(stub, what or sample(*LETTERS))
    assert isinstance(found, Failure), found
    return found


# --- one sample -----------------------------------------------------------------------------------------------------------


def test_a_choice_is_the_sum_over_its_own_tokens_and_greedy_where_each_is_the_likeliest() -> None:
    told = {" helium": -0.25, " gas": -0.5, " B": -3.0}
    with StubServer() as stub:
        stub.likes = lambda before, token: told.get(token, -2.0 - len(before) / 1000)
        found = asked(stub, sample(" helium gas", " B"))
        (sent,) = stub.completed
    assert isinstance(found, Response)
    assert found.likelihoods == (Likelihood(logprob=-0.75, greedy=True), Likelihood(logprob=-3.0, greedy=False))
    assert (found.text, found.completion_tokens, found.top_two) == (None, None, None)
    assert found.prompt_tokens == len(pieces(CONTEXT + " helium gas")) + len(pieces(CONTEXT + " B"))
    assert {k: sent[k] for k in ("echo", "logprobs", "max_tokens", "temperature")} == {
        "echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0.0,
    }  # fmt: skip
    assert all(type(i) is int for prompt in sent["prompt"] for i in prompt)


def test_all_choices_of_a_sample_are_one_request_and_no_bos_is_added() -> None:
    with StubServer() as stub:
        asked(stub, sample(*LETTERS))
        assert [len(body["prompt"]) for body in stub.completed] == [4]
        assert sorted(body["prompt"] for body in stub.tokenized) == sorted([CONTEXT, *(CONTEXT + x for x in LETTERS)])
        assert {body["add_special_tokens"] for body in stub.tokenized} == {False}


def test_white_space_at_the_contexts_end_is_the_continuations_as_in_lm_eval() -> None:
    with StubServer() as stub:
        stub.likes = lambda before, token: -1.5 if token == " A" else -2.0 - len(before) / 1000
        found = asked(stub, sample("A", context=CONTEXT + " "))
    assert isinstance(found, Response)
    assert found.likelihoods == (Likelihood(logprob=-1.5, greedy=False),)


def test_prompts_that_are_cut_into_other_tokens_have_another_hash() -> None:
    with StubServer() as one, StubServer() as other:
        asked(other, sample(" Z"))  # another vocabulary: the same texts get other ids
        hashes = [r.prompt_ids_sha for s in (one, one, other) if isinstance(r := asked(s, sample(*LETTERS)), Response)]
    assert hashes[0] == hashes[1] != hashes[2]


def _spoilt(**over: Any) -> Any:
    """A completion of two prompts whose log-probabilities are replaced."""

    def spoil(stub: StubServer) -> Reply:
        body = {"prompt": [list(range(6)), list(range(6))]}
        stub._vocabulary = [f" {i}" for i in range(6)]
        payload = stub.complete(body).payload
        for choice in payload["choices"]:
            choice["logprobs"] = None if "logprobs" in over else choice["logprobs"] | over
        stub._vocabulary.clear()
        return Reply(payload=payload)

    return spoil


TWO = Sample(
    id="q", messages=(Message(role="user", content=" a b c d e"),), target="A",
    choices=(Choice(after=0, text=" f"), Choice(after=0, text=" g")),
)  # fmt: skip
"""Six tokens each."""
FINE = [None, -1.0, -2.0, -3.0, -4.0, -5.0, -1.0]


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({"logprobs": None}, "the server sent logprobs: None"),
        ({"token_logprobs": None}, "the server scored no tokens of a prompt of 6"),
        ({"token_logprobs": [-1.0]}, "the server scored 1 tokens of a prompt of 6"),  # generated, and nothing echoed
        ({"token_logprobs": [*FINE, -1.0, -1.0]}, "the server scored 9 tokens of a prompt of 6"),
        ({"token_logprobs": [*FINE[:5], None, -1.0]}, "None is no log-probability"),
        ({"token_logprobs": [*FINE[:5], "-1", -1.0]}, "'-1' is no log-probability"),
        ({"token_logprobs": [*FINE[:5], math.nan, -1.0]}, "nan is no log-probability"),
        ({"token_logprobs": [*FINE[:5], True, -1.0]}, "True is no log-probability"),
        ({"token_logprobs": [*FINE[:5], 17.5, -1.0]}, "17.5 is above 0 and no log-probability"),
        ({"token_logprobs": [None, *[0.0] * 6]}, "all 5 tokens of a prompt have the same log-probability, 0"),
        ({"token_logprobs": [None, *[-6.9] * 6]}, "all 5 tokens of a prompt have the same log-probability, -6.9"),
        ({"top_logprobs": [None] * 7}, "the server sent no likeliest token at a position: None"),
    ],
)  # fmt: skip
def test_log_probabilities_that_cannot_be_true_are_a_failure_and_never_a_mark(over: Json, said: str) -> None:
    with StubServer() as stub:
        stub.pages["/v1/completions"] = _spoilt(**over)(stub)
        found = failure(stub, TWO)
    assert found.kind == "no_logprobs"
    assert found.message.startswith(f"no_logprobs: {said}")


@pytest.mark.parametrize("payload", [None, {}, {"choices": []}, {"choices": [{"index": 0, "logprobs": None}]}, {"choices": 3}])
def test_what_is_no_completion_of_every_choice_is_a_failure(payload: Any) -> None:
    with StubServer() as stub:
        stub.pages["/v1/completions"] = Reply(payload=payload)
        found = failure(stub)
    assert (found.kind, found.message.startswith(("no completion of 4 prompts", "no_logprobs: "))) in {
        ("protocol", True), ("no_logprobs", True),
    }  # fmt: skip


def test_a_prompt_longer_than_the_model_takes_is_a_failure_in_the_servers_words_and_never_cut() -> None:
    with StubServer() as stub:
        stub.max_model_len = 8
        found = failure(stub)
    assert found.kind == "http"
    assert "HTTP 400: This model's maximum context length is 8 tokens" in found.message


def test_a_server_without_tokenize_is_named_with_what_it_takes() -> None:
    with StubServer() as stub:
        stub.pages["/tokenize"] = Reply(status=404, payload={"detail": "Not Found"})
        assert "log-probabilities need the endpoint of vLLM itself" in failure(stub).message
        stub.pages["/tokenize"] = Reply(payload={"count": 3})
        assert failure(stub).message.startswith("/tokenize: no tokens in its answer")


# --- a stage --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "run") as opened:
        yield opened


@pytest.fixture
def what(tmp_path: Path) -> Stage:
    """Twelve questions of two subjects; the right answer is the question's number modulo 4."""
    for subject, count in (("anatomy", 8), ("virology", 4)):
        for split, rows in (("test", count), ("dev", 5)):
            folder = tmp_path / "data" / split
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / f"{subject}_{split}.csv").open("w", newline="") as file:
                csv.writer(file).writerows([f"{split} {subject} {i}?", "w", "x", "y", "z", i % 4] for i in range(rows))
    return stage(task="mmlu_loglikelihood", n=10, data_dir=str(tmp_path / "data"))


def knows_anatomy(before: str, token: str) -> float:
    """Of a question on anatomy the right letter, of any other A."""
    about, number = re.findall(r"(anatomy|virology) (\d+)\?", before)[-1] if before.endswith("Answer:") else ("", "0")
    right = "ABCD"[int(number) % 4] if about == "anatomy" else "A"
    return -0.5 if about and token.strip() == right else -1.0 - len(before) % 89 / 100


def test_mmlu_by_log_likelihood_is_posed_as_lm_eval_does_and_marked_by_the_likeliest_letter(
    what: Stage, journal: Journal
) -> None:
    task = HarnessTask(what.task)
    with StubServer() as stub:
        stub.likes = knows_anatomy
        run_stage(what, attached(stub), Data(harness={what.task.name: task}), journal, Silent())
        assert len(stub.completed) == 10
        assert not stub.requests
    told = read(journal.folder)
    asked = told.samples["mmlu_loglikelihood"]
    text = asked[0].messages[0].content
    assert text.startswith("The following are multiple choice questions (with answers) about ")
    assert text.count("\nAnswer: ") == 5
    assert text.endswith("\nA. w\nB. x\nC. y\nD. z\nAnswer:")
    assert [c.text for c in asked[0].choices] == [" A", " B", " C", " D"]
    scores = {i: told.scores[a.key] for i, a in answers(journal, what).items()}
    assert len(scores) == 10
    for one in asked:
        said = scores[one.id]
        assert isinstance(said, Score)
        right = one.group == "anatomy" or one.target[0] == "A"
        assert (said.outcome == "correct", [m.correct for m in said.harness]) == (right, [right])
    (aggregate,) = told.harness.values()
    correct = sum(isinstance(s, Score) and s.outcome == "correct" for s in scores.values())
    assert (aggregate.filter, aggregate.metric, aggregate.value) == ("none", "acc", pytest.approx(correct / 10))
    assert journal.has_stage(place(what), 10)


def test_what_failed_alone_is_asked_again_and_lm_eval_has_no_number_until_then(what: Stage, journal: Journal) -> None:
    data = Data(harness={what.task.name: HarnessTask(what.task)})
    with StubServer() as stub:
        stub.likes = knows_anatomy
        stub.pages["/v1/completions"] = error(400, "no")
        run_stage(what, attached(stub), data, journal, Silent())
        assert not journal.has_stage(place(what), 10)
        assert not read(journal.folder).harness
        del stub.pages["/v1/completions"]
        run_stage(what, attached(stub), data, journal, Silent())
        run_stage(what, attached(stub), data, journal, Silent())
        assert len(stub.completed) == 10
    assert len(read(journal.folder).harness) == 1


def test_a_mark_is_made_again_from_the_journal_alone() -> None:
    found = evidence("c", {}).records[0].response
    assert found is not None
    told = tuple(Likelihood(logprob=p, greedy=False) for p in (-3.0, -1.0, -1.0, -2.0))
    response = Response(**{**vars(found), "text": None, "likelihoods": told})
    assert mmlu.score_likelihoods(response, "B\nA. one", ()) == Score(outcome="correct", answer="B")
    assert mmlu.score_likelihoods(response, "C", ()) == Score(outcome="wrong", answer="B")
    assert isinstance(mmlu.score_likelihoods(found, "B", ()), Failure)


def test_it_is_blind_to_all_that_decoding_shows_and_gates_only_where_it_is_named() -> None:
    info = TASKS["mmlu_loglikelihood"]
    assert info.blind_to == {"speculation", "prefix_cache", "thinking", "parsers", "sampling"}
    assert (info.default_margin, info.default_n, info.chance) == (None, 200, 25.0)


# --- choices that are always equally likely -------------------------------------------------------------------------------


def ties(tied: int, n: int, choices: int = 4) -> list[Any]:
    equal, apart = (tuple(Likelihood(logprob=-1.0 - i * x, greedy=False) for i in range(choices)) for x in (0, 1))
    return [record(BASELINE, f"s{i}", likelihoods=equal if i < tied else apart) for i in range(n)]


@pytest.mark.parametrize(("tied", "n", "alarm"), [(1, 1, False), (2, 2, True), (1, 50, False), (5, 50, False), (12, 50, True)])
def test_ties_are_no_measurement_where_they_are_surely_more_than_a_tenth(tied: int, n: int, alarm: bool) -> None:
    found = unmeasured(ties(tied, n))
    failures = [r.failure for r in found if r.failure]
    assert len(failures) == (tied if alarm else 0)
    assert all(r.score is None and r.response is None for r in found if r.failure)
    if alarm:
        assert failures[0].message == f"no_logprobs: all 4 choices are equally likely, as in {tied} of {n} samples"


def test_a_single_continuation_has_nothing_to_be_equal_to() -> None:
    assert unmeasured(found := ties(9, 9, choices=1)) == tuple(found)


def test_a_candidate_that_tells_one_value_for_every_choice_is_an_alarm_and_no_regression(what: Stage, tmp_path: Path) -> None:
    """A score at chance would be one: nothing was measured, and that is INVALID."""
    with StubServer() as old, StubServer() as new:
        old.likes = knows_anatomy
        new.likes = lambda before, token: -1.0 if before.endswith("Answer:") else -2.0 - len(before + token) % 97 / 100
        arms = "".join(f"  {name}: {{engine: {{url: '{s.url}'}}}}\n" for name, s in (("old", old), ("new", new)))
        path = tmp_path / "x.yaml"
        path.write_text(
            f"name: x\nbaseline: old\nlaunches: 1\narms:\n{arms}"
            f"tasks: [{{task: mmlu_loglikelihood, n: all, data_dir: '{what.task.data_dir}'}}]\n"
            "gates: [{task: mmlu_loglikelihood, margin: 5}]\n"
        )
        verdict = run.run(config.load(path), tmp_path / "x", Silent())
    (gate,) = verdict.gates
    assert gate.verdict == "INVALID", gate
    (alarm,) = (f for f in verdict.findings if f.arm == "new" and f.kind == "errors")
    assert alarm.severity == "alarm"
    assert "12 no_logprobs failures" in alarm.text
    assert "all 4 choices are equally likely, as in 12 of 12 samples" in (tmp_path / "x" / "scorecard.md").read_text()
