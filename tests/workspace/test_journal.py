"""The journal: every change once, newest first, with what was there before."""

from __future__ import annotations

import contextlib
import json

import pytest

from assistant.core.errors import AssistantError
from assistant.workspace import journal_lines
from assistant.workspace.forgotten_journal import JournalPlace
from assistant.workspace.journal import Journal, Version
from assistant.workspace.memory import Saved
from assistant.workspace.text_files import sha


def version(text: str) -> Version:
    return Version(text, sha(text.encode()))


@pytest.fixture
def journal(ws) -> Journal:
    return ws.journal


def test_entries_come_newest_first_and_by_file(journal):
    for n in range(5):
        journal.record(f"f{n % 2}", "you", version(f"a{n}\n"), version(f"b{n}\n"), f"s{n}")
    assert [e.summary for e in journal.entries()] == ["s4", "s3", "s2", "s1", "s0"]
    assert [e.summary for e in journal.entries(limit=2)] == ["s4", "s3"]
    assert [e.summary for e in journal.entries(path="f1")] == ["s3", "s1"]
    newest = journal.entries(limit=1)[0]
    assert (newest.prior, newest.before_sha, newest.after_sha) == ("a4\n", sha(b"a4\n"), sha(b"b4\n"))
    assert newest.diff == "--- a/f0\n+++ b/f0\n@@ -1,1 +1,1 @@\n-a4\n+b4\n"
    assert newest.time == "2026-11-29T15:30:22+08:00"
    assert journal.get("none") is None


def test_a_torn_line_costs_itself_only(journal, ws):
    journal.record("f", "you", version("a"), version("b"), "first")
    path = ws.data / "journal.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:50])
    journal.record("f", "you", version("b"), version("c"), "second")
    assert [e.summary for e in journal.entries()] == ["second", "first"]


def test_long_lines_are_read_backwards_whole(journal):
    for n in range(3):
        journal.record("f", "you", version(""), version(f"{n}\n" + "x" * 200_000), f"s{n}")
    assert [e.summary for e in journal.entries()] == ["s2", "s1", "s0"]
    assert len(journal.entries()[1].diff) > 200_000


def test_the_newest_of_many_is_read_from_the_end(journal, ws, monkeypatch):
    journal.record("f", "you", version("a"), version("b"), "first")
    path = ws.data / "journal.jsonl"
    record = json.loads(path.read_text())
    with path.open("a") as file:
        for n in range(5000):
            file.write(json.dumps({**record, "id": f"id{n}", "summary": f"s{n}"}) + "\n")
    reads = []
    original = journal_lines.parse_json

    def counting(line):
        reads.append(1)
        return original(line)

    monkeypatch.setattr(journal_lines, "parse_json", counting)
    assert [e.summary for e in journal.entries(limit=3)] == ["s4999", "s4998", "s4997"]
    assert len(reads) == 3


def test_secrets_of_a_prior_text_are_redacted(journal, ws):
    journal.record("f", "disk", version("password: hunter2\n"), version("x\n"), "s")
    assert "hunter2" not in (ws.data / "journal.jsonl").read_text()
    assert journal.entries()[0].prior == "password: «redacted 7 chars»\n"
    assert (ws.data / "journal.jsonl").stat().st_mode & 0o777 == 0o600


def test_the_prior_text_of_a_long_file_is_found_by_going_back(ws):
    (ws.root / "MEMORY.md").write_text("x" * 90 + "\n" + "line of facts\n" * 2000)
    ws.memory.note_disk_changes()
    before = (ws.root / "MEMORY.md").read_text()
    done = [ws.memory.remember(f"thing {word}") for word in ("one", "two", "three")]
    entry = ws.journal.get(done[0].journal_id)
    assert entry
    assert entry.prior == before
    middle = ws.journal.get(done[1].journal_id)
    assert middle
    assert middle.prior == before + "2026-11-29|you|thing one\n"
    size = (ws.data / "journal.jsonl").read_bytes().splitlines()[-1]
    assert len(size) < 2000
    assert isinstance(ws.memory.undo(done[0].journal_id), Saved)
    assert (ws.root / "MEMORY.md").read_text() == before + "2026-11-29|you|thing two\n2026-11-29|you|thing three\n"
    assert [e.can_undo for e in ws.journal.entries(limit=4)] == [True, True, True, False]


def test_what_is_looked_for_is_found_without_reading_the_rest(journal, ws, monkeypatch):
    """A filter, a page, one change: of 5 000 lines only those in question are taken apart."""
    journal.record("f", "you", version("a"), version("b"), "first")
    path = ws.data / "journal.jsonl"
    record = json.loads(path.read_text())
    with path.open("w") as file:
        for n in range(5000):
            rare = {"actor": "import", "path": "memory/rare.md"} if n in (7, 4000) else {}
            undoes = {"undoes": f"id{n - 3}"} if n % 10 == 0 else {}
            file.write(json.dumps({**record, "id": f"id{n}", "summary": '"actor": "import"', **rare, **undoes}) + "\n")
    reads = []
    original = journal_lines.parse_json
    monkeypatch.setattr(journal_lines, "parse_json", lambda line: reads.append(1) or original(line))
    assert [(e.id, e.can_undo) for e in journal.entries(actor="import")] == [("id4000", True), ("id7", False)]
    assert [e.id for e in journal.entries(path="memory/rare.md", before="id4000")] == ["id7"]
    assert [e.id for e in journal.entries(limit=2, before="id3")] == ["id2", "id1"]
    assert journal.entries(before="nothing") == []
    assert len(reads) == 5


@pytest.mark.parametrize("garbage", [b"\xff\x00", b"{", b"[1]", b'{"id": 1}', b'"x"', b'{"id": "a", "path": null}'])
def test_garbage_in_the_journal_costs_itself_only(journal, ws, garbage):
    path = ws.data / "journal.jsonl"
    for n in range(3):
        journal.record("f", "you", version(f"{n}"), version(f"{n + 1}"), f"s{n}")
        path.write_bytes(path.read_bytes() + garbage + b"\n\n")
    assert [e.summary for e in journal.entries()] == ["s2", "s1", "s0"]
    assert [e.summary for e in journal.entries(actor="you", limit=1)] == ["s2"]


def test_what_was_forgotten_is_not_brought_back(ws):
    done = ws.memory.remember("the code word is swordfish")
    ws.memory.remember("likes tea")
    JournalPlace(ws.journal, ws.memory).scrub(["swordfish"])
    entries = {entry.id: entry for entry in ws.journal.entries()}
    assert not entries[done.journal_id].can_undo
    assert "swordfish" not in (ws.data / "journal.jsonl").read_text()
    assert all(entry.can_undo for ident, entry in entries.items() if ident != done.journal_id)


@pytest.mark.parametrize(
    "field",
    ["start", "added_chars", "removed", "added", "prior", "time", "actor", "summary", "diff", "undoes", "batch"],
)
@pytest.mark.parametrize("value", [None, True, -1, 1.5, [1], {"a": 1}])
def test_a_field_that_a_hand_made_something_else_of_costs_only_itself(ws, field, value):
    memory, journal = ws.memory, ws.journal
    memory.remember("likes red tea")
    memory.remember("flies to Shanghai")
    path = ws.data / "journal.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({**line, field: value}) + "\n" for line in lines))
    newest = journal.entries()[0]
    assert len(journal.entries()) == 2 and journal.get(newest.id).path == "MEMORY.md"
    before = (ws.root / "MEMORY.md").read_text()
    with contextlib.suppress(AssistantError):
        memory.undo(newest.id)
    after = (ws.root / "MEMORY.md").read_text()
    assert after in (before, before.splitlines(keepends=True)[0])
