"""The slim column of icons at the left of the memory panel: which page is shown, and where something waits."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QToolButton, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.memory.pages import PageSpec
from assistant.ui.theme import Theme
from assistant.ui.widgets import spread

_SIZE = 36


class RailButton(QToolButton):
    """One page: icon, a bar at its left while it is the one shown, and a number where something waits."""

    def __init__(self, theme: Theme, spec: PageSpec) -> None:
        super().__init__()
        self._theme, self._icon, self._title, self.badge = theme, spec.icon, spec.title(), 0
        self.setObjectName("railbutton")
        self.setCheckable(True)
        self.setFixedSize(_SIZE, _SIZE)
        self.setIconSize(QSize(20, 20))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.toggled.connect(self._show_icon)
        theme.changed.connect(self._show_icon)
        self._show_icon()
        self.set_badge(0)

    def set_badge(self, count: int) -> None:
        """Show a number; 0 shows none."""
        self.badge = count
        words = tr("{title}, {n} waiting", title=self._title, n=count) if count else self._title
        self.setAccessibleName(words)
        self.setToolTip(words)
        self.update()

    def _show_icon(self) -> None:
        self.setIcon(self._theme.icon(self._icon, "accent" if self.isChecked() else "muted"))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.badge:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        words = "99+" if self.badge > 99 else str(self.badge)
        font = painter.font()
        font.setPixelSize(10)
        font.setBold(True)
        painter.setFont(font)
        width = max(16.0, painter.fontMetrics().horizontalAdvance(words) + 8.0)
        place = QRectF(self.width() - width - 1, 1, width, 16)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.palette.accent))
        painter.drawRoundedRect(place, 8, 8)
        painter.setPen(QColor(self._theme.palette.on_accent))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, words)
        painter.end()


class Rail(QWidget):
    """``chosen`` tells the key of a page. One stop for Tab; the arrow keys go from icon to icon."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, specs: Sequence[PageSpec]) -> None:
        super().__init__()
        self.setObjectName("rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Parts of the memory"))
        self.setFixedWidth(_SIZE + 12)
        self.buttons: dict[str, RailButton] = {}
        self._group = QButtonGroup(self)  # exclusive: Qt moves the focus inside it with the arrow keys
        column = QVBoxLayout(self)
        spread(column, (6, 10, 6, 10), 4)
        for spec in specs:
            made = RailButton(theme, spec)
            made.clicked.connect(lambda _=False, key=spec.key: self.chosen.emit(key))
            self.buttons[spec.key] = made
            self._group.addButton(made)
            column.addWidget(made)
        column.addStretch()

    def show_chosen(self, key: str) -> None:
        """Mark the page that is shown."""
        self.buttons[key].setChecked(True)

    def set_badge(self, key: str, count: int) -> None:
        self.buttons[key].set_badge(count)
