"""A client's messages as a chat has them: whatever their roles and order are, nothing of them is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.core.values import Message, Role
from assistant.runtime.serving.conversations import as_talk, conversation_of

roles = st.sampled_from([Role.SYSTEM, Role.USER, Role.ASSISTANT])


def say(*said: tuple[Role, str]) -> list[Message]:
    return [Message(role, text) for role, text in said]


@given(st.lists(roles, max_size=8), st.lists(st.just(Role.SYSTEM), max_size=2))
def test_all_that_was_said_is_in_the_talk_in_its_order(before: list[Role], after: list[Role]) -> None:
    messages = [Message(role, f"<{at}>") for at, role in enumerate([*before, Role.USER, *after])]
    talk = as_talk(messages)
    parts = [talk.client, *(text for turn in talk.turns for text in turn), talk.message]
    found = "".join(parts)
    assert all(found.count(message.text) == 1 for message in messages)
    spoken = [message.text for message in messages if message.role is not Role.SYSTEM]
    assert sorted(spoken, key=found.index) == spoken


def test_a_system_message_in_the_middle_keeps_its_place() -> None:
    middle = say((Role.USER, "a"), (Role.ASSISTANT, "b"), (Role.SYSTEM, "now French"), (Role.USER, "c"))
    talk = as_talk([Message(Role.SYSTEM, "Be brief."), *middle])
    assert (talk.client, talk.turns, talk.message) == ("Be brief.", (("a", "b"),), "now French\n\nc")


def test_a_greeting_of_the_assistant_begins_the_talk() -> None:
    talk = as_talk(say((Role.ASSISTANT, "Hello."), (Role.USER, "a"), (Role.USER, "b")))
    assert (talk.turns, talk.message) == ((("", "Hello."), ("a", "")), "b")


def test_a_conversation_is_known_by_how_it_began() -> None:
    first = say((Role.USER, "a"))
    longer = say((Role.USER, "a"), (Role.ASSISTANT, "x"), (Role.USER, "b"))
    other = say((Role.SYSTEM, "s"), (Role.USER, "a"))
    names = [conversation_of(as_talk(messages)) for messages in (first, longer, other)]
    assert names[0] == names[1] != names[2]
    assert "a" not in names[0].partition("served-")[0].replace(".temporary-", "")
