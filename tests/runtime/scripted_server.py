"""A server on loopback that answers as the test says, and does wrong what the test asks for."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHAT = "/v1/chat/completions"
MODELS = "/v1/models"


@dataclass
class Asked:
    """One request that arrived."""

    path: str
    headers: dict[str, str]
    body: Any


class Talk:
    """The server's side of one request."""

    def __init__(self, handler: BaseHTTPRequestHandler, asked: Asked, left: threading.Event) -> None:
        self._handler, self.asked, self._left = handler, asked, left

    def raw(self, data: bytes) -> None:
        self._handler.wfile.write(data)
        self._handler.wfile.flush()

    def head(self, status: int, kind: str, headers: Mapping[str, str] | None = None) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.raw("\r\n".join([*lines, "", ""]).encode())

    def json(self, value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.head(status, "application/json", headers)
        self.raw(json.dumps(value).encode())

    def stream(self, *deltas: Any) -> None:
        """Begin a stream of these deltas; a text is content."""
        self.head(200, "text/event-stream")
        for delta in deltas:
            self.event({"choices": [{"index": 0, "delta": {"content": delta} if isinstance(delta, str) else delta}]})

    def event(self, value: Any) -> None:
        self.raw(f"data: {json.dumps(value)}\n\n".encode())

    def end(self, reason: str = "stop", usage: Mapping[str, Any] | None = None) -> None:
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        if usage:
            self.event({"choices": [], "usage": usage})
        self.raw(b"data: [DONE]\n\n")

    def hold(self) -> None:
        """Until the other end is gone."""
        with suppress(OSError):
            while self._handler.connection.recv(1024):
                pass
        self._left.set()


Answer = Callable[[Talk], None]


def says(*deltas: Any, reason: str = "stop", usage: Mapping[str, Any] | None = None) -> Answer:
    def answer(talk: Talk) -> None:
        talk.stream(*deltas)
        talk.end(reason, usage)

    return answer


def refuses(status: int, message: str, **error: Any) -> Answer:
    return lambda talk: talk.json({"error": {"message": message, **error}}, status)


@dataclass
class ScriptedServer:
    """answers: by path, in turn; the last one stays. ``left`` is set once a held client has gone."""

    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    left: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def on(self, path: str, *answers: Answer) -> None:
        self.answers[path] = list(answers)

    def chats(self, *answers: Answer) -> None:
        self.on(CHAT, *answers)

    @property
    def chat_bodies(self) -> list[Any]:
        return [asked.body for asked in self.asked if asked.path == CHAT]

    def next_answer(self, path: str) -> Answer:
        waiting = self.answers.get(path) or [refuses(404, "no such thing")]
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]


@contextmanager
def scripted_server(tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    """Runs until the block is left. tls: speaks https."""
    server = ScriptedServer()
    server.on(MODELS, lambda talk: talk.json({"data": [{"id": "tiny", "max_model_len": 2048}, {"id": "big"}]}))
    server.chats(says("Hello", " there."))

    class Handler(BaseHTTPRequestHandler):
        timeout = 30

        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            asked = Asked(self.path, {name.casefold(): value for name, value in self.headers.items()}, body)
            server.asked.append(asked)
            answer = server.next_answer(self.path)
            if self.path == CHAT:
                server.arrived.set()
            self.close_connection = True
            with suppress(OSError):
                answer(Talk(self, asked, server.left))

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def get_request(self) -> tuple[Any, Any]:
            connection, address = super().get_request()
            connection.settimeout(30)
            return (tls.wrap_socket(connection, server_side=True) if tls else connection), address

        def handle_error(self, *_: object) -> None:
            """A client that leaves in the midst is what some tests are about."""

    with Server(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = False
        server.port = http.server_address[1]
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, name="scripted-server")
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
