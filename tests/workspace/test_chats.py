"""A chat file gives every message back, whatever is in it, and loads whatever a person or a crash made of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace.chat_calls import SavedCall
from assistant.workspace.chat_format import format_call, format_reply, format_turn, quote, unquote
from assistant.workspace.chat_head import clean_title, format_head, parse_head, with_pointer, with_private, with_title
from assistant.workspace.chat_labels import CHINESE
from assistant.workspace.chats import parse_chat

NASTY = st.text(
    alphabet=st.one_of(
        st.sampled_from(list("\n\n\r>#*: `~·←-\t\0")),
        st.characters(blacklist_categories=["Cs"]),
    ),
    max_size=60,
)
WORDS = st.lists(
    st.sampled_from(
        [
            "### 2026-11-29T15:30:25+08:00 · #1",
            "**User**:",
            "**Assistant** (stopped):",
            "> x",
            ">",
            "```",
            "",
            "\r",
            "用户",
        ]
    )
    | NASTY
).map("\n".join)
AT_HEAD = "2026-11-29T15:30:22+08:00"
AT = "2026-11-29T15:30:25+08:00"


def chat_of(*blocks: str) -> str:
    return format_head("20261129_153022", "T", AT) + "".join(blocks)


@given(WORDS)
def test_quotes_give_any_text_back(text):
    assert unquote(quote(text).split("\n")) == text


@given(st.lists(st.tuples(WORDS, st.none() | WORDS, st.sampled_from(["", "stopped", "interrupted"])), max_size=5))
def test_every_message_of_a_chat_comes_back(turns):
    text = chat_of()
    for n, (user, reply, mark) in enumerate(turns, 1):
        text += format_turn(AT, n, user) + ("" if reply is None else format_reply(reply, mark))
    chat = parse_chat(text)
    assert [(t.user, t.reply) for t in chat.turns] == [(user, reply) for user, reply, _ in turns]
    assert [t.mark for t in chat.turns] == [mark if reply is not None else "" for _, reply, mark in turns]
    assert not chat.problems


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=3))
def test_a_file_that_an_editor_turned_into_crlf_reads_the_same(turns):
    text = chat_of(*(format_turn(AT, n, u) + format_reply(r) for n, (u, r) in enumerate(turns, 1)))
    chat = parse_chat(text.replace("\n", "\r\n"))
    assert [(t.user, t.reply) for t in chat.turns] == turns
    assert chat.title == "T"
    assert not chat.problems


@given(st.text())
def test_any_text_parses(text):
    chat = parse_chat(text, "x")
    assert chat.id == "x"
    for turn in chat.turns:
        chat.branch(turn.n)


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=400))
def test_a_title_is_shown_as_typed(title):
    kept = clean_title(title)
    assert parse_head(format_head("i", kept, AT)).title == kept
    assert "\n" not in kept
    assert len(kept) <= 300
    if title.isprintable() and len(title) <= 300:
        assert kept == title


def test_the_file_of_the_format_description_reads_as_meant():
    text = (
        "# Chat: Trip to Lisbon\n\n## Metadata\n\n- **Session ID**: 20261129_153022\n"
        "- **Created**: 2026-11-29T15:30:22+08:00\n- **Participants**: you, Keepsake\n- **Tags**: travel\n"
        "- **Summarized through**: #1\n\n## Conversation\n\n### 2026-11-29T15:30:25+08:00 · #1\n\n**User**:\n\n"
        "> Find me a quiet hotel.\n> ```\n> ### a heading, **User**: and > quotes\n> ```\n\n**Assistant**:\n\n"
        "> Here are two.\n\n### 2026-11-29T15:32:10+08:00 · #2 ← #1\n\n## Key points\n\n"
        "**Created**: 2026-11-29T16:45:10+08:00\n\n> - wants a quiet hotel in Lisbon\n"
    )
    chat = parse_chat(text)
    assert (chat.id, chat.title, chat.tags, chat.summarized) == ("20261129_153022", "Trip to Lisbon", ("travel",), 1)
    assert chat.turns[0].user == "Find me a quiet hotel.\n```\n### a heading, **User**: and > quotes\n```"
    assert chat.turns[0].line == 13
    assert (chat.turns[1].after, chat.turns[1].user, chat.turns[1].reply) == (1, "", None)
    assert "quiet hotel in Lisbon" in chat.key_points
    assert not chat.problems


def test_chinese_labels_are_read():
    text = (
        "# 会话: 旅行\n\n## 元数据\n\n- **会话 ID**: 20261129_153022\n- **创建时间**: 2026-11-29T15:30:22+08:00\n"
        "- **最后活跃**: 2026-11-29T16:00:00+08:00\n- **参与角色**: 用户、助手\n\n## 对话记录\n\n"
        "### 2026-11-29T15:30:25+08:00\n\n**用户**：\n\n> 你好\n\n**助手**:\n\n> 您好\n\n"
        "## 关键信息摘要\n\n> - 打招呼\n"
    )
    chat = parse_chat(text)
    assert (chat.title, chat.participants) == ("旅行", ("用户", "助手"))
    assert [(t.n, t.user, t.reply) for t in chat.turns] == [(1, "你好", "您好")]
    assert parse_head(text).labels == CHINESE
    assert not chat.problems


def test_the_tree_names_what_each_turn_follows():
    text = chat_of(
        format_turn(AT, 1, "a"),
        format_turn(AT, 2, "b"),
        format_turn(AT, 3, "b2", after=1),
        format_turn(AT, 4, "c"),
        format_turn(AT, 5, "a2", after=0),
        format_turn(AT, 6, "d"),
    )
    chat = parse_chat(text)
    assert [t.after for t in chat.turns] == [None, 1, 1, 3, None, 5]
    assert [t.user for t in chat.branch()] == ["a2", "d"]
    assert [t.user for t in chat.branch(4)] == ["a", "b2", "c"]
    assert chat.siblings(2) == (2, 3)
    assert chat.siblings(1) == (1, 5)
    assert chat.leaf_of(1) == 4
    assert chat.branch(99) == ()


def test_blocks_without_time_and_messages_without_quotes_are_shown():
    text = chat_of(
        "\n### Notes by hand\n\nremember the hotel\n",
        f"\n### {AT} · #7\n\n**User**:\n\nno quote marks\nat all\n\n**Assistant**:\n\n> fine\n\nstray line\n",
    )
    first, second = parse_chat(text).turns
    assert (first.at, first.user, first.n) == ("Notes by hand", "remember the hotel", 1)
    assert (second.n, second.user, second.reply) == (7, "no quote marks\nat all", "fine\n\nstray line")


def test_numbers_used_twice_and_links_to_nothing_are_repaired_and_named():
    text = chat_of(format_turn(AT, 1, "a"), format_turn(AT, 1, "b"), format_turn(AT, 5, "c", after=40))
    chat = parse_chat(text)
    assert [(t.n, t.user) for t in chat.turns] == [(1, "a"), (2, "b"), (5, "c")]
    assert [t.user for t in chat.branch()] == ["a", "b", "c"]
    assert len(chat.problems) == 2


def test_a_block_may_hold_the_assistant_only():
    chat = parse_chat(chat_of(f"\n### {AT} · #1\n\n**Assistant**:\n\n> hello\n"))
    assert [(t.user, t.reply) for t in chat.turns] == [("", "hello")]


@pytest.mark.parametrize("label", ["**Assistant** (stopped):", "**Assistant (stopped)**:", "**Assistant**: (stopped)"])
def test_marks_are_read_wherever_a_hand_put_them(label):
    assert parse_chat(chat_of(f"\n### {AT} · #1\n\n{label}\n\n> half\n")).turns[0].mark == "stopped"


@pytest.mark.parametrize("pointer", ['"999"', "null", "-3", "1.5", "#999", "", "#٣"])
def test_a_pointer_that_cannot_be_hides_nothing(pointer):
    text = with_pointer(chat_of(format_turn(AT, 1, "a"), format_turn(AT, 2, "b")), 1)
    text = text.replace("#1\n\n##", f"{pointer}\n\n##")
    chat = parse_chat(text)
    assert chat.summarized == 0
    assert len(chat.turns) == 2
    assert bool(chat.problems) == bool(pointer)


def test_any_byte_cut_leaves_the_rest_readable():
    text = chat_of(*(format_turn(AT, n, f"question {n}") + format_reply(f"answer {n}") for n in range(1, 5)))
    raw = text.encode()
    for at in range(len(raw)):
        chat = parse_chat((raw[:at] + raw[at + 1 :]).decode("utf-8", "replace"), "20261129_153022")
        shown = "\n".join(f"{t.user}\n{t.reply or ''}" for t in chat.turns)
        whole = [n for n in range(1, 5) if f"question {n}" in shown and f"answer {n}" in shown]
        assert len(whole) >= 3, at


@pytest.mark.parametrize("raw", ["\0" * 65536, "", "\n", "# Chat:", "### \n", "## Conversation\n### x"])
def test_ruined_files_load(raw):
    chat = parse_chat(raw, "20261129_153022")
    assert chat.created == "2026-11-29T15:30:22"
    assert isinstance(chat.turns, tuple)


@given(st.text(alphabet="abc#*\n\r-: ", max_size=80), st.integers(1, 99))
def test_title_and_pointer_change_nothing_else(tail, n):
    text = chat_of(format_turn(AT, 1, tail)) + tail
    renamed = with_title(text, "New")
    assert renamed.replace("# Chat: New", "# Chat: T", 1) == text
    pointed = with_pointer(text, n)
    assert pointed.replace(f"- **Summarized through**: #{n}\n", "", 1) == text
    assert with_pointer(pointed, n + 1).replace(f"#{n + 1}", f"#{n}", 1) == pointed


@given(WORDS, st.booleans())
def test_a_chat_is_marked_private_and_not_and_every_other_line_stays(text: str, crlf: bool) -> None:
    before = chat_of(format_turn(AT, 1, text))
    before = before.replace("\n", "\r\n") if crlf else before
    marked = with_private(before, True)
    assert parse_head(marked).private
    assert with_private(marked, True) == marked
    assert with_private(marked, False) == before


def test_a_private_mark_is_written_in_the_language_of_the_file_and_by_the_hand_that_wrote_it() -> None:
    chinese = f"# {CHINESE.chat}: 旅行\n\n## {CHINESE.metadata}\n\n- **会话 ID**: 1\n\n## {CHINESE.conversation}\n"
    assert "- **私密**: 是" in with_private(chinese, True)
    by_hand = "# Chat: x\n\n## Metadata\n\n- **Private**: no\n- **Tags**: a\n"
    assert with_private(by_hand, True) == by_hand.replace(": no", ": yes")


ARGUMENTS = st.lists(
    st.tuples(st.sampled_from(["text", "query", "since"]), NASTY), max_size=3, unique_by=lambda a: a[0]
)


@given(ARGUMENTS, WORDS)
def test_calls_of_tools_come_back_and_leave_the_messages_alone(given_words: list[tuple[str, str]], reply: str) -> None:
    call = SavedCall("memory_search", tuple(given_words), "found", "MEMORY.md:3; 20261101_101010#2")
    turn = parse_chat(chat_of(format_turn(AT, 1, "hi"), format_call(call), format_reply(reply, "stopped"))).turns[0]
    flat = tuple((name, " ".join(words.split())) for name, words in given_words)
    assert turn.calls == (SavedCall("memory_search", flat, "found", "MEMORY.md:3; 20261101_101010#2"),)
    assert (turn.user, turn.reply, turn.mark) == ("hi", reply, "stopped")


def test_a_chinese_file_names_tools_in_chinese() -> None:
    call = SavedCall("memory_write", (("text", "对花生过敏"),), "written", "MEMORY.md:3")
    block = format_turn(AT, 1, "我对花生过敏", labels=CHINESE) + format_call(call, CHINESE)
    assert "**工具** (memory_write):" in block
    assert parse_chat(chat_of(block)).turns[0].calls == (call,)


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("- **Session ID**: 20261129_153022\n", "", "Session ID"),
        ("- **Session ID**: 20261129_153022", "- **Session ID**: null", "null"),
        ("- **Created**: 2026-11-29T15:30:22+08:00\n", "", "Created"),
        ("- **Created**: 2026-11-29T15:30:22+08:00", "- **Created**: 42", "42"),
        ("- **Participants**", "- **Private**: perhaps\n- **Participants**", "perhaps"),
    ],
)
def test_metadata_that_miss_a_value_or_hold_a_wrong_one_are_named(before: str, after: str, named: str) -> None:
    whole = format_head("20261129_153022", "Trip", AT_HEAD)
    assert not parse_chat(whole, "20261129_153022").problems
    chat = parse_chat(whole.replace(before, after), "20261129_153022")
    assert len(chat.problems) == 1
    assert named in chat.problems[0]
    assert (chat.id, chat.title) == ("20261129_153022", "Trip")


@pytest.mark.parametrize(
    ("written", "private"), [("yes", True), ("no", False), ("", False), ("on", True), ("off", False), ("?", True)]
)
def test_a_private_mark_that_is_no_plain_no_keeps_the_chat_private(written: str, private: bool) -> None:
    text = format_head("20261129_153022", "Trip", AT_HEAD).replace("- **P", f"- **Private**: {written}\n- **P", 1)
    assert parse_head(text).private is private
