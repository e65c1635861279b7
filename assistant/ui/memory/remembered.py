"""Toasts for what the assistant writes into memory by itself: shown at once, with a way back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from assistant.core.events import InboxChanged, MemoryChanged
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message
from assistant.ui.memory_undo import UndoOffers
from assistant.ui.toast import Toast, Toasts
from assistant.workspace.entries import SEPARATOR

_OTHERS = ("upkeep", "assistant")
"""Actors that write memory without the person having done it just now; an import has a toast of its own."""
_REMEMBERED = "Remembered: "


class RememberedToasts(QObject):
    """Several changes in a row are joined in one toast, and undone together, the latest first.

    review: goes to where what waits for a yes is answered; reviewing: whether the person is there now. replying:
    whether a reply is being written before the person's eyes: what is noted for it stands above it, with a way back.
    """

    def __init__(
        self,
        services: Backend,
        bridge: Bridge,
        toasts: Toasts,
        offers: UndoOffers,
        review: Callable[[], object],
        reviewing: Callable[[], bool],
        replying: Callable[[], bool],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._services, self._bridge = services, bridge
        self._toasts, self._offers, self._review, self._reviewing = toasts, offers, review, reviewing
        self._replying = replying
        self._changes: dict[str, str] = {}
        self._toast: Toast | None = None
        self._waiting_toast: Toast | None = None
        self._waiting = 0
        bridge.event_arrived.connect(self._on_event)

    def _on_event(self, event: object) -> None:
        match event:
            case MemoryChanged(actor=actor, journal_id=ident, summary=summary) if actor in _OTHERS and ident:
                if actor != "assistant" or not self._replying():
                    self._show_change(ident, summary)
            case InboxChanged(waiting=waiting):
                if waiting > self._waiting and not self._reviewing():
                    self._show_waiting(waiting)
                self._waiting = waiting

    def _show_change(self, ident: str, summary: str) -> None:
        if self._toast is None or self._toast not in self._toasts.shown():
            self._changes = {}
        else:
            self._toast.end()
        self._changes[ident] = summary
        changes = dict(self._changes)
        self._toast = self._toasts.show(_words(list(changes.values())), tr("Undo"), lambda: self._undo(changes))

    def _undo(self, changes: dict[str, str]) -> None:
        """What changed as one goes back as one."""
        targets = self._services.review.undo_targets
        self._bridge.run(self._services.lanes.files, targets, list(changes), done=self._undo_each)

    def _undo_each(self, targets: list[str]) -> None:
        for ident in targets:
            self._offers.undo(ident)

    def _show_waiting(self, waiting: int) -> None:
        if self._waiting_toast is not None and self._waiting_toast in self._toasts.shown():
            self._waiting_toast.end()
        one = tr("The assistant would like to remember something")
        many = tr("The assistant would like to remember {n} things", n=waiting)
        self._waiting_toast = self._toasts.show(one if waiting == 1 else many, tr("Look"), self._review)


def _words(summaries: list[str]) -> str:
    if len(set(summaries)) == 1:  # files that changed as one say the same
        return translate_message(summaries[0])
    if all(summary.startswith(_REMEMBERED) for summary in summaries):
        texts = [text for each in summaries for text in each.removeprefix(_REMEMBERED).split(SEPARATOR)]
        return tr("{n} things remembered: {texts}", n=len(texts), texts=" · ".join(texts))
    return tr("{n} changes of your memory", n=len(summaries))
