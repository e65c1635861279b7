"""Calendar days as people say them: "3 May", and the year where it is not this one."""

from __future__ import annotations

from datetime import date

from assistant.ui.i18n import tr


def day_words(day: date, today: date) -> str:
    """A day, without its year in the year of ``today``."""
    month = _months()[day.month - 1]
    if day.year == today.year:
        return tr("{day} {month}", day=day.day, month=month)
    return tr("{day} {month} {year}", day=day.day, month=month, year=day.year)


def _months() -> tuple[str, ...]:
    return (
        *(tr("January"), tr("February"), tr("March"), tr("April"), tr("May"), tr("June")),
        *(tr("July"), tr("August"), tr("September"), tr("October"), tr("November"), tr("December")),
    )
