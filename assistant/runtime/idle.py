"""Work for quiet moments: one thread that wakes now and then."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_log = logging.getLogger(__name__)


class IdleScheduler:
    """Calls ``job`` every ``seconds`` until closed, the first time after ``seconds``.

    A job that fails is logged and called again; it must be short, for close waits for it.
    """

    def __init__(self, job: Callable[[], object], seconds: float) -> None:
        self._job = job
        self._seconds = seconds
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="idle", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Wait for a job that runs; none runs afterwards. Does nothing if it was never started."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(self._seconds):
            try:
                self._job()
            except Exception:  # noqa: BLE001 - whatever it is, the next quiet moment comes
                _log.exception("work for a quiet moment failed")
