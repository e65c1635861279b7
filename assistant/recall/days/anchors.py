"""Times that hang on an event: "before my trip to Lisbon", "the week after the exam", 搬家以后.

An event is looked for by its words among what is known. Its days are those that a unit about it speaks of ("flies to
Lisbon on 4 Dec", said on 29 Nov), else the day that the unit is of. What is not found gives no days.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from assistant.recall.days.calendar_days import Asked
from assistant.recall.days.dates import DayRange
from assistant.recall.days.number_words import ZH_COUNT
from assistant.recall.days.spoken_days import spoken_days

Side = Literal["before", "after", "since", "until", "during", "of"]


@dataclass(frozen=True, slots=True)
class DatedText:
    """A unit that tells of an event: the day it is of, and its text."""

    day: date
    text: str


Look = Callable[[str], Sequence[DatedText]]
"""Finds units that tell of an event, by its words, the best first; none when nothing known does."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event in a folded question. words: the place of all that speaks of time in it, event: its own words.

    length: of the time that lies beside it ("the week before the exam"), 0 for all the time on that side.
    """

    event: str
    side: Side
    words: tuple[int, int]
    length: int = 0


_LONGEST_EVENT = 31
"""Days that the days of one unit may lie apart and still be one event: there and back."""
_READ = 5
"""Units that are read for an event's days."""
_AROUND = 3
"""Days about the one day on which an event was told of, when what was during it is asked for."""
_LENGTHS = {"day": 1, "night": 1, "morning": 1, "weekend": 3, "week": 7, "month": 31, "year": 365}
_ZH_LENGTHS = {"天": 1, "周": 7, "星期": 7, "月": 31, "年": 365}

_ENGLISH = re.compile(
    r"\b(?:(?:the\s+)?(?P<unit>day|night|morning|weekend|week|month|year)\s+(?P<side>before|after|of)"
    r"|(?P<alone>before|after|since|until|till|during)"
    r"|(?P<while>while|when)(?=\s+(?:i|we|he|she|they|it|you)\b))"
    r"\s+(?P<event>[^,.;:?!\n]{2,80})"
)
# The question goes on: "before the trip | what did I buy".
_GOES_ON = re.compile(r"\b(?:did|do|does|what|which|who|whom|where|how|should|will|would|can|could)\b")
_CHINESE = re.compile(
    r"(?P<event>[\w\s·]{2,14}?)(?:的)?(?:那(?:个|一)?(?P<unit>天|周|星期|月|年)"
    r"|(?:的)?(?P<side>之前|以前|之后|以后|前|后|以来|期间|的时候))"
)
_SIDES: dict[str, Side] = {"before": "before", "after": "after", "since": "since", "until": "until", "till": "until"}
_SIDES |= {"during": "during", "of": "of"}
_ZH_SIDES: dict[str, Side] = {"之前": "before", "以前": "before", "前": "before", "以来": "since", "期间": "during"}
_ZH_SIDES |= {"之后": "after", "以后": "after", "后": "after", "的时候": "during"}
_AMOUNT = re.compile(f"{ZH_COUNT}(?:天|周|年|个?(?:星期|礼拜|小时)|个月)|now|then|that|现在|今天")
_ZH_LEAD = re.compile(r"^(?:在|从|自从?|我们?|咱们|他|她|你)+")


def find_anchor(folded: str) -> Anchor | None:
    """The event that a folded question hangs on, once the days it names are blanked out; None where there is none."""
    english = _ENGLISH.search(folded)
    if english:
        word = english["side"] or english["alone"] or "during"
        event = _GOES_ON.split(english["event"])[0]
        if event.strip() and not _AMOUNT.fullmatch(event.strip()):
            end = english.start("event") + len(event.rstrip())
            length = _LENGTHS[english["unit"]] if english["unit"] else 0
            return Anchor(event.strip(), _SIDES[word], (english.start(), end), length)
    chinese = None if folded.isascii() else _CHINESE.search(folded)
    if chinese:
        event = _ZH_LEAD.sub("", chinese["event"].strip())
        if len(event) > 1 and not _AMOUNT.fullmatch(event):
            unit = chinese["unit"]
            zh_side: Side = "of" if unit else _ZH_SIDES[chinese["side"]]
            return Anchor(event, zh_side, chinese.span(), _ZH_LENGTHS[unit] if unit else 0)
    return None


def days_of_event(units: Sequence[DatedText]) -> tuple[date, date] | None:
    """First and last day of an event, by what is told of it; None when nothing is.

    The best unit that names a day tells it, as a plan is written down before; else the best of all was said then.
    """
    for unit in units[:_READ]:
        days = spoken_days(unit.text, unit.day)
        if days:
            first = min(begins for begins, _ in days)
            last = max(ends for _, ends in days)
            if last - first >= _LONGEST_EVENT:  # of several matters: the most exact
                first, last = days[0]
            return date.fromordinal(first), date.fromordinal(last)
    return (units[0].day, units[0].day) if units else None


def range_beside(anchor: Anchor, first: date, last: date) -> DayRange:
    """The days that an anchor speaks of, when its event was from ``first`` to ``last``."""
    one, length = timedelta(days=1), timedelta(days=anchor.length)
    match anchor.side:
        case "before":
            begin = first - length if anchor.length else date.min
            return DayRange(begin, first - one, anchor.words, "" if anchor.length else "before")
        case "until":
            return DayRange(date.min, first, anchor.words, "before")
        case "after":
            end = last + length if anchor.length else date.max
            return DayRange(last + one, end, anchor.words, "" if anchor.length else "after")
        case "since":
            return DayRange(first, date.max, anchor.words, "after")
        case "of":
            return _whole(anchor, first, last)
    about = timedelta(days=_AROUND if first == last else 0)
    return DayRange(first - about, last + about, anchor.words)


def _whole(anchor: Anchor, first: date, last: date) -> DayRange:
    """The day, week, month or year of an event."""
    begins, ends = Asked(first), Asked(last)
    if anchor.length <= 1:
        return DayRange(first, last, anchor.words)
    if anchor.length <= 7:
        return DayRange(begins.week(0)[0], ends.week(0)[1], anchor.words)
    if anchor.length <= 31:
        return DayRange(begins.month(0)[0], ends.month(0)[1], anchor.words)
    return DayRange(begins.year(0)[0], ends.year(0)[1], anchor.words)


def anchored_range(anchor: Anchor, look: Look) -> DayRange | None:
    """The days an anchor speaks of; None when its event is not known, or at the ends of the calendar."""
    found = days_of_event(look(anchor.event))
    try:
        return range_beside(anchor, *found) if found else None
    except OverflowError:
        return None
