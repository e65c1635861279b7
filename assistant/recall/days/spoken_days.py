"""The days that a text speaks of, as noted on some day: "dentist on 12 May", "back on Friday", 下周二交房租."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from assistant.recall.days.calendar_days import Asked
from assistant.recall.days.dates import MOST_CHARACTERS, DayRange, may_speak_of_days, ranges_in
from assistant.recall.days.markers import BEHIND
from assistant.recall.words.text import fold

LONGEST = 31
"""Days: a month is worth knowing, a year is spoken of by half of all that is noted in it."""
VAGUE = 7
"""A longer time that holds the very day it was said on ("this month", "lately") tells nothing more than that day."""
_MOST_OF_UNIT = 8
_LONG_CLAUSE = 500
_CLAUSE = re.compile(r"[,;.!?](?=\s|$)|[，。；！？：\n]")
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
            if not first <= own <= last or 0 < last - first < VAGUE
        }
    return sorted(found, key=lambda bounds: (bounds[1] - bounds[0], bounds))[:_MOST_OF_UNIT]


def _bounds(folded: str, day: date) -> Iterator[tuple[int, int]]:
    for found in _told(folded, day):
        if (found.last - found.first).days < LONGEST:
            yield found.first.toordinal(), found.last.toordinal()


def _told(folded: str, day: date) -> Iterator[DayRange]:
    """What is told in the past tense was before, by its own part of the sentence; all else may be yet to come."""
    was_told = BEHIND.search(folded)
    for found in ranges_in(folded, Asked(day, present=True, told=True)):
        if not (was_told and BEHIND.search(_clause(folded, found.words))):
            yield found
    for found in ranges_in(folded, Asked(day, told=True)) if was_told else ():
        if BEHIND.search(_clause(folded, found.words)):
            yield found


def _clause(folded: str, words: tuple[int, int]) -> str:
    before = _CLAUSE.split(folded[max(0, words[0] - _LONG_CLAUSE) : words[0]])[-1]
    after = _CLAUSE.split(folded[words[1] : words[1] + _LONG_CLAUSE])[0]
    return before + folded[slice(*words)] + after
