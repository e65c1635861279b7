"""How the index stands: a quiet line, and the files that could not be read with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QListView, QVBoxLayout, QWidget

from assistant.recall.index.file_states import FileState
from assistant.runtime.index_state import IndexState
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message
from assistant.ui.memory.rows import RowDelegate, follow_width
from assistant.ui.models.plain import DETAIL_ROLE, ITEM_ROLE, PlainListModel
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, label, spread
from assistant.workspace.chat_files import chat_of

_MOST_HEIGHT = 150


def describe_file(file: FileState) -> dict[int, Any]:
    """A file with a problem as a row."""
    detail = " ".join(translate_message(words) for words in (file.why, file.fix) if words)
    return {
        Qt.ItemDataRole.DisplayRole: detail,
        Qt.ItemDataRole.ToolTipRole: f"{file.path}\n{detail}",
        Qt.ItemDataRole.AccessibleTextRole: f"{file.path}, {detail}",
        DETAIL_ROLE: file.path,
    }


class IndexCard(QWidget):
    """Reads when it is told to."""

    place_chosen = Signal(str, int)
    chat_chosen = Signal(str)

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._services, self._bridge = services, bridge
        self.words = label("", "small", wrap=True)
        self.toggle = button("", "quiet")
        self.toggle.setCheckable(True)
        self.toggle.setProperty("level", "red")
        self.toggle.toggled.connect(lambda _: self._show_list())
        self.model = PlainListModel(describe_file, self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(RowDelegate(theme, 3, self.view))
        self.view.setAccessibleName(tr("Files that could not be indexed"))
        self.view.setMaximumHeight(_MOST_HEIGHT)
        self.view.setMouseTracking(True)
        follow_width(self.view)
        self.view.activated.connect(self._on_activated)
        self.view.selectionModel().currentChanged.connect(lambda *_: self._show_list())
        self.open_button = button(tr("Open"), "", lambda: self._on_activated(self.view.currentIndex()))
        column = QVBoxLayout(self)
        spread(column, spacing=4)
        column.addWidget(self.words)
        column.addWidget(self.toggle, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.view)
        column.addWidget(self.open_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._show_files([])

    def read(self) -> None:
        """See how it stands now."""
        self._bridge.run(
            self._services.lanes.recall,
            self._services.indexing.state,
            done=self._on_state,
            failed=lambda error: self.words.setText(translate_message(str(error))),
        )

    def _on_state(self, state: IndexState) -> None:
        self.words.setText(" · ".join(part for part in (_size_words(state), _meaning_words(state)) if part))
        self.words.setToolTip(_watch_words(state))
        if not state.status.errors:
            self._show_files([])
            return
        self._bridge.run(
            self._services.lanes.keeping,
            self._services.indexing.files,
            done=self._show_files,
            failed=lambda error: self.words.setText(translate_message(str(error))),
        )

    def _show_files(self, files: Sequence[FileState]) -> None:
        wrong = [file for file in files if file.has_problem]
        self.model.show(wrong)
        count = len(wrong)
        self.toggle.setText(tr("1 file has a problem") if count == 1 else tr("{n} files have a problem", n=count))
        self.toggle.setVisible(bool(wrong))
        self._show_list()

    def _show_list(self) -> None:
        shown = self.toggle.isChecked() and self.model.rowCount() > 0
        self.view.setVisible(shown)
        self.open_button.setVisible(shown and self.view.currentIndex().isValid())

    def _on_activated(self, index: QModelIndex) -> None:
        file = index.data(ITEM_ROLE)
        if not isinstance(file, FileState):
            return
        if file.kind == "chat":
            self.chat_chosen.emit(chat_of(file.path))
        else:
            self.place_chosen.emit(file.path, 0)


def _size_words(state: IndexState) -> str:
    status = state.status
    if not status.files:
        return tr("Nothing is indexed yet")
    return tr("{units} lines of {files} files can be found", units=f"{status.units:,}", files=f"{status.files:,}")


def _meaning_words(state: IndexState) -> str:
    done, total = f"{state.done:,}", f"{state.total:,}"
    match state.meaning:
        case "ready":
            return tr("by words and meaning")
        case "none":
            return tr("by words only: there is no embedding model")
        case "failing":
            return tr("by words only: {why}", why=translate_message(state.why))
        case "paused":
            return tr("learning their meaning is paused at {done} of {total}", done=done, total=total)
        case _:
            return tr("their meaning is being learnt, {done} of {total}", done=done, total=total)


def _watch_words(state: IndexState) -> str:
    if state.watch.how == "polling":
        why = translate_message(state.watch.why)
        return tr("Changes of your files are looked for every few seconds. {why}", why=why)
    return tr("Changes of your files are noticed at once.")
