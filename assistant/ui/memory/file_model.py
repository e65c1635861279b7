"""The list of memory files as a Qt model: memory itself first, then the notes, the day logs folded at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from assistant.ui.bars import size_words
from assistant.ui.i18n import tr, translate_message
from assistant.ui.memory.actors import actor_words
from assistant.ui.models.plain import DETAIL_ROLE, ITEM_ROLE
from assistant.ui.times import parse_time, relative_time
from assistant.workspace.memory_values import MemoryFileInfo

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

MAIN = "MEMORY.md"
HEADING_ROLE = Qt.ItemDataRole.UserRole + 10
"""For a heading whether it is open; None for a file."""
WAITING_ROLE = Qt.ItemDataRole.UserRole + 11
"""Whether the file has text that is not saved."""
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Heading:
    """A line above files of one kind. foldable: a click folds what is below it away."""

    words: str
    count: int
    foldable: bool = False
    is_open: bool = True


Row = Heading | MemoryFileInfo


def shown_name(file: str) -> str:
    """What a file is called in the list and above the editor."""
    if file == MAIN:
        return file
    if file == "memory/archive.md":
        return tr("Archive")
    return file.removeprefix("memory/log/").removeprefix("memory/").removesuffix(".md")


class MemoryFilesModel(QAbstractListModel):
    """Files by name, or the newest first; none of them is read here."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._files: dict[str, MemoryFileInfo] = {}
        self._rows: list[Row] = []
        self._at: dict[str, int] = {}
        self._needle: list[str] = []
        self._waiting: frozenset[str] = frozenset()
        self.logs_open = False
        self.newest_first = False

    def show(self, files: Sequence[MemoryFileInfo]) -> bool:
        """Replace the list; False, and nothing is touched, where it is what is shown already."""
        fresh = {info.file: info for info in files}
        if fresh == self._files and self._rows:
            return False
        self._files = fresh
        self._rebuild()
        return True

    def filter(self, words: str) -> None:
        """Only files whose names hold every word; the day logs too then."""
        self._needle = words.casefold().split()
        self._rebuild()

    def arrange(self, newest_first: bool) -> None:
        self.newest_first = newest_first
        self._rebuild()

    def fold(self, row: int) -> None:
        """Fold or unfold what is below a heading."""
        if isinstance(heading := self._rows[row], Heading) and heading.foldable:
            self.logs_open = not self.logs_open
            self._rebuild()

    def set_waiting(self, files: AbstractSet[str]) -> None:
        """Files with text that is not saved."""
        changed = self._waiting ^ files
        self._waiting = frozenset(files)
        for file in changed & self._at.keys():
            at = self.index(self._at[file])
            self.dataChanged.emit(at, at)

    def row_of(self, file: str) -> int:
        """-1 for a file that is not shown."""
        return self._at.get(file, -1)

    def infos(self) -> dict[str, MemoryFileInfo]:
        """All files, shown or not."""
        return dict(self._files)

    def shown_files(self) -> list[str]:
        """From the top, as it is filtered and folded now."""
        return [row.file for row in self._rows if isinstance(row, MemoryFileInfo)]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self._rows[index.row()] if index.isValid() else None
        if isinstance(row, Heading) and not row.foldable:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        return self._heading(row, role) if isinstance(row, Heading) else self._file(row, role)

    def _heading(self, row: Heading, role: int) -> Any:
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.words
            case _ if role == HEADING_ROLE:
                return row.is_open
            case _ if role == DETAIL_ROLE:
                return f"{row.count:,}"
            case Qt.ItemDataRole.AccessibleTextRole:
                fold = "" if not row.foldable else f", {tr('unfolded') if row.is_open else tr('folded')}"
                return f"{row.words}, {row.count}{fold}"
        return None

    def _file(self, info: MemoryFileInfo, role: int) -> Any:
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return shown_name(info.file)
            case _ if role == ITEM_ROLE:
                return info
            case _ if role == DETAIL_ROLE:
                return file_detail(info)
            case _ if role == WAITING_ROLE:
                return info.file in self._waiting
            case Qt.ItemDataRole.ToolTipRole:
                return "\n".join(part for part in (info.file, translate_message(info.problem)) if part)
            case Qt.ItemDataRole.AccessibleTextRole:
                unsaved = tr("not saved yet") if info.file in self._waiting else ""
                parts = (shown_name(info.file), info.file, file_detail(info), translate_message(info.problem), unsaved)
                return ", ".join(part for part in parts if part)
        return None

    def _rebuild(self) -> None:
        self.beginResetModel()
        self._rows = self._arranged()
        self._at = {row.file: at for at, row in enumerate(self._rows) if isinstance(row, MemoryFileInfo)}
        self.endResetModel()

    def _arranged(self) -> list[Row]:
        files = [*self._files.values()]
        if self._needle:
            files = [info for info in files if self._fits(info)]
        top = [info for info in files if info.kind in ("memory", "archive")]
        notes = self._sorted([info for info in files if info.kind == "topic"])
        logs = sorted((info for info in files if info.kind == "log"), key=lambda info: info.file, reverse=True)
        top.sort(key=lambda info: info.file != MAIN)
        rows: list[Row] = [*top]
        if notes:
            rows += [Heading(tr("Notes"), len(notes)), *notes]
        if logs:
            is_open = self.logs_open or bool(self._needle)
            rows += [Heading(tr("Day logs"), len(logs), True, is_open), *(logs if is_open else [])]
        return rows

    def _sorted(self, notes: list[MemoryFileInfo]) -> list[MemoryFileInfo]:
        if self.newest_first:
            return sorted(notes, key=lambda info: parse_time(info.modified) or datetime.min.astimezone(), reverse=True)
        return sorted(notes, key=lambda info: (info.file.casefold(), info.file))

    def _fits(self, info: MemoryFileInfo) -> bool:
        name = f"{shown_name(info.file)} {info.file}".casefold()
        return all(word in name for word in self._needle)


def file_detail(info: MemoryFileInfo) -> str:
    """Who changed it last, when, and its size."""
    actor = str(getattr(info, "actor", ""))
    when = relative_time(parse_time(info.modified), datetime.now().astimezone()) if info.modified else ""
    size = size_words(info.size) if info.size else tr("empty")
    problem = tr("has a problem") if info.problem else ""
    return " · ".join(part for part in (problem, when, actor_words(actor) if actor else "", size) if part)
