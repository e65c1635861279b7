"""The import dialog: choose what, look at what would come over, then bring it over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message
from assistant.ui.imports.report_view import ReportView
from assistant.ui.widgets import button, label, spread
from assistant.workspace.imports.values import AUTO, SYSTEMS

if TYPE_CHECKING:
    from assistant.workspace.imports.report import ImportReport


@dataclass(frozen=True, slots=True)
class _Seen:
    """How many things were found so far, from the thread that finds them."""

    dialog: int
    count: int


class ImportDialog(QDialog):
    """Nothing is written before the dry run was shown. Closing it stops, and takes back, what it was doing."""

    imported = Signal(object)

    def __init__(self, services: Backend, bridge: Bridge, parent: QWidget) -> None:
        super().__init__(parent)
        self._services, self._bridge = services, bridge
        self._cancel: CancelToken | None = None
        self._asked: tuple[str, Path] = (AUTO, Path())
        self.setWindowTitle(tr("Import"))
        self.setMinimumWidth(560)
        self.resize(560, 300)
        self.system = QComboBox()
        self.system.setAccessibleName(tr("From which assistant"))
        self.system.addItem(tr("Recognise it by its files"), AUTO)
        for key, name in SYSTEMS.items():
            self.system.addItem(tr("JSON atoms, one memory a file") if key == "atoms" else name, key)
        self.path = QLineEdit()
        self.path.setAccessibleName(tr("Its folder or file"))
        self.path.textChanged.connect(self._on_path_changed)
        self.problem = label("", "smallred", wrap=True)
        self.problem.hide()
        self.status = label("", "small")
        self.back = button(tr("Back"), "", self._on_back)
        self.stop = button(tr("Cancel"), "", self.reject)
        self.go = button(tr("Look"), "primary", self._on_go)
        self.go.setDefault(True)
        self.go.setEnabled(False)
        self.stack = QStackedWidget()
        self.form = self._form()
        self.report: ReportView | None = None
        self.stack.addWidget(self.form)
        column = QVBoxLayout(self)
        spread(column, (24, 20, 24, 16), 16)
        column.addWidget(self.stack, 1)
        column.addLayout(self._buttons())
        self.back.hide()
        bridge.event_arrived.connect(self._on_event)

    def _form(self) -> QWidget:
        form = QWidget()
        column = QVBoxLayout(form)
        spread(column, spacing=8)
        column.addWidget(label(tr("Import from another assistant"), "title"))
        words = tr("Keepsake looks first and shows what would come over. Nothing is written before you say so.")
        column.addWidget(label(words, "muted", wrap=True))
        column.addSpacing(4)
        column.addWidget(label(tr("From which assistant"), "section"))
        column.addWidget(self.system)
        column.addSpacing(4)
        column.addWidget(label(tr("Its folder or file"), "section"))
        row = QHBoxLayout()
        spread(row, spacing=8)
        row.addWidget(self.path, 1)
        row.addWidget(button(tr("Folder…"), "", lambda: self._choose(self.choose_folder)))
        row.addWidget(button(tr("File…"), "", lambda: self._choose(self.choose_file)))
        column.addLayout(row)
        column.addWidget(self.problem)
        column.addStretch()
        return form

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        spread(row, spacing=8)
        row.addWidget(self.back)
        row.addWidget(self.status, 1)
        row.addWidget(self.stop)
        row.addWidget(self.go)
        return row

    # --- choosing ---

    def choose_folder(self) -> str:
        return QFileDialog.getExistingDirectory(self, tr("Its folder or file"), self.path.text())

    def choose_file(self) -> str:
        kinds = tr("Memory and chats") + " (*.md *.json *.jsonl *.zip);;" + tr("All files") + " (*)"
        return QFileDialog.getOpenFileName(self, tr("Its folder or file"), self.path.text(), kinds)[0]

    def _choose(self, ask: Callable[[], str]) -> None:
        if chosen := ask():
            self.path.setText(chosen)

    def _on_path_changed(self, text: str) -> None:
        self.go.setEnabled(bool(text.strip()))
        self.problem.hide()

    # --- working ---

    def _on_go(self) -> None:
        if self.report is None:
            system, path = str(self.system.currentData()), Path(self.path.text().strip())
            self._asked = (system, path)
            self._work(self._services.importing.look, self._on_looked)
        else:
            self._work(self._services.importing.run, self._on_imported)

    def _work(self, do: Callable[..., ImportReport], done: Callable[[ImportReport], None]) -> None:
        self._cancel = CancelToken()
        self._busy(True)
        post, dialog = self._bridge.post, id(self)
        self._bridge.run(
            self._services.lanes.keeping,
            do,
            *self._asked,
            self._cancel,
            lambda count, total, what: post(_Seen(dialog, count)),
            done=done,
            failed=self._on_failed,
        )

    def _busy(self, busy: bool) -> None:
        self.status.setText(tr("Reading…") if busy else "")
        self.form.setEnabled(not busy)
        self.go.setEnabled(not busy)
        self.back.setEnabled(not busy)

    def _on_event(self, event: object) -> None:
        if isinstance(event, _Seen) and event.dialog == id(self) and not self.go.isEnabled():
            self.status.setText(tr("Reading… {n} found", n=f"{event.count:,}"))

    def _on_looked(self, report: ImportReport) -> None:
        self._cancel = None
        self._busy(False)
        self._asked = (report.system, self._asked[1])
        self.report = ReportView()
        self.report.show_report(report)
        self.stack.addWidget(self.report)
        self.stack.setCurrentWidget(self.report)
        self.back.show()
        self.go.setText(tr("Import"))
        self.go.setEnabled(report.anything)
        self.resize(max(self.width(), 600), min(560, 330 + 46 * len(report.skipped)))
        (self.go if report.anything else self.back).setFocus()

    def _on_back(self) -> None:
        """Choose anew."""
        if self.report is not None:
            self.stack.removeWidget(self.report)
            self.report.deleteLater()
            self.report = None
        self.back.hide()
        self.go.setText(tr("Look"))
        self.go.setEnabled(True)
        self.resize(self.width(), 300)

    def _on_imported(self, report: ImportReport) -> None:
        self._cancel = None
        self.accept()
        if report.id:
            self.imported.emit(report)

    def _on_failed(self, error: BaseException) -> None:
        self._cancel = None
        self._busy(False)
        if isinstance(error, Cancelled):
            return
        self._on_back()
        known = isinstance(error, AssistantError)
        self.problem.setText(translate_message(str(error)) if known else tr("The import failed: {why}", why=str(error)))
        self.problem.show()

    def done(self, result: int) -> None:
        if self._cancel is not None:
            self._cancel.cancel()
        super().done(result)
