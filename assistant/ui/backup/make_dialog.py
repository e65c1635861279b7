"""The dialog that makes a backup, and shows the recovery key the one time it is new."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.ui.backend import Backend
from assistant.ui.backup.fields import PathField, fit, secret_field, size_words
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message
from assistant.ui.widgets import button, label, spread

if TYPE_CHECKING:
    from assistant.runtime.backups import BackupReport
    from assistant.workspace.known_backups import KnownBackup


class BackupDialog(QDialog):
    """Asks where to and how it is locked, makes the backup in the background, and says what came of it."""

    def __init__(self, services: Backend, bridge: Bridge, parent: QWidget) -> None:
        super().__init__(parent)
        self._services, self._bridge = services, bridge
        self._cancelled = CancelToken()
        self.setWindowTitle(tr("Back up"))
        self.setMinimumWidth(520)
        self.where = PathField(tr("Where to"), self.choose_file)
        self.where.edit.setText(str(Path.home() / services.backups.suggest_name()))
        self.lock = QComboBox()
        self.lock.setAccessibleName(tr("Locked with"))
        self.lock.addItem(tr("A key in the system's keyring"), "keyring")
        self.lock.addItem(tr("A passphrase"), "passphrase")
        self.first, self.again = secret_field(tr("Passphrase")), secret_field(tr("The same again"))
        self.problem = label("", "smallred", wrap=True)
        self.status = label("", "small", wrap=True)
        self.last = label("", "small", wrap=True)
        self.last.hide()
        self.go = button(tr("Back up"), "primary", self._on_go)
        self.go.setDefault(True)
        self.cancel = button(tr("Cancel"), "", self.reject)
        self.report = _Report()
        self.stack = QStackedWidget()
        self.form = self._form()
        self.stack.addWidget(self.form)
        self.stack.addWidget(self.report)
        column = QVBoxLayout(self)
        spread(column, (24, 20, 24, 16), 12)
        column.addWidget(self.stack)
        column.addLayout(self._buttons())
        self.lock.currentIndexChanged.connect(self._show_lock)
        self._show_lock()
        self.where.changed.connect(lambda text: self.go.setEnabled(bool(text.strip())))
        bridge.run(services.lanes.files, services.backups.known.all, done=self._show_last)

    def choose_file(self) -> str:
        chosen, _ = QFileDialog.getSaveFileName(self, tr("Back up"), self.where.text())
        return chosen

    def reject(self) -> None:
        """A backup that is being made stops; nothing is left of it."""
        self._cancelled.cancel()
        super().reject()

    def _show_last(self, known: Sequence[KnownBackup]) -> None:
        if known:
            last = known[0]
            when = last.made[:16].replace("T", " ")
            self.last.setText(tr("Last backup: {when}, {file}", when=when, file=last.path.name))
            self.last.show()
            fit(self)

    def _form(self) -> QWidget:
        form = QWidget()
        column = QVBoxLayout(form)
        spread(column, spacing=10)
        column.addWidget(label(tr("Back up"), "title"))
        words = tr(
            "One encrypted file with your memory, chats, journal and settings. It is read back and compared before it"
            " counts."
        )
        column.addWidget(label(words, "muted", wrap=True))
        column.addWidget(self.last)
        column.addWidget(self.where)
        column.addWidget(label(tr("Locked with"), "section"))
        for widget in (self.lock, self.first, self.again, self.status, self.problem):
            column.addWidget(widget)
        column.addStretch()
        return form

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        spread(row, spacing=8)
        row.addStretch()
        row.addWidget(self.cancel)
        row.addWidget(self.go)
        return row

    def _by_passphrase(self) -> bool:
        return bool(self.lock.currentData() == "passphrase")

    def _show_lock(self) -> None:
        for field in (self.first, self.again):
            field.setVisible(self._by_passphrase())
        by_key = tr("The key is made once and shown once, so that you can write it down.")
        by_words = tr("Nobody can open it without the passphrase, and nobody can tell it to you again.")
        self.status.setText(by_words if self._by_passphrase() else by_key)
        self._complain("")

    def _complain(self, words: str) -> None:
        self.problem.setText(words)
        self.problem.setVisible(bool(words))
        fit(self)

    def _on_go(self) -> None:
        if self.stack.currentWidget() is self.report:
            self.accept()
            return
        if self._by_passphrase() and self.first.text() != self.again.text():
            self._complain(tr("The two passphrases differ."))
            return
        self._complain("")
        self._busy(True)
        target, secret = Path(self.where.text()), self.first.text() if self._by_passphrase() else None
        self._bridge.run(
            self._services.lanes.keeping,
            lambda: self._services.backups.make(target, secret, cancel=self._cancelled),
            done=self._on_done,
            failed=self._on_failed,
        )

    def _busy(self, busy: bool) -> None:
        self.go.setEnabled(not busy)
        self.go.setText(tr("Backing up…") if busy else tr("Back up"))
        self.where.setEnabled(not busy)
        self.lock.setEnabled(not busy)

    def _on_failed(self, error: BaseException) -> None:
        self._busy(False)
        words = str(error) if isinstance(error, AssistantError) else tr("The backup failed: {why}", why=str(error))
        self._complain(translate_message(words))

    def _on_done(self, report: BackupReport) -> None:
        self.first.clear()
        self.again.clear()
        self.report.show_report(report)
        self.stack.setCurrentWidget(self.report)
        self.stack.removeWidget(self.form)
        self.form.hide()
        self.cancel.hide()
        QTimer.singleShot(0, self, lambda: fit(self))  # the form has left the layout by then
        self.go.setEnabled(True)
        self.go.setText(tr("I have written it down") if report.new_key else tr("Close"))


class _Report(QWidget):
    """What was backed up, and the key."""

    def __init__(self) -> None:
        super().__init__()
        self._secret = ""
        self.words = label("", wrap=True)
        self.place = label("", "mono", wrap=True)
        self.left_out = label("", "small", wrap=True)
        self.key = label("", "mono")
        self.key.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.card = self._card()
        column = QVBoxLayout(self)
        spread(column, spacing=10)
        column.addWidget(label(tr("Backed up"), "title"))
        for widget in (self.words, self.place, self.left_out, self.card):
            column.addWidget(widget)
        column.addStretch()

    def _card(self) -> QFrame:
        card = QFrame()
        card.setObjectName("notecard")
        column = QVBoxLayout(card)
        spread(column, (16, 12, 16, 12), 8)
        column.addWidget(label(tr("Your recovery key"), "section"))
        column.addWidget(self.key)
        words = tr(
            "It is shown only now. Write it down and keep it apart from the backup: it opens the backup on any"
            " computer, also without Keepsake."
        )
        column.addWidget(label(words, "small", wrap=True))
        copy = button(tr("Copy the key"), "link", self._on_copy)
        column.addWidget(copy, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._secret)

    def show_report(self, report: BackupReport) -> None:
        numbers = {"n": report.files, "size": size_words(report.size)}
        self.words.setText(tr("{n} files in {size}. Read back and compared: all of them are right.", **numbers))
        self.place.setText(str(report.file))
        self.left_out.setText(tr("Left out (links or too large): {names}", names=", ".join(report.skipped[:5])))
        self.left_out.setVisible(bool(report.skipped))
        self._secret = report.new_key
        half = len(self._secret) // 2
        self.key.setText(f"{self._secret[:half]}\n{self._secret[half:]}")
        self.key.setAccessibleName(tr("Your recovery key"))
        self.card.setVisible(bool(report.new_key))
