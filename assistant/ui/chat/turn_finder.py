"""Going to one turn of a chat, which may be another chat, another branch, or far up."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from assistant.ui.chat.session import ChatSession
from assistant.ui.chat.transcript import Transcript


class TurnFinder(QObject):
    """``go_to`` opens the chat, chooses a branch that goes through the turn, and brings it up."""

    went = Signal()

    def __init__(self, session: ChatSession, transcript: Transcript, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._transcript = session, transcript
        self._wanted: tuple[str, int] | None = None
        # After the page has shown the chat from its end, which it does on the same signal.
        session.opened.connect(self._on_opened, Qt.ConnectionType.QueuedConnection)

    def go_to(self, chat: str, turn: int) -> None:
        """turn 0: only the chat."""
        self.went.emit()
        self._wanted = (chat, turn) if turn else None
        if self._session.chat_id != chat:
            self._session.open(chat)
        else:
            self._on_opened()

    def _on_opened(self) -> None:
        if self._wanted is None or self._wanted[0] != self._session.chat_id:
            return
        turn = self._wanted[1]
        self._wanted = None
        if turn not in [each.n for each in self._session.turns()]:
            self._session.choose_branch(turn)
        QTimer.singleShot(0, self, lambda: self._show(turn))

    def _show(self, turn: int) -> None:
        place = next((i for i, each in enumerate(self._session.turns()) if each.n == turn), None)
        if place is None:
            return
        view = self._transcript.show_index(place)
        self._transcript.bring_up(view, view.rect())
        view.copy_user.setFocus(Qt.FocusReason.OtherFocusReason)
