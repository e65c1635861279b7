"""The editor of a memory file: Markdown in colour, lines that do not load shaded, links to other notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QTextEdit

from assistant.ui.i18n import tr
from assistant.ui.memory.endings import put_text
from assistant.ui.memory.highlight import MarkdownHighlighter
from assistant.ui.plain_edit import PlainEdit
from assistant.ui.theme import Theme
from assistant.workspace.links import link_target

_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_CTRL = Qt.KeyboardModifier.ControlModifier


class ShadedTextEdit(PlainEdit):
    """Plain text in which whole lines (from 1) can have a ground of their own, also where they wrap."""

    def __init__(self) -> None:
        super().__init__()
        self._grounds: dict[int, str] = {}

    def set_grounds(self, grounds: dict[int, str]) -> None:
        """Colours by line."""
        self._grounds = grounds
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._grounds:
            self._paint_grounds()
        super().paintEvent(event)

    def _paint_grounds(self) -> None:
        painter = QPainter(self.viewport())
        offset, width = self.contentOffset(), self.viewport().width()
        block = self.firstVisibleBlock()
        while block.isValid():
            rect = self.blockBoundingGeometry(block).translated(offset)
            if rect.top() > self.viewport().height():
                break
            colour = self._grounds.get(block.blockNumber() + 1)
            if colour:
                painter.fillRect(QRectF(0, rect.top(), width, rect.height()), QColor(colour))
            block = block.next()
        painter.end()


class MemoryEditor(ShadedTextEdit):
    """Plain text with highlighting. Positions are lines from 1.

    ``link_followed``: what a ``[[link]]`` names that was clicked with Ctrl, or stood at the cursor at Ctrl+Enter.
    """

    link_followed = Signal(str)
    forget_asked = Signal(int, str)
    """A line, from 1, and its text."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("editor")
        self.setAccessibleName(tr("Text of the file"))
        self.setTabChangesFocus(True)
        self.viewport().setMouseTracking(True)
        self._theme = theme
        self._shaded: tuple[int, ...] = ()
        self._target = 0
        self._highlighter = MarkdownHighlighter(self.document(), theme)
        theme.changed.connect(self._mark)
        self.verticalScrollBar().valueChanged.connect(self._look)
        self.verticalScrollBar().rangeChanged.connect(self._look)

    def _look(self) -> None:
        """Let what is seen have its colours."""
        first = self.firstVisibleBlock().blockNumber()
        self._highlighter.look(first, first + self.viewport().height() // max(1, self.fontMetrics().height()))

    def show_text(self, text: str) -> None:
        """Show another file."""
        self._target = 0
        self.setPlainText(text)
        self._mark()

    def renew_text(self, text: str) -> None:
        """Show what the same file became: the cursor, the view and the way back by undo stay."""
        place = self.verticalScrollBar().value()
        put_text(self.document(), text)
        self.verticalScrollBar().setValue(place)

    def shade(self, lines: tuple[int, ...]) -> None:
        """Lines that do not load."""
        self._shaded = lines
        self._mark()

    def shaded(self) -> tuple[int, ...]:
        return self._shaded

    def go_to(self, line: int) -> None:
        """Show a line in the middle, and mark it."""
        self._target = line
        last = self.document().blockCount() - 1
        self.setTextCursor(QTextCursor(self.document().findBlockByNumber(max(0, min(line - 1, last)))))
        self.centerCursor()
        self._mark()

    def show_matches(self, cursors: Sequence[QTextCursor], current: int) -> None:
        """Colour what was found, and the one we are at more."""
        colours, marks = self._theme.palette, []
        for number, cursor in enumerate(cursors):
            mark = QTextEdit.ExtraSelection()
            mark.cursor = cursor
            mark.format.setBackground(QColor(colours.accent if number == current else colours.amber_soft))
            mark.format.setForeground(QColor(colours.on_accent if number == current else colours.text))
            marks.append(mark)
        self.setExtraSelections(marks)

    def link_at(self, cursor: QTextCursor) -> str:
        """What the link under a cursor names; "" where there is none."""
        column = cursor.positionInBlock()
        for found in _LINK.finditer(cursor.block().text()):
            if found.start() <= column <= found.end():
                return link_target(found[1])
        return ""

    def follow(self) -> bool:
        """Follow the link at the cursor; whether there was one."""
        target = self.link_at(self.textCursor())
        if target:
            self.link_followed.emit(target)
        return bool(target)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and event.modifiers() & _CTRL:
            self.follow()
            return
        if event.key() == Qt.Key.Key_Control:
            self._point(True)
        super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Control:
            self._point(False)
        super().keyReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        held = bool(event.modifiers() & _CTRL)
        self._point(held and bool(self.link_at(self.cursorForPosition(event.position().toPoint()))))
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and event.modifiers() & _CTRL:
            target = self.link_at(self.cursorForPosition(event.position().toPoint()))
            if target:
                self.link_followed.emit(target)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu(event.pos())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        target = self.link_at(self.cursorForPosition(event.pos()))
        if target:
            first = menu.actions()[0] if menu.actions() else None
            go = menu.addAction(tr("Open the note “{name}”", name=target))
            go.triggered.connect(lambda: self.link_followed.emit(target))
            if first is not None:
                menu.insertAction(first, go)
                menu.insertSeparator(first)
        cursor = self.cursorForPosition(event.pos())
        if cursor.block().text().strip() and not self.isReadOnly():
            menu.addSeparator()
            forget = menu.addAction(tr("Forget this line…"))
            forget.triggered.connect(lambda: self.forget_asked.emit(cursor.blockNumber() + 1, cursor.block().text()))
        menu.popup(event.globalPos())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ReadOnlyChange:
            # A text that cannot be edited can still be read by keyboard.
            self.setTextInteractionFlags(self.textInteractionFlags() | Qt.TextInteractionFlag.TextSelectableByKeyboard)

    def _point(self, at_link: bool) -> None:
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if at_link else Qt.CursorShape.IBeamCursor)

    def _mark(self) -> None:
        colours = self._theme.palette
        grounds = dict.fromkeys(self._shaded, colours.red_soft)
        if self._target:
            grounds[self._target] = colours.accent_soft
        self.set_grounds(grounds)
