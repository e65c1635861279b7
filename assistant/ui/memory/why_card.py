"""Why a line was found: each part of its score, what it is called, and what it means."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout

from assistant.core.values import Hit
from assistant.ui.i18n import tr
from assistant.ui.memory.search_words import factor_rows, why_text
from assistant.ui.widgets import label, spread


class WhyCard(QFrame):
    """A small table, which a screen reader has as lines of plain text."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self.rows: list[tuple[str, str, str]] = []
        self._table = label("", "small", wrap=True)
        self._table.setTextFormat(Qt.TextFormat.RichText)
        self._table.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        column = QVBoxLayout(self)
        spread(column, (12, 8, 12, 10), 4)
        column.addWidget(label(tr("Why this line was found"), "section"))
        column.addWidget(self._table)

    def show_hit(self, hit: Hit | None) -> None:
        """None hides it."""
        self.setVisible(hit is not None)
        self.rows = factor_rows(hit) if hit else []
        if hit is None:
            return
        cells = "".join(
            f'<tr><td style="white-space:nowrap">{escape(name)}</td>'
            f'<td align="right" style="padding-left:10px;white-space:nowrap">{escape(value)}</td>'
            f'<td style="padding-left:10px">{escape(means)}</td></tr>'
            for name, value, means in self.rows
        )
        self._table.setText(f'<table cellspacing="0" cellpadding="1">{cells}</table>')
        self._table.setAccessibleName(tr("Why this line was found"))
        self._table.setAccessibleDescription(why_text(hit))
