"""Line icons from resources/icons, drawn in a colour of the theme at any scale."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from assistant.core.resources import resource


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return resource(f"icons/{name}.svg").read_text(encoding="utf-8")


class _LineEngine(QIconEngine):
    """Renders one icon sharply for whatever size and scale the painter has."""

    def __init__(self, name: str, colour: str, disabled: str) -> None:
        super().__init__()
        self._name, self._colour, self._disabled = name, colour, disabled

    def clone(self) -> QIconEngine:
        return _LineEngine(self._name, self._colour, self._disabled)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        colour = self._disabled if mode == QIcon.Mode.Disabled else self._colour
        paint_icon(painter, QRectF(rect), self._name, colour)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        pixmap = QPixmap(size * scale)
        pixmap.setDevicePixelRatio(scale)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap


def paint_icon(painter: QPainter, rect: QRectF, name: str, colour: str) -> None:
    """Draw an icon of resources/icons into ``rect``."""
    solid = QColor(colour)
    svg = _source(name).replace("currentColor", solid.name())
    painter.save()
    painter.setOpacity(painter.opacity() * solid.alphaF())
    QSvgRenderer(QByteArray(svg.encode())).render(painter, rect)
    painter.restore()


def icon(name: str, colour: str, disabled: str = "") -> QIcon:
    """A line icon in ``colour`` (``disabled``: the colour when its control is disabled)."""
    return QIcon(_LineEngine(name, colour, disabled or colour))


def app_icon() -> QIcon:
    """The icon of the program."""
    return QIcon(str(resource("icons/keepsake.svg")))
