"""JSON lines between the window process and its worker processes.

A request is ``{"v": 2, "id": n, "op": name, "args": {...}}``; ``{"v": 2, "op": "stop", "id": n}`` stops request n.
The answer is any number of ``{"id": n, "event": name, "data": {...}}`` and then one whose event is ``result`` (data is
the result) or ``error`` (data is an AssistantError's code, message, hint).

While a worker has a request in hand it beats: once a second ``{"v": 2, "event": "beat", "cpu": seconds}``, whatever it
computes. cpu is the processor time it has had since it started.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled

VERSION = 2
BEAT = "beat"
BEAT_SECONDS = 1.0
Json = dict[str, Any]
Emit = Callable[[str, Mapping[str, Any]], None]
Handler = Callable[[Mapping[str, Any], CancelToken, Emit], Mapping[str, Any]]

_log = logging.getLogger(__name__)


class Channel:
    """One end of a pair of pipes that carries JSON lines. send may be called from any thread."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()

    def send(self, message: Mapping[str, Any]) -> None:
        """Write one message at once. Raises OSError when the other end is gone."""
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
        with self._lock:
            self._writer.write(line)
            self._writer.flush()

    def receive(self) -> Json | None:
        """The next message; None when the other end is gone. A line that is no JSON object is skipped and logged.

        Of such a line only the length is logged: the cut last line of a worker that died may hold a person's words.
        """
        for line in iter(self._reader.readline, b""):
            try:
                message = json.loads(line.decode("utf-8", "surrogatepass"))
            except (ValueError, RecursionError):
                _log.warning("a line of %d bytes is no protocol line", len(line))
                continue
            if isinstance(message, dict):
                return message
            _log.warning("a line of %d bytes is no protocol message", len(line))
        return None


def worker_channel() -> Channel:
    """The channel over this process's stdin and stdout; whatever a library prints from now on goes to stderr.

    Ctrl+C in a terminal, a hang-up and what ends a service reach the worker too; what they mean is for the parent to
    say, with whose end the worker ends, so they are ignored here.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return Channel(sys.stdin.buffer, out)


def serve(channel: Channel, handlers: Mapping[str, Handler], beside: Mapping[str, Handler] | None = None) -> None:
    """Answer requests one after another on this thread until the other end is gone.

    beside: handlers of quick requests, answered on a thread of their own while a long one runs. Another thread reads,
    so that a stop is seen while a handler is busy; its end cancels what runs, so a worker never outlives its parent by
    more than one step of its work.
    """
    requests, quick = _Requests(channel, handlers), _Requests(channel, beside or {})
    tokens: dict[int, CancelToken] = {}
    beats = _Beats(channel, tokens)

    def read() -> None:
        while (message := channel.receive()) is not None:
            ident = message.get("id", -1)
            if message.get("op") == "stop":
                if token := tokens.get(ident):
                    token.cancel()
                continue
            tokens[ident] = CancelToken()
            beats.go_on()
            (quick if message.get("op") in quick.handlers else requests).waiting.put(message)
        for token in list(tokens.values()):
            token.cancel()
        requests.waiting.put(None)
        quick.waiting.put(None)

    threading.Thread(target=read, name="wire-reader", daemon=True).start()
    threading.Thread(target=beats.run, name="wire-beats", daemon=True).start()
    if beside:
        threading.Thread(target=quick.answer, args=(tokens,), name="wire-beside", daemon=True).start()
    requests.answer(tokens)
    beats.end()


class _Beats:
    """Signs of life while there is a request in hand; sleeps otherwise, so that an idle worker costs no power."""

    def __init__(self, channel: Channel, tokens: Mapping[int, CancelToken]) -> None:
        self._channel = channel
        self._tokens = tokens
        self._busy = threading.Event()
        self._ended = threading.Event()

    def go_on(self) -> None:
        self._busy.set()

    def end(self) -> None:
        self._ended.set()
        self._busy.set()

    def run(self) -> None:
        """Until the end, or until nobody listens any more."""
        while self._busy.wait() and not self._ended.wait(BEAT_SECONDS):
            if not self._tokens:
                self._busy.clear()
                if self._tokens:  # it came between the two
                    self._busy.set()
                continue
            try:
                self._channel.send({"v": VERSION, "event": BEAT, "cpu": round(time.process_time(), 3)})
            except (OSError, ValueError):
                return


class _Requests:
    """Requests that wait for one thread, and what answers them."""

    def __init__(self, channel: Channel, handlers: Mapping[str, Handler]) -> None:
        self.handlers = handlers
        self.waiting: queue.SimpleQueue[Json | None] = queue.SimpleQueue()
        self._channel = channel

    def answer(self, tokens: dict[int, CancelToken]) -> None:
        """Until the end is in the queue or nobody takes the answers any more."""
        while (request := self.waiting.get()) is not None:
            ident = request.get("id", -1)
            try:
                self._channel.send({"id": ident, **_answer(self._channel, self.handlers, request, tokens[ident])})
            except OSError:
                return
            finally:
                tokens.pop(ident, None)


def _answer(channel: Channel, handlers: Mapping[str, Handler], request: Json, token: CancelToken) -> Json:
    ident, op = request.get("id", -1), request.get("op", "")

    def emit(event: str, data: Mapping[str, Any]) -> None:
        channel.send({"id": ident, "event": event, "data": data})

    try:
        if request.get("v") != VERSION:
            raise version_error()
        if op not in handlers:
            raise AssistantError("wire.unknown", f"The worker does not know the request {op!r}.", "Restart Keepsake.")
        return {"event": "result", "data": handlers[op](request.get("args", {}), token, emit)}
    except AssistantError as error:
        return {"event": "error", "data": error.as_dict()}
    except Cancelled:
        return {"event": "error", "data": {"code": "cancelled", "message": "Stopped.", "hint": ""}}
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        return {"event": "error", "data": _bug(op, error)}
    except Exception as error:  # noqa: BLE001 - a bug in one request must not end the worker
        return {"event": "error", "data": _bug(op, error)}


def version_error() -> AssistantError:
    """Of two ends that speak other versions: the program was replaced while it ran."""
    return AssistantError("wire.version", "Keepsake was updated while it ran.", "Close it and start it again.")


def _bug(op: str, error: Exception) -> Mapping[str, str]:
    _log.exception("request %s failed", op)
    return {"code": "wire.bug", "message": f"The worker failed: {error}", "hint": "The log has the details."}
