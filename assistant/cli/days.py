"""Days on the command line: a date, or words for one in English or Chinese."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import date

from assistant.core.errors import AssistantError

FORMS = (
    "Use a date (2026-03-14, 14 March, 2026-03) or words: yesterday, last month, a few days ago, 昨天, 上周三, 三月."
)


def add_range(parser: ArgumentParser) -> None:
    """``--since`` and ``--until``."""
    parser.add_argument("--since", metavar="D", help="a date, or words: yesterday, 昨天, last month, a few days ago")
    parser.add_argument("--until", metavar="D", help="the last day, in the same way")


def day_range(since: str | None, until: str | None, today: date) -> tuple[date | None, date | None]:
    """The first and the last day of a range, None for an end that is not given. Raises AssistantError.

    Of words for several days ``since`` takes the first and ``until`` the last.
    """
    first, last = (_days(words, today) if words else None for words in (since, until))
    begin, end = first[0] if first else None, last[1] if last else None
    if begin and end and begin > end:
        raise AssistantError("recall.range", f"The range is empty: {begin} is after {end}.", "Swap the two dates.")
    return begin, end


def last_day(words: str, today: date) -> date:
    """The last day to come that the words mean: something holds until then. Raises AssistantError("memory.date")."""
    return _days(words, today, "memory.date", ahead=True)[1]


def _days(words: str, today: date, code: str = "recall.date", *, ahead: bool = False) -> tuple[date, date]:
    from assistant.recall.days.dates import parse_range

    found = parse_range(words, today, ahead=ahead)
    if found is None:
        raise AssistantError(code, f"{words!r} is no day.", FORMS)
    return found.first, found.last
