"""Making a chat private, or not: at once everywhere, not with the next sync."""

from __future__ import annotations

from collections.abc import Callable

from assistant.core.cancel import CancelToken
from assistant.core.events import ChatsChanged, EventSink
from assistant.recall.search import Recall
from assistant.workspace.workspace import Workspace


class PrivacyService:
    """Blocking; for the files lane or none."""

    def __init__(
        self,
        workspace: Workspace,
        recall: Recall,
        emit: EventSink,
        learn: Callable[[], None],
        drop_snapshots: Callable[[str], None] = lambda _: None,
    ) -> None:
        """learn: let what is found again be found by meaning, too, soon. drop_snapshots: those that tell of a chat."""
        self._drop_snapshots = drop_snapshots
        self._workspace = workspace
        self._learn = learn
        self._recall = recall
        self._emit = emit

    def set(self, chat: str, private: bool) -> int:
        """Mark a chat; returns how many entries of MEMORY.md came from it, which stay.

        Private: its words leave the index, the day logs and the snapshots before this returns. Not private: it is found
        again. Raises ("chat.missing"), ("recall.index").
        """
        self._workspace.chats.set_private(chat, private)
        if private:
            others = {info.title for info in self._workspace.chats.list() if info.id != chat}
            self._workspace.log.forget(self._workspace.chats.read(chat), others)
            self._drop_snapshots(chat)
        self._emit(ChatsChanged())
        self.apply_setting()
        return self.remembered(chat)

    def apply_setting(self) -> None:
        """Whether private chats are found was changed: the index holds what it may now, and no trace of the rest."""
        self._recall.sync(CancelToken(), vectors=False)
        self._learn()

    def remembered(self, chat: str) -> int:
        """Entries of MEMORY.md that were distilled from the chat."""
        entries = self._workspace.memory.document().entries
        return sum(entry.source.startswith(f"chat:{chat}#") for entry in entries)
