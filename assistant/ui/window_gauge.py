"""How full the model's context window is, as a ring."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from assistant.ui.i18n import tr
from assistant.ui.theme import Theme


class WindowGauge(QWidget):
    """How full the context window is, as a ring; the numbers are the tooltip and the accessible name."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.used, self.total = 0, 0
        self.setFixedSize(32, 32)
        theme.changed.connect(self.update)
        self.hide()

    def show_use(self, used: int, total: int) -> None:
        """Tokens used of the window; total 0 hides the gauge."""
        self.used, self.total = used, total
        self.setVisible(total > 0)
        if total <= 0:
            return
        words = tr(
            "Context window: {used} of {total} tokens used ({share} %)",
            used=f"{used:,}",
            total=f"{total:,}",
            share=100 * used // total,
        )
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.palette
        share = min(1.0, self.used / self.total) if self.total else 0.0
        colour = colours.accent if share < 0.8 else colours.amber if share < 0.95 else colours.red
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ring = QRectF(8, 8, 16, 16)
        pen = painter.pen()
        pen.setWidthF(3)
        pen.setColor(QColor(colours.selected))
        painter.setPen(pen)
        painter.drawEllipse(ring)
        pen.setColor(QColor(colour))
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawArc(ring, 90 * 16, -round(360 * 16 * share))
        painter.end()
