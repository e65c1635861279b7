"""Keeping the recall index true to the files: at start, after our own writes, and when another program writes."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import EventSink, IndexProgress, Notice, WorkspaceChanged
from assistant.recall.search import Recall
from assistant.runtime.lanes import Lane
from assistant.workspace.assistants import FOLDER
from assistant.workspace.workspace import Workspace

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

_SETTLE_SECONDS = 0.3  # editors write a file in several steps; one look at the end is enough
_log = logging.getLogger(__name__)


class IndexService:
    """Syncs on the index lane; several wishes that come while one runs become one."""

    def __init__(self, workspace: Workspace, recall: Recall, lane: Lane, emit: EventSink) -> None:
        self._workspace = workspace
        self._recall = recall
        self._lane = lane
        self._emit = emit
        self._cancel = CancelToken()
        self._waiting = threading.Event()
        self._observer: BaseObserver | None = None
        self._timer: threading.Timer | None = None
        self._timer_lock = threading.Lock()

    def start(self) -> None:
        """Sync now and watch the workspace from now on."""
        self.sync_later()
        self._lane.submit(self._watch)

    def sync_later(self) -> None:
        """Bring the index up to date soon."""
        if self._cancel.cancelled or self._waiting.is_set():
            return
        self._waiting.set()
        self._lane.submit(self._sync)

    def cancel(self) -> None:
        """Stop what runs; the lane may be closed then."""
        self._cancel.cancel()
        self._stop_watching()
        with self._timer_lock:
            timer = self._timer
        if timer:
            timer.cancel()
            timer.join()

    def _sync(self) -> None:
        self._waiting.clear()
        try:
            self._workspace.memory.note_disk_changes()
            self._recall.sync(self._cancel, self._progress)
        except Cancelled:
            _log.debug("indexing was stopped; it goes on at the next start")
        except AssistantError as error:
            self._emit(Notice(str(error), error=True))
        finally:
            for what in ("keywords", "vectors"):  # however it ended, nothing is being indexed now
                self._progress(1, 1, what)

    def _progress(self, done: int, total: int, what: str) -> None:
        self._emit(IndexProgress(what, done, total))

    def _watch(self) -> None:
        from watchdog.events import FileSystemEventHandler
        from watchdog.observers import Observer

        service = self

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                if event.event_type in ("created", "modified", "moved", "deleted"):
                    service._changed(Path(str(event.src_path)), Path(str(event.dest_path or event.src_path)))

        if self._cancel.cancelled:
            return
        observer = Observer()
        try:
            observer.schedule(Handler(), str(self._workspace.root), recursive=True)
            observer.start()
        except OSError as error:  # out of inotify watches: each search still looks at the files by itself
            _log.info("the workspace cannot be watched: %s", error)
            return
        self._observer = observer
        if self._cancel.cancelled:  # while it started: cancel saw no observer yet
            self._stop_watching()

    def _stop_watching(self) -> None:
        if self._observer:
            self._observer.stop()
            self._observer.join()

    def _changed(self, *paths: Path) -> None:
        if all(path.name.startswith(".") or path.suffix != ".md" or self._is_others(path) for path in paths):
            return
        with self._timer_lock:
            if self._timer:
                self._timer.cancel()
            if self._cancel.cancelled:
                return
            self._timer = threading.Timer(_SETTLE_SECONDS, self._settled)
            self._timer.daemon = True
            self._timer.start()

    def _is_others(self, path: Path) -> bool:
        """Whether it belongs to another assistant, which lives below our folder."""
        return path.is_relative_to(self._workspace.root / FOLDER)

    def _settled(self) -> None:
        with self._timer_lock:  # cancel takes it too: behind it nothing is submitted any more, by no timer at all
            self.sync_later()
        self._emit(WorkspaceChanged())
