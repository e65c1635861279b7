"""One act after a burst of signs: when it has been quiet for a moment, and at the latest after a while."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

_log = logging.getLogger(__name__)


class Settler:
    """``act`` runs on a thread of its own, once a burst; ``close`` waits for it, and nothing runs afterwards.

    quiet: seconds without a sign that end a burst; most: seconds after its first sign at which one that goes on (a sync
    program at work) is acted upon anyway.
    """

    def __init__(self, act: Callable[[], None], quiet: float, most: float) -> None:
        self._act = act
        self._quiet, self._most = quiet, most
        self._changed = threading.Condition()
        self._first = self._last = 0.0
        self._is_due = self._closed = False
        self._thread: threading.Thread | None = None

    def sign(self) -> None:
        """Something happened. Returns at once; a burst of thousands costs one thread."""
        with self._changed:
            self._last = time.monotonic()
            if not self._is_due:
                self._is_due, self._first = True, self._last
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="settling", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Let go of what waits."""
        with self._changed:
            self._closed = True
            thread = self._thread
            self._changed.notify_all()
        if thread and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while self._wait():
            try:
                self._act()
            except Exception:  # noqa: BLE001 - the next burst is acted upon again
                _log.exception("what follows a burst of changes failed")

    def _wait(self) -> bool:
        """Wait for the end of a burst; False where there is none, so that the thread ends."""
        with self._changed:
            while self._is_due and not self._closed and (left := self._left()) > 0:
                self._changed.wait(left)
            if self._closed or not self._is_due:
                self._thread = None
                return False
            self._is_due = False
            return True

    def _left(self) -> float:
        return min(self._last + self._quiet, self._first + self._most) - time.monotonic()
