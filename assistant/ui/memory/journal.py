"""The journal: every change of a memory file, newest first, with what changed and a way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QHBoxLayout, QListView, QSplitter, QVBoxLayout, QWidget

from assistant.core.events import MemoryChanged, WorkspaceChanged
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.memory.diff import DiffView
from assistant.ui.memory.journal_filter import JournalFilter
from assistant.ui.memory.journal_rows import JournalRow, describe_row, journal_rows
from assistant.ui.memory.page import Page
from assistant.ui.memory.rows import RowDelegate
from assistant.ui.memory.tidying import Tidying
from assistant.ui.memory.undo_choice import UndoChoice
from assistant.ui.models.plain import ITEM_ROLE, PlainListModel
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, label, spread

if TYPE_CHECKING:
    from assistant.workspace.journal import JournalEntry

PAGE = 200
"""Changes read at once; older ones come when the list is scrolled to its end."""


class JournalPage(Page):
    """The list above, the chosen change below."""

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._services, self._bridge = services, bridge
        self._entries: list[JournalEntry] = []
        self._opened: set[str] = set()
        self._asked = 0  # answers to older questions come too late
        self._at_end = True
        self.filter = JournalFilter()
        self.filter.changed.connect(lambda: self._read(PAGE))
        self.model = PlainListModel(describe_row, self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(RowDelegate(theme, 2, self.view))
        self.view.setAccessibleName(tr("Changes"))
        self.view.setMouseTracking(True)
        self.diff = DiffView(theme, tr("What changed"))
        self.undo = button(tr("Undo this change"), "", self._on_undo)
        self.undo.setEnabled(False)
        self.empty = label("", "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.choice = UndoChoice(services, bridge, theme, self.window, self)
        self.tidying = Tidying(services, bridge, theme, self.window, self)
        self.tools = button(tr("Tidy up…"), "quiet", self.tidying.ask)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        spread(row, spacing=8)
        row.addStretch()
        row.addWidget(self.undo)
        below = QVBoxLayout()
        spread(below, (0, 4, 0, 0), 8)
        below.addWidget(self.diff, 1)
        below.addLayout(row)
        self.change = QWidget()
        self.change.setLayout(below)
        self.halves = QSplitter(Qt.Orientation.Vertical)
        self.halves.setObjectName("files")
        self.halves.setChildrenCollapsible(False)
        self.halves.setHandleWidth(8)
        self.halves.addWidget(self.view)
        self.halves.addWidget(self.change)
        self.halves.setStretchFactor(0, 3)
        self.halves.setStretchFactor(1, 2)
        column = QVBoxLayout(self)
        spread(column, (16, 4, 16, 12), 8)
        column.addWidget(self.filter)
        column.addWidget(self.halves, 1)
        column.addWidget(self.empty, 1)

    def _connect(self) -> None:
        self.view.selectionModel().currentChanged.connect(self._on_current_changed)
        self.view.activated.connect(self._on_activated)
        self.view.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.choice.done.connect(self._on_undone)
        self.choice.failed.connect(self.failed)
        self.tidying.failed.connect(self.failed)
        self.tidying.said.connect(self.said)
        self.tidying.tidied.connect(self.undo_offered)

    def opened(self) -> None:
        self.refresh()

    def noted(self, event: object) -> None:
        """While it is shown it must be told; another program may have written through a door of its own."""
        if self.isVisible() and isinstance(event, MemoryChanged | WorkspaceChanged):
            self.refresh()

    # --- reading ---

    def refresh(self) -> None:
        """Read the journal again, as far as it is shown."""
        self._read(max(PAGE, len(self._entries)))

    def _read(self, limit: int, before: str | None = None) -> None:
        self._asked += 1
        asked, journal = self._asked, self._services.workspace.journal
        actor, file = self.filter.actor, self.filter.file
        self._bridge.run(
            self._services.lanes.files,
            lambda: journal.entries(limit, file, actor, before),
            done=lambda found: self._on_read(asked, found, limit, before),
            failed=self.failed.emit,
        )

    def _on_read(self, asked: int, found: Sequence[JournalEntry], limit: int, before: str | None) -> None:
        """Show them; what was being looked at stays chosen, and where it was."""
        if asked != self._asked:
            return
        self._at_end = len(found) < limit
        self._entries = [*self._entries, *found] if before is not None else list(found)
        self.filter.know(entry.path for entry in found)
        self._show()

    def _show(self) -> None:
        looked_at, at = self._chosen(), self.view.verticalScrollBar().value()
        rows = journal_rows(self._entries, self._opened)
        self.model.show(rows)
        self.halves.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        self.empty.setText(
            tr("No such change.")
            if self.filter.is_set
            else tr("Nothing has changed yet. Every change of your memory will be listed here.")
        )
        self.filter.setVisible(bool(rows) or self.filter.is_set)
        if rows:
            same = (n for n, row in enumerate(rows) if looked_at and (row.id, row.inside) == looked_at)
            self.view.setCurrentIndex(self.model.index(next(same, 0)))
            self.view.verticalScrollBar().setValue(at)

    def _on_scrolled(self, value: int) -> None:
        bar = self.view.verticalScrollBar()
        if not self._at_end and self._entries and bar.maximum() and value >= bar.maximum() - bar.pageStep():
            self._at_end = True  # until the answer says otherwise
            self._read(PAGE, self._entries[-1].id)

    # --- the chosen change ---

    def _row(self) -> JournalRow | None:
        row = self.view.currentIndex().data(ITEM_ROLE)
        return row if isinstance(row, JournalRow) else None

    def _chosen(self) -> tuple[str, bool] | None:
        row = self._row()
        return (row.id, row.inside) if row else None

    def _on_current_changed(self, current: QModelIndex) -> None:
        row = current.data(ITEM_ROLE)
        self.diff.show_diff(row.diff if row is not None else "")
        fate = row.fate if row is not None else ""
        self.undo.setEnabled(row is not None and row.can_undo)
        self.undo.setToolTip(tr("This change cannot be undone: {why}", why=fate) if fate else "")
        self.undo.setText(tr("Undo all of it") if row is not None and row.is_batch else tr("Undo this change"))

    def _on_activated(self, index: QModelIndex) -> None:
        """A batch shows its changes, or hides them; a single change opens its file."""
        row = index.data(ITEM_ROLE)
        if row.is_batch:
            self._opened ^= {row.id}
            self._show()
        else:
            self.place_chosen.emit(row.entries[0].path, 0)

    def _on_undo(self) -> None:
        if row := self._row():
            self.view.setFocus()  # the button is disabled soon, and "Tidy up…" is not to have the keys then
            self.choice.undo(row.id)

    def _on_undone(self, journal_id: str) -> None:
        self.undo_offered.emit(tr("Taken back"), journal_id)
        self.refresh()
