"""Keeping the recall index true to the files: at start, after our own writes, and when another program writes."""

from __future__ import annotations

import logging
import threading
from functools import partial

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import EventSink, IndexProgress, IndexStateChanged, Notice, WorkspaceChanged
from assistant.recall.index.file_states import FileState
from assistant.recall.index.verification import Verification
from assistant.recall.search import Recall
from assistant.runtime.index_state import IndexState, describe_index
from assistant.runtime.lanes import Lane
from assistant.runtime.settling import Settler
from assistant.runtime.watching import FolderWatch, WatchState
from assistant.workspace.workspace import Workspace

_SETTLE_SECONDS = 0.3  # editors write a file in several steps; one look at the end is enough
_AT_LATEST_SECONDS = 3.0
_LEARNING = ("vectors", "pieces")
_VERIFY_SECONDS = 0.02
_VERIFY_PAUSE_SECONDS = 0.06
"""Files are read for a quarter of the time, so that the window and the models have the machine."""
_log = logging.getLogger(__name__)


class IndexService:
    """Syncs on the index lane; several wishes that come while one runs become one.

    On the keeping lane the watch is begun, and files are read and compared with what was indexed, once after the start:
    a long learning of meanings must not put that off. No method blocks but ``state``, ``files`` and ``tick``.
    """

    def __init__(self, workspace: Workspace, recall: Recall, lane: Lane, keeping: Lane, emit: EventSink) -> None:
        self._workspace = workspace
        self._recall = recall
        self._lane, self._keeping = lane, keeping
        self._emit = emit
        self._cancel = CancelToken()
        self._run = CancelToken()
        self._waiting = threading.Event()
        self._verification: Verification | None = None
        self._settler = Settler(self._settled, _SETTLE_SECONDS, _AT_LATEST_SECONDS)
        self._watch = FolderWatch(workspace.root, self._settler.sign, self._on_watch)
        self._progress_now: dict[str, tuple[int, int]] = {}
        self._learnt = 0
        """What was learnt in runs that were stopped, so that what is said goes on from there."""
        self.paused = False

    # --- what the window asks ---

    def start(self) -> None:
        """Sync now, watch the workspace from now on, and compare what was indexed with the files."""
        self._recall.on_behind = self.sync_later
        self.sync_later()
        self._keeping.submit(self._watch.start)
        self.verify_later()

    def sync_later(self) -> None:
        """Bring the index up to date soon."""
        if self._cancel.cancelled or self._waiting.is_set():
            return
        self._waiting.set()
        self._lane.submit(self._sync)

    def verify_later(self) -> None:
        """Read all files in the background; those that differ from what was indexed are indexed anew."""
        if self._verification is None and not self._cancel.cancelled:
            self._verification = Verification(self._workspace.root)
            self._keeping.submit(self._verify)

    def pause(self) -> None:
        """Learn no meanings until ``resume`` or the next start. What was learnt is kept; words are still indexed."""
        self.paused = True
        self._run.cancel()
        self._emit(IndexStateChanged())

    def resume(self) -> None:
        """Go on where it was."""
        self.paused = False
        self._emit(IndexStateChanged())
        self.sync_later()

    def state(self) -> IndexState:
        """How the index stands, for people. Raises AssistantError("recall.index")."""
        return describe_index(self._recall, self.paused, self._progress_now.get("vectors"), self._watch.state)

    def files(self) -> list[FileState]:
        """What is indexed of each file. Raises AssistantError("recall.index")."""
        return self._recall.file_states()

    def tick(self) -> None:
        """Now and then: see whether the watch still holds."""
        self._watch.tick()

    def cancel(self) -> None:
        """Stop what runs; the lanes may be closed then."""
        self._recall.on_behind = None
        self._cancel.cancel()
        self._run.cancel()
        self._watch.stop()
        self._settler.close()

    # --- inside ---

    def _sync(self) -> None:
        self._waiting.clear()
        self._run = CancelToken()
        if self._cancel.cancelled:
            return
        learnt, learning = self._learnt, not self.paused
        try:
            self._workspace.memory.note_disk_changes()
            self._recall.prepare()  # the first search need not wait for that
            self._recall.sync(self._run, partial(self._progress, before=learnt), vectors=learning)
            self._learnt = 0 if learning else learnt
            self._recall.prepare()
        except Cancelled:
            _log.debug("indexing was stopped; it goes on when it is resumed, or at the next start")
            self._learnt = self._progress_now.get("vectors", (learnt, 0))[0]
            if self.paused:  # words are indexed all the same
                self.sync_later()
        except AssistantError as error:
            self._emit(Notice(str(error), error=True))
        finally:
            for what in ("keywords", *_LEARNING):  # however it ended, nothing is being indexed now
                self._progress(1, 1, what)
            self._emit(IndexStateChanged())

    def _progress(self, done: int, total: int, what: str, before: int = 0) -> None:
        """Learning makes way for a file that changed, when it has kept what it learnt; then it goes on."""
        make_way = what in _LEARNING and 0 < done < total and self._waiting.is_set()
        if what == "vectors":
            done, total = before + done, before + total
        if total and done >= total:
            self._progress_now.pop(what, None)
        else:
            self._progress_now[what] = (done, total)
        self._emit(IndexProgress(what, done, total))
        if make_way:
            raise Cancelled

    def _verify(self) -> None:
        """A portion of it; then again, behind what else waits."""
        verification = self._verification
        if verification is None or self._cancel.cancelled:
            return
        try:
            more = self._recall.verify(verification, self._cancel, _VERIFY_SECONDS)
            if more and not self._cancel.wait(_VERIFY_PAUSE_SECONDS):
                self._keeping.submit(self._verify)
                return
        except Cancelled:
            return
        except AssistantError as error:
            _log.warning("the files could not be compared with the index: %s", error)
        except RuntimeError:  # the lane was closed meanwhile
            return
        self._verification = None
        if verification.differing:
            _log.info("changed unnoticed: %s", ", ".join(verification.differing[:10]))
            self._settled()

    def _settled(self) -> None:
        if not self._cancel.cancelled:
            self.sync_later()
            self._emit(WorkspaceChanged())

    def _on_watch(self, state: WatchState) -> None:
        self._emit(IndexStateChanged())
