"""The memory panel: a rail of icons, the page that was chosen beside it, and the line that remembers something."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.memory.page import Page
from assistant.ui.memory.pages import PAGES
from assistant.ui.memory.quick import QuickLine
from assistant.ui.memory.rail import Rail
from assistant.ui.theme import Theme
from assistant.ui.widgets import ElidedLabel, IconButton, spread

if TYPE_CHECKING:
    from assistant.ui.memory.files import FilesPage
    from assistant.ui.memory.journal import JournalPage
    from assistant.ui.memory.search import SearchPage

FILES, SEARCH, JOURNAL = "files", "search", "journal"


class MemoryPanel(QWidget):
    """Built when it is first shown, and each page when it is first chosen; ``start`` reads what it shows."""

    closed = Signal()
    failed = Signal(object)
    said = Signal(str)
    undo_offered = Signal(str, str)
    chat_chosen = Signal(str)
    forget_asked = Signal(object)
    page_built = Signal(str, object)

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("memory")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(360)
        self._services, self._bridge, self._theme = services, bridge, theme
        self._started = False
        self._specs = {spec.key: spec for spec in PAGES}
        self._pages: dict[str, Page] = {}
        self.current = ""
        self.rail = Rail(theme, PAGES)
        self.title = ElidedLabel("", "title")
        self.stack = QStackedWidget()
        self.line = QuickLine(services, bridge)
        self.quick, self.remember, self.secrets = self.line.field, self.line.remember, self.line.secrets
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self._tools = QHBoxLayout()
        spread(self._tools, spacing=4)
        close = IconButton(self._theme, "close", tr("Close the memory panel (Ctrl+M)"), 18)
        close.clicked.connect(self.closed)
        head = QHBoxLayout()
        spread(head, (16, 10, 12, 6), 4)
        head.addWidget(self.title, 1)
        head.addLayout(self._tools)
        head.addWidget(close)
        column = QVBoxLayout()
        spread(column)
        column.addLayout(head)
        column.addWidget(self.line)
        column.addWidget(self.stack, 1)
        row = QHBoxLayout(self)
        spread(row)
        row.addWidget(self.rail)
        row.addLayout(column, 1)

    def _connect(self) -> None:
        self.rail.chosen.connect(self.show_page)
        self.line.failed.connect(self.failed)
        self.line.said.connect(self.said)
        self.line.written.connect(lambda file: self.files.note_change(file))
        self._bridge.event_arrived.connect(self._on_event)

    # --- pages ---

    @property
    def files(self) -> FilesPage:
        return cast("FilesPage", self.page(FILES))

    @property
    def search(self) -> SearchPage:
        return cast("SearchPage", self.page(SEARCH))

    @property
    def journal(self) -> JournalPage:
        return cast("JournalPage", self.page(JOURNAL))

    def page(self, key: str) -> Page:
        """A page by its key, built now if it was not yet."""
        if key not in self._pages:
            made = self._specs[key].factory(self._services, self._bridge, self._theme)
            made.failed.connect(self.failed)
            made.said.connect(self.said)
            made.undo_offered.connect(self.undo_offered)
            made.place_chosen.connect(self.open_place)
            made.chat_chosen.connect(self.chat_chosen)
            made.forget_asked.connect(self.forget_asked)
            made.badge_changed.connect(partial(self.rail.set_badge, key))
            self._pages[key] = made
            self.page_built.emit(key, made)
            self.stack.addWidget(made)
            if made.tools is not None:
                made.tools.hide()
                self._tools.addWidget(made.tools)
        return self._pages[key]

    def show_page(self, key: str) -> None:
        """Choose a page; it reads itself again."""
        self._show(key)
        if self._started:
            self.page(key).opened()

    def _show(self, key: str) -> None:
        self.current = key
        shown = self.page(key)
        self.stack.setCurrentWidget(shown)
        self.line.setVisible(shown.quick)
        for page in self._pages.values():
            if page.tools is not None:
                page.tools.setVisible(page is shown)
        self.title.set_text(self._specs[key].title())
        self.rail.show_chosen(key)

    # --- what the window asks ---

    def start(self, key: str = "") -> None:
        """Read for the first time, and show a page: "" for the one that was shown, or the files."""
        if not self._started:
            self._started = True
            QTimer.singleShot(0, self, self._build_early)  # what the person asked for comes first
        if key or not self.current:
            self.show_page(key or FILES)

    def _build_early(self) -> None:
        for spec in PAGES:
            if spec.early:
                self.page(spec.key)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._started and self.current and not event.spontaneous():
            self.page(self.current).opened()

    def open_place(self, file: str, line: int) -> None:
        """Show a line of a file."""
        self.start("" if self.current == FILES else FILES)
        self.files.open_file(file, line)

    def start_note(self) -> None:
        """Ask for the name of a new note."""
        self.start(FILES)
        self.files.ask_new()

    def start_search(self) -> None:
        """Go to the search field."""
        self.start(SEARCH)

    def may_close(self) -> bool:
        """Ask about unsaved text; False when the person wants to go on."""
        return all(page.may_leave() for page in self._pages.values())

    def keep(self) -> None:
        """Put unsaved text where it outlives the window."""
        for page in self._pages.values():
            page.keep()

    def discard(self) -> None:
        """Forget unsaved text."""
        for page in self._pages.values():
            page.discard()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def _on_event(self, event: object) -> None:
        if self._started:
            for page in list(self._pages.values()):
                page.noted(event)
