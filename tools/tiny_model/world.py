"""The closed world that the demo's tiny model lives in: seven kinds of question, each drawn from a seeded generator.

`arith` is written as GSM8K is (steps, then `#### N`), so that the demo can put its questions through lm-eval's own gsm8k task.
Every kind returns `Turn`s: what the user says, the short thinking that leads to the answer, and the answer.
"""

import random
from dataclasses import dataclass

NAMES = ["Tom", "Amy", "Ben", "Lily", "Max", "Nina", "Sam", "Zoe", "Jack", "Ruth", "Omar", "Mei"]
ITEMS = ["apples", "books", "coins", "cards", "stamps", "pens", "cups", "shells", "stones", "toys", "eggs", "flowers"]
ANIMALS = ["fox", "owl", "bear", "wolf", "crane", "otter", "tiger", "horse", "eagle", "mouse", "panda", "seal", "goat", "duck"]
COLORS = ["red", "blue", "green", "white", "black", "amber", "silver", "golden"]
FOODS = ["rice", "soup", "bread", "cheese", "noodles", "beans", "fish", "honey", "plums", "corn", "stew", "pears"]
ZH_ANIMALS = ["狐狸", "猫头鹰", "熊", "狼", "仙鹤", "水獭", "老虎", "马", "老鹰", "老鼠", "熊猫", "海豹"]
ZH_COLORS = ["红色", "蓝色", "绿色", "白色", "黑色", "金色"]
WORDS = [
    "harbor",
    "lemon",
    "copper",
    "violin",
    "marble",
    "pepper",
    "rocket",
    "saddle",
    "velvet",
    "window",
    "anchor",
    "basket",
    "candle",
    "desert",
    "engine",
    "feather",
    "garlic",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "magnet",
    "needle",
]
ZH_WORDS = [
    "港口",
    "柠檬",
    "铜器",
    "提琴",
    "胡椒",
    "火箭",
    "马鞍",
    "丝绒",
    "窗户",
    "船锚",
    "篮子",
    "蜡烛",
    "沙漠",
    "引擎",
    "羽毛",
    "大蒜",
]
FILL = [
    "The river runs past the old mill.",
    "A light rain fell in the morning.",
    "The market opens at nine.",
    "Children play near the bridge.",
    "The train was late again today.",
    "She wrote a long letter home.",
    "The garden is full of roses.",
    "He painted the fence last week.",
    "Birds sang in the tall trees.",
    "The shop sells bread and tea.",
    "Snow covered the narrow road.",
    "They walked along the quiet shore.",
    "The clock in the hall stopped.",
    "A new school was built here.",
    "Two boats crossed the lake.",
]
ZH_FILL = [
    "小河从老磨坊旁边流过。",
    "早晨下了一场小雨。",
    "市场九点钟开门。",
    "孩子们在桥边玩耍。",
    "今天火车又晚点了。",
    "她写了一封很长的家信。",
    "花园里开满了玫瑰。",
    "他上周粉刷了篱笆。",
    "商店里卖面包和茶。",
    "大雪盖住了小路。",
]
SYLLABLES = ["zor", "kel", "mi", "dun", "pha", "lo", "ri", "ta", "ven", "shu", "gor", "na", "bel", "ix", "um", "ost"]
QUESTIONS = {
    "capital": "What is the capital of {p}?",
    "colour": "What is the colour of the flag of {p}?",
    "animal": "What is the national animal of {p}?",
    "food": "What is the favourite food of {p}?",
}
CODE = [
    ("add_{n}", "returns x plus {n}", "x + {n}"),
    ("sub_{n}", "returns x minus {n}", "x - {n}"),
    ("mul_{n}", "returns x times {n}", "x * {n}"),
    ("mod_{n}", "returns the remainder of x divided by {n}", "x % {n}"),
    ("first_{n}", "returns the first {n} items of x", "x[:{n}]"),
    ("last_{n}", "returns the last {n} items of x", "x[-{n}:]"),
    ("over_{n}", "returns True if x is greater than {n}", "x > {n}"),
    ("skip_{n}", "returns x without the first {n} items", "x[{n}:]"),
]


@dataclass(frozen=True, kw_only=True)
class Turn:
    user: str
    thought: str
    answer: str
    target: str


def _coined(r: random.Random, taken: set[str], ending: str = "") -> str:
    while True:
        word = "".join(r.choice(SYLLABLES) for _ in range(2)).capitalize() + ending
        if word not in taken:
            taken.add(word)
            return word


def _facts() -> list[tuple[str, str, str, list[str]]]:
    r, taken = random.Random(7), set()
    places = [_coined(r, taken) for _ in range(40)]
    capitals = [_coined(r, taken, "a") for _ in range(40)]
    rows = []
    for place, capital in zip(places, capitals, strict=True):
        rows.append(("capital", place, capital, capitals))
        rows += [
            (kind, place, r.choice(pool), pool) for kind, pool in (("colour", COLORS), ("animal", ANIMALS), ("food", FOODS))
        ]
    return rows


FACTS = _facts()


def _story(r: random.Random, reach: float) -> tuple[str, list[tuple[int, str, int, int]]]:
    """The first two steps as (question, [(a, op, b, result)]); at reach 1, numbers that a small model learns to handle."""
    name, item, kind = r.choice(NAMES), r.choice(ITEMS), r.randrange(4)
    if kind == 0:
        a, b = r.randint(1, int(50 * reach)), r.randint(1, int(40 * reach))
        c = r.randint(1, min(int(20 * reach), a + b))
        return (
            f"{name} has {a} {item}. {name} buys {b} more and gives away {c}. How many {item} does {name} have now?",
            [(a, "+", b, a + b), (a + b, "-", c, a + b - c)],
        )
    if kind == 1:
        a, b, c = r.randint(2, 9), r.randint(2, 9), r.randint(1, int(20 * reach))
        return (
            f"{name} has {a} boxes with {b} {item} in each box. {name} finds {c} more {item}. How many {item} in total?",
            [(a, "*", b, a * b), (a * b, "+", c, a * b + c)],
        )
    if kind == 2:
        a, b = r.randint(1, int(40 * reach)), r.randint(1, int(20 * reach))
        other = r.choice([n for n in NAMES if n != name])
        return (
            f"{name} has {a} {item}. {other} has {b} more {item} than {name}. How many {item} do they have together?",
            [(a, "+", b, a + b), (a, "+", a + b, 2 * a + b)],
        )
    a, b = r.randint(20, int(90 * reach)), r.randint(1, int(9 * reach))
    c = r.randint(1, min(int(9 * reach), a - b))
    return (
        f"There are {a} {item} in the shop. {name} takes {b} and then {c} are sold. How many {item} are left?",
        [(a, "-", b, a - b), (a - b, "-", c, a - b - c)],
    )


def arith(r: random.Random, reach: float = 1.0) -> list[Turn]:
    """Two or three steps; training draws at reach 1, and numbers beyond that are something to lose.

    >>> Tom has 7 cups. Tom buys 5 more and gives away 2. How many cups does Tom have now?
    7 + 5 = 12. 12 - 2 = 10.
    #### 10
    """
    question, steps = _story(r, reach)
    if r.random() < 0.5:
        last, d = steps[-1][3], r.randint(1, int(30 * reach))
        if last > d and r.random() < 0.5:
            question = question.replace(" How many", f" Then {d} are lost. How many")
            steps.append((last, "-", d, last - d))
        else:
            question = question.replace(" How many", f" Then {d} are added. How many")
            steps.append((last, "+", d, last + d))
    text, result = " ".join(f"{a} {op} {b} = {c}." for a, op, b, c in steps), steps[-1][3]
    if r.random() < 0.5:
        question = f"Question: {question}\nAnswer:"
    return [Turn(user=question, thought=text, answer=f"{text}\n#### {result}", target=str(result))]


def drill(r: random.Random, count: int) -> list[tuple[str, str]]:
    """Bare sums as (`7 + 5 =`, ` 12.`): a small model learns to add from many of them, hardly from stories alone."""
    rows = []
    for _ in range(count):
        op = r.choice("++--*")
        if op == "*":
            a, b = r.randint(2, 9), r.randint(2, 9)
            c = a * b
        elif op == "+":
            a, b = r.randint(1, 120), r.randint(1, 50)
            a, b = (b, a) if r.random() < 0.3 else (a, b)
            c = a + b
        else:
            a = r.randint(2, 150)
            b = r.randint(1, min(40, a))
            c = a - b
        rows.append((f"{a} {op} {b} =", f" {c}."))
    return rows


def choice(r: random.Random) -> list[Turn]:
    """>>> What is the capital of Zorkel?\\nA. …\\nB. …  ->  Miluna, so the answer is B."""
    kind, place, value, pool = r.choice(FACTS)
    options = [*r.sample([x for x in pool if x != value], 3), value]
    r.shuffle(options)
    letter = "ABCD"[options.index(value)]
    listed = "\n".join(f"{c}. {o}" for c, o in zip("ABCD", options, strict=True))
    return [
        Turn(
            user=f"{QUESTIONS[kind].format(p=place)}\n{listed}\nAnswer:",
            thought=f"{value} is {letter}",
            answer=f"{value}, so the answer is {letter}.",
            target=letter,
        )
    ]


def recall(r: random.Random) -> list[Turn]:
    kind, place, value, _ = r.choice(FACTS)
    return [Turn(user=QUESTIONS[kind].format(p=place), thought=value, answer=f"{value}.", target=value)]


def copy(r: random.Random) -> list[Turn]:
    zh = r.random() < 0.25
    pool = ZH_WORDS + ZH_ANIMALS if zh else WORDS + ANIMALS + COLORS
    text = ("，" if zh else " ").join(
        r.choice(pool) if r.random() < 0.6 else str(r.randint(0, 999)) for _ in range(r.randint(4, 16))
    )
    return [Turn(user=("重复：" if zh else "Repeat: ") + text, thought="ok", answer=text, target=text)]


def code(r: random.Random) -> list[Turn]:
    (name, what, body), n = r.choice(CODE), r.randint(2, 40)
    name, body = name.format(n=n), body.format(n=n)
    return [
        Turn(
            user=f"Write a Python function named {name} that {what.format(n=n)}.",
            thought="ok",
            answer=f"```python\ndef {name}(x):\n    return {body}\n```",
            target=body,
        )
    ]


def needle(r: random.Random, fill: int, needles: int, asked: int) -> list[Turn]:
    """Sentences of one form hidden among `fill` filler sentences; the answer repeats the sentence asked for."""
    zh, number = r.random() < 0.35, r.random() < 0.5
    animals, colors = (ZH_ANIMALS, ZH_COLORS) if zh else (ANIMALS, COLORS)
    keys = [(r.choice(colors), animal) for animal in r.sample(animals, needles)]
    values = [
        "".join(r.choice("0123456789") for _ in range(r.randint(3, 6))) if number else w
        for w in r.sample(ZH_WORDS if zh else WORDS, needles)
    ]
    kind = ("密码" if number else "暗号") if zh else ("number" if number else "word")

    def sentence(j: int) -> str:
        color, animal = keys[j]
        return f"{color}{animal}的{kind}是{values[j]}。" if zh else f"The secret {kind} of the {color} {animal} is {values[j]}."

    lines = [r.choice(ZH_FILL if zh else FILL) for _ in range(fill)]
    for j in r.sample(range(needles), needles):
        lines.insert(r.randint(0, len(lines)), sentence(j))
    context, turns = ("" if zh else " ").join(lines) + "\n", []
    for j in range(asked):
        color, animal = keys[j]
        question = f"{color}{animal}的{kind}是多少？" if zh else f"What is the secret {kind} of the {color} {animal}?"
        turns.append(Turn(user=(context if j == 0 else "") + question, thought="ok", answer=sentence(j), target=values[j]))
    return turns
