"""What the model was told for a reply: every line of memory, where it stands, why it came, and what was left out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from assistant.chat.told import words_of
from assistant.core.values import Receipt
from assistant.ui.chat.receipt_row import Act, ReceiptRow
from assistant.ui.chat.receipt_words import costs, in_order, place_of, summary
from assistant.ui.i18n import tr, translate_message
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, label, rule, spread

if TYPE_CHECKING:
    from assistant.runtime.told import ReceiptNow

__all__ = ["Act", "ReceiptView", "place_of", "summary", "words_of"]
_SHOWN = 40  # rows without being asked; the rest on demand
_AT_ONCE = 12  # rows built before anything is shown: about a screen full
_A_STEP = 6  # and then, so that nothing stalls (a row takes some 2 to 4 ms)


class ReceiptView(QFrame):
    """The open receipt. Shows lines as they were told, and with ``show_now`` what became of them."""

    place_chosen = Signal(str, int)
    """The person goes to a line of a file that was left out."""
    asked = Signal(object, object)
    """A row and an Act: the person wants that done."""
    reworded = Signal(object, str, bool)
    """A row, the new words of its line, and whether a secret in them is kept."""
    size_changed = Signal()

    def __init__(self, receipt: Receipt, theme: Theme) -> None:
        super().__init__()
        self.receipt, self._theme = receipt, theme
        self.setObjectName("card")
        self.setAccessibleName(tr("Receipt"))
        self._now: ReceiptNow | None = None
        self._order = in_order(len(receipt.lines), receipt.lines)
        self.rows: dict[int, ReceiptRow] = {}
        self.rest: QPushButton | None = None
        self._column = QVBoxLayout(self)
        spread(self._column, (8, 12, 8, 12), 2)
        self._head(tr("What the model was told"))
        self._lines = QVBoxLayout()
        spread(self._lines)
        self._column.addLayout(self._lines)
        if not receipt.lines:
            self._indent(label(_nothing_words(receipt), "muted", wrap=True))
        self._wanted = 0
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(lambda: self._build(_A_STEP))
        self._want_more()
        if receipt.left_out:
            self._add_left_out(receipt)
        self._column.addSpacing(4)
        self._column.addWidget(rule())
        self._column.addSpacing(4)
        self._indent(label(costs(receipt), "small", wrap=True))
        theme.changed.connect(self._on_theme_changed)

    def show_receipt(self, receipt: Receipt) -> None:
        """The receipt as it is kept by now: words that were forgotten meanwhile are gone from it."""
        if receipt != self.receipt and len(receipt.lines) == len(self.receipt.lines):
            self.receipt = receipt
            for at, row in self.rows.items():
                row.show_line(receipt.lines[at])

    def show_now(self, now: ReceiptNow) -> None:
        """What became of the lines, in the receipt's order."""
        self._now = now
        for at, row in self.rows.items():
            row.show_now(now.lines[at], now.never[at])
        self.size_changed.emit()

    def _head(self, words: str) -> None:
        self._indent(label(words, "section"))
        self._column.addSpacing(4)

    def _indent(self, widget: QWidget) -> None:
        line = QHBoxLayout()
        spread(line, (8, 0, 8, 0))
        line.addWidget(widget)
        self._column.addLayout(line)

    def _want_more(self) -> None:
        """The next rows, a screen full at once and the others behind; a button for what is left after them."""
        self._wanted = min(len(self._order), self._wanted + _SHOWN)
        left = len(self._order) - self._wanted
        if self.rest is None and left:
            self.rest = button("", "quiet", self._on_rest_asked)
            self._indent(self.rest)
        if self.rest is not None:
            self.rest.setText(tr("and {n} more", n=left))
            self.rest.setVisible(left > 0)
        self._build(_AT_ONCE)

    def _build(self, count: int) -> None:
        start = len(self.rows)
        for at in self._order[start : min(start + count, self._wanted)]:
            row = ReceiptRow(self.receipt.lines[at], self._theme)
            row.asked.connect(partial(self.asked.emit, row))
            row.reworded.connect(partial(self.reworded.emit, row))
            row.size_changed.connect(self.size_changed)
            if self._now is not None:
                row.show_now(self._now.lines[at], self._now.never[at])
            self.rows[at] = row
            self._lines.addWidget(row)
        if len(self.rows) < self._wanted:
            self._next.start()
        elif start > 0:
            self.size_changed.emit()

    def _on_rest_asked(self) -> None:
        first = len(self.rows)
        self._want_more()
        list(self.rows.values())[first].more.setFocus()

    def _on_theme_changed(self) -> None:
        for row in self.rows.values():
            row.dress()

    def _add_left_out(self, receipt: Receipt) -> None:
        count = len(receipt.left_out)
        words = tr("Left out: 1 line") if count == 1 else tr("Left out: {n} lines", n=count)
        toggle = button(words, "quiet")
        rows = QWidget()
        column = QVBoxLayout(rows)
        spread(column, (8, 0, 0, 0), 4)
        for left in receipt.left_out[:_SHOWN]:
            place = f"{left.file}:{left.line}" if left.line else left.file
            row = QHBoxLayout()
            spread(row, spacing=8)
            link = button(place, "link", partial(self.place_chosen.emit, left.file, left.line))
            row.addWidget(link)
            row.addWidget(label(translate_message(left.why), "small", wrap=True), 1)
            column.addLayout(row)
        if count > _SHOWN:
            column.addWidget(label(tr("and {n} more", n=count - _SHOWN), "small"))
        rows.hide()
        toggle.clicked.connect(lambda: rows.setVisible(rows.isHidden()))
        line = QHBoxLayout()
        line.addWidget(toggle)
        line.addStretch()
        self._column.addLayout(line)
        self._column.addWidget(rows)


def _nothing_words(receipt: Receipt) -> str:
    """Later in a chat the lines told with its earlier messages are still read, and their receipts name them."""
    if receipt.turn <= 1:
        return tr("Nothing in your memory was about this.")
    return tr("Nothing more in your memory was about this. What was told with earlier messages is still read.")
