"""The files page over the real services: what it does is on disk, in the journal, in recall, and can be taken back."""

from __future__ import annotations

from pathlib import Path

from assistant.core.values import RecallQuery
from assistant.ui.memory.files import FilesPage

from .conftest import House, OpenHouse


def open_files(house: House) -> FilesPage:
    house.window.show_memory_page("files")
    page = house.window.memory_panel().files
    house.wait(lambda: page.open.base is not None)
    return page


def test_a_note_begins_is_found_renamed_deleted_and_comes_back(scripted: OpenHouse, tmp_path: Path) -> None:
    house, folder = scripted(), tmp_path / "ws" / "memory"
    page = open_files(house)
    page.doings.ask_new("Boats")
    page.doings.new_note.create_button.click()  # type: ignore[union-attr]  # just asked for
    house.wait(lambda: page.current == "memory/Boats.md" and page.open.base is not None)
    page.editor.appendPlainText("The Ariel lies in the harbour of Zadar.")
    page.save()
    house.wait(lambda: not page.dirty())
    house.wait(lambda: house.services.search(RecallQuery("Ariel harbour")).hits)
    house.wait(lambda: page.model.row_of("memory/Boats.md") >= 0)
    page.doings.rename("memory/Boats.md", "memory/Ships.md", True)
    house.wait(lambda: page.current == "memory/Ships.md" and page.open.base is not None)
    assert not (folder / "Boats.md").exists()
    page.doings.delete("memory/Ships.md")
    house.wait(lambda: page.current == "MEMORY.md")
    assert not (folder / "Ships.md").exists()
    (toast,) = [each for each in house.window.toasts.shown() if "Deleted" in each.text()]
    toast.action_button().click()
    house.wait((folder / "Ships.md").exists)
    assert "Zadar" in (folder / "Ships.md").read_text()
    actors = {entry.actor for entry in house.services.workspace.journal.entries(path="memory/Ships.md")}
    assert actors == {"you", "undo"}


def test_two_writers_of_one_file_both_stay(scripted: OpenHouse, tmp_path: Path) -> None:
    """Case 24, end to end: typed in the panel, written in vim and by the assistant, saved without a question."""
    house, main = scripted(), tmp_path / "ws" / "MEMORY.md"
    house.services.remember("likes tea")
    page = open_files(house)
    house.wait(lambda: "likes tea" in page.editor.toPlainText())
    page.editor.insertPlainText("# Typed in the panel\n\n")
    other = main.with_name(".MEMORY.md.swp")
    other.write_text(main.read_text() + "written in vim\n")
    other.replace(main)
    house.services.remember("likes coffee too")
    house.wait(page.banner.isVisible)
    page.save()
    house.wait(lambda: not page.dirty())
    for words in ("Typed in the panel", "likes tea", "written in vim", "likes coffee too"):
        assert words in main.read_text()
        assert words in page.editor.toPlainText()


def test_typed_words_wait_for_the_next_start(scripted: OpenHouse, tmp_path: Path) -> None:
    house = scripted()
    house.services.remember("likes tea")
    page = open_files(house)
    house.wait(lambda: "likes tea" in page.editor.toPlainText())
    page.editor.appendPlainText("half a thought")
    house.window.end()
    house.closed = True
    house.window.release()
    house.services.close()
    house.window.deleteLater()
    assert "half a thought" not in (tmp_path / "ws" / "MEMORY.md").read_text()
    again = scripted()
    page = open_files(again)
    again.wait(lambda: page.editor.toPlainText().endswith("half a thought"))
    assert page.banner.isVisible()
    page.save()
    again.wait(lambda: (tmp_path / "ws" / "MEMORY.md").read_text().endswith("half a thought\n"))
    again.wait(lambda: again.services.workspace.drafts.all() == [])
