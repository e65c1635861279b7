"""Words for days, in English and Chinese, as ranges of local days: ``yesterday``, ``in March``, 上周三."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from typing import Literal

from assistant.recall import chinese_days, chinese_months, english_days, english_months, written_days
from assistant.recall.calendar_days import Asked
from assistant.recall.english_words import Reader
from assistant.recall.markers import AHEAD, BEHIND, PRESENT
from assistant.recall.text import fold

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
    asked = how_asked(folded, today)
    readings = [*_if(_FIGURES, folded, _written), *_if(_ENGLISH, folded, _english), *_if(_CHINESE, folded, _chinese)]
    found: list[DayRange] = []
    for candidate in sorted(_candidates(folded, asked, readings), key=lambda r: (r.words[0] - r.words[1], r.words)):
        if not any(r.words[0] < candidate.words[1] and candidate.words[0] < r.words[1] for r in found):
            found.append(candidate)
    return _joined(folded, sorted(found, key=lambda r: r.words), asked)


def parse_range(text: str, today: date) -> DayRange | None:
    """A date or words for one that are the whole of ``text`` (``2026-03-01``, ``last week``, 昨天); None otherwise."""
    folded = fold(text).strip()
    for found in find_ranges(folded, today):
        rest = folded[: found.words[0]] + folded[found.words[1] :]
        if not re.sub(_AROUND, "", rest):
            return found
    return None


def how_asked(folded: str, today: date) -> Asked:
    """Whether a folded question is of what was, of now, or of what comes."""
    behind = bool(BEHIND.search(folded))
    ahead = not behind and bool(AHEAD.search(folded))
    return Asked(today, present=ahead or (not behind and bool(PRESENT.search(folded))), ahead=ahead)


# --- readings -----------------------------------------------------------------------------------------------------

_AROUND = r"\b(?:on|in|since|until|till|the|at|from|between|during|over|as of)\b|[\s,.。的从自在起]|以来|为止|之间"
_TO = re.compile(r"\s*(?:to|until|till|through|-|–|—|~|到|至|直到)\s*(?:the\s+)?")
_AND = re.compile(r"\s*(?:and|和|与)\s*(?:the\s+)?")
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?$")
_FIGURES = re.compile(r"\d")
_CHINESE = re.compile(
    "[年月日号天周星礼旬季春夏秋冬昨今明前后过最近刚节末双圣诞平跨除元清端七中重五国劳六三教十正万情复感黑]"
)
# Every English reading has one of these in it; most questions have none, and cost next to nothing.
_ENGLISH = re.compile(
    r"day|tomorrow|week|month|year|night|tonight|morning|quarter|\bq[1-4]\b|(?:19|20)\d\d|\d(?:st|nd|rd|th)\b|lately|recently"
    r"|of late|just now|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec|mon|tue|wed|thur?|thurs|fri|sat|sun)"
    r"|spring|summer|autumn|fall|winter|christmas|xmas|halloween|valentine|easter|festival|qingming|qixi|thanksgiving"
)


def _if(hint: re.Pattern[str], folded: str, readings: Callable[[], list[_Reading]]) -> list[_Reading]:
    return readings() if hint.search(folded) else []


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


def _candidates(folded: str, asked: Asked, readings: list[_Reading]) -> Iterable[DayRange]:
    for pattern, read in readings:
        for match in pattern.finditer(folded):
            try:
                bounds = read(match, asked)
            except (ValueError, OverflowError):  # the 31st of June, the year 9999
                continue
            if bounds and bounds[0] <= bounds[1]:
                yield DayRange(*bounds, match.span("core" if "core" in pattern.groupindex else 0))


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
