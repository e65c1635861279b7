"""Words for days, read as a person means them."""

from __future__ import annotations

import calendar
import importlib.util
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.recall.days.dates import MOST_CHARACTERS, find_ranges, parse_range
from assistant.recall.days.holidays import easter_sunday
from tests.recall.days.phrases import CHINESE, ENGLISH, phrases

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
        ("later this month", "26-11-30", "26-11-30"),
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


@pytest.mark.parametrize(("text", "days"), [*phrases(ENGLISH), *phrases(CHINESE)])
def test_what_people_say(text: str, days: tuple[str, str] | None) -> None:
    assert [(r.first.isoformat()[2:], r.last.isoformat()[2:]) for r in find_ranges(text, MONDAY)] == [days] * bool(days)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Who was it, three days ago, with the bike?", "three days ago"),
        ("the hotel we took in early March by the sea", "early march"),
        ("what did Ann say over the last couple of weeks about it", "the last couple of weeks"),
        ("上个月5号下午谁来修的自行车", "上个月5号下午"),
        ("妈妈去年冬天住哪里", "去年冬天"),
    ],
)
def test_the_place_of_the_words_is_known(text: str, words: str) -> None:
    (found,) = find_ranges(text, MONDAY)
    assert text.lower()[slice(*found.words)] == words


def test_movable_days_are_where_almanacs_have_them() -> None:
    sundays = {2000: "04-23", 2019: "04-21", 2024: "03-31", 2025: "04-20", 2027: "03-28", 2038: "04-25"}
    assert {year: easter_sunday(year).isoformat()[5:] for year in sundays} == sundays
    new_years = {"2024": "24-02-10", "2025": "25-01-29", "2027": "27-02-06", "2033": "33-01-31"}
    assert {year: span(f"{year}年大年初一") for year in new_years} == {y: (d, d) for y, d in new_years.items()}
    assert span("1700年春节") == ("00-01-01", "00-12-31")  # the year at least


def test_two_ranges_of_one_question() -> None:
    found = find_ranges("the rent in March and in May", MONDAY)
    assert [(r.first.month, r.last.month) for r in found] == [(3, 3), (5, 5)]


def test_only_the_beginning_of_a_pasted_text_is_read() -> None:
    assert find_ranges("x" * MOST_CHARACTERS + " yesterday", MONDAY) == []


def test_months_look_back_over_the_new_year() -> None:
    assert span("in November", date(2026, 1, 5)) == ("25-11-01", "25-11-30")
    assert span("last month", date(2026, 1, 5)) == ("25-12-01", "25-12-31")


def test_only_a_whole_text_is_an_argument() -> None:
    found = parse_range("last month", MONDAY)
    assert found and date(2026, 10, 9) in found and date(2026, 11, 1) not in found
    assert parse_range("the rent of last month", MONDAY) is None
    assert parse_range("soon", MONDAY) is None


WORDS = (
    "last next this the past early mid late end of first second week weekend month quarter year day days "
    "ago in on since before until between from to and march may monday friday spring summer q3 christmas "
    "easter a few couple yesterday 3 14 31 2025 2026-02-30 31.12. 0 99 上 下 这 本 个 周 月 年 三 十 五 "
    "号 日 天 前 后 初 底 去年 今年 春节 国庆 季度 夏天 到 最近 几"
).split()
"""What readings are made of."""


@settings(max_examples=300, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), max_size=9), glue=st.sampled_from(["", " "]), day=st.dates())
def test_any_words_on_any_day_are_read_without_error(words: list[str], glue: str, day: date) -> None:
    found = find_ranges(glue.join(words), day)
    assert all(r.first <= r.last for r in found)
    assert all(a.words[1] <= b.words[0] for a, b in pairwise(found))


@settings(max_examples=200, deadline=None)
@given(text=st.text(), day=st.dates())
def test_any_text_is_read_without_error(text: str, day: date) -> None:
    assert all(r.first <= r.last for r in find_ranges(text, day))


def test_english_days_are_known_whatever_the_system_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("day_name", "day_abbr", "month_name", "month_abbr"):
        monkeypatch.setattr(calendar, name, [f"{name}{n}" for n in range(13)])
    spec = importlib.util.find_spec("assistant.recall.days.english_words")
    assert spec is not None
    assert spec.loader is not None
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    assert (fresh.DAYS["monday"], fresh.DAYS["sun"]) == (0, 6)
    assert (fresh.MONTHS["march"], fresh.MONTHS["dec"]) == (3, 12)
