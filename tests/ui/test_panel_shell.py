"""The memory panel's rail and pages, and the messages at the bottom of the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from assistant.core.events import MemoryChanged
from assistant.ui.main_window import MainWindow
from assistant.ui.memory import panel as panel_module
from assistant.ui.memory.page import Page
from assistant.ui.memory.pages import PAGES, PageSpec
from assistant.ui.memory.panel import MemoryPanel
from assistant.workspace.memory_values import Conflict

from .fakes import FakeServices


class Inbox(Page):
    """A page that nobody else has."""

    def __init__(self, *_: object) -> None:
        super().__init__()
        self.seen: list[object] = []

    def opened(self) -> None:
        self.seen.append("opened")
        self.badge_changed.emit(3)

    def noted(self, event: object) -> None:
        self.seen.append(event)


@pytest.fixture
def panel(qtbot: QtBot, window: MainWindow) -> MemoryPanel:
    window.toggle_memory()
    made = window.memory_panel()
    qtbot.waitUntil(lambda: made.files.current == "MEMORY.md")
    return made


def test_the_rail_shows_and_opens_every_page(qtbot: QtBot, panel: MemoryPanel) -> None:
    assert list(panel.rail.buttons) == [spec.key for spec in PAGES]
    for spec in PAGES:
        shown = panel.rail.buttons[spec.key]
        qtbot.mouseClick(shown, Qt.MouseButton.LeftButton)
        assert shown.isChecked() and panel.current == spec.key
        assert panel.stack.currentWidget() is panel.page(spec.key)
        assert panel.title.text() == spec.title() == shown.accessibleName() == shown.toolTip()
        assert [key for key, each in panel.rail.buttons.items() if each.isChecked()] == [spec.key]


def test_arrow_keys_go_from_page_to_page(qtbot: QtBot, panel: MemoryPanel) -> None:
    panel.window().activateWindow()
    first = panel.rail.buttons["files"]
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Down)
    assert panel.current == "search"
    panel.rail.buttons["search"].setFocus()
    qtbot.keyClick(panel.rail.buttons["search"], Qt.Key.Key_Down)
    assert panel.current == "journal"


def test_everything_fits_into_the_narrowest_panel(panel: MemoryPanel) -> None:
    for spec in PAGES:
        panel.show_page(spec.key)
        assert panel.minimumSizeHint().width() <= 340, spec.key


def test_a_page_is_built_when_it_is_first_chosen_and_hears_what_happens(
    qtbot: QtBot, window: MainWindow, services: FakeServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Inbox] = []

    def make(*args: object) -> Page:
        built.append(Inbox(*args))
        return built[-1]

    inbox = PageSpec("made-up", "info", lambda: "Inbox", make)
    monkeypatch.setattr(panel_module, "PAGES", (*PAGES, inbox))
    window.toggle_memory()
    panel = window.memory_panel()
    qtbot.waitUntil(lambda: panel.files.current == "MEMORY.md")
    assert built == []
    panel.show_page("made-up")
    assert built[0].seen == ["opened"]
    assert panel.rail.buttons["made-up"].accessibleName() == "Inbox, 3 waiting"
    event = MemoryChanged("MEMORY.md", "you", "j1", "Edited MEMORY.md")
    services.emit(event)
    qtbot.waitUntil(lambda: event in built[0].seen)
    window.toggle_memory()
    window.toggle_memory()
    assert built[0].seen[-1] == "opened", "the panel came back"
    panel.show_page("files")


def test_what_a_page_did_is_taken_back_from_the_toast(
    qtbot: QtBot, window: MainWindow, panel: MemoryPanel, services: FakeServices
) -> None:
    panel.files.undo_offered.emit("Deleted the note Travel", "j7")
    toast = window.toasts.shown()[0]
    assert toast.isVisible() and toast.text() == "Deleted the note Travel"
    toast.action_button().click()
    qtbot.waitUntil(lambda: services.workspace.memory.undone == ["j7"])
    qtbot.waitUntil(lambda: [each.text() for each in window.toasts.shown()] == ["Taken back"])


def test_an_undo_that_meets_a_later_change_shows_both_texts(
    qtbot: QtBot, window: MainWindow, panel: MemoryPanel, services: FakeServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services.workspace.memory, "undo", lambda _: Conflict("", "a", "b", None, "", "MEMORY.md"))
    panel.files.undo_offered.emit("Changed", "j7")
    window.toasts.shown()[0].action_button().click()
    qtbot.waitUntil(lambda: window.undo_offers.choice.dialog is not None)
    dialog = window.undo_offers.choice.dialog
    assert dialog is not None
    assert (dialog.left.toPlainText(), dialog.right.toPlainText()) == ("a", "b")
    dialog.take_theirs.click()
    assert services.workspace.memory.saved == [], "it stays as it is"


def test_three_toasts_at_most_the_newest_at_the_bottom(window: MainWindow) -> None:
    acted: list[str] = []
    for word in "abcd":
        window.toasts.show(word, "Undo", lambda word=word: acted.append(word))  # type: ignore[misc]  # bound now
    assert [toast.text() for toast in window.toasts.shown()] == ["b", "c", "d"]
    tops = [toast.mapTo(window, QPoint(0, 0)).y() for toast in window.toasts.shown()]
    assert tops == sorted(tops) and len(set(tops)) == 3
    window.toasts.shown()[1].action_button().click()
    assert acted == ["c"]
    assert [toast.text() for toast in window.toasts.shown()] == ["b", "d"]


def test_a_toast_waits_while_it_is_looked_at(qtbot: QtBot, window: MainWindow) -> None:
    window.activateWindow()
    toast = window.toasts.show("Deleted", "Undo", lambda: None)
    assert not toast.waits()
    QApplication.sendEvent(toast, QEvent(QEvent.Type.Enter))
    assert toast.waits()
    QApplication.sendEvent(toast, QEvent(QEvent.Type.Leave))
    assert not toast.waits()
    QTest.keyClick(window, Qt.Key.Key_F6)
    qtbot.waitUntil(toast.action_button().hasFocus)
    assert toast.waits()
    qtbot.keyClick(toast.action_button(), Qt.Key.Key_Escape)
    assert window.toasts.shown() == []


def test_a_toast_leaves_by_itself(qtbot: QtBot, window: MainWindow) -> None:
    window.toasts.show("Saved", seconds=0.01)
    qtbot.waitUntil(lambda: window.toasts.shown() == [])


def test_a_toast_is_announced_and_named(window: MainWindow) -> None:
    toast = window.toasts.show("Deleted the note Travel", "Undo", lambda: None)
    assert toast.accessibleName() == "Deleted the note Travel"
    interface = QAccessible.queryAccessibleInterface(toast.action_button())
    assert interface is not None
    assert interface.text(QAccessible.Text.Name) == "Undo"
    assert interface.text(QAccessible.Text.Description) == "Deleted the note Travel"
