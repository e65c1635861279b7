"""Asks for the access token of the host that models come from; it goes into the system's keyring and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from assistant.core.errors import AssistantError
from assistant.ui.i18n import tr, translate_message
from assistant.ui.widgets import button, fit_height, label, spread

if TYPE_CHECKING:
    from assistant.ui.backend import Backend
    from assistant.ui.bridge import Bridge

_WIDTH = 480


class TokenDialog(QDialog):
    """Saving an empty field removes the token that is there."""

    def __init__(self, services: Backend, bridge: Bridge, host: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._services, self._bridge = services, bridge
        self.setWindowTitle(tr("Access token"))
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setAccessibleName(tr("Access token"))
        self.problem = label("", "smallred", wrap=True)
        self.problem.hide()
        self.save = button(tr("Save"), "primary", self._on_save)
        self.save.setDefault(True)
        column = QVBoxLayout(self)
        spread(column, (24, 20, 24, 16), 10)
        column.addWidget(label(tr("Access token for {host}", host=host), "title"))
        words = tr(
            "A few models are given only to people with an account. Make a token with reading rights on the web page "
            "of {host} and paste it here. It is kept in the system's keyring and sent only to {host}, and only for a "
            "file that is not given without it. An empty field removes it.",
            host=host,
        )
        column.addWidget(label(words, "muted", wrap=True))
        column.addWidget(self.field)
        column.addWidget(self.problem)
        row = QHBoxLayout()
        spread(row, (0, 6, 0, 0), 8)
        row.addStretch()
        row.addWidget(button(tr("Cancel"), "", self.reject))
        row.addWidget(self.save)
        column.addLayout(row)
        fit_height(self, _WIDTH)

    def _on_save(self) -> None:
        self.save.setEnabled(False)
        set_token = self._services.downloads.set_token
        lane = self._services.lanes.keeping  # the keyring may wait for the person
        self._bridge.run(lane, set_token, self.field.text(), done=self._on_saved, failed=self._on_failed)

    def _on_saved(self, host: str) -> None:
        self.accept()

    def _on_failed(self, error: BaseException) -> None:
        self.save.setEnabled(True)
        known = isinstance(error, AssistantError)
        self.problem.setText(translate_message(str(error)) if known else str(error))
        self.problem.show()
        fit_height(self, _WIDTH)
