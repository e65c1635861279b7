"""Words for days, read as a person means them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.recall.dates import find_ranges, parse_range

MONDAY = date(2026, 11, 30)


def span(text: str, today: date = MONDAY) -> tuple[str, str] | None:
    found = find_ranges(text, today)
    return (found[0].first.isoformat()[2:], found[0].last.isoformat()[2:]) if found else None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("yesterday", "26-11-29", "26-11-29"),
        ("昨天 Joost 买了什么", "26-11-29", "26-11-29"),
        ("前天", "26-11-28", "26-11-28"),
        ("大前天", "26-11-27", "26-11-27"),
        ("明天早上有什么安排", "26-12-01", "26-12-01"),
        ("last month", "26-10-01", "26-10-31"),
        ("上个月的电表读数", "26-10-01", "26-10-31"),
        ("later this month", "26-11-01", "26-11-30"),
        ("next week", "26-12-07", "26-12-13"),
        ("上周三", "26-11-25", "26-11-25"),
        ("上上周", "26-11-16", "26-11-22"),
        ("上周末", "26-11-28", "26-11-29"),
        ("周五", "26-11-27", "26-11-27"),
        ("last Friday", "26-11-27", "26-11-27"),
        ("on Monday", "26-11-30", "26-11-30"),
        ("the weekend before last", "26-11-21", "26-11-22"),
        ("in March", "26-03-01", "26-03-31"),
        ("in December", "25-12-01", "25-12-31"),
        ("in early March", "26-03-01", "26-03-12"),
        ("in mid-October 2025", "25-10-08", "25-10-22"),
        ("May 5, 2026", "26-05-05", "26-05-05"),
        ("on the 1st of September", "26-09-01", "26-09-01"),
        ("今年二月", "26-02-01", "26-02-28"),
        ("去年12月3号", "25-12-03", "25-12-03"),
        ("二〇二五年三月五日", "25-03-05", "25-03-05"),
        ("５月", "26-05-01", "26-05-31"),
        ("三天前", "26-11-27", "26-11-27"),
        ("two weeks ago", "26-11-16", "26-11-22"),
        ("两个月前", "26-09-01", "26-09-30"),
        ("in 2025", "25-01-01", "25-12-31"),
        ("明年", "27-01-01", "27-12-31"),
        ("2026-03-01", "26-03-01", "26-03-01"),
        ("2026/3", "26-03-01", "26-03-31"),
    ],
)
def test_words_for_days(text: str, first: str, last: str) -> None:
    assert span(text) == (first, last)


@pytest.mark.parametrize(
    "text", ["", "31 June", "2026-13-45", "who may come", "march on", "the second one", "9月31日", "PO 2026-0388"]
)
def test_what_is_no_day(text: str) -> None:
    assert find_ranges(text, MONDAY) == []


def test_months_look_back_over_the_new_year() -> None:
    assert span("in November", date(2026, 1, 5)) == ("25-11-01", "25-11-30")
    assert span("last month", date(2026, 1, 5)) == ("25-12-01", "25-12-31")


def test_only_a_whole_text_is_an_argument() -> None:
    found = parse_range("last month", MONDAY)
    assert found and date(2026, 10, 9) in found and date(2026, 11, 1) not in found
    assert parse_range("the rent of last month", MONDAY) is None
    assert parse_range("soon", MONDAY) is None


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(st.sampled_from(list("0123456789年月日号天周上下个前去今明-/. ,一二十廿〇aindmarch")), max_size=14),
    day=st.dates(),
)
def test_any_text_on_any_day_is_read_without_error(text: str, day: date) -> None:
    assert all(found.first <= found.last for found in find_ranges(text, day))
