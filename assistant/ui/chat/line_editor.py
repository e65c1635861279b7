"""Rewording one line of memory where it is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from assistant.ui.chat.strips import SecretStrip, secrets_in
from assistant.ui.i18n import tr
from assistant.ui.widgets import button, label, spread

_LINES = 4


class LineEditor(QWidget):
    """``saved(text, keep_secrets)`` on Save or Ctrl+Enter, ``left`` on Cancel or Esc; its owner takes it away.

    A secret that was not in the line before is asked about first.
    """

    saved = Signal(str, bool)
    left = Signal()

    def __init__(self, text: str) -> None:
        super().__init__()
        self._before = text
        self.edit = QPlainTextEdit(text)
        self.edit.setAccessibleName(tr("New words of this line"))
        self.edit.setTabChangesFocus(True)
        self.edit.setFixedHeight(self.edit.fontMetrics().lineSpacing() * _LINES)
        self.edit.textChanged.connect(self._on_changed)
        self.problem = label("", "smallred", wrap=True)
        self.problem.hide()
        self.save = button(tr("Save"), "primary", self._on_saved)
        self.save.setEnabled(False)
        self.secrets = SecretStrip(tr("Save without it"))
        self.secrets.chosen.connect(self._go)
        row = QHBoxLayout()
        spread(row, spacing=8)
        row.addWidget(self.save)
        row.addWidget(button(tr("Cancel"), "", self.left.emit))
        row.addWidget(label(tr("Date and source stay as they are."), "small"), 1)
        column = QVBoxLayout(self)
        spread(column, (0, 4, 0, 4), 8)
        column.addWidget(self.edit)
        column.addWidget(self.secrets)
        column.addWidget(self.problem)
        column.addLayout(row)

    def show_problem(self, words: str) -> None:
        """It could not be saved; what was typed is kept."""
        self.problem.setText(words)
        self.problem.setVisible(bool(words))
        self.setEnabled(True)
        self.edit.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self.secrets.isHidden():
            self.secrets.hide()
            self.edit.setFocus()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers():
            self._on_saved()
        else:
            super().keyPressEvent(event)

    def _on_changed(self) -> None:
        text = self._text()
        self.secrets.hide()
        self.save.setEnabled(bool(text) and text != self._before)

    def _on_saved(self) -> None:
        if not self.save.isEnabled():
            return
        known = secrets_in(self._before)
        new = [secret for secret in secrets_in(self._text()) if secret not in known]
        if not new or not self.secrets.asks(self._text()):
            self._go(False)

    def _go(self, keep_secrets: bool) -> None:
        self.secrets.hide()
        self.setEnabled(False)
        self.saved.emit(self._text(), keep_secrets)

    def _text(self) -> str:
        return self.edit.toPlainText().strip()
