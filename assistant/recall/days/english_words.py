"""The vocabulary of English words for days: pieces of patterns, and what they say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from assistant.recall.days.calendar_days import Asked, Bounds

Reader = Callable[[re.Match[str], Asked], Bounds | None]
"""Reads a match; None, ValueError and OverflowError mean that it says no day (31 June)."""

MONTH_NAMES = "january february march april may june july august september october november december".split()
DAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday".split()
"""Not those of Python's calendar, which speaks the person's language as soon as Qt has set the locale."""
MONTHS = {name: n for n, full in enumerate(MONTH_NAMES, 1) for name in (full, full[:3])} | {"sept": 9}
DAYS = {name: n for n, full in enumerate(DAY_NAMES) for name in (full, full[:3])}
DAYS |= {"tues": 1, "thur": 3, "thurs": 3}
OFFSETS = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "the": 0, "next": 1, "coming": 1}
_PARTS = {"early": "early", "beginning": "early", "start": "early", "mid": "mid", "middle": "mid"}
_PARTS |= {"late": "late", "end": "late"}


def longest_first(words: Iterable[str]) -> str:
    """An alternation of words in which none hides a longer one."""
    return "|".join(sorted(words, key=len, reverse=True))


MONTH = rf"(?P<month>{longest_first(MONTHS)})\b\.?"
DAY = f"(?P<day>{longest_first(DAYS)})"
FULL_DAY = f"(?P<day>{'|'.join(DAY_NAMES)})"
HOURS = r"(?:\s+(?:early\s+|late\s+)?(?:morning|afternoon|evening|night|noon)\b)?"
DOM = r"(?P<dom>[0-3]?[0-9])(?:st|nd|rd|th)?"
DASH = r"(?:-|–|to|and|until|till|through)"
A_YEAR = r"(?P<year>(?:19|20)[0-9]{2}|(?:last|this|next)\s+year)\b"
YEAR = rf"(?:(?:,?\s+|\s+of\s+|\s+in\s+){A_YEAR})?"
PART = r"(?P<part>early|mid|late|(?:the\s+)?(?:beginning|start|middle|end)\s+of)[\s-]+"
UNIT = "(?P<unit>day|night|week|month|year)"
BY = "in|on|during|since|until|till|before|after|of|from|by|to|and|or|over|for|around|between|through|prior to"


def said(match: re.Match[str], name: str) -> str:
    """The words of a group; "" where there are none, or no such group."""
    return match.groupdict().get(name) or ""


def year_said(match: re.Match[str], asked: Asked) -> int | None:
    """The year in digits or words ("last year"); None where none is said."""
    words = said(match, "year")
    if not words:
        return None
    return int(words) if words.isdecimal() else asked.today.year + OFFSETS[words.split()[0]]


def part_said(match: re.Match[str]) -> str:
    """As ``part_of`` takes it."""
    words = said(match, "part").split()
    return next((_PARTS[word] for word in words if word in _PARTS), "")


def unit_said(match: re.Match[str]) -> str:
    """Nights are counted as days are."""
    return str(match["unit"]).replace("night", "day")


def offset_said(match: re.Match[str]) -> int:
    return OFFSETS[match["which"]]
