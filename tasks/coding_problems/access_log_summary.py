"""An access log summed up, malformed lines counted. Sample: 'ann "GET /a?x" 200 5' is a request for /a by ann, of 5 bytes."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def access_log_summary(lines: list[str], top: int) -> dict[str, object]: ..."

EN = r"""
Write a function `access_log_summary` that sums up the lines of a web server's access log. A well-formed line has four fields,
separated by exactly one space, with no space before the first and after the last:

`CLIENT "REQUEST" STATUS SIZE`, for example `10.0.0.7 "GET /shop?id=3" 200 5120`

- CLIENT is one or more characters other than a space and a double quote.
- REQUEST stands between double quotes. Inside, `\"` stands for a double quote and `\\` for a backslash; a backslash before
  any other character, or a double quote without a backslash, makes the line malformed. What the quoted text stands for must
  be a method, exactly one space, and a target. A method is one or more of the ASCII letters A to Z, in upper case. A target
  begins with a slash, which may be followed by any characters, spaces included.
- STATUS is exactly three ASCII digits, from 100 to 599.
- SIZE is one or more ASCII digits (leading zeros are allowed), or a single `-`, which counts as 0.

A line that is empty or consists of spaces only is skipped: it counts as nothing. Every other line that is not well formed is
malformed, and nothing of it counts but that. The path of a request is its target (after `\"` and `\\` have been replaced) up
to but without the first `?`, or all of it where there is none.

Return a dict with exactly these keys:

- `"requests"`: the number of well-formed lines.
- `"malformed"`: the number of malformed lines.
- `"clients"`: the number of different CLIENTs in well-formed lines.
- `"bytes"`: the sum of all SIZEs.
- `"errors"`: the number of requests with a STATUS from 500 to 599.
- `"top"`: a list of at most `top` (at least 0) lists `[path, count]`: the paths that were requested most often, with the
  number of requests of any method and status, the most frequent first, and those with equal counts in ascending order of the
  path as Python compares strings.

Lines contain no line breaks, but any other characters of Unicode.
"""

ZH = r"""
请编写函数 `access_log_summary`，汇总一个 Web 服务器访问日志的各行。格式正确的行有四个字段，字段之间恰好一个空格，第一个
字段之前和最后一个字段之后没有空格：

`CLIENT "REQUEST" STATUS SIZE`，例如 `10.0.0.7 "GET /shop?id=3" 200 5120`

- CLIENT 是一个或多个除空格和双引号以外的字符。
- REQUEST 位于双引号之间。其中 `\"` 表示一个双引号，`\\` 表示一个反斜杠；反斜杠后面若是其他任何字符，或者出现没有反斜杠
  的双引号，则该行格式错误。引号内的文本所表示的内容必须是：一个方法、恰好一个空格、一个目标。方法是一个或多个大写的
  ASCII 字母 A 到 Z。目标以斜杠开头，其后可以是任意字符，包括空格。
- STATUS 恰好是三个 ASCII 数字，从 100 到 599。
- SIZE 是一个或多个 ASCII 数字（允许前导零），或者是单独一个 `-`，按 0 计。

空行或只由空格组成的行会被跳过：完全不计数。其他每一个格式不正确的行都是格式错误的行，除了计入格式错误之外，其内容一概不
计。一个请求的路径是其目标（在替换 `\"` 和 `\\` 之后）中第一个 `?` 之前的部分，不含 `?`；没有 `?` 时则是整个目标。

返回一个字典，恰好含有以下键：

- `"requests"`：格式正确的行数。
- `"malformed"`：格式错误的行数。
- `"clients"`：格式正确的行中不同 CLIENT 的个数。
- `"bytes"`：所有 SIZE 之和。
- `"errors"`：STATUS 为 500 到 599 的请求数。
- `"top"`：由至多 `top` 个（`top` 不小于 0）列表 `[path, count]` 组成的列表：被请求次数最多的路径及其请求次数（不论方法
  和状态），次数多的在前；次数相同的按路径升序排列，按 Python 比较字符串的方式。

各行不含换行符，但可以含有 Unicode 的其他任何字符。
"""

REFERENCE = r"""
import re
from collections import Counter

LINE = re.compile(r'([^ "]+) "((?:[^"\\]|\\["\\])*)" ([1-5][0-9][0-9]) ([0-9]+|-)', re.DOTALL)
REQUEST = re.compile(r"[A-Z]+ (/[^?]*)(?:\?.*)?", re.DOTALL)


def access_log_summary(lines, top):
    seen = [_parse(line) for line in lines if line.strip(" ")]
    requests = [request for request in seen if request is not None]
    paths = Counter(path for _, path, _, _ in requests)
    ranked = sorted(paths.items(), key=lambda item: (-item[1], item[0]))
    return {
        "requests": len(requests),
        "malformed": len(seen) - len(requests),
        "clients": len({client for client, _, _, _ in requests}),
        "bytes": sum(size for _, _, _, size in requests),
        "errors": sum(status.startswith("5") for _, _, status, _ in requests),
        "top": [list(item) for item in ranked[:top]],
    }


def _parse(line):
    found = LINE.fullmatch(line)
    if found is None:
        return None
    client, quoted, status, size = found.groups()
    request = REQUEST.fullmatch(re.sub(r"\\(.)", r"\1", quoted))
    if request is None:
        return None
    return client, request[1], status, 0 if size == "-" else int(size)
"""

WRONG = {
    "the query belongs to the path": REFERENCE.replace("(/[^?]*)", "(/.*)"),
    "a query makes a line malformed": REFERENCE.replace(r"(?:\?.*)?", ""),
    "empty lines are malformed": REFERENCE.replace(' if line.strip(" ")', ""),
    "lines are stripped": REFERENCE.replace("LINE.fullmatch(line)", "LINE.fullmatch(line.strip())"),
    "anything may follow": REFERENCE.replace("LINE.fullmatch", "LINE.match"),
    "escapes stay as they are": REFERENCE.replace(r're.sub(r"\\(.)", r"\1", quoted)', "quoted"),
    "backslashes are removed": REFERENCE.replace(r're.sub(r"\\(.)", r"\1", quoted)', r'quoted.replace("\\", "")'),
    "any escape is allowed": REFERENCE.replace(r"""\\["\\])*""", r"""\\.)*"""),
    "digits of other scripts": REFERENCE.replace("[0-9]", r"\d"),
    "any three digits are a status": REFERENCE.replace("[1-5][0-9][0-9]", "[0-9]{3}"),
    "ties in the order of appearance": REFERENCE.replace("(-item[1], item[0])", "-item[1]"),
    "ties in descending order": REFERENCE.replace(
        "key=lambda item: (-item[1], item[0])", "key=lambda item: (item[1], item[0]), reverse=True"
    ),
    "errors from 400 on": REFERENCE.replace('status.startswith("5")', 'status[0] in "45"'),
    "tuples": REFERENCE.replace("[list(item) for item in ranked[:top]]", "ranked[:top]"),
    "split at spaces": """
from collections import Counter


def access_log_summary(lines, top):
    clients, paths, size, errors, malformed = set(), Counter(), 0, 0, 0
    for line in lines:
        if not line.strip(" "):
            continue
        parts = line.split(" ")
        if len(parts) != 5 or not parts[1].startswith('"') or not parts[2].endswith('"'):
            malformed += 1
            continue
        client, method, target, status, length = parts
        method, target = method[1:], target[:-1]
        if not (method.isalpha() and method.isupper() and target.startswith("/")):
            malformed += 1
        elif not (status.isdigit() and 100 <= int(status) <= 599 and (length == "-" or length.isdigit())):
            malformed += 1
        else:
            clients.add(client)
            paths[target.split("?")[0]] += 1
            size += 0 if length == "-" else int(length)
            errors += status >= "500"
    ranked = sorted(paths.items(), key=lambda p: (-p[1], p[0]))[:top]
    return {"requests": sum(paths.values()), "malformed": malformed, "clients": len(clients), "bytes": size,
            "errors": errors, "top": [list(p) for p in ranked]}
""",
}


def checks() -> tuple[Check, ...]:
    one = '10.0.0.7 "GET /shop?id=3" 200 5120'
    many = [f'c{i % 7} "GET /{i * 7919 % 11}?{i}" {100 + i * 31 % 520} {i * i}' for i in range(300)]
    return tuple(
        (call(lines, top),)
        for lines, top in (
            ([one], 3),
            ([], 3),
            ([one, one, 'ann "POST /shop" 404 -', 'bob "GET /" 503 12', 'ann "GET /?a?b" 599 007'], 2),
            (['c "GET /b" 200 1', 'c "GET /a" 200 1', 'c "GET /B" 200 1', 'c "GET /c" 200 1', 'c "GET /c" 200 1'], 3),
            ([f'c "GET {path}" 200 1' for path in ("/a", "/a/", "/é", "/Z", "/\U0001f600", "/￥")], 9),
            ([one, one], 0),
            (["", "   ", one, " "], 1),
            (["", " "], 1),
            (["\t", " \t ", "\u3000"], 1),
            ([" " + one, one + " ", one.replace(" 200", "  200"), one.replace(' "', '  "'), one + " 7", "x " + one], 1),
            ([f'c "GET /{target}" 200 1' for target in (r"a\"b\"", r"\\", r"\\\"?\"", r"a\\")], 9),
            ([f'c "GET /{target}" 200 1' for target in (r'\\"b', r"\n", "\\", 'a"b', r"\?", r"\/")], 9),
            ([r'c "G\ET /" 200 1', r'c "G\\ET /" 200 1', r'c "\"GET /" 200 1', r'c "GET \"/\"" 200 1'], 9),
            ([f'c "GET /{target}" 200 1' for target in (r"\\\\x", r"\\\"", r"\"\\", r"\\n")], 9),
            ([f'c "{request}" 200 1' for request in ("GET /a b  c", "GET / ", "GET  /a", " GET /a", "GET /a b?c d")], 9),
            ([f'c "{request}" 200 1' for request in ("get /a", "Get /a", "/a", " /a", "GET a", "GET ", "GET", "")], 9),
            ([f'c "{request}" 200 1' for request in ("GÉT /a", "G1 /a", "GET-X /a", "X /", "GET ?/a", "GET\t/a")], 9),
            ([f'c "GET /{s}" {s} 1' for s in ("100", "599", "600", "099", "000", "99", "0200", "5xx", "-", "", "２０0")], 20),
            ([f'c "GET /{s}" 200 {s}' for s in ("0", "-", "--", "-1", "+1", "", "1.0", "1e3", "00", "٣", "²", "9" * 25)], 20),
            ([f'{client}"GET /a" 200 1' for client in ('"c" ', "", " ", "a b ", 'c"d ', "c", "c\\ ", "c  ")], 9),
            (['a\tb "GET /a\t" 200 1', '客户 "GET /路径?q" 200 1', 'A "GET /a" 200 1', 'a "GET /a" 200 1'], 9),
            (["c GET /a 200 1", "c 'GET /a' 200 1", 'c "GET /a" 200', 'c "GET /a" 200 ', 'c "GET /a 200 1'], 9),
            (['c "GET /a"200 1', 'c "GET /a" 2001', 'c"GET /a" 200 1', 'c "GET /a" 200\t1', 'c "GET /a" 200 1\t'], 9),
            (many, 4),
            (['c "GET /" 499 1', 'c "GET /" 500 1', 'c "PUT /" 555 1', 'c "GET //?" 400 1', 'bad "GET /" 700 99'], 5),
        )
    )


PROBLEM = Problem(
    id="access_log_summary",
    category="engineering",
    level="medium",
    entry="access_log_summary",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
