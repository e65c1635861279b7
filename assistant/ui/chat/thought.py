"""What the model thought before its reply: one quiet line, which opens."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from assistant.ui.chat.prose import LongTextView, ProseView
from assistant.ui.chat.shown import ShownTurn
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, spread

_LONG_THOUGHT = 30_000
_BELOW = 12  # pixels between an open thought and the reply


class ThoughtFold(QWidget):
    """Shut until it is opened, but for a thought that nothing was said after. While it streams it grows where it is."""

    toggled = Signal()
    """It was opened, or shut."""

    def __init__(self, theme: Theme, root: Path) -> None:
        super().__init__()
        self._theme, self._root = theme, root
        self._turn = ShownTurn(0, "")
        self._open = False
        self._drawn = ""
        self._view: ProseView | LongTextView | None = None
        self.line = button("", "quiet", self._on_clicked)
        self.line.setProperty("level", "calm")  # the words, not their button, stand on the text's edge
        self._body = QFrame()
        self._body.setObjectName("thought")
        self._inside = QVBoxLayout(self._body)
        spread(self._inside, (14, 2, 0, 2))
        self._column = QVBoxLayout(self)
        spread(self._column, spacing=4)
        self._column.addWidget(self.line, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(self._body)
        self.hide()

    @property
    def is_open(self) -> bool:
        return self._open

    def show_turn(self, turn: ShownTurn) -> None:
        """Show the turn's thought; nothing where there is none."""
        if turn.n != self._turn.n and self._turn.n:
            self._open = False
        ended = self._turn.live and not turn.live
        if turn.thought and not turn.live and not turn.reply and (ended or turn.n != self._turn.n):
            self._open = True  # nothing was said: what there is must not be hidden
        self._turn = turn
        self.setVisible(bool(turn.thought))
        self._dress()

    def texts(self) -> list[QTextEdit | QPlainTextEdit]:
        """The view of the thought, where it is open."""
        return [self._view] if self._view is not None and self._open and self._turn.thought else []

    def _dress(self) -> None:
        self.line.setText(f"{thought_words(self._turn)}  {'⌄' if self._open else '›'}")
        self.line.setAccessibleName(thought_words(self._turn))
        self.line.setAccessibleDescription(tr("Hide the thoughts") if self._open else tr("Show the thoughts"))
        self._body.setVisible(self._open)
        self._column.setContentsMargins(0, 0, 0, _BELOW if self._open else 2)
        if self._open and self._drawn != self._turn.thought:
            self._draw(self._turn.thought)

    def _draw(self, text: str) -> None:
        long = len(text) > _LONG_THOUGHT
        if self._view is None or long is not isinstance(self._view, LongTextView):
            if self._view is not None:
                self._view.hide()
                self._view.deleteLater()
            self._view = LongTextView(text) if long else ProseView(self._theme, self._root)
            self._view.setAccessibleName(tr("Thoughts of the model"))
            self._inside.addWidget(self._view)
        if isinstance(self._view, LongTextView):
            self._view.show_text(text)
        else:
            self._view.show_plain(text.strip())
        self._drawn = text

    def _on_clicked(self) -> None:
        self._open = not self._open
        self._dress()
        self.toggled.emit()


def thought_words(turn: ShownTurn) -> str:
    """What the line says."""
    if turn.live:
        return tr("Thoughts") if turn.reply else tr("Thinking…")
    if turn.thought_s <= 0:
        return tr("Thoughts")
    return tr("Thought for {n} s", n=turn.thought_s)
