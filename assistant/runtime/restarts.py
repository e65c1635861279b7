"""How often the engine may be started anew, and how soon."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from assistant.core.errors import AssistantError

DEATHS, WITHIN_SECONDS = 3, 300.0
"""So many deaths in so many seconds, and the worker is no longer started by itself."""
_WAITS = (0.0, 1.0)
"""Seconds from a death to the next start, after one recent death and after two: what ails it may pass."""


class Restarts:
    """Keeps count of a worker's deaths. For any thread."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._deaths: deque[float] = deque(maxlen=DEATHS)
        self._dead_start = 0

    def died(self, start: int) -> bool:
        """Note the death of a worker's nth start. Several threads may have waited for it: False but for the first."""
        with self._lock:
            if self._dead_start == start:
                return False
            self._dead_start = start
            self._deaths.append(self._clock())
            return True

    def forgive(self) -> None:
        """Start afresh: a person chose what is loaded next."""
        with self._lock:
            self._deaths.clear()

    def wait_seconds(self, starts: int) -> float:
        """How long to wait with a start after so many; 0 where the last of them lives or its death is long ago.

        Raises AssistantError("engine.keeps_dying").
        """
        with self._lock:
            now = self._clock()
            recent = [moment for moment in self._deaths if now - moment < WITHIN_SECONDS]
            if self._dead_start != starts or not recent:
                return 0.0
        if len(recent) >= DEATHS:
            raise AssistantError(
                "engine.keeps_dying",
                f"The engine ended {len(recent)} times within a few minutes.",
                "Choose a smaller model or context window and load it, or look into the log.",
            )
        return max(0.0, recent[-1] + _WAITS[len(recent) - 1] - now)
