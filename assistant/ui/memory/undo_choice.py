"""An undo that clashes with a later change: both texts side by side, and what the person chooses is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.theme import Theme
from assistant.workspace.memory_values import Conflict, Saved

if TYPE_CHECKING:
    from assistant.ui.memory.conflicts import ConflictDialog


class UndoChoice(QObject):
    """``undo`` takes a change back. ``done``: what undoes that again; ``failed``: why it could not be."""

    done = Signal(str)
    failed = Signal(object)

    def __init__(
        self, services: Backend, bridge: Bridge, theme: Theme, window: Callable[[], QWidget], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._services, self._bridge, self._theme, self._window = services, bridge, theme, window
        self.dialog: ConflictDialog | None = None
        self._asked_for = ""
        self._goes_on = False

    def undo(self, ident: str) -> None:
        """Take back a change or a batch, by its id in the journal. Of a batch each file that clashes is asked about."""
        self._asked_for, self._goes_on = ident, False
        undo = self._services.workspace.memory.undo
        self._bridge.run(self._services.lanes.files, undo, ident, done=self._on_result, failed=self.failed.emit)

    def _on_result(self, result: Saved | Conflict) -> None:
        if isinstance(result, Conflict):
            self._ask(result)
        elif self._goes_on:  # that file is as it shall be; the others of the batch wait
            self.undo(self._asked_for)
        else:
            self.done.emit(result.journal_id)

    def _ask(self, conflict: Conflict) -> None:
        from assistant.ui.memory.conflicts import ConflictDialog, undo_words  # not when the window starts

        words = undo_words(conflict.file)
        dialog = ConflictDialog(
            conflict.file, conflict.mine, conflict.theirs, conflict.merged, self._theme, self._window(), words
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(lambda choice: self._write(conflict, choice, dialog.text_of(choice)))
        self.dialog = dialog
        dialog.open()

    def _write(self, conflict: Conflict, choice: str, text: str) -> None:
        if choice == "theirs":
            return
        self._goes_on = choice == "mine" and self._asked_for.startswith("batch-")
        save, file, sha = self._services.workspace.memory.save, conflict.file, conflict.theirs_sha
        work = self._services.lanes.files
        self._bridge.run(work, save, file, text, sha, done=self._on_result, failed=self.failed.emit)
