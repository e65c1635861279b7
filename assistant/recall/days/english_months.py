"""English words for months, quarters, seasons, years and holidays. ``core`` says the days, the rest stands by it."""

from __future__ import annotations

from collections.abc import Iterator
from re import Match

from assistant.recall.days import holidays
from assistant.recall.days.calendar_days import (
    Asked,
    Bounds,
    half_year,
    part_of,
    week_of_month,
    whole_month,
    whole_season,
    whole_year,
)
from assistant.recall.days.english_words import (
    A_YEAR,
    BY,
    MONTH,
    MONTHS,
    PART,
    YEAR,
    Reader,
    longest_first,
    offset_said,
    part_said,
    said,
    year_said,
)
from assistant.recall.days.number_words import ORDINAL, ordinal

_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"


def patterns() -> Iterator[tuple[str, Reader]]:
    """Each pattern is for folded text."""
    yield from _months()
    yield from _relative_units()
    yield from _quarters()
    yield from _seasons()
    yield from _years()
    which = r"(?:(?P<which>last|this|next|coming)\s+)?"
    yield rf"\b(?:the\s+)?{which}(?P<name>{holidays.names(chinese=False)})\b{YEAR}", _holiday


# --- months -------------------------------------------------------------------------------------------------------


def _months() -> Iterator[tuple[str, Reader]]:
    yield rf"\b(?:{BY})\s+(?:the\s+)?(?P<core>(?:{PART})?{MONTH}{YEAR})(?!\s+[0-3]?[0-9]\b)", _named_month
    yield rf"^\W*(?:{PART})?{MONTH}{YEAR}\W*$", _named_month
    yield rf"\b{PART}{MONTH}{YEAR}", _named_month
    yield rf"\b{MONTH}(?:,?\s+|\s+of\s+){A_YEAR}", _named_month
    to = rf"(?P<to>{longest_first(MONTHS)})\b\.?"
    yield rf"\b{MONTH}\s*(?:-|–|to|until|till|through)\s*{to}(?!\s+[0-3]?[0-9]\b){YEAR}", _months_to
    yield rf"\b(?P<which>last|past|previous|this|next|coming)\s+{MONTH}(?!\s+[0-9])", _relative_month
    yield rf"\b(?:the\s+)?(?P<nth>{ORDINAL})\s+week\s+(?:of|in)\s+{MONTH}{YEAR}", _week_of_month


def _whole(match: Match[str], asked: Asked) -> Bounds:
    return asked.month_of(MONTHS[match["month"]], year_said(match, asked))


def _named_month(match: Match[str], asked: Asked) -> Bounds:
    return part_of(_whole(match, asked), part_said(match))


def _months_to(match: Match[str], asked: Asked) -> Bounds:
    """November to February 2026: the year is that of the last month."""
    first, last, year = MONTHS[match["month"]], MONTHS[match["to"]], year_said(match, asked)
    if year is None:
        year = asked.year_of(first) + (last < first) if asked.ahead else asked.year_of(last)
    return whole_month(year - (last < first), first)[0], whole_month(year, last)[1]


def _relative_month(match: Match[str], asked: Asked) -> Bounds:
    """Last March is the latest that is over, next March the first that has not begun."""
    month, today = MONTHS[match["month"]], asked.today
    if match["which"] == "this":
        return whole_month(today.year, month)
    if offset_said(match) < 0:
        return whole_month(today.year - (month >= today.month), month)
    return whole_month(today.year + (month <= today.month), month)


def _week_of_month(match: Match[str], asked: Asked) -> Bounds:
    return week_of_month(*_whole(match, asked), ordinal(match["nth"]))


# --- this, last, next ---------------------------------------------------------------------------------------------


def _relative_units() -> Iterator[tuple[str, Reader]]:
    unit = "(?P<unit>weekend|week|month|quarter|year)"
    rest = rf"\b(?P<side>later|earlier|rest\s+of)\s+(?P<which>this|the)\s+{unit}\b"
    yield rest, _side_of_this
    plain = rf"\b(?P<which>last|previous|this|current|next|coming)\s+{unit}\b"
    yield plain, _relative
    yield rf"\b{PART}(?P<which>last|this|next|the|current)\s+{unit}\b", _relative
    yield r"\b(?:the\s+)?(?P<unit>month|quarter|year)\s+before\s+last\b", _before_last


def _unit(unit: str, offset: int, asked: Asked) -> Bounds:
    known = {"week": asked.week, "weekend": asked.weekend, "month": asked.month, "quarter": asked.quarter}
    return known.get(unit, asked.year)(offset)


def _relative(match: Match[str], asked: Asked) -> Bounds:
    return part_of(_unit(match["unit"], offset_said(match), asked), part_said(match))


def _side_of_this(match: Match[str], asked: Asked) -> Bounds:
    """Later this month, earlier this week: as seen from today."""
    first, last = _unit(match["unit"], 0, asked)
    if match["side"] == "earlier":
        return first, asked.today
    return min(asked.day(1)[0], last), last


def _before_last(match: Match[str], asked: Asked) -> Bounds:
    return _unit(match["unit"], -2, asked)


# --- quarters, seasons, years -------------------------------------------------------------------------------------


def _quarters() -> Iterator[tuple[str, Reader]]:
    which = rf"(?:q(?P<number>[1-4])|(?P<nth>(?!last){ORDINAL})\s+quarter)"
    yield rf"\b(?:the\s+)?{which}(?:\s+of\s+the\s+year\b|\b{YEAR})", _quarter
    yield rf"\b(?:the\s+)?last\s+quarter\s+of\s+{A_YEAR}", _quarter
    yield rf"\b(?:the\s+)?(?P<half>first|second)\s+half\s+of\s+(?:the\s+year\b|{A_YEAR})", _half_year


def _quarter(match: Match[str], asked: Asked) -> Bounds:
    nth = said(match, "nth")
    quarter = ordinal(nth) if nth else int(said(match, "number") or 4)
    return asked.quarter_of(quarter, year_said(match, asked))


def _half_year(match: Match[str], asked: Asked) -> Bounds:
    year = year_said(match, asked)
    return half_year(asked.today.year if year is None else year, 1 if match["half"] == "first" else 2)


def _seasons() -> Iterator[tuple[str, Reader]]:
    yield rf"\b(?:{BY})\s+(?P<core>(?:the\s+)?(?:{PART})?{_SEASON}\b{YEAR})", _season
    yield rf"\b(?:{PART})?(?P<which>last|this|next)\s+{_SEASON}\b", _season
    yield rf"\b{_SEASON}\s+(?:of\s+)?{A_YEAR}", _season


def _season(match: Match[str], asked: Asked) -> Bounds:
    name, year, which = match["season"], year_said(match, asked), said(match, "which")
    if which == "last":
        found = asked.over_season(name)
    elif which:
        found = whole_season(asked.today.year + offset_said(match), name)
    else:
        found = asked.season(name) if year is None else whole_season(year, name)
    return part_of(found, part_said(match))


def _years() -> Iterator[tuple[str, Reader]]:
    year = r"(?P<year>(?:19|20)[0-9]{2})"
    yield rf"\b(?:{BY})\s+(?:the\s+)?(?P<core>(?:{PART})?{year})\b(?!-?[wq]?[0-9]|[/.:]\d|\s*[%€$])", _year
    yield rf"^\W*(?:{PART})?{year}\W*$", _year
    yield rf"\b{PART}{year}\b", _year


def _year(match: Match[str], asked: Asked) -> Bounds:
    return part_of(whole_year(int(match["year"])), part_said(match))


# --- holidays -----------------------------------------------------------------------------------------------------


def _holiday(match: Match[str], asked: Asked) -> Bounds:
    which, year = said(match, "which"), year_said(match, asked)
    if which in ("this", "next", "coming"):
        asked = Asked(asked.today, present=True, ahead=True)
    name = " ".join(match["name"].replace("-", " ").split())
    found = holidays.holiday(name, asked, year)
    if which == "last" and year is None and found[1] >= asked.today:
        return holidays.holiday(name, asked, found[1].year - 1)
    return found
