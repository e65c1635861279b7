"""Noticing that files of the workspace change: by the system's events, or by looking now and then where it has none.

Each search looks at the files by itself, so what no watch sees is found all the same; a watch brings meaning and what
the window shows up to date without being asked.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assistant.core.cancel import CancelToken
from assistant.core.errors import Cancelled
from assistant.recall.index.files import Mark, look
from assistant.runtime.drives import is_remote
from assistant.workspace.assistants import FOLDER
from assistant.workspace.layout import is_foreign

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

_POLL_SECONDS = 5.0
_DOUBT_SECONDS = 30.0
"""How often it is seen whether events come at all: queues overflow, folders are replaced, limits are reached."""
_MOST_SHARE = 0.05
"""Of the time may be spent on looking: where a look takes a second, the next one comes after twenty."""
_TOLD = ("created", "modified", "moved", "deleted")
_log = logging.getLogger(__name__)

LIMIT = "The system's limit of watched folders is reached."
REMOTE = "It lies on a network drive, where changes are not announced."
GONE = "The folder is not there."


@dataclass(frozen=True, slots=True)
class WatchState:
    """how: "events" (at once), "polling" (at intervals) or "off"; why: what stands against events, in words."""

    how: Literal["events", "polling", "off"]
    why: str = ""


class FolderWatch:
    """``changed`` is called on other threads, once or more, for a change of what memory or the window shows.

    ``start`` blocks while folders are registered. ``tick`` is to be called every few seconds. told: called with each
    new state.
    """

    def __init__(
        self, root: Path, changed: Callable[[], None], told: Callable[[WatchState], None] = lambda state: None
    ) -> None:
        self._root = root
        self._changed, self._told = changed, told
        self._lock = threading.Lock()  # of starting and stopping
        self._cancel = CancelToken()
        self._observer: BaseObserver | None = None
        self._place = (0, 0)
        self._marks: dict[str, Mark] = {}
        self._next_look = 0.0
        self._heard = False
        self.state = WatchState("off")

    def start(self) -> None:
        """Watch from now on; polls where the system will not tell."""
        with self._lock:
            self._stop_observer()
            if self._cancel.cancelled:
                return
            self._place = _place(self._root)
            why = self._observe()
        self._remember_marks()
        self._say(WatchState("polling", why) if why else WatchState("events"))

    def tick(self) -> None:
        """See whether the watch still holds, and look at the files where it is time to. Never raises."""
        if self.state.how == "off" or self._cancel.cancelled:
            return
        if self._place != _place(self._root):  # replaced, unplugged, or back again
            self.start()
            self._changed()
        elif time.monotonic() >= self._next_look:
            heard, self._heard = self._heard, False
            if self._has_changed():
                if self.state.how == "events" and not heard:
                    _log.info("a change in %s was not announced", self._root)
                    self.start()
                self._changed()

    def stop(self) -> None:
        """Nothing is called afterwards."""
        self._cancel.cancel()
        with self._lock:
            self._stop_observer()

    # --- by events ---

    def _observe(self) -> str:
        """Begin to watch; why that cannot be, or "" where it can."""
        from watchdog.events import FileSystemEventHandler
        from watchdog.observers import Observer

        watch = self

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                watch._on_event(event)

        # WORKAROUND: watchdog 7.1 logs errors while it is stopped as told; drop when it does not
        logging.getLogger("watchdog").setLevel(logging.CRITICAL)
        if self._place == (0, 0):
            return GONE
        if is_remote(self._root):
            return REMOTE
        try:
            self._observer = observer = Observer()
            observer.schedule(Handler(), str(self._root), recursive=True)
            observer.start()
            _probe(observer)
        except OSError as error:
            _log.info("%s cannot be watched: %s", self._root, error)
            self._stop_observer()
            return LIMIT
        return ""

    def _stop_observer(self) -> None:
        observer, self._observer = self._observer, None
        if observer is None:
            return
        observer.stop()  # it has a thread from the beginning, started or not
        if observer.is_alive():
            observer.join()

    def _on_event(self, event: FileSystemEvent) -> None:
        if event.event_type not in _TOLD or (event.is_directory and event.event_type == "modified"):
            return
        paths = [Path(os.fsdecode(path)) for path in (event.src_path, event.dest_path) if path]
        if any(matters(self._root, path, folder=event.is_directory) for path in paths):
            self._heard = True
            self._changed()

    # --- by looking ---

    def _has_changed(self) -> bool:
        before = self._marks
        if not self._remember_marks():
            return False
        known = {path: mark or self._marks.get(path) for path, mark in before.items()}  # (): was just being written
        return known != self._marks

    def _remember_marks(self) -> bool:
        """Look, and say when to look again; False where that was stopped."""
        began = time.monotonic()
        try:
            self._marks = look(self._root, self._cancel).marks
        except Cancelled:
            return False
        took = time.monotonic() - began
        pause = _DOUBT_SECONDS if self.state.how == "events" else _POLL_SECONDS
        self._next_look = time.monotonic() + max(pause, took / _MOST_SHARE)
        return True

    def _say(self, state: WatchState) -> None:
        self._heard = False
        if state != self.state:
            self.state = state
            self._told(state)


def matters(root: Path, path: Path, *, folder: bool) -> bool:
    """Whether a change there is one of memory, chats or what the window shows of them.

    Not those of other assistants, which live below the root, nor hidden files, nor our own temporary ones.
    """
    try:
        parts = path.relative_to(root).parts
    except ValueError:
        return False
    if not parts or parts[0] == FOLDER or any(part.startswith(".") for part in parts):
        return False
    return folder or path.suffix == ".md" or is_foreign("/".join(parts))


def _probe(observer: BaseObserver) -> None:
    """Raises OSError where no further folder can be watched: then not all folders below the first one are, either,
    and watchdog tells of the first one only."""
    from watchdog.events import FileSystemEventHandler

    with tempfile.TemporaryDirectory(prefix="keepsake-watch-") as folder:
        observer.unschedule(observer.schedule(FileSystemEventHandler(), folder))


def _place(root: Path) -> tuple[int, int]:
    """Which folder on which disk stands there; zeros where none does."""
    try:
        stat = root.stat()
    except OSError:
        return (0, 0)
    return (stat.st_dev, stat.st_ino)
