"""The line in the memory panel that remembers something at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.chat.strips import SecretStrip
from assistant.ui.i18n import tr
from assistant.ui.widgets import button, spread

if TYPE_CHECKING:
    from assistant.workspace.memory_values import Written


class QuickLine(QWidget):
    """Enter remembers; a secret is asked about first."""

    failed = Signal(object)
    said = Signal(str)
    written = Signal(str)
    """The file that something was written to."""

    def __init__(self, services: Backend, bridge: Bridge) -> None:
        super().__init__()
        self._services, self._bridge = services, bridge
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Remember…"))
        self.field.setAccessibleName(tr("Remember"))
        self.remember = button(tr("Remember"), "primary", self._on_remember)
        self.remember.setEnabled(False)
        self.secrets = SecretStrip(tr("Remember without it"))
        self.secrets.chosen.connect(self._remember)
        self.field.returnPressed.connect(self._on_remember)
        self.field.textChanged.connect(self._on_text_changed)
        row = QHBoxLayout()
        spread(row, spacing=8)
        row.addWidget(self.field, 1)
        row.addWidget(self.remember)
        column = QVBoxLayout(self)
        spread(column, (16, 0, 16, 4), 8)
        column.addLayout(row)
        column.addWidget(self.secrets)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self.secrets.isHidden():
            self.secrets.hide()
            self.field.setFocus()
        else:
            super().keyPressEvent(event)

    def _on_text_changed(self, text: str) -> None:
        self.secrets.hide()
        self.remember.setEnabled(bool(text.strip()))

    def _on_remember(self) -> None:
        """Enter. A secret is asked about first; Enter again goes on without it."""
        asked = not self.secrets.isHidden()
        if self.field.text().strip() and (asked or not self.secrets.asks(self.field.text())):
            self._remember(False)

    def _remember(self, keep_secrets: bool) -> None:
        text = self.field.text().strip()
        self.secrets.hide()
        self.field.setEnabled(False)
        remember = self._services.remember
        self._bridge.run(
            self._services.lanes.files,
            lambda: remember(text, keep_secrets=keep_secrets),
            done=self._on_remembered,
            failed=self._on_not_remembered,
        )

    def _on_remembered(self, written: Written) -> None:
        self.field.setEnabled(True)
        self.field.clear()
        self.field.setFocus()
        place = f"{written.file}:{written.line}"
        if written.duplicate:
            self.said.emit(tr("That is known already: {place}", place=place))
        elif written.redacted:
            self.said.emit(tr("Remembered in {place}; a secret in it was not written down", place=place))
        else:
            self.said.emit(tr("Remembered in {place}", place=place))
        self.written.emit(written.file)

    def _on_not_remembered(self, error: BaseException) -> None:
        self.field.setEnabled(True)
        self.failed.emit(error)
