"""Words for days wherever the command line takes a day."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Keepsake

MONDAY = ("--now", "2026-11-30T12:00:00+01:00")


@pytest.fixture
def week(keepsake: Keepsake, tmp_path: Path) -> Keepsake:
    chats = tmp_path / "ws" / "chats" / "2026-11"
    chats.mkdir(parents=True)
    (tmp_path / "ws" / "MEMORY.md").write_text(
        "2026-11-01|you|the kayak is red\n2026-11-29|you|the stove is fixed\n2026-11-29|you|the stove cost 40 euros\n"
    )
    lines = ["# Chat: Stand-up", "", "## Metadata", "", "- **Session ID**: 20261124_090000", "", "## Conversation", ""]
    for number, (day, said) in enumerate((("2026-11-24", "the kayak leaks"), ("2026-11-29", "the kayak is sold")), 1):
        lines += [f"### {day}T10:00:00+01:00 · #{number}", "", "**User**:", "", f"> {said}", ""]
        lines += ["**Assistant**:", "", "> Noted.", ""]
    (chats / "20261124_090000.md").write_text("\n".join(lines))
    return keepsake


@pytest.mark.parametrize(
    "arguments", [["", "--since", "yesterday"], ["yesterday"], ["what happened yesterday?"], ["昨天"]]
)
def test_a_question_of_only_time_lists_what_happened(week: Keepsake, arguments: list[str]) -> None:
    answer = week(*MONDAY, "recall", *arguments, "--json").json
    assert answer["mode"] == "time" and not answer["abstained"]
    assert {hit["date"] for hit in answer["hits"]} == {"2026-11-29"} and len(answer["hits"]) == 3


def test_what_was_talked_about_is_in_chats(week: Keepsake) -> None:
    answer = week(*MONDAY, "recall", "what did we talk about yesterday?", "--json").json
    assert [hit["id"] for hit in answer["hits"]] == ["20261124_090000#2"]


def test_what_was_said_in_a_chat_by_its_name(week: Keepsake) -> None:
    answer = week(*MONDAY, "recall", "last week in the standup chat", "--json").json
    assert [hit["id"] for hit in answer["hits"]] == ["20261124_090000#2", "20261124_090000#1"]
    assert week(*MONDAY, "recall", "last month in the standup chat", "--json").json["abstained"]


def test_figures_that_look_like_a_day_are_searched_for_when_they_are_none(week: Keepsake) -> None:
    week(*MONDAY, "remember", "the firmware is at 3.11.14 now")
    answer = week(*MONDAY, "recall", "3.11.14", "--json").json
    assert [hit["text"] for hit in answer["hits"]] == ["the firmware is at 3.11.14 now"]


def test_a_day_of_which_nothing_is_known(week: Keepsake) -> None:
    answer = week(*MONDAY, "recall", "in July 2025", "--json").json
    assert (answer["mode"], answer["abstained"], answer["hits"]) == ("time", True, [])


def test_the_days_of_a_search_in_chats(week: Keepsake) -> None:
    found = week(*MONDAY, "chats", "search", "kayak", "--until", "last Tuesday", "--json").json
    assert [turn["id"] for chat in found["chats"] for turn in chat["turns"]] == ["20261124_090000#1"]


def test_the_days_of_the_journal(week: Keepsake) -> None:
    for day in ("28", "29", "30"):
        week("--now", f"2026-11-{day}T12:00:00+01:00", "remember", f"the tide table of day {day}")
    entries = week(*MONDAY, "memory", "journal", "--since", "前天", "--until", "yesterday", "--json").json["entries"]
    assert [entry["time"][:10] for entry in entries] == ["2026-11-29", "2026-11-28"]
    assert (
        len(week(*MONDAY, "memory", "journal", "--limit", "1", "--until", "yesterday", "--json").json["entries"]) == 1
    )


def test_until_friday_is_the_next_one(week: Keepsake) -> None:
    assert "until 2026-12-04" in week(*MONDAY, "remember", "the bins go out late", "--until", "Friday", "--json").out


def test_an_error_says_what_is_understood(week: Keepsake) -> None:
    result = week(*MONDAY, "recall", "kayak", "--since", "soonish")
    assert result.code == 1
    assert "'soonish' is no day" in result.err and "a few days ago" in result.err
    assert "The range is empty" in week(*MONDAY, "recall", "", "--since", "today", "--until", "yesterday").err


def test_a_whole_date_may_be_of_any_year(week: Keepsake) -> None:
    whole = ("--since", "0001-01-01", "--until", "9999-12-31")
    week(*MONDAY, "remember", "the tide is low")
    hits = week(*MONDAY, "recall", "kayak", *whole, "--json").json["hits"]
    assert hits == week(*MONDAY, "recall", "kayak", "--json").json["hits"] and hits
    chats = week(*MONDAY, "chats", "search", "kayak", *whole, "--json").json["chats"]
    assert [len(chat["turns"]) for chat in chats] == [2]
    assert week(*MONDAY, "memory", "journal", *whole, "--json").json["entries"]
    assert len(week(*MONDAY, "recall", "", *whole, "--json").json["hits"]) == 6
    assert "is no day" in week(*MONDAY, "recall", "kayak", "--since", "0001-02-30").err
