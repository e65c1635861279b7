"""The days that a unit speaks of beside the one it is of: "dentist on 12 May", said on 3 May, is found by both."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import date

from assistant.recall.calendar_days import Asked
from assistant.recall.dates import MOST_CHARACTERS, DayRange, may_speak_of_days, ranges_in
from assistant.recall.markers import BEHIND
from assistant.recall.moments import TimeWish
from assistant.recall.text import fold

LONGEST = 31
"""Days: a month is worth knowing, a year is spoken of by half of all that is noted in it."""
_VAGUE = 7
"""A longer time that holds the very day it was said on ("this month", "lately") tells nothing more than that day."""
_MOST_OF_UNIT = 8
_MOST_ASKED = 100
"""Days of a question's range: a longer one is full of units that were said in it."""
_MOST_FOUND = 2_000
_ANY_DAYS = (date(2003, 8, 20), date(2016, 2, 5))


def spoken_days(text: str, day: date | None) -> list[tuple[int, int]]:
    """First and last day (ordinals) of the times that a text speaks of, the narrowest first, noted on ``day``.

    At most some, none longer than ``LONGEST`` and never ``day`` itself. Without a day only full dates tell anything.
    """
    folded = fold(text[:MOST_CHARACTERS])
    if not may_speak_of_days(folded):
        return []
    if day is None:
        one, other = (set(_bounds(folded, any_day)) for any_day in _ANY_DAYS)
        found = one & other
    else:
        own = day.toordinal()
        found = {
            (first, last)
            for first, last in _bounds(folded, day)
            if not first <= own <= last or 0 < last - first < _VAGUE
        }
    return sorted(found, key=lambda bounds: (bounds[1] - bounds[0], bounds))[:_MOST_OF_UNIT]


def _bounds(folded: str, day: date) -> Iterator[tuple[int, int]]:
    told = Asked(day, present=not BEHIND.search(folded), told=True)
    for found in ranges_in(folded, told):
        if (found.last - found.first).days < LONGEST:
            yield found.first.toordinal(), found.last.toordinal()


def store_spoken(connection: sqlite3.Connection, unit: int, text: str, day: date | None) -> None:
    """Keep the days that a unit speaks of, in the transaction of the caller; they go with it."""
    rows = [(unit, first, last) for first, last in spoken_days(text, day)]
    connection.executemany("INSERT INTO spoken(unit, first, last) VALUES (?, ?, ?)", rows)


def spoken_of(connection: sqlite3.Connection, wish: TimeWish, today: date) -> dict[int, float]:
    """Rows of the units that speak of the days asked for, and how much so: 1 is as much as having been said then.

    wish: as of ``today``. Of an open wish only what lies between today and its end counts: "what must I do before May".
    """
    sql = "SELECT unit, first, last FROM spoken WHERE first BETWEEN ? AND ? AND last >= ? LIMIT ?"
    rows: dict[int, float] = {}
    for span in wish.spans:
        first, last = _days_asked(span, today)
        if not 0 <= last - first <= _MOST_ASKED:
            continue
        weight = _weight(first, last, today.toordinal())
        for unit, begins, ends in connection.execute(sql, [first - LONGEST, last, first, _MOST_FOUND]):
            share = (min(ends, last) - max(begins, first) + 1) / (ends - begins + 1)
            rows[unit] = max(rows.get(unit, 0.0), weight * share)
    return rows


def _weight(first: int, last: int, today: int) -> float:
    """Days to come can only be spoken of; and in a single day or week less is meant by chance than in a month."""
    if first > today:
        return 1.0
    return 0.8 if last - first < _VAGUE else 0.5


def _days_asked(span: DayRange, today: date) -> tuple[int, int]:
    first, last = span.first.toordinal(), span.last.toordinal()
    if span.open == "before":
        first = today.toordinal()
    elif span.open == "after":
        last = first + LONGEST
    return first, last
