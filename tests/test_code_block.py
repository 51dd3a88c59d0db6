"""Which code block of an answer counts."""

import pytest

from tasks.code_block import Block, program

F = "def f(x):\n    return x"
G = "def f(x):\n    return x + 1"


CUT = "def f(x):\n    return ("
NESTED = "if True:\n    def f(x): return x"
CLASS = "class f:\n    pass"
DOCUMENTED = 'def f(x):\n    """Adds.\n\n    ```\n    f(1) == 1\n    ```\n    """\n    return x'
LEFT = 'def f(x):\n    """Adds.\n\n```\nf(1) == 1\n```\n"""\n    return x'
HEADS = "class f:\n    def g(self) -> int: ..."
TEXT = 'D = """\nat the left"""'


def fenced(code: str, info: str = "python") -> str:
    return f"```{info}\n{code}\n```"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (fenced(F), F),
        (f"Here it is:\n\n{fenced(F)}\n\nIt returns x.", F),
        (fenced(F, ""), F),
        (fenced(F, "py"), F),
        (fenced(F, "Python3"), F),
        (fenced(F, "python3.11"), F),
        (fenced(F, 'python title="a.py"'), F),
        (fenced(F, " python "), F),
        (f"~~~python\n{F}\n~~~", F),
        (f"````python\n{F}\n````", F),
        (f"````python\nD = '''\n```\n'''\n{F}\n````", f"D = '''\n```\n'''\n{F}"),
        ("1. Like so:\n\n   ```python\n   def f(x):\n       return x\n   ```", F),
        ("> ```python\n> def f(x):\n>     return x\n> ```", F),
        (fenced(F).replace("\n", "\r\n"), F),
        # What says that it is something else is no program.
        (f"{fenced('pip install x', 'bash')}\n{fenced(F)}\n{fenced('f(1)  # 1', 'text')}", F),
        (f"{fenced(F)}\n{fenced('{}', 'json')}", F),
        # Two candidates: the last that defines the entry, and one that parses before one that does not.
        (f"{fenced(F)}\nBetter:\n{fenced(G)}", G),
        (f"{fenced(F)}\nUsage:\n{fenced('print(f(1))')}", F),
        (f"{fenced(G)}\n{fenced(CUT)}", G),
        (f"{fenced('def g(): pass')}\n{fenced(CUT)}", CUT),
        (f"{fenced('def g(): pass')}\n{fenced('def h(): pass')}", "def h(): pass"),
        # However the entry comes about.
        (f"{fenced('f = lambda x: x')}\n{fenced('f(2)')}", "f = lambda x: x"),
        (f"{fenced('f: object = abs')}\n{fenced('f(2)')}", "f: object = abs"),
        (f"{fenced(NESTED)}\n{fenced('f(2)')}", NESTED),
        (f"{fenced(CLASS)}\n{fenced('f()')}", CLASS),
        (f"{fenced('async def f(x): return x')}\n{fenced('f(2)')}", "async def f(x): return x"),
        # A docstring may hold fences of its own.
        (fenced(DOCUMENTED), DOCUMENTED),
        (fenced(DOCUMENTED.replace("```\n", "```python\n", 1)), DOCUMENTED.replace("```\n", "```python\n", 1)),
        (fenced(LEFT), LEFT),
        (f"{fenced(DOCUMENTED)}\nBetter:\n{fenced(G)}", G),
        # Fences that are not quite.
        (f"```python\n{F}\n```It returns x.", F),
        (f"```python\n{F}```", F),
        (f"```python\n{F}\n```python\n{G}\n```", G),
        (f"```python\n\ufeff{F}\n```", F),
        (f"\u200b{F}", F),
        (fenced(F).replace("\n", "\r"), F),
        (f"- so:\n\n  ```python\n  {TEXT}\n  def f(x):\n      return D\n  ```", f"{TEXT}\ndef f(x):\n    return D"),
        # A signature is no program.
        (f"{fenced(F)}\nIts signature:\n{fenced('def f(x: int) -> int: ...')}", F),
        (f"{fenced(CLASS)}\n{fenced(HEADS)}", CLASS),
        # No fence: the lines that are a program, with prose around them.
        (F, F),
        (f"Sure!\n\n{F}\n\nThis returns x.", F),
        (f"import math\n\n{F}", f"import math\n\n{F}"),
        (f"@cache\n{F}\nHope that helps", f"@cache\n{F}"),
        (f"from the text follows this:\n\n{F}\n\nfrom which you see it", F),
        (f"Sure.\nM = 1\n{F}\nDone.", f"M = 1\n{F}"),
        ("So:\n\n    def f(x):\n        return x\n\nThat is it.", F),
    ],
)  # fmt: skip
def test_the_block_that_counts(text: str, code: str) -> None:
    found = program(text, "f")
    assert found is not None
    assert found.code.strip("\n") == code


@pytest.mark.parametrize("text", ["", "I can't do that.", "f returns x", "The def of f is simple", fenced("", "python")])
def test_an_answer_without_code(text: str) -> None:
    assert program(text, "f") is None


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        (fenced(F), True),
        (f"```python\n{F}", False),
        (f"```python\n{F}\n", False),
        (f"{fenced(F)}\nand so", True),
        (f"{fenced(F)}\nOr:\n```python\n{G}", False),
        (f"{fenced(F)}\nUsage:\n```python\nprint(f(", True),
        (F, False),
        (f"{F}\n\nIt returns x. What", True),
    ],
)
def test_whether_it_was_closed(text: str, closed: bool) -> None:
    found = program(text, "f")
    assert found is not None
    assert found.closed is closed


def test_a_fence_left_open_runs_to_the_end() -> None:
    assert program(f"```python\n{F}", "f") == Block(code=F, closed=False)


def test_a_megabyte_of_parentheses_costs_nothing_but_the_answer() -> None:
    found = program(fenced("(" * 1_000_000), "f")
    assert found is not None


def test_long_prose_around_a_program_costs_no_minutes() -> None:
    """A program of 2,000 lines and as much prose: each end that is tried is one at which Python stopped reading."""
    code = "def f(x):\n" + "    x += 1\n" * 2_000 + "    return x"
    found = program(f"{code}\n\n" + "And this is how it works, line by line.\n" * 2_000, "f")
    assert found is not None
    assert found.code == code
