"""The open chat with every reply under way: turns what the services say into what the transcript shows. No widgets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from assistant.core.events import PromptProgress, Recalled, TextArrived, ToolUsed, TurnFailed, TurnFinished, TurnSaved
from assistant.core.values import StopReason
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.chat.open_chat import OpenChat
from assistant.ui.chat.shown import Phase, ShownTurn

FRAME_MS = 40
"""New text is drawn at most this often (25 times a second); measured as smooth and cheap."""
ROOT = 0
"""``after`` of a turn that starts the chat, where None would mean the newest turn."""


@dataclass
class _Newborn:
    """A new chat that is not on disk yet. stopped: Stop was pressed meanwhile."""

    stopped: bool = False


class ChatSession(OpenChat):
    """The open chat, what is sent in it, and what streams in any chat."""

    last_turn_changed = Signal()
    draft_returned = Signal(str, str)
    """chat, text: the words were not saved; they go back into the composer."""
    created = Signal(str)
    reply_ended = Signal(str, int, bool)
    """chat, turn, well: the reply is complete; not well when it was stopped or failed."""

    def __init__(self, services: Backend, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(services, bridge, parent)
        self._newborn: _Newborn | None = None  # what was sent in the open chat makes its file now
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.setInterval(FRAME_MS)
        self._frame.timeout.connect(self.last_turn_changed)
        bridge.event_arrived.connect(self._on_event)

    # --- what the person does ---

    def send(self, text: str, keep_secrets: bool = False) -> None:
        """Send a message at the end of the open chat. keep_secrets: as for Services.send, by the person's choice."""
        if self.chat_id:
            self.send_after(self.chat_id, text, self._branch.end(), keep_secrets)
            return
        self._live[""] = ShownTurn(0, text, phase=Phase.SAVING)
        newborn = self._newborn = _Newborn()
        self.turns_changed.emit()
        self.streaming_changed.emit()
        self._bridge.run(
            self._services.lanes.files,
            partial(self._services.new_chat, private=True) if self._private else self._services.new_chat,
            done=lambda chat: self._on_created(newborn, chat, text, keep_secrets),
            failed=lambda error: self._on_not_created(newborn, text, error),
        )

    def regenerate(self, n: int) -> None:
        """Write the reply of turn ``n`` again, beside the old one."""
        turn = self._branch.find(n)
        if turn is None or self.streaming():
            return
        self._failed_turns.pop((self.chat_id, n), None)
        self._branch.cut_at(n)
        self._live[self.chat_id] = ShownTurn(0, turn.user, after=turn.after, siblings=turn.siblings, phase=Phase.SAVING)
        self._services.regenerate(self.chat_id, n)
        self.turns_changed.emit()
        self.streaming_changed.emit()

    def resend(self, n: int, text: str, keep_secrets: bool = False) -> None:
        """Send turn ``n`` with other words, beside the old one."""
        turn = self._branch.find(n)
        if turn is None or self.streaming():
            return
        self._branch.cut_at(n)
        self.send_after(self.chat_id, text, ROOT if turn.after is None else turn.after, keep_secrets)

    def stop(self) -> None:
        if self.chat_id:
            self._services.stop(self.chat_id)
        elif self._newborn is not None:
            self._newborn.stopped = True

    def forget(self, chat: str) -> None:
        """A chat is gone: drop what is known of it."""
        self._live.pop(chat, None)
        if self.chat_id == chat:
            self.open_new()

    def send_after(self, chat: str, text: str, after: int | None, keep_secrets: bool = False) -> None:
        """Send a message in any chat; ``after``: the turn it follows, ROOT for none, None for the newest."""
        self._live[chat] = ShownTurn(0, text, after=after or None, phase=Phase.SAVING)
        self._services.send(chat, text, after, keep_secrets=keep_secrets)
        self.turns_changed.emit()
        self.streaming_changed.emit()

    # --- a new chat ---

    def _leave(self) -> None:
        """A new chat that is not on disk yet goes on without being watched, and another one can begin."""
        self._frame.stop()  # what it would draw belongs to the chat that is left
        self._newborn = None
        self._live.pop("", None)

    def _on_created(self, newborn: _Newborn, chat: str, text: str, keep_secrets: bool) -> None:
        if newborn is self._newborn:  # the person is still there
            self._leave()
            self.chat_id = chat
            self.created.emit(chat)
        self.send_after(chat, text, None, keep_secrets)
        if newborn.stopped:
            self._services.stop(chat)

    def _on_not_created(self, newborn: _Newborn, text: str, error: BaseException) -> None:
        if newborn is self._newborn:
            self._leave()
        self.draft_returned.emit("", text)
        self.failed.emit(error)
        self.turns_changed.emit()
        self.streaming_changed.emit()

    # --- events ---

    def _on_event(self, event: object) -> None:
        match event:
            case TurnSaved():
                self._on_saved(event)
            case Recalled():
                self._update(event.chat, receipt=event.receipt, phase=Phase.WAITING)
            case PromptProgress():
                self._update(event.chat, phase=Phase.READING, read=event.read, total=event.total)
            case TextArrived():
                self._on_text(event)
            case ToolUsed():
                if (live := self._live.get(event.chat)) is not None:
                    self._update(event.chat, calls=(*live.calls, event.call))
            case TurnFinished():
                self._on_finished(event)
            case TurnFailed():
                self._on_failed(event)

    def _on_saved(self, event: TurnSaved) -> None:
        live = self._live.get(event.chat, ShownTurn(0, event.text))
        siblings = self._branch.siblings_after(event.after) if event.chat == self.chat_id else ()
        self._live[event.chat] = live.saved(event, siblings)
        self._show_live(event.chat)

    def _on_text(self, event: TextArrived) -> None:
        live = self._live.get(event.chat)
        if live is None:
            return
        if event.thought:
            self._live[event.chat] = replace(live, thought=live.thought + event.text, phase=Phase.WRITING)
        else:
            self._live[event.chat] = replace(live, reply=(live.reply or "") + event.text, phase=Phase.WRITING)
        if event.chat == self.chat_id and not self._reading and not self._frame.isActive():
            self._frame.start()

    def _update(self, chat: str, **values: object) -> None:
        live = self._live.get(chat)
        if live is not None:
            self._live[chat] = replace(live, **values)  # type: ignore[arg-type]  # fields of ShownTurn
            self._show_live(chat)

    def _show_live(self, chat: str) -> None:
        if chat == self.chat_id and not self._reading:
            self.last_turn_changed.emit()

    def _on_finished(self, event: TurnFinished) -> None:
        live = self._live.pop(event.chat, None)
        self._receipts.put(event.chat, event.turn, event.receipt)
        if live is None or event.chat != self.chat_id:
            self.streaming_changed.emit()
        else:
            self._settle(live.finished(event))
            if event.window:  # else the model was not asked
                self.window_used.emit(event.done.prompt_tokens + event.done.tokens, event.window)
        cut_off = event.done.stop in (StopReason.STOPPED, StopReason.INTERRUPTED)
        self.reply_ended.emit(event.chat, event.turn, not cut_off)

    def _on_failed(self, event: TurnFailed) -> None:
        live = self._live.pop(event.chat, None)
        here = event.chat == self.chat_id
        if live is not None and live.n == 0:
            self._on_not_saved(event, live)
        else:
            self._failed_turns[(event.chat, event.turn)] = event.error
            if live is not None and here:
                self._settle(live.failed(event))
            elif here:
                self.failed.emit(event.error)
        self.streaming_changed.emit()
        self.reply_ended.emit(event.chat, event.turn, False)

    def _on_not_saved(self, event: TurnFailed, live: ShownTurn) -> None:
        """New words go back into the composer, and what was to make way for them or for another reply stays."""
        if event.turn <= 0:
            self.draft_returned.emit(event.chat, live.user)
        self.failed.emit(event.error)
        if event.chat == self.chat_id:
            self._branch.uncut()
            self.turns_changed.emit()

    def _settle(self, turn: ShownTurn) -> None:
        """A turn came to rest: it joins the branch and the chat as read, at a cost that does not grow with the chat."""
        self._frame.stop()
        self._branch.join(turn)
        if self._branch.chat is None:
            lane, read = self._services.lanes.files, self._services.read_chat
            self._bridge.run(lane, read, self.chat_id, done=self._on_read_again, failed=self._on_lost)
        self.turns_changed.emit()
        self.streaming_changed.emit()
