"""What a question says about time: the days, the rest of it, of old or of late, and which chat."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.recall.days.moments import TimeWish, read_time

MONDAY = date(2026, 11, 30)


def wish(text: str) -> TimeWish:
    return read_time(text, MONDAY)


def spans(text: str) -> list[tuple[str, str]]:
    """Both ends of each span; "" for an open one."""
    return [
        ("" if span.open == "before" else span.first.isoformat(), "" if span.open == "after" else span.last.isoformat())
        for span in wish(text).spans
    ]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("What did the meter show in February?", "What did the meter show"),
        ("昨天 Joost 买了什么", "Joost 买了什么"),
        ("上个月的铁蛋白是多少", "铁蛋白是多少"),
        ("last week's notes on Ｈｅｒｏｎ", "notes on Ｈｅｒｏｎ"),
        ("Straße yesterday", "Straße"),
        ("yesterday", ""),
        ("last week in the standup chat", ""),
        ("上周在站会那个聊天里", ""),
        ("MU5102", "MU5102"),
    ],
)
def test_the_words_of_time_are_not_searched_for(text: str, rest: str) -> None:
    assert wish(text).rest == rest


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did I pay before March", "", "2026-02-28"),
        ("what did I pay until March", "", "2026-03-31"),
        ("since March", "2026-03-01", ""),
        ("after March", "2026-04-01", ""),
        ("from March on", "2026-03-01", ""),
        ("the receipt from March", "2026-03-01", "2026-03-31"),
        ("三月之前的账单", "", "2026-02-28"),
        ("三月以后的账单", "2026-03-01", ""),
        ("从三月开始", "2026-03-01", ""),
        ("截至三月底", "", "2026-03-31"),
    ],
)
def test_an_open_end_reaches_as_far_as_it_can(text: str, first: str, last: str) -> None:
    assert spans(text) == [(first, last)]


@pytest.mark.parametrize(
    ("text", "chat"),
    [
        ("last week in the standup chat", "standup"),
        ("what did I say in our chat about Lisbon", "lisbon"),
        ("上周在站会那个聊天里", "站会"),
        ("关于里斯本的对话里", "里斯本"),
        ("how do I chat with the landlord", ""),
    ],
)
def test_a_chat_is_named(text: str, chat: str) -> None:
    assert wish(text).chat == chat


@pytest.mark.parametrize(
    ("text", "past"),
    [
        ("where did I use to live", True),
        ("what was my old number", True),
        ("我以前住哪里", True),
        ("原来的号码", True),
        ("三月以前的账单", False),
        ("回苏州之前我要去银行办什么", False),
        ("what do I pay before March", False),
        ("where do I live", False),
    ],
)
def test_a_question_about_how_it_was(text: str, past: bool) -> None:
    assert wish(text).past is past


@pytest.mark.parametrize(
    "text", ["yesterday", "in March", "at Christmas", "what did I do in 2025?", "中秋那天", "上周做了什么"]
)
def test_a_question_of_nothing_but_time(text: str) -> None:
    assert wish(text).only_time and wish(text).bare


@pytest.mark.parametrize(
    "text",
    [
        "Christmas",
        "中秋",
        "March",
        "三月",
        "1984",
        "Q3",
        "summer",
        "what was on my list yesterday",
        "the rent in March",
    ],
)
def test_a_name_of_days_is_a_word_as_others(text: str) -> None:
    assert not wish(text).only_time and not wish(text).bare


def test_only_question_words_beside_the_time() -> None:
    found = wish("where were we last weekend")
    assert found.bare and not found.only_time


def test_last_and_first() -> None:
    assert wish("when did I last see the dentist").order == wish("最近一次看牙").order == "latest"
    assert wish("the first time we met").order == wish("第一次见面").order == "first"
    assert wish("last month").order == wish("most people").order == ""


@settings(max_examples=300, deadline=None)
@given(text=st.text(), day=st.dates())
def test_any_question_on_any_day_is_read_without_error(text: str, day: date) -> None:
    found = read_time(text, day)
    assert all(span.first <= span.last for span in found.spans)
