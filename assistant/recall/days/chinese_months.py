"""Chinese words for dates, months, quarters, seasons, years and holidays; for folded (simplified) text."""

from __future__ import annotations

from collections.abc import Iterator
from re import Match

from assistant.recall.days import holidays
from assistant.recall.days.calendar_days import (
    Asked,
    Bounds,
    half_year,
    one_day,
    part_of,
    whole_season,
    whole_year,
)
from assistant.recall.days.chinese_days import HOURS, PARTS, WHICH, offset
from assistant.recall.days.english_words import Reader, said
from assistant.recall.days.number_words import ZH_COUNT, number

_YEARS = {
    "大前年": -3,
    "前年": -2,
    "去年": -1,
    "上一年": -1,
    "今年": 0,
    "这一年": 0,
    "本年": 0,
    "明年": 1,
    "后年": 2,
    "来年": 1,
}
_YEAR = (
    f"(?P<year>(?:[0-9]{{4}}|[〇零一二三四五六七八九]{{4}})年|{'|'.join(_YEARS)}|去(?=[春夏秋冬年])|今(?=[春夏秋冬年]))"
)
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_NO_DATE = "(?![线楼门店房院机柜桌车球码馆厅区库位馆舍])"
"""What makes of 5号 no day but line 5, building 5, ..."""
_TO = r"\s*(?:到|至|-|–|—|~|和|与)\s*"


def patterns() -> Iterator[tuple[str, Reader]]:
    yield from _dates()
    yield from _months()
    yield from _parts_of_years()
    yield _YEAR, _year
    yield rf"(?:(?P<which>上个?|下个?|这个?)|{_YEAR})?的?(?P<name>{holidays.names(chinese=True)})", _holiday


def _year_said(match: Match[str], asked: Asked) -> int | None:
    words = said(match, "year")
    if not words:
        return None
    short = {"去": -1, "今": 0} | _YEARS
    return asked.today.year + short[words] if words in short else number(words.removesuffix("年"))


# --- dates and months ---------------------------------------------------------------------------------------------


def _dates() -> Iterator[tuple[str, Reader]]:
    day = rf"(?P<dom>{ZH_COUNT})[日号]{_NO_DATE}"
    year = f"(?:{_YEAR}的?)?"
    yield rf"{year}(?P<month>{ZH_COUNT})月{day}{HOURS}", _date
    end = rf"(?P<to>{ZH_COUNT})[日号]"
    yield rf"{year}(?P<month>{ZH_COUNT})月(?P<dom>{ZH_COUNT})[日号]?{_TO}{end}", _days_of_month
    yield rf"{WHICH}个?月{day}{HOURS}", _day_of_that_month
    follows = r"(?=那天|以?[前后]|之[前后]|[的早晚上下中在要有我你]|\W|$)"
    alone = "(?<![月第大小0-9a-z#十百千〇零一二三四五六七八九])"
    yield rf"{alone}(?P<dom>{ZH_COUNT})号{_NO_DATE}{HOURS}{follows}", _day_of_month
    yield rf"{alone}(?P<dom>[12][0-9]|3[01]|二?十[一二三四五六七八九]?|三十一?)号{_NO_DATE}{HOURS}", _day_of_month


def _date(match: Match[str], asked: Asked) -> Bounds:
    return asked.date_of(number(match["month"]), number(match["dom"]), _year_said(match, asked))


def _days_of_month(match: Match[str], asked: Asked) -> Bounds | None:
    first = _date(match, asked)[0]
    last = first.replace(day=number(match["to"]))
    return (first, last) if first <= last else None


def _day_of_that_month(match: Match[str], asked: Asked) -> Bounds:
    return one_day(asked.month(offset(match["which"]))[0].replace(day=number(match["dom"])))


def _day_of_month(match: Match[str], asked: Asked) -> Bounds:
    return asked.of_month(number(match["dom"]))


def _months() -> Iterator[tuple[str, Reader]]:
    part = "(?P<part>初|底|末|上旬|中旬|下旬|中(?![国文午秋学心]))?"
    no_day = f"(?!{ZH_COUNT}?[日号]|初[一二三四五六七八九十])"  # 八月初三 is of the other calendar
    yield rf"(?:{_YEAR}的?)?(?<![0-9])(?P<month>{ZH_COUNT})月份?{no_day}{part}", _month
    yield rf"{WHICH}个?月{part}", _that_month
    yield "(?<![个0-9一二三四五六七八九十])月(?P<part>初|底|末)", _that_month


def _month(match: Match[str], asked: Asked) -> Bounds:
    bounds = asked.month_of(number(match["month"]), _year_said(match, asked))
    return part_of(bounds, PARTS.get(said(match, "part"), ""))


def _that_month(match: Match[str], asked: Asked) -> Bounds:
    which = said(match, "which")
    return part_of(asked.month(offset(which) if which else 0), PARTS.get(said(match, "part"), ""))


# --- longer times -------------------------------------------------------------------------------------------------


def _parts_of_years() -> Iterator[tuple[str, Reader]]:
    which = f"(?:{_YEAR}的?)?"
    yield rf"{which}(?P<half>上|下)半年", _half
    yield rf"{which}(?<![个今去明前后来])年(?P<part>初|中|底|末)", _part_of_year
    yield rf"{_YEAR}(?P<part>初|底|末)", _part_of_year
    yield rf"{which}第?(?P<nth>[一二三四1-4])季度", _quarter
    yield rf"{which}q(?P<nth>[1-4])(?![0-9])", _quarter
    yield "(?P<which>上|这|本|下)个?季度", lambda match, asked: asked.quarter(offset(match["which"]))
    yield rf"{_YEAR}的?(?P<season>[春夏秋冬])(?![节联至分])[天季]?", _season
    ago = f"(?P<ago>{ZH_COUNT})年前的?(?P<season>[春夏秋冬])[天季]"
    yield ago, lambda m, asked: whole_season(asked.today.year - number(m["ago"]), _SEASONS[m["season"]])
    yield "(?P<which>上个?|下个?|这个?)?(?P<season>[春夏秋冬])[天季](?:里|的时候)?", _season


def _half(match: Match[str], asked: Asked) -> Bounds:
    year = _year_said(match, asked)
    return half_year(asked.today.year if year is None else year, 1 if match["half"] == "上" else 2)


def _part_of_year(match: Match[str], asked: Asked) -> Bounds:
    """年初 is up to March or so, 年底 from October or so."""
    year = _year_said(match, asked)
    first, last = whole_year(asked.today.year if year is None else year)
    part = PARTS[match["part"]]
    return {
        "early": (first, first.replace(month=3, day=31)),
        "mid": (first.replace(month=5), last.replace(month=8)),
        "late": (first.replace(month=10), last),
    }[part]


def _quarter(match: Match[str], asked: Asked) -> Bounds:
    return asked.quarter_of(number(match["nth"]), _year_said(match, asked))


def _season(match: Match[str], asked: Asked) -> Bounds:
    name, year, which = _SEASONS[match["season"]], _year_said(match, asked), said(match, "which")
    if year is not None:
        return whole_season(year, name)
    if which.startswith(("上", "去")):
        return asked.over_season(name)
    if which:
        return whole_season(asked.today.year + (which[0] == "下"), name)
    return asked.season(name)


def _year(match: Match[str], asked: Asked) -> Bounds | None:
    year = _year_said(match, asked)
    return None if year is None else whole_year(year)


# --- holidays -----------------------------------------------------------------------------------------------------


def _holiday(match: Match[str], asked: Asked) -> Bounds:
    which, year = said(match, "which"), _year_said(match, asked)
    if which.startswith(("下", "这")):
        asked = Asked(asked.today, present=True, ahead=which[0] == "下")
    found = holidays.holiday(match["name"], asked, year)
    if which.startswith("上") and found[1] >= asked.today:
        return holidays.holiday(match["name"], asked, found[1].year - 1)
    return found
