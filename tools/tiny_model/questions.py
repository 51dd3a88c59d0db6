"""Write the demo's own arithmetic, in GSM8K's format: python questions.py OUT  →  test.jsonl and train.jsonl.

The seed is not one that training draws from; a question that training happened to draw as well is as likely here as anywhere.
"""

import json
import random
import sys
from pathlib import Path

import world

SEED, TEST, TRAIN = 2024, 1200, 50
REACH = 1.3
"""Numbers up to a third beyond those of training: the model is right on about nine in ten, so that there is something to lose."""


def main() -> None:
    out, r = Path(sys.argv[1]), random.Random(SEED)
    rows: dict[str, str] = {}
    while len(rows) < TEST + TRAIN:
        turn = world.arith(r, REACH)[0]
        rows.setdefault(turn.user.removeprefix("Question: ").removesuffix("\nAnswer:"), turn.answer)
    lines = [json.dumps({"question": q, "answer": a}) + "\n" for q, a in rows.items()]
    (out / "test.jsonl").write_text("".join(lines[:TEST]))
    (out / "train.jsonl").write_text("".join(lines[TEST:]))


if __name__ == "__main__":
    main()
