"""The files page of the memory panel through the real window: list, editor, find, links, other programs, notes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QAction, QGuiApplication, QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from assistant.core.events import MemoryChanged
from assistant.ui.main_window import MainWindow
from assistant.ui.memory.endings import as_shown, put_text
from assistant.ui.memory.file_model import HEADING_ROLE
from assistant.ui.memory.files import FilesPage
from assistant.ui.memory.open_in import obsidian_url
from assistant.ui.models.plain import DETAIL_ROLE
from assistant.ui.theme import Theme
from assistant.workspace.memory_values import MemoryFileInfo

from .fakes import NOW, FakeServices, HeldLane, make_loaded

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def root(services: FakeServices) -> Path:
    return services.workspace.root


@pytest.fixture
def files(qtbot: QtBot, window: MainWindow) -> FilesPage:
    window.toggle_memory()
    page = window.memory_panel().files
    qtbot.waitUntil(lambda: page.editor.toPlainText().startswith("# About me"))
    return page


def put(root: Path, name: str, text: str = "x\n") -> Path:
    path = root / "memory" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def names(files: FilesPage) -> list[str]:
    return [files.model.index(row).data() for row in range(files.model.rowCount())]


def open_note(qtbot: QtBot, files: FilesPage, name: str, text: str) -> None:
    files.open_file(f"memory/{name}.md")
    qtbot.waitUntil(lambda: files.open.base is not None and files.editor.toPlainText() == text)


# --- the list ---


def test_day_logs_are_folded_below_the_notes(qtbot: QtBot, files: FilesPage, root: Path) -> None:
    for name in ("Travel", "archive", "log/2026-11-20", "log/2026-11-21"):
        put(root, name)
    files.refresh_files()
    qtbot.waitUntil(lambda: len(names(files)) == 5)
    assert names(files) == ["MEMORY.md", "Archive", "Notes", "Travel", "Day logs"]
    heading = files.model.index(4)
    assert heading.data(DETAIL_ROLE) == "2" and heading.data(HEADING_ROLE) is False
    qtbot.mouseClick(files.view.viewport(), Qt.MouseButton.LeftButton, pos=_shown(files, 4))
    assert names(files)[4:] == ["Day logs", "2026-11-21", "2026-11-20"]
    files.open_file("memory/log/2026-11-20.md")
    qtbot.waitUntil(lambda: files.view.current_file() == "memory/log/2026-11-20.md")
    files.view.setCurrentIndex(files.model.index(4))
    qtbot.keyClick(files.view, Qt.Key.Key_Return)
    assert names(files)[-1] == "Day logs", "folded again by keyboard"


def _shown(files: FilesPage, row: int) -> QPoint:
    index = files.model.index(row)
    files.view.scrollTo(index)
    return files.view.visualRect(index).center()


def test_a_day_log_unfolds_when_it_is_opened(qtbot: QtBot, files: FilesPage, root: Path) -> None:
    put(root, "log/2026-11-20")
    files.refresh_files()
    qtbot.waitUntil(lambda: "Day logs" in names(files))
    files.open_file("memory/log/2026-11-20.md")
    qtbot.waitUntil(lambda: files.view.currentIndex().data() == "2026-11-20")


def test_size_time_and_who_changed_it_last_are_told(files: FilesPage) -> None:
    info = MemoryFileInfo("memory/Travel.md", "topic", 1234, NOW.isoformat(), "", "upkeep")
    files.list.show_files([info])
    said = files.model.index(1).data(DETAIL_ROLE)
    assert "1.2 kB" in said and "upkeep" in said and len(said.split(" · ")) == 3
    files.list.show_files([MemoryFileInfo("memory/Travel.md", "topic", 1, NOW.isoformat(), "It is broken UTF-16.")])
    assert "has a problem" in files.model.index(1).data(DETAIL_ROLE)
    assert "broken UTF-16" in files.model.index(1).data(Qt.ItemDataRole.ToolTipRole)


def test_many_files_can_be_found_and_sorted(qtbot: QtBot, files: FilesPage, root: Path) -> None:
    assert files.list.bar.isHidden(), "a few need no field"
    for number in range(12):
        os.utime(put(root, f"note {number:02}"), (1_000_000 + number, 1_000_000 + number))
    put(root, "log/2026-11-20")
    files.refresh_files()
    qtbot.waitUntil(files.list.bar.isVisible)
    infos = [
        MemoryFileInfo(f"memory/note {n:02}.md", "topic", 1, f"2026-11-{n + 1:02}T10:00:00+00:00") for n in range(12)
    ]
    files.list.show_files(infos)
    files.list.sort.click()
    assert names(files)[1:3] == ["note 11", "note 10"]
    qtbot.keyClicks(files.list.field, "NOTE 03")
    assert names(files) == ["Notes", "note 03"]
    qtbot.keyClick(files.list.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: files.current == "memory/note 03.md")
    files.list.field.setText("nowhere")
    assert names(files) == []


def test_thousands_of_files_keep_the_chosen_one_and_its_place(qtbot: QtBot, files: FilesPage) -> None:
    infos = [MemoryFileInfo("MEMORY.md", "memory", 9, NOW.isoformat())]
    infos += [MemoryFileInfo(f"memory/n{n:04}.md", "topic", n, NOW.isoformat()) for n in range(5000)]
    files.list.show_files(infos)
    assert files.model.rowCount() == 5002
    qtbot.waitUntil(lambda: files.view.verticalScrollBar().maximum() > 100_000)
    files.view.verticalScrollBar().setValue(90_000)
    place = files.view.verticalScrollBar().value()
    assert place > 1000
    assert not files.model.show(infos), "the same list is left alone"
    files.list.show_files(infos[:-1])
    QApplication.processEvents()
    assert files.view.verticalScrollBar().value() == place
    assert files.view.current_file() == "MEMORY.md"


def test_the_file_that_is_opened_is_brought_up(qtbot: QtBot, files: FilesPage, root: Path) -> None:
    for number in range(40):
        put(root, f"note {number:02}")
    files.refresh_files()
    qtbot.waitUntil(lambda: files.model.rowCount() == 42)
    open_note(qtbot, files, "note 39", "x\n")
    row = files.view.currentIndex()
    assert row.data() == "note 39"
    qtbot.waitUntil(lambda: files.view.viewport().rect().contains(files.view.visualRect(row)))


def test_a_short_list_leaves_the_editor_its_room(qtbot: QtBot, files: FilesPage, root: Path) -> None:
    assert files.list.height() < 80
    for number in range(40):
        put(root, f"note {number:02}")
    files.refresh_files()
    qtbot.waitUntil(lambda: files.list.height() > 150)


def test_unsaved_files_carry_a_mark(qtbot: QtBot, files: FilesPage) -> None:
    files.editor.appendPlainText("more")
    said = files.model.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "not saved yet" in said


def test_list_and_editor_stand_side_by_side_where_there_is_room(files: FilesPage) -> None:
    assert files.splitter.orientation() == Qt.Orientation.Vertical
    files.resize(900, 600)
    assert files.splitter.orientation() == Qt.Orientation.Horizontal
    files.resize(340, 600)
    assert files.splitter.orientation() == Qt.Orientation.Vertical


# --- the editor ---

SAMPLE = """---
title: About
---
# Heading

- item with [[Travel]] and `code`
~~~
# no heading
~~~
2026-11-20|you|~~old~~ · superseded 2026-11-29；new"""


def looks(files: FilesPage, line: int, words: str) -> tuple[str, bool]:
    """Colour of some words, and whether they are struck."""
    block = files.editor.document().findBlockByNumber(line)
    at = block.text().index(words)
    for span in block.layout().formats():
        if span.start <= at < span.start + span.length:
            return span.format.foreground().color().name(), span.format.fontStrikeOut()
    return "", False


def test_markdown_is_shown_in_colour(files: FilesPage, theme: Theme) -> None:
    files.editor.setPlainText(SAMPLE)
    QApplication.processEvents()
    colours = theme.palette
    assert looks(files, 0, "---")[0] == colours.muted
    assert looks(files, 1, "title")[0] == colours.keyword
    assert looks(files, 3, "Heading")[0] == colours.accent
    assert looks(files, 5, "[[Travel]]")[0] == colours.accent
    assert looks(files, 5, "`code`")[0] == colours.name
    assert looks(files, 7, "no heading")[0] == colours.name, "inside a fence"
    assert looks(files, 9, "2026-11-20")[0] == colours.number
    assert looks(files, 9, "old") == (colours.muted, True)
    assert looks(files, 9, "superseded")[0] == colours.muted
    assert looks(files, 9, "new")[0] == ""


def test_a_long_file_is_coloured_where_it_is_seen(qtbot: QtBot, files: FilesPage, theme: Theme) -> None:
    files.editor.show_text("~~~\n" + "- item\n" * 3000 + "~~~\n" + "- item\n" * 3000 + "# End")
    assert looks(files, 5, "item")[0] == theme.palette.name, "inside the fence"
    assert looks(files, 6002, "End") == ("", False), "not yet"
    files.editor.go_to(6003)
    qtbot.waitUntil(lambda: looks(files, 6002, "End")[0] == theme.palette.accent)
    assert looks(files, 6000, "- ")[0] == theme.palette.accent, "and the fence ended before it"
    files.editor.go_to(2990)
    qtbot.waitUntil(lambda: looks(files, 2990, "item")[0] == theme.palette.name)


def test_find_in_the_file_not_in_the_chat(qtbot: QtBot, window: MainWindow, files: FilesPage) -> None:
    window.activateWindow()
    files.editor.setPlainText("tea\nTea\ncoffee\ntea")
    files.editor.setFocus()
    qtbot.waitUntil(files.editor.hasFocus)
    qtbot.keyClick(files.editor, Qt.Key.Key_F, CTRL)
    assert files.find_bar.isVisible() and window.page.find_bar.isHidden()
    qtbot.keyClicks(files.find_bar.field, "tea")
    qtbot.waitUntil(lambda: files.find_bar.count.text() == "1 of 3")
    qtbot.keyClick(files.find_bar.field, Qt.Key.Key_Return)
    assert files.find_bar.count.text() == "2 of 3"
    assert files.editor.textCursor().selectedText() == "Tea"
    qtbot.keyClick(files.find_bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(files.find_bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert files.find_bar.count.text() == "3 of 3", "around the ends"
    assert len(files.editor.extraSelections()) == 3
    qtbot.keyClick(files.find_bar.field, Qt.Key.Key_Escape)
    assert files.find_bar.isHidden() and files.editor.hasFocus() and files.isVisible()
    assert files.editor.extraSelections() == []
    qtbot.keyClick(files.editor, Qt.Key.Key_F, CTRL)
    files.find_bar.field.setText("nowhere")
    qtbot.waitUntil(lambda: files.find_bar.count.text() == "No match")


def test_replace(qtbot: QtBot, files: FilesPage) -> None:
    files.editor.setPlainText("tea\nTea\ncoffee\ntea")
    files.editor.setFocus()
    qtbot.keyClick(files.editor, Qt.Key.Key_H, CTRL)
    files.find_bar.field.setText("tea")
    files.find_bar.replacement.setText("cocoa")
    files.find_bar.search()
    files.find_bar.replace_one.click()
    assert files.editor.toPlainText() == "cocoa\nTea\ncoffee\ntea"
    files.find_bar.replace_every.click()
    assert files.editor.toPlainText() == "cocoa\ncocoa\ncoffee\ncocoa"
    files.editor.undo()
    assert files.editor.toPlainText() == "cocoa\nTea\ncoffee\ntea", "all of it is one step"


def test_the_gauge_follows_what_is_typed(qtbot: QtBot, files: FilesPage, services: FakeServices) -> None:
    lane = services.lanes.recall = HeldLane()
    services.loaded = make_loaded(lines=170)
    for word in ("one", "two", "three"):
        files.editor.appendPlainText(word)
        qtbot.waitUntil(lambda: bool(lane.held))
    assert len(lane.held) == 1, "one count at a time"
    lane.release()
    typed = files.editor.toPlainText()
    qtbot.waitUntil(lambda: bool(lane.held) or services.counted[-1] == typed)
    lane.release()
    qtbot.waitUntil(lambda: files.gauge.level == "amber")
    assert services.counted[-1] == typed, "the newest text is counted last"
    assert files.open.dirty(), "and nothing was saved for it"


def test_what_is_asked_for_beyond_the_budget_is_red(qtbot: QtBot, files: FilesPage, services: FakeServices) -> None:
    from dataclasses import replace

    services.loaded = replace(make_loaded(lines=200), lines_asked=260)
    files.refresh_budget()
    qtbot.waitUntil(lambda: files.gauge.level == "red")


# --- links ---


def test_a_link_opens_the_note(qtbot: QtBot, window: MainWindow, files: FilesPage, root: Path) -> None:
    put(root, "hotels", "---\naliases: [Pensions]\n---\nquiet ones\n")
    files.editor.setPlainText("see [[Pensions#Lisbon|these]] and [[Nowhere]]")
    files.editor.document().setModified(True)
    cursor = files.editor.textCursor()
    cursor.setPosition(10)
    files.editor.setTextCursor(cursor)
    place = files.editor.cursorRect().center()
    qtbot.mouseClick(files.editor.viewport(), Qt.MouseButton.LeftButton, CTRL, place)
    qtbot.waitUntil(lambda: files.current == "memory/hotels.md")
    qtbot.waitUntil(lambda: "quiet ones" in files.editor.toPlainText())
    assert "MEMORY.md" in files.pending(), "what was typed waits"
    files.open_file("MEMORY.md")
    cursor = files.editor.textCursor()
    cursor.setPosition(40)
    files.editor.setTextCursor(cursor)
    qtbot.keyClick(files.editor, Qt.Key.Key_Return, CTRL)
    qtbot.waitUntil(lambda: files.doings.new_note is not None)
    dialog = files.doings.new_note
    assert dialog is not None and dialog.field.text() == "Nowhere"
    dialog.create_button.click()
    qtbot.waitUntil(lambda: files.current == "memory/Nowhere.md")


def test_front_matter_is_left_as_it_is(qtbot: QtBot, files: FilesPage, root: Path) -> None:
    text = '---\ntitle:   "A"   # mine\ntags: [b,a]\n---\nbody\n'
    path = put(root, "odd", text)
    open_note(qtbot, files, "odd", text)
    files.editor.appendPlainText("more")
    files.save()
    qtbot.waitUntil(lambda: path.read_text() == text + "\nmore\n")


# --- other programs ---


def test_a_change_is_seen_where_the_system_reports_none(qtbot: QtBot, files: FilesPage, root: Path) -> None:
    files.watch._watcher.blockSignals(True)  # as on a folder in the network
    fresh = root / "MEMORY.swp"
    fresh.write_text("# Written elsewhere\n")
    fresh.replace(root / "MEMORY.md")
    qtbot.waitUntil(lambda: files.editor.toPlainText() == "# Written elsewhere\n", timeout=30_000)


def test_undo_goes_back_behind_what_another_program_changed(qtbot: QtBot, files: FilesPage, root: Path) -> None:
    cursor = files.editor.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.insertText("- mine\n")
    files.save()
    qtbot.waitUntil(lambda: not files.open.dirty())
    files.editor.setTextCursor(cursor)
    column = files.editor.textCursor().position()
    (root / "MEMORY.md").write_text("# Theirs\n\n" + (root / "MEMORY.md").read_text())
    qtbot.waitUntil(lambda: files.editor.toPlainText().startswith("# Theirs"), timeout=30_000)
    assert files.editor.textCursor().position() == column + len("# Theirs\n\n"), "the cursor stays with its words"
    assert not files.open.dirty()
    files.editor.undo()
    files.editor.undo()
    assert "- mine" not in files.editor.toPlainText()


def test_both_changes_are_merged_on_demand(qtbot: QtBot, files: FilesPage, root: Path) -> None:
    files.editor.appendPlainText("- mine")
    (root / "MEMORY.md").write_text("# Theirs\n\n" + (root / "MEMORY.md").read_text())
    qtbot.waitUntil(files.banner.isVisible, timeout=30_000)
    assert "merges both" in files.banner_words.text()
    files.banner.button("Merge now").click()
    text = files.editor.toPlainText()
    assert text.startswith("# Theirs") and text.endswith("- mine")
    assert files.banner.isHidden() and files.open.dirty()
    files.editor.undo()
    assert not files.editor.toPlainText().startswith("# Theirs"), "one step of undo"
    files.editor.redo()
    files.save()
    qtbot.waitUntil(lambda: (root / "MEMORY.md").read_text() == text + "\n")


def test_the_last_line_ends_so_that_another_program_can_add_one(qtbot: QtBot, files: FilesPage, root: Path) -> None:
    before = (root / "MEMORY.md").read_text()
    files.editor.appendPlainText("- mine")
    files.save()
    qtbot.waitUntil(lambda: (root / "MEMORY.md").read_text() == f"{before}\n- mine\n" and not files.open.dirty())
    assert files.editor.toPlainText() == f"{before}\n- mine\n"


@pytest.mark.parametrize("dirty", [True, False])
def test_a_file_that_vanished_is_kept_and_written_anew(qtbot: QtBot, files: FilesPage, root: Path, dirty: bool) -> None:
    path = put(root, "Travel", "hotels\n")
    open_note(qtbot, files, "Travel", "hotels\n")
    if dirty:
        files.editor.appendPlainText("mine")
    path.unlink()
    qtbot.waitUntil(files.banner.isVisible, timeout=30_000)
    assert "not there any more" in files.banner_words.text()
    assert files.editor.toPlainText().startswith("hotels")
    if dirty:
        files.editor.setFocus()
        qtbot.keyClick(files.editor, Qt.Key.Key_S, CTRL)
    else:
        assert files.state.text() == "Not on disk"
        files.banner.button("Write it anew").click()
    qtbot.waitUntil(path.exists)
    assert path.read_text() == ("hotels\n\nmine\n" if dirty else "hotels\n")
    qtbot.waitUntil(lambda: files.state.text() == "Saved")


# --- whole files ---


def test_a_note_is_renamed_and_the_links_to_it_keep_working(
    qtbot: QtBot, window: MainWindow, files: FilesPage, services: FakeServices, root: Path
) -> None:
    put(root, "Travel", "hotels\n")
    put(root, "taken")
    open_note(qtbot, files, "Travel", "hotels\n")
    files.refresh_files()
    files.editor.appendPlainText("unsaved")
    files.view.setFocus()
    qtbot.waitUntil(lambda: files.view.current_file() == "memory/Travel.md")
    qtbot.keyClick(files.view, Qt.Key.Key_F2)
    dialog = files.doings.rename_dialog
    assert dialog is not None and dialog.field.text() == "Travel"
    dialog.field.setText("taken")
    dialog.create_button.click()
    assert dialog.problem.isVisible() and dialog.isVisible()
    dialog.field.setText("Trips")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: files.current == "memory/Trips.md")
    assert (root / "memory" / "Trips.md").read_text() == '---\naliases: ["Travel"]\n---\n\nhotels\n'
    assert not (root / "memory" / "Travel.md").exists()
    assert "unsaved" in files.editor.toPlainText()
    files.save()
    qtbot.waitUntil(lambda: (root / "memory" / "Trips.md").read_text().endswith("hotels\n\nunsaved\n"))
    qtbot.waitUntil(lambda: 'aliases: ["Travel"]' in files.editor.toPlainText())  # both are in it
    assert "Trips" in window.toasts.shown()[-1].text()
    window.toasts.shown()[-1].action_button().click()
    qtbot.waitUntil(lambda: services.workspace.memory.undone == ["batch-1"])


def test_a_note_that_an_undo_takes_away_is_left(
    qtbot: QtBot, files: FilesPage, services: FakeServices, root: Path
) -> None:
    path = put(root, "Travel", "hotels\n")
    open_note(qtbot, files, "Travel", "hotels\n")
    path.unlink()
    services.emit(MemoryChanged("memory/Travel.md", "undo", "j", "Took back: Made"))
    qtbot.waitUntil(lambda: files.current == "MEMORY.md" and files.open.base is not None)
    assert files.banner.isHidden()


def test_a_note_is_deleted_and_can_come_back(
    qtbot: QtBot, window: MainWindow, files: FilesPage, services: FakeServices, root: Path
) -> None:
    put(root, "Travel", "hotels\n")
    open_note(qtbot, files, "Travel", "hotels\n")
    files.refresh_files()
    files.view.setFocus()
    qtbot.waitUntil(lambda: files.view.current_file() == "memory/Travel.md")
    qtbot.keyClick(files.view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: files.current == "MEMORY.md")
    assert not (root / "memory" / "Travel.md").exists()
    assert "Travel" in window.toasts.shown()[-1].text()
    window.toasts.shown()[-1].action_button().click()
    qtbot.waitUntil(lambda: services.workspace.memory.undone == ["batch-1"])


def test_what_was_typed_into_a_deleted_note_comes_back_with_it(
    qtbot: QtBot, files: FilesPage, services: FakeServices, root: Path
) -> None:
    path = put(root, "Travel", "hotels\n")
    open_note(qtbot, files, "Travel", "hotels\n")
    files.editor.appendPlainText("mine")
    files.doings.delete("memory/Travel.md")
    qtbot.waitUntil(lambda: files.current == "MEMORY.md")
    path.write_text("hotels\n")
    services.emit(MemoryChanged("memory/Travel.md", "undo", "j", "Took back: Deleted"))
    qtbot.waitUntil(lambda: "memory/Travel.md" in files.pending())
    files.open_file("memory/Travel.md")
    assert files.editor.toPlainText().endswith("mine")


def test_saving_twice_at_once_saves_once_more(
    qtbot: QtBot, window: MainWindow, files: FilesPage, services: FakeServices, root: Path
) -> None:
    lane = services.lanes.files = HeldLane()
    files.editor.appendPlainText("one")
    files.save()
    files.editor.appendPlainText("two")
    files.save()

    def done() -> bool:
        lane.release()
        return (root / "MEMORY.md").read_text().endswith("one\ntwo\n") and not files.open.dirty()

    qtbot.waitUntil(done)
    assert [text.splitlines()[-1] for _, text, _ in services.workspace.memory.saved] == ["one", "two"]
    assert files.open.conflict is None and "merged" not in window.bottombar.notice.whole()


def test_the_menu_of_a_file_by_keyboard(qtbot: QtBot, files: FilesPage) -> None:
    files.view.customContextMenuRequested.emit(QPoint(5, 5000))
    menu = next(menu for menu in files.findChildren(QMenu) if menu.isVisible())
    assert "Open in Obsidian" in [action.text() for action in menu.actions()]
    menu.close()


def test_memory_itself_is_neither_deleted_nor_renamed(
    qtbot: QtBot, window: MainWindow, files: FilesPage, root: Path
) -> None:
    files.view.setFocus()
    qtbot.keyClick(files.view, Qt.Key.Key_Delete)
    qtbot.keyClick(files.view, Qt.Key.Key_F2)
    assert (root / "MEMORY.md").exists() and files.doings.rename_dialog is None
    assert "only notes" in window.bottombar.notice.whole()


def actions(menu: QMenu) -> dict[str, QAction]:
    menu.aboutToShow.emit()
    return {action.text(): action for action in menu.actions() if action.text()}


def test_a_file_opens_in_other_programs(qtbot: QtBot, window: MainWindow, files: FilesPage, root: Path) -> None:
    put(root, "Trip & 中文 100%")
    open_note(qtbot, files, "Trip & 中文 100%", "x\n")
    asked: list[QUrl] = []
    files.doings.opener = lambda url: not asked.append(url)  # type: ignore[func-returns-value]  # says True
    found = actions(files.open_button.menu())
    for words in ("Show in the file manager", "Open in the default editor", "Open in Obsidian"):
        found[words].trigger()
    path = root / "memory" / "Trip & 中文 100%.md"
    assert [url.toLocalFile() for url in asked[:2]] == [str(path.parent), str(path)]
    sent = bytes(asked[2].toEncoded().data()).decode()
    assert sent.startswith("obsidian://open?path=%2F")
    assert sent.endswith("Trip%20%26%20%E4%B8%AD%E6%96%87%20100%25.md")
    found["Copy the path"].trigger()
    assert QGuiApplication.clipboard().text() == str(path)
    files.doings.opener = lambda url: False
    actions(files.open_button.menu())["Open in Obsidian"].trigger()
    assert "could not open Obsidian" in window.bottombar.notice.whole()


def test_the_menus_of_a_file(qtbot: QtBot, files: FilesPage, root: Path) -> None:
    put(root, "Travel")
    assert not actions(files.more_button.menu())["Delete"].isEnabled(), "MEMORY.md stays"
    open_note(qtbot, files, "Travel", "x\n")
    assert actions(files.more_button.menu())["Delete"].isEnabled()
    files.doings.show_menu("memory/Travel.md", files.mapToGlobal(QPoint(5, 5)))
    menu = next(menu for menu in files.findChildren(QMenu) if menu.isVisible())
    assert [each for each in actions(menu) if "Obsidian" in each or each == "Rename…"]
    menu.close()


@pytest.mark.parametrize("name", ["a b.md", "ä#?%.md", "x&y=z.md"])
def test_obsidian_gets_the_whole_path_back(tmp_path: Path, name: str) -> None:
    url = bytes(obsidian_url(tmp_path / name).toEncoded().data()).decode()
    assert QUrl.fromPercentEncoding(url.removeprefix("obsidian://open?path=").encode()) == str(tmp_path / name)


@given(old=st.text("ab\n𝄞中", max_size=30), new=st.text("ab\n𝄞中", max_size=30))
def test_any_text_becomes_any_other_in_one_step_of_undo(old: str, new: str) -> None:
    document = QTextDocument()
    document.setPlainText(old)
    put_text(document, new)
    assert document.toPlainText() == as_shown(new)
    if old != new:
        document.undo()
        assert document.toPlainText() == old
