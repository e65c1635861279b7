"""What is thought, said and called comes apart while it grows, however it was split over tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.values import ToolCall
from assistant.engine.reply_parts import PLAIN, Part, ReplyParts, ReplyShape
from assistant.engine.tool_formats import HERMES, LLAMA

TOOLS = ReplyShape(calls=HERMES, tools=("look",))
BARE = ReplyShape(calls=LLAMA, tools=("look",))
OPENED = ReplyShape(thinking=True, calls=HERMES, tools=("look",))
WRITTEN = '<tool_call>\n{"name": "look", "arguments": {"at": "it"}}\n</tool_call>'
CALL = ToolCall("look", {"at": "it"})


def parted(text: str, shape: ReplyShape, size: int = 10_000) -> tuple[str, str, tuple[ToolCall, ...]]:
    """What was thought, what was said, what was called."""
    parts = ReplyParts(shape)
    shown = [part for at in range(0, len(text), size) for part in parts.push(text[at : at + size])]
    shown += parts.finish()
    thought = "".join(part.text for part in shown if part.thought)
    return thought, "".join(part.text for part in shown if not part.thought), parts.calls


CASES = [
    ("Hello.", PLAIN, ("", "Hello.", ())),
    ("  Hello.", PLAIN, ("", "  Hello.", ())),
    ("<think>\nwell\n</think>\n\nHello.", PLAIN, ("well\n", "Hello.", ())),
    ("\n<think></think>Hello.", PLAIN, ("", "Hello.", ())),
    ("well\n</think>\n\nHello.", OPENED, ("well\n", "Hello.", ())),
    ("<think>for ever", PLAIN, ("for ever", "", ())),
    ("<thi", PLAIN, ("", "<thi", ())),
    ("a <think> in the middle </think>", PLAIN, ("", "a <think> in the middle </think>", ())),
    ("It is 1 < 2 <", TOOLS, ("", "It is 1 < 2 <", ())),
    (WRITTEN, TOOLS, ("", "", (CALL,))),
    (WRITTEN, PLAIN, ("", WRITTEN, ())),
    (f"I look.\n{WRITTEN}\n{WRITTEN}", TOOLS, ("", "I look.\n", (CALL, CALL))),
    (f"<think>hm</think>\n{WRITTEN}", TOOLS, ("hm", "", (CALL,))),
    ('<tool_call>\n{"name": "lo', TOOLS, ("", '<tool_call>\n{"name": "lo', ())),
    ('{"name": "look", "parameters": {"at": "it"}}', BARE, ("", "", (CALL,))),
    ('<|python_tag|>{"name": "look", "parameters": {"at": "it"}}', BARE, ("", "", (CALL,))),
    ('```json\n{"name": "look", "arguments": {"at": "it"}}\n```', TOOLS, ("", "", (CALL,))),
    ('{{"name": "look", "arguments": {"at": "it"}}}', TOOLS, ("", "", (CALL,))),
    ('{{"name": "look", "arguments": {"at": "it"}}', TOOLS, ("", "", (CALL,))),
    ("{{ template }}", TOOLS, ("", "{{ template }}", ())),
    ("```python\nx = 1\n```", TOOLS, ("", "```python\nx = 1\n```", ())),
    ('```json\n{"age": 3}\n```', TOOLS, ("", '```json\n{"age": 3}\n```', ())),
    ("``", TOOLS, ("", "``", ())),
    ('{"name": "Anna", "age": 3}', BARE, ("", '{"name": "Anna", "age": 3}', ())),
    ('{"name"', BARE, ("", '{"name"', ())),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize(("text", "shape", "expected"), CASES)
def test_a_reply_comes_apart(text: str, shape: ReplyShape, expected: tuple[str, str, object], size: int) -> None:
    assert parted(text, shape, size) == expected


PIECES = st.lists(
    st.sampled_from(["<think>", "</think>", "<tool_call>", "</tool_call>", "{", "a", " ", "\n", "<", "th"])
)


@given(PIECES.map("".join), st.sampled_from([PLAIN, TOOLS, BARE, OPENED]), st.integers(1, 9))
def test_how_it_is_split_makes_no_difference(text: str, shape: ReplyShape, size: int) -> None:
    assert parted(text, shape, size) == parted(text, shape)


def test_no_more_is_wanted_after_calls_that_something_else_follows() -> None:
    parts = ReplyParts(TOOLS)
    parts.push(WRITTEN + "\n")
    assert not parts.over
    parts.push("<tool_call>")
    assert not parts.over
    other = ReplyParts(TOOLS)
    other.push(WRITTEN + "\n<tool_response>\nmade up")
    assert other.over
    other.finish()
    assert other.calls == (CALL,)


def test_what_grows_longer_than_any_call_is_no_more_wanted_and_not_lost() -> None:
    parts = ReplyParts(TOOLS)
    endless = '<tool_call>\n{"name": "look", "arguments": {"at": "' + "a" * 40_000
    parts.push(endless)
    assert parts.over
    assert parts.finish() == [Part(endless)]
    assert parts.calls == ()
