"""The memory panel: nothing typed is ever lost, whatever other programs do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from assistant.core.events import WorkspaceChanged
from assistant.core.values import LeftOut, RecallAnswer
from assistant.ui.main_window import MainWindow
from assistant.ui.memory.conflicts import ConflictDialog, changed_lines
from assistant.ui.memory.endings import restore_endings
from assistant.ui.memory.panel import MemoryPanel
from assistant.workspace.text_files import TextFile

from .fakes import FakeServices, make_entry, make_hit, make_loaded


@pytest.fixture
def panel(qtbot: QtBot, window: MainWindow) -> MemoryPanel:
    window.toggle_memory()
    made = window.memory_panel()
    qtbot.waitUntil(lambda: made.files.editor.toPlainText().startswith("# About me"))
    return made


@pytest.fixture
def main_file(services: FakeServices) -> Path:
    return services.workspace.root / "MEMORY.md"


def test_files_are_listed_with_the_main_one_first(qtbot: QtBot, services: FakeServices, window: MainWindow) -> None:
    (services.workspace.root / "memory" / "travel.md").write_text("hotels")
    (services.workspace.root / "memory" / "archive.md").write_text("old")
    window.toggle_memory()
    model = window.memory_panel().files.model
    qtbot.waitUntil(lambda: model.rowCount() == 4)
    assert [model.index(row).data() for row in range(4)] == ["MEMORY.md", "Archive", "Notes", "travel"]


def test_saving(qtbot: QtBot, panel: MemoryPanel, main_file: Path) -> None:
    files = panel.files
    assert not files.save_button.isEnabled()
    files.editor.setFocus()
    files.editor.appendPlainText("- a new fact")
    assert files.state.text() == "Not saved yet"
    qtbot.keyClick(files.editor, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: files.state.text() == "Saved")
    assert main_file.read_text().endswith("- a new fact\n")
    assert not files.dirty()


def test_another_program_changes_a_clean_file(qtbot: QtBot, panel: MemoryPanel, main_file: Path) -> None:
    fresh = main_file.with_name("MEMORY.tmp")
    fresh.write_text("# Written elsewhere\n")
    fresh.replace(main_file)  # as vim and Obsidian save
    qtbot.waitUntil(lambda: panel.files.editor.toPlainText() == "# Written elsewhere\n", timeout=30_000)


def test_another_program_changes_a_file_with_unsaved_text(qtbot: QtBot, panel: MemoryPanel, main_file: Path) -> None:
    panel.files.editor.appendPlainText("mine")
    main_file.write_text("# Written elsewhere\n")
    qtbot.waitUntil(panel.files.banner.isVisible, timeout=30_000)
    assert panel.files.editor.toPlainText().endswith("mine")


@pytest.mark.parametrize(("choice", "kept"), [("mine", "mine"), ("theirs", "theirs")])
def test_a_conflict_lets_the_person_choose(
    qtbot: QtBot, panel: MemoryPanel, main_file: Path, choice: str, kept: str
) -> None:
    panel.files.editor.setPlainText("mine")
    panel.files.editor.document().setModified(True)
    main_file.write_text("theirs")
    panel.files.save()
    qtbot.waitUntil(lambda: panel.files.open.conflict is not None)
    dialog = panel.files.open.conflict
    assert dialog is not None
    assert main_file.read_text() == "theirs", "nothing is written before the choice"
    getattr(dialog, f"take_{choice}").click()
    qtbot.waitUntil(lambda: main_file.read_text() == kept and not panel.files.dirty())
    assert panel.files.editor.toPlainText() == kept


def test_what_merges_cleanly_is_merged_and_said(
    qtbot: QtBot, panel: MemoryPanel, services: FakeServices, main_file: Path, window: MainWindow
) -> None:
    services.workspace.memory.merged = "both"
    panel.files.editor.setPlainText("mine")
    panel.files.editor.document().setModified(True)
    main_file.write_text("theirs")
    panel.files.save()
    qtbot.waitUntil(lambda: main_file.read_text() == "both" and not panel.files.dirty())
    assert panel.files.editor.toPlainText() == "both"
    assert panel.files.open.conflict is None
    assert "merged in" in window.bottombar.notice.whole()
    panel.files.editor.undo()
    assert panel.files.editor.toPlainText() == "mine", "a merge is one step of undo"


def test_cancelling_a_conflict_keeps_both(qtbot: QtBot, panel: MemoryPanel, main_file: Path) -> None:
    panel.files.editor.setPlainText("mine")
    panel.files.editor.document().setModified(True)
    main_file.write_text("theirs")
    panel.files.save()
    qtbot.waitUntil(lambda: panel.files.open.conflict is not None)
    assert panel.files.open.conflict is not None
    assert panel.files.open.conflict.take_merged.isHidden(), "the same line: nothing to merge"
    panel.files.open.conflict.cancel.click()
    assert panel.files.editor.toPlainText() == "mine"
    assert panel.files.dirty()
    assert main_file.read_text() == "theirs"


def test_unsaved_text_waits_while_another_file_is_read(
    qtbot: QtBot, panel: MemoryPanel, services: FakeServices
) -> None:
    (services.workspace.root / "memory" / "travel.md").write_text("hotels")
    panel.files.editor.appendPlainText("mine")
    panel.open_place("memory/travel.md", 1)
    qtbot.waitUntil(lambda: panel.files.editor.toPlainText() == "hotels")
    assert panel.files.dirty()
    panel.open_place("MEMORY.md", 1)
    qtbot.waitUntil(lambda: panel.files.editor.toPlainText().endswith("mine"))
    assert panel.files.editor.document().isModified()


def test_closing_asks_about_unsaved_text(
    qtbot: QtBot, window: MainWindow, panel: MemoryPanel, main_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [QMessageBox.StandardButton.Cancel, QMessageBox.StandardButton.Save]
    monkeypatch.setattr(panel.files, "ask_unsaved", lambda: answers.pop(0))
    panel.files.editor.appendPlainText("mine")
    window.close()
    assert window.isVisible()
    assert "mine" not in main_file.read_text()
    window.close()
    assert not window.isVisible()
    assert main_file.read_text().endswith("mine\n")


def test_the_gauge_turns_amber_then_red(qtbot: QtBot, panel: MemoryPanel, services: FakeServices) -> None:
    gauge = panel.files.gauge
    qtbot.waitUntil(lambda: bool(gauge.measures))
    assert gauge.level == ""
    services.loaded = make_loaded(lines=160)
    panel.files.refresh_budget()
    qtbot.waitUntil(lambda: gauge.level == "amber")
    services.loaded = make_loaded((LeftOut("MEMORY.md", 3, "over 200 lines"),), lines=201)
    panel.files.refresh_budget()
    qtbot.waitUntil(lambda: gauge.level == "red")
    assert panel.files.editor.shaded() == (3,)
    assert panel.files.left_out.toggle.text().startswith("1 line does not load")
    panel.files.left_out.toggle.click()
    assert panel.files.left_out.view.isVisible()


def test_only_what_has_no_room_is_red(qtbot: QtBot, panel: MemoryPanel, services: FakeServices) -> None:
    toggle = panel.files.left_out.toggle
    for why, level in (("older than the last 10 entries", "calm"), ("token budget", "red")):
        services.loaded = make_loaded((LeftOut("MEMORY.md", 3, why),))
        panel.files.refresh_budget()
        qtbot.waitUntil(lambda level=level: toggle.isVisible() and toggle.property("level") == level)


def test_remember(qtbot: QtBot, window: MainWindow, panel: MemoryPanel, services: FakeServices) -> None:
    qtbot.keyClicks(panel.quick, "I like rye bread")
    qtbot.keyClick(panel.quick, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "I like rye bread" in panel.files.editor.toPlainText())
    assert ("remember", "I like rye bread") in services.calls
    assert panel.quick.text() == ""
    assert "MEMORY.md:6" in window.bottombar.notice.whole()


def test_search_and_open(qtbot: QtBot, panel: MemoryPanel, services: FakeServices) -> None:
    (services.workspace.root / "memory" / "travel.md").write_text("\n" * 11 + "Prefers small, quiet hotels.\n")
    services.answer = RecallAnswer((make_hit(), make_hit("MEMORY.md", 3, 0.4)), False, 3.0, "keyword")
    panel.show_page("search")
    qtbot.keyClicks(panel.search.field, "quiet hotel")
    qtbot.keyClick(panel.search.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.search.model.rowCount() == 2)
    first = panel.search.model.index(0)
    assert "meaning +0.70" in first.data(Qt.ItemDataRole.ToolTipRole)
    assert "words only" in panel.search.status.text()
    panel.search.view.activated.emit(first)
    qtbot.waitUntil(lambda: panel.files.current == "memory/travel.md")
    qtbot.waitUntil(lambda: panel.files.editor.textCursor().blockNumber() == 11)
    assert panel.current == "files"


def test_nothing_known_is_said(qtbot: QtBot, panel: MemoryPanel) -> None:
    panel.show_page("search")
    qtbot.keyClicks(panel.search.field, "zzz")
    qtbot.keyClick(panel.search.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.search.hint.text() == "Nothing is known about this.")


def test_the_journal_shows_changes_and_takes_them_back(
    qtbot: QtBot, panel: MemoryPanel, services: FakeServices
) -> None:
    services.workspace.journal.found = [
        make_entry("2", "MEMORY.md", "assistant", "@@ -1 +1 @@\n-old\n+new\n", True, "1 line changed"),
        make_entry("1", "MEMORY.md", "disk", "+x\n", False),
    ]
    panel.show_page("journal")
    journal = panel.journal
    qtbot.waitUntil(lambda: journal.model.rowCount() == 2)
    assert "+new" in journal.diff.toPlainText()
    assert "the assistant" in journal.model.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    journal.undo.click()
    assert services.workspace.memory.undone == ["2"]
    journal.view.setCurrentIndex(journal.model.index(1))
    assert not journal.undo.isEnabled()


def test_a_change_by_another_program_comes_into_the_journal_and_what_is_read_stays_chosen(
    qtbot: QtBot, panel: MemoryPanel, services: FakeServices
) -> None:
    first = make_entry("1", "MEMORY.md", "you", "+x\n", True)
    services.workspace.journal.found = [first]
    panel.show_page("journal")
    journal = panel.journal
    qtbot.waitUntil(lambda: journal.model.rowCount() == 1)
    services.workspace.journal.found = [make_entry("2", "MEMORY.md", "you", "+y\n", True), first]
    services.emit(WorkspaceChanged())
    qtbot.waitUntil(lambda: journal.model.rowCount() == 2)
    assert journal.view.currentIndex().row() == 1
    assert "+x" in journal.diff.toPlainText()


@given(st.lists(st.tuples(st.text("ab", max_size=3), st.sampled_from(["\n", "\r\n"])), max_size=8))
def test_endings_of_untouched_lines_stay(lines: list[tuple[str, str]]) -> None:
    original = "".join(text + ending for text, ending in lines)
    edited = original.replace("\r\n", "\n")
    assert restore_endings(original, edited, "\r\n") == original


def test_new_lines_end_as_the_file_does() -> None:
    assert restore_endings("a\r\nb\r\n", "a\nnew\nb\n", "\r\n") == "a\r\nnew\r\nb\r\n"


def test_changed_lines() -> None:
    assert changed_lines("a\nb\nc", "a\nx\nc") == ({1}, {1})


def test_a_memory_that_is_empty_yet(qtbot: QtBot, window: MainWindow, main_file: Path) -> None:
    main_file.unlink()
    window.toggle_memory()
    files = window.memory_panel().files
    qtbot.waitUntil(lambda: files.model.rowCount() == 1)
    assert "one fact a line" in files.editor.placeholderText()
    files.editor.setFocus()
    files.editor.appendPlainText("I live in Lisbon.")
    files.save()
    qtbot.waitUntil(main_file.exists)
    assert main_file.read_text() == "I live in Lisbon.\n"


def test_a_file_that_cannot_be_decoded_is_read_only(
    qtbot: QtBot, window: MainWindow, services: FakeServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = TextFile("caf\ufffd", "", "\n", False, "x", "This file is not UTF-8; it is shown but not written.")
    monkeypatch.setattr(services.workspace.memory, "read", lambda file: broken)
    window.toggle_memory()
    files = window.memory_panel().files
    qtbot.waitUntil(files.editor.isReadOnly)
    assert files.banner_words.text() == broken.problem
    assert files.state.text() == "Read-only"


SECRET = "password: Tr0ub4dor&3"


@pytest.mark.parametrize(("choice", "kept"), [("without", False), ("keep", True)])
def test_a_secret_is_asked_about_before_it_is_saved(
    qtbot: QtBot, panel: MemoryPanel, main_file: Path, choice: str, kept: bool
) -> None:
    files, before = panel.files, main_file.read_text()
    files.editor.appendPlainText(SECRET)
    files.save()
    assert files.secrets.isVisible()
    assert main_file.read_text() == before, "nothing is written before the choice"
    getattr(files.secrets, choice).click()
    qtbot.waitUntil(lambda: not files.dirty())
    assert main_file.read_text() != before
    assert ("Tr0ub4dor" in main_file.read_text()) == kept
    files.editor.appendPlainText("- an ordinary line")
    files.save()
    qtbot.waitUntil(lambda: not files.dirty())
    assert ("Tr0ub4dor" in main_file.read_text()) == kept, "what was kept by choice is not asked about again"


def test_closing_asks_about_a_secret_too(
    qtbot: QtBot, window: MainWindow, panel: MemoryPanel, main_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel.files, "ask_unsaved", lambda: QMessageBox.StandardButton.Save)
    panel.files.editor.appendPlainText(SECRET)
    window.close()
    assert window.isVisible() and panel.files.secrets.isVisible()
    panel.files.secrets.keep.click()
    qtbot.waitUntil(lambda: not panel.files.dirty())
    assert "Tr0ub4dor" in main_file.read_text()


def test_a_new_note(qtbot: QtBot, window: MainWindow, panel: MemoryPanel, services: FakeServices) -> None:
    panel.files.new_button.click()
    dialog = panel.files.doings.new_note
    assert dialog is not None and not dialog.create_button.isEnabled()
    qtbot.keyClicks(dialog.field, "a/b")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    assert dialog.problem.isVisible() and "'/'" in dialog.problem.text()
    dialog.field.setText(" Travel ")
    assert dialog.problem.isHidden()
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.files.editor.toPlainText() == "# Travel\n\n")
    assert (services.workspace.root / "memory" / "Travel.md").read_text() == "# Travel\n\n"
    assert panel.files.editor.textCursor().atEnd()
    qtbot.waitUntil(lambda: panel.files.view.currentIndex().data() == "Travel")


def test_a_note_that_is_there_already_is_opened(
    qtbot: QtBot, window: MainWindow, panel: MemoryPanel, services: FakeServices
) -> None:
    kept = services.workspace.root / "memory" / "Travel.md"
    kept.write_text("hotels")
    panel.files.editor.appendPlainText("mine")
    window.memory.new_note()
    assert panel.files.doings.new_note is not None
    panel.files.doings.new_note.field.setText("Travel")
    panel.files.doings.new_note.create_button.click()
    qtbot.waitUntil(lambda: panel.files.editor.toPlainText() == "hotels")
    assert kept.read_text() == "hotels"
    assert panel.files.dirty(), "what was typed elsewhere waits"


def test_the_choice_between_two_texts_fits_a_small_window(window: MainWindow) -> None:
    window.resize(640, 480)
    name = f"memory/{'a long name ' * 15}.md"
    dialog = ConflictDialog(name, "a\n" * 400, "b\n" * 400, "c\n", window.theme, window)
    dialog.by_hand.click()
    least = dialog.minimumSizeHint()
    assert least.width() <= 640 and least.height() <= 480
    assert dialog.take_edited.text() and dialog.cancel.minimumSizeHint().width() < least.width()
    dialog.deleteLater()


def test_endings_of_long_texts_are_kept_beside_a_change() -> None:
    before = "".join(f"- line {n}\r\n" if n % 2 else "\n" for n in range(2_000))
    edited = before.replace("\r\n", "\n").replace("line 999\n", "other 999\n")
    assert restore_endings(before, edited, "\r\n") == before.replace("line 999\r", "other 999\r")
