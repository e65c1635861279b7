"""Coloured squares with words, in as many rows as they need."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

_SQUARE, _GAP, _BETWEEN, _ROW = 9, 6, 14, 19


class Legend(QWidget):
    """Rows of (colour, words)."""

    def __init__(self) -> None:
        super().__init__()
        self._items: Sequence[tuple[str, str]] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_rows(self, items: Sequence[tuple[str, str]]) -> None:
        self._items = items
        self.setAccessibleName(", ".join(words for _, words in items))
        self._fit()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, _ROW)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._small())
        text = self.palette().color(QPalette.ColorRole.WindowText)
        for (colour, words), at in zip(self._items, self._places(), strict=True):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(at.x(), at.y() + 5, _SQUARE, _SQUARE), 2, 2)
            painter.setPen(text)
            where = QRectF(at.x() + _SQUARE + _GAP, at.y(), self.width(), _ROW)
            painter.drawText(where, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        painter.end()

    def _places(self) -> list[QPointF]:
        metrics = QFontMetricsF(self._small())
        places, x, y = [], 0.0, 0.0
        for _, words in self._items:
            width = _SQUARE + _GAP + metrics.horizontalAdvance(words)
            if x and x + width > self.width():
                x, y = 0.0, y + _ROW
            places.append(QPointF(x, y))
            x += width + _BETWEEN
        return places

    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(12)
        return font

    def _fit(self) -> None:
        last = self._places()[-1].y() if self._items else 0.0
        self.setFixedHeight(int(last) + _ROW)
