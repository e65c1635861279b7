"""What a question says about time: which days, before or after what, of old or of late, and in which chat.

A search goes by the whole question all the same, as people note days in these words, too; what is left without them
(``TimeWish.rest``) says whether anything else is asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from assistant.recall.days.anchors import Anchor, Look, anchored_range, find_anchor
from assistant.recall.days.dates import MOST_CHARACTERS, DayRange, how_asked, is_name_of_days, ranges_in
from assistant.recall.days.markers import BEHIND, CHAT, FIRST, LATEST, PAST, TALK, asks_for_all, is_bare
from assistant.recall.words.text import fold

Order = Literal["", "latest", "first"]


@dataclass(frozen=True, slots=True)
class TimeWish:
    """What a question wants to know of time. All offsets are gone: the words are given as words.

    rest: the question without the words of time and of the chat's name, as the person wrote it; may be empty.
    spans: the days asked for, in the question's order. An open one ("before March", 三月以后) reaches to the beginning
    or the end of all days; it is a soft wish, as what was planned for then may have been said earlier or later.
    anchor: words of the event that the question hangs on ("my trip to Lisbon"), found or not; they stay in ``rest``, as
    what was before a trip was mostly said with it in mind. If it was found, the last span is beside it.
    past: asks how it used to be, so what is superseded may be the answer.
    chat: words of the title of the chat that it was said in; talk: it was said in some chat.
    order: wants the last or the first of several occasions.
    is_name: all of it is a name of days that notes may hold as a word (Christmas, 中秋, March, 1984).
    """

    rest: str
    spans: tuple[DayRange, ...] = ()
    anchor: str = ""
    past: bool = False
    chat: str = ""
    talk: bool = False
    order: Order = ""
    is_name: bool = False

    @property
    def days(self) -> tuple[DayRange, ...]:
        """The spans with both ends: units of these days are asked for."""
        return tuple(span for span in self.spans if not span.open)

    @property
    def only_time(self) -> bool:
        """The question has days and nothing to search for: "yesterday", "what happened last week", 上周做了什么."""
        return bool(self.spans) and not self.is_name and asks_for_all(fold(self.rest))

    @property
    def bare(self) -> bool:
        """The question has days, and no words but those of asking: "where were we last weekend"."""
        return bool(self.spans) and not self.is_name and is_bare(fold(self.rest))


def read_time(text: str, today: date, look: Look | None = None) -> TimeWish:
    """What ``text`` says about time, as of ``today``. look: finds events; None: "before my trip" gives no days.

    Never fails, and never looks when no word of the text asks for it.
    """
    folded, places = _folded(text[:MOST_CHARACTERS])
    spans, cuts = [], []
    for found in ranges_in(folded, how_asked(folded, today)):
        span, words = _opened(folded, found)
        spans.append(span)
        cuts.append(words)
    for words in cuts:
        folded = _blanked(folded, words)
    chat = CHAT.search(folded)
    if chat:
        cuts.append(chat.span())
        folded = _blanked(folded, chat.span())
    anchor = find_anchor(folded)
    event = anchored_range(anchor, look) if anchor and look else None
    if anchor and event:
        spans.append(event)
        if asks_for_all(_blanked(folded, anchor.words)):
            cuts.append(anchor.words)
    return TimeWish(
        rest=_without(text, [(places[first], places[last]) for first, last in cuts]),
        spans=tuple(spans),
        anchor=anchor.event if anchor else "",
        past=bool(PAST.search(folded)) or _was_before(anchor, folded),
        chat=next(part for part in chat.groups() if part).strip() if chat else "",
        talk=bool(TALK.search(folded)),
        order="latest" if LATEST.search(folded) else "first" if FIRST.search(folded) else "",
        is_name=bool(spans) and is_name_of_days(text),
    )


# --- the words ----------------------------------------------------------------------------------------------------


def _folded(text: str) -> tuple[str, list[int]]:
    """The text in the form that words are read in, and for each of its places (and its end) the one in the text."""
    if text.isascii():
        return text.lower(), list(range(len(text) + 1))
    parts = [fold(char) for char in text]
    places = [n for n, part in enumerate(parts) for _ in part]
    return "".join(parts), [*places, len(text)]


def _blanked(text: str, place: tuple[int, int]) -> str:
    return f"{text[: place[0]]}{' ' * (place[1] - place[0])}{text[place[1] :]}"


def _without(text: str, cuts: list[tuple[int, int]]) -> str:
    for first, last in sorted(cuts, reverse=True):
        text = f"{text[:first]} {text[last:]}"
    return " ".join(text.split()).strip(" ,，.。?？!！;；:：")


def _was_before(anchor: Anchor | None, folded: str) -> bool:
    """Where did we live before we moved."""
    return anchor is not None and anchor.side in ("before", "until") and bool(BEHIND.search(folded))


_BEFORE = re.compile(
    r"\b(?P<strict>before|prior to|earlier than|until|till|up to|by|no later than)\W+(?:the\W+)?$"
    r"|(?:直到|截至|截止到?)$"
)
_AFTER = re.compile(r"\b(?P<strict>after|later than|since|from|starting)\W+(?:the\W+)?$")
_STRICT = frozenset(("before", "prior to", "earlier than", "after", "later than", "之前", "以前", "前", "之后", "后"))
_ZH_LEAD = re.compile(r"(?:直到|截至|截止到?|自从?|从|[在到])$")
_ONWARDS = re.compile(r"\W*(?:on(?:wards?)?\b(?!\s+\w)|onwards?\b|(?:until|till|to) (?:now|today)\b)")
_ZH_BEFORE = re.compile(r"的?(?P<strict>之前|以前|前(?!后)|为止|止)")
_ZH_AFTER = re.compile(r"的?(?P<strict>之后|以后|后|以来|起|开始)(?!面)")
_LEAD = re.compile(r"(?:\b(?:in|on|during|over|within|for|of|at|from|around|between)\s+(?:the\s+)?|[在从自])$")
_TAIL = re.compile(r"'s\b|前后|之间|的|里|内|期间|左右|这天|那天")


def _opened(folded: str, found: DayRange) -> tuple[DayRange, tuple[int, int]]:
    """The range as the words beside it have it ("before", 以后), and the place of all these words."""
    start, end = found.words
    before, after = folded[max(start - 20, 0) : start], folded[end : end + 20]
    sides = (_BEFORE.search(before), _AFTER.search(before), _ZH_BEFORE.match(after), _ZH_AFTER.match(after))
    onwards = _ONWARDS.match(after)
    early, late = sides[0] or sides[2], sides[1] or sides[3]
    if late and late["strict"] in ("from", "starting") and not onwards:
        late = None
    if early or late:
        word = early or late
        assert word is not None
        lead = word if word in sides[:2] else _ZH_LEAD.search(before)
        first = start - (len(before) - lead.start()) if lead else start
        last = end + word.end() if word in sides[2:] else end + (onwards.end() if onwards else 0)
        inclusive = word["strict"] not in _STRICT
        return _half(found, bool(early), inclusive), (first, last)
    lead, tail = _LEAD.search(before), _TAIL.match(after)
    return found, (start - (len(before) - lead.start()) if lead else start, end + (tail.end() if tail else 0))


def _half(found: DayRange, before: bool, inclusive: bool) -> DayRange:
    """Up to the range or from it on. "Since March" has March in it, "before March" and "after March" have not."""
    one = timedelta(days=0 if inclusive else 1)
    if before:
        last = found.last if inclusive else max(found.first, date.min + one) - one
        return DayRange(date.min, last, found.words, "before")
    first = found.first if inclusive else min(found.last, date.max - one) + one
    return DayRange(first, date.max, found.words, "after")
