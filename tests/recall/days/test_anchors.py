"""Times that hang on an event: it is found among what is known, and the days beside it are asked for."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.values import RecallQuery
from assistant.recall.days.anchors import DatedText, anchored_range, days_of_event, find_anchor
from assistant.recall.days.moments import read_time
from assistant.recall.search import Recall
from tests.recall.helpers import SmallWorkspace

MONDAY = date(2026, 11, 30)
LISBON = DatedText(date(2026, 3, 16), "Lisbon: TP671 on 16 April, back TP674 on 21 April")


@pytest.mark.parametrize(
    ("text", "event", "side", "length"),
    [
        ("what did i promise tom before my trip to lisbon?", "my trip to lisbon", "before", 0),
        ("before the japan trip, which delivery was i going to pause?", "the japan trip", "before", 0),
        ("after the surgery what could i eat", "the surgery", "after", 0),
        ("who did i meet during the conference", "the conference", "during", 0),
        ("what did we eat when we were in lisbon", "we were in lisbon", "during", 0),
        ("since i started the new job", "i started the new job", "since", 0),
        ("the week before the exam", "the exam", "before", 7),
        ("the day after the wedding", "the wedding", "after", 1),
        ("去里斯本之前订了什么", "去里斯本", "before", 0),
        ("我回苏州之前要办什么", "回苏州", "before", 0),
        ("手术以后能吃什么", "手术", "after", 0),
        ("搬家那周发生了什么", "搬家", "of", 7),
    ],
)
def test_an_event_is_named(text: str, event: str, side: str, length: int) -> None:
    found = find_anchor(text)
    assert found and (found.event, found.side, found.length) == (event, side, length)


@pytest.mark.parametrize(
    "text", ["when did we move", "以后再说", "前面的路", "", "before", "会议时间", "what is after ?"]
)
def test_no_event_is_named(text: str) -> None:
    assert find_anchor(text) is None


def test_an_event_is_when_it_was_planned_for_not_when_that_was_said() -> None:
    assert days_of_event([LISBON]) == (date(2026, 4, 16), date(2026, 4, 21))
    told = DatedText(date(2026, 4, 18), "we are in Lisbon at last")
    assert days_of_event([told, LISBON]) == (date(2026, 4, 16), date(2026, 4, 21))
    assert days_of_event([told]) == (date(2026, 4, 18), date(2026, 4, 18))
    assert days_of_event([]) is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("before my trip to Lisbon", "", "2026-04-15"),
        ("until my trip to Lisbon", "", "2026-04-16"),
        ("after my trip to Lisbon", "2026-04-22", ""),
        ("since my trip to Lisbon", "2026-04-16", ""),
        ("during my trip to Lisbon", "2026-04-16", "2026-04-21"),
        ("the week before my trip to Lisbon", "2026-04-09", "2026-04-15"),
        ("the week of my trip to Lisbon", "2026-04-13", "2026-04-26"),
        ("the month after my trip to Lisbon", "2026-04-22", "2026-05-22"),
        ("去里斯本之前", "", "2026-04-15"),
        ("去里斯本那个月", "2026-04-01", "2026-04-30"),
    ],
)
def test_the_days_beside_an_event(text: str, first: str, last: str) -> None:
    (span,) = read_time(text, MONDAY, lambda event: [LISBON]).spans
    assert (span.first if first else date.min).isoformat() == (first or "0001-01-01")
    assert span.first.isoformat() == (first or "0001-01-01") and span.last.isoformat() == (last or "9999-12-31")


def test_an_event_that_nobody_knows_gives_no_days_and_its_words_are_searched_for() -> None:
    wish = read_time("What did I promise Tom before my trip to Lisbon?", MONDAY, lambda event: [])
    assert wish.spans == () and wish.anchor == "my trip to lisbon" and "Lisbon" in wish.rest


def test_nothing_is_looked_for_without_need() -> None:
    def look(event: str) -> list[DatedText]:
        raise AssertionError(event)

    assert read_time("what did I pay before March", MONDAY, look).spans
    assert read_time("三月以后的账单", MONDAY, look).spans


def asked(recall: Recall, text: str) -> list[str]:
    now = datetime.fromisoformat("2026-11-30T12:00:00+01:00")
    return [hit.text for hit in recall.search(RecallQuery(text, now=now)).hits]


def test_what_happened_beside_an_event_is_listed(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember(*(f"2026-01-{day:02}|you|page {day} of the diary" for day in range(1, 15)))
    workspace.remember(
        "2026-03-16|you|flies to Lisbon on 16 April, back on 21 April",
        "2026-04-12|you|bought a rain coat",
        "2026-04-18|you|ate in a cellar full of barrels",
        "2026-04-23|you|the cat is fat again",
    )
    assert asked(by_words, "what happened the week before my trip to Lisbon?") == ["bought a rain coat"]
    assert asked(by_words, "what did I do during the trip to Lisbon?") == [
        "ate in a cellar full of barrels",
        "flies to Lisbon on 16 April, back on 21 April",
    ]
    assert asked(by_words, "what happened the day after the trip to Lisbon?") == []


@settings(max_examples=200, deadline=None)
@given(
    text=st.text(),
    day=st.dates(),
    side=st.sampled_from(["before", "after", "since", "the year after", "during", "以后"]),
)
def test_any_event_on_any_day(text: str, day: date, side: str) -> None:
    anchor = find_anchor(f"{side} {text} {side}")
    found = anchored_range(anchor, lambda event: [DatedText(day, event)]) if anchor else None
    assert found is None or found.first <= found.last
