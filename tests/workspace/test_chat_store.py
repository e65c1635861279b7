"""Chats on disk: what was said is there, in its place, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.workspace import append_log, chat_files
from assistant.workspace.chat_store import ChatStore


def said(store: ChatStore, ident: str) -> list[tuple[str, str | None]]:
    return [(turn.user, turn.reply) for turn in store.read(ident).turns]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives_the_disk(ws, turns):
    ident = ws.chats.create("t")
    for user, reply in turns:
        ws.chats.end_turn(ident, ws.chats.begin_turn(ident, user, keep_secrets=True).n, reply)
    assert [user for user, _ in said(ws.chats, ident)] == [user for user, _ in turns]


def test_what_no_text_file_can_hold_is_replaced(ws):
    ident = ws.chats.create("a\ud800b")
    start = ws.chats.begin_turn(ident, "x\udfff\0y")
    ws.chats.keep_partial(ident, start.n, "\ud800")
    ws.chats.end_turn(ident, start.n, "z\ud83d")
    assert said(ws.chats, ident) == [("x\ufffd\ufffdy", "z\ufffd")]
    assert ws.problems() == []


def test_the_words_are_on_disk_before_the_reply(ws):
    ident = ws.chats.create()
    start = ws.chats.begin_turn(ident, "hello")
    assert said(ws.chats, ident) == [("hello", None)]
    assert (start.n, start.text, start.redacted) == (1, "hello", 0)
    assert ws.chats.path(ident).stat().st_mode & 0o777 == 0o600


def test_secrets_never_reach_the_file(ws):
    ident = ws.chats.create()
    start = ws.chats.begin_turn(ident, "password: hunter2 please")
    ws.chats.end_turn(ident, start.n, "I saw hunter2? No: password=hunter2")
    assert (start.text, start.redacted) == ("password: «redacted 7 chars» please", 1)
    assert "password=hunter2" not in ws.chats.path(ident).read_text()


def test_a_reply_goes_into_its_own_block_when_another_turn_began(ws, make):
    ident = ws.chats.create()
    other = make().chats
    first, second = ws.chats.begin_turn(ident, "one"), other.begin_turn(ident, "two")
    ws.chats.end_turn(ident, first.n, "reply one", "stopped")
    other.end_turn(ident, second.n, "reply two")
    assert said(ws.chats, ident) == [("one", "reply one"), ("two", "reply two")]
    assert ws.chats.read(ident).turns[0].mark == "stopped"


def test_edit_and_resend_keeps_both_branches(ws):
    ident = ws.chats.create()
    for text in "abc":
        ws.chats.end_turn(ident, ws.chats.begin_turn(ident, text).n, text.upper())
    assert ws.chats.begin_turn(ident, "b2", after=1).n == 4
    assert ws.chats.begin_turn(ident, "a2", after=0).n == 5
    assert ws.chats.begin_turn(ident, "next", after=5).n == 6
    chat = ws.chats.read(ident)
    assert [t.user for t in chat.branch(3)] == ["a", "b", "c"]
    assert [t.user for t in chat.branch(4)] == ["a", "b2"]
    assert [t.user for t in chat.branch()] == ["a2", "next"]
    with pytest.raises(AssistantError, match="no turn #9"):
        ws.chats.begin_turn(ident, "x", after=9)


def test_past_a_megabyte_the_chat_goes_on_in_another_file(ws, monkeypatch):
    monkeypatch.setattr(chat_files, "PART_BYTES", 2000)
    ident = ws.chats.create("Long")
    for n in range(30):
        ws.chats.end_turn(ident, ws.chats.begin_turn(ident, f"q{n} " + "x" * 100).n, f"a{n}")
    names = [path.name for path in ws.chats.paths(ident)]
    assert names[:2] == [f"{ident}.md", f"{ident}_part2.md"]
    assert len(names) > 2
    chat = ws.chats.read(ident)
    assert [t.n for t in chat.turns] == list(range(1, 31))
    assert [t.reply for t in chat.turns] == [f"a{n}" for n in range(30)]
    assert chat.title == "Long"
    (info,) = ws.chats.list()
    assert (info.turns, info.title) == (30, "Long")


def test_a_reply_to_a_turn_of_an_earlier_part_finds_it(ws, monkeypatch):
    monkeypatch.setattr(chat_files, "PART_BYTES", 300)
    ident = ws.chats.create()
    first = ws.chats.begin_turn(ident, "x" * 400)
    ws.chats.begin_turn(ident, "second")
    ws.chats.end_turn(ident, first.n, "late")
    assert [t.reply for t in ws.chats.read(ident).turns] == ["late", None]


def test_a_turn_reads_the_end_of_the_file_only(ws, monkeypatch):
    ident = ws.chats.create()
    path = ws.chats.path(ident)
    for n in range(3):
        ws.chats.end_turn(ident, ws.chats.begin_turn(ident, "x" * 100_000).n, f"a{n}")
    fresh = ChatStore(ws.root, ws.data, ws.state, ws.clock)
    read = []
    original = chat_files._from_end

    def counting(which: Path):
        for text in original(which):
            read.append(len(text))
            yield text

    monkeypatch.setattr(chat_files, "_from_end", counting)
    ws.chats.end_turn(ident, ws.chats.begin_turn(ident, "short").n, "short")
    read.clear()
    assert fresh.begin_turn(ident, "next").n == 5
    assert sum(read) < 50_000 < path.stat().st_size


@pytest.mark.parametrize(
    "title", ['<>:"/\\|?*', "👩‍👩‍👧", "x" * 300, "dot.", "CON", "   ", "# not | a heading", "a: b"]
)
def test_any_title_is_saved_and_found(ws, title):
    ident = ws.chats.create(title)
    assert ws.chats.read(ident).title == title
    assert [info.title for info in ws.chats.list()] == [title]
    ws.chats.rename(ident, "x")
    ws.chats.rename(ident, title)
    assert ws.chats.list()[0].title == title


def test_rename_before_the_first_message(ws):
    ident = ws.chats.create()
    ws.chats.rename(ident, "Two\nlines")
    ws.chats.begin_turn(ident, "hi")
    chat = ws.chats.read(ident)
    assert (chat.title, len(chat.turns)) == ("Two lines", 1)


def test_two_chats_of_one_second_have_two_ids(ws):
    assert [ws.chats.create() for _ in range(3)] == ["20261129_153022", "20261129_153022_2", "20261129_153022_3"]


def test_deletion_can_be_undone_until_it_is_purged(ws, tmp_path):
    ident = ws.chats.create("Secret plans")
    ws.chats.begin_turn(ident, "the treasure is under the oak")
    deleted = ws.chats.delete(ident)
    assert ws.chats.list() == []
    with pytest.raises(AssistantError) as gone:
        ws.chats.begin_turn(ident, "still streaming")
    assert gone.value.code == "chat.missing"
    ws.chats.restore(deleted)
    assert said(ws.chats, ident) == [("the treasure is under the oak", None)]
    ws.chats.keep_partial(ident, 1, "treasure indeed")
    deleted = ws.chats.delete(ident)
    assert [each.title for each in ws.chats.deleted()] == ["Secret plans"]
    ws.chats.purge(deleted)
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"treasure" not in everything
    assert b"Secret plans" not in everything
    with pytest.raises(AssistantError):
        ws.chats.restore(deleted)


def test_the_list_of_a_thousand_chats_is_right_cold_and_warm(ws):
    start = datetime.fromisoformat("2026-01-01T08:00:00+08:00")
    for n in range(1000):
        at = (start + timedelta(hours=n)).isoformat()
        ident = f"{start + timedelta(hours=n):%Y%m%d_%H%M%S}"
        folder = ws.root / "chats" / at[:7]
        folder.mkdir(exist_ok=True)
        blocks = "".join(f"\n### {at} · #{k}\n\n**User**:\n\n> m\n" for k in range(1, n % 3 + 1))
        head = (
            f"# Chat: Title {n}\n\n## Metadata\n\n- **Session ID**: {ident}\n- **Created**: {at}\n\n## Conversation\n"
        )
        (folder / f"{ident}.md").write_text(head + blocks)
    cold = ws.chats.list()
    assert [info.title for info in cold] == [f"Title {n}" for n in reversed(range(1000))]
    assert [info.turns for info in cold] == [n % 3 for n in reversed(range(1000))]
    again = ChatStore(ws.root, ws.data, ws.state, ws.clock)
    assert again.list() == cold
    again.begin_turn(cold[-1].id, "revived")
    assert ws.chats.list()[0].id == cold[-1].id
    assert ws.chats.list()[0].turns == 1


def test_a_ruined_file_is_listed_and_the_rest_loads(ws):
    good = ws.chats.create("Good")
    folder = ws.root / "chats" / "2026-11"
    (folder / "20261101_000000.md").write_bytes(b"\0" * 65536)
    (folder / "notes by hand.md").write_text("nothing of a chat")
    infos = {info.id: info for info in ws.chats.list()}
    assert set(infos) == {good, "20261101_000000", "notes by hand"}
    assert ws.chats.read("20261101_000000").turns == ()
    assert {file for file, _ in ws.problems() if file.startswith("chats/")} == {
        "chats/2026-11/20261101_000000.md",
        "chats/2026-11/notes by hand.md",
    }
    assert ws.chats.begin_turn("20261101_000000", "goes on").n == 1
    assert said(ws.chats, "20261101_000000") == [("goes on", None)]


def test_a_file_in_chinese_with_crlf_goes_on_as_it_is(ws):
    folder = ws.root / "chats" / "2026-11"
    folder.mkdir()
    path = folder / "20261101_080000.md"
    old = "# 会话: 旅行\n\n## 元数据\n\n- **创建时间**: 2026-11-01T08:00:00+08:00\n\n## 对话记录\n\n"
    old += "### 2026-11-01T08:00:00+08:00 · #1\n\n**用户**:\n\n> 你好"
    raw = old.replace("\n", "\r\n").encode()
    path.write_bytes(raw)
    start = ws.chats.begin_turn("20261101_080000", "再见\n")
    ws.chats.end_turn("20261101_080000", start.n, "嗯\r\n好")
    written = path.read_bytes()
    assert written.startswith(raw)
    assert "**助手**:\r\n".encode() in written
    assert said(ws.chats, "20261101_080000") == [("你好", None), ("再见\n", "嗯\r\n好")]


def test_key_points_between_turns_do_not_swallow_a_reply(ws):
    ident = ws.chats.create()
    start = ws.chats.begin_turn(ident, "q")
    with ws.chats.path(ident).open("a") as file:
        file.write("\n## Key points\n\n> - something\n")
    ws.chats.end_turn(ident, start.n, "a")
    chat = ws.chats.read(ident)
    assert [(t.user, t.reply) for t in chat.turns] == [("q", "a")]
    assert "something" in chat.key_points
    assert ws.chats.begin_turn(ident, "q2").n == 2


def test_the_pointer_moves_and_stays(ws):
    ident = ws.chats.create()
    ws.chats.begin_turn(ident, "a")
    ws.chats.set_summarized(ident, 1)
    ws.chats.begin_turn(ident, "b")
    assert ws.chats.read(ident).summarized == 1


def test_a_block_without_number_still_counts(ws):
    ident = ws.chats.create()
    with ws.chats.path(ident).open("a") as file:
        file.write("\n### 2026-11-29T15:31:00+08:00\n\n**User**:\n\n> by hand\n")
    assert ws.chats.begin_turn(ident, "next").n == 2
    assert ws.chats.list()[0].turns == 2


def test_ids_never_lead_out(ws):
    for ident in ("../x", "a/b", "", ".hidden", "x\0"):
        with pytest.raises(AssistantError) as refused:
            ws.chats.read(ident)
        assert refused.value.code == "workspace.path"


def test_a_private_chat_says_so(ws):
    ident = ws.chats.create("p", private=True)
    assert ws.chats.list()[0].private
    assert ws.chats.read(ident).private


def test_a_workspace_that_is_gone_says_so(ws):
    ident = ws.chats.create()
    ws.root.rename(ws.root.with_name("elsewhere"))
    for work in (lambda: ws.chats.begin_turn(ident, "x"), ws.chats.create, lambda: ws.memory.remember("x")):
        with pytest.raises(AssistantError) as gone:
            work()
        assert gone.value.code == "workspace.gone"
    assert not ws.root.exists()


def test_a_session_over_midnight_is_dated_locally(make):
    ident = make("2026-11-29T03:53:00+08:00").chats.create()
    assert ident.startswith("20261129_0353")
    store = make("2026-11-30T00:01:00+08:00")
    store.chats.begin_turn(ident, "late")
    assert store.chats.read(ident).last_active == "2026-11-30T00:01:00+08:00"


def test_a_state_folder_deleted_while_a_reply_arrives_is_made_again(ws, make):
    ident = ws.chats.create()
    n = ws.chats.begin_turn(ident, "hello").n
    ws.chats.keep_partial(ident, n, "one")
    shutil.rmtree(ws.state)
    ws.chats.keep_partial(ident, n, "one two")
    assert make().chats.recover() == []  # ours, and we live
    ws.chats.close()
    assert make().chats.recover() == [(ident, n)]
    assert said(ws.chats, ident) == [("hello", "one two")]


def test_a_pending_reply_goes_with_a_chat_that_was_deleted_for_good(ws, make):
    ident = ws.chats.create()
    ws.chats.keep_partial(ident, ws.chats.begin_turn(ident, "hello").n, "secret plans")
    deleted = make().chats.delete(ident)
    ws.chats.close()
    other = make().chats
    assert other.recover() == []
    assert list((ws.state / "pending").glob("*.json"))  # it may be restored yet
    other._trash.purge(deleted)  # as a purge of another process, while the reply arrived
    other.recover()
    assert not list((ws.state / "pending").iterdir())


def test_signs_of_life_of_processes_killed_between_two_replies_are_cleared_away(ws, make):
    ident = ws.chats.create()
    ws.chats.keep_partial(ident, ws.chats.begin_turn(ident, "hello").n, "one")
    ws.chats.end_turn(ident, 1, "one")
    old = ws.state / "pending" / "1-dead.alive"
    old.touch()
    os.utime(old, (1, 1))
    make().chats.recover()
    assert [path.name for path in (ws.state / "pending").iterdir()] == [f"{ws.chats._pending._owner}.alive"]


def _full_disk(path, data):
    raise AssistantError("disk.full", "The disk is full.")


def test_a_full_state_folder_costs_no_words(ws, monkeypatch):
    ident = ws.chats.create()
    monkeypatch.setattr(append_log, "write_atomic", _full_disk)
    ws.chats.end_turn(ident, ws.chats.begin_turn(ident, "hello").n, "world")
    assert said(ws.chats, ident) == [("hello", "world")]


@pytest.mark.parametrize(
    ("file", "ident"),
    [
        ("chats/2026-11/20261130_120000.md", "20261130_120000"),
        ("chats/2026-11/20261130_120000_part2.md", "20261130_120000"),
        ("chats/other/the_party_part12.md", "the_party"),
        ("chats/other/a_parting_word.md", "a_parting_word"),
    ],
)
def test_a_file_names_its_chat_whatever_that_is_called(file, ident):
    assert chat_files.chat_of(file) == ident


def test_an_id_that_is_longer_than_a_file_name_is_no_chat(ws):
    with pytest.raises(AssistantError) as missing:
        ws.chats.read("字" * 150)
    assert missing.value.code == "chat.missing"
    assert not ws.chats.is_private("字" * 150)


def test_a_private_chat_with_a_long_head_is_private_everywhere(ws):
    ident = ws.chats.create("Diary")
    ws.chats.begin_turn(ident, "hello")
    path = ws.chats.path(ident)
    path.write_text(path.read_text().replace("## Metadata", "Notes of my own. " * 600 + "\n\n## Metadata"))
    ws.chats.set_private(ident, True)
    assert ws.chats.read(ident).private
    assert ws.chats.is_private(ident)
    assert [info.private for info in ws.chats.list()] == [True]


@pytest.mark.parametrize(("word", "private"), [("y", True), ("Yes, please", True), ("", False), ("No", False)])
def test_a_word_for_private_that_is_not_known_keeps_a_chat_private(ws, word, private):
    ident = ws.chats.create("Diary", private=True)
    path = ws.chats.path(ident)
    path.write_text(path.read_text().replace("**Private**: yes", f"**Private**: {word}"))
    assert ws.chats.is_private(ident) == private


def test_a_folder_of_chats_that_may_not_be_read_is_said_to_be_unreadable(ws, monkeypatch):
    def refused(*_args, **_more):
        raise PermissionError(errno.EACCES, "Permission denied")

    ident = ws.chats.create("Diary")
    for name in ("is_file", "open"):
        with monkeypatch.context() as patched:
            patched.setattr(f"pathlib.Path.{name}", refused)
            with pytest.raises(AssistantError) as unreadable:
                ws.chats.is_private(ident)
        assert unreadable.value.code == "workspace.unreadable"
        assert "cannot be read" in unreadable.value.message
