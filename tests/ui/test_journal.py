"""The journal page and its dialogs, through the real window: filters, pages, batches, undo, clashes, tidying up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from assistant.ui.main_window import MainWindow
from assistant.ui.memory.conflicts import ConflictDialog
from assistant.ui.memory.diff import readable
from assistant.ui.memory.journal import PAGE, JournalPage
from assistant.ui.memory.panel import MemoryPanel
from assistant.ui.theme import Theme
from assistant.workspace.changes import unified_diff
from assistant.workspace.memory_values import Conflict, Saved

from .fakes import FakeServices, make_entry, sha


@pytest.fixture
def panel(qtbot: QtBot, window: MainWindow) -> Iterator[MemoryPanel]:
    window.toggle_memory()
    panel = window.memory_panel()
    qtbot.waitUntil(panel.isVisible)
    yield panel
    panel.discard()


@pytest.fixture
def journal(panel: MemoryPanel, services: FakeServices) -> JournalPage:
    """Three changes: one of a program, and a batch of two files."""
    batch = [make_entry(f"b{n}", f"memory/n{n}.md", "upkeep", f"+in file {n}\n", True, "Tidied up") for n in (2, 1)]
    services.workspace.journal.found = [
        make_entry("3", "MEMORY.md", "you", "+newest\n", True, "Remembered: newest"),
        *(replace(entry, batch="batch-1") for entry in batch),
        make_entry("1", "MEMORY.md", "disk", "-gone\n", False),
    ]
    panel.show_page("journal")
    return panel.journal


def texts(journal: JournalPage) -> list[str]:
    return [journal.model.index(row).data() for row in range(journal.model.rowCount())]


def choose(journal: JournalPage, row: int) -> None:
    journal.view.setCurrentIndex(journal.model.index(row))


def test_a_batch_is_one_row_that_opens(qtbot: QtBot, journal: JournalPage, services: FakeServices) -> None:
    qtbot.waitUntil(lambda: journal.model.rowCount() == 3)
    choose(journal, 1)
    assert journal.diff.toPlainText() == "+in file 1\n+in file 2", "in the order in which they were written"
    assert journal.undo.text() == "Undo all of it"
    assert "2 files" in journal.model.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    journal.view.activated.emit(journal.model.index(1))
    assert [text.strip() for text in texts(journal)][2:4] == ["memory/n2.md", "memory/n1.md"]
    assert journal.view.currentIndex().row() == 1, "the row that was chosen stays so"
    choose(journal, 3)
    assert journal.diff.toPlainText() == "+in file 1"
    journal.undo.click()
    choose(journal, 1)
    journal.undo.click()
    assert services.workspace.memory.undone == ["b1", "batch-1"]
    journal.view.activated.emit(journal.model.index(1))
    assert journal.model.rowCount() == 3


def test_what_cannot_be_undone_says_why(qtbot: QtBot, journal: JournalPage, services: FakeServices) -> None:
    found = services.workspace.journal.found
    services.workspace.journal.found = [*found, replace(found[-1], id="0", forgotten=True)]
    journal.refresh()
    qtbot.waitUntil(lambda: journal.model.rowCount() == 4)
    spoken = [journal.model.index(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(4)]
    assert [text.rsplit(" · ", 1)[-1] for text in spoken[2:]] == ["taken back", "forgotten"]
    assert not any("taken back" in text for text in spoken[:2])
    choose(journal, 3)
    assert not journal.undo.isEnabled()
    assert "forgotten" in journal.undo.toolTip()


def test_filters_by_actor_and_file(qtbot: QtBot, journal: JournalPage) -> None:
    qtbot.waitUntil(lambda: journal.model.rowCount() == 3)
    journal.filter.actors.setCurrentIndex(journal.filter.actors.findData("disk"))
    qtbot.waitUntil(lambda: journal.model.rowCount() == 1)
    assert "-gone" in journal.diff.toPlainText()
    journal.filter.files.setCurrentIndex(journal.filter.files.findData("memory/n1.md"))
    qtbot.waitUntil(journal.empty.isVisible)
    assert journal.empty.text() == "No such change."
    assert journal.filter.isVisible(), "there is a way back"
    journal.filter.actors.setCurrentIndex(0)
    qtbot.waitUntil(lambda: journal.model.rowCount() == 1)
    journal.filter.files.setCurrentIndex(0)
    qtbot.waitUntil(lambda: journal.model.rowCount() == 3)


def test_older_changes_come_when_the_list_is_scrolled_to_its_end(
    qtbot: QtBot, journal: JournalPage, services: FakeServices
) -> None:
    services.workspace.journal.found = [
        make_entry(str(n), "MEMORY.md", "you", f"+{n}\n", True, f"Change {n}") for n in range(3 * PAGE - 50, 0, -1)
    ]
    journal.refresh()
    qtbot.waitUntil(lambda: journal.model.rowCount() == PAGE)
    bar = journal.view.verticalScrollBar()
    for shown in (2 * PAGE, 3 * PAGE - 50):
        bar.setValue(bar.maximum())
        qtbot.waitUntil(lambda shown=shown: journal.model.rowCount() == shown)  # type: ignore[misc]  # bound now
    assert 0 < bar.value() < bar.maximum(), "what was looked at stays in its place"
    bar.setValue(bar.maximum())
    assert journal.model.rowCount() == 3 * PAGE - 50
    choose(journal, 3 * PAGE - 51)
    journal.refresh()
    qtbot.waitUntil(lambda: "+1" in journal.diff.toPlainText())
    assert journal.model.rowCount() == 3 * PAGE - 50, "read again as far as it was shown"


def test_what_was_taken_back_can_be_brought_back(qtbot: QtBot, window: MainWindow, journal: JournalPage) -> None:
    qtbot.waitUntil(lambda: journal.model.rowCount() == 3)
    journal.undo.click()
    qtbot.waitUntil(lambda: [toast.text() for toast in window.toasts.shown()] == ["Taken back"])
    window.toasts.shown()[0].action_button().click()
    qtbot.waitUntil(lambda: [toast.text() for toast in window.toasts.shown()][-1:] == ["Taken back"])


@pytest.mark.parametrize("choice", ["mine", "theirs", "edited", "cancel"])
def test_an_undo_that_clashes_lets_the_person_choose(
    qtbot: QtBot, journal: JournalPage, services: FakeServices, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    memory = services.workspace.memory
    main = services.workspace.root / "MEMORY.md"
    main.write_text("now\n")
    clash = Conflict("", "then\n", "now\n", None, sha("now\n"), "MEMORY.md")
    monkeypatch.setattr(memory, "undo", lambda _: clash)
    qtbot.waitUntil(lambda: journal.model.rowCount() == 3)
    journal.undo.click()
    qtbot.waitUntil(lambda: journal.choice.dialog is not None)
    dialog = journal.choice.dialog
    assert dialog is not None
    assert dialog.windowTitle() == "MEMORY.md changed since"
    if choice == "edited":
        dialog.by_hand.click()
        assert dialog.editor.toPlainText() == "then\n"
        dialog.editor.setPlainText("both\n")
    getattr(dialog, "cancel" if choice == "cancel" else f"take_{choice}").click()
    wanted = {"mine": "then\n", "theirs": "now\n", "edited": "both\n", "cancel": "now\n"}[choice]
    qtbot.waitUntil(lambda: main.read_text() == wanted)


def test_a_choice_that_comes_too_late_asks_again(
    qtbot: QtBot, journal: JournalPage, services: FakeServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = services.workspace.root / "MEMORY.md"
    main.write_text("now\n")
    clash = Conflict("", "then\n", "now\n", None, sha("now\n"), "MEMORY.md")
    monkeypatch.setattr(services.workspace.memory, "undo", lambda _: clash)
    qtbot.waitUntil(lambda: journal.model.rowCount() == 3)
    journal.undo.click()
    qtbot.waitUntil(lambda: journal.choice.dialog is not None)
    first = journal.choice.dialog
    assert first is not None
    main.write_text("newer\n")
    first.take_mine.click()
    qtbot.waitUntil(lambda: journal.choice.dialog is not first)
    second = journal.choice.dialog
    assert second is not None
    assert second.right.toPlainText() == "newer\n"
    assert main.read_text() == "newer\n"
    second.cancel.click()


def test_of_a_batch_the_other_files_follow_when_one_is_settled(
    qtbot: QtBot, journal: JournalPage, services: FakeServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = services.workspace.root / "MEMORY.md"
    main.write_text("now\n")
    clash = Conflict("", "then\n", "now\n", None, sha("now\n"), "MEMORY.md")
    answers = [clash, Saved("batch-2", "")]
    monkeypatch.setattr(services.workspace.memory, "undo", lambda _: answers.pop(0))
    qtbot.waitUntil(lambda: journal.model.rowCount() == 3)
    choose(journal, 1)
    with qtbot.waitSignal(journal.choice.done) as done:
        journal.undo.click()
        qtbot.waitUntil(lambda: journal.choice.dialog is not None)
        assert journal.choice.dialog is not None
        journal.choice.dialog.take_mine.click()
    assert done.args == ["batch-2"]
    assert (main.read_text(), answers) == ("then\n", [])


def test_the_dialog_offers_a_third_text_to_edit(qtbot: QtBot, theme: Theme) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    mine, theirs = "a\n" * 200 + "mine\n", "a\n" * 200 + "theirs\n"
    dialog = ConflictDialog("MEMORY.md", mine, theirs, "merged\n", theme, parent)
    dialog.show()
    assert dialog.left.verticalScrollBar().value() > 100, "it shows the first place that differs"
    assert dialog.editor.isHidden() or not dialog.editor.isVisible()
    chosen: list[str] = []
    dialog.chosen.connect(lambda choice: chosen.append(dialog.text_of(choice)))
    dialog.by_hand.click()
    assert dialog.editor.toPlainText() == "merged\n"
    assert dialog.editor.hasFocus() or dialog.editor.isVisible()
    dialog.editor.setPlainText("by hand\n")
    dialog.take_edited.click()
    assert chosen == ["by hand\n"]


def test_tidying_up_is_shown_first_and_can_be_undone(
    qtbot: QtBot, window: MainWindow, journal: JournalPage, services: FakeServices
) -> None:
    main = services.workspace.root / "MEMORY.md"
    main.write_text("2026-01-01|you|visa · until 2026-02-01\n2026-01-02|you|tea\n2026-01-03|you|tea\n")
    services.tidying.waiting = ["the desk costs 20 / the desk costs 30", "a / b"]
    assert journal.tools is not None and journal.tools.isVisible()
    qtbot.mouseClick(journal.tools, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: journal.tidying.dialog is not None)
    dialog = journal.tidying.dialog
    assert dialog is not None
    assert "archive: 1" in dialog.counts.text()
    assert "review: 2" in dialog.counts.text()
    assert "the desk costs 20 / the desk costs 30" in dialog.counts.text()
    assert "-2026-01-03|you|tea" in dialog.diff.toPlainText()
    assert "visa" in main.read_text(), "nothing is done before the yes"
    dialog.apply.click()
    qtbot.waitUntil(lambda: main.read_text() == "2026-01-02|you|tea\n")
    qtbot.waitUntil(lambda: "Memory is tidied up" in [toast.text() for toast in window.toasts.shown()])
    window.toasts.shown()[-1].action_button().click()
    qtbot.waitUntil(lambda: services.workspace.memory.undone == ["batch-1"])


def test_a_diff_is_shown_without_its_machines_part() -> None:
    diff = unified_diff("a.md", "-- a/x\n" + "same\n" * 20 + "old", "same\n" * 20 + "new\n") + unified_diff(
        "b.md", "", "+++ b/y\n"
    )
    assert readable(diff).split("\n") == [
        *("a.md", "⋯ line 1", "--- a/x", " same", " same", " same"),
        *("⋯ line 18", " same", " same", " same", "-old", "\\ No newline at end of file", "+new"),
        *("", "b.md", "⋯ line 1", "++++ b/y"),
    ]
    assert readable("") == ""


def test_nothing_to_tidy_is_said(qtbot: QtBot, window: MainWindow, journal: JournalPage) -> None:
    journal.tidying.ask()
    qtbot.waitUntil(lambda: "nothing to tidy up" in window.bottombar.notice.whole())
    assert journal.tidying.dialog is None


def test_contradictions_are_told_although_nothing_is_to_be_tidied(
    qtbot: QtBot, window: MainWindow, journal: JournalPage, services: FakeServices
) -> None:
    services.tidying.waiting = ["a / b"]
    journal.tidying.ask()
    qtbot.waitUntil(lambda: "contradictions in the review: 1" in window.bottombar.notice.whole())


def test_tidying_up_is_in_the_menu_too(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    (services.workspace.root / "MEMORY.md").write_text("- tea\n- tea\n")
    window.memory.tidy()
    journal = window.memory_panel().journal
    qtbot.waitUntil(lambda: journal.tidying.dialog is not None)
    assert window.memory_panel().current == "journal"
    assert journal.tidying.dialog is not None
    journal.tidying.dialog.cancel.click()
    assert services.workspace.memory.batches == []


def test_saved_result_of_an_undo_without_change(qtbot: QtBot, window: MainWindow, journal: JournalPage) -> None:
    """A change that somebody took back by hand already: there is nothing to undo any more."""
    journal.choice.done.emit(Saved("", "").journal_id)
    qtbot.waitUntil(lambda: [toast.text() for toast in window.toasts.shown()] == ["Taken back"])
    assert not window.toasts.shown()[0].action_button().isVisible()
