"""The journal: every change of a memory file, newest first, with what changed and a way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QListView, QVBoxLayout

from assistant.core.errors import AssistantError
from assistant.core.events import MemoryChanged, WorkspaceChanged
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message
from assistant.ui.memory.actors import actor_words
from assistant.ui.memory.page import Page
from assistant.ui.memory.rows import RowDelegate
from assistant.ui.models.plain import DETAIL_ROLE, ITEM_ROLE, PlainListModel
from assistant.ui.plain_edit import PlainEdit
from assistant.ui.theme import Theme
from assistant.ui.times import parse_time
from assistant.ui.widgets import button, label, spread
from assistant.workspace.memory_values import Conflict, Saved

if TYPE_CHECKING:
    from assistant.workspace.journal import JournalEntry

_LIMIT = 500


def describe_entry(entry: JournalEntry) -> dict[int, Any]:
    """A journal entry as a row."""
    moment = parse_time(str(entry.time))
    when = moment.strftime("%Y-%m-%d %H:%M") if moment else str(entry.time)
    words = f"{entry.path} — {translate_message(entry.summary)}" if entry.summary else entry.path
    detail = f"{when} · {actor_words(entry.actor)}"
    return {
        Qt.ItemDataRole.DisplayRole: words,
        Qt.ItemDataRole.AccessibleTextRole: f"{words}, {detail}",
        DETAIL_ROLE: detail,
    }


class DiffHighlighter(QSyntaxHighlighter):
    """Added lines green, removed lines red."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        theme.changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:
        colours = self._theme.palette
        colour = {"+": colours.string, "-": colours.red, "@": colours.muted}.get(text[:1])
        if text.startswith(("+++", "---")):
            colour = colours.muted
        if colour:
            style = QTextCharFormat()
            style.setForeground(QColor(colour))
            self.setFormat(0, len(text), style)


class JournalPage(Page):
    """The list above, the chosen change below."""

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._services, self._bridge = services, bridge
        self.model = PlainListModel(describe_entry, self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(RowDelegate(theme, 2, self.view))
        self.view.setAccessibleName(tr("Changes"))
        self.view.setMouseTracking(True)
        self.diff = PlainEdit()
        self.diff.setReadOnly(True)
        self.diff.setProperty("role", "code")
        self.diff.setAccessibleName(tr("What changed"))
        self.diff.setFixedHeight(200)
        self._highlighter = DiffHighlighter(self.diff.document(), theme)
        self.undo = button(tr("Undo this change"), "", self._on_undo)
        self.undo.setEnabled(False)
        self.empty = label(
            tr("Nothing has changed yet. Every change of your memory will be listed here."), "muted", wrap=True
        )
        self.empty.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._lay_out()
        self.view.selectionModel().currentChanged.connect(self._on_current_changed)
        self.view.activated.connect(lambda index: self.place_chosen.emit(index.data(ITEM_ROLE).path, 0))

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        spread(row, spacing=8)
        row.addStretch()
        row.addWidget(self.undo)
        column = QVBoxLayout(self)
        spread(column, (16, 12, 16, 12), 8)
        column.addWidget(self.view, 1)
        column.addWidget(self.empty, 1)
        column.addWidget(self.diff)
        column.addLayout(row)

    def opened(self) -> None:
        self.refresh()

    def noted(self, event: object) -> None:
        """While it is shown it must be told; another program may have written through a door of its own."""
        if self.isVisible() and isinstance(event, MemoryChanged | WorkspaceChanged):
            self.refresh()

    def refresh(self) -> None:
        """Read the journal again."""
        journal = self._services.workspace.journal
        self._bridge.run(self._services.lanes.files, journal.entries, _LIMIT, done=self._on_read)

    def _on_read(self, entries: Sequence[JournalEntry]) -> None:
        """Show them; what was being looked at stays chosen."""
        looked_at = self.view.currentIndex().data(ITEM_ROLE)
        self.model.show(entries)
        self.view.setVisible(bool(entries))
        self.diff.setVisible(bool(entries))
        self.undo.setVisible(bool(entries))
        self.empty.setVisible(not entries)
        if entries:
            rows = [entry.id for entry in entries]
            row = rows.index(looked_at.id) if looked_at is not None and looked_at.id in rows else 0
            self.view.setCurrentIndex(self.model.index(row))

    def _on_current_changed(self, current: QModelIndex) -> None:
        entry = current.data(ITEM_ROLE)
        self.diff.setPlainText(entry.diff if entry is not None else "")
        able = entry is not None and entry.can_undo
        self.undo.setEnabled(able)
        self.undo.setToolTip("" if able else tr("This change cannot be undone"))

    def _on_undo(self) -> None:
        entry = self.view.currentIndex().data(ITEM_ROLE)
        if entry is not None:
            undo = self._services.workspace.memory.undo
            self._bridge.run(self._services.lanes.files, undo, entry.id, done=self._on_undone, failed=self.failed.emit)

    def _on_undone(self, result: Saved | Conflict) -> None:
        if isinstance(result, Conflict):
            message = tr("The same lines changed again later, so this change cannot be taken back alone.")
            self.failed.emit(AssistantError("memory.undo", message, tr("Undo the later change first.")))
        self.refresh()
