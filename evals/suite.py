"""One arm × task × round on a running server → answers and scores in the journal."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace

from evals import telemetry
from evals.asker import Asker
from evals.data import Data as Data
from evals.engine import Server
from evals.errors import NoTokenCount, ServerDied
from evals.experiment import TaskConfig
from evals.judging import Judge
from evals.lmeval import HarnessTask
from evals.plan import Stage
from evals.progress import Reporter
from evals.records import HarnessResult, Marks, Sample, Window
from evals.store import Journal
from tasks.needle import Cell


def run_stage(
    stage: Stage, server: Server, data: Data, journal: Journal, reporter: Reporter, judge: Judge | None = None
) -> None:
    """Ask, score, and note what /metrics says of the time between.

    Raises:
        ServerDied: the server stopped answering.
    """
    asker = Asker(stage, server, journal, reporter, judge)
    try:
        _ask(asker, data)
    except ServerDied:
        asker.settle()
        raise
    asker.settle()
    journal.stage_done(asker.place, stage.task.n)


def _ask(asker: Asker, data: Data) -> None:
    stage = asker.stage
    if not _prepared(asker, data):
        return
    if stage.task.name in data.harness:
        with _window(asker):
            _through_lm_eval(asker, data.posed(stage.task))
        return
    samples = data.samples(stage.task)
    try:
        for length, part in _by_length(stage.task, samples):
            with _window(asker, length):
                asker.ask(samples, part=part, of=f"{length} tokens" if length else "")
    finally:
        _mark(asker, samples, {})


def _by_length(task: TaskConfig, samples: tuple[Sample, ...]) -> Iterator[tuple[int | None, tuple[Sample, ...]]]:
    """Needles from the shortest on: what a length takes tells what longer ones will, and short ones don't wait behind long."""
    if task.name != "needle":
        yield None, samples
        return
    lengths = {sample.id: Cell.read(sample.id).length for sample in samples}
    for length in sorted(set(lengths.values())):
        yield length, tuple(s for s in samples if lengths[s.id] == length)


def _prepared(asker: Asker, data: Data) -> bool:
    """Whether there is something to ask: prompts of an exact length are made with the tokenizer of a server."""
    if asker.stage.task.name == "needle" and data.needles is not None:
        try:
            data.needles.make(asker.stage, asker.server.endpoint, asker.settings, asker.journal, asker.reporter.say)
        except NoTokenCount as e:
            asker.not_measured(data.samples(asker.stage.task), str(e))
            return False
    return True


def probe(stage: Stage, server: Server, data: Data, journal: Journal, reporter: Reporter, limit_s: float) -> None:
    """Ask a stage's first samples for so many seconds, to see how fast it goes; the answers are kept.

    Raises:
        ServerDied: the server stopped answering.
    """
    asker = Asker(stage, server, journal, reporter)
    if _prepared(asker, data):
        with _window(asker):
            asker.ask(data.samples(stage.task), limit_s)


def _through_lm_eval(asker: Asker, task: HarnessTask) -> None:
    try:
        marked = task.run(asker.ask)
    except (ServerDied, KeyboardInterrupt):  # what was answered counts, though lm-eval will not see it in this pass
        _mark(asker, asker.journal.contents.samples.get(asker.place.task, ()), {})
        raise
    _mark(asker, marked.samples, marked.marks)
    for a in marked.aggregates:
        asker.journal.put_harness(asker.place, HarnessResult(
            arm=asker.place.arm, task=asker.place.task, round=asker.place.round, filter=a.filter, metric=a.metric,
            value=a.value, stderr=a.stderr, n=a.n,
        ))  # fmt: skip


def _mark(asker: Asker, samples: tuple[Sample, ...], marks: dict[str, tuple[Marks, ...]]) -> None:
    """What is marked by its text; programs are marked by the judge, and greedy answers only compared."""
    if (score := asker.stage.task.info.score) is None:
        return
    answers = asker.journal.contents.answers
    asked = [(s, a, a.response) for s in samples if (a := answers.get((asker.place, s.id))) and a.response]
    thinks = any(response.reasoning and (response.text or "").strip() for _, _, response in asked)
    for sample, stored, response in asked:
        if thinks and response.asked_to_think is None:  # nobody said, and the other answers show it
            response = replace(response, asked_to_think=True)
        asker.journal.put_score(stored.key, score(response, sample.target, marks.get(sample.id, ())))


@contextlib.contextmanager
def _window(asker: Asker, length: int | None = None) -> Iterator[None]:
    """Note what the server counted meanwhile; a cold prefix cache first, where it can be had, unless it is to be warm."""
    cold = False if asker.stage.warm else asker.server.reset_prefix_cache() or None
    asked, before, start = asker.asked, telemetry.read(asker.server.endpoint.url), time.monotonic()
    try:
        yield
    finally:
        if asker.asked > asked:
            spent = telemetry.since(before, telemetry.read(asker.server.endpoint.url))
            asker.journal.put_window(asker.place, Window(
                arm=asker.place.arm, task=asker.place.task, round=asker.place.round, wall_s=time.monotonic() - start,
                samples=asker.asked - asked, generation_tokens=spent.generation_tokens, prompt_tokens=spent.prompt_tokens,
                prefix_cache_queries=spent.prefix_cache_queries, prefix_cache_hits=spent.prefix_cache_hits,
                drafts=spent.spec_decode_num_drafts, draft_tokens=spent.spec_decode_num_draft_tokens,
                accepted_tokens=spent.spec_decode_num_accepted_tokens, accepted_per_position=spent.accepted_per_position,
                cold=cold, acceptance_gauge=spent.acceptance_gauge, engines=spent.engines, length=length,
            ))  # fmt: skip
