"""Two versions of one file side by side, and the person's choice between them."""

from __future__ import annotations

import difflib
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.memory.editor import ShadedTextEdit
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, label, spread

Choice = Literal["mine", "theirs", "merged"]


def changed_lines(mine: str, theirs: str) -> tuple[set[int], set[int]]:
    """Lines (from 0) that only one of the two texts has, for each."""
    ours, others = mine.split("\n"), theirs.split("\n")
    left, right = set(range(len(ours))), set(range(len(others)))
    for a, b, size in difflib.SequenceMatcher(None, ours, others, autojunk=False).get_matching_blocks():
        left -= set(range(a, a + size))
        right -= set(range(b, b + size))
    return left, right


class ConflictDialog(QDialog):
    """``chosen`` says which text to keep; closing it decides nothing and keeps both."""

    chosen = Signal(str)

    def __init__(self, file: str, mine: str, theirs: str, merged: str | None, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("{file} changed meanwhile", file=file))
        self.resize(900, 560)
        self.mine, self.theirs, self.merged = mine, theirs, merged
        self._theme = theme
        left, right = changed_lines(mine, theirs)
        column = QVBoxLayout(self)
        spread(column, (24, 20, 24, 16), 12)
        column.addWidget(label(tr("{file} changed meanwhile", file=file), "title"))
        words = tr(
            "Another program, or the assistant, wrote to this file while you were editing it. Nothing is lost yet."
        )
        column.addWidget(label(words, wrap=True))
        sides = QHBoxLayout()
        spread(sides, spacing=16)
        sides.addLayout(self._side(tr("Your text"), mine, left), 1)
        sides.addLayout(self._side(tr("On disk now"), theirs, right), 1)
        column.addLayout(sides, 1)
        column.addLayout(self._buttons())

    def _side(self, name: str, text: str, changed: set[int]) -> QVBoxLayout:
        view = ShadedTextEdit()
        view.setPlainText(text)
        view.setReadOnly(True)
        view.setProperty("role", "code")
        view.setAccessibleName(name)
        view.set_grounds({line + 1: self._theme.palette.amber_soft for line in changed})
        column = QVBoxLayout()
        spread(column, spacing=4)
        column.addWidget(label(name, "section"))
        column.addWidget(view, 1)
        return column

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        spread(row, (0, 4, 0, 0), 8)
        self.cancel = button(tr("Go on editing"), "", self.reject)
        self.take_theirs = button(tr("Take what is on disk"), "", lambda: self._choose("theirs"))
        self.take_mine = button(tr("Keep my text"), "", lambda: self._choose("mine"))
        self.take_merged = button(tr("Keep both, merged"), "primary", lambda: self._choose("merged"))
        self.take_merged.setVisible(self.merged is not None)
        row.addWidget(self.cancel)
        row.addStretch()
        for made in (self.take_theirs, self.take_mine, self.take_merged):
            row.addWidget(made)
        return row

    def _choose(self, choice: Choice) -> None:
        self.accept()
        self.chosen.emit(choice)
