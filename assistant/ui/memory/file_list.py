"""The files of the memory in the panel: a field to find one, the list, and how it is sorted."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QListView, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.memory.file_model import HEADING_ROLE, MemoryFilesModel
from assistant.ui.memory.file_rows import ROW, FileRowDelegate
from assistant.ui.models.plain import ITEM_ROLE
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, SearchField, spread
from assistant.workspace.memory_values import MemoryFileInfo

_FRAME = 12  # the card around the rows
_MOST_ROWS = 60  # no screen shows more
MANY = 10
"""From so many files on there is a field to find one."""


class FileListView(QListView):
    """Delete and F2 act on the chosen file, Enter folds a heading."""

    delete_asked = Signal(str)
    rename_asked = Signal(str)
    menu_asked = Signal(str, QPoint)

    def __init__(self, model: MemoryFilesModel, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setModel(model)
        self.setItemDelegate(FileRowDelegate(theme, self))
        self.setAccessibleName(tr("Memory files"))
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setMinimumHeight(ROW + _FRAME)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)

    def current_file(self) -> str:
        info = self.currentIndex().data(ITEM_ROLE)
        return info.file if info is not None else ""

    def event(self, event: QEvent) -> bool:
        """F2 is also the window's; in here it means the file."""
        asked = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if asked and event.key() == Qt.Key.Key_F2 and self.current_file():  # type: ignore[attr-defined]  # a QKeyEvent
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        file, index = self.current_file(), self.currentIndex()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and not file and index.isValid():
            self.clicked.emit(index)
        elif event.key() == Qt.Key.Key_Delete and file:
            self.delete_asked.emit(file)
        elif event.key() == Qt.Key.Key_F2 and file:
            self.rename_asked.emit(file)
        else:
            super().keyPressEvent(event)

    def _on_menu_requested(self, place: QPoint) -> None:
        """By mouse where it points; by keyboard, which points nowhere, for the chosen file."""
        index = self.indexAt(place)
        if not index.isValid():
            index, place = self.currentIndex(), self.visualRect(self.currentIndex()).center()
        info = index.data(ITEM_ROLE)
        if info is not None:
            self.menu_asked.emit(info.file, self.viewport().mapToGlobal(place))


class FileList(QWidget):
    """``chosen``: the person wants to see a file. ``resized``: it holds more or fewer rows than before."""

    chosen = Signal(str)
    resized = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.model = MemoryFilesModel(self)
        self.view = FileListView(self.model, theme)
        self.field = SearchField(theme, tr("Find a file"))
        self.sort = IconButton(theme, "journal", tr("Show the files changed last first"), 16)
        self.sort.setCheckable(True)
        self._shown, self._marking = "", False
        self.bar = QWidget()
        row = QHBoxLayout(self.bar)
        spread(row, spacing=4)
        row.addWidget(self.field, 1)
        row.addWidget(self.sort)
        column = QVBoxLayout(self)
        spread(column, spacing=8)
        column.addWidget(self.bar)
        column.addWidget(self.view, 1)
        self.bar.hide()
        self.field.textChanged.connect(self._on_filtered)
        self.field.returnPressed.connect(self._on_field_entered)
        self.sort.toggled.connect(self._on_sorted)
        self.model.modelReset.connect(self.resized)
        self.view.clicked.connect(self._on_clicked)
        self.view.selectionModel().currentChanged.connect(self._on_current_changed)

    def show_files(self, files: Sequence[MemoryFileInfo]) -> None:
        """Replace the list; the place in it stays."""
        place = self.view.verticalScrollBar().value()
        if self.model.show(files):
            self.view.verticalScrollBar().setValue(place)
            self.bar.setVisible(len(files) >= MANY or bool(self.field.text()))
            self._mark()

    def show_chosen(self, file: str) -> None:
        """Mark the file that is open, and bring it up when it is another; a folded day log unfolds for it."""
        is_new, self._shown = file != self._shown, file
        if file.startswith("memory/log/") and not self.model.logs_open and self.model.row_of(file) < 0:
            self.model.logs_open = True
            self.model.arrange(self.model.newest_first)
        self._mark(bring_up=is_new)

    def whole_height(self) -> int:
        """Pixels that all of it needs; a long list scrolls."""
        bar = 0 if self.bar.isHidden() else self.bar.sizeHint().height() + 8
        return bar + ROW * min(self.model.rowCount(), _MOST_ROWS) + _FRAME

    def _mark(self, bring_up: bool = False) -> None:
        row = self.model.row_of(self._shown)
        index = self.model.index(row) if row >= 0 else QModelIndex()
        if self.view.currentIndex() != index:
            self._marking = True
            self.view.setAutoScroll(bring_up)
            self.view.setCurrentIndex(index)
            self.view.setAutoScroll(True)
            self._marking = False
        if bring_up and index.isValid():
            self.view.scrollTo(index)

    def _on_filtered(self, words: str) -> None:
        self.model.filter(words)
        self._mark()

    def _on_field_entered(self) -> None:
        """Enter opens the first that is found."""
        files = self.model.shown_files()
        if self.field.text() and files:
            self.chosen.emit(files[0])

    def _on_sorted(self, newest_first: bool) -> None:
        self.model.arrange(newest_first)
        self._mark(True)

    def _on_clicked(self, index: QModelIndex) -> None:
        if index.data(HEADING_ROLE) is not None:
            row = index.row()
            self.model.fold(row)
            self._mark()
        elif self.view.current_file() == self._shown:
            self.chosen.emit(self._shown)

    def _on_current_changed(self, current: QModelIndex) -> None:
        info = current.data(ITEM_ROLE)
        if info is not None and info.file != self._shown and not self._marking:
            self.chosen.emit(info.file)
