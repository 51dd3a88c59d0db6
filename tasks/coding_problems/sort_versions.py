"""Semantic versions in ascending order. Sample: sort_versions(["1.0.0", "1.0.0-rc.10", "1.0.0-rc.9"]) → rc.9, rc.10, 1.0.0."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def sort_versions(versions: list[str]) -> list[str]: ..."

EN = """
Write a function `sort_versions` that returns a new list with the given version strings, the lowest version first.

Every string is a valid version as in Semantic Versioning 2.0: `MAJOR.MINOR.PATCH`, then optionally a hyphen and a
pre-release, then optionally a plus sign and build metadata; for example `1.4.0`, `1.4.0-rc.1`, `1.4.0+linux-64` or
`1.4.0-rc.1+5`. A pre-release consists of one or more identifiers separated by dots; an identifier is made of ASCII letters,
digits and hyphens. The build metadata, which is made of the same characters and dots, may contain hyphens too. The versions
are compared like this:

1. MAJOR, MINOR and PATCH are compared in this order, as numbers.
2. If they are equal, a version with a pre-release is lower than one without.
3. If both have a pre-release, their identifiers are compared one after the other from the left until two differ. Identifiers
   of digits only are compared as numbers. Any other two are compared as ASCII text, character by character (so upper case is
   lower than lower case). An identifier of digits only is lower than one that contains anything else.
4. If one pre-release has run out of identifiers and all so far were equal, the one with fewer identifiers is lower.
5. Build metadata has no influence at all. Versions that are equal by these rules stay in the order in which they were given.

The strings themselves are returned as they are. The list may be empty or contain the same version several times; it must not
be changed.
"""

ZH = """
请编写函数 `sort_versions`，返回一个新列表，其中包含给定的版本字符串，最低的版本在前。

每个字符串都是符合语义化版本 2.0 的有效版本：`MAJOR.MINOR.PATCH`，之后可以有一个连字符和预发布号，再之后可以有一个加号和
构建元数据；例如 `1.4.0`、`1.4.0-rc.1`、`1.4.0+linux-64` 或 `1.4.0-rc.1+5`。预发布号由一个或多个用点分隔的标识符组成；标
识符由 ASCII 字母、数字和连字符组成。构建元数据由同样的字符和点组成，也可能含有连字符。版本按如下规则比较：

1. 依次比较 MAJOR、MINOR 和 PATCH，按数值比较。
2. 如果它们都相等，有预发布号的版本低于没有预发布号的版本。
3. 如果两者都有预发布号，则从左起逐个比较标识符，直到出现不同。仅由数字组成的标识符之间按数值比较。其他标识符之间按
   ASCII 文本逐字符比较（因此大写低于小写）。仅由数字组成的标识符低于含有其他字符的标识符。
4. 如果其中一个预发布号的标识符已经用完，而此前的都相等，则标识符较少的那个较低。
5. 构建元数据没有任何影响。按这些规则相等的版本保持它们给出时的先后顺序。

字符串本身原样返回。列表可以为空，也可以多次包含同一个版本；不得修改该列表。
"""

REFERENCE = """
def sort_versions(versions):
    return sorted(versions, key=_rank)


def _rank(version):
    core, _, pre_release = version.partition("+")[0].partition("-")
    numbers = [int(number) for number in core.split(".")]
    return numbers, not pre_release, [_identifier(text) for text in pre_release.split(".")]


def _identifier(text):
    digits = text.isdecimal()
    return not digits, int(text) if digits else text
"""

WRONG = {
    "a pre-release is higher than the release": REFERENCE.replace("not pre_release,", "bool(pre_release),"),
    "identifiers of digits are text": REFERENCE.replace("text.isdecimal()", "False"),
    "numbers after words": REFERENCE.replace("return not digits", "return digits"),
    "parts of the core are text": REFERENCE.replace("int(number) for", "number for"),
    "a hyphen of the build begins a pre-release": REFERENCE.replace(
        'core, _, pre_release = version.partition("+")[0].partition("-")',
        'core, _, pre_release = version.partition("-")\n    core, pre_release = core.split("+")[0], pre_release.split("+")[0]',
    ),
    "a hyphen in an identifier begins another": REFERENCE.replace(
        'pre_release.split(".")', 'pre_release.replace("-", ".").split(".")'
    ),
    "an identifier with a minus is a negative number": REFERENCE.replace("text.isdecimal()", 'text.lstrip("-").isdecimal()'),
    "the build breaks ties": REFERENCE.replace("key=_rank", "key=lambda v: (_rank(v), v)"),
    "letters of either case are equal": REFERENCE.replace("else text", "else text.lower()"),
    "sorts the argument": REFERENCE.replace(
        "    return sorted(versions, key=_rank)", "    versions.sort(key=_rank)\n    return versions"
    ),
}


def checks() -> tuple[Check, ...]:
    chain = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1"]
    return (
        (call(["1.0.0", "1.0.0-rc.10", "1.0.0-rc.9"]),),
        (call([]),),
        (call(["0.0.0"]),),
        (call(["1.10.0", "1.9.0", "1.9.10", "1.9.9", "10.0.0", "9.0.0"]),),
        (call(["2.0.0", "1.99.99", "1.100.0"]),),
        (call([*reversed(chain), "1.0.0"]),),
        (call(["1.0.1-a", "1.0.0", "1.0.1", "1.0.0-a", "0.9.9"]),),
        (call(["1.0.0-a.b.c", "1.0.0-a.b", "1.0.0-a", "1.0.0-a.b.0", "1.0.0-a.10", "1.0.0-a.2"]),),
        (call(["1.0.0-a", "1.0.0-B", "1.0.0-A", "1.0.0-b", "1.0.0--", "1.0.0-9a", "1.0.0-10"]),),
        (call(["1.0.0-0", "1.0.0--5", "1.0.0-7", "1.0.0--10", "1.0.0-x"]),),
        (call(["1.0.0-rc-1", "1.0.0-rc.1", "1.0.0-rc", "1.0.0-rc-10", "1.0.0-rc-2"]),),
        (call(["1.0.0+z", "1.0.0+a", "1.0.0", "1.0.0+m-1", "1.0.0-x"]),),
        (call(["1.0.0+linux-64", "1.0.0-rc.1", "1.0.0-rc.1+2", "1.0.0-rc.1+1", "0.9.0+1-2"]),),
        (call(["1.0.0-1+b", "1.0.0-1+a.b", "1.0.0-1"]),),
        (call(["1.2.3", "1.2.3", "1.2.2", "1.2.3"]),),
        (call(["1.0.0-12345678901234567890", "1.0.0-9999999999999999999", "100000000000000000000.0.0", "2.0.0"]),),
        (call(["1.0.0-1a", "1.0.0-1", "1.0.0-01a", "1.0.0-2"]),),
        (call(["3.0.0-beta", "3.0.0-alpha.1.1", "3.0.0-alpha.1", "3.0.0", "2.9.0"]),),
    )


PROBLEM = Problem(
    id="sort_versions",
    category="engineering",
    level="easy",
    entry="sort_versions",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
    keeps_arguments=True,
)
