"""The services behind the window and the command line: begun once, closed once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.events import ChatsChanged, Notice
from assistant.core.values import Prompt, RecallAnswer, RecallQuery, Receipt
from assistant.engine.model_files import ModelFile
from assistant.recall.search import BUDGET_MS
from assistant.runtime.assistants import AssistantService
from assistant.runtime.idle import IdleScheduler
from assistant.runtime.lanes import once
from assistant.runtime.parts import Parts
from assistant.runtime.restore_staging import sweep_restores
from assistant.runtime.turns import TurnService
from assistant.runtime.workers import Workers
from assistant.settings.paths import Paths
from assistant.settings.store import SettingsStore
from assistant.workspace.budget import Loaded
from assistant.workspace.chat_store import ChatInfo, DeletedChat
from assistant.workspace.chats import Chat
from assistant.workspace.memory import Written
from assistant.workspace.temporary import Chats, is_temporary
from assistant.workspace.workspace import Workspace

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 5.0  # how often it is seen whether the moment is quiet


class Services(Parts):
    """All that the window and the command line do goes through here. Blocking, unless the docstring says otherwise."""

    def __init__(
        self,
        settings: SettingsStore,
        paths: Paths,
        workspace: Workspace,
        state: Path,
        recall_budget_ms: float = BUDGET_MS,
        assistants: AssistantService | None = None,
        workers: Workers | None = None,
    ) -> None:
        """As Parts."""
        super().__init__(settings, paths, workspace, state, recall_budget_ms, assistants, workers)
        self.idle = IdleScheduler(self._look, _LOOK_SECONDS)

    # --- life ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin the background work of a window: recover replies, load the model, keep the index. Returns at once."""
        self.lanes.files.submit(self.recover)
        self.lanes.files.submit(self.distilling.find_due)
        self.lanes.keeping.submit(self.snapshots.drop_foreign)
        if self._took_over:
            self.model_service.take_over()
        else:
            self.model_service.load_later()
        for name in self._begun_downloads:
            self.downloads.start(name)
        self.indexing.start()
        self.history.start()
        self.self_test.start()
        self.idle.start()

    def recover(self) -> None:
        """Mark replies that a crash cut off; finish what it left half answered. What fails is told, and keeps nothing
        else from being finished.
        """
        for step in (
            self._recover_replies,
            self.review.recover,
            lambda: sweep_restores(self.paths),
            self.forgetting.finish_left,
        ):
            try:
                step()
            except AssistantError as error:
                self._emit(Notice(str(error), error=True))

    def _recover_replies(self) -> None:
        for chat, _turn in self.workspace.chats.recover():
            self._emit(Notice(f"A reply in the chat {chat} was cut off when Keepsake ended; what there was is kept."))
            self._emit(ChatsChanged())

    def close(self) -> None:
        """End all work, threads and worker processes."""
        self._end(Workers(self.engine, self.embedder).close)

    def hand_over(self) -> Future[Workers]:
        """End all work and threads, behind; the worker processes are free for another assistant's services then."""
        return once("handing-over", self._hand_over)

    def _hand_over(self) -> Workers:
        begun = self.downloads.running()
        self._end(lambda: None)
        return Workers(self.engine, self.embedder, begun)

    def _end(self, end_workers: Callable[[], None]) -> None:
        self._sinks.clear()
        self.indexing.cancel()
        self.idle.close()
        self.distilling.close()
        self.turns.close()
        self.temporary.turns.close()
        self.tuning.close()
        self.model_service.cancel()
        self.importing.cancel()
        self.backups.close()
        self.downloads.close()
        self.remote.close()
        self.self_test.close()
        self.snapshots.close()
        end_workers()
        self.lanes.close()
        try:
            self.deletion.purge_all()
        except AssistantError as error:  # the disk is away: the next window that closes does it
            _log.warning("deleted chats could not be ended: %s", error)
        self.forgetting.close()
        self.recall.close()
        self.workspace.close()

    # --- chats ---------------------------------------------------------------------------------------------------

    def list_chats(self) -> list[ChatInfo]:
        """All chats, the last active first; before them those that are temporary."""
        return [*self.temporary.chats.list(), *self.workspace.chats.list()]

    def read_chat(self, chat: str) -> Chat:
        return self._chats_of(chat).read(chat)

    def _chats_of(self, chat: str) -> Chats:
        return self.temporary.chats if is_temporary(chat) else self.workspace.chats

    def _turns_of(self, chat: str) -> TurnService:
        return self.temporary.turns if is_temporary(chat) else self.turns

    def new_chat(self, title: str = "", private: bool = False) -> str:
        chat = self.workspace.chats.create(title, private)
        self._emit(ChatsChanged())
        return chat

    def rename_chat(self, chat: str, title: str) -> None:
        self._chats_of(chat).rename(chat, title)
        self._emit(ChatsChanged())

    def keep_chat(self, chat: str, *, stop: bool = False) -> str:
        """Write a temporary chat down as an ordinary one; returns its id. stop: end the reply in it first."""
        return self.temporary.keep(chat, self.receipts, stop=stop)

    def set_private(self, chat: str, private: bool) -> int:
        """As PrivacyService.set; what is just being distilled of it stops, and so does a reply that a server is writing
        which private chats may not go to.
        """
        self.distilling.make_way(chat)
        if private and not self.prompts.may_tell_private:
            self.turns.end(chat)
        entries = self.privacy.set(chat, private)
        if private:
            self.history.forget_chats([chat])
        return entries

    def delete_chat(self, chat: str) -> DeletedChat:
        """Stop what runs in it and put it away; restore_chat brings it back."""
        return self.deletion.delete(chat)

    def restore_chat(self, deleted: DeletedChat) -> None:
        self.deletion.restore(deleted)

    def send(self, chat: str, text: str, after: int | None = None, *, keep_secrets: bool = False) -> None:
        """Returns at once; TurnSaved, Recalled, PromptProgress, TextArrived, TurnFinished or TurnFailed follow.

        after: the turn it follows, None for the newest, 0 for none. keep_secrets: the person chose, for this once, to
        keep what looks like a secret.
        """
        self._turns_of(chat).send(chat, text, after, keep_secrets=keep_secrets)

    def regenerate(self, chat: str, turn: int) -> None:
        """Returns at once; the same events follow for the new sibling."""
        self._turns_of(chat).regenerate(chat, turn)

    def stop(self, chat: str) -> None:
        self._turns_of(chat).stop(chat)

    def distil(self, chat: str) -> None:
        """Returns at once; DistillProgress and MemoryChanged follow."""
        self.distilling.soon(chat)

    def receipt(self, chat: str, turn: int) -> Receipt | None:
        return (self.temporary.receipts if is_temporary(chat) else self.receipts).get(chat, turn)

    def preview(self, chat: str, text: str) -> Prompt:
        """The exact prompt of the chat's next turn ("" as chat: of a new one)."""
        return self.told.preview(chat, text)

    def window_use(self, chat: str) -> tuple[int, int]:
        """Tokens that the chat's next prompt has before any message, and the window."""
        prompt = self.preview(chat, "")
        return prompt.tokens, prompt.window

    # --- memory --------------------------------------------------------------------------------------------------

    def search(self, query: RecallQuery) -> RecallAnswer:
        return self.recall.search(query)

    def remember(self, text: str, *, keep_secrets: bool = False) -> Written:
        """Write a fact to MEMORY.md. keep_secrets: the person chose, for this once, to keep what looks like one."""
        return self.workspace.memory.remember(text, keep_secrets=keep_secrets)

    def budget(self, text: str | None = None) -> Loaded:
        """What of MEMORY.md loads with the present settings and model. text: of it as if that were its text."""
        return self.prompts.budget(text)

    # --- models --------------------------------------------------------------------------------------------------

    def models(self) -> list[ModelFile]:
        return self.model_service.models()

    def add_model(self, path: Path) -> ModelFile:
        return self.model_service.add(path)

    def add_model_folder(self, folder: Path) -> list[ModelFile]:
        return self.model_service.add_folder(folder)

    def remove_model(self, name: str) -> ModelFile:
        """As ModelService.remove; nothing that was read with it is kept, and it is not loaded at the next start."""
        chosen = self._values().model.name
        if chosen == (going := self.model_service.store.find(name)).name:
            self.settings.update("model", name="")  # before another one is loaded in its place
        try:
            removed = self.model_service.remove(name)
        except AssistantError:
            if chosen == going.name:
                self.settings.update("model", name=chosen)
            raise
        self.snapshots.drop_models(self.models())
        return removed

    def choose_model(self, name: str) -> ModelFile:
        """Which model answers from the next load on, in the place of a server if one was used. Raises ``model.*``."""
        file = self.model_service.usable(name)
        self.settings.update("model", name=file.name)
        self.remote.turn_off()
        return file

    def load_model(self, name: str) -> None:
        """A model of this machine, in the place of a server if one was used. Returns at once; ModelLoading, then
        ModelReady or ModelFailed follow.
        """
        self.lanes.files.submit(self._load_here, name)

    def use_server(self, wanted: bool) -> None:
        """Ask the server that is set, to which the person just said yes, or no longer. Blocks for a moment; ModelReady
        or ModelFailed follow. Raises AssistantError.
        """
        if wanted:
            self.remote.turn_on()
        else:
            self.remote.turn_off()
        self.model_service.load_later()

    def _load_here(self, name: str) -> None:
        try:
            self.remote.turn_off()
        except AssistantError as error:  # the settings cannot be written: the server is asked on
            self._emit(Notice(str(error), error=True))
        else:
            self.model_service.load_later(name)

    def wake_model(self) -> None:
        """A message is being written: have a model that rests ready for it. Returns at once; events as load_model."""
        self.lanes.chat.submit(self.model_service.ensure)

    # --- inside --------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """A quiet moment, maybe: distil what is due; end workers that were not used for long.

        Whether files still tell when they change is seen each time.
        """
        self.indexing.tick()
        if self.distilling.is_quiet:
            self.snapshots.look()  # before distilling, which needs the model's cache for itself
        self.distilling.look()
        if self.distilling.is_quiet:
            self.tidying.look()
            self.model_service.rest(self._values().model.idle_minutes * 60.0)
        if self.embedder:
            self.embedder.retire(self._values().embedding.idle_minutes * 60.0)
