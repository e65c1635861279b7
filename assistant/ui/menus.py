"""The menu bar with its keys, and the dialog that lists the keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from assistant.ui.backup.actions import back_up, restore_backup
from assistant.ui.chat.kinds import Kind
from assistant.ui.i18n import tr
from assistant.ui.imports.actions import import_memory
from assistant.ui.theme import CHOICES
from assistant.ui.widgets import button, label, spread

if TYPE_CHECKING:
    from assistant.ui.main_window import MainWindow


class Menus:
    """Fills the menu bar of a window. ``actions`` by menu, in order."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.themes: dict[str, QAction] = {}
        self.groups: list[tuple[str, list[QAction]]] = []
        self._fill_chat()
        self._fill_view()
        self._fill_memory()
        self._fill_model()
        self._fill_help()

    def _fill_chat(self) -> None:
        window, menu = self._window, self._menu(tr("&Chat"), tr("Chat"))
        self._action(menu, tr("New chat"), window.new_chat, "Ctrl+N")
        self._action(menu, tr("New private chat"), window.kinds.new_private, "Ctrl+Shift+N")
        self._action(menu, tr("New temporary chat"), window.kinds.new_temporary, "Ctrl+Shift+E")
        self._action(menu, tr("Find a chat"), window.focus_filter, "Ctrl+K")
        self._action(menu, tr("Next chat"), partial(window.chats.step, 1), "Ctrl+Tab", "Ctrl+PgDown")
        self._action(menu, tr("Previous chat"), partial(window.chats.step, -1), "Ctrl+Shift+Tab", "Ctrl+PgUp")
        menu.addSeparator()
        self._action(menu, tr("Rename chat"), window.chats.rename_open, "F2")
        self.private = self._action(menu, tr("This chat is private"), window.kinds.switch_private)
        self.private.setCheckable(True)
        self.bring_back = self._action(menu, tr("Bring back deleted chat"), window.chats.restore_last, "Ctrl+Shift+T")
        self.bring_back.setEnabled(False)
        window.chats.deleted_changed.connect(self.bring_back.setEnabled)
        menu.addSeparator()
        self._action(menu, tr("Find in this chat"), window.page.start_find, "Ctrl+F")
        self._action(menu, tr("Copy the last reply"), window.copy_reply, "Ctrl+Shift+C")
        menu.addSeparator()
        self._action(menu, tr("Assistants"), window.assistants.open_menu, "Ctrl+Shift+A")
        self._action(menu, tr("Settings…"), window.open_settings, "Ctrl+,")
        self._action(menu, tr("Quit"), window.close, "Ctrl+Q")

    def show_kind(self, kind: Kind) -> None:
        """The open chat's kind."""
        self.private.setChecked(kind is Kind.PRIVATE)
        self.private.setEnabled(kind is not Kind.TEMPORARY)

    def _fill_view(self) -> None:
        window, menu = self._window, self._menu(tr("&View"), tr("View"))
        self._action(menu, tr("Chats"), window.room.toggle_chats, "Ctrl+B")
        self._action(menu, tr("Memory"), window.memory.toggle, "Ctrl+M")
        self._action(menu, tr("Search memory"), window.memory.search, "Ctrl+Shift+F")
        self._action(menu, tr("Review what waits"), window.memory.review, "Ctrl+Shift+R")
        self._action(menu, tr("New note…"), window.memory.new_note)
        self._action(menu, tr("Write a message"), window.write_message, "Ctrl+L")
        self._action(menu, tr("Go to the message at the bottom"), window.toasts.focus, "F6")
        menu.addSeparator()
        self._fill_themes(menu)

    def _fill_themes(self, menu: QMenu) -> None:
        names = {"system": tr("Theme of the system"), "light": tr("Light theme"), "dark": tr("Dark theme")}
        group = QActionGroup(self._window)
        for choice in CHOICES:
            action = self._action(menu, names[choice], partial(self._window.choose_theme, choice))
            action.setCheckable(True)
            action.setChecked(self._window.theme.choice == choice)
            group.addAction(action)
            self.themes[choice] = action

    def _fill_memory(self) -> None:
        window, menu = self._window, self._menu(tr("M&emory"), tr("Memory"))
        self._action(menu, tr("Tidy up…"), window.memory.tidy)
        self._action(menu, tr("Import…"), partial(import_memory, window))
        self._action(menu, tr("Back up…"), partial(back_up, window))
        self._action(menu, tr("Restore a backup…"), partial(restore_backup, window))

    def _fill_model(self) -> None:
        window, menu = self._window, self._menu(tr("&Model"), tr("Model"))
        self._action(menu, tr("Models…"), window.models.open, "Ctrl+Shift+M")
        self._action(menu, tr("Models and downloads…"), window.models.show_here)
        self._action(menu, tr("How to add a model"), window.models.explain)

    def _fill_help(self) -> None:
        menu = self._menu(tr("&Help"), tr("Help"))
        self._action(menu, tr("Keyboard shortcuts"), self._window.show_shortcuts, "F1", "Ctrl+/")

    def _menu(self, words: str, name: str) -> QMenu:
        self.groups.append((name, []))
        return self._window.menuBar().addMenu(words)

    def _action(self, menu: QMenu, words: str, act: Callable[[], object], *keys: str) -> QAction:
        action = QAction(words, self._window)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.triggered.connect(lambda: act())
        menu.addAction(action)
        self.groups[-1][1].append(action)
        return action


Rows = Sequence[tuple[str, str]]


def shortcut_groups(menus: Menus) -> list[tuple[str, Rows]]:
    """Name of a group -> what can be done and its keys, in words. The menus' own, then those of the fields."""
    found: list[tuple[str, Rows]] = []
    for name, actions in menus.groups:
        rows = [(action.text(), _keys(action)) for action in actions if action.shortcuts()]
        if rows:
            found.append((name, rows))
    return [*found, (tr("While writing"), _writing()), (tr("In a memory file"), _editing())]


def _editing() -> Rows:
    return [
        (tr("Save"), "Ctrl+S"),
        (tr("Find in this file"), "Ctrl+F"),
        (tr("Replace"), "Ctrl+H"),
        (tr("Open the note a link names"), tr("Ctrl+Enter  ·  Ctrl+click")),
    ]


def _writing() -> Rows:
    return [
        (tr("Send, or let it wait for the reply"), "Enter"),
        (tr("Start a new line"), "Shift+Enter"),
        (tr("Stop the reply, or go back one step"), "Esc"),
        (tr("Change the last message"), "↑"),
    ]


def _keys(action: QAction) -> str:
    return "  ·  ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.shortcuts())


class ShortcutsDialog(QDialog):
    """All keys on one page."""

    def __init__(self, menus: Menus, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        column = QVBoxLayout(self)
        spread(column, (24, 24, 24, 16), 8)
        column.addWidget(label(tr("Keyboard shortcuts"), "title"))
        first, *others, last = shortcut_groups(menus)
        sides = QHBoxLayout()
        spread(sides, spacing=56)
        for groups in ([first, last], others):  # side by side, or a small screen could not hold them
            sides.addLayout(self._side(groups))
        column.addLayout(sides)
        foot = QHBoxLayout()
        spread(foot, (0, 8, 0, 0))
        foot.addStretch()
        foot.addWidget(button(tr("Close"), "primary", self.accept))
        column.addLayout(foot)

    def _side(self, groups: Sequence[tuple[str, Rows]]) -> QVBoxLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(40)
        grid.setVerticalSpacing(5)
        for name, rows in groups:
            self._add_group(grid, name, rows)
        side = QVBoxLayout()
        side.addLayout(grid)
        side.addStretch()
        return side

    def _add_group(self, grid: QGridLayout, name: str, rows: Rows) -> None:
        heading = label(name, "section")
        heading.setContentsMargins(0, 8, 0, 0)
        grid.addWidget(heading, grid.rowCount(), 0, 1, 2)
        for words, keys in rows:
            row = grid.rowCount()
            grid.addWidget(label(words), row, 0)
            shown = label(keys, "muted")
            shown.setAccessibleName(f"{words}: {keys}")
            grid.addWidget(shown, row, 1, Qt.AlignmentFlag.AlignRight)
