"""The open chat: read from disk behind, one branch of it shown, with what is known of its turns. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from assistant.core.errors import AssistantError
from assistant.core.values import Receipt
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.chat.branch import Branch
from assistant.ui.chat.kinds import Kind
from assistant.ui.chat.known_receipts import KnownReceipts
from assistant.ui.chat.shown import ShownTurn
from assistant.workspace.chats import Chat
from assistant.workspace.temporary import is_temporary

MAX_TURNS = 50
"""Receipts are looked for at most for so many turns at a time."""


class OpenChat(QObject):
    """Which chat is open, and which branch of it. The replies under way are ChatSession's to change."""

    chosen = Signal(str)
    """A chat was chosen ("": a new one); it is read now, ``opened`` follows."""
    opened = Signal()
    """Another chat or branch: show ``turns()`` from its end."""
    turns_changed = Signal()
    streaming_changed = Signal()
    failed = Signal(object)
    window_used = Signal(int, int)
    kind_changed = Signal()
    """The open chat became private, or ordinary again."""

    def __init__(self, services: Backend, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services, self._bridge = services, bridge
        self.chat_id = ""
        self._private = False  # the open chat, also before it has its file
        self._branch = Branch(self._known_of)
        self._reading = False  # the transcript still shows the chat before
        self._live: dict[str, ShownTurn] = {}  # chat -> the reply under way
        self._failed_turns: dict[tuple[str, int], AssistantError] = {}
        self._receipts = KnownReceipts(services, bridge, self)
        self._receipts.found.connect(self._on_receipts_found)

    def _leave(self) -> None:
        """Another chat is opened now."""

    # --- what is shown ---

    def turns(self) -> list[ShownTurn]:
        """The turns of the open branch, the one under way last."""
        live = self._live.get(self.chat_id)
        return [*self._branch.turns, live] if live is not None else list(self._branch.turns)

    def streaming(self, chat: str | None = None) -> bool:
        return (self.chat_id if chat is None else chat) in self._live

    def answering(self) -> bool:
        """Whether the reply that is made now is the open chat's: one is made at a time, the others wait for it."""
        live = self._live.get(self.chat_id)
        return live is not None and live.receipt is not None

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

    # --- which chat, and which branch ---

    def open_new(self, private: bool = False) -> None:
        """Start an empty chat; its file is made with the first message."""
        self._leave()
        self.chat_id, self._reading = "", False
        self._branch.clear()
        self._private = private
        self.chosen.emit("")
        self.opened.emit()
        self.streaming_changed.emit()

    def open(self, chat: str, leaf: int | None = None, quiet: bool = False) -> None:
        """Read a chat and show its newest branch, or the one that ends in ``leaf``. quiet: it may be gone."""
        self._leave()
        self.chat_id, self._reading = chat, True
        self._branch.clear()
        self.chosen.emit(chat)
        self._bridge.run(
            self._services.lanes.files,
            self._services.read_chat,
            chat,
            done=lambda read: self._on_read(chat, read, leaf),
            failed=lambda error: self._on_not_read(chat, None if quiet else error),
        )

    def choose_branch(self, n: int) -> None:
        """Show the branch that goes through turn ``n``."""
        if self._branch.chat is not None and not self.streaming():
            self._show_branch(self._branch.chat.leaf_of(n))
            self.turns_changed.emit()
            self._ask_newest_receipts()

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

    def _on_read_again(self, read: Chat) -> None:
        if read.id == self.chat_id:
            self._branch.read_again(read)
            self.turns_changed.emit()

    def _on_lost(self, error: BaseException) -> None:
        """A chat that was deleted meanwhile needs no words: it leaves the list."""
        if not (isinstance(error, AssistantError) and error.code == "chat.missing"):
            self.failed.emit(error)

    def marked(self, private: bool) -> None:
        """The open chat is private now, or is not."""
        if self._branch.chat is not None and self._private != private:
            self._private, self._branch.chat = private, replace(self._branch.chat, private=private)
            self.kind_changed.emit()

    def renamed(self, title: str) -> None:
        """The open chat has another title now."""
        if self._branch.chat is not None:
            self._branch.chat = replace(self._branch.chat, title=title)

    # --- receipts, and the window ---

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
