"""The open chat and every reply under way: turns what the services say into what the transcript shows. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from assistant.core.errors import AssistantError
from assistant.core.events import PromptProgress, Recalled, TextArrived, ToolUsed, TurnFailed, TurnFinished, TurnSaved
from assistant.core.values import Receipt, StopReason
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.chat.branch import Branch
from assistant.ui.chat.kinds import Kind
from assistant.ui.chat.known_receipts import KnownReceipts
from assistant.ui.chat.shown import Phase, ShownTurn
from assistant.workspace.chats import Chat
from assistant.workspace.temporary import is_temporary

FRAME_MS = 40
"""New text is drawn at most this often (25 times a second); measured as smooth and cheap."""
MAX_TURNS = 50
"""Receipts are looked for at most for so many turns at a time."""
ROOT = 0
"""``after`` of a turn that starts the chat, where None would mean the newest turn."""


@dataclass
class _Newborn:
    """A new chat that is not on disk yet. stopped: Stop was pressed meanwhile."""

    stopped: bool = False


class ChatSession(QObject):
    """Which chat is open, which branch of it, and what streams in any chat."""

    chosen = Signal(str)
    """A chat was chosen ("": a new one); it is read now, ``opened`` follows."""
    opened = Signal()
    """Another chat or branch: show ``turns()`` from its end."""
    turns_changed = Signal()
    last_turn_changed = Signal()
    streaming_changed = Signal()
    draft_returned = Signal(str, str)
    """chat, text: the words were not saved; they go back into the composer."""
    failed = Signal(object)
    window_used = Signal(int, int)
    created = Signal(str)
    kind_changed = Signal()
    """The open chat became private, or ordinary again."""
    reply_ended = Signal(str, int, bool)
    """chat, turn, well: the reply is complete; not well when it was stopped or failed."""

    def __init__(self, services: Backend, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services, self._bridge = services, bridge
        self.chat_id = ""
        self._private = False  # the open chat, also before it has its file
        self._branch = Branch(self._known_of)
        self._newborn: _Newborn | None = None  # what was sent in the open chat makes its file now
        self._reading = False  # the transcript still shows the chat before
        self._live: dict[str, ShownTurn] = {}  # chat -> the reply under way
        self._failed_turns: dict[tuple[str, int], AssistantError] = {}
        self._receipts = KnownReceipts(services, bridge, self)
        self._receipts.found.connect(self._on_receipts_found)
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.setInterval(FRAME_MS)
        self._frame.timeout.connect(self.last_turn_changed)
        bridge.event_arrived.connect(self._on_event)

    # --- what is shown ---

    def turns(self) -> list[ShownTurn]:
        """The turns of the open branch, the one under way last."""
        live = self._live.get(self.chat_id)
        return [*self._branch.turns, live] if live is not None else list(self._branch.turns)

    def streaming(self, chat: str | None = None) -> bool:
        return (self.chat_id if chat is None else chat) in self._live

    def busy_chats(self) -> frozenset[str]:
        """Chats in which a reply is under way."""
        return frozenset(chat for chat in self._live if chat)

    def title(self) -> str:
        return self._branch.chat.title if self._branch.chat is not None else ""

    def kind(self) -> Kind:
        """What kind of chat is open."""
        if is_temporary(self.chat_id):
            return Kind.TEMPORARY
        return Kind.PRIVATE if self._private else Kind.ORDINARY

    def last_turn(self) -> ShownTurn | None:
        turns = self.turns()
        return turns[-1] if turns else None

    # --- what the person does ---

    def open_new(self, private: bool = False) -> None:
        """Start an empty chat; its file is made with the first message."""
        self.chat_id, self._reading = "", False
        self._leave_newborn()
        self._branch.clear()
        self._private = private
        self.chosen.emit("")
        self.opened.emit()
        self.streaming_changed.emit()

    def open(self, chat: str, leaf: int | None = None, quiet: bool = False) -> None:
        """Read a chat and show its newest branch, or the one that ends in ``leaf``. quiet: it may be gone."""
        self._frame.stop()  # what it would draw belongs to the chat that is left
        self.chat_id, self._reading = chat, True
        self._leave_newborn()
        self._branch.clear()
        self.chosen.emit(chat)
        self._bridge.run(
            self._services.lanes.files,
            self._services.read_chat,
            chat,
            done=lambda read: self._on_read(chat, read, leaf),
            failed=lambda error: self._on_not_read(chat, None if quiet else error),
        )

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

    def choose_branch(self, n: int) -> None:
        """Show the branch that goes through turn ``n``."""
        if self._branch.chat is not None and not self.streaming():
            self._show_branch(self._branch.chat.leaf_of(n))
            self.turns_changed.emit()
            self._ask_newest_receipts()

    def forget(self, chat: str) -> None:
        """A chat is gone: drop what is known of it."""
        self._live.pop(chat, None)
        if self.chat_id == chat:
            self.open_new()

    # --- sending ---

    def send_after(self, chat: str, text: str, after: int | None, keep_secrets: bool = False) -> None:
        """Send a message in any chat; ``after``: the turn it follows, ROOT for none, None for the newest."""
        self._live[chat] = ShownTurn(0, text, after=after or None, phase=Phase.SAVING)
        self._services.send(chat, text, after, keep_secrets=keep_secrets)
        self.turns_changed.emit()
        self.streaming_changed.emit()

    def _leave_newborn(self) -> None:
        """Its message goes on without being watched, and another chat can begin."""
        self._newborn = None
        self._live.pop("", None)

    def _on_created(self, newborn: _Newborn, chat: str, text: str, keep_secrets: bool) -> None:
        if newborn is self._newborn:  # the person is still there
            self._leave_newborn()
            self.chat_id = chat
            self.created.emit(chat)
        self.send_after(chat, text, None, keep_secrets)
        if newborn.stopped:
            self._services.stop(chat)

    def _on_not_created(self, newborn: _Newborn, text: str, error: BaseException) -> None:
        if newborn is self._newborn:
            self._leave_newborn()
        self.draft_returned.emit("", text)
        self.failed.emit(error)
        self.turns_changed.emit()
        self.streaming_changed.emit()

    # --- reading ---

    def _on_read(self, chat: str, read: Chat, leaf: int | None) -> None:
        if chat != self.chat_id:
            return
        self._branch.chat, self._reading = read, False
        self._private = read.private
        self._show_branch(leaf)
        self.opened.emit()
        self.streaming_changed.emit()
        self.ask_window()

    def _on_not_read(self, chat: str, error: BaseException | None) -> None:
        if error is not None:
            self.failed.emit(error)
        if chat == self.chat_id:
            self.open_new()

    def _show_branch(self, leaf: int | None) -> None:
        self._branch.show(leaf, self._live.get(self.chat_id))

    def _known_of(self, n: int) -> tuple[AssistantError | None, Receipt | None]:
        return self._failed_turns.get((self.chat_id, n)), self._receipts.get(self.chat_id, n)

    def _ask_newest_receipts(self) -> None:
        self.ask_receipts([turn.n for turn in self._branch.turns[-MAX_TURNS:]])

    def ask_receipts(self, numbers: Sequence[int]) -> None:
        """Find the receipts of these turns, those on screen: behind, newest first."""
        self._receipts.ask(self.chat_id, numbers)

    def keep_receipt(self, receipt: Receipt) -> None:
        """A receipt as it is on disk now."""
        self._receipts.put(receipt.chat, receipt.turn, receipt)
        self._on_receipts_found(receipt.chat, {receipt.turn: receipt})

    def _on_receipts_found(self, chat: str, found: dict[int, Receipt]) -> None:
        if chat == self.chat_id:
            self._branch.put_receipts(found)
            self.turns_changed.emit()

    def ask_window(self) -> None:
        """Ask how full the context window is; answered by ``window_used``."""
        chat = self.chat_id
        if chat and not self.streaming():
            answered = partial(self._on_window, chat)
            lane, use = self._services.lanes.chat, self._services.window_use
            self._bridge.run(lane, use, chat, done=answered, failed=lambda _: answered((0, 0)))

    def _on_window(self, chat: str, use: tuple[int, int]) -> None:
        if chat == self.chat_id:
            self.window_used.emit(*use)

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

    def _on_read_again(self, read: Chat) -> None:
        if read.id == self.chat_id:
            self._branch.read_again(read)
            self.turns_changed.emit()

    def _on_lost(self, error: BaseException) -> None:
        """A chat that was deleted meanwhile needs no words: it leaves the list."""
        if not (isinstance(error, AssistantError) and error.code == "chat.missing"):
            self.failed.emit(error)

    def refresh(self, count: int) -> None:
        """Read the open chat again when it has not ``count`` turns, or waits for a reply: others may write to it."""
        chat, known = self.chat_id, self._branch.chat
        if known is None or self._reading or self.streaming():
            return
        if len(known.turns) == count and not (known.turns and known.turns[-1].reply is None):
            return
        lane, read = self._services.lanes.files, self._services.read_chat
        self._bridge.run(lane, read, chat, done=self._on_refreshed, failed=self._on_lost)

    def reread(self) -> None:
        """Something that was said was forgotten, or came back: read the open chat again, with its receipts."""
        self._receipts.clear()
        self.refresh(-1)

    def _on_refreshed(self, read: Chat) -> None:
        known = self._branch.chat
        if known is None or read.id != self.chat_id or self.streaming():
            return
        shown, newest = self._branch.end(), max((turn.n for turn in known.turns), default=None)
        self._branch.chat = read
        self._show_branch(None if shown == newest else shown)
        self.turns_changed.emit()
        self._ask_newest_receipts()

    def marked(self, private: bool) -> None:
        """The open chat is private now, or is not."""
        if self._branch.chat is not None and self._private != private:
            self._private, self._branch.chat = private, replace(self._branch.chat, private=private)
            self.kind_changed.emit()

    def renamed(self, title: str) -> None:
        """The open chat has another title now."""
        if self._branch.chat is not None:
            self._branch.chat = replace(self._branch.chat, title=title)
