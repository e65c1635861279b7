"""The dialog that restores a backup into a folder of its own and offers to open that from the next start on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from assistant.core.errors import AssistantError
from assistant.ui.backend import Backend
from assistant.ui.backup.fields import PathField, fit, secret_field
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message
from assistant.ui.widgets import button, label, spread
from assistant.workspace.assistants import DEFAULT

if TYPE_CHECKING:
    from assistant.runtime.restoring import RestoreReport


class RestoreDialog(QDialog):
    """Asks for the file, the folder, and what opens it. Nothing that is there is touched."""

    def __init__(self, services: Backend, bridge: Bridge, parent: QWidget) -> None:
        super().__init__(parent)
        self._services, self._bridge = services, bridge
        self._report: RestoreReport | None = None
        self.setWindowTitle(tr("Restore a backup"))
        self.setMinimumWidth(520)
        self.file = PathField(tr("The backup"), self.choose_file)
        self.folder = PathField(tr("Into this new or empty folder"), self.choose_folder)
        self.folder.edit.setText(str(_beside(services)))
        self.secret = secret_field(tr("Passphrase, or the recovery key if it was made on another computer"))
        self.words = label("", wrap=True)
        self.problem = label("", "smallred", wrap=True)
        self.use = button(tr("Open this folder from the next start on"), "link", self._on_use)
        self.go = button(tr("Restore"), "primary", self._on_go)
        self.go.setDefault(True)
        self.cancel = button(tr("Cancel"), "", self.reject)
        self._lay_out()
        self.file.changed.connect(lambda _: self._show_ready())
        self._show_ready()

    def choose_file(self) -> str:
        chosen, _ = QFileDialog.getOpenFileName(self, tr("Restore a backup"), self.file.text())
        return chosen

    def choose_folder(self) -> str:
        return QFileDialog.getExistingDirectory(self, tr("Into this new or empty folder"), self.folder.text())

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        spread(column, (24, 20, 24, 16), 10)
        column.addWidget(label(tr("Restore a backup"), "title"))
        words = tr("Every file is read back and compared. What you have now stays as it is.")
        column.addWidget(label(words, "muted", wrap=True))
        column.addWidget(self.file)
        column.addWidget(self.folder)
        column.addWidget(label(tr("Opened with (empty: the key in the system's keyring)"), "section"))
        for widget in (self.secret, self.words, self.problem, self.use):
            column.addWidget(widget)
        for widget in (self.words, self.problem, self.use):
            widget.hide()
        column.addStretch()
        row = QHBoxLayout()
        spread(row, (0, 6, 0, 0), 8)
        row.addStretch()
        row.addWidget(self.cancel)
        row.addWidget(self.go)
        column.addLayout(row)

    def _show_ready(self) -> None:
        self.go.setEnabled(bool(self.file.text() and self.folder.text()))

    def _on_go(self) -> None:
        if self._report is not None:
            self.accept()
            return
        self.problem.hide()
        self.go.setEnabled(False)
        self.go.setText(tr("Restoring…"))
        file, folder, secret = Path(self.file.text()), Path(self.folder.text()), self.secret.text()
        self._bridge.run(
            self._services.lanes.keeping,
            lambda: self._services.backups.restore(file, folder, secret),
            done=self._on_done,
            failed=self._on_failed,
        )

    def _on_failed(self, error: BaseException) -> None:
        self.go.setText(tr("Restore") if self._report is None else tr("Close"))
        self._show_ready()
        self.use.setEnabled(True)
        words = str(error) if isinstance(error, AssistantError) else tr("The restore failed: {why}", why=str(error))
        self.problem.setText(translate_message(words))
        self.problem.show()
        fit(self)

    def _on_done(self, report: RestoreReport) -> None:
        self._report = report
        self.secret.clear()
        for widget in (self.file, self.folder, self.secret):
            widget.setEnabled(False)
        numbers = {"n": report.files, "made": report.made[:16].replace("T", " ")}
        words = tr("{n} files of the backup of {made} were restored. Read back and compared: all are right.", **numbers)
        self.words.setText(words)
        self.words.show()
        self.use.show()
        self.cancel.hide()
        fit(self)
        self.go.setEnabled(True)
        self.go.setText(tr("Close"))

    def _on_use(self) -> None:
        assert self._report is not None
        folder, update = str(self._report.workspace), self._services.settings.update
        self.use.setEnabled(False)
        self._bridge.run(
            self._services.lanes.files,
            lambda: update("general", workspace=folder),
            done=lambda _: self.use.setText(tr("Opens at the next start")),
            failed=self._on_failed,
        )


def _beside(services: Backend) -> Path:
    """A new folder beside the person's: a backup is of all of it, also while another assistant is talked to."""
    root = services.workspace.root
    home = root if services.assistants.current == DEFAULT else root.parents[1]
    return home.with_name(f"{home.name} restored")
