"""The toast that takes a change of memory back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from assistant.core.errors import AssistantError
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.toast import Toasts
from assistant.workspace.memory_values import Conflict


class UndoOffers(QObject):
    """``offer`` shows the toast; its button undoes the journal entry, or the batch, with that id."""

    def __init__(
        self,
        services: Backend,
        bridge: Bridge,
        toasts: Toasts,
        failed: Callable[[BaseException], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._services, self._bridge, self._toasts, self._failed = services, bridge, toasts, failed

    def offer(self, words: str, journal_id: str) -> None:
        """Without an id there is nothing to take back, and only the words are shown."""
        if journal_id:
            self._toasts.show(words, tr("Undo"), lambda: self.undo(journal_id))
        else:
            self._toasts.show(words)

    def undo(self, journal_id: str) -> None:
        """Take a change back now."""
        undo = self._services.workspace.memory.undo
        self._bridge.run(self._services.lanes.files, undo, journal_id, done=self._on_undone, failed=self._failed)

    def _on_undone(self, result: object) -> None:
        if isinstance(result, Conflict):
            message = tr("The same lines changed again later, so this change cannot be taken back alone.")
            self._failed(AssistantError("memory.undo", message, tr("Undo the later change first.")))
        else:
            self._toasts.show(tr("Taken back"), seconds=4)
