"""A model's own replies are known again, to the token."""

from __future__ import annotations

import pytest

from assistant.core.values import Done, StopReason, ToolCall
from assistant.engine.replies import OwnReplies
from assistant.engine.tool_formats import HERMES, calls_key

CALL = ToolCall("look", {"at": "it"})
WRITTEN = '<tool_call>\n{"name": "look", "arguments": {"at": "it"}}\n</tool_call>'


def known(said: str, text: str, thought: str = "", calls: tuple[ToolCall, ...] = ()) -> dict[str, str]:
    """What is known after a reply whose tokens are its characters: each text, and what its tokens spell."""
    replies = OwnReplies(lambda token: chr(token).encode(), HERMES)
    replies.add(Done(StopReason.END, text, len(said), 1, 0, 0.0, 0.0, thought, calls), [ord(char) for char in said])
    return {key: "".join(map(chr, tokens)) for key, tokens in replies.known.items()}


@pytest.mark.parametrize(
    ("said", "thought"),
    [("Hello", ""), ("<think>hm</think>\n\nHello", "hm"), ("hm\n</think>\n\nHello", "hm"), ("\n</think>\n\nHello", "")],
)
def test_the_reply_is_known_without_its_thought(said: str, thought: str) -> None:
    assert known(said, "Hello", thought) == {"Hello": "Hello"}


def test_the_last_white_space_may_be_gone() -> None:
    assert known("Hello \n", "Hello \n") == {"Hello \n": "Hello \n", "Hello": "Hello"}


def test_a_stop_string_is_not_part_of_it() -> None:
    assert known("Hello\nUser:", "Hello") == {"Hello": "Hello"}


def test_calls_are_known_with_what_is_said_before_them() -> None:
    told = known(f"I look.\n{WRITTEN}\n", "I look.\n", calls=(CALL,))
    assert told[calls_key("I look.", (CALL,))] == f"I look.\n{WRITTEN}"
    assert known(f"<think>hm</think>\n{WRITTEN}", "", "hm", (CALL,)) == {calls_key("", (CALL,)): WRITTEN}


def test_a_reply_that_its_tokens_do_not_spell_is_not_known() -> None:
    assert known("Hello", "Goodbye") == {}


def test_the_empty_thought_of_a_model_that_was_told_not_to_think_stays_in_front() -> None:
    replies = OwnReplies(lambda token: chr(token).encode(), HERMES)
    done = Done(StopReason.END, "Hello", 5, 1, 0, 0.0, 0.0)
    replies.add(done, list(map(ord, "Hello")), list(map(ord, "assistant\n<think>\n\n</think>\n\n")))
    assert "".join(map(chr, replies.known["Hello"])) == "<think>\n\n</think>\n\nHello"
    replies.add(done, list(map(ord, "Hello")), list(map(ord, "nt\n<think>\n")))
    assert "".join(map(chr, replies.known["Hello"])) == "Hello"


def test_half_a_character_behind_a_call_moves_nothing() -> None:
    replies = OwnReplies(lambda token: bytes([token]), HERMES)
    said = WRITTEN.encode() + "\n中".encode()[:-1]
    replies.add(Done(StopReason.CALLS, "", len(said), 1, 0, 0.0, 0.0, calls=(CALL,)), list(said))
    assert bytes(replies.known[calls_key("", (CALL,))]) == WRITTEN.encode()


def test_of_very_many_the_latest_are_known() -> None:
    replies = OwnReplies(lambda token: chr(token).encode(), None)
    for text in ("again", *map(str, range(199)), "again", "new"):
        replies.add(Done(StopReason.END, text, 1, 1, 0, 0.0, 0.0), list(map(ord, text)))
    assert {"again", "new"} <= replies.known.keys() and "0" not in replies.known
