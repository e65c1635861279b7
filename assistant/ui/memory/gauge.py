"""How much of the memory's budget MEMORY.md takes: lines, bytes and tokens; amber from 80 %, red over it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import label, restyle, spread

AMBER_FROM = 0.8


@dataclass(frozen=True, slots=True)
class Measure:
    """One of the three limits."""

    name: str
    used: int
    allowed: int

    @property
    def share(self) -> float:
        return self.used / self.allowed if self.allowed else 0.0

    @property
    def level(self) -> str:
        """ "", "amber" or "red"."""
        if self.share > 1:
            return "red"
        return "amber" if self.share >= AMBER_FROM else ""


class _Bar(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.measure = Measure("", 0, 0)
        self.setFixedHeight(6)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.palette
        level = self.measure.level
        colour = {"": colours.accent, "amber": colours.amber, "red": colours.red}[level]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.selected))
        painter.drawRoundedRect(QRectF(0, 0, self.width(), 6), 3, 3)
        width = self.width() * min(1.0, self.measure.share)
        if width > 0:
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(0, 0, max(6.0, width), 6), 3, 3)
        painter.end()


class _Meter(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._name = label("", "small")
        self._numbers = label("", "small")
        self._bar = _Bar(theme)
        head = QHBoxLayout()
        spread(head, spacing=4)
        head.addWidget(self._name)
        head.addStretch()
        head.addWidget(self._numbers)
        column = QVBoxLayout(self)
        spread(column, spacing=4)
        column.addLayout(head)
        column.addWidget(self._bar)

    def show_measure(self, measure: Measure) -> None:
        self._bar.measure = measure
        self._name.setText(measure.name)
        self._numbers.setText(f"{_short(measure.used)}/{_short(measure.allowed)}")
        restyle(self._numbers, "role", f"small{measure.level}")
        words = tr("{name}: {used} of {allowed}", name=measure.name, used=measure.used, allowed=measure.allowed)
        self.setAccessibleName(words)
        self.setToolTip(words)
        self._bar.update()


class BudgetGauge(QWidget):
    """Three meters in a row."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._meters = [_Meter(theme) for _ in range(3)]
        row = QHBoxLayout(self)
        spread(row, spacing=16)
        for meter in self._meters:
            row.addWidget(meter, 1)
        self.measures: tuple[Measure, ...] = ()

    def show_measures(self, lines: tuple[int, int], size: tuple[int, int], tokens: tuple[int, int]) -> None:
        """Each as (used, allowed)."""
        named = ((tr("Lines"), lines), (tr("Bytes"), size), (tr("Tokens"), tokens))
        self.measures = tuple(Measure(name, *pair) for name, pair in named)
        for meter, measure in zip(self._meters, self.measures, strict=True):
            meter.show_measure(measure)

    @property
    def level(self) -> str:
        """The worst of the three: "", "amber" or "red"."""
        levels = {measure.level for measure in self.measures}
        return "red" if "red" in levels else "amber" if "amber" in levels else ""


def _short(number: int) -> str:
    return f"{number / 1000:.1f}k".replace(".0k", "k") if number >= 10_000 else str(number)
