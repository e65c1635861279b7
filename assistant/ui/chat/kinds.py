"""The kinds of chats as the window shows them: ordinary, private, temporary."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QHBoxLayout, QLabel, QMenu, QMessageBox, QPushButton, QWidget

from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, button, label, spread


class Kind(StrEnum):
    """What becomes of what is said in a chat."""

    ORDINARY = "ordinary"
    PRIVATE = "private"
    TEMPORARY = "temporary"


ICONS = {Kind.PRIVATE: "lock", Kind.TEMPORARY: "temporary"}


def kind_words(kind: Kind) -> str:
    """One word for it, "" for an ordinary chat."""
    return {Kind.PRIVATE: tr("Private"), Kind.TEMPORARY: tr("Temporary")}.get(kind, "")


def private_explained() -> str:
    """What a private chat is."""
    return tr("Other chats are told nothing of a private chat, and nothing of it becomes memory.")


def temporary_explained() -> str:
    """What a temporary chat is."""
    return tr("Nothing of a temporary chat is written to disk; it is gone when you close it.")


class PrivateMark(QPushButton):
    """Beside the title of a private chat: a lock and the word; pressing it says what that means and can end it."""

    ended = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(kind_words(Kind.PRIVATE))
        self._theme = theme
        self.setAutoDefault(False)
        self.setProperty("kind", "chip")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(14, 14))
        self.setToolTip(private_explained())
        self.setAccessibleName(tr("This chat is private"))
        self.setAccessibleDescription(private_explained())
        self.clicked.connect(self._on_clicked)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.hide()

    def _on_theme_changed(self) -> None:
        self.setIcon(self._theme.icon("lock", "text"))

    def _on_clicked(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(private_explained()).setEnabled(False)
        menu.addSeparator()
        menu.addAction(tr("No longer private")).triggered.connect(lambda: self.ended.emit())
        menu.popup(self.mapToGlobal(QPoint(0, self.height() + 4)))


class TemporaryBanner(QFrame):
    """Above a temporary chat: what it is, whether memory is read for it, and the two ways out."""

    keep_asked = Signal()
    close_asked = Signal()
    memory_chosen = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("banner")
        self._theme = theme
        self._icon = QLabel()
        self.words = label(tr("Temporary: nothing is kept"), "strong")
        self.words.setToolTip(temporary_explained())
        self.memory = QCheckBox(tr("Read memory"))
        self.memory.setToolTip(tr("Whether what you told before is used here. Nothing is ever added to it from here."))
        self.memory.setChecked(True)
        self.memory.clicked.connect(self.memory_chosen)
        self.keep = button(tr("Keep this chat"), "", self.keep_asked.emit)
        self.close_it = IconButton(theme, "close", tr("Close this temporary chat"), 16)
        self.close_it.clicked.connect(self.close_asked)
        row = QHBoxLayout(self)
        spread(row, (24, 6, 16, 6), 12)
        row.addWidget(self._icon)
        row.addWidget(self.words)
        row.addStretch(1)
        row.addWidget(self.memory)
        row.addWidget(self.keep)
        row.addWidget(self.close_it)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.hide()

    def _on_theme_changed(self) -> None:
        self._icon.setPixmap(self._theme.icon("temporary", "text").pixmap(QSize(18, 18), self.devicePixelRatioF()))


class Way(StrEnum):
    """What a person does with a temporary chat that is to be closed."""

    CLOSE = "close"
    KEEP = "keep"
    STAY = "stay"


def ask_about_temporary(parent: QWidget, count: int) -> Way:
    """Close, keep or stay, for so many temporary chats with something in them."""
    box = QMessageBox(parent)
    box.setWindowTitle(tr("Close a temporary chat"))
    one = tr("This temporary chat is gone for good when it is closed.")
    box.setText(one if count == 1 else tr("{n} temporary chats are gone for good when they are closed.", n=count))
    close = box.addButton(tr("Close it") if count == 1 else tr("Close them"), QMessageBox.ButtonRole.DestructiveRole)
    keep = box.addButton(tr("Keep this chat") if count == 1 else tr("Keep them"), QMessageBox.ButtonRole.AcceptRole)
    stay = box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    box.exec()
    pressed = box.clickedButton()
    box.deleteLater()
    return Way.CLOSE if pressed is close else Way.KEEP if pressed is keep else Way.STAY
