"""A token that asks long work to stop; safe to use from any thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from assistant.core.errors import Cancelled


class CancelToken:
    """Set once, never reset. Callbacks run at once on the cancelling thread and must be short."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def cancel(self) -> None:
        """Ask for a stop; a second call does nothing."""
        with self._lock:
            if self._event.is_set():
                return
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` when cancelled (at once if it already is); returns a function that takes it back."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callable[[], None]) -> None:
        with self._lock, contextlib.suppress(ValueError):
            self._callbacks.remove(callback)

    def wait(self, seconds: float) -> bool:
        """Sleep up to ``seconds``; True as soon as the token is cancelled."""
        return self._event.wait(seconds)

    def check(self) -> None:
        """Raise Cancelled if a stop was asked for."""
        if self._event.is_set():
            raise Cancelled
