"""A reply in the transcript: prose and code, one below the other."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from assistant.ui.chat.markdown import Code, MarkdownRenderer, Prose
from assistant.ui.chat.prose import LongTextView, Part, ProseView, fill_part, part_for
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import spread

_LONG_REPLY = 60_000


class ReplyView(QWidget):
    """A reply as a column of prose and code; while it streams only the parts that changed are drawn again."""

    link_activated = Signal(str)

    def __init__(self, theme: Theme, root: Path, renderer: MarkdownRenderer) -> None:
        super().__init__()
        self._theme, self._root, self._renderer = theme, root, renderer
        self._shown: list[Prose | Code] = []
        self._parts: list[Part] = []
        self._text: str | None = None
        self._long: LongTextView | None = None
        self._column = QVBoxLayout(self)
        spread(self._column, spacing=12)

    def show_text(self, text: str) -> None:
        if text == self._text:
            return
        self._text = text
        self.setAccessibleName(tr("Reply: {text}", text=text[:200]))
        if len(text) > _LONG_REPLY:
            self._show_long(text)
            return
        self._drop_long()
        segments = self._renderer.segments(text)
        for i, segment in enumerate(segments):
            if i < len(self._shown) and self._shown[i] == segment:
                continue
            if i >= len(self._parts) or not fill_part(self._parts[i], segment):
                self._put(i, segment)
        while len(self._parts) > len(segments):
            self._drop(len(self._parts) - 1)
        self._shown = list(segments)

    def parts(self) -> list[Part]:
        return self._parts

    def _put(self, i: int, segment: Prose | Code) -> None:
        if i < len(self._parts):
            self._drop(i)
        part = part_for(segment, self._theme, self._root)
        if isinstance(part, ProseView):
            part.link_activated.connect(self.link_activated)
        self._parts.insert(i, part)
        self._column.insertWidget(i, part)
        fill_part(part, segment)

    def texts(self) -> list[QTextEdit | QPlainTextEdit]:
        """The views that show text, from the top."""
        if self._long is not None:
            return [self._long]
        return [part if isinstance(part, ProseView) else part.text_view() for part in self._parts]

    def _drop(self, i: int) -> None:
        part = self._parts.pop(i)
        self._column.removeWidget(part)
        part.hide()
        part.deleteLater()

    def _show_long(self, text: str) -> None:
        while self._parts:
            self._drop(0)
        self._shown = []
        if self._long is None:
            self._long = LongTextView(text)
            self._column.addWidget(self._long)
        else:
            self._long.show_text(text)

    def _drop_long(self) -> None:
        if self._long is not None:
            self._column.removeWidget(self._long)
            self._long.hide()
            self._long.deleteLater()
            self._long = None
