"""The one source of "now", so that tests and replays can set it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime

Clock = Callable[[], datetime]
"""Returns the current local time, aware (with its UTC offset)."""
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def system_clock() -> datetime:
    """The machine's local time with its offset."""
    return datetime.now().astimezone()


def fixed_clock(moment: datetime) -> Clock:
    """A clock that stands at ``moment`` (a naive time is taken as local)."""
    aware = moment if moment.tzinfo else moment.astimezone()
    return lambda: aware


def today(clock: Clock) -> date:
    """The local calendar day: 03:53 at UTC+8 belongs to that local day."""
    return clock().date()


def weekday(day: date) -> str:
    """Its English name. Not by strftime, which goes by the system's language as soon as there is a window."""
    return _WEEKDAYS[day.weekday()]


def stamp(clock: Clock) -> str:
    """The time as the files write it: ISO 8601 with offset, whole seconds."""
    return clock().replace(microsecond=0).isoformat()
