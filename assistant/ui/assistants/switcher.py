"""The head of the list of chats: whose chats they are, and the way to the other assistants."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy

from assistant.ui.i18n import tr
from assistant.ui.theme import Theme

_AROUND = 44  # pixels that are not for the name: padding and the arrow


class AssistantSwitcher(QPushButton):
    """Shows a name; pressed, it lists the assistants and what can be done with the present one."""

    listed = Signal()
    """The menu is about to come up: ``show_names`` is to be called."""
    chosen = Signal(str)
    add_asked = Signal()
    prompt_asked = Signal()
    rename_asked = Signal()
    delete_asked = Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self.name = name
        self.setAutoDefault(False)
        self.setProperty("kind", "assistant")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow behind the name
        self.setIconSize(QSize(12, 12))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(60)
        self.setAccessibleName(tr("Assistant: {name}", name=name))
        self.setToolTip(tr("{name} and its chats. Other assistants have a memory of their own.", name=name))
        self.clicked.connect(self.listed)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        return QSize(self.fontMetrics().horizontalAdvance(self.name) + _AROUND, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = self.width() - _AROUND
        self.setText(self.fontMetrics().elidedText(self.name, Qt.TextElideMode.ElideRight, room).replace("&", "&&"))

    def show_names(self, names: Sequence[str]) -> QMenu:
        """Bring the menu up; names: the default one first."""
        menu = QMenu(self)
        menu.setLayoutDirection(QGuiApplication.layoutDirection())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        group = QActionGroup(menu)
        for name in names:
            action = menu.addAction(name.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(name == self.name)
            action.triggered.connect(lambda _=False, name=name: self.chosen.emit(name))
            group.addAction(action)
        menu.addSeparator()
        menu.addAction(tr("New assistant…")).triggered.connect(lambda: self.add_asked.emit())
        menu.addAction(tr("Edit its prompt…")).triggered.connect(lambda: self.prompt_asked.emit())
        if self.name != names[0]:
            menu.addAction(tr("Rename {name}…", name=self.name)).triggered.connect(lambda: self.rename_asked.emit())
            menu.addAction(tr("Delete {name}…", name=self.name)).triggered.connect(lambda: self.delete_asked.emit())
        menu.popup(self.mapToGlobal(QPoint(0, self.height() + 4)))
        return menu

    def _on_theme_changed(self) -> None:
        self.setIcon(self._theme.icon("down", "muted"))
