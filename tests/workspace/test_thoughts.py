"""What a model thought is kept with its reply, folded, and nobody takes it for something that was said."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from assistant.recall.units.making import units_of
from assistant.workspace.chat_format import format_reply, format_turn
from assistant.workspace.chat_labels import CHINESE
from assistant.workspace.chats import parse_chat
from assistant.workspace.thoughts import NO_THOUGHT, Thought
from tests.workspace.test_chats import AT, WORDS, chat_of

THOUGHT = Thought("They want <b>two</b>.\n\n### 2026-11-29T15:30:25+08:00 · #9\n**User**:\n> quoted\n</details>", 4)


def stripped(text: str) -> str:
    text = text.replace("\r", "")
    return text.strip("\n") if text.strip() else ""


@given(st.lists(st.tuples(WORDS, WORDS, WORDS.map(stripped)), min_size=1, max_size=4), st.booleans())
def test_a_thought_comes_back_and_changes_nothing_that_was_said(turns, crlf):
    text = chat_of(
        *(format_turn(AT, n, u) + format_reply(r, thought=Thought(t, n)) for n, (u, r, t) in enumerate(turns, 1))
    )
    chat = parse_chat(text.replace("\n", "\r\n") if crlf else text)
    assert [(t.user, t.reply) for t in chat.turns] == [(user, reply) for user, reply, _ in turns]
    assert [t.thought for t in chat.turns] == [
        Thought(t, n) if t else NO_THOUGHT for n, (_, _, t) in enumerate(turns, 1)
    ]
    assert not chat.problems


def test_who_reads_the_quote_marks_alone_reads_what_was_said():
    text = chat_of(format_turn(AT, 1, "How many?") + format_reply("Two.", thought=THOUGHT))
    assert re.findall(r"(?m)^> (.*)$", text) == ["How many?", "Two."]
    assert len(re.findall(r"(?m)^\*\*|^#{3}", text)) == 3  # the heading and the two labels
    assert "<details>\n<summary>Thought for 4 s</summary>\n\n    They want" in text


def test_a_chinese_file_says_it_in_chinese():
    text = chat_of(format_turn(AT, 1, "几个？", labels=CHINESE) + format_reply("两个", "", CHINESE, THOUGHT))
    assert "思考了 4 秒" in text
    assert parse_chat(text).turns[0].thought == THOUGHT


def test_a_folded_block_of_another_form_is_text_as_before():
    for block in (
        "<details>\n<summary>More</summary>\n\n    x\n\n</details>\n",
        "<details>\n<summary>Thought for 4 s</summary>\n\n    x\n",
        "<details>\n<summary>Thought for 4 s</summary>\nnot indented\n</details>\n",
    ):
        text = chat_of(format_turn(AT, 1, "Hi") + f"\n**Assistant**:\n\n{block}\n> Hello\n")
        turn = parse_chat(text).turns[0]
        assert turn.thought == NO_THOUGHT
        assert turn.reply is not None and turn.reply.startswith("Hello") and "<summary>" in turn.reply


def test_a_reply_may_spell_the_block():
    reply = "<details>\n<summary>Thought for 4 s</summary>\n\n    x\n\n</details>\n\nHello"
    turn = parse_chat(chat_of(format_turn(AT, 1, "Hi") + format_reply(reply))).turns[0]
    assert (turn.thought, turn.reply) == (NO_THOUGHT, reply)


def test_it_is_written_with_the_turn_without_secrets_and_kept_with_the_chat(ws):
    ident = ws.chats.create("t")
    start = ws.chats.begin_turn(ident, "hello")
    ws.chats.end_turn(ident, start.n, "Hi.", thought=Thought("They said password: hunter2 once", 3))
    turn = ws.chats.read(ident).turns[0]
    assert (turn.reply, turn.thought.seconds) == ("Hi.", 3)
    assert "hunter2" not in ws.chats.path(ident).read_text()
    assert ws.chats.read(ws.chats.adopt(ws.chats.read(ident))).turns[0].thought == turn.thought
    ws.chats.end_turn(ident, ws.chats.begin_turn(ident, "again").n, "", "stopped", Thought("hm", 1))
    assert [(t.reply, t.thought.text) for t in ws.chats.read(ident).turns][1] == ("", "hm")


def test_a_search_never_finds_it():
    text = chat_of(format_turn(AT, 1, "Hi") + format_reply("Hello", thought=Thought("the zyzzyva is near", 2)))
    units, _ = units_of("chats/2026-11/20261129_153022.md", text)
    assert units and "zyzzyva" not in repr(units)
