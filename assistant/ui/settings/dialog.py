"""The settings: some pages, each value written as soon as the dialog is accepted."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from assistant.core.errors import AssistantError
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.settings.begin_history import begin_history
from assistant.ui.settings.downloads import DownloadsPage
from assistant.ui.settings.general import GeneralPage
from assistant.ui.settings.history import HistoryPage
from assistant.ui.settings.memory import MemoryPage
from assistant.ui.settings.model import ModelPage
from assistant.ui.settings.server import ServerPage
from assistant.ui.widgets import button, label, spread

_BAR = 16
"""Pixels at the right of the fields in which the scroll bar stands when there is one, so that it touches nothing."""


class SettingsDialog(QDialog):
    """Reads the settings when it opens; Save writes what changed."""

    theme_chosen = Signal(str)
    failed = Signal(object)
    saved = Signal()

    def __init__(self, services: Backend, bridge: Bridge, parent: QWidget) -> None:
        super().__init__(parent)
        self._services, self._bridge = services, bridge
        self.setWindowTitle(tr("Settings"))
        self.resize(720, 580)
        self.pages = QListWidget()
        self.pages.setAccessibleName(tr("Pages"))
        self.pages.setFixedWidth(152)
        self.stack = QStackedWidget()
        self.general = GeneralPage(services.workspace.root)
        self.model = ModelPage(services, bridge)
        self.model.speed.failed.connect(self.failed)
        self.finished.connect(lambda _: self.model.speed.stop())
        self.server = ServerPage(services, bridge)
        self.memory = MemoryPage()
        self.history = HistoryPage()
        self.downloads = DownloadsPage()
        pages = {tr("General"): self.general, tr("Model"): self.model, tr("Memory"): self.memory}
        pages |= {tr("History"): self.history, tr("Server"): self.server, tr("Downloads"): self.downloads}
        for words, page in pages.items():
            item = QListWidgetItem(words, self.pages)
            item.setSizeHint(QSize(0, 36))
            self.stack.addWidget(_scrolled(page))
        self.save_button = button(tr("Save"), "primary", self._on_save)
        self.save_button.setEnabled(False)
        self._lay_out()
        self.pages.currentRowChanged.connect(self.stack.setCurrentIndex)
        self.pages.setCurrentRow(0)
        bridge.run(services.lanes.files, services.settings.load, done=self._on_loaded, failed=self.failed.emit)

    def _lay_out(self) -> None:
        body = QHBoxLayout()
        spread(body, spacing=24)
        body.addWidget(self.pages)
        body.addWidget(self.stack, 1)
        foot = QHBoxLayout()
        spread(foot, (0, 0, _BAR, 0), 8)
        self.note = label("", "small")
        foot.addWidget(self.note, 1)
        foot.addWidget(button(tr("Cancel"), "", self.reject))
        foot.addWidget(self.save_button)
        column = QVBoxLayout(self)
        spread(column, (16, 20, 24 - _BAR, 16), 16)
        column.addLayout(body, 1)
        column.addLayout(foot)

    def choose_page(self, index: int) -> None:
        self.pages.setCurrentRow(index)

    def _on_loaded(self, settings: Any) -> None:
        self.general.show_values(settings.general)
        self.model.show_values(settings.model)
        self.model.speed.look()
        self.server.show_settings(settings)
        self.memory.show_values(settings.memory)
        self.history.show_values(settings.history)
        self.downloads.show_values(settings.downloads)
        self.save_button.setEnabled(True)

    def done(self, result: int) -> None:
        self.server.stop()
        super().done(result)

    def _on_save(self) -> None:
        try:
            if not self.server.may_save():
                return
        except AssistantError as error:
            self.failed.emit(error)
            return
        self.server.hold()
        changes = {
            "general": self.general.changes(),
            "model": self.model.changes(),
            **self.server.sections(),
            "memory": self.memory.changes(),
            "history": self.history.changes(),
            "downloads": self.downloads.changes(),
        }
        update, changed = self._services.settings.update, self.server.is_changed
        # A keyring may wait for the person: messages are not to wait behind it.
        lane = self._services.lanes.keeping if changed else self._services.lanes.files

        def work() -> None:
            for section, values in changes.items():
                if values:
                    update(section, **values)
            if changed:
                self.server.apply()

        self._bridge.run(lane, work, done=lambda _: self._on_saved(changes), failed=self.failed.emit)

    def _on_saved(self, changes: dict[str, dict[str, str | int | float]]) -> None:
        if "theme" in changes["general"]:
            self.theme_chosen.emit(str(changes["general"]["theme"]))
        if changes["history"]:
            begin_history(self._services, self._bridge, self.parentWidget())
        if "private_recall" in changes["memory"]:
            apply = self._services.privacy.apply_setting
            self._bridge.run(self._services.lanes.files, apply, done=lambda _: None)
        self.saved.emit()
        self.accept()


def _scrolled(page: QWidget) -> QScrollArea:
    """A page that is longer than the dialog, on a small screen or with large letters, can be scrolled."""
    page.setContentsMargins(0, 0, _BAR, 0)
    area = QScrollArea()
    area.setObjectName("plain")
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(page)
    return area
