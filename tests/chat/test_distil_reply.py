"""Whatever a model writes as its notes: CASES 37, 38."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.chat.distil_reply import parse_notes


@pytest.mark.parametrize(
    "reply",
    [
        "- likes tea\n- has a dog",
        "* likes tea\n* has a dog",
        "1. likes tea\n2) has a dog",
        "Here are the notes:\n\n- **likes tea**\n- has a dog\n\nHope that helps!",
        '["likes tea", "has a dog"]',
        '```json\n{"notes": ["likes tea", "has a dog"]}\n```',
    ],
)
def test_lists_in_any_dress_are_read(reply: str) -> None:
    assert parse_notes(reply, 8) == ["likes tea", "has a dog"]


_NO_ANSWERS = ["", "   ", "I am sorry, I cannot do that.", "Error: context length exceeded", "{bad json"]


@pytest.mark.parametrize("reply", _NO_ANSWERS)
def test_what_is_no_answer_is_said_to_be_none(reply: str) -> None:
    assert parse_notes(reply, 8) is None


@pytest.mark.parametrize("reply", ["无需记录", "- 无需记录", "Nothing to keep.", "[]\nnothing to record"])
def test_nothing_to_keep_is_an_answer(reply: str) -> None:
    assert parse_notes(reply, 8) == []


def test_facts_beside_nothing_to_record_are_kept() -> None:
    assert parse_notes("无需记录\n- 对花生过敏", 8) == ["对花生过敏"]


def test_a_reply_that_goes_on_for_ever_is_cut() -> None:
    assert len(parse_notes("\n".join(f"- note {n}" for n in range(500)), 8) or ()) == 8


def test_a_note_cannot_write_the_entry_syntax() -> None:
    assert parse_notes("- a；b ~~c~~", 8) == ["a，b c"]


@given(st.text())
def test_any_reply_is_read(reply: str) -> None:
    notes = parse_notes(reply, 8)
    assert notes is None or all(note and "\n" not in note and "；" not in note for note in notes)
