"""For the benchmarks: report when the window takes text, then close it; measure what a person waits for in it."""

from __future__ import annotations

import json
import sys

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextEdit, QWidget


class StartupProbe(QObject):
    """Types a letter into the composer once the window was painted; prints one JSON line when it stands there."""

    def __init__(self, window: QWidget, composer: QPlainTextEdit | QTextEdit) -> None:
        super().__init__(window)
        self._window = window
        self._composer = composer
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            QTimer.singleShot(0, self._type)
        return False

    def _type(self) -> None:
        before = self._composer.toPlainText()  # a draft that was kept
        press = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_K, Qt.KeyboardModifier.NoModifier, "k")
        QApplication.sendEvent(self._composer, press)
        usable = self._window.isVisible() and self._composer.toPlainText() == before + "k"
        modules = sorted({name.partition(".")[0] for name in sys.modules})
        sys.stdout.write(json.dumps({"usable": usable, "modules": modules}) + "\n")
        sys.stdout.flush()
        self._composer.setPlainText(before)
        self._window.close()
