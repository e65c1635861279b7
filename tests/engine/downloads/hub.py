"""A hub on loopback that serves one file, and does wrong what the test asks for."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.engine.gguf_files import chat_facts, gguf_bytes

MODEL = gguf_bytes(chat_facts(), {"a": (64, 256)})
DIGEST = hashlib.sha256(MODEL).hexdigest()


@dataclass
class Asked:
    """One request that arrived."""

    path: str
    headers: dict[str, str]


@dataclass
class Hub:
    """Behaviour, changed by the test at any time, and what was asked.

    cut_after: bytes after which each connection ends, None for never. length: what Content-Length says; "" leaves it
    out. status: answered instead of the file, with ``extra`` headers, so often. slow: sends eight bytes, then waits.
    silent: never answers at all. script: what changes before each request, one after the other.
    """

    url: str = ""
    data: bytes = MODEL
    etag: str = '"v1"'
    linked: str = ""
    cut_after: int | None = None
    length: str | None = None
    ranges: bool = True
    status: int = 0
    statuses: int = 10**9
    extra: dict[str, str] = field(default_factory=dict)
    kind: str = "application/octet-stream"
    endless: bool = False
    slow: bool = False
    silent: bool = False
    connected: threading.Event = field(default_factory=threading.Event)
    script: list[dict[str, Any]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def ranges_asked(self) -> list[str]:
        return [one.headers.get("range", "") for one in self.asked]


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Nothing on the terminal."""

    def do_GET(self) -> None:
        hub = self.hub
        hub.asked.append(Asked(self.path, {key.casefold(): value for key, value in self.headers.items()}))
        self.close_connection = True
        for name, value in (hub.script.pop(0) if hub.script else {}).items():
            setattr(hub, name, value)
        hub.connected.set()
        if hub.silent:
            hub.closing.wait()
            return
        if hub.status and hub.statuses > 0:
            hub.statuses -= 1
            self.send_response(hub.status)
            self._end({**hub.extra, "Content-Length": "0"})
            return
        start = self._start()
        self.send_response(206 if start else 200)
        headers = {"ETag": hub.etag, "Content-Type": hub.kind, **hub.extra}
        if hub.linked:
            headers |= {"X-Linked-ETag": f'"{hub.linked}"', "X-Linked-Size": str(len(hub.data))}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(hub.data) - 1}/{len(hub.data)}"
        length = str(len(hub.data) - start) if hub.length is None else hub.length
        self._end({**headers, **({"Content-Length": length} if length else {})})
        self._send(hub.data[start:])

    def _start(self) -> int:
        hub, asked = self.hub, self.headers.get("Range", "")
        if not hub.ranges or not asked or self.headers.get("If-Range", hub.etag) != hub.etag:
            return 0
        return int(asked.removeprefix("bytes=").removesuffix("-"))

    def _end(self, headers: dict[str, str]) -> None:
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()

    def _send(self, body: bytes) -> None:
        hub = self.hub
        body = body if hub.cut_after is None else body[: hub.cut_after]
        try:
            if hub.slow:
                self.wfile.write(body[:8])
                hub.closing.wait()
                return
            for at in range(0, len(body), 8192):
                self.wfile.write(body[at : at + 8192])
            while hub.endless and not hub.closing.is_set():
                self.wfile.write(bytes(8192))
        except OSError:  # the client went away, as it should
            pass


@contextmanager
def serve_hub() -> Iterator[Hub]:
    """A hub that runs until the end of the block."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield hub
    finally:
        hub.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
