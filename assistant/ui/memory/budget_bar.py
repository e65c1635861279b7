"""How the tokens that memory may take in a prompt are used: one stacked bar, its legend, and the largest sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.memory.legend import Legend
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, label, spread
from assistant.workspace.layout import MEMORY

if TYPE_CHECKING:
    from assistant.runtime.picture import BudgetUse, Section

Part = tuple[str, int, str]
"""Words, tokens, name of a colour of the palette."""


class StackedBar(QWidget):
    """Parts of a whole, side by side, each with a hairline between."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._parts: list[Part] = []
        self.setFixedHeight(14)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_parts(self, parts: list[Part]) -> None:
        self._parts = parts
        words = ", ".join(tr("{name} {n} tokens", name=name, n=f"{tokens:,}") for name, tokens, _ in parts)
        self.setAccessibleName(words)
        self.setToolTip(words)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(self.rect()), 5, 5)
        painter.fillPath(shape, QColor(self._theme.palette.selected))
        whole = sum(tokens for _, tokens, _ in self._parts) or 1
        x = 0.0
        for _, tokens, colour in self._parts:
            width = self.width() * tokens / whole
            part = QPainterPath()
            part.addRect(QRectF(x, 0, max(0.0, width - 1), self.height()))
            painter.fillPath(shape.intersected(part), QColor(getattr(self._theme.palette, colour)))
            x += width
        painter.end()


class BudgetPicture(QWidget):
    """``section_chosen`` tells the line of MEMORY.md where a section begins."""

    section_chosen = Signal(str, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._use: BudgetUse | None = None
        self.bar = StackedBar(theme)
        self.words = label("", "small", wrap=True)
        self.legend = Legend()
        self._sections = QGridLayout()
        self._sections.setContentsMargins(0, 0, 0, 0)
        self._sections.setHorizontalSpacing(10)
        self._sections.setVerticalSpacing(2)
        self._sections.setColumnStretch(0, 1)
        column = QVBoxLayout(self)
        spread(column, spacing=8)
        column.addWidget(label(tr("What memory takes of a prompt"), "section"))
        column.addWidget(self.bar)
        column.addWidget(self.legend)
        column.addWidget(self.words)
        column.addLayout(self._sections)
        theme.changed.connect(self._renew)

    def show_use(self, use: BudgetUse) -> None:
        self._use = use
        self._renew()

    def _renew(self) -> None:
        if (use := self._use) is None:
            return
        parts: list[Part] = [
            (tr("facts"), use.facts, "accent"),
            (tr("entries"), use.entries, "name"),
            (tr("free"), use.free, "selected"),
        ]
        self.bar.show_parts(parts)
        colours = self._theme.palette
        self.legend.show_rows([(getattr(colours, colour), f"{name} {tokens:,}") for name, tokens, colour in parts])
        numbers = {"used": f"{use.facts + use.entries:,}", "allowed": f"{use.allowed:,}"}
        said = tr("{used} of {allowed} tokens.", **numbers)
        left = tr("{n} lines do not load.", n=use.left_out) if use.left_out else ""
        self.words.setText(f"{said} {left}".strip())
        _clear(self._sections)
        for row, section in enumerate(use.sections):
            self._add_section(row, section)

    def _add_section(self, row: int, section: Section) -> None:
        words = section.title or tr("Before the first heading")
        go = button(words if len(words) <= 40 else f"{words[:39]}…", "link")
        go.clicked.connect(lambda: self.section_chosen.emit(MEMORY, section.line))
        go.setAccessibleName(tr("{name} {n} tokens", name=words, n=section.tokens))
        go.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._sections.addWidget(go, row, 0)
        count = label(f"{section.tokens:,}", "small")
        self._sections.addWidget(count, row, 1, Qt.AlignmentFlag.AlignRight)


def _clear(layout: QGridLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
