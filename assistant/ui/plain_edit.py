"""Plain text that stays quick with an endless word in it."""

from __future__ import annotations

import re

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit

_ENDLESS_WORD = re.compile(r"\S{4000}")


class PlainEdit(QPlainTextEdit):
    """Breaks lines at words, and anywhere while it was given a word without end.

    Qt looks for a place to break in time that grows with the square of a word: one of 1 MB held the window for 69 s.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self._words = self.wordWrapMode()
        self.textChanged.connect(self._on_text_changed)
        self.setPlainText(text)

    def setPlainText(self, text: str) -> None:
        if _ENDLESS_WORD.search(text):
            self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
            super().setPlainText(text)
        else:  # the text before goes first: it may hold such a word
            super().setPlainText(text)
            self.setWordWrapMode(self._words)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if _ENDLESS_WORD.search(source.text()):
            self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        super().insertFromMimeData(source)

    def _on_text_changed(self) -> None:
        if self.document().isEmpty() and self.wordWrapMode() != self._words:
            self.setWordWrapMode(self._words)
