"""The toast that takes a change of memory back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.memory.undo_choice import UndoChoice
from assistant.ui.theme import Theme
from assistant.ui.toast import Toasts


class UndoOffers(QObject):
    """``offer`` shows the toast; its button undoes the journal entry, or the batch, with that id."""

    def __init__(
        self,
        services: Backend,
        bridge: Bridge,
        theme: Theme,
        toasts: Toasts,
        failed: Callable[[BaseException], None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._toasts = toasts
        self.choice = UndoChoice(services, bridge, theme, parent.window, self)
        self.choice.done.connect(lambda _: toasts.show(tr("Taken back"), seconds=4))
        self.choice.failed.connect(failed)

    def offer(self, words: str, journal_id: str) -> None:
        """Without an id there is nothing to take back, and only the words are shown."""
        if journal_id:
            self._toasts.show(words, tr("Undo"), lambda: self.undo(journal_id))
        else:
            self._toasts.show(words)

    def undo(self, journal_id: str) -> None:
        """Take a change back now; where it clashes with a later one the person chooses."""
        self.choice.undo(journal_id)
