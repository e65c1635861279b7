"""Paints the list of memory files: a name with a quiet line below it, headings that fold, a dot for unsaved text."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from assistant.ui.icons import paint_icon
from assistant.ui.memory.file_model import HEADING_ROLE, WAITING_ROLE
from assistant.ui.models.plain import DETAIL_ROLE, ITEM_ROLE
from assistant.ui.theme import Theme

Index = QModelIndex | QPersistentModelIndex
ROW = 46
"""Pixels of every row, headings too: so that a list of thousands is laid out without asking for each."""
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_ICONS = {"memory": "memory", "archive": "archive", "log": "journal"}


class FileRowDelegate(QStyledItemDelegate):
    """Fonts are made once: a list of thousands asks for them at every frame."""

    def __init__(self, theme: Theme, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._theme = theme
        self._fonts = {name: _font(view.font(), *how) for name, how in _FONTS.items()}
        self._metrics = {name: QFontMetrics(font) for name, font in self._fonts.items()}

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = option.rect.adjusted(4, 1, -4, -1)
        state = option.state
        self._ground(painter, rect, state)
        inner = rect.adjusted(10, 4, -10, -4)
        if index.data(HEADING_ROLE) is None:
            self._file(painter, inner, index)
        else:
            self._heading(painter, inner, index)
        painter.restore()

    def _ground(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
        colours = self._theme.palette
        selected = bool(state & QStyle.StateFlag.State_Selected)
        pointed = bool(state & QStyle.StateFlag.State_MouseOver and state & QStyle.StateFlag.State_Enabled)
        if selected or pointed:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selected if selected else colours.hover))
            painter.drawRoundedRect(rect, 6, 6)

    def _heading(self, painter: QPainter, rect: QRect, index: Index) -> None:
        muted = self._theme.palette.muted
        rect = rect.adjusted(0, 12, 0, 0)  # nearer to what it heads
        foldable = bool(index.flags() & Qt.ItemFlag.ItemIsSelectable)
        left = rect.left()
        if foldable:
            arrow = "down" if index.data(HEADING_ROLE) else "right"
            paint_icon(painter, QRectF(left - 3, rect.center().y() - 7, 14, 14), arrow, muted)
            left += 16
        self._write(
            painter, QRect(left, rect.top(), rect.right() - left, rect.height()), index.data(), "heading", muted
        )
        start = left + self._metrics["heading"].horizontalAdvance(index.data()) + 8
        count = QRect(start, rect.top(), max(0, rect.right() - start), rect.height())
        self._write(painter, count, index.data(DETAIL_ROLE), "detail", muted)

    def _file(self, painter: QPainter, rect: QRect, index: Index) -> None:
        colours, info = self._theme.palette, index.data(ITEM_ROLE)
        tint = colours.amber if info.problem else colours.muted
        icon = QRectF(rect.left() - 1, rect.center().y() - 8, 18, 18)
        paint_icon(painter, icon, "warning" if info.problem else _ICONS.get(info.kind, "file"), tint)
        rect = rect.adjusted(28, 0, 0, 0)
        if index.data(WAITING_ROLE):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.amber))
            painter.drawEllipse(QPoint(rect.right() - 3, rect.center().y()), 4, 4)
            rect.setRight(rect.right() - 16)
        half = rect.height() // 2
        self._write(painter, QRect(rect.left(), rect.top(), rect.width(), half), index.data(), "name", colours.text)
        below = QRect(rect.left(), rect.top() + half, rect.width(), half)
        self._write(painter, below, index.data(DETAIL_ROLE), "detail", colours.amber if info.problem else colours.muted)

    def _write(self, painter: QPainter, rect: QRect, text: str, font: str, colour: str) -> None:
        painter.setFont(self._fonts[font])
        painter.setPen(QColor(colour))
        short = self._metrics[font].elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, _LEFT, short)


_FONTS = {"name": (14, False), "detail": (12, False), "heading": (12, True)}


def _font(base: QFont, pixels: int, bold: bool) -> QFont:
    font = QFont(base)
    font.setPixelSize(pixels)
    font.setBold(bold)
    return font
