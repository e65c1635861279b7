"""The window over real services and files; only the model is scripted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from assistant.core.events import Event, TurnFinished
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from assistant.ui.chat.receipt_row import Act, ReceiptRow
from assistant.ui.chat.receipt_view import ReceiptView
from assistant.ui.main_window import MainWindow
from assistant.ui.theme import Theme
from tests.fakes import FakeEngine

LISBON = "- I live in Lisbon, near the Jardim da Estrela"
TEA = "2026-11-20|you|likes tea, no coffee after noon"


class House:
    """The window over real services, and a first reply with its receipt open."""

    def __init__(self, qtbot: QtBot, theme: Theme, folder: Path) -> None:
        self.qtbot = qtbot
        self.services: Services = compose(Places(folder / "ws", folder / "config", folder / "state"), {})
        self.engine = FakeEngine()
        services = self.services
        services.prompts.engine = services.model_service.engine = services.turns._runner._engine = self.engine
        self.root = services.workspace.root
        (self.root / "MEMORY.md").write_text(f"# About me\n\n{LISBON}\n{TEA}\n", encoding="utf-8")
        self.events: list[Event] = []
        services.subscribe(self.events.append)
        self.window = MainWindow(services, theme)
        self.window.show()
        qtbot.waitExposed(self.window)

    def say(self, text: str) -> str:
        """Send a message; the prompt that the model was given for it, as one text."""
        before = sum(isinstance(event, TurnFinished) for event in self.events)
        self.window.page.composer.edit.setPlainText(text)
        self.window.page.composer.sent.emit(text)
        self.qtbot.waitUntil(lambda: sum(isinstance(e, TurnFinished) for e in self.events) > before)
        self.qtbot.waitUntil(lambda: not self.window.session.streaming())
        return "\n".join(message.text for message in self.engine.asked[-1])

    def open_receipt(self) -> ReceiptView:
        view = self.window.page.transcript.views()[-1]
        self.qtbot.waitUntil(view.receipt_button.isVisible)
        view.receipt_button.click()
        receipt = view.receipt_view()
        assert receipt is not None
        self.qtbot.waitUntil(lambda: all(row.now is not None for row in receipt.rows.values()))
        return receipt

    def row(self, words: str) -> ReceiptRow:
        """The row of the open receipt whose line was told with these words."""
        receipt = next(v for each in self.window.page.transcript.views() if (v := each.receipt_view()))
        return next(row for row in receipt.rows.values() if words in row.line.text)

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition)

    def memory(self) -> str:
        return (self.root / "MEMORY.md").read_text(encoding="utf-8")

    def choose(self, row: ReceiptRow, act: Act) -> None:
        """By the button that shows while the line is pointed at."""
        QApplication.sendEvent(row, QEnterEvent(QPointF(1, 1), QPointF(1, 1), QPointF(1, 1)))
        self.qtbot.mouseClick(row.strip()[act], Qt.MouseButton.LeftButton)

    def undo_toast(self) -> None:
        self.until(lambda: self.window.toasts.newest() is not None)
        toast = self.window.toasts.newest()
        assert toast is not None
        toast.action_button().click()

    def close(self) -> None:
        if self.window.memory_open():
            self.window.memory_panel().discard()
        self.window.close()
        self.window.release()
        self.services.close()
        self.window.deleteLater()
