"""What was seen of the memory files: a line a change, read by every process, damaged lines cost only themselves."""

from __future__ import annotations

import json

import pytest

from assistant.workspace.seen import SeenCopies
from assistant.workspace.text_files import sha


@pytest.fixture
def seen(tmp_path) -> SeenCopies:
    (tmp_path / "a.md").write_text("text\n")
    return SeenCopies(tmp_path / "seen")


def note(seen: SeenCopies, tmp_path, name: str, actor: str = "you") -> None:
    seen.note(name, b"text\n", tmp_path / "a.md", "sha", actor=actor)


def test_nothing_was_ever_seen(seen):
    assert (seen.files(), seen.of("a.md"), seen.copy("a.md"), seen.begun) == (None, None, None, False)


def test_two_processes_see_what_each_other_noted(seen, tmp_path):
    other = SeenCopies(tmp_path / "seen")
    note(seen, tmp_path, "a.md")
    note(other, tmp_path, "b.md", "assistant")
    note(seen, tmp_path, "a.md", "disk")
    for each in (seen, other, SeenCopies(tmp_path / "seen")):
        assert {name: known.actor for name, known in (each.files() or {}).items()} == {
            "a.md": "disk",
            "b.md": "assistant",
        }


def test_a_torn_or_foreign_line_costs_only_itself(seen, tmp_path):
    note(seen, tmp_path, "a.md")
    with (tmp_path / "seen" / "seen.jsonl").open("ab") as file:
        file.write(b'{"file": 1}\n[]\n\xff\n{"file": "torn", "sh')
    note(seen, tmp_path, "b.md")
    assert (seen.files() or {}).keys() == {"a.md", "b.md"}
    assert (SeenCopies(tmp_path / "seen").files() or {}).keys() == {"a.md", "b.md"}


def test_the_file_does_not_grow_for_ever(seen, tmp_path):
    for _ in range(2_500):
        seen.note_state("a.md", tmp_path / "a.md", "you")
    note(seen, tmp_path, "b.md")
    assert (tmp_path / "seen" / "seen.jsonl").read_bytes().count(b"\n") < 1_100
    assert (seen.files() or {}).keys() == {"a.md", "b.md"}
    assert (tmp_path / "seen" / "seen.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_copy_that_was_changed_or_deleted_is_not_used(seen, tmp_path):
    seen.note("a.md", b"text\n", tmp_path / "a.md", sha(b"text\n"))
    assert seen.copy("a.md") == b"text\n"
    (copy,) = (tmp_path / "seen").glob("*.copy")
    copy.write_bytes(b"forgotten\n")
    assert seen.copy("a.md") is None
    copy.unlink()
    assert seen.copy("a.md") is None


def test_who_wrote_a_file_last_is_listed(make):
    ws = make()
    (ws.root / "memory" / "mine.md").write_text("- by hand\n")
    make()
    ws.memory.remember("likes tea", actor="assistant")
    ws.log.add(ws.clock(), "T", "said")
    listed = {info.file: info.actor for info in ws.memory.files()}
    assert listed == {"MEMORY.md": "assistant", "memory/mine.md": "", "memory/log/2026-11-29.md": "assistant"}
    (ws.root / "memory" / "mine.md").write_text("- by hand, longer\n")
    (ws.root / "memory" / "log" / "2026-11-29.md").write_text("edited\n")
    assert [info.actor for info in ws.memory.files()] == ["assistant", "disk", "disk"]
    before = len(ws.journal.entries())
    assert ws.memory.note_disk_changes() == ["memory/mine.md"], "day logs are not journaled: they grow with every turn"
    assert len(ws.journal.entries()) == before + 1


def test_a_file_that_is_only_touched_keeps_its_author(make, tmp_path):
    ws = make()
    ws.memory.remember("likes tea")
    path = ws.root / "MEMORY.md"
    path.write_bytes(path.read_bytes())
    assert make().memory.note_disk_changes() == []
    assert [info.actor for info in make().memory.files()] == ["you"]


@pytest.mark.parametrize("field", ["file", "sha256", "size", "modified_ns", "actor", "problem"])
@pytest.mark.parametrize("value", [None, True, 1.5, [1], {"a": 1}])
def test_a_field_of_another_kind_costs_its_line(seen, tmp_path, field, value):
    note(seen, tmp_path, "a.md")
    path = tmp_path / "seen" / "seen.jsonl"
    path.write_text(
        json.dumps({**json.loads(path.read_text()), "file": "b.md", field: value}) + "\n" + path.read_text()
    )
    assert list(SeenCopies(tmp_path / "seen").files()) == ["a.md"]
