"""The lines of MEMORY.md that do not load: how many, and on demand which and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QListView, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.memory.rows import RowDelegate
from assistant.ui.models.plain import DETAIL_ROLE, ITEM_ROLE, PlainListModel
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, spread


class LeftOutLines(QWidget):
    """Hidden while everything loads. ``line_chosen``: the person wants to see a line."""

    line_chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.toggle = button("", "quiet", self._on_toggled)
        self.view = QListView()
        self.view.setProperty("role", "card")
        self.view.setAccessibleName(tr("Lines that do not load"))
        self.model = PlainListModel(_describe, self)
        self.view.setModel(self.model)
        self.view.setItemDelegate(RowDelegate(theme, 1, self.view))
        self.view.setFixedHeight(112)
        self.view.clicked.connect(self._on_chosen)
        self.view.activated.connect(self._on_chosen)
        self.view.hide()
        column = QVBoxLayout(self)
        spread(column, spacing=8)
        column.addWidget(self.toggle)
        column.addWidget(self.view)
        self.hide()

    def show_lines(self, lines: Sequence[tuple[int, str]], over: bool = False) -> None:
        """Each as (line from 1, why). over: some for want of room; old or ended entries are nothing to worry about."""
        self.model.show(lines)
        self.toggle.setProperty("level", "red" if over else "calm")
        self.toggle.style().unpolish(self.toggle)
        self.toggle.style().polish(self.toggle)
        self.setVisible(bool(lines))
        self._name()

    def _name(self) -> None:
        count = self.model.rowCount()
        words = tr("1 line does not load") if count == 1 else tr("{n} lines do not load", n=count)
        self.toggle.setText(f"{words}  {'›' if self.view.isHidden() else '⌄'}")

    def _on_toggled(self) -> None:
        self.view.setVisible(self.view.isHidden())
        self._name()

    def _on_chosen(self, index: QModelIndex) -> None:
        self.line_chosen.emit(index.data(ITEM_ROLE)[0])


def _describe(item: tuple[int, str]) -> dict[int, Any]:
    return {Qt.ItemDataRole.DisplayRole: tr("Line {n}", n=item[0]), DETAIL_ROLE: item[1]}
