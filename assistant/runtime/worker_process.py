"""A worker process spoken to in JSON lines: started when first needed, restarted after a death, never left behind."""

from __future__ import annotations

import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.folders import make_private, open_private
from assistant.core.wire import VERSION, Channel, Json

_log = logging.getLogger(__name__)
QUIET = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
"""Nothing leaves: what tells the libraries of our workers to report to nobody and to fetch nothing."""
_CLOSE_SECONDS = 2.0
"""A worker that has not ended so long after its input was closed is killed; all is closed within the app's 3 s."""
_LOG_BYTES = 1_000_000
"""A log larger than this is begun anew when the worker is started."""
_ROOT = Path(__file__).resolve().parent.parent.parent
"""The folder that holds our package, for the worker to import it from."""
_Answers = queue.SimpleQueue[Json | None]


class WorkerProcess:
    """Client of ``python -m <module>``. Requests from several threads are answered in the order they came.

    log: file that takes the worker's stderr (None: thrown away). env: added to this process's environment.
    """

    def __init__(self, module: str, log: Path | None = None, env: Mapping[str, str] | None = None) -> None:
        self._module = module
        self._log_path = log
        self._env = dict(env or {})
        self._lock = threading.Lock()
        self._session: _Session | None = None
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

        Raises AssistantError as the worker sent it, ("worker.died") when it ended meanwhile, ("worker.closed") when
        ``close`` ended it, Cancelled when it stopped without a result because ``cancel`` asked for it. Leaving the
        iterator early stops the request.
        """
        session, ident, answers = self._begin()
        take_back = cancel.on_cancel(lambda: session.send({"v": VERSION, "op": "stop", "id": ident}))
        finished = False
        try:
            session.send({"v": VERSION, "id": ident, "op": op, "args": args})
            if cancel.cancelled:
                session.send({"v": VERSION, "op": "stop", "id": ident})
            while (message := answers.get()) is not None:
                event, data = message.get("event", ""), message.get("data") or {}
                finished = event in ("result", "error")
                if event == "error":
                    raise _error(data)
                yield event, data
                if finished:
                    return
            finished = True
            raise session.end_reason()
        finally:
            take_back()
            if not finished:
                session.send({"v": VERSION, "op": "stop", "id": ident})
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
            self.close()
            self._env = dict(env)

    def close(self) -> None:
        """End the process: kindly first (its input closes), then surely. A later request starts another one."""
        with self._lock:
            session, self._session = self._session, None
        if session:
            session.close()

    def kill(self) -> None:
        """End a process that does not answer, at once; whoever waits for an answer is told that it died."""
        if session := self._session:
            session.process.kill()

    def _begin(self) -> tuple[_Session, int, _Answers]:
        with self._lock:
            if self._session and (opened := self._session.open()):
                return (self._session, *opened)
            if self._session:
                self._session.release()
            self.starts += 1
            try:
                self._session = _Session(self._module, self._log_path, self._env)
            except OSError as error:  # no memory for another process
                message = f"The helper process could not be started: {error.strerror or error}."
                raise AssistantError("worker.start", message, "Close other programs, then try again.") from error
            opened = self._session.open()
            if opened is None:
                raise AssistantError("worker.died", "The helper process could not start.", "The log has the details.")
            return (self._session, *opened)


class _Session:
    """One life of the process: its pipes, the thread that reads its answers, and who waits for which."""

    def __init__(self, module: str, log_path: Path | None, env: Mapping[str, str]) -> None:
        self.process = _spawn(module, log_path, env)
        self._channel = Channel(cast(BinaryIO, self.process.stdout), cast(BinaryIO, self.process.stdin))
        self._lock = threading.Lock()
        self._waiting: dict[int, _Answers] = {}
        self._last_id = 0
        self._ended = False
        self._closing = False
        self._reader = threading.Thread(target=self._read, name=f"reader-{module}", daemon=True)
        self._reader.start()

    @property
    def is_open(self) -> bool:
        """Its pipes close a moment before it can be seen to have ended."""
        return not self._ended and self.process.poll() is None

    def open(self) -> tuple[int, _Answers] | None:
        """A new request's id and answers; None when the process has ended."""
        with self._lock:
            if self._ended or self.process.poll() is not None:
                return None
            self._last_id += 1
            answers = self._waiting[self._last_id] = queue.SimpleQueue()
            return self._last_id, answers

    def forget(self, ident: int) -> None:
        with self._lock:
            self._waiting.pop(ident, None)

    def send(self, message: Json) -> None:
        """Send; a worker that is gone shows as the end of its answers, not here."""
        try:
            self._channel.send(message)
        except (OSError, ValueError):
            _log.debug("the worker is gone; %s was not sent", message.get("op"))

    def end_reason(self) -> AssistantError:
        """Why there are no more answers."""
        if self._closing:
            return AssistantError("worker.closed", "The helper process was ended.", "")
        return AssistantError("worker.died", "The helper process ended unexpectedly.", "Try again; it is started anew.")

    def close(self) -> None:
        """End the process; whoever waits for an answer is told that it was ended on purpose."""
        self._closing = True
        self.release()

    def release(self) -> None:
        """End the process, if it has not ended itself, and release its pipes."""
        # Closing the input waits for a thread that is just writing to it, for ever if the process hangs: the kill is
        # set off beside it.
        kill = threading.Timer(_CLOSE_SECONDS, self.process.kill)
        kill.start()
        _close_quietly(self.process.stdin)
        self.process.wait()
        kill.cancel()
        kill.join()
        self._reader.join()
        _close_quietly(self.process.stdout)

    def _read(self) -> None:
        try:
            while (message := self._channel.receive()) is not None:
                with self._lock:
                    answers = self._waiting.get(message.get("id", -1))
                if answers:
                    answers.put(message)
        except (OSError, ValueError):
            _log.warning("the pipe of a worker broke", exc_info=True)
        finally:
            with self._lock:
                self._ended = True
                waiting = list(self._waiting.values())
            for answers in waiting:
                answers.put(None)


def _spawn(module: str, log_path: Path | None, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    frozen = getattr(sys, "frozen", False)
    # -P: a folder that happens to be the current one must not shadow our modules with its own.
    command = [sys.executable, "--worker", module] if frozen else [sys.executable, "-P", "-m", module]
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with _log_file(log_path) as stderr:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUTF8": "1", **QUIET, **env},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )


def _log_file(path: Path | None) -> BinaryIO:
    """What the process writes to its log is nice to have: where there is no place for it, it works without."""
    try:
        if path:
            make_private(path.parent)
            mode: Literal["wb", "ab"] = "wb" if path.exists() and path.stat().st_size > _LOG_BYTES else "ab"
            return open(path, mode, opener=open_private)
    except OSError as error:
        _log.info("no log in %s: %s", path, error)
    return Path(os.devnull).open("ab")


def _close_quietly(pipe: Any) -> None:
    try:
        pipe.close()
    except OSError:
        _log.debug("a pipe of a worker that is gone did not close")


def _error(data: Json) -> Exception:
    if data.get("code") == "cancelled":
        return Cancelled()
    return AssistantError(data.get("code", "worker.error"), data.get("message", ""), data.get("hint", ""))
