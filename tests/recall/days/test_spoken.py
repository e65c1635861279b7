"""Units are found by the days that they speak of, not only by the day they are of."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.values import RecallQuery
from assistant.recall.days.spoken_days import LONGEST, spoken_days
from assistant.recall.search import Recall
from tests.recall.helpers import SmallWorkspace

MAY_3 = date(2026, 5, 3)  # a Sunday
MAY_11 = datetime.fromisoformat("2026-05-11T12:00:00+02:00")


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("dentist on 12 May", ["2026-05-12"]),
        ("the visa ran out on 20 April", ["2026-04-20"]),
        ("the lease ends on 31 January", ["2027-01-31"]),
        ("Piano tuner comes 26 June 14:00", ["2026-06-26"]),
        ("call the bank tomorrow", ["2026-05-04"]),
        ("she comes on Friday", ["2026-05-08"]),
        ("she came on Friday", ["2026-05-01"]),
        ("cabin 19–21 June", ["2026-06-19/2026-06-21"]),
        ("we go to Lisbon at Christmas", ["2026-12-24/2026-12-26"]),
        ("6月4日上午八点体检", ["2026-06-04"]),
        ("下周五交房租", ["2026-05-08"]),
        ("我申请了志愿者，十一月去", ["2026-11-01/2026-11-30"]),
        ("十一月去了海边", ["2025-11-01/2025-11-30"]),
        ("I was ill; back to work on Friday", ["2026-05-08"]),
        ("today it rains", []),
        ("busy this month", []),
        ("八月初三生日", []),
        ("tea at 14:15, 3.5 km, 12/30 done", []),
        ("rent is due every month", []),
    ],
)
def test_what_was_noted_on_a_day_speaks_of_others(text: str, days: list[str]) -> None:
    found = [(date.fromordinal(first), date.fromordinal(last)) for first, last in spoken_days(text, MAY_3)]
    assert ["/".join(dict.fromkeys((first.isoformat(), last.isoformat()))) for first, last in found] == days


def test_without_a_day_of_its_own_only_a_full_date_tells_anything() -> None:
    assert [date.fromordinal(first).isoformat() for first, _ in spoken_days("passport until 2027-04-12", None)] == [
        "2027-04-12"
    ]
    assert spoken_days("dentist on 12 May, or tomorrow, or on Friday", None) == []


def asked(recall: Recall, text: str, day: str) -> list[str]:
    now = datetime.fromisoformat(f"{day}T12:00:00+01:00")
    return [hit.text for hit in recall.search(RecallQuery(text, now=now)).hits]


def test_an_appointment_is_found_by_its_day(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember(
        "2026-05-03|you|the dentist at nine on 12 May",
        "2026-05-04|you|the dentist wants a new picture of my teeth",
        "2026-05-04|you|the dentist is closed in August",
    )
    assert asked(by_words, "the dentist tomorrow", "2026-05-11")[0].startswith("the dentist at nine")
    assert asked(by_words, "dentist on 12 May", "2026-11-30")[0].startswith("the dentist at nine")
    assert asked(by_words, "was the dentist closed last August?", "2026-11-30")[0].startswith("the dentist is closed")


def test_what_was_said_then_goes_before_what_speaks_of_it(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember("2026-05-03|you|rent rises on 12 May", "2026-05-12|you|rent paid")
    assert asked(by_words, "the rent yesterday", "2026-05-13") == ["rent paid", "rent rises on 12 May"]


def test_a_deadline_lies_between_today_and_what_it_is_before(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.remember(
        "2026-04-10|you|pay the water board 40 euros by 20 April",
        "2026-05-03|you|pay the parking fine by 28 May",
        "2026-05-04|you|the garage wants me to pay in cash",
    )
    assert asked(by_words, "what do I have to pay before 1 June", "2026-05-10")[0].startswith("pay the parking fine")


def test_a_unit_that_goes_takes_its_days_along(workspace: SmallWorkspace, by_words: Recall) -> None:
    others = "2026-05-02|you|tea with Ann\n2026-05-02|you|the bike has a flat tyre\n"
    for line, timely in (("2026-05-03|you|dentist on 12 May", True), ("2026-05-03|you|dentist at ten", False)):
        (workspace.root / "MEMORY.md").write_text(f"{others}{line}\n", encoding="utf-8")
        (hit,) = by_words.search(RecallQuery("dentist tomorrow", now=MAY_11)).hits
        assert ("time" in hit.why) is timely


@settings(max_examples=200, deadline=None)
@given(text=st.text(), day=st.none() | st.dates())
def test_any_text_of_any_day(text: str, day: date | None) -> None:
    found = spoken_days(text, day)
    assert len(found) <= 8 and all(0 <= last - first < LONGEST for first, last in found)
