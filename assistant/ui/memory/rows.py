"""Paints the rows of the memory panel's lists: words, a quiet detail, and a bar where there is a score."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from assistant.ui.models.plain import DETAIL_ROLE, SCORE_ROLE
from assistant.ui.theme import Theme

Index = QModelIndex | QPersistentModelIndex
_MOST_CHARACTERS = 1_000
"""More fits no row, and measuring a pasted log of a megabyte takes seconds."""


def follow_width(view: QListView) -> None:
    """Place the rows anew whenever the width changes, as their heights then do too.

    A list asked to adjust looks at its height alone; where its words may wrap it looks at both. Otherwise rows that
    became taller are painted over the next ones.
    """
    view.setResizeMode(QListView.ResizeMode.Adjust)
    view.setWordWrap(True)


class RowDelegate(QStyledItemDelegate):
    """``lines``: how many lines the words may take. One-line rows put the detail on the right."""

    def __init__(self, theme: Theme, lines: int, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._theme, self._lines, self._view = theme, lines, view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        if self._lines == 1:
            return QSize(120, 32)
        text = (index.data() or "")[:_MOST_CHARACTERS]
        width = self._view.viewport().width() - 24
        metrics = QFontMetrics(option.font)
        rows = min(self._lines - 1, 1 + metrics.horizontalAdvance(text) // max(1, width))
        return QSize(120, 32 + metrics.lineSpacing() * rows + 2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = option.rect.adjusted(2, 1, -2, -1)
        self._paint_ground(painter, rect, option.state)
        inner = rect.adjusted(10, 4, -10, -4)
        if self._lines == 1:
            self._paint_one(painter, inner, index)
        else:
            self._paint_more(painter, inner, index)
        painter.restore()

    def _paint_ground(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
        colours = self._theme.palette
        selected = bool(state & QStyle.StateFlag.State_Selected)
        if selected or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selected if selected else colours.hover))
            painter.drawRoundedRect(rect, 6, 6)

    def _paint_one(self, painter: QPainter, rect: QRect, index: Index) -> None:
        detail = index.data(DETAIL_ROLE) or ""
        self._pen(painter, 12, self._theme.palette.muted)
        room = QFontMetrics(painter.font()).horizontalAdvance(detail) + 12
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, detail)
        self._pen(painter, 14, self._theme.palette.text)
        self._elided(painter, rect.adjusted(0, 0, -room, 0), index.data())

    def _paint_more(self, painter: QPainter, rect: QRect, index: Index) -> None:
        score = index.data(SCORE_ROLE)
        below = QRect(rect.left(), rect.bottom() - 17, rect.width(), 18)
        self._pen(painter, 14, self._theme.palette.text)
        area = QRect(rect.left(), rect.top(), rect.width(), rect.height() - 18)
        flags = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
        metrics = QFontMetrics(painter.font())
        text = (index.data() or "")[:_MOST_CHARACTERS]
        words = metrics.elidedText(text, Qt.TextElideMode.ElideRight, area.width() * (self._lines - 1) - 24)
        painter.drawText(area, int(flags), words)
        if score is not None:
            self._paint_score(painter, QRectF(below.right() - 48, below.center().y() - 2, 48, 4), float(score))
            below.setRight(below.right() - 60)
        self._pen(painter, 12, self._theme.palette.muted)
        self._elided(painter, below, index.data(DETAIL_ROLE) or "")

    def _paint_score(self, painter: QPainter, rect: QRectF, score: float) -> None:
        colours = self._theme.palette
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.selected))
        painter.drawRoundedRect(rect, 2, 2)
        painter.setBrush(QColor(colours.accent))
        rect.setWidth(max(4.0, rect.width() * max(0.0, min(1.0, score))))
        painter.drawRoundedRect(rect, 2, 2)

    def _pen(self, painter: QPainter, pixels: int, colour: str) -> None:
        font = painter.font()
        font.setPixelSize(pixels)
        painter.setFont(font)
        painter.setPen(QColor(colour))

    def _elided(self, painter: QPainter, rect: QRect, text: str) -> None:
        metrics = QFontMetrics(painter.font())
        short = metrics.elidedText(text[:_MOST_CHARACTERS], Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, short)
