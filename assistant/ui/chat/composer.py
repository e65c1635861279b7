"""Where the person writes: grows with the text, sends on Enter, and never loses a draft."""

from __future__ import annotations

import math

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout

from assistant.ui.i18n import tr
from assistant.ui.plain_edit import PlainEdit
from assistant.ui.theme import Theme
from assistant.ui.widgets import ElidedLabel, restyle, spread

_MAX_LINES = 8


class MessageEdit(PlainEdit):
    """The text of a message. Enter that belongs to an input method stays with it."""

    send_asked = Signal()
    escaped = Signal()
    earlier_asked = Signal()
    """Up in an empty field: the person wants the last message back."""
    height_wanted = Signal()
    focus_moved = Signal(bool)

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self._placeholder = placeholder
        self._composing = False
        self.setProperty("role", "bare")
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(tr("Message"))
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        font = self.font()
        font.setPixelSize(15)
        self.setFont(font)
        self.document().setDocumentMargin(0)
        self.textChanged.connect(self.height_wanted)

    def composing(self) -> bool:
        """Whether an input method has text that is not decided yet."""
        return self._composing

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        self._composing = bool(event.preeditString())
        self.setPlaceholderText("" if self._composing else self._placeholder)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and self._composing:
            event.accept()
        elif enter and not event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier):
            self.send_asked.emit()
        elif event.key() == Qt.Key.Key_Escape and not self._composing:
            self.escaped.emit()
        elif event.key() == Qt.Key.Key_Up and not self._composing and self.document().isEmpty():
            self.earlier_asked.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_moved.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_moved.emit(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.height_wanted.emit()

    def lines(self) -> int:
        """Lines on screen, wrapped ones counted."""
        return math.ceil(self.document().size().height())


class Composer(QFrame):
    """The field with its button. ``sent(text)`` leaves the text in place until ``clear`` is called."""

    sent = Signal(str)
    """Also while a reply is written: the text may wait for it then."""
    stop_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("composer")
        self._theme = theme
        self._streaming = False
        self.edit = MessageEdit(tr("Write a message…"))
        self.hint = ElidedLabel(tr("Enter sends · Shift+Enter starts a new line"), "small")
        self.button = QToolButton()
        self.button.setObjectName("send")
        self.button.setIconSize(QSize(20, 20))
        self.button.setFixedSize(32, 32)
        self.button.setCursor(Qt.CursorShape.PointingHandCursor)
        self._lay_out()
        self._connect()
        self._refresh()
        self._grow()

    def _lay_out(self) -> None:
        bottom = QHBoxLayout()
        spread(bottom, spacing=8)
        bottom.addWidget(self.hint, 1)
        bottom.addWidget(self.button)
        column = QVBoxLayout(self)
        spread(column, (16, 12, 8, 8), 4)
        column.addWidget(self.edit)
        column.addLayout(bottom)
        self.setFocusProxy(self.edit)

    def _connect(self) -> None:
        self.button.clicked.connect(self._on_button_clicked)
        self.edit.send_asked.connect(self._on_send_asked)
        self.edit.height_wanted.connect(self._grow)
        self.edit.textChanged.connect(self._refresh)
        self.edit.focus_moved.connect(lambda here: restyle(self, "focused", here))
        self._theme.changed.connect(self._refresh)

    def text(self) -> str:
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Show a draft, the cursor at its end."""
        self.edit.setPlainText(text)
        cursor = self.edit.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.edit.setTextCursor(cursor)

    def offer(self, text: str) -> None:
        """Show a text that the person may go on with at once."""
        self.set_text(text)
        self.edit.setFocus()

    def clear(self) -> None:
        self.edit.clear()

    def set_streaming(self, streaming: bool) -> None:
        """While a reply is written the button stops it."""
        self._streaming = streaming
        self._refresh()

    def set_hint(self, text: str) -> None:
        """The line below the text: why sending must wait, or what the keys do."""
        self.hint.set_text(text or tr("Enter sends · Shift+Enter starts a new line"))

    def _on_send_asked(self) -> None:
        if self.text().strip():
            self.sent.emit(self.text())

    def _on_button_clicked(self) -> None:
        if self._streaming:
            self.stop_asked.emit()
        else:
            self._on_send_asked()

    def _refresh(self) -> None:
        words = tr("Stop (Esc)") if self._streaming else tr("Send (Enter)")
        self.button.setAccessibleName(tr("Stop") if self._streaming else tr("Send"))
        able = self._streaming or bool(self.text().strip())
        self.button.setEnabled(able)
        self.button.setToolTip(words if able else tr("Write something first"))
        name = "stop" if self._streaming else "send"
        self.button.setIcon(self._theme.icon(name, "on_accent" if able else "muted", "muted"))

    def _grow(self) -> None:
        lines = max(1, min(_MAX_LINES, self.edit.lines()))
        height = lines * self.edit.fontMetrics().lineSpacing() + 4
        if self.edit.height() != height:
            self.edit.setFixedHeight(height)
