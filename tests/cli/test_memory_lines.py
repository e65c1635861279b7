"""``keepsake memory``: files, single lines, the journal's filters, undo and tidying up, as a script meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Keepsake

NOW = ("--now", "2026-11-29T15:30:00+08:00")


def memory(tmp_path: Path) -> Path:
    return tmp_path / "ws" / "MEMORY.md"


def test_a_line_is_struck_edited_and_removed_by_its_id(keepsake: Keepsake, tmp_path: Path) -> None:
    uid = keepsake("remember", "likes tea", "--json", *NOW).json["id"]
    edited = keepsake("memory", "edit", uid, "likes green tea", "--json", *NOW)
    assert edited.json.keys() == {"file", "journal_id", "sha256", "redacted"}
    assert memory(tmp_path).read_text() == "2026-11-29|you|likes green tea\n"
    (hit,) = keepsake("recall", "green tea", "--json").json["hits"]
    assert keepsake("memory", "strike", hit["id"], *NOW).code == 0
    assert memory(tmp_path).read_text() == "2026-11-29|you|~~likes green tea~~ · superseded 2026-11-29\n"
    (hit,) = keepsake("recall", "green tea", "--json").json["hits"]
    assert keepsake("memory", "strike", hit["id"], "--json", *NOW).json["journal_id"] == ""
    assert keepsake("memory", "remove", hit["id"]).out.startswith("Removed")
    assert memory(tmp_path).read_text() == ""
    failed = keepsake("memory", "remove", hit["id"], "--json")
    assert (failed.code, failed.json["error"]["code"]) == (1, "memory.unit")


def test_files_and_one_file(keepsake: Keepsake) -> None:
    keepsake("remember", "likes tea")
    keepsake("remember", "oolong", "--topic", "Tea")
    files = keepsake("memory", "files", "--json").json["files"]
    assert [(file["file"], file["kind"], file["actor"]) for file in files] == [
        ("MEMORY.md", "memory", "you"),
        ("memory/Tea.md", "topic", "you"),
    ]
    shown = keepsake("memory", "show", "memory/Tea.md", "--json").json
    assert (shown["text"], len(shown["sha256"])) == ("- oolong\n", 64)
    assert keepsake("memory", "show", "memory/Coffee.md").code == 1
    assert "oolong" in keepsake("memory", "files").out or "Tea.md" in keepsake("memory", "files").out


def test_a_whole_file_is_written_unless_it_changed(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("remember", "likes tea", *NOW)
    shown = keepsake("memory", "show", "--json").json
    done = keepsake("memory", "write", "MEMORY.md", "--base", shown["sha256"], stdin="# Me\n" + shown["text"])
    assert done.code == 0
    failed = keepsake("memory", "write", "MEMORY.md", "--base", shown["sha256"], "--json", stdin="mine\n")
    assert failed.code == 1
    assert failed.json["error"]["code"] == "memory.conflict"
    assert (failed.json["mine"], failed.json["theirs"]) == ("mine\n", "# Me\n2026-11-29|you|likes tea\n")
    assert memory(tmp_path).read_text() == failed.json["theirs"]
    assert failed.err.count("\n") == 1
    assert keepsake("memory", "write", "memory/new.md", stdin="- x\n").code == 0
    assert keepsake("memory", "write", "memory/new.md", stdin="- y\n").code == 1


def test_the_journal_by_actor_file_and_page(keepsake: Keepsake) -> None:
    for topic in ("A", "B", "A"):
        keepsake(
            "remember", f"thing of {topic} number {keepsake('memory', 'journal').out.count('you')}", "--topic", topic
        )
    entries = keepsake("memory", "journal", "--json").json["entries"]
    assert len(entries) == 3
    of_a = keepsake("memory", "journal", "--file", "memory/A.md", "--json").json["entries"]
    assert [entry["id"] for entry in of_a] == [entries[0]["id"], entries[2]["id"]]
    assert keepsake("memory", "journal", "--actor", "disk", "--json").json["entries"] == []
    page = keepsake("memory", "journal", "--limit", "1", "--before", entries[0]["id"], "--json").json["entries"]
    assert page == [entries[1]]


def test_an_undo_that_clashes_gives_both_texts(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("remember", "likes tea", *NOW)
    (entry,) = keepsake("memory", "journal", "--json").json["entries"]
    memory(tmp_path).write_text("2026-11-29|you|likes green tea\n")
    failed = keepsake("memory", "undo", entry["id"], "--json")
    assert (failed.code, failed.json["error"]["code"]) == (1, "memory.conflict")
    assert failed.json["theirs"] == "2026-11-29|you|likes green tea\n"
    assert "likes" not in failed.json["mine"]


def test_tidying_up_lists_what_cannot_both_hold(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("memory", "tidy")
    memory(tmp_path).write_text("- The desk costs 20 euros\n\n2026-01-02|you|the desk costs 30 euros\n")
    said = keepsake("memory", "tidy").out
    assert "cannot both hold: The desk costs 20 euros / the desk costs 30 euros" in said
    shown = keepsake("memory", "tidy", "--json").json
    assert (shown["conflicts"], len(shown["contradictions"])) == (1, 1)


def test_tidying_up_shows_the_diff_first_and_is_undone_as_one(keepsake: Keepsake, tmp_path: Path) -> None:
    assert keepsake("memory", "tidy").out == "Nothing to tidy up.\n"
    before = "2026-01-01|you|visa · until 2026-02-01\n2026-01-02|you|tea\n2026-01-03|you|tea\n"
    memory(tmp_path).write_text(before)
    shown = keepsake("memory", "tidy", "--json", *NOW).json
    assert shown["applied"] is False
    assert shown["batch"] == ""
    assert [each["text"] for each in shown["moved"]] == ["visa"]
    assert [each["kept"] for each in shown["merged"]] == [2]
    assert shown["conflicts"] == 0
    assert memory(tmp_path).read_text() == before
    assert "keepsake memory tidy --apply" in keepsake("memory", "tidy", *NOW).out
    done = keepsake("memory", "tidy", "--apply", "--json", *NOW).json
    assert done["applied"] is True
    assert memory(tmp_path).read_text() == "2026-01-02|you|tea\n"
    assert "visa" in (tmp_path / "ws" / "memory" / "archive.md").read_text()
    assert keepsake("memory", "undo", done["batch"]).code == 0
    assert memory(tmp_path).read_text() == before


@pytest.mark.parametrize("words", [("strike",), ("edit", "x"), ("write",), ("journal", "--limit", "x")])
def test_wrong_usage(keepsake: Keepsake, words: tuple[str, ...]) -> None:
    assert keepsake("memory", *words).code == 2
