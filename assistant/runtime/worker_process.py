"""A worker process spoken to in JSON lines: started when first needed, restarted after a death, never left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.wire import VERSION, Json
from assistant.runtime.memory_kills import MemoryKills
from assistant.runtime.pulse import Patience
from assistant.runtime.worker_end import WorkerEnd
from assistant.runtime.worker_session import Answers, WorkerSession


class WorkerLost(AssistantError):  # noqa: N818 - it says what happened
    """The worker ended and nobody had asked it to; ``end`` says how, ``start`` which of its starts it was."""

    def __init__(self, end: WorkerEnd, start: int) -> None:
        error = end.error()
        super().__init__(error.code, error.message, error.hint)
        self.end = end
        self.start = start


class WorkerProcess:
    """Client of ``python -m <module>``. Requests from several threads are answered in the order they came.

    log: file that takes the worker's stderr (None: thrown away). env: added to this process's environment. A worker
    that hangs while somebody waits for it is ended. on_lost: told of an end that nobody waited for and of its start,
    when the next one is started.
    """

    def __init__(
        self,
        module: str,
        log: Path | None = None,
        env: Mapping[str, str] | None = None,
        patience: Patience = Patience(),  # noqa: B008 - frozen
        kills: MemoryKills | None = None,
        on_lost: Callable[[WorkerEnd, int], None] = lambda _end, _start: None,
    ) -> None:
        self._module = module
        self._log_path = log
        self._env = dict(env or {})
        self._patience = patience
        self._kills = kills or MemoryKills()
        self._on_lost = on_lost
        self._lock = threading.Lock()
        self._session: WorkerSession | None = None
        self._over = False
        self.starts = 0

    @property
    def alive(self) -> bool:
        session = self._session
        return session is not None and session.is_open

    @property
    def pid(self) -> int | None:
        session = self._session
        return session.process.pid if session else None

    def request(self, op: str, args: Mapping[str, Any], cancel: CancelToken) -> Iterator[tuple[str, Json]]:
        """Yields (event, data) pairs; the last one is ("result", data).

        Raises AssistantError as the worker sent it, WorkerLost when it ended meanwhile, AssistantError("worker.closed")
        when ``close`` ended it or ``end`` was called, Cancelled when it stopped without a result because ``cancel``
        asked for it. Leaving the iterator early stops the request.
        """
        session, ident, answers = self._begin()

        def stop() -> None:
            session.pulse.hurry()
            session.send({"v": VERSION, "op": "stop", "id": ident})

        take_back = cancel.on_cancel(stop)
        finished = False
        try:
            session.send({"v": VERSION, "id": ident, "op": op, "args": args})
            if cancel.cancelled:
                stop()
            while (message := answers.get()) is not None:
                event, data = message.get("event", ""), message.get("data") or {}
                finished = event in ("result", "error")
                if event == "error":
                    raise _error(data)
                yield event, data
                if finished:
                    return
            finished = True
            raise _end_error(session)
        finally:
            take_back()
            if not finished:
                stop()
            session.forget(ident)

    def call(self, op: str, args: Mapping[str, Any], cancel: CancelToken) -> Json:
        """The result of a request whose events do not matter."""
        for event, data in self.request(op, args, cancel):
            if event == "result":
                return data
        raise AssertionError("a request ends with a result or an error")

    def set_environment(self, env: Mapping[str, str]) -> None:
        """What is added to the environment from now on; a process that runs with another one is ended first."""
        if dict(env) != self._env:
            self._env = dict(env)  # first: what asks meanwhile starts a process with the new one
            self.close()

    def retire(self) -> bool:
        """End the process unless somebody waits for an answer; whether there was one to end."""
        with self._lock:
            session = self._session
            if session is None or session.is_busy or not session.is_open:
                return False
            self._session = None
        session.close()
        return True

    def close(self) -> None:
        """End the process: kindly first (its input closes), then surely. A later request starts another one."""
        with self._lock:
            session, self._session = self._session, None
        if session:
            session.close()

    def end(self) -> None:
        """As ``close``, for ever: work that is just being stopped elsewhere starts none again."""
        with self._lock:
            self._over = True
        self.close()

    def _begin(self) -> tuple[WorkerSession, int, Answers]:
        with self._lock:
            if self._over:
                raise _closed()
            if self._session and (opened := self._session.open()):
                return (self._session, *opened)
            if lost := self._session:
                lost.release()
                if end := lost.end():
                    self._on_lost(end, lost.start)
            self.starts += 1
            try:
                self._session = WorkerSession(
                    self._module, self.starts, self._log_path, self._env, self._patience, self._kills
                )
            except OSError as error:  # no memory for another process
                raise AssistantError(
                    "worker.start",
                    f"The helper process could not be started: {error.strerror or error}.",
                    "Close other programs, then try again.",
                ) from error
            opened = self._session.open()
            if opened is None:
                raise AssistantError("worker.died", "The helper process could not start.", "The log has the details.")
            return (self._session, *opened)


def _end_error(session: WorkerSession) -> AssistantError:
    end = session.end()
    return _closed() if end is None else WorkerLost(end, session.start)


def _closed() -> AssistantError:
    return AssistantError("worker.closed", "The helper process was ended.", "")


def _error(data: Json) -> Exception:
    if data.get("code") == "cancelled":
        return Cancelled()
    return AssistantError(data.get("code", "worker.error"), data.get("message", ""), data.get("hint", ""))
