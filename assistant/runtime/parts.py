"""What the services are made of: each part once, in the order in which they need each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assistant.chat.distil import Distiller
from assistant.chat.forgotten_receipts import ReceiptsPlace
from assistant.chat.receipts import ReceiptStore
from assistant.core.events import Event, EventSink, MemoryChanged
from assistant.engine.model_files import ModelStore
from assistant.engine.tuning import TuningStore
from assistant.recall.search import Recall
from assistant.runtime.assistants import AssistantService
from assistant.runtime.backup_forgetting import BackupPlace
from assistant.runtime.backups import BackupService
from assistant.runtime.deletion import DeletionService
from assistant.runtime.distilling import DistilService
from assistant.runtime.downloads import DownloadService
from assistant.runtime.engines import EngineSwitch
from assistant.runtime.forget_places import Places as ForgetPlaces
from assistant.runtime.forgetting import ForgetService
from assistant.runtime.history import HistoryService
from assistant.runtime.importing import ImportService
from assistant.runtime.indexing import IndexService
from assistant.runtime.lanes import Lanes
from assistant.runtime.model_facts import ModelFacts
from assistant.runtime.models import ModelService
from assistant.runtime.picture import PictureService
from assistant.runtime.privacy import PrivacyService
from assistant.runtime.prompts import PromptService
from assistant.runtime.remote import RemoteService
from assistant.runtime.remote_engine import RemoteEngine
from assistant.runtime.restore_staging import earlier_workspaces
from assistant.runtime.review import ReviewService
from assistant.runtime.self_test import SelfTestService
from assistant.runtime.snapshots import SnapshotService
from assistant.runtime.temporary import TemporaryService
from assistant.runtime.tidying import TidyService
from assistant.runtime.told import ToldService
from assistant.runtime.tuning import TuningService
from assistant.runtime.turns import TurnService
from assistant.runtime.workers import Workers, start_workers
from assistant.settings.paths import Paths
from assistant.settings.schema import Settings
from assistant.settings.store import SettingsStore
from assistant.workspace.forgetting import FolderPlace, ForgetPlace
from assistant.workspace.workspace import Workspace


class Parts:
    """The parts of one workspace's services, and who listens to them. None of them runs yet."""

    def __init__(
        self,
        settings: SettingsStore,
        paths: Paths,
        workspace: Workspace,
        state: Path,
        recall_budget_ms: float,
        assistants: AssistantService | None,
        workers: Workers | None,
    ) -> None:
        """assistants: None where the workspace stands alone. workers: of services that were closed by ``hand_over``.

        state: the workspace's folder for derived data; recall_budget_ms: see Recall.
        """
        self.settings = settings
        self.assistants = assistants or AssistantService(workspace.root, paths)
        self.paths = paths
        self.workspace = workspace
        self.lanes = Lanes()
        self._sinks: list[EventSink] = []
        self._values: Callable[[], Settings] = settings.load
        self._took_over = workers is not None
        self._begun_downloads = workers.downloads if workers else ()
        workers = workers or start_workers(settings.load(), paths)
        self.engine, self.embedder = workers.engine, workers.embedder
        self.recall = Recall(workspace, state, self.embedder, workspace.clock, recall_budget_ms, self._private)
        self._make_talking(state)
        self._make_remembering(state)
        self._make_keeping()
        self._make_forgetting()
        workspace.memory.subscribe(self._memory_changed)

    def _make_talking(self, state: Path) -> None:
        """Models, prompts, turns, and what leaves the window."""
        workspace, lanes, emit = self.workspace, self.lanes, self._emit
        store = ModelStore(self.paths.models, shared=self.paths.shared_models)
        tunings = TuningStore(self.paths.state)
        self.receipts = ReceiptStore(workspace.data / "receipts")
        switch = EngineSwitch(self.engine, RemoteEngine(lambda origin: self.remote.key(origin)))
        self.remote = RemoteService(self.settings, switch)
        self.model_service = models = ModelService(store, switch, self._values, lanes.chat, emit, tunings, self.remote)
        self.tuning = TuningService(models, self.engine, tunings, workspace.clock)
        self.downloads = DownloadService(store, self.settings, emit)
        self.model_facts = ModelFacts(store, self.engine, models.engine_settings, self.downloads)
        self.prompts = PromptService(workspace, self.recall, self.receipts, switch, self._values)
        distiller = Distiller(workspace, state, lambda: self._values().memory.writes == "ask")
        self.distilling = DistilService(workspace, distiller, self.prompts, models, lanes.chat, emit)
        self.turns = TurnService(workspace, self.receipts, self.prompts, models, self.distilling, lanes, emit)
        self.temporary = TemporaryService(workspace, self.recall, self._values, models, self.distilling, lanes, emit)
        self.snapshots = SnapshotService(workspace, self.engine, state / "snapshots", self._values, lanes.chat)
        self.told = ToldService(workspace, self.receipts, self.prompts, self.temporary, emit)

    def _make_remembering(self, state: Path) -> None:
        """The index, and what is looked at, asked about and tidied in memory."""
        workspace, lanes, emit = self.workspace, self.lanes, self._emit
        self.indexing = IndexService(workspace, self.recall, lanes.index, lanes.keeping, emit)
        self.privacy = PrivacyService(workspace, self.recall, emit, self._index_soon, self._drop_traces)
        self.review = ReviewService(workspace, self.recall, self.prompts, self.model_service, emit)
        self.importing = ImportService(workspace, emit, self._index_soon)
        self.picture = PictureService(workspace, self.prompts.budget, self.prompts.counter)
        self.self_test = SelfTestService(workspace, self.recall, self.settings, lanes.index, emit)
        self.tidying = TidyService(
            workspace, state, self._values, self.prompts.limits, lanes.files, emit, self.review.conflict_words
        )

    def _make_keeping(self) -> None:
        """Backups and the git history."""
        self.backups = BackupService(self.workspace, self.paths, assistants=self.assistants)
        self.history = HistoryService(self.workspace, self.settings, self.lanes.keeping, self._emit)

    def _make_forgetting(self) -> None:
        """Forgetting and deleting, which have to reach all the others."""
        workspace, paths, emit = self.workspace, self.paths, self._emit
        self.forget_places: list[ForgetPlace] = [  # of the parts that keep words outside the workspace's files
            workspace.inbox,
            workspace.drafts.forget_place(),
            self.history.place,
            self.self_test.store,
            BackupPlace(self.backups, workspace.data.name),
            ReceiptsPlace(self.temporary.receipts, "temporary chats"),
            FolderPlace("earlier workspaces", lambda: earlier_workspaces(paths)),
        ]
        places = ForgetPlaces(workspace, self.receipts, self.recall, paths.state, self.forget_places)
        end = self.turns.end
        self.forgetting = ForgetService(workspace, places, self.recall, workspace.declined, end, emit)
        self.deletion = DeletionService(
            workspace, self.receipts, self.history, self.recall, end, emit, self.snapshots.drop_traces
        )

    # --- who listens ---------------------------------------------------------------------------------------------

    def subscribe(self, sink: EventSink) -> None:
        """Tell ``sink`` every event from now on, from whatever thread it happens on."""
        self._sinks.append(sink)

    def _emit(self, event: Event) -> None:
        self.history.noted(event)
        self.self_test.noted(event)
        self.snapshots.noted(event)
        for sink in list(self._sinks):
            sink(event)

    def _memory_changed(self, file: str, actor: str, journal_id: str, summary: str) -> None:
        self._emit(MemoryChanged(file, actor, journal_id, summary))
        self._index_soon()

    def _index_soon(self) -> None:
        if self._sinks:
            self.indexing.sync_later()

    def _drop_traces(self, chat: str) -> None:
        self.snapshots.drop_traces(chat, self.receipts.told_of(chat))

    def _private(self) -> bool:
        return self._values().memory.private_recall == "on"
