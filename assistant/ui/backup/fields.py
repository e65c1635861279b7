"""The fields that both dialogs have: a path with a button that chooses it, and a passphrase."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.widgets import button, label, spread


class PathField(QWidget):
    """A path that can be typed or chosen. ``choose``: opens the system's dialog and gives what was chosen, or ""."""

    changed = Signal(str)

    def __init__(self, words: str, choose: Callable[[], str]) -> None:
        super().__init__()
        self._choose = choose
        self.edit = QLineEdit()
        self.edit.setAccessibleName(words)
        self.edit.textChanged.connect(self.changed)
        self.button = button(tr("Choose…"), "", self._on_choose)
        self.button.setAccessibleName(f"{words}: {tr('Choose…')}")
        row = QHBoxLayout()
        spread(row, spacing=8)
        row.addWidget(self.edit, 1)
        row.addWidget(self.button)
        column = QVBoxLayout(self)
        spread(column, spacing=4)
        column.addWidget(label(words, "section"))
        column.addLayout(row)

    def text(self) -> str:
        return self.edit.text().strip()

    def _on_choose(self) -> None:
        if chosen := self._choose():
            self.edit.setText(chosen)


def secret_field(placeholder: str) -> QLineEdit:
    """A field whose text is not shown."""
    made = QLineEdit()
    made.setEchoMode(QLineEdit.EchoMode.Password)
    made.setPlaceholderText(placeholder)
    made.setAccessibleName(placeholder)
    return made


def size_words(size: int) -> str:
    """A size as people say it."""
    if size < 1_000_000:
        return tr("{n} KB", n=max(1, round(size / 1000)))
    return tr("{n} MB", n=f"{size / 1_000_000:.1f}")


def fit(dialog: QDialog) -> None:
    """Make a dialog as high as what it shows now needs; call it after something was shown or hidden."""
    dialog.ensurePolished()
    if (layout := dialog.layout()) is not None:
        layout.activate()
        width = max(dialog.width(), dialog.minimumWidth())
        dialog.resize(width, max(dialog.minimumSizeHint().height(), layout.totalHeightForWidth(width)))
