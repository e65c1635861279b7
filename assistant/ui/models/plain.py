"""A read-only list model over a plain list: one function says what a row shows in each role."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

ITEM_ROLE = Qt.ItemDataRole.UserRole
DETAIL_ROLE = Qt.ItemDataRole.UserRole + 1
SCORE_ROLE = Qt.ItemDataRole.UserRole + 2

Index = QModelIndex | QPersistentModelIndex
Describe = Callable[[Any], dict[int, Any]]


class PlainListModel(QAbstractListModel):
    """Rows are items; ``describe(item)`` gives their data by role. The item itself is at ITEM_ROLE."""

    def __init__(self, describe: Describe, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._describe = describe
        self._items: list[Any] = []

    def show(self, items: Sequence[Any]) -> None:
        """Replace the list."""
        self.beginResetModel()
        self._items = list(items)
        self.endResetModel()

    def items(self) -> list[Any]:
        return list(self._items)

    def refresh(self) -> None:
        """The same items, described anew."""
        if self._items:
            self.dataChanged.emit(self.index(0), self.index(len(self._items) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._items):
            return None
        item = self._items[index.row()]
        return item if role == ITEM_ROLE else self._describe(item).get(role)
