"""English words for single days, weeks, and so many days ago. ``core`` is what says the days, the rest stands by it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from re import Match

from assistant.recall.days.calendar_days import LATELY, Asked, Bounds, one_day
from assistant.recall.days.english_words import (
    A_YEAR,
    BY,
    DASH,
    DAY,
    DAYS,
    DOM,
    FULL_DAY,
    HOURS,
    MONTH,
    MONTHS,
    UNIT,
    YEAR,
    Reader,
    longest_first,
    offset_said,
    said,
    unit_said,
    year_said,
)
from assistant.recall.days.number_words import COUNT, ORDINAL, number, ordinal

_FEW = r"(?:a |some )?few|a couple(?: of)?|several|some"
_OF_WEEK = r"(?P<which>last|this|next)\s+week"
_THE_DOM = r"(?P<dom>[0-3]?[0-9])(?:st|nd|rd|th)"


def patterns() -> Iterator[tuple[str, Reader]]:
    """Each pattern is for folded text."""
    yield from _named_days()
    yield from _near_days()
    yield from _counted_days()
    yield from _week_days()
    yield from _weeks()


# --- a day of a month ---------------------------------------------------------------------------------------------


def _named_days() -> Iterator[tuple[str, Reader]]:
    end = r"(?P<to>[0-3]?[0-9])(?:st|nd|rd|th)?"
    yield rf"\b(?:the\s+)?{DOM}\s+(?:of\s+)?{MONTH}{YEAR}", _named_day
    yield rf"\b{MONTH}\s+(?:the\s+)?{DOM}\b(?!\s*[:%€$]|\s+(?:day|week|month|year)s\b){YEAR}", _named_day
    yield rf"\b{DOM}\s*{DASH}\s*{end}\s+(?:of\s+)?{MONTH}{YEAR}", _days_of_month
    yield rf"\b{MONTH}\s+{DOM}\s*{DASH}\s*{end}\b{YEAR}", _days_of_month
    week = r"\b(?:the\s+)?(?P<week>week|weekend)\s+of\s+(?:the\s+)?"
    yield rf"{week}{DOM}\s+(?:of\s+)?{MONTH}{YEAR}", _week_of
    yield rf"{week}{MONTH}\s+{DOM}\b{YEAR}", _week_of
    yield rf"\b(?:the\s+)?(?P<nth>(?!last){ORDINAL})\s+of\s+{MONTH}{YEAR}", _named_day
    yield rf"\b(?:{BY})\s+(?P<core>the\s+{_THE_DOM})\b(?!\s+(?!(?:and|or|to)\b)[a-z])", _day_of_month
    yield rf"\b(?:the\s+)?{_THE_DOM}\s+(?:of\s+)?(?P<which>last|this|next|the)\s+month\b", _day_of_month


def _named_day(match: Match[str], asked: Asked) -> Bounds:
    """The 3rd of March, the first of May."""
    nth = said(match, "nth")
    day = ordinal(nth) if nth else int(match["dom"])
    return asked.date_of(MONTHS[match["month"]], day, year_said(match, asked))


def _days_of_month(match: Match[str], asked: Asked) -> Bounds | None:
    """From the 3rd to the 7th of March."""
    first = _named_day(match, asked)[0]
    last = first.replace(day=int(match["to"]))
    return (first, last) if first <= last else None


def _week_of(match: Match[str], asked: Asked) -> Bounds:
    near = Asked(_named_day(match, asked)[0])
    return near.week(0) if match["week"] == "week" else near.weekend(0)


def _day_of_month(match: Match[str], asked: Asked) -> Bounds:
    day = int(match["dom"])
    if said(match, "which") in ("", "the"):
        return asked.of_month(day)
    return one_day(asked.month(offset_said(match))[0].replace(day=day))


# --- near days ----------------------------------------------------------------------------------------------------


def _near_days() -> Iterator[tuple[str, Reader]]:
    yield rf"\b(?:the\s+)?day\s+before\s+yesterday\b{HOURS}", lambda match, asked: asked.day(-2)
    yield rf"\byesterday\b{HOURS}|\blast\s+(?:night|evening)\b", lambda match, asked: asked.day(-1)
    today = r"\btoday\b|\btonight\b|\bthis\s+(?:morning|afternoon|evening)\b|\bearlier\s+today\b|\bjust\s+now\b"
    yield today, lambda match, asked: asked.day(0)
    yield rf"\btomorrow\b{HOURS}", lambda match, asked: asked.day(1)
    yield rf"\b(?:the\s+)?day\s+after\s+tomorrow\b{HOURS}", lambda match, asked: asked.day(2)
    yield r"\bthe\s+other\s+day\b", lambda match, asked: asked.fuzzy_ago("day")
    yield r"\b(?:recently|lately|these\s+days|of\s+late)\b", lambda match, asked: asked.days(-LATELY, 0)
    first = r"\b(?:the\s+)?first\s+day\s+of\s+(?:the|this)\s+year\b"
    yield first, lambda match, asked: one_day(date(asked.today.year, 1, 1))


# --- so many days ago ---------------------------------------------------------------------------------------------


def _counted_days() -> Iterator[tuple[str, Reader]]:
    ago = rf"\s+{UNIT}s?\s+(?:ago|back)\b"
    yield rf"\b(?P<count>{COUNT}){ago}", lambda match, asked: asked.ago(number(match["count"]), unit_said(match))
    yield rf"\b(?P<few>{_FEW}){ago}", _few_ago
    hours = rf"\b(?:{COUNT}|half\s+an|{_FEW})\s+(?:hour|minute)s?\s+(?:ago|back)\b"
    yield hours, lambda match, asked: asked.day(0)
    yield r"\ba\s+fortnight\s+ago\b", lambda match, asked: asked.week(-2)
    yield r"\b(?:the\s+)?(?:last|past)\s+fortnight\b", lambda match, asked: asked.past(2, "week")
    yield r"\b(?:around\s+)?this\s+time\s+last\s+year\b", lambda match, asked: asked.days(-386, -344)
    yield r"\bhalf\s+an?\s+year\s+ago\b", lambda match, asked: (asked.month(-7)[0], asked.month(-5)[1])
    span = rf"(?P<which>last|past|previous|next|coming)\s+(?P<count>{COUNT}|few|couple(?: of)?|several)\s+{UNIT}s"
    yield rf"\b(?:the\s+)?{span}\b", _rolling
    yield rf"\b(?:the\s+)?(?P<which>past)\s+{UNIT}\b", _rolling
    yield rf"\b(?:in|over|during|within|for)\s+(?P<core>the\s+(?P<which>last|next)\s+{UNIT})\b", _rolling
    later = rf"\bin\s+(?P<core>(?P<count>{COUNT})\s+{UNIT}s?)(?:'s?\s+time)?(?=\W*$|\s*[,?.!])"
    yield later, lambda match, asked: asked.ago(-number(match["count"]), unit_said(match))


def _few_ago(match: Match[str], asked: Asked) -> Bounds:
    """A couple is two, or three, or nearly one; a few are as ``fuzzy_ago`` has it."""
    unit = unit_said(match)
    if "couple" not in match["few"]:
        return asked.fuzzy_ago(unit)
    return asked.ago(3, unit)[0], asked.day(-1)[1] if unit == "day" else asked.ago(1, unit)[0]


def _rolling(match: Match[str], asked: Asked) -> Bounds:
    """The past three weeks, the next few days, the last couple of months: up to today, or from today."""
    words = said(match, "count")
    few = {"": 1, "couple": 2, "couple of": 2, "few": 5, "several": 5}
    count = few[words] if words in few else number(words)
    return (asked.coming if match["which"] in ("next", "coming") else asked.past)(count, unit_said(match))


# --- days of the week ---------------------------------------------------------------------------------------------


def _week_days() -> Iterator[tuple[str, Reader]]:
    which = r"(?P<which>last|past|previous|this|next|coming)"
    yield rf"\b(?:{BY})\s+(?P<core>(?:the\s+)?{DAY}\b{HOURS})(?!\s*\+)", _week_day
    yield rf"\b(?:the\s+)?{which}\s+{DAY}\b{HOURS}", _week_day
    yield rf"^\W*{DAY}\b{HOURS}\W*$", _week_day
    yield rf"\b{DAY}\s*(?:-|–|to|until|till|through)\s*(?P<to>{longest_first(DAYS)})\b", _days_of_week
    yield rf"\b{FULL_DAY}(?:\s+(?:morning|afternoon|evening|night)\b|(?='s\b|\s*[?.!,]|\s*$))", _week_day
    yield rf"\b{DAY}\b{HOURS}\s+(?:of\s+|in\s+)?{_OF_WEEK}\b", _day_of_week
    yield rf"\b{_OF_WEEK}(?:'s|\s+on)?\s+{DAY}\b{HOURS}", _day_of_week
    yield rf"\b(?:the\s+)?{DAY}\s+before\s+last\b", lambda match, asked: asked.weekday_of(-2, DAYS[match["day"]])


def _week_day(match: Match[str], asked: Asked) -> Bounds:
    """``last Friday`` is the latest before today; ``this`` and ``next Friday`` are those of the week they name."""
    wanted, which = DAYS[match["day"]], said(match, "which")
    if not which:
        return asked.weekday(wanted)
    if which in ("last", "past", "previous"):
        return asked.day(-((asked.today.weekday() - wanted - 1) % 7 + 1))
    if which == "coming":
        return asked.day((wanted - asked.today.weekday() - 1) % 7 + 1)
    return asked.weekday_of(offset_said(match), wanted)


def _days_of_week(match: Match[str], asked: Asked) -> Bounds:
    """Monday to Wednesday: the latest that are over, or the next if asked of what comes."""
    length = timedelta(days=(DAYS[match["to"]] - DAYS[match["day"]]) % 7)
    if asked.present:
        first = asked.weekday(DAYS[match["day"]])[0]
        return first, first + length
    last = asked.weekday(DAYS[match["to"]])[0]
    return last - length, last


def _day_of_week(match: Match[str], asked: Asked) -> Bounds:
    return asked.weekday_of(offset_said(match), DAYS[match["day"]])


# --- weeks --------------------------------------------------------------------------------------------------------


def _weeks() -> Iterator[tuple[str, Reader]]:
    yield r"\b(?:the\s+)?weekend\s+before(?:\s+last)?\b", lambda match, asked: asked.weekend(-2)
    yield r"\b(?:the\s+)?week\s+before\s+last\b", lambda match, asked: asked.week(-2)
    yield rf"\b(?:{BY}|at)\s+(?P<core>the\s+weekend)\b(?!\s+(?:before|of))", lambda match, asked: asked.near_weekend()
    yield rf"\b(?:the\s+)?week\s+(?P<number>[0-9]{{1,2}})\b(?:\s+(?:of|in)\s+{A_YEAR})?", _week_number
    yield r"\b(?P<year>(?:19|20)[0-9]{2})-?w(?P<number>[0-9]{1,2})\b", _week_number


def _week_number(match: Match[str], asked: Asked) -> Bounds:
    return asked.week_of(int(match["number"]), year_said(match, asked))
