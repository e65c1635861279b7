"""What becomes a note and what does not: CASES 36, 37, 41."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.chat.distil_check import check, is_fact, is_grounded
from assistant.chat.words import content_words, hard_tokens, sentences

_FACTS = ["行程改到周五", "对花生过敏", "好友叫李雷", "My dog is called Rex.", "May 3 is my birthday"]


@pytest.mark.parametrize("said", _FACTS)
def test_short_facts_survive(said: str) -> None:
    assert said in check([], [said]).items


@pytest.mark.parametrize("said", ["ok", "谢谢", "嗯", "Thanks!", "好的，谢谢", "Hello", "👍", ""])
def test_small_talk_is_no_memory(said: str) -> None:
    assert check([], [said]).items == ()


@pytest.mark.parametrize("said", ["What is the capital of France?", "今天天气怎么样？", "Write a poem", "帮我写一封信"])
def test_questions_and_requests_are_no_facts(said: str) -> None:
    assert not is_fact(said)


def test_numbers_dates_names_paths_and_urls_are_kept_or_listed() -> None:
    said = [
        "The flight is MU5102 on 2026-12-04 at 07:45, gate B12.",
        "Mail it to anna@example.org or see https://example.org/a?b=1",
        "The file lies in /srv/data/plan.txt and my aunt Marta has it",
        "Can you check whether 4711 is prime?",
    ]
    checked = check(["flight on a day", "mail Anna"], said)
    kept = " ".join((*checked.items, *checked.dropped)).casefold()
    for token in ("mu5102", "2026-12-04", "07:45", "b12", "anna@example.org", "https://example.org/a?b=1"):
        assert token in kept
    for token in ("/srv/data/plan.txt", "marta", "4711"):
        assert token in kept
    assert "Can you check whether 4711 is prime?" in checked.dropped


def test_a_note_that_the_person_did_not_say_is_refused() -> None:
    checked = check(["The person flies to Mars in 2044", "The dog is called Rex"], ["My dog is called Rex."])
    assert checked.refused == ("The person flies to Mars in 2044",)
    assert "The dog is called Rex" in checked.items or "My dog is called Rex." in checked.items


def test_a_changed_number_is_no_grounded_note() -> None:
    assert is_grounded("The rent is 900 euros", "My rent is 900 euros a month")
    assert not is_grounded("The rent is 950 euros", "My rent is 900 euros a month")


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("sister Ines moved to Graz on 3 May", "My aunt Ines moved to Graz on 3 May."),
        ("bad trip to Lisbon on 4 December", "I fly to Lisbon on 4 December for a trip."),
        ("酸花生过敏", "我对花生过敏"),
        ("likes lilies", "I hate lilies"),
    ],
)
def test_one_wrong_word_makes_a_note_untrue(note: str, said: str) -> None:
    assert not is_grounded(note, said)


def test_a_note_may_leave_words_out_and_bend_them() -> None:
    assert is_grounded("aunt Ines moves to Graz", "My aunt Ines moved to Graz on 3 May.")
    assert is_grounded("用户对花生过敏", "我对花生过敏")


def test_the_same_note_twice_is_one() -> None:
    assert len(check(["Dog is called Rex", "dog is called Rex."], ["My dog is called Rex."]).items) == 1


def test_code_is_not_distilled() -> None:
    assert sentences("Look:\n```\nx = 12345\n```\nI live in Graz.") == ["Look:", "I live in Graz."]


def test_chinese_words_are_compared_in_pairs() -> None:
    assert content_words("对花生过敏") == {"对花", "花生", "生过", "过敏"}


@given(st.lists(st.text(), max_size=4), st.lists(st.text(max_size=400), max_size=4))
def test_no_text_breaks_the_check_and_no_hard_token_is_lost(notes: list[str], said: list[str]) -> None:
    checked = check(notes, said)
    everything = " . ".join((*checked.items, *checked.dropped))
    for text in said:
        for sentence in sentences(text):
            assert hard_tokens(sentence) <= hard_tokens(". " + everything) or sentence in everything
