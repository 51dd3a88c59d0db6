"""Asks one arm × task × round: what the journal holds is taken from there, the rest goes to the server."""

import asyncio
import hashlib
import json
import math
import time
from concurrent.futures import Future, wait
from dataclasses import replace

from evals import likelihood, sampling, telemetry
from evals.client import Client, body, prompt_sha
from evals.engine import Server
from evals.errors import ServerDied
from evals.experiment import GREEDY
from evals.judging import Judge
from evals.plan import Stage
from evals.progress import Reporter, Row
from evals.prompt_room import answer_tokens
from evals.records import Failure, JsonDict, Response, Sample
from evals.store import Answer, Journal, Place

GREEDY_TOP_LOGPROBS = 2
_GATEWAY = ("HTTP 502", "HTTP 503", "HTTP 504")
"""What a proxy says in the place of a server that is gone."""


class Asker:
    """Asks one stage's samples: what the journal holds is taken from there, the rest goes to the server.

    With a judge, programs are run as they come, while others are still being written.
    """

    def __init__(self, stage: Stage, server: Server, journal: Journal, reporter: Reporter, judge: Judge | None = None) -> None:
        self.stage, self.server, self.journal, self.reporter = stage, server, journal, reporter
        self.judge = judge if stage.task.info.sandboxed else None
        self._judged: list[Future[None]] = []
        self.place = place(stage)
        self.settings = sampling.settings(stage.arm)
        if not stage.task.info.marked:
            self.settings |= GREEDY  # whatever the arm's sampling is
        self._thinks = sampling.asked_to_think(stage.arm, server.info.version)
        self.asked = 0
        self._row: Row
        self._lost_in_a_row = 0

    def ask(
        self, samples: tuple[Sample, ...], limit_s: float = math.inf, part: tuple[Sample, ...] | None = None, of: str = ""
    ) -> dict[str, Response | Failure]:
        """Every sample's answer, by id; those that were not begun after `limit_s` are left out.

        `part`: those of the task's samples to ask now, where that is not all; `of` says which.

        Raises:
            ServerDied: the server stopped answering; what was answered before is in the journal.
        """
        self.journal.put_samples(self.stage.task.name, samples)
        found: dict[str, Response | Failure] = {}
        missing = []
        asked = samples if part is None else part
        for sample in asked:
            stored = self.journal.contents.answers.get((self.place, sample.id))
            if stored and stored.response and stored.key == self.key(sample):
                found[sample.id] = stored.response
            else:
                missing.append(sample)
        if missing:
            title = " · ".join(filter(None, [self.stage.title, of]))
            self._row = self.reporter.stage(title, len(asked), len(found))
            try:
                found |= asyncio.run(self._ask_all(missing, time.monotonic() + limit_s))
            finally:
                self._row.end()
        else:
            self.reporter.answered(len(found))
        return found

    def key(self, sample: Sample) -> str:
        """Everything that shapes an answer: an edited experiment never meets a stale one."""
        spec = [self.place.arm, self.place.arm_key, self.place.task, self.place.task_key, self.place.round, sample.id]
        whole = json.dumps([*spec, prompt_sha(sample), self._body(sample)], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:24]

    def _body(self, sample: Sample) -> JsonDict:
        arm, task = self.stage.arm, self.stage.task
        if sample.choices:
            return likelihood.BODY
        top = None if task.info.marked else GREEDY_TOP_LOGPROBS
        out = body(self.settings, max_tokens=answer_tokens(arm, task), top_logprobs=top)
        if out.get("temperature"):
            out["seed"] = sampling.seed(sample.id, self.stage.round)
        return out

    async def _ask_all(self, samples: list[Sample], until: float) -> dict[str, Response | Failure]:
        limit = asyncio.Semaphore(self.stage.task.concurrency)
        arm = self.stage.arm
        async with Client(self.server.endpoint, timeout_s=arm.request.timeout_s, alive=self.server.alive) as client:

            async def one(sample: Sample) -> tuple[str, Response | Failure] | None:
                async with limit:
                    if time.monotonic() > until:
                        return None
                    if self.stage.warm:  # a single token will do: it is there to fill the prefix cache
                        await client.chat(sample.messages, self._body(sample) | {"max_tokens": 1, "min_tokens": 0})
                    before = self._counters()
                    if sample.choices:
                        answer = await likelihood.ask(client, sample)
                    else:
                        answer = await client.chat(sample.messages, self._body(sample))
                    if isinstance(answer, Response):
                        ids = answer.prompt_ids if self.stage.keeps_prompts else None
                        answer = replace(self._with_acceptance(answer, before), asked_to_think=self._thinks, prompt_ids=ids)
                self._keep(sample, answer)
                return sample.id, answer

            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(one(s)) for s in samples]
            except ExceptionGroup as failed:  # one failure of many that end alike; that the server died says most
                raise (failed.subgroup(ServerDied) or failed).exceptions[0] from None
        return dict(pair for task in tasks if (pair := task.result()) is not None)

    def _counters(self) -> telemetry.Counters | None:
        """Where one sample is asked at a time, what the server counts belongs to a single answer."""
        return telemetry.read(self.server.endpoint.url) if self.stage.task.concurrency == 1 else None

    def _with_acceptance(self, answer: Response, before: telemetry.Counters | None) -> Response:
        if before is None or answer.draft_tokens is not None:
            return answer
        spent = telemetry.since(before, telemetry.read(self.server.endpoint.url))
        return replace(
            answer, draft_tokens=spent.spec_decode_num_draft_tokens, accepted_tokens=spent.spec_decode_num_accepted_tokens
        )

    def _keep(self, sample: Sample, answer: Response | Failure) -> None:
        if isinstance(answer, Failure):
            self._see_alive(answer)
        else:
            self._lost_in_a_row = 0
        response, failure = (answer, None) if isinstance(answer, Response) else (None, answer)
        kept = Answer(
            place=self.place, sample_id=sample.id, prompt_sha=prompt_sha(sample), key=self.key(sample),
            response=response, failure=failure,
        )  # fmt: skip
        self.journal.put_answer(kept)
        if self.judge:
            self._judged += self.judge.take(kept)
        self.asked += 1
        self._row.advance((response.completion_tokens or 0) if response else 0)

    def not_measured(self, samples: tuple[Sample, ...], why: str) -> None:
        """Those of the samples that have no prompt can't even be asked.

        Raises:
            ServerDied: that is because the server ended.
        """
        failure = Failure(kind="protocol", message=why)
        self._see_alive(failure)
        self.journal.put_samples(self.place.task, samples, made_for=self.place.task_key)
        for s in (s for s in samples if not s.messages):
            self.journal.put_answer(Answer(
                place=self.place, sample_id=s.id, prompt_sha="", key=self.key(s), response=None, failure=failure
            ))  # fmt: skip

    def settle(self) -> None:
        """Wait until every program is judged, those of an earlier process too."""
        wait(self._judged)
        if self.judge:
            wait([f for a in self.journal.unjudged() if a.place == self.place for f in self.judge.take(a)])

    def _see_alive(self, failure: Failure) -> None:
        if not self.server.alive():
            said = self.server.cause() or failure.message
            raise ServerDied(f"the server ended while it was asked: {said}", self.server.log_tail())
        lost = failure.kind in ("connection", "timeout") or failure.message.startswith(_GATEWAY)
        self._lost_in_a_row = self._lost_in_a_row + 1 if lost else 0
        if self._lost_in_a_row >= 2 * self.stage.task.concurrency:
            raise ServerDied(f"no answer {self._lost_in_a_row} times in a row: {failure.message}", self.server.log_tail())


def place(stage: Stage) -> Place:
    return Place(arm=stage.arm.name, arm_key=stage.arm.key, task=stage.task.name, task_key=stage.task.key, round=stage.round)
