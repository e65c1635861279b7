"""What a screen reader and the keyboard alone can do: every control has a name, and Tab reaches all in order."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QTabBar,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from assistant.core.errors import AssistantError
from assistant.ui.chat.code_block import CodeBlock
from assistant.ui.main_window import MainWindow
from assistant.ui.memory.pages import PAGES

from .fakes import FakeServices, Turn, make_receipt
from .test_chat import open_chat

CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QTabBar,
    QTextEdit,
)
REPLY = "One.\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"


def name_of(widget: QWidget) -> str:
    """What a screen reader says."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return str(interface.text(QAccessible.Text.Name)) if interface is not None else ""


def inner(widget: QWidget) -> bool:
    """Parts that Qt makes inside a control; they speak through it."""
    parent = widget.parentWidget()
    if widget.objectName().startswith("qt_"):
        return True
    return isinstance(parent, QLineEdit | QAbstractSpinBox | QTabBar | QComboBox | QAbstractItemView)


def nameless(root: QWidget) -> list[str]:
    found = [made for made in root.findChildren(QWidget) if isinstance(made, CONTROLS) and made.isVisibleTo(root)]
    return [f"{made.__class__.__name__} {made.objectName()}" for made in found if not inner(made) and not name_of(made)]


@pytest.fixture
def full(qtbot: QtBot, window: MainWindow, services: FakeServices) -> MainWindow:
    """A window that shows everything it has at once."""
    services.receipts[("c", 1)] = make_receipt("c", 1)
    open_chat(qtbot, window, services, Turn(1, None, "", "hello", REPLY))
    view = window.page.transcript.views()[0]
    qtbot.waitUntil(view.receipt_button.isVisible)
    view.receipt_button.click()
    window.toggle_memory()
    panel = window.memory_panel()
    qtbot.waitUntil(lambda: panel.files.current == "MEMORY.md")
    panel.secrets.asks("password: Tr0ub4dor&3")
    window.page.start_find()
    window.page.secrets.asks("password: Tr0ub4dor&3")
    window.page.queued.show_text("and then?")
    window.bottombar.show_job("x", "Working", 1, 2)
    return window


def test_every_control_of_the_window_has_a_name(full: MainWindow) -> None:
    assert nameless(full) == []


@pytest.mark.parametrize("key", [spec.key for spec in PAGES])
def test_every_control_of_the_memory_panel_has_a_name(full: MainWindow, key: str) -> None:
    full.show_memory_page(key)
    assert nameless(full) == []


@pytest.mark.parametrize(
    "show",
    [
        lambda window: window.open_settings(),
        lambda window: window.show_shortcuts(),
        lambda window: window.models.explain(),
        lambda window: window.show_error(AssistantError("a.b", "It failed.", "Try again.")),
        lambda window: window.show_error(ValueError("boom")),
    ],
)
def test_every_control_of_the_dialogs_has_a_name(
    qtbot: QtBot, window: MainWindow, show: Callable[[MainWindow], None]
) -> None:
    show(window)
    dialog = window.findChild(QDialog)
    assert dialog is not None
    assert nameless(dialog) == []
    assert dialog.windowTitle()
    dialog.reject()


def tab_order(qtbot: QtBot, window: MainWindow) -> list[QWidget]:
    """Where Tab leads, from the composer once around; never to something that is out of sight."""
    window.activateWindow()
    window.page.composer.edit.setFocus()
    seen: list[QWidget] = []
    for _ in range(200):
        here = QApplication.focusWidget()
        if here is None or here in seen:
            break
        seen.append(here)
        assert not here.visibleRegion().isEmpty(), f"the focus is out of sight: {here} {here.accessibleName()}"
        qtbot.keyClick(here, Qt.Key.Key_Tab)
    return seen


def test_tab_reaches_the_parts_of_the_window_in_reading_order(qtbot: QtBot, full: MainWindow) -> None:
    QApplication.processEvents()
    order = tab_order(qtbot, full)
    page, panel, view = full.page, full.memory_panel(), full.page.transcript.views()[0]
    expected = [
        full.sidebar.new,
        full.sidebar.filter,
        full.sidebar.view,
        full.topbar.sidebar,
        full.topbar.model,
        full.topbar.memory,
        page.find_bar.field,
        page.transcript,
        view.copy_user,
        view.edit,
        view.findChild(CodeBlock).copy_button(),  # type: ignore[union-attr]  # the reply has code
        view.copy_reply,
        view.receipt_button,
        page.queued.edit,
        page.secrets.without,
        page.secrets.keep,
        page.composer.edit,
        page.composer.button,
        panel.rail.buttons["files"],
        panel.quick,
        panel.remember,
        panel.files.editor,
    ]
    reached = [widget for widget in expected if widget in order]
    missing = [widget for widget in expected if widget not in order and widget.isEnabled()]
    assert missing == []
    start = order.index(full.sidebar.new)
    around = [*order[start:], *order[:start]]
    assert [widget for widget in around if widget in reached] == reached
