"""Carries events and results from the services' threads to the window's thread. Owns no thread itself."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal, Slot

from assistant.ui.backend import Backend, Lane

Done = Callable[[Any], None]
Failed = Callable[[BaseException], None]


class Bridge(QObject):
    """``event_arrived`` repeats every event on the window's thread; ``run`` sends blocking work to a lane."""

    event_arrived = Signal(object)
    work_failed = Signal(object)
    """A job failed and nobody said what to do then: the exception."""
    _event_posted = Signal(object)
    _result_posted = Signal(object)

    def __init__(self, services: Backend, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open = True
        self._event_posted.connect(self._on_event_posted, Qt.ConnectionType.QueuedConnection)
        self._result_posted.connect(self._on_result_posted, Qt.ConnectionType.QueuedConnection)
        services.subscribe(self.post)

    def post(self, event: object) -> None:
        """The EventSink: may be called from any thread, and after the window is gone."""
        if self._open and shiboken6.isValid(self):
            self._event_posted.emit(event)

    def run(
        self, lane: Lane, function: Callable[..., Any], *args: Any, done: Done, failed: Failed | None = None
    ) -> None:
        """Run ``function(*args)`` on ``lane``; then ``done(result)`` or ``failed(error)`` here.

        Neither is called when it is a method of a widget that is gone by then, nor after ``close``.
        """
        if not self._open:
            return
        future = lane.submit(function, *args)
        future.add_done_callback(lambda finished: self._post_result(finished, done, failed))

    def close(self) -> None:
        """Deliver nothing any more."""
        self._open = False

    def _post_result(self, future: Future[Any], done: Done, failed: Failed | None) -> None:
        if self._open and shiboken6.isValid(self) and not future.cancelled():
            self._result_posted.emit((future, done, failed))

    @Slot(object)
    def _on_event_posted(self, event: object) -> None:
        if self._open:
            self.event_arrived.emit(event)

    @Slot(object)
    def _on_result_posted(self, posted: tuple[Future[Any], Done, Failed | None]) -> None:
        future, done, failed = posted
        if not self._open:
            return
        error = future.exception()
        if error is None:
            _call(done, future.result())
        elif failed is not None:
            _call(failed, error)
        else:
            self.work_failed.emit(error)


def _call(function: Callable[[Any], None], value: Any) -> None:
    owner = getattr(function, "__self__", None)
    if isinstance(owner, QObject) and not shiboken6.isValid(owner):
        return
    function(value)
