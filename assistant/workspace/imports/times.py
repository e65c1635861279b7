"""Times as other programs wrote them -> local ISO with offset, or ""."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime

_MILLISECONDS = 1e11  # seconds up to the year 5138; larger numbers count thousandths
_DAY = re.compile(r"(?<!\d)(\d{4})[-/_.]?(\d{2})[-/_.]?(\d{2})(?!\d)")


def local_iso(value: object) -> str:
    """Unix time (seconds or milliseconds), or ISO text (without an offset: local). "" for what is no time."""
    moment = _moment(value)
    try:
        return moment.astimezone().replace(microsecond=0).isoformat() if moment else ""
    except (ValueError, OverflowError, OSError):
        return ""


def day_of(value: object) -> date | None:
    """The local calendar day of such a time."""
    iso = local_iso(value)
    return date.fromisoformat(iso[:10]) if iso else None


def day_in(text: str) -> date | None:
    """A day that a file's or a folder's name holds: 2026-02-15, 20260215, 2026/02/15."""
    for found in _DAY.finditer(text):
        if day := make_day(*found.groups()):
            return day
    return None


def make_day(year: str, month: str, day: str) -> date | None:
    """The day, or None where there is no such day."""
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _moment(value: object) -> datetime | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _from_number(value)
    if not isinstance(value, str) or not value[:1].isdigit() or len(value) > 40:
        return None
    try:
        return _in_range(datetime.fromisoformat(value.strip()))
    except ValueError:
        return None


def _from_number(value: float) -> datetime | None:
    try:
        seconds = float(value)
        if not math.isfinite(seconds) or seconds <= 0:
            return None
        return _in_range(datetime.fromtimestamp(seconds / 1000 if seconds > _MILLISECONDS else seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def _in_range(moment: datetime) -> datetime | None:
    """An offset must not lead out of the calendar; before 1971 is a zero of some program."""
    return moment if 1971 <= moment.year <= 9000 else None
