"""Which questions a model must look up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.chat.must_look import asks_of_own_life


@pytest.mark.parametrize(
    "message",
    [
        "What colour did I paint the hallway?",
        "When does my passport expire?",
        "How long did we say the bread has to rise?",
        "What was the name of that insurance agent?",
        "我的血型是什么？",
        "上次我们商量的搬家日期是哪天？",
        "Which film did you recommend last week?",
        "What was the restaurant you suggested?",
        "上次你说的那首歌叫什么？",
        "那家修车店叫什么？",
    ],
)
def test_a_question_about_the_persons_own_life_is_one(message: str) -> None:
    assert asks_of_own_life(message)


@pytest.mark.parametrize(
    "message",
    [
        "What is the capital of Peru?",
        "What should I cook tonight?",
        "How can we get to the station?",
        "I painted the hallway green",
        "Write me a poem about my cat",
        "What is my mistake here?\n\ndef f(): pass",
        "我该怎么办？",
        "你能给我讲个笑话吗？",
        "光合作用是什么？",
        "Which book would you recommend?",
        "What do you suggest?",
        "你推荐哪本书？",
        "",
    ],
)
def test_other_messages_are_none(message: str) -> None:
    assert not asks_of_own_life(message)


@given(st.text(max_size=400))
def test_any_message_is_read(message: str) -> None:
    asks_of_own_life(message)
