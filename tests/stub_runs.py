"""Small experiments over endpoints on the wire, for what is told of a run: pytest, GitHub, histories."""

import json
from pathlib import Path

from stub_server import Answer, Json, Reply, StubServer, chat

N = 60
MARGIN = 6.0
"""With so many samples a drop of it is excluded where nothing flipped, and not where two did."""


def pupil(wrong: int = 0) -> Answer:
    """Adds one, but for the first `wrong` questions; says ready to whoever asks nothing of the kind."""

    def answer(request: Json) -> Reply:
        question = str(request["messages"][-1]["content"])
        if "what is " not in question:
            return Reply(payload=chat("ready"))
        number = int(question.split("what is ")[1].split()[0])
        return Reply(payload=chat(f"#### {number + (2 if number < wrong else 1)}"))

    return answer


def questions(folder: Path, n: int = N) -> None:
    rows = [json.dumps({"question": f"what is {i} + 1?", "answer": f"#### {i + 1}"}) + "\n" for i in range(n)]
    (folder / "data").mkdir(exist_ok=True)  # of its own: what else changes beside questions makes them others
    (folder / "data" / "test.jsonl").write_text("".join(rows))


def written(folder: Path, arms: dict[str, StubServer], name: str = "urls", *, task: str = "") -> Path:
    """An experiment file; the first arm is the baseline. `task`: more of the task's settings."""
    questions(folder)
    lines = "".join(f"  {arm}: {{engine: {{url: '{stub.url}'}}}}\n" for arm, stub in arms.items())
    path = folder / f"{name}.yaml"
    path.write_text(
        f"name: {name}\nbaseline: {next(iter(arms))}\nlaunches: 1\narms:\n{lines}"
        f"tasks: [{{task: gsm8k, n: {N}, data_dir: data, fewshot: 0{task}}}]\ngates: [{{task: gsm8k, margin: {MARGIN:g}}}]\n"
    )
    return path


def asked(stub: StubServer) -> int:
    """Questions of the task that came, without canaries and looks."""
    return sum("what is " in str(body["messages"][-1]["content"]) and body["max_tokens"] > 64 for body in stub.requests)
