"""Days of the calendar as ranges: weeks, months, seasons, quarters, and what "three weeks ago" may well mean.

A range is a pair of days, both inclusive. Weeks begin on Monday; seasons are whole months of the northern half of the
earth. Whatever lies outside the years 1 to 9999 raises ValueError or OverflowError.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

Bounds = tuple[date, date]

FUZZY_DAYS = {"day": (2, 7), "week": (10, 35), "month": (50, 190), "year": (550, 2200)}
"""How many days ago "a few days, weeks, months, years ago" is, at least and at most. Wide: it is a wish, no filter."""
LATELY = 30
"""Days that "recently" speaks of."""


@dataclass(frozen=True, slots=True)
class Asked:
    """When and how a question is asked. today: the asker's local day.

    present: it is asked of now or what comes ("what do I have on Friday"); ahead: clearly of what comes ("what will I
    do in March"). A day without a year, or a day of the week, is the latest one unless the question says otherwise.
    told: nothing is asked, it is something that a person noted on that day: without a year a day near it is meant, and
    rather one to come if it tells of now or what comes (``present``).
    """

    today: date
    present: bool = False
    ahead: bool = False
    told: bool = False

    def day(self, offset: int) -> Bounds:
        """The one day so many days after today."""
        day = self.today + timedelta(days=offset)
        return day, day

    def days(self, first: int, last: int) -> Bounds:
        """From so many days after today to so many."""
        return self.today + timedelta(days=first), self.today + timedelta(days=last)

    def week(self, offset: int) -> Bounds:
        monday = self.today - timedelta(days=self.today.weekday()) + timedelta(weeks=offset)
        return monday, monday + timedelta(days=6)

    def weekend(self, offset: int) -> Bounds:
        monday, sunday = self.week(offset)
        return monday + timedelta(days=5), sunday

    def month(self, offset: int) -> Bounds:
        index = self.today.year * 12 + self.today.month - 1 + offset
        return whole_month(index // 12, index % 12 + 1)

    def quarter(self, offset: int) -> Bounds:
        index = self.today.year * 4 + (self.today.month - 1) // 3 + offset
        return whole_quarter(index // 4, index % 4 + 1)

    def year(self, offset: int) -> Bounds:
        return whole_year(self.today.year + offset)

    # --- what may be said with a year or without one ---

    def year_of(self, month: int) -> int:
        """The year of a month without one: memory looks back."""
        if self.told:
            return self.year_of_day(month, 15)
        if self.ahead:
            return self.today.year + (month < self.today.month)
        return self.today.year - (month > self.today.month)

    def year_of_day(self, month: int, day: int) -> int:
        if self.told:
            over = self.today.month - month + (self.today.day - day) / 31
            return self.today.year + (over > self._months_back) - (over < self._months_back - 12)
        if self.ahead:
            return self.today.year + ((month, day) < (self.today.month, self.today.day))
        return self.year_of(month)

    def date_of(self, month: int, day: int, year: int | None = None) -> Bounds:
        """That day; year None: of the year that is meant."""
        return one_day(date(self.year_of_day(month, day) if year is None else year, month, day))

    def month_of(self, month: int, year: int | None = None) -> Bounds:
        return whole_month(self.year_of(month) if year is None else year, month)

    def quarter_of(self, number: int, year: int | None = None) -> Bounds:
        return whole_quarter(self.year_of(3 * number - 2) if year is None else year, number)

    def week_of(self, number: int, year: int | None = None) -> Bounds:
        """By ISO 8601; year None: the latest that has begun, unless asked of what comes."""
        if year is not None:
            return iso_week(year, number)
        found = iso_week(self.today.year, number)
        return found if self.present or found[0] <= self.today else iso_week(self.today.year - 1, number)

    # --- days of the week and of the month, seasons ---

    def weekday(self, wanted: int) -> Bounds:
        """The latest such day, today too; the next one when asked of now or later. wanted: 0 for Monday."""
        if self.present:
            return self.day((wanted - self.today.weekday()) % 7)
        return self.day(-((self.today.weekday() - wanted) % 7))

    def weekday_of(self, week: int, wanted: int) -> Bounds:
        """That day of the week so many weeks after this one."""
        return one_day(self.week(week)[0] + timedelta(days=wanted))

    def near_weekend(self) -> Bounds:
        """The latest one that has begun; this week's when asked of now or later."""
        return self.weekend(0 if self.present or self.today.weekday() >= 5 else -1)

    def of_month(self, number: int) -> Bounds:
        """The latest day of that number, or the next one when asked of now or later; months without it are skipped."""
        step = 1 if self.present else -1
        for offset in range(0, 3 * step, step):
            first, last = self.month(offset)
            if number <= last.day and (first.replace(day=number) - self.today).days * step >= 0:
                return one_day(first.replace(day=number))
        raise ValueError(number)

    def season(self, name: str) -> Bounds:
        """The latest season of that name that has begun; the next one when clearly asked of what comes."""
        found = whole_season(self.today.year - 2, name)
        for year in range(self.today.year - 1, self.today.year + 2):
            if self.ahead and found[1] >= self.today:
                break
            following = whole_season(year, name)
            if not self.ahead and following[0] > self.today:
                break
            found = following
        return found

    def over_season(self, name: str) -> Bounds:
        """The latest season of that name that is over: "last summer"."""
        years = (self.today.year, self.today.year - 1, self.today.year - 2)
        return next(found for found in (whole_season(year, name) for year in years) if found[1] < self.today)

    def ago(self, count: int, unit: str) -> Bounds:
        """So many days, weeks, months or years back: the whole week or month, as nobody counts the days."""
        if unit == "day":
            return self.day(-count)
        if unit == "week":
            return self.week(-count)
        if unit == "month":
            return self.month(-count)
        return (self.month(-15)[0], self.month(-9)[1]) if count == 1 else self.year(-count)

    def fuzzy_ago(self, unit: str) -> Bounds:
        """A few days, weeks, months, years back."""
        least, most = FUZZY_DAYS[unit]
        return self.days(-most, -least)

    def past(self, count: int, unit: str) -> Bounds:
        """The so many days, weeks, months or years that end today."""
        return self._shifted(-count, unit), self.today

    def coming(self, count: int, unit: str) -> Bounds:
        """The so many days, weeks, months or years that begin today."""
        return self.today, self._shifted(count, unit)

    @property
    def _months_back(self) -> int:
        """How long ago may be what was noted without a year."""
        return 3 if self.present else 6

    def nearest(self, dates: Iterable[Bounds]) -> Bounds:
        """Of the same days in several years those that were meant by what was noted."""
        ahead = (12 - self._months_back) / self._months_back

        def apart(bounds: Bounds) -> float:
            days = (bounds[0] - self.today).days
            return days if days >= 0 else -days * ahead

        return min(dates, key=apart)

    def _shifted(self, count: int, unit: str) -> date:
        if unit in ("day", "week"):
            return self.today + timedelta(days=count * (7 if unit == "week" else 1))
        first, last = self.month(count * (12 if unit == "year" else 1))
        return first.replace(day=min(self.today.day, last.day))


def one_day(day: date) -> Bounds:
    return day, day


def whole_month(year: int, month: int) -> Bounds:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def whole_quarter(year: int, number: int) -> Bounds:
    return date(year, 3 * number - 2, 1), whole_month(year, 3 * number)[1]


def whole_year(year: int) -> Bounds:
    return date(year, 1, 1), date(year, 12, 31)


def half_year(year: int, half: int) -> Bounds:
    return (date(year, 1, 1), date(year, 6, 30)) if half == 1 else (date(year, 7, 1), date(year, 12, 31))


def whole_season(year: int, name: str) -> Bounds:
    """Spring from March, summer from June, autumn from September; winter from December into the next year."""
    if name == "winter":
        return date(year, 12, 1), whole_month(year + 1, 2)[1]
    first = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9}[name]
    return date(year, first, 1), whole_month(year, first + 2)[1]


def iso_week(year: int, number: int) -> Bounds:
    monday = date.fromisocalendar(year, number, 1)
    return monday, monday + timedelta(days=6)


def week_of_month(first: date, last: date, number: int) -> Bounds:
    """The first seven days, the second seven, ...; -1: the last seven."""
    if number < 0:
        return last - timedelta(days=6), last
    start = first + timedelta(days=7 * (number - 1))
    return start, min(start + timedelta(days=6), last)


def part_of(bounds: Bounds, part: str) -> Bounds:
    """ "early", "mid" or "late" in a month or a longer time, generously: the parts overlap. "": all of it."""
    first, last = bounds
    length = (last - first).days + 1
    if part == "early":
        return first, first + timedelta(days=length * 2 // 5 - 1 if length > 3 else 0)
    if part == "mid":
        return first + timedelta(days=length // 4), first + timedelta(days=length * 7 // 10)
    if part == "late":
        return last - timedelta(days=length * 2 // 5 if length > 3 else 0), last
    return bounds
