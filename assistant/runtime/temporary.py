"""Temporary chats as a service: turns of which nothing is ever on disk, unless the person keeps the chat."""

from __future__ import annotations

from collections.abc import Callable

from assistant.chat.receipts import MemoryReceipts, ReceiptStore
from assistant.core.errors import AssistantError
from assistant.core.events import ChatsChanged, EventSink, Notice
from assistant.core.values import Prompt
from assistant.recall.search import Recall
from assistant.runtime.distilling import DistilService
from assistant.runtime.lanes import Lanes
from assistant.runtime.models import ModelService
from assistant.runtime.prompts import PromptService, TurnPlan
from assistant.runtime.turns import TurnService
from assistant.settings.schema import Settings
from assistant.workspace.temporary import TemporaryChats
from assistant.workspace.workspace import Workspace


class TemporaryService:
    """The same turns as in other chats; memory is read for them unless the person says no, and never written."""

    def __init__(
        self,
        workspace: Workspace,
        recall: Recall,
        settings: Callable[[], Settings],
        models: ModelService,
        distilling: DistilService,
        lanes: Lanes,
        emit: EventSink,
    ) -> None:
        self._workspace = workspace
        self._emit = emit
        self.chats = TemporaryChats(workspace.clock)
        self.receipts = MemoryReceipts()
        self.prompts = PromptService(workspace, recall, self.receipts, models.engine, settings, keeps=False)
        self.turns = TurnService(
            workspace, self.receipts, self.prompts, models, distilling, lanes, emit, self.chats, self._plan
        )

    def create(self) -> str:
        """A new temporary chat; returns its id. Quick: for any thread."""
        chat = self.chats.create()
        self._emit(ChatsChanged())
        return chat

    def preview(self, chat: str, text: str, after: int | None = None) -> Prompt:
        """The exact prompt of the chat's next turn."""
        return self.prompts.preview(self.chats.read(chat), text, after, self._plan(chat))

    def renew(self, chat: str) -> None:
        """Take the chat's fixed row as memory is now."""
        self.prompts.renew(self.chats.read(chat), self._plan(chat))

    def use_memory(self, chat: str, wanted: bool) -> None:
        """Read memory for the chat's next turns, or do not. Raises ("chat.missing")."""
        if self.chats.uses_memory(chat) != wanted:
            self.chats.use_memory(chat, wanted)
            self.receipts.renew(chat)

    def close(self, chat: str) -> None:
        """Stop what runs in it; then it is gone. Blocks, on the files lane or none."""
        self.turns.end(chat)
        self._drop(chat)

    def uses_memory(self, chat: str) -> bool:
        """Whether memory is read for the chat; True for one that is gone."""
        return self._plan(chat).memory

    def keep(self, chat: str, receipts: ReceiptStore, *, stop: bool = False) -> str:
        """Write it down as an ordinary chat, whose id is returned; the temporary one is gone. stop: what runs in it.

        Raises ("chat.busy") while a reply is being written, and what writing a chat raises: it is still there then.
        """
        if stop:
            self.turns.end(chat)
        if self.turns.busy(chat):
            raise AssistantError("chat.busy", "A reply is still being written.", "Wait for it, or stop it first.")
        kept = self._workspace.chats.adopt(self.chats.read(chat))
        try:
            receipts.adopt(kept, self.receipts.lines(chat))
        except AssistantError as error:  # the words are safe; what they were told is not worth a second copy of them
            self._emit(Notice(str(error), error=True))
        self._drop(chat)
        return kept

    def _drop(self, chat: str) -> None:
        self.chats.drop(chat)
        self.receipts.forget(chat)
        self._emit(ChatsChanged())

    def _plan(self, chat: str) -> TurnPlan:
        known = any(info.id == chat for info in self.chats.list())
        return TurnPlan(memory=not known or self.chats.uses_memory(chat))
