"""One-line functions, which the demo's tiny model can write. Sample: "Write a Python function named add_7 that returns …".

The wording is its training world's (tools/tiny_model/world.py), so the signature is not shown again.
"""

from sandbox.steps import call
from tasks.problem import Check, Problem

_NUMBERS = (0, 1, 2, 3, 7, 19, 20, 21, 22, 40, 41, 1_000, -1, -5, 10**20)
_LISTS: tuple[list[int], ...] = ([], [1], [3, 1, 2], *(list(range(n)) for n in (19, 20, 21, 50)), [7, 7, -1] * 9)
_TEXTS = ("", "a", "hello", "zażółć gęślą jaźń 你好", "x" * 40)
KINDS = (
    ("add", "returns x plus {n}", "x + {n}"),
    ("sub", "returns x minus {n}", "x - {n}"),
    ("mul", "returns x times {n}", "x * {n}"),
    ("mod", "returns the remainder of x divided by {n}", "x % {n}"),
    ("over", "returns True if x is greater than {n}", "x > {n}"),
    ("first", "returns the first {n} items of x", "x[:{n}]"),
    ("last", "returns the last {n} items of x", "x[-{n}:]"),
    ("skip", "returns x without the first {n} items", "x[{n}:]"),
)
SIZES = (3, 8, 20)


def _problem(kind: str, what: str, body: str, n: int) -> Problem:
    name = f"{kind}_{n}"
    inputs = (*_LISTS, *_TEXTS) if "[" in body else (*_NUMBERS, n - 1, n, n + 1)

    def checks() -> tuple[Check, ...]:
        return tuple((call(value),) for value in inputs)

    def program(expression: str) -> str:
        return f"def {name}(x):\n    return {expression}\n"

    text = f"Write a Python function named {name} that {what.format(n=n)}."
    other = "x[{n}]" if "[" in body else "x // {n}"
    return Problem(
        id=name,
        category="algorithms" if "[" in body else "mathematics",
        level="easy",
        entry=name,
        signature="",
        en=text,
        zh=text,  # the tiny model learnt these in English only
        checks=checks,
        reference=program(body.format(n=n)),
        wrong={
            "the number is one too large": program(body.format(n=n + 1)),
            "the number is one too small": program(body.format(n=n - 1)),
            "another operation": program(other.format(n=n)),
        },
    )


PROBLEMS = tuple(_problem(kind, what, body, n) for kind, what, body in KINDS for n in SIZES)
