"""Words for days, in English and Chinese, as ranges of local days: ``yesterday``, ``in March``, 上周三."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from assistant.recall.text import fold


@dataclass(frozen=True, slots=True)
class DayRange:
    """Days from ``first`` to ``last``, both inclusive. words: the place in the folded text that says so.

    open: "before" or "after" when only one end was said, and the other is the end of all days.
    """

    first: date
    last: date
    words: tuple[int, int] = (0, 0)
    open: Literal["", "before", "after"] = ""

    def __contains__(self, day: date) -> bool:
        return self.first <= day <= self.last


def find_ranges(text: str, today: date) -> list[DayRange]:
    """The ranges that a text speaks of, as of ``today``, in their order; longer readings win over those inside them."""
    folded = fold(text)
    found: list[DayRange] = []
    for pattern, read in _READERS:
        for match in pattern.finditer(folded):
            try:
                bounds = read(match, today)
            except (ValueError, OverflowError):  # the 31st of June, the year 9999
                continue
            if bounds and not any(r.words[0] < match.end() and match.start() < r.words[1] for r in found):
                found.append(DayRange(*bounds, match.span("core" if "core" in pattern.groupindex else 0)))
    return sorted(found, key=lambda r: r.words)


def parse_range(text: str, today: date) -> DayRange | None:
    """A date or words for one that are the whole of ``text`` (``2026-03-01``, ``last week``, 昨天); None otherwise."""
    folded = fold(text).strip()
    for found in find_ranges(folded, today):
        rest = folded[: found.words[0]] + folded[found.words[1] :]
        if not re.sub(r"\b(?:on|in|since|until|the)\b|[\s,.。的]", "", rest):
            return found
    return None


# --- readings -----------------------------------------------------------------------------------------------------

_Bounds = tuple[date, date] | None
_Reader = Callable[[re.Match[str], date], _Bounds]

_MONTHS = {name: n for n in range(1, 13) for name in (calendar.month_name[n].lower(), calendar.month_abbr[n].lower())}
_MONTHS["sept"] = 9
_DAYS = {name: n for n in range(7) for name in (calendar.day_name[n].lower(), calendar.day_abbr[n].lower())}
_ZH_DAYS = {char: n for n, chars in enumerate(("一1", "二2", "三3", "四4", "五5", "六6", "日天7")) for char in chars}
_ZH_DIGITS = {char: n for n, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_WORD_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
}

_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_DAY_NAME = "(?P<day>" + "|".join(sorted(_DAYS, key=len, reverse=True)) + ")"
_ZH_NUMBER = "(?:[0-9]+|[〇零一二两三四五六七八九十]+)"
_COUNT = "(?P<count>[0-9]{1,4}|" + "|".join(_WORD_NUMBERS) + ")"


def _number(text: str) -> int:
    """Arabic digits, English words up to eight, Chinese up to 99."""
    if text.isdecimal() and text.isascii():
        return int(text)
    if text in _WORD_NUMBERS:
        return _WORD_NUMBERS[text]
    if "十" in text:
        tens, ones = text.split("十", 1)
        return 10 * (_ZH_DIGITS[tens] if tens else 1) + (_ZH_DIGITS[ones] if ones else 0)
    return int("".join(str(_ZH_DIGITS[char]) for char in text))


def _days(first: date, last: date | None = None) -> tuple[date, date]:
    return first, last or first


def _whole_month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def _month_from(today: date, offset: int) -> tuple[date, date]:
    index = today.year * 12 + today.month - 1 + offset
    return _whole_month(index // 12, index % 12 + 1)


def _whole_week(today: date, offset: int) -> tuple[date, date]:
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=offset)
    return monday, monday + timedelta(days=6)


def _weekend(today: date, offset: int) -> tuple[date, date]:
    monday, sunday = _whole_week(today, offset)
    return monday + timedelta(days=5), sunday


def _latest_year(month: int, today: date) -> int:
    """The year in which this month was last: memory looks back."""
    return today.year if month <= today.month else today.year - 1


def _ago(count: int, unit: str, today: date) -> tuple[date, date]:
    if unit in ("day", "天", "日"):
        return _days(today - timedelta(days=count))
    if unit in ("week", "周", "星期"):
        return _whole_week(today, -count)
    if unit in ("month", "月"):
        return _month_from(today, -count)
    return date(today.year - count, 1, 1), date(today.year - count, 12, 31)


def _iso(match: re.Match[str], today: date) -> _Bounds:
    year, month, day = match["y"], match["m"], match["d"]
    return _days(date(int(year), int(month), int(day))) if day else _whole_month(int(year), int(month))


def _named_day(match: re.Match[str], today: date) -> _Bounds:
    month, day = _MONTHS[match["month"]], int(match["dom"])
    year = int(match["year"]) if match["year"] else _latest_year(month, today)
    return _days(date(year, month, day))


def _named_month(match: re.Match[str], today: date) -> _Bounds:
    month = _MONTHS[match["month"]]
    first, last = _whole_month(int(match["year"]) if match["year"] else _latest_year(month, today), month)
    return _part_of_month(match["part"], first, last)


def _part_of_month(part: str | None, first: date, last: date) -> tuple[date, date]:
    if part in ("early", "beginning of", "start of", "初", "上旬"):
        return first, first.replace(day=12)
    if part in ("mid", "middle of", "中旬"):
        return first.replace(day=8), first.replace(day=22)
    if part in ("late", "end of", "底", "下旬"):
        return first.replace(day=18), last
    return first, last


_OFFSETS = {
    "last": -1,
    "previous": -1,
    "past": -1,
    "this": 0,
    "current": 0,
    "next": 1,
    "上": -1,
    "这": 0,
    "本": 0,
    "下": 1,
}


def _relative(match: re.Match[str], today: date) -> _Bounds:
    offset, unit = _OFFSETS[match["which"]], match["unit"]
    if unit == "week":
        return _whole_week(today, offset)
    if unit == "month":
        return _month_from(today, offset)
    if unit == "weekend":
        return _weekend(today, offset)
    return date(today.year + offset, 1, 1), date(today.year + offset, 12, 31)


def _week_day(match: re.Match[str], today: date) -> _Bounds:
    """``last Friday`` is the one of last week; a bare ``on Friday`` the latest one up to today."""
    wanted = _DAYS[match["day"]]
    if not match["which"]:
        return _days(today - timedelta(days=(today.weekday() - wanted) % 7))
    if match["which"] in ("last", "past", "previous"):
        return _days(today - timedelta(days=(today.weekday() - wanted - 1) % 7 + 1))
    monday, _ = _whole_week(today, _OFFSETS[match["which"]])
    return _days(monday + timedelta(days=wanted))


def _zh_week_day(match: re.Match[str], today: date) -> _Bounds:
    """上周三 is the one of last week; a bare 周三 the latest one up to today."""
    if not match["which"]:
        return _days(today - timedelta(days=(today.weekday() - _ZH_DAYS[match["day"]]) % 7))
    monday, _ = _whole_week(today, _zh_offset(match["which"]))
    return _days(monday + timedelta(days=_ZH_DAYS[match["day"]]))


def _zh_offset(which: str) -> int:
    """上 -1, 上上 -2, 这/本 0, 下 1, 下下 2."""
    return _OFFSETS[which[0]] * len(which)


def _zh_unit(match: re.Match[str], today: date) -> _Bounds:
    offset, unit = _zh_offset(match["which"]), match["unit"]
    if unit == "月":
        return _part_of_month(match["part"], *_month_from(today, offset))
    return _weekend(today, offset) if match["end"] else _whole_week(today, offset)


_ZH_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}


def _zh_date(match: re.Match[str], today: date) -> _Bounds:
    month = _number(match["month"])
    year = _zh_year(match["year"], today) if match["year"] else _latest_year(month, today)
    if match["dom"]:
        return _days(date(year, month, _number(match["dom"])))
    return _part_of_month(match["part"], *_whole_month(year, month))


def _zh_year(text: str, today: date) -> int:
    return today.year + _ZH_YEARS[text] if text in _ZH_YEARS else _number(text.removesuffix("年"))


def _year(match: re.Match[str], today: date) -> _Bounds:
    year = _zh_year(match["year"], today)
    return date(year, 1, 1), date(year, 12, 31)


def _fixed(offset: int) -> _Reader:
    return lambda match, today: _days(today + timedelta(days=offset))


_ZH_YEAR = f"(?P<year>(?:[0-9]{{4}}|[〇零一二三四五六七八九]{{4}})年|{'|'.join(_ZH_YEARS)})"
_DOM = r"(?P<dom>[0-3]?[0-9])(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?P<year>(?:19|20)[0-9]{2}))?"


def _readers() -> Iterator[tuple[str, _Reader]]:
    yield r"\b(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?(?![\d-])", _iso
    yield (
        rf"{_ZH_YEAR}?的?(?P<month>{_ZH_NUMBER})月份?(?:(?P<dom>{_ZH_NUMBER})[日号]|(?P<part>初|底|上旬|中旬|下旬))?",
        _zh_date,
    )
    yield rf"\b{_DOM}\s+(?:of\s+)?{_MONTH}\b{_YEAR}", _named_day
    yield rf"\b{_MONTH}\s+{_DOM}\b(?!\s*[:%€$]){_YEAR}", _named_day
    yield (
        r"\b(?:in|during|since|until|till|before|after|of|from|last|this|by)\s+(?:the\s+)?"
        rf"(?P<core>(?:(?P<part>early|mid|late|beginning of|start of|middle of|end of)[\s-]+)?{_MONTH}\b{_YEAR})",
        _named_month,
    )
    yield rf"^(?P<part>early|mid|late)?\s*{_MONTH}{_YEAR}$", _named_month
    yield r"\bday before yesterday\b|(?<!大)前天", _fixed(-2)
    yield r"\bday after tomorrow\b|(?<!大)后天", _fixed(2)
    yield r"大前天", _fixed(-3)
    yield r"\byesterday\b|\blast night\b|昨[天晚日]", _fixed(-1)
    yield r"\btoday\b|\btonight\b|\bthis (?:morning|afternoon|evening)\b|今[天晚早日]", _fixed(0)
    yield r"\btomorrow\b|明[天早晚日]", _fixed(1)
    yield r"\bweekend before last\b", lambda match, today: _weekend(today, -2)
    yield r"\bweek before last\b", lambda match, today: _whole_week(today, -2)
    yield r"\bmonth before last\b", lambda match, today: _month_from(today, -2)
    yield r"\bfirst day of (?:the|this) year\b|元旦", lambda match, today: _days(date(today.year, 1, 1))
    yield rf"\b{_COUNT}\s+(?P<unit>day|week|month|year)s?\s+ago\b", lambda m, t: _ago(_number(m["count"]), m["unit"], t)
    yield (
        rf"(?P<count>{_ZH_NUMBER})个?(?P<unit>天|日|周|星期|月|年)(?:以?前)",
        lambda m, t: _ago(_number(m["count"]), m["unit"], t),
    )
    yield rf"\b(?:(?P<which>last|past|previous|this|next)|on)\s+{_DAY_NAME}\b", _week_day
    yield rf"^(?P<which>){_DAY_NAME}$", _week_day
    yield (
        r"\b(?:later |earlier )?(?P<which>last|past|previous|this|current|next)\s+(?P<unit>weekend|week|month|year)\b",
        _relative,
    )
    yield r"(?P<which>上+|下+|这|本)?个?(?:周|星期|礼拜)(?P<day>[一二三四五六日天1-7])", _zh_week_day
    yield r"(?P<which>上+|下+|这|本)个?(?P<unit>周|星期|礼拜|月)(?P<end>末)?(?P<part>初|底|上旬|中旬|下旬)?", _zh_unit
    yield _ZH_YEAR, _year
    yield (
        r"\b(?:in|during|since|until|before|after|of|from)\s+(?P<core>(?P<year>(?:19|20)[0-9]{2}))\b|^(?:19|20)[0-9]{2}$",
        _english_year,
    )


def _english_year(match: re.Match[str], today: date) -> _Bounds:
    year = int(match["year"] or match[0])
    return date(year, 1, 1), date(year, 12, 31)


_READERS = [(re.compile(pattern), read) for pattern, read in _readers()]
