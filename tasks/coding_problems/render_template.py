"""A template filled in, with filters and escaping. Sample: "Hi {{ name|upper }}!" with {"name": "a&b"} → "Hi A&amp;B!"."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def render_template(template: str, values: dict[str, object]) -> str: ..."

EN = r"""
Write a function `render_template` that replaces the tags of a template by values and returns the text. The template is read
from left to right:

- `{{` begins a tag, which must have the form below; else the template is malformed.
- `\{{` (a backslash directly before `{{`) is no tag: it stands for the text `{{`, and reading goes on after it.
- Everything else stands for itself: other backslashes, single braces, `}}` outside of a tag. Text that was filled in is not
  read again.

A tag is `{{`, a path, any number of filters, and `}}`. A path is one or more names joined by dots, like `user.name`; a name
begins with an ASCII letter or an underscore, followed by any number of ASCII letters, digits and underscores. A filter is `|`
and the name of the filter, for some filters directly followed by `:` and an argument. Any number of spaces (U+0020) may stand
after `{{`, before `}}`, and before and after each `|`; nowhere else, and no other white space. So
`{{ user.name | limit:3|upper }}` is a tag. An argument is either a text, which is any characters but double quotes between
two double quotes (`|`, `}}` and line breaks included), or a number, which is one or more ASCII digits.

The first name of a path is looked up in `values`, each further name in the dict found so far. The value is **missing** if a
name is not a key, if what was found before a dot is not a dict, or if the value found at last is None. (It is never a dict, a
list or a float.) Otherwise it becomes a text: a str as it is, an int in decimal, True and False as `true` and `false`. Then
the filters are applied from left to right:

- `upper`, `lower`: like `str.upper()` and `str.lower()`. `trim`: like `str.strip()`.
- `limit:NUMBER`: the first NUMBER characters; all if there are fewer.
- `default:TEXT`: if the value is missing at this point, it becomes TEXT and is no longer missing. An empty text is not
  missing.
- `raw`: does not change the value, but switches off the escaping of this tag, wherever it stands among the filters.

A missing value stays missing through all other filters. If it is still missing after the last one, raise KeyError. At last,
unless the tag has the filter `raw`, escape the text: `&`, `<`, `>` and `"` become `&amp;`, `&lt;`, `&gt;` and `&quot;`;
nothing else is escaped.

If the template is malformed anywhere, raise ValueError, even if an earlier tag would raise KeyError. An unknown filter, a
missing argument, an argument where none belongs, and an argument of the wrong kind are malformed too.
"""

ZH = r"""
请编写函数 `render_template`，用值替换模板中的标签，并返回所得的文本。模板从左到右读取：

- `{{` 开始一个标签，标签必须具有下述形式，否则模板格式错误。
- `\{{`（紧接在 `{{` 之前有一个反斜杠）不是标签：它表示文本 `{{`，并从其后继续读取。
- 其他一切都表示其自身：其他反斜杠、单个花括号、标签之外的 `}}`。填入的文本不会被再次读取。

标签依次由 `{{`、一个路径、任意多个过滤器和 `}}` 组成。路径是用点连接的一个或多个名称，例如 `user.name`；名称以 ASCII 字
母或下划线开头，后面是任意多个 ASCII 字母、数字和下划线。过滤器是 `|` 加上过滤器的名称，某些过滤器的名称之后直接跟着 `:`
和一个参数。在 `{{` 之后、`}}` 之前以及每个 `|` 的前后可以有任意多个空格（U+0020）；其他位置不允许有空格，也不允许其他空
白字符。因此 `{{ user.name | limit:3|upper }}` 是一个标签。参数或者是文本，即两个双引号之间除双引号以外的任意字符（包括
`|`、`}}` 和换行符），或者是数字，即一个或多个 ASCII 数字。

路径的第一个名称在 `values` 中查找，后面的每个名称在到此为止找到的字典中查找。如果某个名称不是键，或者在点之前找到的不是
字典，或者最后找到的值是 None，则该值**缺失**。（最后找到的值绝不会是字典、列表或浮点数。）否则它变成文本：str 保持原
样，int 写成十进制，True 和 False 写成 `true` 和 `false`。然后从左到右应用过滤器：

- `upper`、`lower`：与 `str.upper()` 和 `str.lower()` 相同。`trim`：与 `str.strip()` 相同。
- `limit:NUMBER`：前 NUMBER 个字符；如果不足，则为全部。
- `default:TEXT`：如果此时值缺失，则值变为 TEXT，不再缺失。空文本不算缺失。
- `raw`：不改变值，但关闭该标签的转义，无论它处于过滤器中的哪个位置。

缺失的值经过其他所有过滤器后仍然缺失。如果在最后一个过滤器之后仍然缺失，则抛出 KeyError。最后，除非标签带有过滤器
`raw`，否则对文本转义：`&`、`<`、`>` 和 `"` 变为 `&amp;`、`&lt;`、`&gt;` 和 `&quot;`；其他任何字符都不转义。

如果模板的任何一处格式错误，则抛出 ValueError，即使更靠前的标签会引发 KeyError。未知的过滤器、缺少参数、在不该有参数的地
方带有参数、参数的种类不对，也都是格式错误。
"""

REFERENCE = r'''
import re

NAME = "[A-Za-z_][A-Za-z0-9_]*"
OPENING = re.compile(r"\\?\{\{")
FILTER = re.compile(r' *\| *([a-z]+)(?::(?:"([^"]*)"|([0-9]+)))?')
TAG = re.compile(rf"\{{\{{ *({NAME}(?:\.{NAME})*)((?:{FILTER.pattern})*) *\}}\}}")
ARGUMENT = {"upper": None, "lower": None, "trim": None, "raw": None, "default": "text", "limit": "number"}
ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def render_template(template, values):
    parts = _parse(template)
    return "".join(part if isinstance(part, str) else _fill(*part, values) for part in parts)


def _parse(template):
    """Texts, and for each tag its path and its filters."""
    parts = []
    at = 0
    while opening := OPENING.search(template, at):
        parts.append(template[at : opening.start()])
        at = opening.end()
        if opening[0] != "{{":
            parts.append("{{")
            continue
        tag = TAG.match(template, opening.start())
        if tag is None:
            raise ValueError(f"a malformed tag at {opening.start()}")
        parts.append((tag[1].split("."), [_filter(*found.groups()) for found in FILTER.finditer(tag[2])]))
        at = tag.end()
    return [*parts, template[at:]]


def _filter(name, text, number):
    kind = None if text is number is None else "number" if text is None else "text"
    if name not in ARGUMENT or ARGUMENT[name] != kind:
        raise ValueError(f"no such filter: {name}")
    return name, text if number is None else int(number)


def _fill(path, filters, values):
    value = values
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    text = str(value).lower() if isinstance(value, bool) else None if value is None else str(value)
    for name, argument in filters:
        if text is None:
            text = argument if name == "default" else None
        elif name == "limit":
            text = text[:argument]
        elif name in ("upper", "lower"):
            text = getattr(text, name)()
        elif name == "trim":
            text = text.strip()
    if text is None:
        raise KeyError(".".join(path))
    return text if ("raw", None) in filters else text.translate(ESCAPES)
'''

WRONG = {
    "the quote character ' is escaped too": REFERENCE.replace("text.translate(ESCAPES)", "html.escape(text)").replace(
        "import re", "import html\nimport re", 1
    ),
    "quotes are not escaped": REFERENCE.replace(""", '"': "&quot;\"""", ""),
    "the ampersand is escaped last": REFERENCE.replace(
        "text.translate(ESCAPES)",
        """text.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace("&", "&amp;")""",
    ),
    "escapes before the filters": REFERENCE.replace(
        "    for name, argument in filters:\n",
        """    if text is not None and ("raw", None) not in filters:
        text = text.translate(ESCAPES)
    for name, argument in filters:
""",
    ).replace('return text if ("raw", None) in filters else text.translate(ESCAPES)', "return text"),
    "raw only at the end": REFERENCE.replace('("raw", None) in filters', 'filters and filters[-1] == ("raw", None)'),
    "an empty text is missing": REFERENCE.replace(
        "        if text is None:\n", '        if text is None or (text == "" and name == "default"):\n'
    ),
    "upper makes a missing value an error": REFERENCE.replace(
        '            text = argument if name == "default" else None',
        '            if name != "default":\n                raise KeyError(name)\n            text = argument',
    ),
    "a default counts wherever it stands": REFERENCE.replace(
        "    for name, argument in filters:\n",
        """    if text is None:
        text = next((argument for name, argument in filters if name == "default"), None)
    for name, argument in filters:
""",
    ),
    "booleans as Python writes them": REFERENCE.replace("str(value).lower()", "str(value)"),
    "None as text": REFERENCE.replace("None if value is None else str(value)", "str(value)"),
    "0 and False are missing": REFERENCE.replace("    text = str(value)", "    value = value or None\n    text = str(value)"),
    "a missing value is an empty text": REFERENCE.replace('raise KeyError(".".join(path))', 'return ""'),
    "errors in the order of the tags": REFERENCE.replace("parts.append", "yield ").replace(
        "return [*parts, template[at:]]", "yield template[at:]"
    ),
    "a tag ends at the first }}": REFERENCE.replace('"([^"]*)"', '"((?:(?!}})[^"])*)"'),
    "filters are split at every |": REFERENCE.replace('"([^"]*)"', '"([^"|]*)"'),
    "any white space in a tag": REFERENCE.replace("' *", r"'\s*")
    .replace("{{ *(", r"{{\s*(")
    .replace(")*) *", r")*)\s*")
    .replace("| *", r"|\s*"),
    "filled in text is read again": REFERENCE.replace('    return "".join(', '    text = "".join(').replace(
        "for part in parts)", "for part in parts)\n    return text if text == template else render_template(text, values)"
    ),
    "what can't be a tag is text": REFERENCE.replace(
        'raise ValueError(f"a malformed tag at {opening.start()}")', 'parts.append("{{")\n            continue'
    ),
    "arguments that don't belong are ignored": REFERENCE.replace(
        " or ARGUMENT[name] != kind", " or (ARGUMENT[name] or kind) != kind"
    ),
    "names of letters of other scripts": REFERENCE.replace('"[A-Za-z_][A-Za-z0-9_]*"', r'r"[^\W\d]\w*"'),
}


def checks() -> tuple[Check, ...]:
    values = {
        "name": "a&b", "html": """<a href="x">'Tom' & "Jo"</a>""", "empty": "", "none": None, "zero": 0, "n": -42,
        "yes": True, "no": False, "pad": "  \t mid dle\n ", "tag": "{{ name }}", "_x1": "ok", "bare": "\\{{", "big": 10**20,
        "user": {"name": "Ann", "tags": {"a": {"b": "deep"}}, "age": 7, "none": None, "": "blank"}, "user.name": "flat",
        "straße": "Straße", "s": "straße", "emoji": "👍🏽é<", "amp": "&amp;", "default": "d", "raw": "r", "x": "1",
        "ß": "s", "É": "e", "long": "abcdefghij", "upper": {"limit": "u"},
    }  # fmt: skip
    good = (
        "Hi {{ name|upper }}!", "", "plain text", "{{name}}", "{{   name   }}", "{{name}}{{name}} {{name}}", "{{html}}",
        "{{html|raw}}", "{{amp}} {{amp|raw}}", "{{html|raw|upper}}", "{{html|upper|raw}}", "{{html|lower | raw |limit:9}}",
        "{{html|limit:2}}", "[{{empty}}]", "{{zero}} {{n}} {{big}} {{yes}} {{no}}",
        "{{yes|upper}} {{no|limit:2}} {{n|limit:2}}", "[{{pad}}]", "[{{pad|trim}}]", "{{tag}}", "{{bare}} {{bare|raw}}",
        "{{_x1}}", "{{user.name}} {{user.age}} {{user.tags.a.b}}", "{{ user.name | limit:3|upper }}", "{{s|upper}}",
        "{{emoji|limit:2}} {{emoji|limit:3}} {{emoji}}", "{{long|limit:0}}",
        "{{long|limit:10}} {{long|limit:11}} {{long|limit:007}}", "{{long|limit:5|limit:3}} {{long|limit:3|limit:5}}",
        '{{gone|default:"x"}}', '{{name|default:"x"}}', '[{{empty|default:"x"}}]',
        '{{none|default:"x"}} {{user.none|default:"y"}} {{user.gone|default:"z"}}', '{{zero|default:"x"}} {{no|default:"x"}}',
        '{{gone.a.b|default:"x"}} {{name.a|default:"y"}} {{n.real|default:"z"}} {{none.a|default:"w"}}',
        '{{gone|upper|default:"abc"}}', '{{gone|default:"abc"|upper}}', '{{gone|default:"a"|default:"b"}}',
        '{{gone|trim|limit:1|raw|default:"<b>"}}', '{{gone|default:"<&>"}}', '{{gone|default:"<&>"|raw}}',
        '[{{gone|default:""}}]', '[{{gone|default:""|default:"x"}}]', '{{gone|default:"a}}b"}}', '{{gone|default:"a|b"}}',
        '{{gone|default:"{{name}}"}}', '{{gone|default:"a\nb"|upper}}', "{{gone|default:\"it's\"}}",
        '{{gone|default:"|upper"}}|upper}}', '{{gone|default:" }} "}} }}', '{{gone|default:"x"}}"}}',
        '{{gone|default:"\\{{"}}', '{{gone|default:"12"|limit:1}}', r"\{{name}}", r"\{{ {{name}} \{{", r"\\{{name}}",
        r"\\\{{name}}", r"\{{{name}}", r"\{{{{name}}", r"\{{\{{", r"a\b \n {{n}}\ ", r"\{ {{n}}", "}} { } {x} {{n}} }",
        "{ {name}}", "{", "\\", "{{n}}}", "{{n}}}}", "{{n}}\n{{n}}\n", "é {{n}} 中文", "{{default}} {{raw}} {{upper.limit}}",
        "{{x}}{{x|upper}}", '{{ gone  |  default:"  a  "  |  trim  }}', "{{html|trim|trim|raw|raw}}",
        '{{name|limit:2|default:"zz"|lower}}', '{{user.name|upper|lower}}', "{{pad|limit:6|trim|upper}}",
        "{{pad|trim|limit:5}}", '{{html|limit:4|default:"&"}}&<', "{{user.tags.a.b|limit:2}}.{{user.age}}.",
        "{{no|upper|raw}}",
    )  # fmt: skip
    missing = (
        "{{gone}}", "{{none}}", "{{user.gone}}", "{{user.none}}", "{{name.x}}", "{{gone.x}}", "{{n.real}}", "{{gone|upper}}",
        "{{gone|raw}}", "{{gone|limit:2}}", "{{Name}}", "{{name}} {{gone}}", "{{user.name.upper}}",
        '{{gone|default:"x"}}{{gone}}', "{{user.tags.b.a}}", r"\{{name}} {{gone|trim}}", "{{user_name}}",
    )  # fmt: skip
    malformed = (
        "{{", "{{}}", "{{ }}", "{{name", "{{name}", "{{name} }", "{{{name}}}", "{{ {{name}} }}", "{{name name}}", "{{1name}}",
        "{{user..name}}", "{{.name}}", "{{name.}}", "{{user .name}}", "{{user. name}}", "{{na-me}}", "{{name|}}",
        "{{|upper}}", "{{name||upper}}", "{{name|shout}}", "{{name|Upper}}", "{{name upper}}", "{{name|upper lower}}",
        "{{name|upper|}}", "{{name|upper:1}}", '{{name|raw:"x"}}', "{{name|trim:}}", "{{name|limit}}", '{{name|limit:"3"}}',
        "{{name|limit:-1}}", "{{name|limit:x}}", "{{name|limit:}}", "{{name|limit: 3}}", "{{name|limit :3}}",
        "{{name|limit:3:4}}", "{{name|limit:1.5}}", "{{name|limit:٣}}", "{{gone|default}}", "{{gone|default:x}}",
        "{{gone|default:3}}", "{{gone|default:'x'}}", '{{gone|default:"x}}', '{{gone|default:x"}}', '{{gone|default:"a"b"}}',
        '{{gone|default:"a\\"b"}}', '{{gone|default: "x"}}', "{{\tname}}", "{{name\n}}", "{{name |\tupper}}",
        "{{\u00a0name}}", "{{ß}}", "{{É}}", "{{straße}}", '{{"name"}}', "{{name|default:\"x\"\"y\"}}", "{{gone}} {{",
        "{{gone}} {{name|shout}}", r"\{{ {{", "{{name}} {{name", '{{name|default:"x" "y"}}', "{{name|raw|raw:1}}",
        "{{#name}}", "{{gone}}{{gone|limit}}", "{{name}}{{|}}", "{{user.1}}", "{{name|upp_er}}",
    )  # fmt: skip
    trials = [(template, values) for template in (*good, *missing, *malformed)]
    trials += [
        ("{{a}}", {}),
        ("no tags", {}),
        ('{{a|default:"{}"}}', {}),
        ("{{a}}-{{b}}" * 50, {"a": "{{b}}", "b": '"<\\{{>"'}),
    ]
    return tuple((call(template, given),) for template, given in trials)


PROBLEM = Problem(
    id="render_template",
    category="engineering",
    level="hard",
    entry="render_template",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
