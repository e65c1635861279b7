"""Asking in plain words to remember something."""

from __future__ import annotations

import pytest

from assistant.chat.intents import fact_to_remember


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("Remember that my dog is called Rex", "my dog is called Rex"),
        ("please remember: the code is 4711", "the code is 4711"),
        ("记住我对花生过敏", "我对花生过敏"),
        ("请记住：周五开会", "周五开会"),
        ("/remember milk is in the fridge", "milk is in the fridge"),
    ],
)
def test_the_fact_comes_out_in_the_persons_words(message: str, fact: str) -> None:
    assert fact_to_remember(message) == fact


@pytest.mark.parametrize(
    "message",
    ["Remember when we met?", "I remember that day", "Can you remember my birthday?", "记得吗？", "记住了吗", ""],
)
def test_other_messages_ask_nothing(message: str) -> None:
    assert fact_to_remember(message) == ""


def test_a_whole_document_is_no_fact() -> None:
    assert fact_to_remember("remember that " + "word " * 1000) == ""
