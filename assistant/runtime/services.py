"""The services behind the window and the command line: composed once, closed once."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from assistant.chat.distil import Distiller
from assistant.chat.forgotten_receipts import ReceiptsPlace
from assistant.chat.receipts import ReceiptStore
from assistant.core.cancel import CancelToken
from assistant.core.clock import Clock, fixed_clock, system_clock
from assistant.core.errors import AssistantError
from assistant.core.events import ChatsChanged, Event, EventSink, MemoryChanged, Notice
from assistant.core.values import Prompt, RecallAnswer, RecallQuery, Receipt
from assistant.engine.model_files import ModelFile, ModelStore
from assistant.recall.search import BUDGET_MS, Recall
from assistant.runtime.assistants import DEFAULT, AssistantService
from assistant.runtime.backup_forgetting import BackupPlace
from assistant.runtime.backups import BackupService
from assistant.runtime.distilling import DistilService
from assistant.runtime.embedding import WorkerEmbedder
from assistant.runtime.engine_client import WorkerEngine
from assistant.runtime.forget_places import Places as ForgetPlaces
from assistant.runtime.forgetting import ForgetService
from assistant.runtime.history import HistoryService
from assistant.runtime.idle import IdleScheduler
from assistant.runtime.importing import ImportService
from assistant.runtime.indexing import IndexService
from assistant.runtime.lanes import Lanes, once
from assistant.runtime.models import ModelService
from assistant.runtime.picture import PictureService
from assistant.runtime.privacy import PrivacyService
from assistant.runtime.prompts import PromptService
from assistant.runtime.restore_staging import earlier_workspaces, sweep_restores
from assistant.runtime.review import ReviewService
from assistant.runtime.self_test import SelfTestService
from assistant.runtime.temporary import TemporaryService
from assistant.runtime.tidying import TidyService
from assistant.runtime.told import ToldService
from assistant.runtime.turns import TurnService
from assistant.settings.paths import Paths, default_workspace, find_paths
from assistant.settings.schema import Settings
from assistant.settings.store import SettingsStore
from assistant.workspace.budget import Loaded, load_memory
from assistant.workspace.chat_store import ChatInfo, DeletedChat
from assistant.workspace.chats import Chat
from assistant.workspace.entries import parse_memory
from assistant.workspace.forgetting import FolderPlace, ForgetPlace
from assistant.workspace.identity import workspace_id
from assistant.workspace.memory import Written
from assistant.workspace.temporary import Chats, is_temporary
from assistant.workspace.workspace import Workspace

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 5.0  # how often it is seen whether the moment is quiet
EMBEDDING_MODEL = "multilingual-e5-small"


@dataclass(frozen=True, slots=True)
class Places:
    """What the person said about where things are (None: nothing), the time if it is set, and the assistant's name."""

    workspace: Path | None = None
    config: Path | None = None
    state: Path | None = None
    now: datetime | None = None
    assistant: str = ""


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes that serve any assistant: the model stays loaded while the person goes from one to another."""

    engine: WorkerEngine
    embedder: WorkerEmbedder | None

    def close(self) -> None:
        """End the processes."""
        self.engine.close()
        if self.embedder:
            self.embedder.close()


class Services:
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
        """assistants: None where the workspace stands alone. workers: of services that were closed by ``hand_over``."""
        self.settings = settings
        self.assistants = assistants or AssistantService(workspace.root, paths)
        self.paths = paths
        self.workspace = workspace
        self.lanes = Lanes()
        self._sinks: list[EventSink] = []
        self._deleted: list[DeletedChat] = []
        self.forget_places: list[ForgetPlace] = []  # of the slices that keep words outside the workspace's files
        self._values: Callable[[], Settings] = settings.load
        logs = paths.state / "logs"
        self._took_over = workers is not None
        self.engine = workers.engine if workers else WorkerEngine(logs / "engine.log")
        self.embedder = workers.embedder if workers else _embedder(settings.load(), paths, logs)
        self.recall = Recall(workspace, state, self.embedder, workspace.clock, recall_budget_ms, self._private)
        self.receipts = ReceiptStore(workspace.data / "receipts")
        self.model_service = ModelService(
            ModelStore(paths.models, shared=paths.shared_models), self.engine, self._values, self.lanes.chat, self._emit
        )
        self.indexing = IndexService(workspace, self.recall, self.lanes.index, self._emit)
        self.prompts = PromptService(workspace, self.recall, self.receipts, self.engine, self._values)
        distiller = Distiller(workspace, state, lambda: self._values().memory.writes == "ask")
        self.privacy = PrivacyService(workspace, self.recall, self._emit, self._index_soon)
        self.distilling = DistilService(
            workspace, distiller, self.prompts, self.model_service, self.lanes.chat, self._emit
        )
        self.review = ReviewService(workspace, self.recall, self.prompts, self.model_service, self._emit)
        self.forget_places.append(workspace.inbox)
        self.forget_places.append(workspace.drafts.forget_place())
        self.turns = TurnService(
            workspace, self.receipts, self.prompts, self.model_service, self.distilling, self.lanes, self._emit
        )
        self.temporary = TemporaryService(
            workspace, self.recall, self._values, self.model_service, self.distilling, self.lanes, self._emit
        )
        self.importing = ImportService(workspace, self._emit, self._index_soon)
        self.told = ToldService(workspace, self.receipts, self.prompts, self.temporary, self._emit)
        self.backups = BackupService(workspace, paths, assistants=self.assistants)
        places = ForgetPlaces(workspace, self.receipts, self.recall, paths.state, self.forget_places)
        self.forgetting = ForgetService(workspace, places, self.recall, workspace.declined, self.turns.end, self._emit)
        self.history = HistoryService(workspace, settings, self.lanes.keeping, self._emit)
        self.picture = PictureService(workspace, self.budget, self.prompts.counter)
        self.self_test = SelfTestService(workspace, self.recall, settings, self.lanes.index, self._emit)
        self.forget_places += [self.history.place, self.self_test.store, BackupPlace(self.backups, workspace.data.name)]
        self.forget_places.append(ReceiptsPlace(self.temporary.receipts, "temporary chats"))
        self.forget_places.append(FolderPlace("earlier workspaces", lambda: earlier_workspaces(paths)))
        self.tidying = TidyService(
            workspace, state, self._values, self.lanes.files, self._emit, lambda: len(self.review.conflicts())
        )
        self.idle = IdleScheduler(self._look, _LOOK_SECONDS)
        workspace.memory.subscribe(self._memory_changed)

    # --- life ----------------------------------------------------------------------------------------------------

    def subscribe(self, sink: EventSink) -> None:
        """Tell ``sink`` every event from now on, from whatever thread it happens on."""
        self._sinks.append(sink)

    def start(self) -> None:
        """Begin the background work of a window: recover replies, load the model, keep the index. Returns at once."""
        self.lanes.files.submit(self.recover)
        self.lanes.files.submit(self.distilling.find_due)
        if self._took_over:
            self.model_service.take_over()
        else:
            self.model_service.load_later()
        self.indexing.start()
        self.history.start()
        self.self_test.start()
        self.idle.start()

    def recover(self) -> None:
        """Mark replies that a crash cut off; finish what it left half answered."""
        for chat, _turn in self.workspace.chats.recover():
            self._emit(Notice(f"A reply in the chat {chat} was cut off when Keepsake ended; what there was is kept."))
            self._emit(ChatsChanged())
        self.review.recover()
        sweep_restores(self.paths)
        self.forgetting.finish_left()

    def close(self) -> None:
        """End all work, threads and worker processes."""
        self._end(Workers(self.engine, self.embedder).close)

    def hand_over(self) -> Future[Workers]:
        """End all work and threads, behind; the worker processes are free for another assistant's services then."""
        return once("handing-over", self._hand_over)

    def _hand_over(self) -> Workers:
        self._end(lambda: None)
        return Workers(self.engine, self.embedder)

    def _end(self, end_workers: Callable[[], None]) -> None:
        self._sinks.clear()
        self.idle.close()
        self.distilling.close()
        self.turns.close()
        self.temporary.turns.close()
        self.model_service.cancel()
        self.indexing.cancel()
        self.importing.cancel()
        self.backups.close()
        self.self_test.close()
        end_workers()
        self.lanes.close()
        try:
            self.purge_deleted()
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
        """As PrivacyService.set; what is just being distilled of it stops."""
        self.distilling.make_way(chat)
        entries = self.privacy.set(chat, private)
        if private:
            self.history.forget_chats([chat])
        return entries

    def delete_chat(self, chat: str) -> DeletedChat:
        """Stop what runs in it and put it away; restore_chat brings it back."""
        self.turns.end(chat)
        deleted = self.workspace.chats.delete(chat)
        self._deleted.append(deleted)
        self._emit(ChatsChanged())
        return deleted

    def purge_chat(self, chat: str) -> None:
        """Delete a chat for good: its files, its receipts, its lines in the day log, its place in the index."""
        self._purge([self.delete_chat(chat)])

    def purge_deleted(self) -> None:
        """End the chats that were deleted here and not brought back, and what a crash left of earlier days.

        Their words are then nowhere on disk. What another window has just deleted can still be brought back there.
        """
        yesterday = (self.workspace.clock() - timedelta(days=1)).isoformat()
        trash = self.workspace.chats.deleted()
        self._purge([each for each in trash if each in self._deleted or each.deleted < yesterday])

    def _purge(self, deleted: Sequence[DeletedChat]) -> None:
        for each in deleted:
            self.workspace.purge_chat(each)
            self.receipts.forget(each.id)
        self.history.forget_chats([each.id for each in deleted])
        if deleted:
            self.recall.sync(CancelToken(), lambda *_: None, vectors=False)

    def restore_chat(self, deleted: DeletedChat) -> None:
        self.workspace.chats.restore(deleted)
        self._emit(ChatsChanged())

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
        today = self.workspace.clock().date()
        document = self.workspace.memory.document() if text is None else parse_memory(text)
        count = self.prompts.counter().count
        return load_memory(document, self.prompts.limits(), today, count, self.prompts.rules().window)

    # --- models --------------------------------------------------------------------------------------------------

    def models(self) -> list[ModelFile]:
        return self.model_service.models()

    def add_model(self, path: Path) -> ModelFile:
        return self.model_service.add(path)

    def load_model(self, name: str) -> None:
        """Returns at once; ModelLoading, then ModelReady or ModelFailed follow."""
        self.model_service.load_later(name)

    # --- inside --------------------------------------------------------------------------------------------------

    def _private(self) -> bool:
        return self._values().memory.private_recall == "on"

    def _look(self) -> None:
        """A quiet moment, maybe: distil what is due; end an embedding worker that was not used for long."""
        self.distilling.look()
        if self.distilling.is_quiet:
            self.tidying.look()
        if self.embedder:
            self.embedder.retire(self._values().embedding.idle_minutes * 60.0)

    def _emit(self, event: Event) -> None:
        self.history.noted(event)
        self.self_test.noted(event)
        for sink in list(self._sinks):
            sink(event)

    def _memory_changed(self, file: str, actor: str, journal_id: str, summary: str) -> None:
        self._emit(MemoryChanged(file, actor, journal_id, summary))
        self._index_soon()

    def _index_soon(self) -> None:
        if self._sinks:
            self.indexing.sync_later()


def find_assistants(places: Places, environ: Mapping[str, str] = os.environ) -> AssistantService:
    """The assistants and which one is meant, without opening any. Raises ("assistant.missing")."""
    paths = find_paths(places.config, places.state, environ)
    base = default_workspace(SettingsStore(paths.settings_file).load(), places.workspace, environ)
    found = AssistantService(base, paths)
    root = found.root(places.assistant or environ.get("KEEPSAKE_ASSISTANT", ""))
    found.current = root.name if root != base else DEFAULT
    return found


def compose(
    places: Places,
    environ: Mapping[str, str] = os.environ,
    recall_budget_ms: float = BUDGET_MS,
    workers: Workers | None = None,
) -> Services:
    """The services for one workspace, which is made where it is missing. Raises AssistantError where it cannot be.

    recall_budget_ms: how long a search waits for meaning before it answers by words. workers: of other services, which
    hand them over before these start.
    """
    paths = find_paths(places.config, places.state, environ)
    settings = SettingsStore(paths.settings_file)
    assistants = find_assistants(places, environ)
    root, name = assistants.root(assistants.current), assistants.current
    is_new = not root.exists()
    ident = workspace_id(root, paths.data)
    state = paths.workspace_state(ident)
    clock: Clock = fixed_clock(places.now) if places.now else system_clock
    workspace = Workspace(root, paths.workspace_data(ident), state, clock, name)
    workspace.prepare()
    if is_new or name != DEFAULT:  # known by its inode from now on, or its journal would be lost should it be moved
        workspace_id(root, paths.data)
    return Services(settings, paths, workspace, state, recall_budget_ms, assistants, workers)


def _embedder(settings: Settings, paths: Paths, logs: Path) -> WorkerEmbedder | None:
    """The embedding model of the settings or the one that comes along; None where there is none (words alone then)."""
    wanted = Path(settings.embedding.model or EMBEDDING_MODEL).expanduser()
    places = (paths.models / wanted, paths.shared_models / wanted)  # an absolute ``wanted`` stays as it is
    folder = next((place for place in places if place.is_dir()), None)
    return WorkerEmbedder(folder, logs / "embedding.log") if folder else None


def free_bytes(path: Path) -> int:
    """Free space on the disk that holds ``path``. Raises AssistantError where the path is gone."""
    try:
        return shutil.disk_usage(path).free
    except OSError as error:
        message = f"{path} cannot be reached: {error.strerror}."
        raise AssistantError("workspace.gone", message, "Check that its disk is there.") from error
