"""samples.parquet: every asked sample of a run as a row, for pandas and `bumpgate history`. Texts stay in the journal."""

import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evals.judged import Evidence
from evals.records import SampleRecord

FILE = "samples.parquet"
SCHEMA = pa.schema([
    ("run_id", pa.string()),
    ("experiment", pa.string()),
    ("started_at", pa.string()),  # ISO 8601, UTC, of the run
    ("arm", pa.string()),
    ("version", pa.string()),  # as its server told it
    ("fingerprint", pa.string()),
    ("task", pa.string()),
    ("round", pa.int32()),
    ("sample_id", pa.string()),
    ("prompt_sha", pa.string()),
    ("outcome", pa.string()),  # correct, wrong, no_answer; error: not measured; null: answered, and nothing marks it
    ("reason", pa.string()),  # of no_answer and of error
    ("answer", pa.string()),
    ("prompt_tokens", pa.int32()),
    ("completion_tokens", pa.int32()),
    ("reasoning_tokens", pa.int32()),
    ("latency_s", pa.float64()),
])  # fmt: skip


def parquet(evidence: Evidence) -> bytes:
    """The file; equal evidence, equal bytes."""
    table = pa.Table.from_pylist(list(_rows(evidence)), schema=SCHEMA)
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def _rows(evidence: Evidence) -> Iterator[dict[str, Any]]:
    versions = {arm: servers[-1].version for arm, servers in evidence.servers.items()}
    run = {"run_id": evidence.run_id, "experiment": evidence.name, "started_at": evidence.started_at}
    for record in evidence.records:
        yield run | {"version": versions.get(record.arm)} | _row(record)


def _row(record: SampleRecord) -> dict[str, Any]:
    score, response = record.score, record.response
    row: dict[str, Any] = {
        "arm": record.arm, "task": record.task, "round": record.round, "sample_id": record.sample_id,
        "prompt_sha": record.prompt_sha, "outcome": None, "reason": None,
    }  # fmt: skip
    if record.failure is not None:
        row |= {"outcome": "error", "reason": record.failure.kind}
    elif score is not None:
        row |= {"outcome": score.outcome, "reason": score.reason, "answer": _utf8(score.answer)}
    if response is not None:
        row |= {
            "fingerprint": response.fingerprint, "prompt_tokens": response.prompt_tokens,
            "completion_tokens": response.completion_tokens, "reasoning_tokens": response.reasoning_tokens,
            "latency_s": response.latency_s,
        }  # fmt: skip
    return row


def _utf8(text: str | None) -> str | None:
    """Half a surrogate pair, which a model may say, has no place in the file."""
    return None if text is None else text.encode(errors="replace").decode()
