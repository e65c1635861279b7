"""Times as people say them."""

from __future__ import annotations

from datetime import datetime

from assistant.ui.i18n import tr


def parse_time(text: str) -> datetime | None:
    """An ISO time as the files write it, in local time; None where it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone()


def exact_time(text: str) -> str:
    """Such a time to the minute; what is none stays as it is."""
    moment = parse_time(text)
    return moment.strftime("%Y-%m-%d %H:%M") if moment else text


def relative_time(moment: datetime | None, now: datetime) -> str:
    """How long ago, in words; a date once it is a week ago."""
    if moment is None:
        return ""
    seconds = (now - moment).total_seconds()
    days = (now.date() - moment.date()).days
    if seconds < 60:
        return tr("just now")
    if seconds < 3600:
        return tr("{n} min ago", n=int(seconds // 60))
    if days == 0:
        return moment.strftime("%H:%M")
    if days == 1:
        return tr("yesterday")
    if days < 7:
        return tr("{n} days ago", n=days)
    return moment.strftime("%Y-%m-%d")


def day_group(moment: datetime | None, now: datetime) -> str:
    """The heading a time stands under in a list."""
    days = (now.date() - moment.date()).days if moment else 10_000
    if days <= 0:
        return tr("Today")
    if days == 1:
        return tr("Yesterday")
    if days < 7:
        return tr("This week")
    if days < 31:
        return tr("This month")
    return tr("Older")
