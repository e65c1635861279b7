"""Bars over time, each stacked by source; pointed at, clicked, or walked through by the arrow keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from assistant.ui.i18n import tr
from assistant.ui.memory.source_colours import source_colour, source_name
from assistant.ui.theme import Theme
from assistant.workspace.timeline import SOURCES

if TYPE_CHECKING:
    from assistant.workspace.timeline import Period

_STEP, _WIDEST_STEP = 16, 44  # pixels from bar to bar: at least, and at most where there are few
_GAP, _WIDEST_BAR = 5, 24
_LEFT, _RIGHT, _TOP, _BOTTOM = 2, 2, 10, 24
_AXIS = 28
_HEIGHT = 168


def period_words(period: Period, by: str) -> str:
    """A period and what was written in it."""
    counts = ", ".join(f"{source_name(kind)} {n}" for kind, n in period.counts.items())
    return f"{period_name(period, by)}: {counts or tr('nothing')}"


def period_name(period: Period, by: str) -> str:
    """A day, a week by its days, a month by its name."""
    if by == "day":
        return period.first.isoformat()
    if by == "month":
        return period.first.isoformat()[:7]
    same_year = period.first.year == period.last.year
    return f"{period.first.isoformat()} – {period.last.isoformat()[5 if same_year else 0 :]}"


class ChartAxis(QWidget):
    """The numbers at the left of a chart, which stay while it scrolls."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._most = 1
        self.setFixedSize(_AXIS, _HEIGHT)
        theme.changed.connect(self.update)

    def show_most(self, most: int) -> None:
        self._most = most
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = painter.font()
        font.setPixelSize(11)
        painter.setFont(font)
        painter.setPen(QColor(self._theme.palette.muted))
        for share in _grid(self._most):
            place = QRectF(0, _height_of(share) - 8, _AXIS - 6, 16)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(place, right, f"{self._most * share:.0f}")
        painter.end()


def _round_up(most: int) -> int:
    """An even number, so that its half is one too; what is small stays as it is."""
    return most + most % 2 if most >= 4 else max(1, most)


def _grid(most: int) -> tuple[float, ...]:
    """Where the lines are, as shares of the highest bar; whole numbers only."""
    return (1.0, 0.5) if most >= 4 and most % 2 == 0 else (1.0,)


def _height_of(share: float) -> float:
    ground = _HEIGHT - _BOTTOM
    return round(ground - (ground - _TOP) * share) + 0.5


class TimeChart(QWidget):
    """At least as wide as its bars need; put it into a scroll area. ``chosen`` tells the index of a period.

    Where there is room the bars stand further apart, and the newest always at the right edge.
    """

    chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._periods: Sequence[Period] = ()
        self._by = "day"
        self._most = 1
        self.selected, self._hovered = -1, -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("When it was written"))
        theme.changed.connect(self.update)

    def show_periods(self, periods: Sequence[Period], by: str) -> None:
        """Draw these; none is chosen yet."""
        self._periods, self._by = periods, by
        self._most = _round_up(max((period.total for period in periods), default=1))
        self.selected = self._hovered = -1
        self.setMinimumWidth(self.sizeHint().width())
        self.resize(max(self.sizeHint().width(), self.width()), _HEIGHT)
        self.updateGeometry()
        self.update()

    @property
    def most(self) -> int:
        """Entries of the highest bar."""
        return self._most

    def sizeHint(self) -> QSize:
        return QSize(_LEFT + _STEP * len(self._periods) + _RIGHT, _HEIGHT)

    def _step(self) -> float:
        """Pixels from bar to bar."""
        room = self.width() - _LEFT - _RIGHT
        return min(_WIDEST_STEP, max(_STEP, room / max(1, len(self._periods))))

    def _left(self) -> float:
        """Where the first bar's column begins."""
        return max(_LEFT, self.width() - _RIGHT - self._step() * len(self._periods))

    def choose(self, index: int) -> None:
        """Choose a period, as a click on its bar does."""
        if 0 <= index < len(self._periods):
            self.selected = index
            self.setAccessibleDescription(period_words(self._periods[index], self._by))
            self.update()
            self.chosen.emit(index)

    def bar_rect(self, index: int) -> QRectF:
        """Where the whole column of a period is."""
        step = self._step()
        return QRectF(self._left() + step * index, 0, step, self.height() - _BOTTOM)

    def _at(self, x: float) -> int:
        index = int((x - self._left()) // self._step())
        return index if 0 <= index < len(self._periods) else -1

    # --- drawing ---

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = painter.font()
        font.setPixelSize(11)
        painter.setFont(font)
        self._paint_grid(painter)
        first = max(0, self._at(event.rect().left() - 60))
        last = min(len(self._periods), int((event.rect().right() + 60 - self._left()) // self._step()) + 1)
        for index in range(first, max(first, last)):
            self._paint_bar(painter, index)
        self._paint_dates(painter, first, last)
        painter.end()

    def _paint_grid(self, painter: QPainter) -> None:
        painter.setPen(QPen(QColor(self._theme.palette.border), 1))
        for share in (*_grid(self._most), 0.0):
            painter.drawLine(QPointF(0, _height_of(share)), QPointF(self.width(), _height_of(share)))

    def _paint_bar(self, painter: QPainter, index: int) -> None:
        colours, period = self._theme.palette, self._periods[index]
        column = self.bar_rect(index)
        if index in (self.selected, self._hovered):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selected if index == self.selected else colours.hover))
            painter.drawRoundedRect(column.adjusted(1, 0, -1, 1), 4, 4)
        if not period.total:
            return
        ground = self.height() - _BOTTOM
        full = max(3.0, (ground - _TOP) * period.total / self._most)
        bar = min(_WIDEST_BAR, column.width() - _GAP)
        x = column.left() + (column.width() - bar) / 2
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(x, ground - full, bar, full + 3), 3, 3)
        painter.save()
        painter.setClipRect(QRectF(x, ground - full, bar, full))
        y = float(ground)
        for kind in SOURCES:
            if not (count := period.counts.get(kind, 0)):
                continue
            height = full * count / period.total
            part = QPainterPath()
            part.addRect(QRectF(x, y - height, bar, height))
            painter.fillPath(shape.intersected(part), QColor(source_colour(colours, kind)))
            y -= height
        painter.restore()

    def _paint_dates(self, painter: QPainter, first: int, last: int) -> None:
        painter.setPen(QColor(self._theme.palette.muted))
        free = -1.0
        for index in range(first, last):
            words = _tick(self._periods, index, self._by)
            taken = painter.fontMetrics().horizontalAdvance(words)
            x = min(self.bar_rect(index).left() + 2, self.width() - taken - 2)
            if words and x >= free:
                painter.drawText(QRectF(x, self.height() - _BOTTOM + 5, 70, 16), Qt.AlignmentFlag.AlignLeft, words)
                free = x + taken + 12

    # --- pointing ---

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._at(event.position().x()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(-1)

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            self._hovered = index
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.choose(self._at(event.position().x()))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self._at(event.pos().x())
            words = period_words(self._periods[index], self._by) if index >= 0 else ""
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        ends = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: len(self._periods) - 1}
        key = Qt.Key(event.key())
        if key in ends:
            self.choose(ends[key])
        elif key in steps:
            self._walk(steps[key])
        else:
            super().keyPressEvent(event)

    def _walk(self, step: int) -> None:
        """To the next period with something in it."""
        at = len(self._periods) if self.selected < 0 and step < 0 else self.selected
        while 0 <= (at := at + step) < len(self._periods):
            if self._periods[at].total:
                self.choose(at)
                return


def _tick(periods: Sequence[Period], index: int, by: str) -> str:
    """A date where a month (among days: a week, among months: a year) begins, and under the very first bar."""
    day = periods[index].first
    before: date | None = periods[index - 1].first if index else None
    if by == "month":
        return str(day.year) if before is None or before.year != day.year else ""
    same_month = before is not None and (before.year, before.month) == (day.year, day.month)
    if same_month and not (by == "day" and day.weekday() == 0):
        return ""
    return f"{day:%Y-%m}" if before is None or before.year != day.year else f"{day:%m-%d}"
