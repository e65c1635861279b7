"""How failures are shown: expected ones as written, bugs in a dialog whose details can be copied."""

from __future__ import annotations

import platform
import traceback
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from assistant.core.errors import AssistantError
from assistant.ui.i18n import tr, translate_message
from assistant.ui.widgets import button, fit_height, label, spread


def details_of(error: BaseException, log: Path | None = None) -> str:
    """What a report of a bug needs: versions, the traceback, and where the log is."""
    head = f"Keepsake · Python {platform.python_version()} · Qt {qVersion()} · {platform.platform()}\n\n"
    foot = f"\n{log}\n" if log is not None else ""
    return head + "".join(traceback.format_exception(error)) + foot


class ErrorDialog(QDialog):
    """One failure. An AssistantError as it is written; anything else with details to copy."""

    def __init__(self, error: BaseException, parent: QWidget | None = None, log: Path | None = None) -> None:
        super().__init__(parent)
        expected = isinstance(error, AssistantError)
        self._details = details_of(error, log)
        self.setWindowTitle(tr("That did not work") if expected else tr("Something went wrong"))
        column = QVBoxLayout(self)
        spread(column, (24, 24, 24, 16), 12)
        if isinstance(error, AssistantError):
            column.addWidget(label(translate_message(error.message), "title", wrap=True))
            if error.hint:
                column.addWidget(label(translate_message(error.hint), wrap=True))
        else:
            column.addWidget(label(tr("Something went wrong"), "title"))
            words = tr(
                "This is a fault in Keepsake. Your chats and memory are safe on disk, and you can go on working."
            )
            column.addWidget(label(words, wrap=True))
            self.details = QPlainTextEdit(self._details)
            self.details.setReadOnly(True)
            self.details.setProperty("role", "code")
            self.details.setAccessibleName(tr("Details"))
            self.details.setMinimumSize(520, 220)
            column.addWidget(self.details)
        column.addLayout(self._buttons(expected))
        fit_height(self, 440 if expected else 600)

    def _buttons(self, expected: bool) -> QHBoxLayout:
        row = QHBoxLayout()
        spread(row, (0, 8, 0, 0), 8)
        row.addStretch()
        if not expected:
            self.copy = QPushButton(tr("Copy details"))
            self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._details))
            row.addWidget(self.copy)
        close = button(tr("Close"), "primary", self.accept)
        close.setDefault(True)
        row.addWidget(close)
        return row


class ErrorReporter(QObject):
    """Shows unexpected errors, whichever thread they come from, one dialog at a time. log: named in the details."""

    _reported = Signal(object)

    def __init__(self, log: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._log = log
        self.dialog: ErrorDialog | None = None
        self._reported.connect(self._on_reported, Qt.ConnectionType.QueuedConnection)

    def report(self, error: BaseException) -> None:
        """Show ``error`` as soon as the window's thread can; never raises."""
        if shiboken6.isValid(self):
            self._reported.emit(error)

    def _on_reported(self, error: BaseException) -> None:
        if self.dialog is not None:  # a fault that repeats must not bury the window
            return
        self.dialog = ErrorDialog(error, QApplication.activeWindow(), self._log)
        self.dialog.finished.connect(self._on_closed)
        self.dialog.open()

    def _on_closed(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None
