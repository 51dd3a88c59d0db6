"""How many months end on a weekday. Sample: month_end_weekdays(6, 2023, 2023) → 2 (30 April and 31 December)."""

from sandbox.steps import call
from tasks.problem import Check, Problem

SIGNATURE = "def month_end_weekdays(weekday: int, first_year: int, last_year: int) -> int: ..."

EN = """
Write a function `month_end_weekdays` that counts the months whose last day falls on a given weekday.

`month_end_weekdays(weekday, first_year, last_year)` looks at all months of the years `first_year` to `last_year`, both
included. `weekday` is 0 for Monday up to 6 for Sunday; raise ValueError for any other number. If `first_year` is greater than
`last_year`, there are no months and the result is 0.

The calendar is the Gregorian one, extended without limit to the past and the future: a year is a leap year if it is divisible
by 4, but not if it is divisible by 100, unless it is divisible by 400. Years are counted by the integers, so the year before
year 1 is year 0 (a leap year), and the one before that is year -1. Monday, 1 January 2024 is a date to start from. Years may
be as far away as 10**15 in both directions, so going through all of them one by one is too slow, and `datetime` does not reach
them.

Example: `month_end_weekdays(6, 2023, 2023)` is 2, for in 2023 only 30 April and 31 December are last days on a Sunday.
"""

ZH = """
请编写函数 `month_end_weekdays`，统计最后一天恰好是指定星期几的月份个数。

`month_end_weekdays(weekday, first_year, last_year)` 考察从 `first_year` 到 `last_year`（两端都包含）各年的所有月份。
`weekday` 为 0 表示星期一，依此类推，6 表示星期日；若为其他数，抛出 ValueError。若 `first_year` 大于 `last_year`，
则没有任何月份，结果为 0。

所用历法是向过去和未来无限延伸的公历（格里历）：能被 4 整除的年份是闰年，但能被 100 整除的不是闰年，除非它能被 400 整除。
年份用整数连续编号，因此公元 1 年的前一年是 0 年（闰年），再前一年是 -1 年。可以以 2024 年 1 月 1 日（星期一）为起点推算。
年份在两个方向上都可能远至 10**15，因此逐年遍历太慢，而 `datetime` 也达不到这样的范围。

例如：`month_end_weekdays(6, 2023, 2023)` 为 2，因为 2023 年只有 4 月 30 日和 12 月 31 日是落在星期日的月末。
"""

REFERENCE = """
CYCLE = 400  # years, after which the calendar repeats: 146,097 days are 20,871 weeks


def month_end_weekdays(weekday, first_year, last_year):
    if not 0 <= weekday <= 6:
        raise ValueError("no weekday")
    years = max(0, last_year - first_year + 1)
    cycles, rest = divmod(years, CYCLE)
    in_cycle = sum(_in_year(weekday, year) for year in range(CYCLE))
    return cycles * in_cycle + sum(_in_year(weekday, first_year + i) for i in range(rest))


def _in_year(weekday, year):
    before = year - 1
    day = 365 * before + before // 4 - before // 100 + before // 400  # days since Monday, 1 January of year 1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    count = 0
    for length in (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31):
        day += length
        count += (day - 1) % 7 == weekday
    return count
"""

_LOOP = """
def month_end_weekdays(weekday, first_year, last_year):
    if not 0 <= weekday <= 6:
        raise ValueError
    if last_year < first_year:
        return 0
    years = last_year - first_year + 1
    full = sum(in_year(weekday, y) for y in range(400)) * (years // 400)
    return full + sum(in_year(weekday, first_year + i) for i in range(years % 400))


def in_year(weekday, year):
"""

WRONG = {
    "every fourth year is a leap year": f"""{_LOOP}
    day = (365 * (year - 1) + (year - 1) // 4 - (year - 1) // 100 + (year - 1) // 400) % 7
    count = 0
    for length in [31, 29 if year % 4 == 0 else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]:
        day += length
        count += (day - 1) % 7 == weekday
    return count
""",
    "division towards zero in years before 1": f"""{_LOOP}
    y = year - 1
    day = 365 * y + int(y / 4) - int(y / 100) + int(y / 400)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    count = 0
    for length in [31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]:
        day += length
        count += (day - 1) % 7 == weekday
    return count
""",
    "the first day of the next month": f"""{_LOOP}
    y = year - 1
    day = 365 * y + y // 4 - y // 100 + y // 400
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    count = 0
    for length in [31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]:
        day += length
        count += day % 7 == weekday
    return count
""",
    "the last year is left out": """
def month_end_weekdays(weekday, first_year, last_year):
    if not 0 <= weekday <= 6:
        raise ValueError
    cycles, rest = divmod(max(0, last_year - first_year), 400)
    return cycles * sum(in_year(weekday, y) for y in range(400)) + sum(in_year(weekday, first_year + i) for i in range(rest))


def in_year(weekday, year):
    y = year - 1
    day = 365 * y + y // 4 - y // 100 + y // 400
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    count = 0
    for length in [31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]:
        day += length
        count += (day - 1) % 7 == weekday
    return count
""",
    "datetime": """
from datetime import date, timedelta


def month_end_weekdays(weekday, first_year, last_year):
    if not 0 <= weekday <= 6:
        raise ValueError
    count = 0
    for year in range(first_year, last_year + 1):
        for month in range(1, 13):
            following = date(year + month // 12, month % 12 + 1, 1)
            count += (following - timedelta(days=1)).weekday() == weekday
    return count
""",
    "goes through all years": """
def month_end_weekdays(weekday, first_year, last_year):
    if not 0 <= weekday <= 6:
        raise ValueError
    return sum(in_year(weekday, year) for year in range(first_year, last_year + 1))


def in_year(weekday, year):
    y = year - 1
    day = 365 * y + y // 4 - y // 100 + y // 400
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    count = 0
    for length in [31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]:
        day += length
        count += (day - 1) % 7 == weekday
    return count
""",
    "other weekdays raise nothing": """
def month_end_weekdays(weekday, first_year, last_year):
    cycles, rest = divmod(max(0, last_year - first_year + 1), 400)
    return cycles * sum(in_year(weekday, y) for y in range(400)) + sum(in_year(weekday, first_year + i) for i in range(rest))


def in_year(weekday, year):
    y = year - 1
    day = 365 * y + y // 4 - y // 100 + y // 400
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    count = 0
    for length in [31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]:
        day += length
        count += (day - 1) % 7 == weekday
    return count
""",
}


def checks() -> tuple[Check, ...]:
    return (
        (call(6, 2023, 2023),),
        *((call(day, 2024, 2024),) for day in range(7)),
        *((call(day, 1900, 1900),) for day in range(7)),
        *((call(day, 2000, 2000),) for day in range(7)),
        (call(2, 2024, 2023),),
        (call(2, 2024, 1000),),
        (call(7, 2024, 2024),),
        (call(-1, 2024, 2024),),
        (call(7, 2024, 2023),),
        (call(4, 1, 9_999),),
        *((call(day, 0, 0),) for day in range(7)),
        *((call(day, -100, -100),) for day in range(0, 7, 2)),
        *((call(day, -1, -1),) for day in range(1, 7, 2)),
        (call(3, -1_203, 877),),
        (call(5, -44, 14),),
        (call(1, 1_601, 2_000),),
        (call(1, 1_601, 2_001),),
        (call(0, 1_601, 1_999),),
        *((call(day, -(10**15), 10**15),) for day in range(7)),
        (call(0, -(10**15) + 123, -(10**14)),),
        (call(6, 10**15 - 77, 10**15),),
    )


PROBLEM = Problem(
    id="month_end_weekdays",
    category="mathematics",
    level="easy",
    entry="month_end_weekdays",
    signature=SIGNATURE,
    en=EN,
    zh=ZH,
    checks=checks,
    reference=REFERENCE,
    wrong=WRONG,
)
