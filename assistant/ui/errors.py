"""How failures are shown: expected ones as written, bugs in a dialog whose details can be copied."""

from __future__ import annotations

import logging
import platform
import sys
import traceback
from types import TracebackType

from PySide6.QtCore import QObject, Signal, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from assistant.core.errors import AssistantError
from assistant.ui.i18n import tr
from assistant.ui.widgets import button, label, spread

_log = logging.getLogger(__name__)


def details_of(error: BaseException) -> str:
    """What a report of a bug needs: versions and the traceback."""
    head = f"Keepsake · Python {platform.python_version()} · Qt {qVersion()} · {platform.platform()}\n\n"
    return head + "".join(traceback.format_exception(error))


class ErrorDialog(QDialog):
    """One failure. An AssistantError as it is written; anything else with details to copy."""

    def __init__(self, error: BaseException, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        expected = isinstance(error, AssistantError)
        self.setWindowTitle(tr("That did not work") if expected else tr("Something went wrong"))
        self.setMinimumWidth(440)
        column = QVBoxLayout(self)
        spread(column, (24, 24, 24, 16), 12)
        if isinstance(error, AssistantError):
            column.addWidget(label(error.message, "title", wrap=True))
            if error.hint:
                column.addWidget(label(error.hint, wrap=True))
        else:
            column.addWidget(label(tr("Something went wrong"), "title"))
            words = tr(
                "This is a fault in Keepsake. Your chats and memory are safe on disk, and you can go on working."
            )
            column.addWidget(label(words, wrap=True))
            self.details = QPlainTextEdit(details_of(error))
            self.details.setReadOnly(True)
            self.details.setProperty("role", "code")
            self.details.setAccessibleName(tr("Details"))
            self.details.setMinimumSize(520, 220)
            column.addWidget(self.details)
        column.addLayout(self._buttons(error, expected))

    def _buttons(self, error: BaseException, expected: bool) -> QHBoxLayout:
        row = QHBoxLayout()
        spread(row, (0, 8, 0, 0), 8)
        row.addStretch()
        if not expected:
            self.copy = QPushButton(tr("Copy details"))
            self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(details_of(error)))
            row.addWidget(self.copy)
        close = button(tr("Close"), "primary", self.accept)
        close.setDefault(True)
        row.addWidget(close)
        return row


class ErrorHook(QObject):
    """Takes over ``sys.excepthook`` so that a fault in a slot shows a dialog and the window lives on."""

    _caught = Signal(object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window, self._open = window, False
        self._caught.connect(self._on_caught)
        self._before = sys.excepthook

    def install(self) -> None:
        sys.excepthook = self._on_exception

    def remove(self) -> None:
        sys.excepthook = self._before

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, KeyboardInterrupt):
            self._before(kind, error, trace)
            return
        _log.error("Unexpected error", exc_info=(kind, error, trace))
        self._caught.emit(error)

    def _on_caught(self, error: BaseException) -> None:
        if not self._open:  # one dialog at a time: a fault that repeats must not bury the window
            self._open = True
            try:
                ErrorDialog(error, self._window).exec()
            finally:
                self._open = False
