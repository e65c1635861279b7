"""Days that people call by a name: Christmas, Easter, 春节, 国庆, 双十一; as far as they are meant to be found by it.

Each has the days on which people speak of it: 春节 is its eve and the week after it, Easter is Good Friday to Monday.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from importlib import resources

from assistant.recall.days.calendar_days import Asked, Bounds

_InYear = Callable[[int], Bounds]
_LUNAR = ("new year", "dragon boat", "qixi", "mid-autumn", "double ninth")


def holiday(name: str, asked: Asked, year: int | None = None) -> Bounds:
    """The holiday of that year; without one the latest that has begun, or the next when clearly asked of what comes.

    name: one that ``names`` matches, folded, with single spaces and no hyphen. Raises ValueError for a year in which
    its day is not known.
    """
    in_year = _BY_NAME[name]
    if year is not None:
        return in_year(year)
    this = asked.today.year
    if asked.told:
        return asked.nearest(map(in_year, (this - 1, this, this + 1)))
    years = (this - 1, this, this + 1) if asked.ahead else (this + 1, this, this - 1, this - 2)
    for bounds in map(in_year, years):
        if bounds[1] >= asked.today if asked.ahead else bounds[0] <= asked.today:
            return bounds
    raise ValueError(name)


def _fixed(month: int, day: int, days: int = 1) -> _InYear:
    return lambda year: _from(date(year, month, day), days)


def _from(first: date, days: int, shift: int = 0) -> Bounds:
    first += timedelta(days=shift)
    return first, first + timedelta(days=days - 1)


def easter_sunday(year: int) -> date:
    """By the Gregorian computus (Meeus, Jones, Butcher: "Astronomical Algorithms", 1991, chapter 8)."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (a + 11 * h) // 319
    r = (2 * e + 2 * i - k - h + m + 32) % 7
    month = (h - m + r + 90) // 25
    return date(year, month, (h - m + r + month + 19) % 32)


def _easter(days: int, shift: int) -> _InYear:
    return lambda year: _from(easter_sunday(year), days, shift)


def _thanksgiving(days: int, shift: int) -> _InYear:
    """The fourth Thursday of November."""
    return lambda year: _from(date(year, 11, 22 + (3 - date(year, 11, 22).weekday()) % 7), days, shift)


@cache
def _lunar_days() -> dict[int, tuple[date, ...]]:
    text = resources.files(__package__).joinpath("lunar_days.txt").read_text(encoding="utf-8")
    rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {int(row[0]): tuple(date.fromisoformat(f"{row[0]}-{day}") for day in row[1:]) for row in rows}


def _lunar(name: str, days: int = 1, shift: int = 0) -> _InYear:
    """A day of the Chinese calendar, so many days after it, for so many days."""

    def in_year(year: int) -> Bounds:
        if year not in _lunar_days():
            raise ValueError(year)
        return _from(_lunar_days()[year][_LUNAR.index(name)], days, shift)

    return in_year


def _qingming(year: int) -> Bounds:
    """4 or 5 April (the sun at 15°), by the common rule of this century."""
    day = date(year, 4, int((year % 100) * 0.2422 + 4.81) - (year % 100) // 4)
    return _from(day, 3, -1)


def _new_year(year: int) -> Bounds:
    return date(year - 1, 12, 31), date(year, 1, 1)


_RULES: dict[str, _InYear] = {
    "christmas eve|平安夜": _fixed(12, 24),
    "christmas day": _fixed(12, 25),
    "christmas|xmas|圣诞节|圣诞": _fixed(12, 24, 3),
    "boxing day": _fixed(12, 26),
    "new year's eve|new years eve|跨年": _fixed(12, 31),
    "new year's day|new years day|元旦": _fixed(1, 1),
    "new year's|new years|new year": _new_year,
    "halloween|万圣节": _fixed(10, 31),
    "valentine's day|valentines day|valentine's|情人节": _fixed(2, 14),
    "good friday": _easter(1, -2),
    "easter monday": _easter(1, 1),
    "easter sunday": _easter(1, 0),
    "easter|复活节": _easter(4, -2),
    "thanksgiving|感恩节": _thanksgiving(1, 0),
    "black friday|黑色星期五|黑五": _thanksgiving(1, 1),
    "singles' day|singles day|双十一|双11": _fixed(11, 11),
    "双十二|双12": _fixed(12, 12),
    "chinese new year's eve|lunar new year's eve|除夕|大年三十|年三十|大年夜": _lunar("new year", 1, -1),
    "chinese new year|lunar new year|spring festival|春节|过年": _lunar("new year", 8, -1),
    "大年初一|年初一": _lunar("new year"),
    "正月": _lunar("new year", 29),
    "lantern festival|元宵节|元宵": _lunar("new year", 1, 14),
    "qingming festival|qingming|tomb sweeping day|清明节|清明": _qingming,
    "dragon boat festival|端午节|端午": _lunar("dragon boat"),
    "qixi festival|qixi|七夕节|七夕": _lunar("qixi"),
    "mid autumn festival|moon festival|中秋节|中秋": _lunar("mid-autumn"),
    "double ninth festival|重阳节|重阳": _lunar("double ninth"),
    "labour day|may day": _fixed(5, 1),
    "五一假期|五一长假|五一劳动节|五一节|五一|劳动节": _fixed(5, 1, 5),
    "golden week|国庆节|国庆假期|国庆长假|国庆|十一假期|十一长假|十一黄金周": _fixed(10, 1, 7),
    "儿童节|六一": _fixed(6, 1),
    "妇女节|三八节": _fixed(3, 8),
    "教师节": _fixed(9, 10),
    "元旦假期": _fixed(1, 1, 3),
    "寒假": _fixed(1, 15, 45),
    "summer holidays|summer vacation|summer break|暑假": _fixed(7, 1, 62),
}
_BY_NAME = {name: rule for names_of_one, rule in _RULES.items() for name in names_of_one.split("|")}


def names(*, chinese: bool) -> str:
    """A pattern for all names of one kind, the longest first."""
    found = [name for name in _BY_NAME if name.isascii() != chinese]
    return "|".join(name.replace(" ", r"[\s-]+") for name in sorted(found, key=len, reverse=True))
