"""The memory panel: remember something, the files, search, and the journal with undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from assistant.core.events import MemoryChanged, ModelReady, WorkspaceChanged
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.chat.strips import SecretStrip
from assistant.ui.i18n import tr
from assistant.ui.memory.files import FilesPage
from assistant.ui.memory.journal import JournalPage
from assistant.ui.memory.search import SearchPage
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, button, label, spread

if TYPE_CHECKING:
    from assistant.workspace.memory_values import Written


SEARCH, JOURNAL = 1, 2
"""Tabs, after the files."""


class MemoryPanel(QWidget):
    """Built when it is first shown; ``start`` reads what it shows."""

    closed = Signal()
    failed = Signal(object)
    said = Signal(str)
    chat_chosen = Signal(str)

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("memory")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(340)
        self._services, self._bridge = services, bridge
        self._started = False
        self.files = FilesPage(services, bridge, theme)
        self.search = SearchPage(services, bridge, theme)
        self.journal = JournalPage(services, bridge, theme)
        self._lay_out(theme)
        self._connect()

    def _lay_out(self, theme: Theme) -> None:
        head = QHBoxLayout()
        spread(head, (16, 10, 12, 6), 8)
        head.addWidget(label(tr("Memory"), "title"), 1)
        close = IconButton(theme, "close", tr("Close the memory panel (Ctrl+M)"), 18)
        close.clicked.connect(self.closed)
        head.addWidget(close)
        self.quick = QLineEdit()
        self.quick.setPlaceholderText(tr("Remember…"))
        self.quick.setAccessibleName(tr("Remember"))
        self.remember = button(tr("Remember"), "primary", self._on_remember)
        self.remember.setEnabled(False)
        quick = QHBoxLayout()
        spread(quick, (16, 0, 16, 8), 8)
        quick.addWidget(self.quick, 1)
        quick.addWidget(self.remember)
        self.secrets = SecretStrip(tr("Remember without it"))
        self.secrets.chosen.connect(self._remember)
        secrets = QHBoxLayout()
        spread(secrets, (16, 0, 16, 8))
        secrets.addWidget(self.secrets)
        self.tabs = QTabBar()
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setAccessibleName(tr("Parts of the memory"))
        self.stack = QStackedWidget()
        pages = ((tr("Files"), self.files), (tr("Search"), self.search), (tr("Journal"), self.journal))
        for words, page in pages:
            self.tabs.addTab(words)
            self.stack.addWidget(page)
        tabs = QHBoxLayout()
        spread(tabs, (8, 0, 8, 0))
        tabs.addWidget(self.tabs)
        tabs.addStretch()
        column = QVBoxLayout(self)
        spread(column)
        column.addLayout(head)
        column.addLayout(quick)
        column.addLayout(secrets)
        column.addLayout(tabs)
        column.addWidget(self.stack, 1)

    def _connect(self) -> None:
        self.quick.returnPressed.connect(self._on_remember)
        self.quick.textChanged.connect(self._on_quick_changed)
        self.tabs.currentChanged.connect(self._on_tab_changed)
        self.files.failed.connect(self.failed)
        self.files.said.connect(self.said)
        self.search.place_chosen.connect(self.open_place)
        self.search.chat_chosen.connect(self.chat_chosen)
        self.journal.place_chosen.connect(self.open_place)
        self.journal.failed.connect(self.failed)
        self._bridge.event_arrived.connect(self._on_event)

    def start(self) -> None:
        """Read the files for the first time."""
        if not self._started:
            self._started = True
            self.files.start()

    def open_place(self, file: str, line: int) -> None:
        """Show a line of a file."""
        self.start()
        self.tabs.setCurrentIndex(0)
        self.files.open_file(file, line)

    def start_note(self) -> None:
        """Ask for the name of a new note."""
        self.start()
        self.tabs.setCurrentIndex(0)
        self.files.ask_new()

    def start_search(self) -> None:
        """Go to the search field."""
        self.tabs.setCurrentIndex(SEARCH)
        self.search.field.setFocus()
        self.search.field.selectAll()

    def may_close(self) -> bool:
        """Ask about unsaved text; False when the person wants to go on."""
        return self.files.may_leave()

    def discard(self) -> None:
        """Forget unsaved text."""
        self.files.discard()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self.secrets.isHidden():
            self.secrets.hide()
            self.quick.setFocus()
        elif event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def _on_tab_changed(self, index: int) -> None:
        self.stack.setCurrentIndex(index)
        if index == SEARCH:
            self.search.field.setFocus()
        if index == JOURNAL:
            self.journal.refresh()

    def _on_quick_changed(self, text: str) -> None:
        self.secrets.hide()
        self.remember.setEnabled(bool(text.strip()))

    def _on_remember(self) -> None:
        """Enter. A secret is asked about first; Enter again goes on without it."""
        asked = not self.secrets.isHidden()
        if self.quick.text().strip() and (asked or not self.secrets.asks(self.quick.text())):
            self._remember(False)

    def _remember(self, keep_secrets: bool) -> None:
        text = self.quick.text().strip()
        self.secrets.hide()
        self.quick.setEnabled(False)
        remember = self._services.remember
        self._bridge.run(
            self._services.lanes.files,
            lambda: remember(text, keep_secrets=keep_secrets),
            done=self._on_remembered,
            failed=self._on_not_remembered,
        )

    def _on_remembered(self, written: Written) -> None:
        self.quick.setEnabled(True)
        self.quick.clear()
        self.quick.setFocus()
        place = f"{written.file}:{written.line}"
        if written.duplicate:
            self.said.emit(tr("That is known already: {place}", place=place))
        elif written.redacted:
            self.said.emit(tr("Remembered in {place}; a secret in it was not written down", place=place))
        else:
            self.said.emit(tr("Remembered in {place}", place=place))
        self.files.note_change(written.file)

    def _on_not_remembered(self, error: BaseException) -> None:
        self.quick.setEnabled(True)
        self.failed.emit(error)

    def _on_event(self, event: object) -> None:
        if not self._started:
            return
        match event:
            case MemoryChanged():
                self.files.note_change(event.file)
                self._refresh_journal()
            case WorkspaceChanged():  # another program may have written through a door of its own
                self._refresh_journal()
            case ModelReady():
                self.files.refresh_budget()

    def _refresh_journal(self) -> None:
        """The journal reads itself again when its tab is chosen; while it is shown it must be told."""
        if self.tabs.currentIndex() == JOURNAL:
            self.journal.refresh()
