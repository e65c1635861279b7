"""After something was forgotten: every place that was searched, and what was found in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from assistant.ui.i18n import tr, translate_message
from assistant.ui.memory.forget import place_words
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, fit_height, label, spread

if TYPE_CHECKING:
    from assistant.workspace.forget_values import ForgetReport

_WIDTH = 440


def proof_words(report: ForgetReport) -> str:
    """The result in a line."""
    left = [place for place in report.searched if place.remaining]
    if not report.searched:
        return tr("It was brought back meanwhile; nothing was erased.")
    if not left:
        return tr("Forgotten. {n} places searched: nothing is left.", n=len(report.searched))
    if len(left) == 1:
        return tr("{place} still holds it.", place=place_words(left[0].place))
    return tr("{n} places still hold it.", n=len(left))


class ProofDialog(QDialog):
    """A line a place; red where something is left, with what to do."""

    def __init__(self, report: ForgetReport, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.report = report
        self.setWindowTitle(tr("Searched"))
        column = QVBoxLayout(self)
        spread(column, (24, 20, 24, 16), 12)
        column.addWidget(label(proof_words(report), "title", wrap=True))
        column.addWidget(label(tr("Every byte of these places was searched for it, and found so often:"), wrap=True))
        grid = QGridLayout()
        spread(grid, (0, 4, 0, 4), 6)
        grid.setHorizontalSpacing(24)
        grid.setColumnStretch(0, 1)
        row = 0
        for place in report.searched:
            name, found = label(place_words(place.place)), label(str(place.remaining))
            found.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            found.setAccessibleName(f"{place_words(place.place)}: {place.remaining}")
            colour = theme.palette.red if place.remaining else theme.palette.accent
            found.setStyleSheet(f"color: {colour}; font-weight: 600;")
            grid.addWidget(name, row, 0)
            grid.addWidget(found, row, 1)
            row += 1
            if place.hint:
                grid.addWidget(label(translate_message(place.hint), "smallred", wrap=True), row, 0, 1, 2)
                row += 1
        column.addLayout(grid)
        buttons = QHBoxLayout()
        self.close_button = button(tr("Close"), "primary", self.accept)
        buttons.addStretch()
        buttons.addWidget(self.close_button)
        column.addLayout(buttons)
        fit_height(self, _WIDTH)
