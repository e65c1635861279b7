"""The list of chats as a Qt model over a plain list, with a heading before each span of days."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from assistant.ui.chat.kinds import Kind, kind_words
from assistant.ui.i18n import tr
from assistant.ui.times import day_group, parse_time, relative_time
from assistant.workspace.temporary import is_temporary

if TYPE_CHECKING:
    from assistant.workspace.chat_store import ChatInfo

ID_ROLE = Qt.ItemDataRole.UserRole
DETAIL_ROLE = Qt.ItemDataRole.UserRole + 1
HEADING_ROLE = Qt.ItemDataRole.UserRole + 2
BUSY_ROLE = Qt.ItemDataRole.UserRole + 3
KIND_ROLE = Qt.ItemDataRole.UserRole + 4

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Row:
    """A heading (no info) or a chat."""

    text: str
    info: ChatInfo | None = None


def chat_title(title: str) -> str:
    """A chat's title, or what stands in for one."""
    return title.strip() or tr("New chat")


def kind_of(info: ChatInfo) -> Kind:
    """What kind of chat a row is."""
    if is_temporary(info.id):
        return Kind.TEMPORARY
    return Kind.PRIVATE if info.private else Kind.ORDINARY


def _title(info: ChatInfo) -> str:
    return info.title.strip() or (tr("Temporary chat") if is_temporary(info.id) else chat_title(""))


class ChatListModel(QAbstractListModel):
    """Chats newest first; ``rename_asked(id, title)`` when a title is edited in place."""

    rename_asked = Signal(str, str)

    def __init__(self, now: Callable[[], datetime], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now = now
        self._all: list[ChatInfo] = []
        self._rows: list[Row] = []
        self._needle = ""
        self._busy: frozenset[str] = frozenset()

    def show(self, chats: Sequence[ChatInfo]) -> None:
        """Replace the list; ``chats`` newest first. The same list only has its times said anew."""
        if self._all == list(chats) and self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))
            return
        self._all = list(chats)
        self._rebuild()

    def filter(self, needle: str) -> None:
        """Show only chats whose title or tags hold every word of ``needle``."""
        self._needle = needle.casefold().strip()
        self._rebuild()

    def set_busy(self, chats: frozenset[str]) -> None:
        """Chats in which a reply is being written."""
        if chats != self._busy:
            self._busy = chats
            if self._rows:
                self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1), [BUSY_ROLE])

    def infos(self) -> list[ChatInfo]:
        return list(self._all)

    def shown_chats(self) -> list[str]:
        """The chats in the list as it is filtered now, from the top."""
        return [row.info.id for row in self._rows if row.info is not None]

    def row_of(self, chat: str) -> int:
        """The row of a chat, -1 where it is not shown."""
        return next((i for i, row in enumerate(self._rows) if row.info is not None and row.info.id == chat), -1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if row.info is None:
            return {Qt.ItemDataRole.DisplayRole: row.text, HEADING_ROLE: True}.get(role)
        return self._chat_data(row.info, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or self._rows[index.row()].info is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        chat, title = index.data(ID_ROLE), " ".join(str(value).split())
        if role != Qt.ItemDataRole.EditRole or not chat or not title or title == index.data(Qt.ItemDataRole.EditRole):
            return False
        self.rename_asked.emit(chat, title)
        return True

    def _chat_data(self, info: ChatInfo, role: int) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return _title(info)
        if role == KIND_ROLE:
            return kind_of(info)
        if role == Qt.ItemDataRole.EditRole:
            return info.title
        if role == ID_ROLE:
            return info.id
        if role == DETAIL_ROLE:
            return self._detail(info)
        if role == BUSY_ROLE:
            return info.id in self._busy
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{_title(info)}, {self._detail(info)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return _title(info)
        return None

    def _detail(self, info: ChatInfo) -> str:
        when = relative_time(parse_time(info.last_active), self._now())
        count = tr("1 message") if info.turns == 1 else tr("{n} messages", n=info.turns)
        if kind_of(info) is Kind.TEMPORARY:
            return " · ".join((tr("not kept"), count if info.turns else tr("empty")))
        parts = [kind_words(kind_of(info)), when, count if info.turns else tr("empty"), *info.tags[:1]]
        return " · ".join(part for part in parts if part)

    def _rebuild(self) -> None:
        words = self._needle.split()
        now, rows, group = self._now(), [], ""
        for info in self._all:
            if not all(word in f"{info.title} {' '.join(info.tags)}".casefold() for word in words):
                continue
            heading = day_group(parse_time(info.last_active), now)
            heading = kind_words(Kind.TEMPORARY) if is_temporary(info.id) else heading
            if heading != group:
                rows.append(Row(heading))
                group = heading
            rows.append(Row(info.title, info))
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()
