"""Deleting chats: put away first, so that it can be undone, and ended for good later without a trace of their words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from assistant.chat.receipts import ReceiptStore
from assistant.core.cancel import CancelToken
from assistant.core.events import ChatsChanged, EventSink
from assistant.recall.search import Recall
from assistant.runtime.history import HistoryService
from assistant.workspace.chat_store import DeletedChat
from assistant.workspace.workspace import Workspace


class DeletionService:
    """All of it blocks. end_turns: stops what runs in a chat and waits until it is on disk. drop_snapshots: those of a
    chat, and (True) those of other chats that were told of it.
    """

    def __init__(
        self,
        workspace: Workspace,
        receipts: ReceiptStore,
        history: HistoryService,
        recall: Recall,
        end_turns: Callable[[str], None],
        emit: EventSink,
        drop_snapshots: Callable[[str, bool], None] = lambda _chat, _told: None,
    ) -> None:
        self._drop_snapshots = drop_snapshots
        self._workspace = workspace
        self._receipts = receipts
        self._history = history
        self._recall = recall
        self._end_turns = end_turns
        self._emit = emit
        self._deleted: list[DeletedChat] = []

    def delete(self, chat: str) -> DeletedChat:
        """Stop what runs in it and put it away; ``restore`` brings it back."""
        self._end_turns(chat)
        deleted = self._workspace.chats.delete(chat)
        self._drop_snapshots(chat, False)  # brought back, it is read once more
        self._deleted.append(deleted)
        self._emit(ChatsChanged())
        return deleted

    def restore(self, deleted: DeletedChat) -> None:
        """Bring it back."""
        self._workspace.chats.restore(deleted)
        self._emit(ChatsChanged())

    def purge(self, chat: str) -> None:
        """Delete a chat for good: its files, its receipts, its lines in the day log, its place in the index."""
        self._purge([self.delete(chat)])

    def purge_all(self) -> None:
        """End the chats that were deleted here and not brought back, and what a crash left of earlier days.

        Their words are then nowhere on disk. What another window has just deleted can still be brought back there.
        """
        yesterday = (self._workspace.clock() - timedelta(days=1)).isoformat()
        trash = self._workspace.chats.deleted()
        self._purge([each for each in trash if each in self._deleted or each.deleted < yesterday])

    def _purge(self, deleted: Sequence[DeletedChat]) -> None:
        for each in deleted:
            self._workspace.purge_chat(each)
            self._drop_snapshots(each.id, self._receipts.told_of(each.id))
            self._receipts.forget(each.id)
        self._history.forget_chats([each.id for each in deleted])
        if deleted:
            self._recall.sync(CancelToken(), lambda *_: None, vectors=False)
