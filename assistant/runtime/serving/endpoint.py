"""The server: it listens on this computer's own addresses and nowhere else, and ends in good order."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from assistant.runtime.serving.gate import Gate
from assistant.runtime.serving.handler import Handler
from assistant.runtime.serving.requests import ApiError
from assistant.runtime.serving.service import Serving

MOST_CONNECTIONS = 64
_GRACE_SECONDS = 2.0
"""What runs when the server is told to end has so long to say that it ended."""
_POLL_SECONDS = 0.1
_FULL_ERROR = json.dumps(ApiError(503, "There are too many connections.", "busy", kind="server_error").as_json())
_FULL = (
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: application/json\r\n"
    f"Content-Length: {len(_FULL_ERROR)}\r\n\r\n{_FULL_ERROR}"
).encode()
_log = logging.getLogger(__name__)


class Listener(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """One address, a thread a connection. Not http.server's own class, which asks the network for our name."""

    allow_reuse_address = os.name == "posix"  # on Windows it would let another program take the port
    request_queue_size = 32
    daemon_threads = False

    def __init__(self, family: socket.AddressFamily, address: str, port: int, gate: Gate, serving: Serving) -> None:
        """Raises OSError where the port cannot be had."""
        self.address_family = family
        self.gate = gate
        self.serving = serving
        self.began = int(time.time())
        self._changed = threading.Condition()
        self._connections: set[socket.socket] = set()
        super().__init__((address, port), Handler)

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        super().server_bind()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        with self._changed:
            full = len(self._connections) >= MOST_CONNECTIONS
            if not full:
                self._connections.add(request)
                self._changed.notify_all()
        if full:
            with contextlib.suppress(OSError):
                request.sendall(_FULL)
        return not full

    def shutdown_request(self, request: Any) -> None:
        with self._changed:
            self._connections.discard(request)
            self._changed.notify_all()
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is nothing to tell."""
        if not isinstance(sys.exception(), OSError):
            _log.exception("a connection ended by a mistake of ours")

    def end_connections(self) -> None:
        """No more requests on any of them; those that are being answered have a moment to end."""
        self._shut(socket.SHUT_RD)
        with self._changed:
            self._changed.wait_for(lambda: not self._connections, _GRACE_SECONDS)
        self._shut(socket.SHUT_RDWR)

    def _shut(self, how: int) -> None:
        with self._changed:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(how)


class Endpoint:
    """Binds 127.0.0.1, and ::1 beside it where there is one; answers between ``start`` and ``close``."""

    def __init__(self, serving: Serving, gate: Gate, port: int) -> None:
        """port 0: any free one. Raises OSError where it cannot be had."""
        self._listeners = list(_listeners(serving, gate, port))
        self.port = int(self._listeners[0].server_address[1])
        self._threads = [
            threading.Thread(target=listener.serve_forever, args=(_POLL_SECONDS,), name=f"serve-{number}")
            for number, listener in enumerate(self._listeners)
        ]

    @property
    def url(self) -> str:
        """What clients call the base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def addresses(self) -> list[str]:
        """Where it listens."""
        return [str(listener.server_address[0]) for listener in self._listeners]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Take no more requests, end those that run, keep nothing open. The serving must be closed before."""
        for listener, thread in zip(self._listeners, self._threads, strict=True):
            if thread.is_alive():
                listener.shutdown()
                thread.join()
        for listener in self._listeners:
            listener.end_connections()
            listener.server_close()


def _listeners(serving: Serving, gate: Gate, port: int) -> Iterator[Listener]:
    first = Listener(socket.AF_INET, "127.0.0.1", port, gate, serving)
    yield first
    if socket.has_ipv6:
        with contextlib.suppress(OSError):  # a system without it, or the port is another program's there
            yield Listener(socket.AF_INET6, "::1", int(first.server_address[1]), gate, serving)
