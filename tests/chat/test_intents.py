"""Asking in plain words to remember something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.chat.intents import Forget, LookUp, asked_about, fact_to_remember, read_intent, thing_to_forget


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("Remember that my dog is called Rex", "my dog is called Rex"),
        ("please remember: the code is 4711", "the code is 4711"),
        ("记住我对花生过敏", "我对花生过敏"),
        ("请记住：周五开会", "周五开会"),
        ("/remember milk is in the fridge", "milk is in the fridge"),
        ("Don't forget that I moved to Lyon", "I moved to Lyon"),
        ("Could you make a note that the bin goes out on Tuesdays", "the bin goes out on Tuesdays"),
        ("My sister's birthday is 3 May. Please remember that.", "My sister's birthday is 3 May"),
        ("Note to self: buy oat milk", "buy oat milk"),
        ("Keep this in mind: I never eat pork.", "I never eat pork."),
        ("Just so you remember, I moved to Ghent", "I moved to Ghent"),
        ("你记住，我的车停在三号楼", "我的车停在三号楼"),
        ("Could you make a note that the gutter leaks?", "the gutter leaks"),
        ("Can you please remember that Ines prefers tea?", "Ines prefers tea"),
        ("write down: locker 44", "locker 44"),
        ("我的车停在B2，帮我记一下。", "我的车停在B2"),
        ("把我妹妹的生日是5月3日记下来", "我妹妹的生日是5月3日"),
        ("别忘了我周三要看牙医", "我周三要看牙医"),
    ],
)
def test_the_fact_comes_out_in_the_persons_words(message: str, fact: str) -> None:
    assert fact_to_remember(message) == fact


@pytest.mark.parametrize(
    "message",
    [
        "Remember when we met?",
        "I remember that day",
        "Can you remember my birthday?",
        "Can you remember that day at the lake?",
        "Remember me",
        "remember that",
        "Remember this!",
        "记住这一点。",
        "记住了",
        "记住。",
        "Save the file as x.txt",
        "Write down a poem about rain",
        "Store brands are cheaper",
        "记得吗？",
        "记住了吗",
        "",
    ],
)
def test_other_messages_ask_nothing(message: str) -> None:
    assert fact_to_remember(message) == ""


def test_a_whole_document_is_no_fact() -> None:
    assert fact_to_remember("remember that " + "word " * 1000) == ""


@pytest.mark.parametrize(
    ("message", "query"),
    [
        ("What did I say about Lisbon last week?", "Lisbon last week"),
        ("what did we decide about the kitchen", "the kitchen"),
        ("Did I ever mention Tom?", "Tom"),
        ("What do you know about my sister?", "my sister"),
        ("我说过关于里斯本的什么？", "里斯本"),
        ("关于狗我说过什么？", "狗"),
        ("关于妈妈的生日，我说过什么？", "妈妈的生日"),
        ("我上次跟你聊过装修吗", "装修"),
    ],
)
def test_what_is_asked_about_comes_out_with_its_time(message: str, query: str) -> None:
    assert asked_about(message) == query
    assert read_intent(message) == LookUp(query)


@pytest.mark.parametrize(
    "message",
    [
        "what did I say?",
        "what did I say about",
        "what do you know about ...?",
        "我说过什么",
        "我说什么了",
        "我说今天天气不错",
        "我讲个笑话",
        "我告诉你我要去北京",
        "What is the time?",
    ],
)
def test_a_question_about_nothing_in_particular_is_no_search(message: str) -> None:
    assert asked_about(message) == ""


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ("Forget my old address", "my old address"),
        ("Please forget about Tom", "Tom"),
        ("forget everything about the divorce", "the divorce"),
        ("remove my phone number from memory", "my phone number"),
        ("忘掉我的旧地址", "我的旧地址"),
        ("请忘记关于装修的事", "装修"),
        ("把我住在巴黎忘掉", "我住在巴黎"),
    ],
)
def test_what_is_to_be_forgotten_comes_out(message: str, what: str) -> None:
    assert thing_to_forget(message) == what
    assert read_intent(message) == Forget(what)


@pytest.mark.parametrize(
    "message",
    [
        "forget it",
        "forget about",
        "Forget the last message",
        "Forget about work, tell me a joke",
        "Remove the bug from this code",
        "I forget my keys",
        "忘了带钥匙",
        "忘记带伞了怎么办",
    ],
)
def test_forgetting_in_passing_forgets_nothing(message: str) -> None:
    assert thing_to_forget(message) == ""


@given(st.text(max_size=300))
def test_any_message_is_read(message: str) -> None:
    read_intent(message)


@pytest.mark.parametrize("gap", ["\n" * 20_000, " \n" * 20_000, ". - " * 20_000, " " * 20_000])
@pytest.mark.parametrize("lead", ["My notes", "remember that notes", "forget my notes", "Notes, remember this"])
def test_a_pasted_text_with_wide_gaps_is_read_at_once(lead: str, gap: str) -> None:
    """With patterns that share out the gap in every way this would not end within a day."""
    intent = read_intent(f"{lead}{gap}and more")
    assert intent is None
