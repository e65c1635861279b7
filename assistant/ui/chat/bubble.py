"""The person's words in the transcript, exactly as written."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton, QTextEdit, QVBoxLayout

from assistant.ui.chat.prose import LongTextView, ProseView
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, spread

LONG_TEXT = 6_000
LONG_LINES = 60
_FIRST_TEXT = 1_500
_FIRST_LINES = 16


def is_long(text: str) -> bool:
    """Whether a message is shown in part first."""
    return len(text) > LONG_TEXT or text.count("\n") >= LONG_LINES


def first_part(text: str) -> str:
    """The beginning of a long message."""
    return "\n".join(text[:_FIRST_TEXT].split("\n")[:_FIRST_LINES]).rstrip() + " …"


class UserBubble(QFrame):
    """The person's words, exactly as written; the beginning of them when they are very long."""

    resized = Signal()
    """It shows more or less now: ``fit`` it again."""

    def __init__(self, theme: Theme, root: Path) -> None:
        super().__init__()
        self.setObjectName("bubble")
        self._text = ""
        self._view = ProseView(theme, root)
        self._long: LongTextView | None = None
        self._more = button("", "quiet", self._on_more_clicked)
        self._more.hide()
        self._column = QVBoxLayout(self)
        spread(self._column, (16, 10, 16, 10), 4)
        self._column.addWidget(self._view)
        self._column.addWidget(self._more)

    def show_text(self, text: str) -> None:
        if text == self._text:
            return
        self._text = text
        self._close_long()
        self._view.show()
        long = is_long(text)
        self._view.show_plain(first_part(text) if long else text)
        self._view.setAccessibleName(tr("You: {text}", text=text[:200]))
        self._more.setVisible(long)
        self._more.setText(self._more_words())
        self.fit(self.maximumWidth())

    def fit(self, room: int) -> None:
        """Take as much of ``room`` pixels as the text needs."""
        wanted = room if self._long is not None else self._view.natural_width() + 34
        if not self._more.isHidden():
            wanted = max(wanted, self._more.sizeHint().width() + 34)
        self.setFixedWidth(max(48, min(wanted, room)))

    def texts(self) -> list[QTextEdit | QPlainTextEdit]:
        """What shows the words now."""
        return [self._view if self._long is None else self._long]

    def show_all(self) -> None:
        """Open the whole of a long message."""
        if self._long is None and not self._more.isHidden():
            self._on_more_clicked()

    def more_button(self) -> QPushButton:
        return self._more

    def _more_words(self) -> str:
        return tr("Show all ({n} lines)", n=f"{self._text.count(chr(10)) + 1:,}")

    def _on_more_clicked(self) -> None:
        if self._long is not None:
            self._close_long()
            self._view.show()
            self._more.setText(self._more_words())
        else:
            self._long = LongTextView(self._text)
            self._view.hide()
            self._column.insertWidget(1, self._long)
            self._more.setText(tr("Show less"))
        self.resized.emit()

    def _close_long(self) -> None:
        if self._long is not None:
            self._long.hide()
            self._long.deleteLater()
            self._long = None
