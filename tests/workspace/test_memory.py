"""The one door: nothing a person wrote is lost, nothing is written twice, everything can be taken back."""

from __future__ import annotations

import errno
import os
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.workspace.ids import line_id
from assistant.workspace.memory import Conflict, Saved
from assistant.workspace.text_files import decode

MEMORY = "MEMORY.md"


def raw(ws) -> bytes:
    return (ws.root / MEMORY).read_bytes()


def test_remembering_writes_one_entry(ws):
    done = ws.memory.remember("I take my tea | without milk；really\nyes")
    assert raw(ws).decode() == "2026-11-29|you|I take my tea | without milk\\；really yes\n"
    assert (done.file, done.line, done.redacted, done.duplicate) == (MEMORY, 1, 0, False)
    assert done.id == line_id(MEMORY, raw(ws).decode())
    assert done.text == "I take my tea | without milk；really yes"
    assert (ws.root / MEMORY).stat().st_mode & 0o777 == 0o600


SURROUNDINGS = st.lists(
    st.sampled_from(
        [b"# x", b"\n", b"\r\n", b"\xef\xbb\xbf", b"\xe9", "中".encode(), b"2026-01-01|you|a", b"| t |", b"\xc4"]
    )
).map(b"".join)


@given(SURROUNDINGS | st.binary(max_size=60))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_before_stays_byte_for_byte(ws, before):
    (ws.root / MEMORY).write_bytes(before)
    try:
        done = ws.memory.remember("plain words")
    except AssistantError as error:
        assert error.code in ("workspace.undecodable", "workspace.encoding")
        assert raw(ws) == before
        return
    assert raw(ws).startswith(before)
    assert b"2026-11-29|you|plain words" in raw(ws).replace(b"\0", b"")
    assert ws.memory.document().entries[-1].line == done.line
    assert isinstance(ws.memory.undo(done.journal_id), Saved)
    assert (raw(ws) if (ws.root / MEMORY).exists() else b"") == before


def test_a_file_in_crlf_without_final_newline(ws):
    (ws.root / MEMORY).write_bytes(b"\xef\xbb\xbffact\r\nlast")
    ws.memory.remember("x")
    assert raw(ws) == b"\xef\xbb\xbffact\r\nlast\r\n2026-11-29|you|x\r\n"


def test_a_file_in_gbk_stays_in_gbk(ws):
    text = "我喜欢喝茶，不喝咖啡。\n"
    (ws.root / MEMORY).write_bytes(text.encode("gbk"))
    ws.memory.remember("狗叫来福")
    assert raw(ws).decode("gbk") == text + "2026-11-29|you|狗叫来福\n"


def test_what_the_encoding_lacks_is_refused_in_words(ws):
    (ws.root / MEMORY).write_bytes("café crème\n".encode("latin-1"))
    with pytest.raises(AssistantError) as refused:
        ws.memory.remember("记住")
    assert refused.value.code == "workspace.encoding"
    assert raw(ws) == "café crème\n".encode("latin-1")


def test_a_file_that_is_no_text_is_never_written(ws):
    (ws.root / MEMORY).write_bytes(b"\0" * 4096)
    for work in (lambda: ws.memory.remember("x"), lambda: ws.memory.save(MEMORY, "x", decode(raw(ws)).sha256)):
        with pytest.raises(AssistantError) as refused:
            work()
        assert refused.value.code == "workspace.undecodable"
    assert raw(ws) == b"\0" * 4096


def test_the_same_words_again_write_nothing(ws):
    first = ws.memory.remember("I like tea.")
    again = ws.memory.remember("i  like Tea")
    assert (again.duplicate, again.line, again.id, again.journal_id) == (True, 1, first.id, "")
    assert len(ws.memory.document().entries) == 1
    assert len(ws.journal.entries()) == 1


def test_a_struck_or_expired_item_is_no_duplicate(ws):
    (ws.root / MEMORY).write_text(
        "2026-01-01|you|~~I like tea~~ · superseded 2026-02-01\n2026-01-01|you|gone · until 2026-01-02\n"
    )
    assert not ws.memory.remember("I like tea").duplicate
    assert not ws.memory.remember("gone").duplicate


def test_a_correction_strikes_the_older_entry(ws):
    (ws.root / MEMORY).write_text("dentist is on Tuesday\n")
    ws.memory.remember("dentist is on Tuesday")
    done = ws.memory.remember("dentist is on Friday")
    assert done.superseded == ("dentist is on Tuesday",)
    assert raw(ws).decode() == (
        "dentist is on Tuesday\n"
        "2026-11-29|you|~~dentist is on Tuesday~~ · superseded 2026-11-29\n"
        "2026-11-29|you|dentist is on Friday\n"
    )
    assert done.line == 3
    assert isinstance(ws.memory.undo(done.journal_id), Saved)
    assert raw(ws).decode() == "dentist is on Tuesday\n2026-11-29|you|dentist is on Tuesday\n"


def test_until_dates_an_item_and_can_be_renewed(ws):
    ws.memory.remember("on leave", until=date(2026, 12, 5))
    assert ws.memory.remember("on leave", until=date(2026, 12, 5)).duplicate
    assert ws.memory.remember("on leave", until=date(2026, 12, 9)).superseded == ("on leave",)
    assert "on leave · until 2026-12-09" in raw(ws).decode()


def test_secrets_are_redacted_unless_kept_by_choice(ws):
    assert ws.memory.remember("wifi password: hunter2").redacted == 1
    assert b"hunter2" not in raw(ws)
    assert ws.memory.remember("door password: hunter3", keep_secrets=True).redacted == 0
    assert b"hunter3" in raw(ws)


def test_nothing_and_too_much_are_refused(ws):
    for text, code in (("", "memory.empty"), (" \n ", "memory.empty"), ("x" * 10_001, "memory.long")):
        with pytest.raises(AssistantError) as refused:
            ws.memory.remember(text)
        assert refused.value.code == code
    assert not (ws.root / MEMORY).exists()


def test_topic_notes_get_bullets(ws):
    (ws.root / "memory" / "travel.md").write_text("---\ntitle: Travel\n---\nText")
    done = ws.memory.remember("visa until May", topic="travel")
    assert (ws.root / done.file).read_text() == "---\ntitle: Travel\n---\nText\n- visa until May\n"
    assert done.line == 5
    assert ws.memory.remember("Visa until May", topic="travel").duplicate
    with pytest.raises(AssistantError):
        ws.memory.remember("x", topic="con")


def test_a_distilled_entry_is_written_even_when_all_is_known(ws):
    ws.memory.remember("likes tea")
    done = ws.memory.append_entry(["likes tea", "has a dog"], source="tool", actor="assistant")
    assert done.text == "has a dog"
    done = ws.memory.append_entry(["likes tea", "has a dog"], source="chat:20261129_153022#1-4", actor="upkeep")
    assert not done.duplicate
    assert raw(ws).decode().endswith("2026-11-29|chat:20261129_153022#1-4|likes tea；has a dog\n")


def test_saving_over_a_file_that_changed_is_refused_with_all_texts(ws):
    (ws.root / MEMORY).write_text("one\ntwo\nthree\n")
    ws.memory.note_disk_changes()
    base = ws.memory.read(MEMORY)
    ws.memory.remember("written meanwhile")
    answer = ws.memory.save(MEMORY, "ONE\ntwo\nthree\n", base.sha256)
    assert isinstance(answer, Conflict)
    assert (answer.base, answer.mine) == ("one\ntwo\nthree\n", "ONE\ntwo\nthree\n")
    assert "written meanwhile" in answer.theirs
    assert answer.merged == "ONE\ntwo\nthree\n2026-11-29|you|written meanwhile\n"
    done = ws.memory.save(MEMORY, answer.merged, answer.theirs_sha)
    assert isinstance(done, Saved)
    assert raw(ws).decode() == answer.merged


def test_saving_keeps_the_bytes_of_the_lines_that_stay(ws):
    (ws.root / MEMORY).write_bytes("\ufeff中文很好\r\n中\r\n".encode() + b"b\xe9\r\nc")
    base = ws.memory.read(MEMORY)
    assert base.writable
    ws.memory.save(MEMORY, base.text.replace("\r\n", "\n").replace("c", "see\nd"), base.sha256)
    assert raw(ws) == "\ufeff中文很好\r\n中\r\n".encode() + b"b\xe9\r\nsee\r\nd"


def test_saving_redacts_what_is_new_and_leaves_what_was_there(ws):
    (ws.root / MEMORY).write_text("password: byhand1\n")
    base = ws.memory.read(MEMORY)
    done = ws.memory.save(MEMORY, base.text + "password: newone2\n", base.sha256)
    assert isinstance(done, Saved)
    assert done.redacted == 1
    assert raw(ws).decode() == "password: byhand1\npassword: «redacted 7 chars»\n"
    journal = (ws.data / "journal.jsonl").read_text()
    assert "byhand1" not in journal
    assert "newone2" not in journal


def test_a_new_file_is_saved_and_its_undo_removes_it(ws):
    done = ws.memory.save("memory/plans.md", "# Plans\n", "")
    assert isinstance(done, Saved)
    assert isinstance(ws.memory.save("memory/plans.md", "other", ""), Conflict)
    assert ws.memory.save("memory/plans.md", "# Plans\n", done.sha256) == Saved("", done.sha256)
    ws.memory.undo(done.journal_id)
    assert not (ws.root / "memory" / "plans.md").exists()
    redo = ws.journal.entries(limit=1)[0]
    assert redo.actor == "undo"
    ws.memory.undo(redo.id)
    assert (ws.root / "memory" / "plans.md").read_text() == "# Plans\n"


def test_undo_merges_with_what_came_later(ws):
    ids = [ws.memory.remember(text).journal_id for text in ("likes tea", "has a dog", "plays chess")]
    assert isinstance(ws.memory.undo(ids[1]), Saved)
    assert [e.items[0].text for e in ws.memory.document().entries] == ["likes tea", "plays chess"]
    with pytest.raises(AssistantError) as twice:
        ws.memory.undo(ids[1])
    assert twice.value.code == "journal.undone"
    with pytest.raises(AssistantError) as unknown:
        ws.memory.undo("nothing")
    assert unknown.value.code == "journal.missing"


def test_undo_of_a_line_that_was_edited_since_is_a_conflict(ws):
    done = ws.memory.remember("likes tea")
    (ws.root / MEMORY).write_text("2026-11-29|you|likes green tea\n")
    answer = ws.memory.undo(done.journal_id)
    assert isinstance(answer, Conflict)
    assert raw(ws).decode() == "2026-11-29|you|likes green tea\n"


def test_changes_by_other_programs_are_journaled_with_the_prior_text(make):
    ws = make()
    ws.memory.remember("likes tea")
    (ws.root / MEMORY).write_text("all new\n")
    (ws.root / "memory" / "made.md").write_text("made\n")
    later = make("2026-11-30T08:00:00+08:00")
    entries = later.journal.entries()
    assert [(e.path, e.actor) for e in entries[:2]] == [("memory/made.md", "disk"), (MEMORY, "disk")]
    assert entries[1].prior == "2026-11-29|you|likes tea\n"
    assert "-2026-11-29|you|likes tea" in entries[1].diff
    assert later.memory.note_disk_changes() == []
    later.memory.undo(entries[1].id)
    assert raw(ws).decode() == "2026-11-29|you|likes tea\n"
    (ws.root / MEMORY).unlink()
    assert later.memory.note_disk_changes() == [MEMORY]
    later.memory.undo(later.journal.entries(limit=1)[0].id)
    assert raw(ws).decode() == "2026-11-29|you|likes tea\n"


def test_who_listens_hears_of_every_change(ws):
    heard = []
    ws.memory.subscribe(lambda *news: heard.append(news))
    done = ws.memory.remember("likes tea")
    assert heard == [(MEMORY, "you", done.journal_id, "Remembered: likes tea")]
    (ws.root / MEMORY).write_text("x\n")
    ws.memory.remember("has a dog")
    assert [actor for _, actor, _, _ in heard] == ["you", "disk", "you"]


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_full_disk_changes_nothing(ws, monkeypatch, call):
    ws.memory.remember("dentist is on Tuesday")
    before = raw(ws)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    for text in ("has a dog", "dentist is on Friday"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, full)
            with pytest.raises(AssistantError) as failed:
                ws.memory.remember(text)
            assert failed.value.code == "disk.full"
        assert raw(ws) == before
        assert not [p for p in ws.root.iterdir() if p.name.startswith(".")]
    ws.memory.remember("has a dog")
    assert [e.actor for e in ws.journal.entries()] == ["you", "you"]


def test_a_journal_that_cannot_be_written_stops_the_change(ws, monkeypatch):
    ws.memory.remember("dentist is on Tuesday")
    before = raw(ws)

    def fail(*_: object, **__: object) -> None:
        raise AssistantError("disk.full", "The disk is full.")

    for text in ("has a dog", "dentist is on Friday"):
        with monkeypatch.context() as patch:
            patch.setattr("assistant.workspace.journal.append_lines", fail)
            with pytest.raises(AssistantError):
                ws.memory.remember(text)
        assert raw(ws) == before
    assert ws.memory.note_disk_changes() == []


def test_a_large_file_is_kept_whole(ws):
    text = "".join(f"fact {n} {'x' * 90}\n" for n in range(1000))
    (ws.root / MEMORY).write_text(text)
    ws.memory.remember("one more")
    assert raw(ws).decode() == text + "2026-11-29|you|one more\n"


def test_files_lists_what_is_there_with_its_problems(ws):
    ws.memory.remember("x")
    (ws.root / "memory" / "bad.md").write_text('---\ndescription: "abc "def" ghi"\n---\n')
    ws.log.add(ws.clock(), "T", "said")
    kinds = {info.file: (info.kind, bool(info.problem)) for info in ws.memory.files()}
    assert kinds == {
        MEMORY: ("memory", False),
        "memory/bad.md": ("topic", True),
        "memory/log/2026-11-29.md": ("log", False),
    }


def test_a_link_in_the_workspace_is_written_through(ws):
    (ws.root / "memory" / "real.md").write_text("r\n")
    (ws.root / "memory" / "link.md").symlink_to("real.md")
    ws.memory.remember("more", topic="link")
    assert (ws.root / "memory" / "link.md").is_symlink()
    assert (ws.root / "memory" / "real.md").read_text() == "r\n- more\n"


def test_a_nul_does_not_make_the_file_unreadable(ws):
    read = ws.memory.read("MEMORY.md")
    ws.memory.save("MEMORY.md", "- a\0b\n", read.sha256)
    ws.memory.remember("tea \0 with milk")
    assert ws.problems() == []
    assert "- a\ufffdb" in ws.memory.read("MEMORY.md").text


def test_a_source_is_redacted_like_the_text(ws):
    written = ws.memory.remember("tea", source="mail of sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")
    assert "sk-proj" not in (ws.root / written.file).read_text()
    assert "redacted" in (ws.root / written.file).read_text()
