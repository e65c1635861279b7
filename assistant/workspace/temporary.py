"""Temporary chats: whole conversations that are on no disk, and gone when they are closed."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from assistant.core.clock import Clock, stamp
from assistant.core.errors import AssistantError
from assistant.workspace.chat_calls import SavedCall
from assistant.workspace.chat_head import clean_title, printable
from assistant.workspace.chat_store import ChatInfo, ChatStore, TurnStart, safe_call
from assistant.workspace.chats import Chat, Turn
from assistant.workspace.redaction import redact
from assistant.workspace.thoughts import NO_THOUGHT, Thought, written_thought

PREFIX = ".temporary-"
"""Of their ids: no chat on disk can be called so, and ChatStore refuses it, so nothing is written by mistake."""


def is_temporary(ident: str) -> bool:
    """Whether an id is that of a temporary chat."""
    return ident.startswith(PREFIX)


@dataclass
class _Kept:
    chat: Chat
    memory: bool = True


class TemporaryChats:
    """What ChatStore does for a conversation, in this process's own memory alone. For any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._chats: dict[str, _Kept] = {}

    def create(self, title: str = "") -> str:
        """A new chat; returns its id."""
        ident, now = f"{PREFIX}{secrets.token_hex(8)}", stamp(self._clock)
        chat = replace(Chat.empty(), id=ident, title=clean_title(title), created=now, last_active=now, private=True)
        with self._lock:
            self._chats[ident] = _Kept(chat)
        return ident

    def drop(self, ident: str) -> None:
        """The chat is gone; one that is gone already is no error."""
        with self._lock:
            self._chats.pop(ident, None)

    def list(self) -> list[ChatInfo]:
        """All of them, the newest first."""
        with self._lock:
            chats = [kept.chat for kept in self._chats.values()]
        infos = [ChatInfo(c.id, c.title, c.created, c.last_active, len(c.turns), (), True, "") for c in chats]
        return sorted(infos, key=lambda info: info.created, reverse=True)

    def read(self, ident: str) -> Chat:
        """The whole chat. Raises ("chat.missing")."""
        with self._lock:
            return self._kept(ident).chat

    def is_private(self, ident: str) -> bool:
        """Always: nothing of it goes anywhere."""
        return True

    def uses_memory(self, ident: str) -> bool:
        """Whether the person lets memory be read for it. Raises ("chat.missing")."""
        with self._lock:
            return self._kept(ident).memory

    def use_memory(self, ident: str, wanted: bool) -> None:
        """Read memory for it from now on, or do not. Raises ("chat.missing")."""
        with self._lock:
            self._kept(ident).memory = wanted

    def rename(self, ident: str, title: str) -> None:
        """Give it another title. Raises ("chat.missing")."""
        with self._lock:
            kept = self._kept(ident)
            kept.chat = replace(kept.chat, title=clean_title(title))

    def begin_turn(self, ident: str, text: str, after: int | None = None, *, keep_secrets: bool = False) -> TurnStart:
        """As ChatStore.begin_turn: what looks like a secret is taken out, for the chat may be kept one day."""
        safe = printable(text)
        redacted = redact(safe)
        said, count = (safe, 0) if keep_secrets else (redacted.text, redacted.count)
        with self._lock:
            kept = self._kept(ident)
            last = kept.chat.last or 0
            if after is not None and not 0 <= after <= last:
                raise AssistantError("chat.turn", f"There is no turn #{after} in this chat.", "Reload the chat.")
            follows = (last if after is None else after) or None
            turn = Turn(last + 1, follows, stamp(self._clock), said)
            kept.chat = replace(kept.chat, turns=(*kept.chat.turns, turn), last_active=turn.at)
        return TurnStart(last + 1, said, count)

    def keep_partial(self, ident: str, n: int, text: str) -> None:
        """Nothing is kept for a crash: a crash ends it."""

    def add_call(self, ident: str, n: int, call: SavedCall) -> None:
        """A tool was used for turn ``n``. Raises ("chat.missing") or ("chat.turn")."""
        self._change(ident, n, lambda turn: replace(turn, calls=(*turn.calls, safe_call(call))))

    def end_turn(self, ident: str, n: int, text: str, mark: str = "", thought: Thought = NO_THOUGHT) -> None:
        """The reply to turn ``n``. Raises ("chat.missing") or ("chat.turn")."""
        reply, thought = redact(printable(text)).text, written_thought(thought)
        self._change(ident, n, lambda turn: replace(turn, reply=reply, mark=mark, thought=thought))

    def _change(self, ident: str, n: int, change: Callable[[Turn], Turn]) -> None:
        with self._lock:
            kept = self._kept(ident)
            if n not in kept.chat.by_number:
                raise AssistantError("chat.turn", f"There is no turn #{n} in this chat.", "Reload the chat.")
            kept.chat = replace(kept.chat, turns=tuple(change(t) if t.n == n else t for t in kept.chat.turns))

    def _kept(self, ident: str) -> _Kept:
        if ident not in self._chats:
            raise AssistantError("chat.missing", "The temporary chat is gone.", "Begin another one.")
        return self._chats[ident]


Chats = ChatStore | TemporaryChats
"""Where a turn is read from and written to."""
