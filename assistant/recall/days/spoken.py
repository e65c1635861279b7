"""Units by the days that they speak of beside the one they are of: "dentist on 12 May", said on 3 May."""

from __future__ import annotations

import sqlite3
from datetime import date

from assistant.recall.days.dates import DayRange
from assistant.recall.days.moments import TimeWish
from assistant.recall.days.spoken_days import LONGEST, VAGUE, spoken_days

_MOST_ASKED = 100
"""Days of a question's range: a longer one is full of units that were said in it."""
_MOST_FOUND = 2_000


def store_spoken(connection: sqlite3.Connection, unit: int, text: str, day: date | None) -> None:
    """Keep the days that a unit speaks of, in the transaction of the caller; they go with it."""
    for first, last in spoken_days(text, day):
        connection.execute("INSERT INTO spoken(unit, first, last) VALUES (?, ?, ?)", [unit, first, last])


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
    return 0.8 if last - first < VAGUE else 0.5


def _days_asked(span: DayRange, today: date) -> tuple[int, int]:
    first, last = span.first.toordinal(), span.last.toordinal()
    if span.open == "before":
        first = today.toordinal()
    elif span.open == "after":
        last = first + LONGEST
    return first, last
