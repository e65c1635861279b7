"""``keepsake memory`` for notes as whole files: begin, rename, delete, links, drafts."""

from __future__ import annotations

from pathlib import Path

from assistant.workspace.drafts import Draft, Drafts
from tests.cli.conftest import Keepsake


def test_a_note_begins_is_renamed_deleted_and_comes_back(keepsake: Keepsake, tmp_path: Path) -> None:
    folder = tmp_path / "ws" / "memory"
    made = keepsake("memory", "new", "Travel", "--json").json
    assert made["file"] == "memory/Travel.md"
    assert keepsake("memory", "new", "Travel", "--json").json["error"]["code"] == "memory.taken"
    renamed = keepsake("memory", "rename", "Travel", "Trips", "--json").json
    assert (renamed["file"], renamed["was"]) == ("memory/Trips.md", "memory/Travel.md")
    assert keepsake("memory", "link", "[[travel]]", "--json").json["file"] == "memory/Trips.md"
    deleted = keepsake("memory", "delete", "memory/Trips.md", "--json").json
    assert not (folder / "Trips.md").exists()
    assert keepsake("memory", "undo", deleted["journal_id"]).code == 0
    assert (folder / "Trips.md").read_text() == "# Travel\n\n"
    assert keepsake("memory", "link", "Nowhere").code == 1
    assert keepsake("memory", "delete", "MEMORY.md", "--json").json["error"]["code"] == "memory.note"


def test_drafts_are_listed_and_discarded(keepsake: Keepsake, tmp_path: Path) -> None:
    assert keepsake("memory", "drafts", "--json").json == {"drafts": []}
    keepsake("remember", "likes tea")
    folder = next((tmp_path / "st").rglob("seen")).parent / "drafts"
    Drafts(folder).keep(Draft("memory/Travel.md", "mine", "", "", "\n", "2026-11-29T15:30:00+01:00"))
    assert [each["text"] for each in keepsake("memory", "drafts", "--json").json["drafts"]] == ["mine"]
    assert keepsake("memory", "drafts", "--discard", "Travel", "--json").json == {"drafts": []}
