"""A found conversation as the file of a chat: our own parser reads back every word and every branch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace import chat_files
from assistant.workspace.chats import parse_chat
from assistant.workspace.imports import chat_text
from assistant.workspace.imports.chat_text import chat_digest, chat_parts, clean_turn, origin, origin_of, with_only
from assistant.workspace.imports.nanobot_sessions import chat_turns
from assistant.workspace.imports.values import FoundChat, FoundTurn
from tests import imported

_AT = "2026-02-14T10:15:00+08:00"
_WORDS = st.text(max_size=60) | st.sampled_from(
    ["> quoted", "### 2026-01-01T00:00:00 · #7", "**User**:", "```\n## Conversation\n```", "a\r\nb\r", "\n\n", "# x"]
)


@st.composite
def chats(draw: st.DrawFn) -> FoundChat:
    turns: list[FoundTurn] = []
    for at in range(draw(st.integers(1, 8))):
        after = draw(st.none() | st.integers(0, at - 1)) if at else None
        turns.append(clean_turn(FoundTurn(_AT, draw(_WORDS), draw(st.none() | _WORDS), after))[0])
    return FoundChat(draw(st.text(max_size=30)), draw(st.text(max_size=40)), _AT, tuple(turns), "here")


@given(chat=chats(), size=st.integers(1, 2_000))
def test_it_comes_back_word_for_word(chat: FoundChat, size: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chat_text, "PART_BYTES", size)
        parts = chat_parts("20260214_101500", "chatgpt", chat)
    read = parse_chat(parts, "20260214_101500")
    assert read.problems == ()
    assert chat_turns(read) == chat.turns
    assert chat_digest(read.turns) == chat_digest(chat.turns)
    assert read.summarized == len(chat.turns)
    assert origin_of(parts[0]) == origin("chatgpt", chat)
    assert chat_files.PART_BYTES == 1_000_000


@given(chat=chats(), data=st.data())
def test_what_is_left_out_leaves_a_tree(chat: FoundChat, data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.integers(0, len(chat.turns) - 1), unique=True, min_size=1).map(sorted))
    some = with_only(chat, kept)
    assert [turn.user for turn in some.turns] == [chat.turns[at].user for at in kept]
    assert all(turn.after is None or turn.after < at for at, turn in enumerate(some.turns))


@pytest.mark.parametrize("text", [imported.CHINESE_SESSION, imported.CHINESE_SESSION.split("## 对话记录\n\n")[1]])
def test_a_session_as_it_is_gains_two_lines(text: str) -> None:
    turns = chat_turns(parse_chat(text))
    chat = FoundChat("s1", "", _AT, turns, "s.md", text=text)
    (made,) = chat_parts("20260214_101500", "nanobot", chat)
    assert chat_turns(parse_chat(made)) == turns
    assert origin_of(made) == "nanobot s1"
    assert parse_chat(made).summarized == 2
    added = [line for line in made.split("\n") if line not in text.split("\n")]
    assert len(added) == 2


@pytest.mark.parametrize("key", ["", "a b\nc", "x" * 500, "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"])
def test_a_key_is_one_short_line_without_secrets(key: str) -> None:
    named = origin("chatgpt", FoundChat(key, "", _AT, (), ""))
    assert len(named) < 140 and "\n" not in named and "sk-proj" not in named
    assert origin_of(f"- **Imported**: {named}\n") == named
