"""Snapshots of what the model has read: written in quiet moments and at the end, deleted with what they are of."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import TimeoutError as NotInTime
from pathlib import Path
from typing import Protocol

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import Event, ModelLoading, TurnFailed, TurnFinished, TurnSaved
from assistant.engine import snapshots
from assistant.engine.model_files import ModelFile
from assistant.engine.snapshots import Place
from assistant.runtime.lanes import Lane, once
from assistant.settings.schema import Settings
from assistant.workspace.disk import as_error
from assistant.workspace.temporary import is_temporary
from assistant.workspace.workspace import Workspace

_END_SECONDS = 1.5
"""What the end of the app may wait for: some 100 ms for a usual chat, more on a slow disk."""
_MEGABYTE = 1_000_000
_log = logging.getLogger(__name__)


class Keeper(Protocol):
    """What is needed of the engine: runtime.engine_client.WorkerEngine."""

    def keep_at(self, place: Callable[[], Place | None]) -> None: ...
    def keep(self, conversations: Sequence[str], cancel: CancelToken) -> None: ...


class SnapshotService:
    """For any thread. Of private and temporary chats nothing is ever written."""

    def __init__(
        self, workspace: Workspace, engine: Keeper, folder: Path, settings: Callable[[], Settings], lane: Lane
    ) -> None:
        self._workspace = workspace
        self._engine = engine
        self._settings = settings
        self._lane = lane
        self._lock = threading.Lock()
        self._due: set[str] = set()
        self._queued = False
        self._token = CancelToken()
        self.folder = folder
        engine.keep_at(self.place)

    def place(self) -> Place | None:
        """Where they are by the settings now; None where none are wanted."""
        megabytes = self._settings().model.snapshot_mb
        return Place(self.folder, megabytes * _MEGABYTE) if megabytes else None

    # --- when they are written -----------------------------------------------------------------------------------

    def noted(self, event: Event) -> None:
        """A turn goes first, and leaves something to keep; so does a model before another one takes its place."""
        if isinstance(event, TurnSaved | TurnFinished | TurnFailed):
            with self._lock:
                if isinstance(event, TurnSaved):
                    self._token.cancel()
                if not is_temporary(event.chat):
                    self._due.add(event.chat)
        elif isinstance(event, ModelLoading) and not event.fraction:
            self._keep(CancelToken())

    def look(self) -> None:
        """In a quiet moment: write what is due, behind the turns that wait. Returns at once."""
        with self._lock:
            if not self._due or self._queued:
                return
            self._queued, self._token = True, CancelToken()
            token = self._token
        self._lane.submit(self._keep_quietly, token)

    def close(self) -> None:
        """Write what is due now, as far as that does not hold up the end."""
        with self._lock:
            if not self._due:
                return
        token = CancelToken()
        try:
            once("snapshots", lambda: self._keep(token)).result(_END_SECONDS)
        except NotInTime:
            token.cancel()
            _log.info("what the model had read was not kept: it took too long")

    def _keep_quietly(self, token: CancelToken) -> None:
        with self._lock:
            self._queued = False
        self._keep(token)

    def _keep(self, token: CancelToken) -> None:
        with self._lock:
            due, self._due = self._due, set()
        if not due or self.place() is None:
            return
        try:
            if wanted := due & self._kept_chats():
                self._engine.keep(sorted(wanted), token)
                for chat in wanted - self._kept_chats():  # deleted meanwhile
                    self.drop(chat)
        except Cancelled:
            with self._lock:
                self._due |= due
        except AssistantError as error:  # they save time, nothing else
            _log.info("what the model had read was not kept: %s", error)

    # --- when they go --------------------------------------------------------------------------------------------

    def drop(self, chat: str) -> None:
        """Delete those of a chat that is deleted or private from now on, and what chats begin with: it names others."""
        with self._lock:
            self._due.discard(chat)
        snapshots.drop_conversation(self.folder, chat)
        snapshots.drop_conversation(self.folder, snapshots.ROW)

    def drop_traces(self, chat: str, others_told: bool) -> None:
        """Leave nothing of a chat's words: where other chats were told of it, what was read of those goes, too."""
        self.drop(chat)
        if others_told:
            try:
                snapshots.drop_all(self.folder)
            except OSError as error:
                raise as_error(error, self.folder) from error

    def drop_foreign(self) -> int:
        """Delete those of chats that are gone or private, spoilt ones, and all where none are wanted; how many went."""
        return snapshots.drop_foreign(self.place() or Place(self.folder, 0), self._kept_chats())

    def drop_models(self, present: Sequence[ModelFile]) -> int:
        """Delete those of models that are not there any more; how many went."""
        if not self.usage()[0]:
            return 0
        known = {snapshots.model_identity(model.path) for model in present}
        return snapshots.drop_models(self.folder, known)

    def _kept_chats(self) -> set[str]:
        return {info.id for info in self._workspace.chats.list() if not info.private}

    def usage(self) -> tuple[int, int]:
        """How many there are, and their bytes together."""
        return snapshots.usage(self.folder)
