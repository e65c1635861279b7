"""Days in figures, as any language writes them: 2026-03-14, 14.03.2026, 3/14.

With slashes the month comes first, as in Chinese and American writing, unless it cannot be one (14/3); with dots the
day comes first, as in most of Europe. Two figures alone (3/14) are a day only where a word beside them says so, as they
may be a fraction.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from re import Match

from assistant.recall.days.calendar_days import Asked, Bounds, one_day, whole_month
from assistant.recall.days.english_words import BY, Reader, said

_NO_MORE = r"(?![\d%]|[-/.:]\d)"


def patterns() -> Iterator[tuple[str, Reader]]:
    year = r"(?P<y>(?:19|20)\d\d)"
    pair = r"(?P<a>\d{1,2})/(?P<b>\d{1,2})"
    yield rf"(?<![\d.-]){year}(?P<sep>[-/.])(?P<m>\d{{1,2}})(?:(?P=sep)(?P<d>\d{{1,2}}))?(?!\d|-\d)", _year_first
    yield rf"(?<![\d./-])(?P<d>\d{{1,2}})\.(?P<m>\d{{1,2}})\.(?:{year}|(?P<yy>\d\d)){_NO_MORE}", _day_first
    yield rf"(?<![\d./-]){pair}/(?:{year}|(?P<yy>\d\d)){_NO_MORE}", _pair
    yield rf"(?:\b(?:{BY})\s+|[在从到至自])(?P<core>{pair}){_NO_MORE}", _pair
    yield rf"^\W*{pair}\W*$", _pair
    yield r"\bon\s+(?P<core>(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.)(?!\d)", _day_first


def _year_first(match: Match[str], asked: Asked) -> Bounds:
    year, month, day = int(match["y"]), int(match["m"]), match["d"]
    return one_day(date(year, month, int(day))) if day else whole_month(year, month)


def _year(match: Match[str]) -> int | None:
    """In four figures or in two; None where none is said."""
    year, short = said(match, "y"), said(match, "yy")
    return int(year) if year else 2000 + int(short) if short else None


def _day_first(match: Match[str], asked: Asked) -> Bounds:
    return asked.date_of(int(match["m"]), int(match["d"]), _year(match))


def _pair(match: Match[str], asked: Asked) -> Bounds:
    month, day = int(match["a"]), int(match["b"])
    if month > 12:
        month, day = day, month
    return asked.date_of(month, day, _year(match))
