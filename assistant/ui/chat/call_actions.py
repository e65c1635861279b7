"""What is done about the calls on screen: a write is taken back, a place opened, a forgetting confirmed."""

from __future__ import annotations

from functools import partial

import shiboken6
from PySide6.QtCore import QObject, QTimer, Signal

from assistant.core.events import ForgetAsked, MemoryChanged, WorkspaceChanged
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.chat.calls import CallsView
from assistant.ui.chat.session import ChatSession

_PAUSE_MS = 200  # several changes of memory come at once


class CallActions(QObject):
    """``attach`` each CallsView that shows something; what can be taken back is asked again when memory changes."""

    turn_chosen = Signal(str, int)
    undo_asked = Signal(str)
    review_asked = Signal()
    forget_asked = Signal(str, object)
    failed = Signal(object)

    def __init__(self, services: Backend, bridge: Bridge, session: ChatSession, parent: QObject) -> None:
        super().__init__(parent)
        self._services, self._bridge, self._session = services, bridge, session
        self._known: list[CallsView] = []
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(_PAUSE_MS)
        self._again.timeout.connect(self.look_again)
        bridge.event_arrived.connect(self._on_event)

    def attach(self, view: CallsView) -> None:
        """Serve it for as long as it is there."""
        self._known = [each for each in self._known if shiboken6.isValid(each)]
        if not any(each is view for each in self._known):
            self._known.append(view)
            view.turn_chosen.connect(self.turn_chosen)
            view.undo_asked.connect(self.undo_asked)
            view.review_asked.connect(self.review_asked)
            view.forget_asked.connect(self.forget_asked)
        self._ask(view)

    def look_again(self) -> None:
        """Ask what of the writes on screen can be taken back now."""
        for view in self._known:
            if shiboken6.isValid(view):
                self._ask(view)

    def _ask(self, view: CallsView) -> None:
        ids = view.journal_ids()
        if ids:
            lane = self._services.lanes.recall  # a long journal may take a second
            self._bridge.run(lane, self._undoable, ids, done=partial(_show, view), failed=self.failed.emit)

    def _undoable(self, ids: list[str]) -> dict[str, bool]:
        found = (self._services.workspace.journal.get(ident) for ident in ids)
        return {entry.id: entry.can_undo for entry in found if entry is not None}

    def _on_event(self, event: object) -> None:
        match event:
            case ForgetAsked():
                if event.chat == self._session.chat_id:
                    self.forget_asked.emit(event.what, event.things)
            case MemoryChanged() | WorkspaceChanged():
                self._again.start()


def _show(view: CallsView, known: dict[str, bool]) -> None:
    if shiboken6.isValid(view):
        view.show_undoable(known)
