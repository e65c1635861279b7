"""Words for days, in English and Chinese, as ranges of local days: ``yesterday``, ``in March``, 上周三."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from typing import Literal

from assistant.recall.days import chinese_days, chinese_months, english_days, english_months, holidays, written_days
from assistant.recall.days.calendar_days import Asked
from assistant.recall.days.english_words import MONTHS, Reader, longest_first
from assistant.recall.days.markers import AHEAD, BEHIND, PRESENT
from assistant.recall.words.text import fold

MOST_CHARACTERS = 1_000
"""Of a text that is read for days; what stands later in a pasted text is no longer what is asked."""
_Reading = tuple[re.Pattern[str], Reader]


@dataclass(frozen=True, slots=True)
class DayRange:
    """Days from ``first`` to ``last``, both inclusive. words: the place in the folded text that says so.

    open: "before" or "after" when only one end was said, and the other is the end of all days.
    """

    first: date
    last: date
    words: tuple[int, int] = (0, 0)
    open: Literal["", "before", "after"] = ""

    def __contains__(self, day: date) -> bool:
        return self.first <= day <= self.last


def find_ranges(text: str, today: date) -> list[DayRange]:
    """The ranges that a text speaks of, as of ``today``, in their order; longer readings win over those inside them.

    Only the first ``MOST_CHARACTERS`` are read. "From A to B" is one range; "before" and "since" are not looked at.
    """
    folded = fold(text[:MOST_CHARACTERS])
    return ranges_in(folded, how_asked(folded, today)) if may_speak_of_days(folded) else []


def is_name_of_days(text: str) -> bool:
    """Whether a text is nothing but a name that notes may hold as a word: a holiday, a season, a month, a year."""
    return bool(_NAME.fullmatch(fold(text[:MOST_CHARACTERS]).strip()))


def may_speak_of_days(folded: str) -> bool:
    """Whether a folded text has any word of time in it; quick."""
    return any(hint.search(folded) for hint, _ in _groups(folded))


def ranges_in(folded: str, asked: Asked) -> list[DayRange]:
    """As ``find_ranges``, of a folded text and as it is asked; all of it is read."""
    readings = [reading for hint, group in _groups(folded) if hint.search(folded) for reading in group()]
    return _joined(folded, _longest(_candidates(folded, asked, readings)), asked)


def parse_range(text: str, today: date, *, ahead: bool = False) -> DayRange | None:
    """A date or words for one that are the whole of ``text`` (``2026-03-01``, ``last week``, 昨天); None otherwise.

    ahead: days to come are meant where the words leave it open ("Friday").
    """
    folded = fold(text[:MOST_CHARACTERS]).strip()
    if _ISO.fullmatch(folded) and (day := _iso_day(folded)):
        return DayRange(day, day, (0, len(folded)))
    for found in ranges_in(folded, Asked(today, present=ahead, ahead=ahead)):
        rest = folded[: found.words[0]] + folded[found.words[1] :]
        if not re.sub(_AROUND, "", rest):
            return found
    return None


def _iso_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def how_asked(folded: str, today: date) -> Asked:
    """Whether a folded question is of what was, of now, or of what comes."""
    behind = bool(BEHIND.search(folded))
    ahead = not behind and bool(AHEAD.search(folded))
    return Asked(today, present=ahead or (not behind and bool(PRESENT.search(folded))), ahead=ahead)


# --- readings -----------------------------------------------------------------------------------------------------

_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
"""A whole date, of any year: as words a year stands for itself from 1900 on."""
_AROUND = r"\b(?:on|in|since|until|till|the|at|from|between|during|over|as of)\b|[\s,.。的从自在起]|以来|为止|之间"
_TO = re.compile(r"\s*(?:to|until|till|through|-|–|—|~|到|至|直到)\s*(?:the\s+)?")
_AND = re.compile(r"\s*(?:and|和|与)\s*(?:the\s+)?")
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?$")
# Every reading has one of these in it; most texts have none, and cost next to nothing.
_FIGURES = re.compile(r"\d[-/.]\d")
_CHINESE = re.compile(
    r"[年月周]|星期|礼拜|[昨今明前后][天日]|[昨今明前][早晚夜]|刚[才刚]|最近|近[来期几一两二三四五六七八九十半\d]|过去|未来|接下来|今后|往后"
    r"|前[阵段几两些]|不久|这[阵几两些段一]|[\d一二三四五六七八九十]号|季度|天[之以]?内|去年|年前|[寒暑]假|q[1-4]|[春夏秋冬][天季]|天[以之]?[前后]|[去今][春夏秋冬]"
    rf"|{holidays.names(chinese=True)}"
)
_NAME = re.compile(
    rf"(?:the\s+)?(?:{holidays.names(chinese=False)}|{holidays.names(chinese=True)}|{longest_first(MONTHS)}|spring|summer|autumn|fall"
    r"|winter|q[1-4]|[春夏秋冬][天季]|[0-9一二三四五六七八九十]{1,2}月份?|(?:19|20)[0-9]{2}年?)"
)
_ENGLISH = re.compile(
    r"day|tomorrow|hour|minute|fortnight|week|month|year|night|tonight|morning|quarter|\bq[1-4]\b|(?:19|20)\d\d|\d(?:st|nd|rd|th)\b|lately|recently"
    r"|of late|just now|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec|mon|tue|wed|thur?|thurs|fri|sat|sun)"
    rf"|spring|summer|autumn|fall|winter|{holidays.names(chinese=False)}"
)


def _compiled(patterns: Iterable[tuple[str, Reader]]) -> list[_Reading]:
    return [(re.compile(pattern), read) for pattern, read in patterns]


@cache
def _written() -> list[_Reading]:
    return _compiled(written_days.patterns())


@cache
def _english() -> list[_Reading]:
    return _compiled([*english_days.patterns(), *english_months.patterns()])


@cache
def _chinese() -> list[_Reading]:
    return _compiled([*chinese_days.patterns(), *chinese_months.patterns()])


def _groups(folded: str) -> Iterator[tuple[re.Pattern[str], Callable[[], list[_Reading]]]]:
    """Readings, and what one of them needs to stand in a text."""
    yield _FIGURES, _written
    yield _ENGLISH, _english
    if not folded.isascii():
        yield _CHINESE, _chinese


def _candidates(folded: str, asked: Asked, readings: list[_Reading]) -> Iterable[DayRange]:
    for pattern, read in readings:
        for match in pattern.finditer(folded):
            try:
                bounds = read(match, asked)
            except (ValueError, OverflowError):  # the 31st of June, the year 9999
                continue
            if bounds and bounds[0] <= bounds[1]:
                yield DayRange(*bounds, match.span("core" if "core" in pattern.groupindex else 0))


def _longest(candidates: Iterable[DayRange]) -> list[DayRange]:
    """Those that no longer one overlaps, in the order of their words. A long text may hold thousands."""
    found: list[DayRange] = []  # none overlaps another, so only the last one that begins before an end may
    for candidate in sorted(candidates, key=lambda r: (r.words[0] - r.words[1], r.words)):
        at = bisect_left(found, candidate.words[1], key=lambda r: r.words[0])
        if not at or found[at - 1].words[1] <= candidate.words[0]:
            found.insert(at, candidate)
    return found


def _joined(folded: str, found: list[DayRange], asked: Asked) -> list[DayRange]:
    """ "From March to May" as one range."""
    result: list[DayRange] = []
    for later in found:
        if result and _is_joined(folded, result[-1], later):
            both = _from_to(result[-1], later, asked)
            if both:
                result[-1] = both
                continue
        result.append(later)
    return result


def _is_joined(folded: str, first: DayRange, later: DayRange) -> bool:
    between = folded[first.words[1] : later.words[0]]
    if _TO.fullmatch(between):
        return True
    return bool(_AND.fullmatch(between) and _BETWEEN.search(folded[max(0, first.words[0] - 20) : first.words[0]]))


def _from_to(first: DayRange, later: DayRange, asked: Asked) -> DayRange | None:
    """None for a range that ends before it begins, even with the week or the year before or after it."""
    try:
        for days in (0, 7, 365):
            shift = timedelta(days=days)
            start, end = (first.first, later.last + shift) if asked.present else (first.first - shift, later.last)
            if start <= end:
                return replace(first, first=start, last=end, words=(first.words[0], later.words[1]))
    except OverflowError:
        pass
    return None
