"""The one window of the app, made anew when the person goes to another assistant."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from assistant.core.errors import AssistantError
from assistant.ui.assistants.actions import Move
from assistant.ui.main_window import MainWindow
from assistant.ui.theme import Theme
from assistant.ui.window_state import FILE, save_assistant
from assistant.workspace.assistants import DEFAULT

if TYPE_CHECKING:
    from assistant.runtime.services import Services
    from assistant.runtime.workers import Workers

Compose = Callable[[str, "Workers"], "Services"]
"""The services of the assistant of that name, over worker processes that run already."""


_LOOK_MS = 15


class Windows(QObject):
    """Holds the services and the window over them. Nothing of one assistant is open when another one's is made."""

    def __init__(self, services: Services, theme: Theme, compose: Compose, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme, self._compose = theme, compose
        self.services = services
        self._leaving: Future[Workers] | None = None
        self._look = QTimer(self)
        self._look.setInterval(_LOOK_MS)
        self.window = self._make()

    def show(self) -> None:
        """Show the window, then begin the background work."""
        self.window.show()
        self.services.start()

    def move(self, move: Move) -> None:
        """Close the services, do what is to be done in between, and open those of the other assistant.

        Returns at once; what runs is ended behind. The worker processes go along, so that the model stays loaded. Where
        the other one cannot be opened, the window comes back with the one before, and says why.
        """
        old = self.window
        if self._leaving is not None or not old.may_leave():
            return
        old.keeper.finish()
        old.release()
        old.setEnabled(False)
        self._leaving = self.services.hand_over()
        self._look.timeout.connect(lambda: self._arrive_when_left(move))
        self._look.start()

    def close(self) -> None:
        """End the window's part and the services."""
        self._look.stop()
        self.window.release()
        if self._leaving is None:
            self.services.close()
        else:
            self._leaving.result().close()

    def _arrive_when_left(self, move: Move) -> None:
        if self._leaving is None or not self._leaving.done():
            return
        self._look.stop()
        self._look.timeout.disconnect()
        workers, self._leaving = self._leaving.result(), None
        self._arrive(move, workers)

    def _arrive(self, move: Move, workers: Workers) -> None:
        old, before = self.window, self.services.assistants.current
        failed: AssistantError | None = None
        try:
            move.between()
            self.services = self._compose(move.name, workers)
        except AssistantError as error:
            failed = error
            self.services = self._back(before, workers)
        self.window = self._make()
        if not old.isMaximized():
            self.window.setGeometry(old.geometry())
        self._remember()
        self.show()
        old.hide()
        old.deleteLater()
        if failed:
            self.window.show_error(failed)
        else:
            move.then(self.window)

    def _back(self, before: str, workers: Workers) -> Services:
        """Those of the one before, or of the default one where that is gone: a rename or deletion was done already."""
        try:
            return self._compose(before, workers)
        except AssistantError:
            return self._compose(DEFAULT, workers)

    def _make(self) -> MainWindow:
        window = MainWindow(self.services, self._theme)
        window.moved.connect(self.move)
        return window

    def _remember(self) -> None:
        """The next start begins with this one."""
        assistants = self.services.assistants
        try:
            save_assistant(self.services.paths.state / FILE, assistants.base, assistants.current)
        except AssistantError as error:
            self.window.bottombar.show_notice(str(error), True)
