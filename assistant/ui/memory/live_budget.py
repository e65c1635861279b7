"""How much of its budget MEMORY.md takes, also while it is being typed: counted behind, the newest text last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge

if TYPE_CHECKING:
    from assistant.workspace.budget import Loaded

_PAUSE_MS = 300


class LiveBudget(QObject):
    """``counted(loaded, limits)``. On the recall lane, one count at a time: it may have to wait for the model."""

    counted = Signal(object, object)
    failed = Signal(object)

    def __init__(self, services: Backend, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._services, self._bridge = services, bridge
        self._text: str | None = None
        self._busy = self._again = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self._count)

    def count_soon(self, text: str | None) -> None:
        """Count once typing pauses; None: what is on disk."""
        self._text = text
        self._timer.start()

    def count(self, text: str | None) -> None:
        """Count now."""
        self._text = text
        self._timer.stop()
        self._count()

    def _count(self) -> None:
        if self._busy:
            self._again = True
            return
        self._busy, self._again = True, False
        services, text = self._services, self._text
        self._bridge.run(
            services.lanes.recall,
            lambda: (services.budget(text), services.settings.load().memory),
            done=self._on_counted,
            failed=self._on_failed,
        )

    def _on_counted(self, both: tuple[Loaded, Any]) -> None:
        self._busy = False
        if self._again:
            self._count()
        else:
            self.counted.emit(*both)

    def _on_failed(self, error: BaseException) -> None:
        self._busy = False
        self.failed.emit(error)
